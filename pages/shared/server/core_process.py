"""Calls of the core in a process of their own, within bounds, ended once nobody waits for the answer.

No Streamlit in here. What is called is pickled whole. The process says how far it is by messages, of which the last is
the answer. It comes back without the layers, documents and scores that it was given: in their place stand those of this
process.

Memory is bounded on Linux alone (`RLIMIT_AS`); other systems do not hold processes to it.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from copyreg import __newobj__  # type: ignore[attr-defined]
from dataclasses import dataclass, is_dataclass
from pathlib import Path
from threading import BoundedSemaphore, Thread
from time import monotonic
from typing import IO, Any, TypeVar, cast

import cloudpickle

from nereval_core.corpus import Documents, Layer
from nereval_core.problems import FormatError
from nereval_core.scoring import Scores
from pages.shared.server import server_options

try:
    import resource
except ImportError:
    resource = None  # type: ignore[assignment]

ROOT = Path(__file__).parents[3]
NICE = 10
"""Niceness of the processes, so that pages get the processor first."""
AT_ONCE = max(2, os.cpu_count() or 1)
"""Readings that run at the same time, and computations likewise; further ones wait."""
EVERY = 0.1
"""Seconds between two looks at the clock, and at whether the answer is still wanted."""
OUT_OF_MEMORY = 3
"""Exit status of a process that needed more memory than it may have."""
KEPT = (Layer, Documents, Scores)
"""What an answer holds by number where it was given with the call."""
PROGRESS = "progress"
Returned = TypeVar("Returned")
GB = 1e9


@dataclass(frozen=True)
class Bounds:
    """The bounds of one process: bytes of memory and seconds, None for any.

    With `apart` even what is small is read in a process of its own. A reading ends when `is_waited_for` says no.
    """

    memory: int | None = None
    seconds: float | None = None
    apart: bool = False
    is_waited_for: Callable[[], bool] = lambda: True

    def problem(self, what: str, finding: str) -> FormatError:
        """Return the error of a process beyond a bound; `finding` is what it did, `takes more ...`."""
        remedy = "give less, or ask whoever runs the server to allow more memory or time"
        return FormatError.single(what, None, finding, remedy)


UNBOUNDED = Bounds()


def server_bounds(*, alone: bool) -> Bounds:
    """Return the bounds of the server's options; a server that others reach has some by default.

    They are half of the machine's memory, and ten minutes.
    """
    options = server_options()
    memory = int((options.memory or 0) * GB) or (None if alone else _machine_memory() // 2 or None)
    return Bounds(memory, options.seconds or (None if alone else 600.0), apart=not alone)


CGROUPS = Path("/sys/fs/cgroup")
OWN_CGROUPS = Path("/proc/self/cgroup")


def _machine_memory() -> int:
    """Return the bytes of memory that the machine has, or a control group that this process is in; 0 if unknown.

    Any of the groups, those of a container or a unit on Linux, may end this process.
    """
    try:
        limits = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    except (AttributeError, ValueError, OSError):
        return 0
    with suppress(OSError):
        for line in OWN_CGROUPS.read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            root, name = (CGROUPS / "memory", "memory.limit_in_bytes") if controllers else (CGROUPS, "memory.max")
            # In a container the path may be that of the machine, and the root is its own.
            for folder in (place := root / path.lstrip("/"), *place.parents) if controllers in ("", "memory") else ():
                with suppress(OSError, ValueError):
                    limits.append(int((folder / name).read_text()))
    return min(limits)


def call_apart(
    call: Callable[[], Returned],
    title: str,
    *,
    check_wanted: Callable[[], object],
    bounds: Bounds = UNBOUNDED,
    hear: Callable[..., object] = lambda **_: None,
) -> Returned:
    """Return what a call returns, made in another process: a function of a module of ours, or a partial of one.

    `title` says in messages what is computed or read. `check_wanted` is called meanwhile, and ends the process by
    raising; `hear` is called with what the process says by `tell`, in another thread, and ends it likewise.

    Raises:
        FormatError: as the call, or a bound was reached.
        RuntimeError: the call raised something else, or the process was killed.
    """
    begun, process = monotonic(), start_process()
    if bounds.memory is not None and hasattr(resource, "prlimit"):
        resource.prlimit(process.pid, resource.RLIMIT_AS, (bounds.memory, bounds.memory))
    messages: list[tuple[str, Any]] = [("", None)]
    # It does not keep the server from ending, as a thread of a pool would.
    exchange = Thread(target=_exchange, args=(process, call, hear, messages), name=f"apart {process.pid}", daemon=True)
    exchange.start()
    try:
        while exchange.is_alive():
            check_wanted()
            if bounds.seconds is not None and monotonic() - begun > bounds.seconds:
                raise bounds.problem(title, f"takes longer than the {bounds.seconds:g} seconds that the server allows")
            exchange.join(EVERY)
    finally:
        process.kill()
        exchange.join()
    kind, outcome = messages[-1]
    if kind == "returned":
        return cast(Returned, outcome)
    if kind == "raised":
        raise outcome
    if kind == "problems":
        raise FormatError(*outcome)
    if kind == "fault":
        raise RuntimeError(f"in the process apart: {outcome}")
    # C++ code that gets no memory aborts.
    if process.returncode in (OUT_OF_MEMORY, -signal.SIGABRT):
        bound = "there is" if bounds.memory is None else f"the {bounds.memory / GB:.1f} GB that the server allows"
        raise bounds.problem(title, f"takes more memory than {bound}")
    raise RuntimeError(f"the process apart ended with status {process.returncode}")


def start_process() -> subprocess.Popen[bytes]:
    """Start a process that makes a call, which is written to its standard input."""
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    return subprocess.Popen(
        [sys.executable, "-m", "pages.shared.server.core_process"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": path},
    )


def _exchange(
    process: subprocess.Popen[bytes],
    call: Callable[[], object],
    hear: Callable[..., object],
    messages: list[tuple[str, Any]],
) -> None:
    """Send a call to a process, add what it says to the messages, and pass on how far it is, until it has ended."""
    try:
        # What was killed reads no more, and may end within a message.
        with suppress(BrokenPipeError, EOFError, pickle.UnpicklingError), process:
            assert process.stdin is not None and process.stdout is not None
            writer = _Pickler(process.stdin)
            writer.dump(call)
            # The same objects again, which costs a few bytes each.
            writer.dump(writer.originals)
            # It stays open as long as the process may live, see `_end_with_server`.
            process.stdin.flush()
            while True:
                messages.append(_Unpickler(process.stdout, writer.originals).load())
                if messages[-1][0] == PROGRESS:
                    hear(**messages.pop()[1])
    except BaseException as error:
        messages.append(("raised", error))


@contextmanager
def waited_for(places: BoundedSemaphore, check_wanted: Callable[[], object]) -> Iterator[None]:
    """Hold one of some places within the block; until one is free, `check_wanted` is called, and may end it."""
    while not places.acquire(timeout=0.1):
        check_wanted()
    try:
        yield
    finally:
        places.release()


class _Pickler(cloudpickle.Pickler):  # type: ignore[misc]
    """Write objects; those of `shared` as their number. Objects of KEPT that are written whole are in `originals`."""

    def __init__(self, file: Any, shared: Sequence[object] = ()) -> None:
        super().__init__(file, pickle.HIGHEST_PROTOCOL)
        self._numbers = {id(shared_object): number for number, shared_object in enumerate(shared)}
        self._written: set[int] = set()
        self.originals: list[object] = []

    def persistent_id(self, obj: Any) -> int | None:
        if isinstance(obj, KEPT) and id(obj) not in self._numbers and id(obj) not in self._written:
            self._written.add(id(obj))
            self.originals.append(obj)
        return self._numbers.get(id(obj))

    def reducer_override(self, obj: Any) -> Any:
        state = obj.__getstate__() if is_dataclass(obj) and not isinstance(obj, type) else None
        if isinstance(state, dict):
            # Other sessions may compute what an object keeps, while it is written.
            state = {name: dict(value) if type(value) is dict else value for name, value in dict(state).items()}
            return __newobj__, (type(obj),), state
        return super().reducer_override(obj)


class _Unpickler(pickle.Unpickler):
    def __init__(self, file: Any, shared: Sequence[object]) -> None:
        super().__init__(file)
        self._shared = shared

    def persistent_load(self, pid: Any) -> Any:
        return self._shared[pid]


def main() -> None:
    """Make the call on standard input; only the server that started this process writes to it."""
    out, sys.stdout = sys.stdout.buffer, sys.stderr
    if hasattr(os, "nice"):
        os.nice(NICE)
    try:
        # What the server has to say is read before its end is waited for.
        call, shared = read_call(sys.stdin.buffer)
        Thread(target=_end_with_server, name="server", daemon=True).start()
        write_outcome(call, shared, out)
    except MemoryError:
        os._exit(OUT_OF_MEMORY)
    except BrokenPipeError:
        # Nobody waits any more.
        os._exit(1)


def _end_with_server() -> None:
    """End this process when the server that started it ends, by whatever: its standard input is closed then."""
    # Not by `sys.stdin`, which could not be closed at the end while a thread reads from it.
    while os.read(0, 1):
        pass
    os._exit(1)


def tell(**progress: object) -> None:
    """Say in a process apart how far its call is: who waits for it hears this."""
    assert sys.__stdout__ is not None
    out = sys.__stdout__.buffer
    pickle.dump((PROGRESS, progress), out)
    out.flush()


def read_call(file: IO[bytes]) -> tuple[Callable[[], object], Sequence[object]]:
    """Return a call that was sent, and the objects of KEPT that came with it, by their numbers."""
    reader = pickle.Unpickler(file)
    return reader.load(), reader.load()


def write_outcome(call: Callable[[], object], shared: Sequence[object], out: IO[bytes]) -> None:
    """Make a call, and write what became of it."""
    outcome: tuple[str, object]
    try:
        outcome = "returned", call()
    except FormatError as error:
        outcome = "problems", (error.problems, error.remedies)
    except (MemoryError, BrokenPipeError):
        raise
    except Exception:
        outcome = "fault", traceback.format_exc()
    _Pickler(out, shared).dump(outcome)
    out.flush()


if __name__ == "__main__":
    main()
