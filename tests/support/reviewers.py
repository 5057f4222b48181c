"""Reviewers as processes of their own: `python -m tests.support.reviewers WHERE COUNT NAME [NAME ...]`.

Each gives COUNT verdicts on a few spans that all of them decide on. What is kept is said on standard output, a line
`NAME uid` each, once it is acknowledged. One called READER gives none and follows until it has seen those of all.
"""

from __future__ import annotations

import os
import sys
import time
import traceback

from nereval_core.problems import FormatError
from nereval_core.review.store import ReviewStore
from nereval_core.review.verdicts import ConflictError, Draft, Key, Marked, Seen, StoredVerdict, Verdict, text_digest

TEXT = "Ann took aspirin and then more aspirin."
RECORDS = 5
READER = "reader"


def verdict(number: int, note: str = "", text: str = TEXT) -> Verdict:
    span = Marked(((number % RECORDS, 16),), "Drug")
    return Verdict(Key(text_digest(text), "gold", span), "gold", Seen.of("d1", text, span), note=note)


def give(store: ReviewStore, who: str, much: int) -> None:
    seen = [0] * RECORDS
    for number in range(much):
        kept = give_one(store, verdict(number, f"{who} {number}"), who, seen[number % RECORDS])
        seen[number % RECORDS] = kept.version
        say(who, kept.uid)


def give_one(store: ReviewStore, one: Verdict, who: str, seen: int = 0) -> StoredVerdict:
    """Give a verdict over those of others that came first, and return it as it is kept."""
    for _ in range(1000):
        try:
            (kept,) = store.give([Draft(one, seen)], who)
        except ConflictError as told:
            seen = told.theirs[0].version if told.theirs else 0
        except FormatError:
            # A server that is gone comes back.
            time.sleep(0.05)
        else:
            return kept
    raise AssertionError("a verdict was not taken")


def follow(store: ReviewStore, much: int) -> None:
    before = -1
    while before < much:
        now = store.reviewed()
        seen = sum(len(course.history) for course in now.courses.values())
        assert seen >= before
        before = seen
        time.sleep(0.01)
    for course in now.courses.values():
        for one in course.history:
            say(READER, one.uid)


def say(who: str, uid: str) -> None:
    # Lines of several processes do not mix: so short a one is written at once.
    os.write(1, f"{who} {uid}\n".encode())


def main(where: str, much: int, names: list[str]) -> int:
    """Return 0 where all reviewers did all that they were to do."""
    running = []
    for name in names:
        process = os.fork()
        if process:
            running.append(process)
            continue
        try:
            store = ReviewStore(where)
            if name == READER:
                follow(store, much * (len(names) - 1))
            else:
                give(store, name, much)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    return max(os.waitpid(process, 0)[1] for process in running)


if __name__ == "__main__":
    sys.exit(1 if main(sys.argv[1], int(sys.argv[2]), sys.argv[3:]) else 0)
