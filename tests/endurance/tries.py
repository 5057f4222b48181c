"""Numbered tries in processes of their own: one that hangs or ends the interpreter costs itself and is named.

A try depends on its number alone, so that `--first NUMBER --tries 1` repeats it.
"""

from __future__ import annotations

import faulthandler
import gc
import logging
import multiprocessing
import os
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

FAILURES = "failures"
"""The count of tries in which something happened that must not."""
BLOCK_TRIES = 50
"""Tries that a process is given at a time."""
LOST_SECONDS = 30.0
"""Seconds after which the process of a try that is not done is ended, unless its script names others."""
SHOWN = 20
"""Kinds of failures that are printed."""
_PROCESSES = multiprocessing.get_context("forkserver")
# What all tries import, once for all of their processes.
_PROCESSES.set_forkserver_preload(["tests.endurance.damaged_stores", "tests.endurance.fuzzed_inputs"])

Try = Callable[[int], Iterable[str]]
"""Makes the try of a number, and returns its outcomes, by which it is counted.

It fails by raising: `FailedTryError`, whose text says what happened with which input, or any other exception."""
Prepare = Callable[[Path], Try]
"""Makes ready in a folder, in each process anew."""


class FailedTryError(Exception):
    """What must not happen: its kind, of which one is printed, and what it happened with."""

    def __init__(self, kind: str, given: str) -> None:
        super().__init__(kind, given)
        self.kind = kind
        self.given = given


def make_tries(
    prepare: Prepare,
    folder: Path,
    wanted: Callable[[int], bool],
    *,
    processes: int = 1,
    first: int = 0,
    lost_seconds: float | None = None,
) -> Counter[str]:
    """Make tries as long as `wanted` says so of their number; count them, their outcomes and the `failures`.

    One failure of each kind is printed. A try that is not done after `lost_seconds` is one. Each process has an own
    folder, its working and its temporary one.
    """
    counts: Counter[str] = Counter()
    kinds: set[str] = set()
    given = 0
    patience = LOST_SECONDS if lost_seconds is None else lost_seconds
    workers = [_Worker(prepare, folder / str(number), patience) for number in range(processes)]
    try:
        while True:
            for worker in workers:
                numbers: list[int] = []
                while worker.left is None and len(numbers) < BLOCK_TRIES and wanted(given):
                    numbers.append(first + given)
                    given += 1
                if numbers:
                    worker.give(numbers)
            busy = [worker for worker in workers if worker.left is not None]
            if not busy:
                return counts
            wait([worker.connection for worker in busy], timeout=1)
            for worker in busy:
                for number, outcomes, failure in worker.answers():
                    counts["tries"] += 1
                    counts.update(outcomes)
                    if failure is not None:
                        counts[FAILURES] += 1
                        _tell(number, *failure, kinds)
    finally:
        for worker in workers:
            worker.end()


def _tell(number: int, kind: str, given: str, kinds: set[str]) -> None:
    if kind not in kinds and len(kinds) < SHOWN:
        print(f"--first {number} --tries 1: {kind}\n{given}\n", file=sys.stderr, flush=True)
    kinds.add(kind)


Answer = tuple[int, list[str], tuple[str, str] | None]


@dataclass
class _Worker:
    """A process that makes tries one after the other, started anew where it ends; `left` are those not yet done."""

    prepare: Prepare
    folder: Path
    lost_seconds: float
    left: list[int] | None = None
    since: float = 0.0
    started: int = 0
    connection: Connection = field(init=False)
    process: Any = field(init=False)

    def __post_init__(self) -> None:
        self._start()

    def _start(self) -> None:
        self.started += 1
        place = self.folder / str(self.started)
        place.mkdir(parents=True)
        self.connection, theirs = _PROCESSES.Pipe()
        self.process = _PROCESSES.Process(target=_work, args=(self.prepare, place, theirs), daemon=True)
        self.process.start()
        theirs.close()
        # It is ready once it has said so, which takes the time that it takes to prepare.
        self.connection.recv()

    def give(self, numbers: list[int]) -> None:
        self.left, self.since = numbers, time.monotonic()
        self.connection.send(self.left)

    def answers(self) -> Iterable[Answer]:
        """Yield the tries that are done, and the one that did not come back."""
        assert self.left is not None
        try:
            while self.left and self.connection.poll():
                yield self.connection.recv()
                del self.left[0]
                self.since = time.monotonic()
        except (EOFError, OSError):
            self.process.join()
            kind = f"the process ended with status {self.process.exitcode}"
        else:
            if not self.left:
                self.left = None
                return
            if time.monotonic() - self.since < self.lost_seconds:
                return
            # It writes down where it is, and ends.
            os.kill(self.process.pid, signal.SIGABRT)
            self.process.join()
            kind = f"not done after {self.lost_seconds:.0f} seconds"
        yield self.left[0], [], (kind, (self.folder / str(self.started) / "stack").read_text())
        rest = self.left[1:]
        self.left = None
        self._start()
        if rest:
            self.give(rest)

    def end(self) -> None:
        self.connection.close()
        self.process.kill()
        self.process.join()


def _work(prepare: Prepare, folder: Path, connection: Connection) -> None:
    """Make the tries whose numbers come, and answer with their outcomes."""
    work, home = folder / "work", folder / "home"
    for place in (work, home):
        place.mkdir()
    os.environ |= {"HOME": str(home), "TMPDIR": str(work), "XDG_CACHE_HOME": str(home), "XDG_DATA_HOME": str(home)}
    tempfile.tempdir = str(work)
    os.chdir(work)
    logging.disable()
    with (folder / "stack").open("w") as stack:
        faulthandler.enable(stack)
        make = prepare(folder)
        # What stays need not be looked through for garbage again and again.
        gc.freeze()
        connection.send("ready")
        try:
            while True:
                for number in connection.recv():
                    connection.send(_answer(make, number))
        except (EOFError, BrokenPipeError):
            return


def _answer(make: Try, number: int) -> Answer:
    try:
        return number, list(make(number)), None
    except FailedTryError as failure:
        return number, [], (failure.kind, failure.given)
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        ours = [frame for frame in frames if "/nereval_core/" in frame.filename or "/pages/" in frame.filename]
        place = (ours or frames)[-1]
        kind = f"{type(error).__name__} at {Path(place.filename).name}:{place.lineno}"
        return number, [], (kind, traceback.format_exc())
