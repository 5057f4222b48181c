"""The server: its options, and the processes beside it with their bounds. No Streamlit in here.

Memory is bounded on Linux alone (`RLIMIT_AS`); other systems do not hold processes to it.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from threading import BoundedSemaphore, Event, Thread
from time import monotonic

from nereval_core.cli.options import Parser, UsageError
from nereval_core.cli.server_options import add_server, check_server
from nereval_core.problems import FormatError

ROOT = Path(__file__).parents[3]


def server_options() -> argparse.Namespace:
    """Return the options of `streamlit run app.py -- [--data DIR] [--mask] ... [--files GOLD SYSTEM ...]`.

    They are those of `nereval_core.cli.server_options`, and `files`: all that stands behind it, which are files and
    options of reading as `nereval app` takes them. `check_options` refuses others.
    """
    # Every run of a page asks for some of them.
    return _options(tuple(sys.argv[1:]))


@lru_cache(1)
def _options(arguments: tuple[str, ...]) -> argparse.Namespace:
    options = _parser().parse_known_args(arguments)[0]
    if options.data is not None:
        # Messages name files by their way from it, in which no link is left.
        options.data = options.data.resolve()
    return options


def check_options() -> None:
    """End the process, with one line and exit status 2, where it has an unknown option or one with a bad value."""
    parser = _parser()
    try:
        check_server(parser.parse_args(sys.argv[1:]))
    except UsageError as error:
        parser.error(str(error))


def _parser() -> Parser:
    parser = Parser(prog="streamlit run app.py --", allow_abbrev=False)
    add_server(parser.add_argument)
    files = "files that are shown, and how they are read, to the end of the line: see nereval app --help"
    parser.add_argument("--files", nargs=argparse.REMAINDER, default=[], metavar="GOLD SYSTEM ...", help=files)
    return parser


def start_process(module: str) -> subprocess.Popen[bytes]:
    """Start a module of ours in a process that is written to and read from by pipes."""
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    return subprocess.Popen(
        [sys.executable, "-m", module],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": path},
    )


try:
    import resource
except ImportError:
    resource = None  # type: ignore[assignment]

NICE = 10
"""Niceness of the processes, so that pages get the processor first."""
AT_ONCE = max(2, os.cpu_count() or 1)
"""Readings that run at the same time, and computations likewise; further ones wait."""
EVERY = 0.5
"""Seconds between two looks at the clock, and at whether somebody waits."""
GB = 1e9


@dataclass(frozen=True)
class Bounds:
    """The bounds of one process: bytes of memory and seconds, None for any.

    With `apart` even what is small is read in a process of its own. The process ends when `is_waited_for` says no.
    """

    memory: int | None = None
    seconds: float | None = None
    apart: bool = False
    is_waited_for: Callable[[], bool] = lambda: True

    def problem(self, what: str, finding: str) -> FormatError:
        """Return the error of a process beyond a bound; `found` is what it did, `takes more ...`."""
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


class Overtime(Exception):  # noqa: N818
    """The process took longer than it may."""


@contextmanager
def bounded_process(module: str, bounds: Bounds) -> Iterator[subprocess.Popen[bytes]]:
    """Start a module of ours in a process that ends with the block, beyond a bound, or when nobody waits for it.

    Its standard input stays open for as long, see `end_with_server`.

    Raises:
        Overtime: after a block whose process was ended because its time was over.
    """
    process = start_process(module)
    pipe = process.stdin
    if bounds.memory is not None and hasattr(resource, "prlimit"):
        resource.prlimit(process.pid, resource.RLIMIT_AS, (bounds.memory, bounds.memory))
    assert pipe is not None
    done, late = Event(), Event()
    watching = Thread(target=_watch, args=(process, bounds, done, late), name="bounds", daemon=True)
    watching.start()
    try:
        yield process
    finally:
        done.set()
        process.kill()
        process.wait()
        watching.join()
        # What it was not sent any more has no reader.
        with suppress(BrokenPipeError):
            pipe.close()
    if late.is_set():
        raise Overtime


def _watch(process: subprocess.Popen[bytes], bounds: Bounds, done: Event, late: Event) -> None:
    begun = monotonic()
    while not done.wait(EVERY):
        if bounds.seconds is not None and monotonic() - begun > bounds.seconds:
            late.set()
        if late.is_set() or not bounds.is_waited_for():
            process.kill()
            return


def end_with_server() -> None:
    """Have this process end when the server that started it ends, by whatever: its standard input is closed then.

    What the server has to say must have been read before.
    """

    def wait() -> None:
        # Not by `sys.stdin`, which could not be closed at the end while a thread reads from it.
        while os.read(0, 1):
            pass
        os._exit(1)

    Thread(target=wait, name="server", daemon=True).start()


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
    """Return bounds that end a process when its session has not been active for so many seconds."""
    last = monotonic()

    def is_waited_for() -> bool:
        nonlocal last
        if is_active():
            last = monotonic()
        return monotonic() - last < patience

    return replace(bounds, is_waited_for=is_waited_for)
