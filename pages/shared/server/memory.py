"""Memory of the server: garbage is collected beside the runs of pages, and what nobody needs any more is given back.

What was computed is forgotten once everybody has left for a while, and corpora are closed that are stored. Readings go
on.
"""

from __future__ import annotations

import ctypes
import gc
import logging
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from threading import Thread

import streamlit as st

from pages.shared.streamlit_internals import end_left_sessions, has_visitors

LOOK_SECONDS = 5.0
"""Seconds between two looks at whether somebody is there, at most."""
COLLECTION_SECONDS = 30.0
"""Seconds between two collections while somebody is there.

Streamlit would collect after every run of a page (`runner.postScriptGC`), and walk through the objects of all sessions
each time: with fifty people that took as long as the pages themselves.
"""
ARENAS = 2
"""Heaps that the threads of the server share."""
_M_ARENA_MAX = -8
"""The number of this parameter in malloc.h of glibc."""
_LOG = logging.getLogger("nereval")


def share_heaps() -> None:
    """Have all threads share few heaps, where the C library is glibc.

    Every run of a page is a thread. By default there are up to eight heaps for each processor, and what one thread has
    freed in its heap is of no use to the others.
    """
    _call_glibc("mallopt", _M_ARENA_MAX, ARENAS)


def begin(measure: Callable[[], None], forget: Callable[[], None]) -> None:
    """Collect garbage and measure results while somebody is there; forget them once no session is kept any more."""
    patience = float(st.get_option("server.disconnectedSessionTTL"))
    Thread(target=_watch, args=(min(LOOK_SECONDS, patience / 2), measure, forget), name="memory", daemon=True).start()


def _watch(seconds: float, measure: Callable[[], None], forget: Callable[[], None]) -> None:
    collected, used = time.monotonic(), False
    while True:
        time.sleep(seconds)
        connected = has_visitors()
        if connected is None:
            continue
        try:
            n_left = end_left_sessions()
            if connected and not used:
                freeze_objects()
            elif connected and time.monotonic() - collected > COLLECTION_SECONDS:
                collected = time.monotonic()
                measure()
                gc.collect()
            elif used and not connected and not n_left:
                forget()
                give_back()
            used = connected or (used and n_left > 0)
        except Exception:
            _LOG.exception("the memory of the server could not be looked after")


def freeze_objects() -> None:
    """Freeze the objects there are, after a collection: much has come in that lives as long as the server.

    Collections no longer walk through a frozen object. It still goes when nothing refers to it any more; only cycles
    among frozen objects stay.
    """
    gc.collect()
    gc.freeze()


def give_back() -> None:
    """Give the memory of what was forgotten back."""
    # Sessions that were there when objects were frozen are cycles.
    gc.unfreeze()
    freeze_objects()
    # The C library keeps what is free for the next time.
    _call_glibc("malloc_trim", 0)


def _call_glibc(function: str, *numbers: int) -> None:
    """Call a function of glibc; where the C library is another one, nothing happens."""
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):
            getattr(ctypes.CDLL(None), function)(*numbers)
