"""Parts of Streamlit that it does not document stand in one module, and are those that it was tried on."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable
from hashlib import sha256
from typing import Any

import pytest
import streamlit
from packaging.requirements import Requirement
from streamlit import net_util
from streamlit.runtime import Runtime
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.media_file_manager import MediaFileManager
from streamlit.runtime.memory_session_storage import MemorySessionStorage
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.scriptrunner import ScriptRunner
from streamlit.runtime.scriptrunner_utils.script_run_context import ScriptRunContext, ThreadState
from streamlit.runtime.state import SafeSessionState
from streamlit.runtime.websocket_session_manager import WebsocketSessionManager
from streamlit.url_util import make_url_path
from streamlit.user_info import generate_login_redirect_url
from streamlit.web.server.starlette.starlette_websocket import _get_signed_cookie_with_chunks, is_host_allowed

from pages.shared.streamlit_internals import INDEX, TRIED
from tests.support import ROOT
from tests.test_imports import FILES

PARTS: dict[str, tuple[Callable[..., Any], str]] = {
    "MediaFileManager.execute_deferred": (MediaFileManager.execute_deferred, "a5cbea2a09e3"),
    "MediaFileManager.__init__": (MediaFileManager.__init__, "ba77133011d4"),
    "MediaFileManager.remove_orphaned_files": (MediaFileManager.remove_orphaned_files, "d8ea79ea32ca"),
    "AppSession.shutdown": (AppSession.shutdown, "7e6d36199dbc"),
    "AppSession._handle_rerun_script_request": (AppSession._handle_rerun_script_request, "7393898bc0a0"),
    "ScriptRunContext.reset": (ScriptRunContext.reset, "cdaa14383fd4"),
    "SafeSessionState": (SafeSessionState, "42e0c15acfa4"),
    "ScriptRunner._look": (ScriptRunner._maybe_handle_execution_control_request, "5bae9b98a904"),
    "ScriptRunner._set_execing_flag": (ScriptRunner._set_execing_flag, "cc7e3a89d553"),
    "ThreadState.scoped": (ThreadState.scoped, "94c4f646fb34"),
    "Runtime.__init__": (Runtime.__init__, "e5a5fb5dd960"),
    "Runtime.is_active_session": (Runtime.is_active_session, "766fb572f3ad"),
    "MemorySessionStorage": (MemorySessionStorage, "04e2d0d0d55a"),
    "MemoryUploadedFileManager": (MemoryUploadedFileManager, "60e295e708f9"),
    "WebsocketSessionManager": (WebsocketSessionManager, "40daad0f8d48"),
    "get_external_ip": (net_util.get_external_ip, "90eeef84e6aa"),
    "make_url_path": (make_url_path, "3eabe3e8f9fc"),
    "generate_login_redirect_url": (generate_login_redirect_url, "95034ed0f335"),
    "is_host_allowed": (is_host_allowed, "52aba04dab71"),
    "_get_signed_cookie_with_chunks": (_get_signed_cookie_with_chunks, "fdd0806fc7f4"),
}
"""Functions that are used or replaced, or whose fields are looked at, with the beginning of their sources' digest."""
DOCUMENTED = ("streamlit.delta_generator", "streamlit.errors", "streamlit.starlette", "streamlit.web")


def digest(part: Callable[..., Any]) -> str:
    return sha256(inspect.getsource(part).encode()).hexdigest()[:12]


def test_the_installed_streamlit_is_the_one_that_was_tried() -> None:
    assert streamlit.__version__ == TRIED


def test_no_other_minor_version_is_installed_with_the_app() -> None:
    lines = map(Requirement, (ROOT / "requirements.txt").read_text().splitlines())
    (required,) = (line.specifier for line in lines if line.name == "streamlit")
    major, minor, _ = map(int, TRIED.split("."))
    assert TRIED in required
    assert not any(f"{major}.{other}.0" in required for other in (minor - 1, minor + 1))


@pytest.mark.parametrize("name", PARTS)
def test_a_part_is_as_it_was_when_it_was_tried(name: str) -> None:
    part, tried = PARTS[name]
    assert digest(part) == tried, f"{name} has changed: try its use in pages/shared/streamlit_internals.py again"


def test_the_page_that_loads_the_app_is_there() -> None:
    assert INDEX.read_text(encoding="utf-8").startswith("<!--")


def test_no_other_module_imports_what_is_not_documented() -> None:
    for module, path in FILES.items():
        text = path.read_text(encoding="utf-8")
        # Most modules need not be parsed.
        if module == "pages.shared.streamlit_internals" or "from streamlit." not in text:
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ImportFrom) and str(node.module).startswith("streamlit."):
                assert node.module in DOCUMENTED, f"{path.relative_to(ROOT)}:{node.lineno}"


def test_every_button_acts_by_a_callback() -> None:
    """A run that is cut before it reaches a plain button has lost the click: the next one does not see it."""
    calls = {
        f"{path.relative_to(ROOT)}:{call.lineno}": {keyword.arg for keyword in call.keywords}
        for path in (ROOT / "pages").rglob("*.py")
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)
        if call.func.attr in ("button", "download_button", "form_submit_button")
    }
    assert len(calls) > 40 and [place for place, names in calls.items() if "on_click" not in names] == []
