"""Verdicts are given on small disks that fill up and have room again; only root may mount them.

What was acknowledged is there afterwards, what was refused is not, and each refusal says that the disk is full.
"""

from __future__ import annotations

import random
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from nereval_core.problems import FormatError
from nereval_core.review.store import ReviewStore
from nereval_core.review.verdicts import Draft
from tests.endurance.tries import FailedTryError, Try, make_tries
from tests.support.reviewers import RECORDS, verdict

STEPS = 60
BLOCK = 4096
NOT_MOUNTED = "not mounted"


def run(folder: Path, wanted: Callable[[int], bool], *, processes: int = 1, first: int = 0) -> Counter[str]:
    """Fill disks as long as `wanted` says so of the number of tries; count what became of verdicts, and failures."""
    return make_tries(prepare, folder, wanted, processes=processes, first=first)


def prepare(folder: Path) -> Try:
    def make(number: int) -> Iterator[str]:
        drawn = random.Random(number)
        with small_disk(folder / f"disk-{number}", drawn.randrange(100, 1000)) as disk:
            yield from [NOT_MOUNTED] if disk is None else give_on(disk, drawn)

    return make


@contextmanager
def small_disk(folder: Path, kilobytes: int) -> Iterator[Path | None]:
    """Mount a disk in memory on a folder; None where this is not permitted."""
    folder.mkdir(mode=0o700)
    size = f"size={kilobytes}k,mode=0700"
    try:
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", size, "none", str(folder)], capture_output=True)
    except FileNotFoundError:
        yield None
        return
    try:
        yield folder if mounted.returncode == 0 else None
    finally:
        if mounted.returncode == 0:
            subprocess.run(["umount", "-l", str(folder)], check=True)


def give_on(disk: Path, drawn: random.Random) -> Iterator[str]:
    """Yield what became of each verdict.

    Raises:
        FailedTryError: verdicts are gone, or there though they were refused, or the refusal names another reason.
    """
    file, filler = disk / "review.sqlite", disk / "filler"
    store, acknowledged, versions = ReviewStore(file), set[str](), [0] * RECORDS
    try:
        for step in range(STEPS):
            action = drawn.random()
            if action < 0.2:
                fill(filler, drawn.randrange(12))
            elif action < 0.3:
                filler.unlink(missing_ok=True)
            elif action < 0.4:
                store.close()
                store = ReviewStore(file)
            note, record = f"{step} {'x' * drawn.choice((1, 500))}", step % RECORDS
            try:
                (stored,) = store.give([Draft(verdict(step, note), versions[record])], "Ann")
            except FormatError as error:
                if "disk is full" not in str(error) and "no room" not in str(error):
                    raise FailedTryError("a full disk is called something else", str(error)) from error
                yield "refused"
            else:
                acknowledged.add(note)
                versions[record] = stored.version
                yield "kept"
    finally:
        store.close()
    filler.unlink(missing_ok=True)
    with closing(ReviewStore(file)) as again:
        notes = {stored.verdict.note for stored in again.every()}
    if notes != acknowledged:
        told = f"{len(acknowledged - notes)} gone, {len(notes - acknowledged)} though refused, of {len(acknowledged)}"
        raise FailedTryError("verdicts are not those that were acknowledged", told)


def fill(filler: Path, spare: int) -> None:
    """Fill a disk but for so many blocks."""
    with suppress(OSError), filler.open("ab", buffering=0) as file:
        while file.write(b"x" * BLOCK) == BLOCK:
            pass
    size = filler.stat().st_size
    with filler.open("rb+") as file:
        file.truncate(max(0, size - spare * BLOCK))
