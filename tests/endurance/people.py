"""Many people use one server in rounds, each with an upload: nobody is sent a word of another, and memory comes back.

First one person does what people do, so that all is imported. In each of some rounds new people come, bring an upload,
click as long as the round lasts, and leave all together.
"""

from __future__ import annotations

import statistics
import time
import traceback
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from random import Random

from nereval_core.review.store import ReviewStore
from tests.endurance import Wanted
from tests.endurance.person import KEPT, Person, logged_faults, serve_people
from tests.support.processes import resident_bytes

MB = 1_000_000
FIRST_GROWTH, GROWTH = 1.5, 1.1
"""Memory after the first round, and after later ones, in proportion to that before, beyond which it does not come back.

What all people of the first need at the same time leaves holes in the heaps of Python and of the C library, which later
rounds fill: Python's objects are 1.5% more after three rounds of 20, and memory is a third more (docs, Load).
"""


def run(
    folder: Path,
    wanted: Wanted,
    *,
    visitors: int = 50,
    pause: tuple[float, float] = (2.0, 8.0),
    rounds: int = 3,
    first_turns: int = 10,
) -> Counter[str]:
    """Have people use a server, each waiting for some seconds between two clicks; `wanted` is asked with the clicks.

    The first person takes some turns without waiting.

    Return the numbers of clicks and of what else they did, of `foreign texts`, `errors` and `lost verdicts`,
    milliseconds of a click, and MB of the server's memory; `grown` counts the rounds after which it did not come back.
    """
    counts: Counter[str] = Counter()
    people: list[Person] = []
    with serve_people(folder) as (address, server):
        counts["MB at first"] = resident_bytes(server) // MB
        first = Person(address, 0)
        first.bring()
        for _ in range(first_turns):
            first.turn()
        first.leave()
        at_rest = [memory_at_rest(server)]
        counts["MB before"] = at_rest[0] // MB
        for turn in range(1, rounds + 1):
            came = [come(address, 1 + len(people) + number, pause) for number in range(visitors)]
            people += came
            stay(came, partial(_goes_on, wanted, people, turn / rounds))
            counts["MB with all"] = max(counts["MB with all"], resident_bytes(server) // MB)
            for one in came:
                one.leave()
            at_rest.append(memory_at_rest(server))
            counts[f"MB after round {turn}"] = at_rest[-1] // MB
    counts["grown"] = grown(at_rest)
    seconds = sorted(second for one in people for second in one.seconds)
    for one in people:
        counts.update(one.counts)
    counts["p50 ms"] = round(1_000 * statistics.median(seconds))
    counts["p95 ms"] = round(1_000 * seconds[len(seconds) * 95 // 100])
    counts["errors"] += logged_faults(folder)
    counts["lost verdicts"] = len({note for one in people for note in one.notes} - kept_notes(folder))
    return counts


def grown(at_rest: Sequence[int]) -> int:
    """Return the number of rounds after which memory did not come back, of memory before the first and after each."""
    bounds = (FIRST_GROWTH, *(GROWTH for _ in at_rest[2:]))
    return sum(after > bound * before for before, after, bound in zip(at_rest, at_rest[1:], bounds, strict=False))


def _goes_on(wanted: Wanted, people: Sequence[Person], share: float) -> bool:
    return wanted(sum(one.counts["clicks"] for one in people), share)


def come(address: str, number: int, pause: tuple[float, float]) -> Person:
    """Return a person who is connected, and waits for some seconds before each click."""
    waits = Random(number)
    return Person(address, number, pause=lambda: time.sleep(waits.uniform(*pause)))


def stay(people: Sequence[Person], goes_on: Callable[[], bool]) -> None:
    """Have people use the server at the same time."""
    links: list[str] = []
    with ThreadPoolExecutor(len(people)) as pool:
        for _ in pool.map(partial(_use, links=links, goes_on=goes_on), people):
            pass


def _use(person: Person, links: list[str], goes_on: Callable[[], bool]) -> None:
    try:
        person.bring()
        links.append(person.link)
        while True:
            person.turn(links)
            if not goes_on():
                break
        person.pry(links)
    except Exception:
        # The others go on.
        person.counts["errors"] += 1
        traceback.print_exc()


def memory_at_rest(server: int) -> int:
    """Return the server's memory once it has forgotten who left and what it computed for them."""
    time.sleep(5 * KEPT)
    return resident_bytes(server)


def kept_notes(folder: Path) -> set[str]:
    """Return the notes of all verdicts in the store."""
    store = ReviewStore(folder / "review.sqlite")
    try:
        return {one.verdict.note for one in store.every()}
    finally:
        store.close()
