"""Reviewers are killed while they give verdicts, and a bit is flipped in what SQLite left beside the file, or in it.

What was acknowledged is there afterwards, or the store is refused: nothing is lost without a word. Every other store is
one that an earlier version had made.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import islice
from pathlib import Path

from nereval_core.problems import FormatError
from nereval_core.review.store import ReviewStore
from tests.endurance.tries import FailedTryError, Try, make_tries
from tests.support import PYTHON_PATH, ROOT

MOST_VERDICTS = 60


def run(folder: Path, wanted: Callable[[int], bool], *, processes: int = 1, first: int = 0) -> Counter[str]:
    """Kill and flip as long as `wanted` says so of the number of tries; count what became of each, and failures."""
    return make_tries(prepare, folder, wanted, processes=processes, first=first)


def prepare(folder: Path) -> Try:
    def make(number: int) -> Iterator[str]:
        place = folder / f"try-{number}"
        place.mkdir()
        try:
            yield from kill_and_flip(place / "review.sqlite", random.Random(number), is_logged=bool(number % 2))
        finally:
            shutil.rmtree(place)

    return make


def kill_and_flip(file: Path, drawn: random.Random, *, is_logged: bool) -> Iterator[str]:
    """Yield what became of the verdicts of a killed reviewer.

    Raises:
        FailedTryError: verdicts are gone without a word.
    """
    if is_logged:
        with closing(ReviewStore(file)) as store, store.database.writing() as connection:
            store.prepare(connection)
        with closing(sqlite3.connect(file)) as earlier:
            earlier.execute("PRAGMA journal_mode=WAL")
    acknowledged = killed(file, drawn.randrange(1, MOST_VERDICTS))
    beside = sorted(path for path in file.parent.iterdir() if path != file and path.stat().st_size)
    path = drawn.choice([*beside, file])
    raw = bytearray(path.read_bytes())
    at = drawn.randrange(len(raw))
    raw[at] ^= 1 << drawn.randrange(8)
    path.write_bytes(raw)
    try:
        with closing(ReviewStore(file)) as store:
            uids = {stored.uid for stored in store.every()}
    except FormatError:
        yield from ("refused", path.suffix)
        return
    if lost := acknowledged - uids:
        kind = f"verdicts are lost without a word: {path.suffix}"
        raise FailedTryError(kind, f"{len(lost)} of {len(acknowledged)}, byte {at} of {len(raw)}")
    yield from ("whole", path.suffix)


def killed(file: Path, count: int) -> set[str]:
    """Let a reviewer give some verdicts, and kill it; return the uids that it was given."""
    command = [sys.executable, "-m", "tests.support.reviewers", str(file), "1000000", "Ann"]
    environment = os.environ | {"PYTHONPATH": PYTHON_PATH}
    with subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        assert process.stdout is not None
        lines = [*islice(process.stdout, count)]
        # It gives the verdicts in a process of its own.
        os.killpg(process.pid, signal.SIGKILL)
        # What was acknowledged before the kill may not have been read yet; its last line may be cut.
        lines += process.stdout
    return {line.split()[1] for line in lines if line.endswith("\n")}
