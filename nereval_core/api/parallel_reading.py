"""Read large systems in processes of their own while gold is read in this one.

Such a process does not know gold's tag scheme and texts yet, by which a system is read. Its reading is taken only where
both cannot have changed it; else the system is read again here. It leaves its arrays in a file, which is mapped: that
takes a fortieth of the time of reading.
"""

from __future__ import annotations

import io
import mmap
import os
import pickle
import subprocess
import sys
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from time import monotonic
from types import MappingProxyType
from typing import Any

from nereval_core import readers
from nereval_core.readers import Reading, ReadOptions, Source
from nereval_core.readers.input.temporaries import TemporaryFolder
from nereval_core.readers.shared.tag_decoding import GOLDS, NO_TAGS_NOTE, scheme_note

PROGRESS_SECONDS = 0.1
"""The least time between two lines of progress."""
ALIGNED = 64
"""Bytes of which the place of each array in a file is a multiple."""
ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Order:
    """A system to be read: its files, their format, and the settings that do not depend on gold."""

    source: Source
    format: str
    options: ReadOptions


class ParallelReadings:
    """Systems that are being read in other processes, by name."""

    def __init__(self, pool: ThreadPoolExecutor, folder: Path, orders: Mapping[str, Order]) -> None:
        self._orders = orders
        self._processes: set[subprocess.Popen[bytes]] = set()
        self._told: dict[str, tuple[int, int]] = {}
        self._ended = False
        self._futures: dict[str, Future[Reading | None]] = {
            name: pool.submit(self._read, name, order, folder / str(number))
            for number, (name, order) in enumerate(orders.items())
        }

    def take(self, name: str, options: ReadOptions) -> Reading | None:
        """Return the reading of a system once it has ended, or None if the caller has to read it with these options."""
        future = self._futures.get(name)
        if future is None or future.cancel():
            return None
        while not future.done():
            with suppress(TimeoutError):
                future.result(PROGRESS_SECONDS)
            if options.progress and name in self._told:
                options.progress(*self._told[name])
        reading = future.result()
        return None if reading is None else _by_scheme_of_gold(reading, options.gold_scheme)

    def end(self) -> None:
        """End all processes."""
        self._ended = True
        for future in self._futures.values():
            future.cancel()
        for process in tuple(self._processes):
            process.kill()

    def _read(self, name: str, order: Order, path: Path) -> Reading | None:
        path_of_modules = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
        with subprocess.Popen(
            [sys.executable, "-c", f"from {__name__} import main; main()", str(path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": path_of_modules},
        ) as process:
            assert process.stdin is not None and process.stdout is not None
            self._processes.add(process)
            if self._ended:
                process.kill()
            with suppress(BrokenPipeError), process.stdin:
                _Pickler(process.stdin).dump(replace(order, source=replace(order.source, heads={})))
            for line in process.stdout:
                done, total = line.split()
                self._told[name] = int(done), int(total)
        self._processes.discard(process)
        return _mapped(path) if process.returncode == 0 else None


def spare_processors() -> int:
    """Return the number of processors that this process may use beside its own."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return (usable or 1) - 1


@contextmanager
def parallel_readings(orders: Mapping[str, Order]) -> Iterator[ParallelReadings | None]:
    """Begin to read systems in processes of their own; None where the caller has the only processor."""
    spare = spare_processors()
    if not spare:
        yield None
        return
    with (
        TemporaryFolder() as folder,
        ThreadPoolExecutor(min(spare, len(orders))) as pool,
    ):
        begun = ParallelReadings(pool, Path(folder), orders)
        try:
            yield begun
        finally:
            begun.end()


def _by_scheme_of_gold(reading: Reading, gold_scheme: str | None) -> Reading | None:
    """Return what reading by gold's scheme gives, None if it may be another than what was read without."""
    if reading.placed:
        # The types of gold say in which order pairs of mention and type stand.
        return None
    if gold_scheme is None:
        return reading
    if reading.scheme is None:
        # A format without tags, or no tag but O.
        return None if NO_TAGS_NOTE in reading.notes else reading
    if scheme_note(reading.scheme, "given") in reading.notes:
        return reading
    detected, golds = scheme_note(reading.scheme, "detected"), scheme_note(reading.scheme, GOLDS)
    if reading.scheme != gold_scheme or detected not in reading.notes:
        return None
    return replace(reading, notes=tuple(golds if note == detected else note for note in reading.notes))


class _Pickler(pickle.Pickler):
    """Pickles read-only mappings too."""

    def reducer_override(self, value: Any) -> Any:
        return (_read_only, (dict(value),)) if isinstance(value, MappingProxyType) else NotImplemented


def _read_only(mapping: dict[Any, Any]) -> MappingProxyType[Any, Any]:
    return MappingProxyType(mapping)


def _leave(reading: Reading, path: Path) -> None:
    """Write the arrays of a reading to a file one after the other, and at its end all else and where each lies."""
    buffers: list[pickle.PickleBuffer] = []
    rest = io.BytesIO()
    _Pickler(rest, protocol=5, buffer_callback=buffers.append).dump(reading)
    places = []
    with path.open("wb") as file:
        for buffer in buffers:
            raw = buffer.raw()
            file.write(b"\0" * (-file.tell() % ALIGNED))
            places.append((file.tell(), raw.nbytes))
            file.write(raw)
        end = file.tell()
        pickle.dump((rest.getvalue(), places), file)
        file.write(end.to_bytes(8, "little"))


def _mapped(path: Path) -> Reading:
    """Return the reading that was left in a file, over its mapped arrays."""
    with path.open("rb") as file:
        view = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    path.unlink()
    end = int.from_bytes(view[-8:], "little")
    rest, places = pickle.loads(view[end:-8])
    reading: Reading = pickle.loads(rest, buffers=[view[at : at + size] for at, size in places])
    return reading


def main() -> None:
    """Read the system that standard input orders, tell the progress, and leave the reading in a file."""
    order: Order = pickle.load(sys.stdin.buffer)
    last = 0.0

    def progress(done: int, total: int) -> None:
        nonlocal last
        if monotonic() - last >= PROGRESS_SECONDS:
            last = monotonic()
            # Where who asked is gone this ends the process.
            print(done, total, flush=True)

    reading = readers.read(order.source, format=order.format, options=replace(order.options, progress=progress))
    _leave(reading, Path(sys.argv[1]))
