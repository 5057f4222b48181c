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
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from copyreg import __newobj__  # type: ignore[attr-defined]
from dataclasses import dataclass, is_dataclass, replace
from pathlib import Path
from threading import BoundedSemaphore, Thread
from time import monotonic
from typing import IO, Any, TypeVar

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

    def too_large(self, what: str) -> FormatError:
        bound = "there is" if self.memory is None else f"the {self.memory / GB:.1f} GB that the server allows"
        return self.problem(what, f"takes more memory than {bound}")

    def too_long(self, what: str) -> FormatError:
        return self.problem(what, f"takes longer than the {self.seconds:g} seconds that the server allows")


UNBOUNDED = Bounds()


def server_bounds(*, alone: bool) -> Bounds:
    """Return the bounds of the server's options; a server that others reach has some by default.

    They are half of the machine's memory, and ten minutes.
    """
    options = server_options()
    memory = None if alone else _machine_memory() // 2 or None
    seconds = None if alone else 600.0
    return Bounds(
        int(options.memory * GB) if options.memory is not None else memory,
        options.seconds if options.seconds is not None else seconds,
        apart=not alone,
    )


CGROUPS = Path("/sys/fs/cgroup")
OWN_CGROUPS = Path("/proc/self/cgroup")


def _machine_memory() -> int:
    """Return the bytes of memory that the machine, or the container or unit that this runs in, has; 0 if unknown."""
    try:
        machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return 0
    return min([machine, *_cgroup_limits()])


def _cgroup_limits() -> Iterator[int]:
    """Yield the bounds of memory of the control groups that this process is in, on Linux: any of them may end it."""
    try:
        lines = OWN_CGROUPS.read_text().splitlines()
    except OSError:
        return
    for _, controllers, path in (line.split(":", 2) for line in lines):
        if controllers not in ("", "memory"):
            continue
        root, name = (CGROUPS, "memory.max") if not controllers else (CGROUPS / "memory", "memory.limit_in_bytes")
        inner = root / path.lstrip("/")
        # In a container the path may be that of the machine, and the root is its own.
        for folder in (inner, *inner.parents):
            if folder.is_relative_to(root):
                with suppress(OSError, ValueError):
                    yield int((folder / name).read_text())


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
    answer: Future[tuple[str, Any]] = Future()
    # It does not keep the server from ending, as a thread of a pool would.
    exchange = Thread(target=_exchange, args=(process, call, hear, answer), name=f"apart {process.pid}", daemon=True)
    exchange.start()
    try:
        while exchange.is_alive():
            check_wanted()
            if bounds.seconds is not None and monotonic() - begun > bounds.seconds:
                raise bounds.too_long(title)
            exchange.join(EVERY)
    finally:
        process.kill()
        exchange.join()
    kind, outcome = answer.result()
    if kind == "returned":
        returned: Returned = outcome
        return returned
    if kind == "problems":
        raise FormatError(*outcome)
    if kind == "fault":
        raise RuntimeError(f"in the process apart: {outcome}")
    # C++ code that gets no memory aborts.
    if process.returncode in (OUT_OF_MEMORY, -signal.SIGABRT):
        raise bounds.too_large(title)
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
    answer: Future[tuple[str, Any]],
) -> None:
    """Send a call to a process, pass on how far it is, and have its last message answer once it has ended."""
    kind, outcome = "", None
    try:
        # What was killed reads no more, and may end within a message.
        with suppress(BrokenPipeError, EOFError, pickle.UnpicklingError), process:
            assert process.stdin is not None and process.stdout is not None
            writer = _Pickler(process.stdin)
            writer.dump(call)
            # It stays open as long as the process may live, see `_end_with_server`.
            process.stdin.flush()
            while True:
                kind, outcome = _Unpickler(process.stdout, writer.listed).load()
                if kind == PROGRESS:
                    hear(**outcome)
    except BaseException as error:
        answer.set_exception(error)
    else:
        answer.set_result((kind, outcome))


@contextmanager
def waited_for(places: BoundedSemaphore, check_wanted: Callable[[], object]) -> Iterator[None]:
    """Hold one of some places within the block; until one is free, `check_wanted` is called, and may end it."""
    while not places.acquire(timeout=0.1):
        check_wanted()
    try:
        yield
    finally:
        places.release()


def while_active(bounds: Bounds, is_active: Callable[[], bool], patience: float) -> Bounds:
    """Return bounds that end a reading when its session has not been active for so many seconds."""
    last = monotonic()

    def is_waited_for() -> bool:
        nonlocal last
        if is_active():
            last = monotonic()
        return monotonic() - last < patience

    return replace(bounds, is_waited_for=is_waited_for)


class _Pickler(cloudpickle.Pickler):  # type: ignore[misc]
    """Write objects; those of `shared` as their number. Objects of KEPT that are written whole are in `listed`."""

    def __init__(self, file: Any, shared: Sequence[object] = ()) -> None:
        super().__init__(file, pickle.HIGHEST_PROTOCOL)
        self._shared = {id(shared_object): number for number, shared_object in enumerate(shared)}
        self._seen: set[int] = set()
        self.listed: list[object] = []

    def persistent_id(self, obj: Any) -> int | None:
        if not isinstance(obj, KEPT):
            return None
        if id(obj) not in self._shared and id(obj) not in self._seen:
            self._seen.add(id(obj))
            self.listed.append(obj)
        return self._shared.get(id(obj))

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
        call = pickle.load(sys.stdin.buffer)
        _end_with_server()
        make_call(call, out)
    except MemoryError:
        os._exit(OUT_OF_MEMORY)
    except BrokenPipeError:
        # Nobody waits any more.
        os._exit(1)


def _end_with_server() -> None:
    """Have this process end when the server that started it ends, by whatever: its standard input is closed then.

    What the server has to say must have been read before.
    """

    def wait() -> None:
        # Not by `sys.stdin`, which could not be closed at the end while a thread reads from it.
        while os.read(0, 1):
            pass
        os._exit(1)

    Thread(target=wait, name="server", daemon=True).start()


def tell(**progress: object) -> None:
    """Say in a process apart how far its call is: who waits for it hears this."""
    assert sys.__stdout__ is not None
    out = sys.__stdout__.buffer
    pickle.dump((PROGRESS, progress), out)
    out.flush()


def make_call(call: Callable[[], object], out: IO[bytes]) -> None:
    """Make a call, and write what became of it."""
    # The objects are listed in the order in which they are written: the same here and there.
    with Path(os.devnull).open("wb") as nowhere:
        listing = _Pickler(nowhere)
        listing.dump(call)
    _Pickler(out, listing.listed).dump(_outcome(call))
    out.flush()


def _outcome(call: Callable[[], object]) -> tuple[str, object]:
    try:
        return "returned", call()
    except FormatError as error:
        return "problems", (error.problems, error.remedies)
    except (MemoryError, BrokenPipeError):
        raise
    except Exception:
        return "fault", traceback.format_exc()


if __name__ == "__main__":
    main()
