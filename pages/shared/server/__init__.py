"""The server: its options, processes beside it, and its memory. No Streamlit in here."""

from __future__ import annotations

import argparse
import ctypes
import gc
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

ROOT = Path(__file__).parents[3]
IMPORTED_MODULES = 50
"""Modules imported since the last time from which objects are frozen again: pages import theirs when first drawn."""
_known_modules = 0
ARENAS = 2
"""Heaps that the threads of the server share."""
_M_ARENA_MAX = -8
"""The number of this parameter in malloc.h of glibc."""


def server_options() -> argparse.Namespace:
    """Return the options of `streamlit run app.py -- [--data DIR] [--mask] ... [--files GOLD SYSTEM ...]`.

    They are `data` and `review` (None where not given), `mask`, `open`, `read_only`, `keep` (days), `memory` (GB),
    `seconds`, and `files`: all that stands behind it, which are arguments of `nereval app`. Others are Streamlit's own.
    """
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--review", type=Path)
    parser.add_argument("--mask", action="store_true")
    parser.add_argument("--open", action="store_true")
    parser.add_argument("--read-only", action="store_true")
    parser.add_argument("--keep", type=int)
    parser.add_argument("--memory", type=float)
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--files", nargs=argparse.REMAINDER, default=[])
    return parser.parse_known_args(sys.argv[1:])[0]


def start_process(module: str) -> subprocess.Popen[bytes]:
    """Start a module of ours in a process that is written to and read from by pipes."""
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    return subprocess.Popen(
        [sys.executable, "-m", module],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": path},
    )


def share_heaps() -> None:
    """Have all threads share few heaps, where the C library is glibc.

    Every run of a page is a thread. By default there are up to eight heaps for each processor, and what one thread has
    freed in its heap is of no use to the others.
    """
    call_glibc("mallopt", _M_ARENA_MAX, ARENAS)


def call_glibc(function: str, *numbers: int) -> None:
    """Call a function of glibc; where the C library is another one, nothing happens."""
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):
            getattr(ctypes.CDLL(None), function)(*numbers)


def freeze_imported() -> None:
    """Freeze the objects there are, after a collection, if many modules were imported since the last time.

    Streamlit collects garbage after every run of a page, and walks through all objects that are not frozen: through the
    modules alone that takes longer than many a page. A frozen object still goes when nothing refers to it any more;
    only cycles among them stay.
    """
    global _known_modules
    if len(sys.modules) >= _known_modules + IMPORTED_MODULES:
        _known_modules = len(sys.modules)
        freeze_objects()


def freeze_objects() -> None:
    """Freeze the objects there are, after a collection: much has come in that lives as long as the server."""
    gc.collect()
    gc.freeze()
