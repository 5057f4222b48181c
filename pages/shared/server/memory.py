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
from collections.abc import Callable, Iterator
from contextlib import suppress
from threading import Thread
from typing import cast

import streamlit as st
from cachetools import TTLCache
from streamlit.runtime import Runtime, RuntimeState
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.caching.cache_utils import CachedFunc
from streamlit.runtime.memory_session_storage import MemorySessionStorage
from streamlit.runtime.session_manager import SessionInfo
from streamlit.runtime.websocket_session_manager import WebsocketSessionManager

LOOK_SECONDS = 5.0
"""Seconds between two looks at whether somebody is there, at most."""
COLLECTION_SECONDS = 30.0
"""Seconds between two collections while somebody is there.

Streamlit would collect after every run of a page (`runner.postScriptGC`), and walk through the objects of all sessions
each time: with fifty people that took as long as the pages themselves.
"""
IMPORTED_MODULES = 50
"""Modules imported since the last time from which objects are frozen again: pages import theirs when first drawn."""
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


def begin(close_corpora: Callable[[], None]) -> None:
    """Collect garbage while somebody is there; forget results and close corpora once no session is kept any more.

    The caches are those of all sessions: a browser's request that they be cleared goes unheard.
    """
    AppSession._handle_clear_cache_request = lambda _: None  # type: ignore[method-assign]
    patience = float(st.get_option("server.disconnectedSessionTTL"))
    Thread(target=_watch, args=(min(LOOK_SECONDS, patience / 2), close_corpora), name="memory", daemon=True).start()


def _watch(seconds: float, close_corpora: Callable[[], None]) -> None:
    collected, used, modules = time.monotonic(), False, 0
    while True:
        time.sleep(seconds)
        state = runtime_state()
        if state not in (RuntimeState.ONE_OR_MORE_SESSIONS_CONNECTED, RuntimeState.NO_SESSIONS_CONNECTED):
            continue
        try:
            kept = end_left_sessions(Runtime.instance())
            if state is RuntimeState.ONE_OR_MORE_SESSIONS_CONNECTED:
                used = True
                if len(sys.modules) >= modules + IMPORTED_MODULES:
                    modules, collected = len(sys.modules), time.monotonic()
                    freeze_objects()
                elif time.monotonic() - collected > COLLECTION_SECONDS:
                    collected = time.monotonic()
                    gc.collect()
            elif used and not kept:
                used = False
                close_corpora()
                forget_results()
        except Exception:
            _LOG.exception("the memory of the server could not be looked after")


def runtime_state() -> RuntimeState | None:
    """Return the state of Streamlit's runtime, None while it is being made."""
    return getattr(Runtime.instance(), "_state", None) if Runtime.exists() else None


def end_left_sessions(runtime: Runtime) -> int:
    """End the sessions that were left longer ago than sessions are kept; return the number of those left since.

    Streamlit ends them when another visitor leaves, and not before, and each holds its uploads until then.
    """
    manager = cast(WebsocketSessionManager, runtime._session_mgr)
    sessions = cast(TTLCache[str, SessionInfo], cast(MemorySessionStorage, manager._session_storage)._cache)
    with manager._storage_lock:
        ended = list(sessions.expire())
        kept = len(sessions)
    for _, left in ended:
        left.session.shutdown()
        # Streamlit's loop holds on to the session that it looked at last until somebody comes.
        left.session.session_state.clear()
    return kept


def freeze_objects() -> None:
    """Freeze the objects there are, after a collection: much has come in that lives as long as the server.

    Collections no longer walk through a frozen object. It still goes when nothing refers to it any more; only cycles
    among frozen objects stay.
    """
    gc.collect()
    gc.freeze()


def forget_results() -> None:
    """Forget what pages have computed, and give the memory back."""
    for function in _kept_functions():
        function.clear()
    # Sessions that were there when objects were frozen are cycles.
    gc.unfreeze()
    freeze_objects()
    # The C library keeps what is free for the next time.
    _call_glibc("malloc_trim", 0)


def _kept_functions() -> Iterator[CachedFunc]:
    """Yield the functions whose results are kept in some number; what is kept once for all sessions has none."""
    for name, module in list(sys.modules.items()):
        if name.startswith("pages.shared"):
            for one in list(vars(module).values()):
                # Those of `keep_results` have several.
                for function in getattr(one, "result_caches", (one,)):
                    if isinstance(function, CachedFunc) and function._info.max_entries is not None:
                        yield function


def _call_glibc(function: str, *numbers: int) -> None:
    """Call a function of glibc; where the C library is another one, nothing happens."""
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):
            getattr(ctypes.CDLL(None), function)(*numbers)
