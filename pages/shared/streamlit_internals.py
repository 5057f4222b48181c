"""Parts of Streamlit that it does not document, and uses of them: no other module imports them.

Each function was tried on streamlit 1.67.0. `tests/pages/test_streamlit_internals.py` fails when one of these parts
changes; then try what is said of it here, and change TRIED.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from threading import RLock
from time import monotonic
from typing import Any
from weakref import WeakKeyDictionary, WeakValueDictionary

import streamlit as st
from streamlit import net_util
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.runtime import Runtime, RuntimeState
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.media_file_manager import MediaFileManager
from streamlit.runtime.memory_session_storage import MemorySessionStorage
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.scriptrunner_utils.script_run_context import ThreadState
from streamlit.runtime.state import SafeSessionState
from streamlit.runtime.websocket_session_manager import WebsocketSessionManager
from streamlit.url_util import make_url_path
from streamlit.user_info import generate_login_redirect_url
from streamlit.web.server.starlette.starlette_server_config import USER_COOKIE_NAME
from streamlit.web.server.starlette.starlette_websocket import _get_signed_cookie_with_chunks, is_host_allowed

__all__ = ["is_host_allowed"]

TRIED = "1.67.0"
INDEX = Path(st.__file__).parent / "static" / "index.html"
"""The page that loads the app; its inline script needs its hash in the Content-Security-Policy."""


def session_id() -> str | None:
    """Return the id of the session whose page runs in this thread, None outside a run."""
    context = get_script_run_ctx()
    return None if context is None else context.session_id


def is_back_or_forward() -> bool:
    """Return whether this run comes from the browser's Back or Forward: then the address is newer than the session."""
    context = get_script_run_ctx()
    return context is not None and context.is_history_navigation


def for_whole_page() -> AbstractContextManager[None]:
    """Have widgets of a fragment run the whole page when they change, as if they stood outside of it.

    A fragment that starts a run of its page costs the browser two more looks at all elements than that run alone.
    """
    return ThreadState.scoped(fragment_id=None)


def is_active(session: str) -> bool:
    """Return whether a browser is connected to a session; any is where no server runs."""
    return not Runtime.exists() or Runtime.instance().is_active_session(session)


def uploaded_bytes(each: int) -> dict[str, int]:
    """Return the bytes of the uploads that Streamlit holds by their sessions, and so many more for each file."""
    manager = Runtime.instance().uploaded_file_mgr
    assert isinstance(manager, MemoryUploadedFileManager)
    with manager._lock:
        uploads = {
            session: [len(file.data) for file in files.values()] for session, files in manager.file_storage.items()
        }
    return {session: sum(sizes) + each * len(sizes) for session, sizes in uploads.items()}


def keep_downloads() -> None:
    """Have files made for a download stay until the page that offers them runs again.

    Streamlit makes such a file when it is asked for, and counts it as used by nobody: the second run of any page that
    ends before the browser has fetched it removes it. On a server that many use these are a few milliseconds.
    """
    make = MediaFileManager.execute_deferred

    def make_and_keep(self: MediaFileManager, file_id: str) -> str:
        address = make(self, file_id)
        with self._lock:
            deferred = self._deferred_callables.get(file_id)
            used = self._files_by_session_and_coord.get(deferred["session_id"]) if deferred is not None else None
            if deferred is not None and used is not None:
                used[f"file of {deferred['coordinates']}"] = PurePosixPath(address).stem
        return address

    MediaFileManager.execute_deferred = make_and_keep  # type: ignore[method-assign]


AT_ONCE = 0.1
"""Seconds within which nobody goes to a page and then does something on the page that was left."""


@dataclass(frozen=True)
class _Turn:
    """The order of a browser to go from a page, by its hash, to another one, and when it came."""

    left: str
    order: ClientState
    time: float


def follow_links_out_of_menus() -> None:
    """Have a click on a link lead to its page, also where it closes a menu.

    The browser then orders the new page first, and at once another run of the page that it leaves, for the menu; and
    Streamlit does what was ordered last.
    """
    handle = AppSession._handle_rerun_script_request
    turns: WeakKeyDictionary[AppSession, _Turn] = WeakKeyDictionary()

    def follow(self: AppSession, client_state: ClientState | None = None) -> None:
        if client_state is not None:
            last, page, now = turns.get(self), client_state.page_script_hash, monotonic()
            # A page that is ordered by its name alone is the reader's order.
            is_left = last is not None and page != "" and page == last.left != last.order.page_script_hash
            if last is not None and is_left and now < last.time + AT_ONCE:
                widgets = client_state.widget_states
                client_state = ClientState()
                client_state.CopyFrom(last.order)
                client_state.widget_states.CopyFrom(widgets)
            elif last is None or page != last.order.page_script_hash:
                order = ClientState()
                order.CopyFrom(client_state)
                order.ClearField("widget_states")
                turns[self] = _Turn(last.order.page_script_hash if last is not None else "", order, now)
        handle(self, client_state)

    AppSession._handle_rerun_script_request = follow  # type: ignore[method-assign]


_TURNS: WeakValueDictionary[str, Any] = WeakValueDictionary()
"""The lock of each session by its id, held by the run that changes what the session knows; unused ones go."""
_TURNS_LOCK = RLock()


@contextmanager
def uncut() -> Iterator[None]:
    """Carry out what stands within to its end, and nothing of another run of the same session meanwhile.

    Streamlit cuts a run short for the next one wherever it reads or writes the session's state or draws something, and
    the next one begins in a thread of its own before that. A run that is cut is cut before, and does nothing of it.
    """
    context = get_script_run_ctx()
    if context is None:
        yield
        return
    session: SafeSessionState = context.session_state
    with _turn():
        session._yield_callback()
        with _unyielding(session):
            yield


def carry_out_callbacks() -> None:
    """Have all callbacks of what a reader did be carried out to their end, as by `uncut`, or not begin."""
    begin = SafeSessionState.on_script_will_rerun

    def begin_uncut(self: SafeSessionState, *args: Any, **options: Any) -> None:
        with _turn():
            self._yield_callback()
            with _unyielding(self):
                begin(self, *args, **options)

    SafeSessionState.on_script_will_rerun = begin_uncut  # type: ignore[method-assign]


def _turn() -> AbstractContextManager[object]:
    """Return the lock of the session whose page runs in this thread."""
    with _TURNS_LOCK:
        turn: AbstractContextManager[object] = _TURNS.setdefault(session_id() or "", RLock())
        return turn


@contextmanager
def _unyielding(session: SafeSessionState) -> Iterator[None]:
    """Have the runner of a session not look whether it is to be cut short."""
    runner: Any = getattr(session._yield_callback, "__self__", None)
    was_yielding = getattr(runner, "_execing", False)
    if not was_yielding:
        yield
        return
    runner._execing = False
    try:
        yield
    finally:
        runner._execing = True


def has_visitors() -> bool | None:
    """Return whether a browser is connected, None before the server serves and once it stops."""
    state = getattr(Runtime.instance(), "_state", None) if Runtime.exists() else None
    connected = {RuntimeState.ONE_OR_MORE_SESSIONS_CONNECTED: True, RuntimeState.NO_SESSIONS_CONNECTED: False}
    return None if state is None else connected.get(state)


def end_left_sessions() -> int:
    """End the sessions that were left longer ago than sessions are kept; return the number of those left since.

    Streamlit ends them when another visitor leaves, and not before, and each holds its uploads until then.
    """
    manager = Runtime.instance()._session_mgr
    assert isinstance(manager, WebsocketSessionManager) and isinstance(manager._session_storage, MemorySessionStorage)
    # Streamlit's own copy of a `TTLCache`.
    sessions: Any = manager._session_storage._cache
    with manager._storage_lock:
        ended = list(sessions.expire())
        n_left = len(sessions)
    for _, info in ended:
        info.session.shutdown()
        # Streamlit's loop holds on to the session that it looked at last until somebody comes.
        info.session.session_state.clear()
    return n_left


def url_path(path: str) -> str:
    """Return a path on this server, under its `server.baseUrlPath`."""
    return make_url_path(st.get_option("server.baseUrlPath"), path)


def ask_nobody_for_our_address() -> None:
    """Keep Streamlit from asking somebody else's server for this machine's address, as it does for unknown origins."""
    net_util.get_external_ip = lambda: None


def login_address() -> str:
    """Return the address at which Streamlit begins a login; it holds for two minutes."""
    return generate_login_redirect_url("default")


def logged_in_account(cookies: Mapping[str, str]) -> Mapping[str, Any] | None:
    """Return what the provider of logins says of the account, from the cookie that Streamlit has signed, if any."""
    content = _get_signed_cookie_with_chunks(dict(cookies), USER_COOKIE_NAME)
    account: Mapping[str, Any] = {} if content is None else json.loads(content)
    return account if account.get("is_logged_in") is True else None
