"""Reading in a process of its own, so that pages answer meanwhile, and that ending it is certain and gives all back.

The process is told what to read by its standard input and says how far it is by lines of JSON. The corpus itself it
leaves in the store, or in a folder that lasts until it is opened from there.
"""

from __future__ import annotations

import json
import os
import pickle
import signal
import sys
import traceback
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from time import monotonic
from typing import Any, TextIO

from nereval_core.problems import FormatError, Problem
from nereval_core.readers.input.temporaries import TemporaryFolder, remove_abandoned
from nereval_core.store import Store
from pages.shared.data.jobs import CancelledError, Watch
from pages.shared.data.kept_corpora import Keeper, remedy_of
from pages.shared.data.loading import Loaded
from pages.shared.data.reading_orders import Order
from pages.shared.server import NICE, UNBOUNDED, Bounds, Overtime, bounded_process, end_with_server

EVERY = 0.1
"""Seconds between two lines about how far it is."""


def read_order(keeper: Keeper, order: Order, watch: Watch, bounds: Bounds = UNBOUNDED, owner: str = "") -> Loaded:
    """Read the corpus of an order for an owner: in this process if it is small, unless the bounds ask for another.

    Raises:
        FormatError: as `load`, or a bound was reached.
        CancelledError: it is no longer wanted.
    """
    if order.small and not bounds.apart:
        return _read(keeper, order, owner, watch)
    with TemporaryFolder() as spare:
        try:
            answer = _answer(keeper.store, order, owner, Path(spare), watch, bounds)
        except Overtime:
            raise bounds.too_long(order.title) from None
        watch.tick()
        if not bounds.is_waited_for():
            raise CancelledError
        if "memory" in answer:
            raise bounds.too_large(order.title)
        if "problems" in answer:
            problems = [Problem(**problem) for problem in answer["problems"]]
            raise FormatError(problems, map(remedy_of, answer["remedies"]))
        if "fault" in answer:
            raise RuntimeError(f"in the process that reads: {answer['fault']}")
        keeper.tell(answer["trouble"])
        for store in (keeper.store, _spare(Path(spare))):
            if store is not None and (loaded := keeper.take(store, answer["key"])) is not None:
                return loaded
    if bounds.apart:
        raise bounds.problem(order.title, "was read, but there is no room on the disk to keep it")
    # There is no room on any disk.
    return _read(keeper, order, owner, watch)


def _read(keeper: Keeper, order: Order, owner: str, watch: Watch) -> Loaded:
    opened = order.opened()
    return keeper.read(*opened, order.options, first_annotator=order.first_annotator, owner=owner, watch=watch)


def _answer(store: Store | None, order: Order, owner: str, spare: Path, watch: Watch, bounds: Bounds) -> dict[str, Any]:
    """Start the process, pass on how far it is, and return its last word."""
    message: dict[str, Any] = {}
    try:
        with bounded_process("pages.shared.data.reading_process", bounds) as process:
            assert process.stdin is not None and process.stdout is not None
            watch.ends(process.kill)
            with suppress(BrokenPipeError):
                pickle.dump((order, owner, store, spare), process.stdin)
                process.stdin.flush()
            with process.stdout:
                for line in process.stdout:
                    message = json.loads(line)
                    if "stage" in message:
                        watch.show(**message)
            status = process.wait()
    finally:
        for folder in (spare.parent, *([store.folder] if store is not None else [])):
            remove_abandoned(folder)
    if not message or "stage" in message:
        # C++ code that gets no memory aborts.
        return {"memory": True} if status == -signal.SIGABRT else {"fault": f"it ended with status {status}"}
    return message


class _Telling(Watch):
    """A watch that writes down how far it is, now and then."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._told = 0.0
        super().__init__()

    def begin(self, stage: str, unit: str = "") -> None:
        super().begin(stage, unit)
        self._tell()

    def step(self, done: int, total: int) -> None:
        super().step(done, total)
        if monotonic() - self._told > EVERY:
            self._tell()

    def _tell(self) -> None:
        self._told = monotonic()
        _say(self._out, stage=self.stage, unit=self.unit, done=self.done, total=self.total)


def _say(out: TextIO, **message: Any) -> None:
    out.write(json.dumps(message) + "\n")
    out.flush()


def _spare(folder: Path) -> Store:
    return Store(folder, sys.maxsize)


def main() -> None:
    """Read the order on standard input; only the server that started this process writes to it."""
    out, sys.stdout = sys.stdout, sys.stderr
    if hasattr(os, "nice"):
        os.nice(NICE)
    order, owner, store, spare = pickle.load(sys.stdin.buffer)
    end_with_server()
    keeper = Keeper(store, spare=_spare(spare))
    try:
        loaded = _read(keeper, order, owner, _Telling(out))
    except FormatError as error:
        remedies = [asdict(remedy) for remedy in error.remedies]
        _say(out, problems=[asdict(problem) for problem in error.problems], remedies=remedies)
    except MemoryError:
        # What holds the memory is let go first: to say it takes some.
        del keeper
        _say(out, memory=True)
    except BrokenPipeError:
        # The server is gone.
        sys.exit(1)
    except Exception:
        _say(out, fault=traceback.format_exc())
    else:
        _say(out, key=loaded.key, trouble=keeper.trouble)


if __name__ == "__main__":
    main()
