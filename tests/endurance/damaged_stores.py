"""All that nereval keeps is damaged and used again: corpora, scored folders, verdicts, counts of shards.

Each answer is the one that the undamaged example gives, or a documented problem, or as if nothing had been kept, and
verdicts are not lost without a word. Whatever is refused, `nereval doctor` names.
"""

from __future__ import annotations

import os
import random
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from nereval_core.api.doctor import examine
from nereval_core.store import FOLDER
from tests.endurance.kept_things import DROPPED, KINDS, REFUSED, Answers, Kind
from tests.endurance.tries import FailedTryError, Try, make_tries
from tests.fuzzing.mutation import damaged

EXAMINED_EACH = 8
"""One of so many tries is examined by doctor."""
PAGE_BYTES = 4096
"""The size of a page of SQLite."""
LOG = "-wal"
"""The ending of SQLite's log: what is cut off it was never there, as after a killed process."""

Files = Mapping[str, bytes]
"""The contents of an example's files, by their paths in it."""


def run(folder: Path, wanted: Callable[[int], bool], *, processes: int = 1, first: int = 0) -> Counter[str]:
    """Damage and use as long as `wanted` says so of the number of tries; count what became of each, and failures."""
    return make_tries(prepare, folder, wanted, processes=processes, first=first)


def prepare(folder: Path) -> Try:
    return Damaged(folder / "own").make


@dataclass(frozen=True)
class Example:
    """An undamaged example, with all that it answers."""

    kind: Kind
    folder: Path
    files: Files
    answers: Answers

    @classmethod
    def of(cls, kind: Kind, folder: Path) -> Example:
        folder.mkdir(parents=True)
        kind.make(folder)
        place = folder / kind.place
        files = {str(path.relative_to(place)): path.read_bytes() for path in sorted(place.rglob("*")) if path.is_file()}
        found = cls(kind, folder, files, kind.use(folder, None))
        assert not {REFUSED, DROPPED} & {value for value in found.answers.values() if isinstance(value, str)}
        return found

    def restore(self, files: Files) -> None:
        """Let the example have these files, and no others."""
        place = self.folder / self.kind.place
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(mode=0o700)
        for name, raw in files.items():
            path = place / name
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            path.touch(0o600)
            path.write_bytes(raw)


class Damaged:
    """The tries by number, in a folder with an example of each kind."""

    def __init__(self, folder: Path, kinds: Sequence[Kind] = KINDS) -> None:
        os.environ[FOLDER] = str(folder / KINDS[0].name / KINDS[0].place)
        self.examples = [Example.of(kind, folder / kind.name) for kind in kinds]

    def make(self, number: int) -> Iterator[str]:
        """Damage an example and use it.

        Raises:
            FailedTryError: something happened that must not.
        """
        drawn = random.Random(number)
        (example,) = drawn.choices(self.examples, [one.kind.share for one in self.examples])
        kind = example.kind.name
        files, told = damaged_files(example.files, drawn)
        example.restore(files)
        examined = drawn.randrange(EXAMINED_EACH) == 0
        findings = _examined(example, files, told) if examined else []
        try:
            answers = example.kind.use(example.folder, drawn)
        except Exception as error:
            error.add_note(f"{kind}: {told}")
            raise
        for question, answer in answers.items():
            wrong = _wrong(example, question, answer, files)
            if wrong:
                raise FailedTryError(f"{kind}: {wrong}: {_without_digest(question)}", f"{told}\n{str(answer)[:2000]}")
        refused = [question for question, answer in answers.items() if isinstance(answer, str) and answer == REFUSED]
        if examined and refused and not findings:
            raise FailedTryError(f"{kind}: doctor names nothing: {_without_digest(refused[0])}", told)
        yield kind
        if examined:
            yield "examined"
            yield from ("not named by doctor",) if files != example.files and not findings else ()
        yield "unharmed" if files == example.files else "refused" if refused else "whole or dropped"


def damaged_files(files: Files, drawn: random.Random) -> tuple[Files, str]:
    """Return files of which one or two are damaged, exchanged or gone, and what was done to them."""
    made, told = dict(files), []
    for _ in range(drawn.choice((1, 1, 2))):
        if not made:
            break
        name, how = drawn.choice(tuple(made)), drawn.randrange(12)
        if how == 0:
            del made[name]
            told.append(f"removed {name}")
        elif how == 1:
            other = drawn.choice(tuple(made))
            made[name], made[other] = made[other], made[name]
            told.append(f"exchanged {name} and {other}")
        elif name.endswith(".sqlite") and made[name] and how < 7:
            made[name] = _damaged_pages(made[name], drawn)
            told.append(f"damaged pages of {name}")
        else:
            made[name] = damaged(made[name], drawn, tuple(made.values()))
            told.append(f"damaged {name}")
    changed = [
        f"{name}: {_difference(files.get(name, b''), raw)}" for name, raw in made.items() if raw != files.get(name)
    ]
    return made, "; ".join((*told, *changed))


def _damaged_pages(raw: bytes, drawn: random.Random) -> bytes:
    """Return a database with a page that is empty, another's, or has a byte changed among its first."""
    pages = [raw[at : at + PAGE_BYTES] for at in range(0, len(raw), PAGE_BYTES)]
    one, other = drawn.randrange(len(pages)), drawn.randrange(len(pages))
    how = drawn.randrange(4)
    if how == 0:
        pages[one] = b"\0" * len(pages[one])
    elif how == 1:
        pages[one] = pages[other]
    elif how == 2:
        pages[one], pages[other] = pages[other], pages[one]
    else:
        at = drawn.randrange(32)
        pages[one] = pages[one][:at] + drawn.randbytes(1) + pages[one][at + 1 :]
    return b"".join(pages)


def _difference(one: bytes, other: bytes) -> str:
    at = next(
        (at for at, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]), min(len(one), len(other))
    )
    return f"{len(one)} and {len(other)} bytes, from {at}: {one[at : at + 24]!r} {other[at : at + 24]!r}"


def _wrong(example: Example, question: str, answer: object, files: Files) -> str:
    """Return in words what is wrong with an answer, "" where it is the undamaged example's or none."""
    if isinstance(answer, str) and answer in (REFUSED, DROPPED):
        return ""
    right = example.answers.get(question)
    if answer == right:
        return ""
    if example.kind.name == "verdicts" and _may_be_less(example.files, files) and _is_less(answer, right):
        return ""
    return "another answer"


def _may_be_less(before: Files, files: Files) -> bool:
    """Return whether the file of verdicts is gone or empty, or its log is not the one that was there."""
    (name,) = (name for name in before if name.endswith(".sqlite"))
    return not files.get(name) or any(before[one] != files.get(one) for one in before if one != name)


def _is_less(answer: object, right: object) -> bool:
    if isinstance(answer, Mapping) and isinstance(right, Mapping):
        return set(answer) <= set(right)
    return isinstance(answer, Sequence) and isinstance(right, Sequence) and list(right[: len(answer)]) == list(answer)


def _without_digest(question: str) -> str:
    return " ".join(word for word in question.split() if len(word) < 64)


def _examined(example: Example, files: Files, told: str) -> list[str]:
    """Return what doctor finds, which changes nothing."""
    place = example.folder / example.kind.place
    review = place / "review.sqlite" if example.kind.name == "verdicts" else example.folder / "none.sqlite"
    scored = [str(place)] if example.kind.place == "scored" else []
    found = examine(str(review), scored).findings
    there = {str(path.relative_to(place)): path.read_bytes() for path in place.rglob("*") if path.is_file()}
    # SQLite makes an empty log where it looks, and its index of the log anew.
    before, after = ({name: raw for name, raw in one.items() if raw and name[-4:] != "-shm"} for one in (files, there))
    if before != after:
        changed = sorted(name for name in {*before, *after} if before.get(name) != after.get(name))
        raise FailedTryError(f"{example.kind.name}: doctor changes what it examines", f"{told}: {', '.join(changed)}")
    return [str(one.problem) for one in found if "other accounts have rights" not in one.problem.found]
