"""All that nereval keeps is damaged and used again: corpora, scored folders, verdicts, counts of shards.

Each answer is the one that the undamaged example gives, or a documented problem, or as if nothing had been kept, and
verdicts are not lost without a word. Whatever is refused or dropped, and not gone, `nereval doctor` names.
"""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
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
        files = dict(sorted(_contents(folder / kind.place).items()))
        found = cls(kind, folder, files, kind.use(folder, None))
        assert not {REFUSED, DROPPED} & {value for value in found.answers.values() if isinstance(value, str)}
        return found

    def restore(self, files: Files) -> None:
        """Let the example have these files, and no others; those that are as they should be stay."""
        place = self.folder / self.kind.place
        there = _contents(place)
        for name in there.keys() - files.keys():
            (place / name).unlink()
        for name, raw in files.items():
            path = place / name
            if there.get(name) != raw:
                # A new file: the former one may still be mapped.
                path.unlink(missing_ok=True)
                path.touch(0o600)
                path.write_bytes(raw)


def _contents(place: Path) -> Files:
    """Return the contents of all files in a folder."""
    folders = ((Path(folder), names) for folder, _, names in os.walk(place))
    return {
        str((folder / name).relative_to(place)): (folder / name).read_bytes()
        for folder, names in folders
        for name in names
    }


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
        files, damage = damaged_files(example.files, drawn)
        told = partial(_told, damage, example.files, files)
        example.restore(files)
        examined = drawn.randrange(EXAMINED_EACH) == 0
        findings = _examined(example, files, told) if examined else []
        try:
            answers = example.kind.use(example.folder, drawn)
        except Exception as error:
            error.add_note(f"{kind}: {told()}")
            raise
        for question, answer in answers.items():
            wrong = _wrong(example, question, answer, files)
            if wrong:
                raise FailedTryError(f"{kind}: {wrong}: {_without_digest(question)}", f"{told()}\n{str(answer)[:2000]}")
        refused, dropped = (
            [question for question, answer in answers.items() if isinstance(answer, str) and answer == instead]
            for instead in (REFUSED, DROPPED)
        )
        # What is gone leaves nothing that could be named.
        lost = [*refused, *(dropped if files.keys() == example.files.keys() else ())]
        if examined and lost and not findings:
            raise FailedTryError(f"{kind}: doctor names nothing: {_without_digest(lost[0])}", told())
        became = "unharmed" if files == example.files else "refused" if refused else "dropped" if dropped else "whole"
        yield from (kind, became)
        if examined:
            yield f"examined, {kind}: {became}{'' if findings else ', not named'}"


def damaged_files(files: Files, drawn: random.Random) -> tuple[Files, list[str]]:
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
    return made, told


def _told(damage: Sequence[str], before: Files, after: Files) -> str:
    """Say what was done to the files, and what differs."""
    changed = [
        f"{name}: {_difference(before.get(name, b''), raw)}" for name, raw in after.items() if raw != before.get(name)
    ]
    return "; ".join((*damage, *changed))


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
    """Return whether the file of verdicts is gone or empty."""
    (name,) = (name for name in before if name.endswith(".sqlite"))
    return not files.get(name)


def _is_less(answer: object, right: object) -> bool:
    if isinstance(answer, Mapping) and isinstance(right, Mapping):
        return set(answer) <= set(right)
    return isinstance(answer, Sequence) and isinstance(right, Sequence) and list(right[: len(answer)]) == list(answer)


def _without_digest(question: str) -> str:
    return " ".join(word for word in question.split() if len(word) < 64)


def _examined(example: Example, files: Files, told: Callable[[], str]) -> list[str]:
    """Return what doctor finds, which changes nothing."""
    place = example.folder / example.kind.place
    review = place / "review.sqlite" if example.kind.name == "verdicts" else example.folder / "none.sqlite"
    scored = [str(place)] if example.kind.place == "scored" else []
    found = examine(str(review), scored).findings
    there = _contents(place)
    # SQLite makes an empty log where it looks, and its index of the log anew.
    before, after = ({name: raw for name, raw in one.items() if raw and name[-4:] != "-shm"} for one in (files, there))
    if before != after:
        changed = sorted(name for name in {*before, *after} if before.get(name) != after.get(name))
        raise FailedTryError(f"{example.kind.name}: doctor changes what it examines", f"{told()}: {', '.join(changed)}")
    # Other examples are as the last try left them.
    own = [one.problem for one in found if Path(one.problem.source).is_relative_to(example.folder)]
    return [str(one) for one in own if "other accounts have rights" not in one.found]
