"""Calls of the core in a process of their own, which is ended once nobody waits for the answer. No Streamlit in here.

What is called is pickled whole. The answer comes back without the layers, documents and scores that it was given: in
their place stand those of this process.
"""

from __future__ import annotations

import io
import os
import pickle
import signal
import subprocess
import sys
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from copyreg import __newobj__  # type: ignore[attr-defined]
from dataclasses import is_dataclass
from pathlib import Path
from threading import BoundedSemaphore, Thread
from types import MappingProxyType
from typing import IO, Any, TypeVar

import cloudpickle

from nereval_core.corpus import Documents, Layer
from nereval_core.problems import FormatError, Problem
from nereval_core.scoring import Scores
from pages.shared.server import AT_ONCE, NICE, UNBOUNDED, Bounds, Overtime, bounded_process, end_with_server, waited_for

OUT_OF_MEMORY = 3
"""Exit status of a process that needed more memory than it may have."""
EVERY = 0.1
"""Seconds between two questions whether the answer is still wanted."""
PLACES = BoundedSemaphore(AT_ONCE)
KEPT = (Layer, Documents, Scores)
"""What an answer holds by number where it was given with the call."""
Found = TypeVar("Found")


def call_apart(
    call: Callable[[], Found], title: str, *, check_wanted: Callable[[], None], bounds: Bounds = UNBOUNDED
) -> Found:
    """Return what a call returns, made in another process: a function of a module of ours, or a partial of one.

    `title` says in messages what is computed. `check_wanted` is called meanwhile, and ends the process by raising.

    Raises:
        FormatError: as the call, or a bound was reached.
        RuntimeError: the call raised something else, or the process was killed.
    """
    with waited_for(PLACES, check_wanted):
        request = io.BytesIO()
        writer = _Pickler(request)
        writer.dump(call)
        try:
            status, answer = _answer(request.getbuffer(), check_wanted, bounds)
        except Overtime:
            raise bounds.too_long(title) from None
    # C++ code that gets no memory aborts.
    if status in (OUT_OF_MEMORY, -signal.SIGABRT):
        raise bounds.too_large(title)
    if status:
        raise RuntimeError(f"the process that computes ended with status {status}")
    kind, outcome = _Unpickler(io.BytesIO(answer), writer.listed).load()
    if kind == "problems":
        raise FormatError(outcome)
    if kind == "fault":
        raise RuntimeError(f"in the process that computes: {outcome}")
    returned: Found = outcome
    return returned


def _answer(request: memoryview, check_wanted: Callable[[], None], bounds: Bounds) -> tuple[int, bytes]:
    """Return the exit status of a process that was asked something, and its answer."""
    with bounded_process("pages.shared.server.core_process", bounds) as process:
        # `communicate` never sends what it has not sent when its time is over: a pipe holds 64 kB, and a process needs
        # longer to start than we wait for it. So the pipe is written to beside it, and stays open.
        pipe, process.stdin = process.stdin, None
        Thread(target=_send, args=(request, pipe), daemon=True).start()
        while True:
            check_wanted()
            try:
                answer, _ = process.communicate(timeout=EVERY)
                return process.returncode, answer
            except subprocess.TimeoutExpired:
                continue


def _send(content: memoryview, pipe: IO[bytes] | None) -> None:
    """Write to a process until it has all or ends."""
    assert pipe is not None
    with suppress(BrokenPipeError):
        pipe.write(content)
        pipe.flush()


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
        if isinstance(obj, MappingProxyType):
            return _read_only, (dict(obj),)
        if is_dataclass(obj) and not isinstance(obj, type) and hasattr(obj, "__dict__"):
            # Other sessions may compute what an object keeps, while it is written.
            state = {name: dict(value) if type(value) is dict else value for name, value in dict(vars(obj)).items()}
            return __newobj__, (type(obj),), state
        return super().reducer_override(obj)


def _read_only(mapping: dict[Any, Any]) -> MappingProxyType[Any, Any]:
    # Its type has no name that a pickle could hold.
    return MappingProxyType(mapping)


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
        end_with_server()
        make_call(call, out)
    except MemoryError:
        os._exit(OUT_OF_MEMORY)


def make_call(call: Callable[[], object], out: IO[bytes]) -> None:
    """Make a call, and write what became of it."""
    # The objects are listed in the order in which they are written: the same here and there.
    with Path(os.devnull).open("wb") as nowhere:
        listing = _Pickler(nowhere)
        listing.dump(call)
    _Pickler(out, listing.listed).dump(_outcome(call))


def _outcome(call: Callable[[], object]) -> tuple[str, object]:
    try:
        return "found", call()
    except FormatError as error:
        problems: tuple[Problem, ...] = error.problems
        return "problems", problems
    except MemoryError:
        raise
    except Exception:
        return "fault", traceback.format_exc()


if __name__ == "__main__":
    main()
