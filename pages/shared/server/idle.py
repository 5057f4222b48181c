"""Memory of a server that nobody uses: what was computed is forgotten once everybody has left for a while.

Corpora that were read stay, and readings go on.
"""

from __future__ import annotations

import gc
import logging
import sys
import time
from collections.abc import Iterator
from threading import Thread

import streamlit as st
from streamlit.runtime import Runtime, RuntimeState
from streamlit.runtime.caching.cache_utils import CachedFunc

from pages.shared.server import call_glibc

EVERY = 5.0
"""Seconds between two looks at whether somebody is there, at most."""
_LOG = logging.getLogger("nereval")


def begin() -> None:
    """Forget what was computed whenever nobody has been there for as long as Streamlit keeps a session."""
    Thread(
        target=_watch, args=(float(st.get_option("server.disconnectedSessionTTL")),), name="idle", daemon=True
    ).start()


def _watch(patience: float) -> None:
    seen, used = time.monotonic(), False
    while True:
        time.sleep(min(EVERY, patience / 2))
        if not Runtime.exists():
            continue
        if Runtime.instance().state is RuntimeState.ONE_OR_MORE_SESSIONS_CONNECTED:
            seen, used = time.monotonic(), True
        elif used and time.monotonic() - seen > patience:
            used = False
            try:
                forget_results()
            except Exception:
                _LOG.exception("what was computed could not be forgotten")


def forget_results() -> None:
    """Forget what pages have computed, and give the memory back."""
    for function in _kept_functions():
        function.clear()
    gc.collect()
    # The C library keeps what is free for the next time.
    call_glibc("malloc_trim", 0)


def _kept_functions() -> Iterator[CachedFunc]:
    """Yield the functions whose results are kept in some number; what is kept once for all sessions has none."""
    for name, module in list(sys.modules.items()):
        if name.startswith("pages.shared"):
            for one in list(vars(module).values()):
                if isinstance(one, CachedFunc) and one._info.max_entries is not None:
                    yield one
