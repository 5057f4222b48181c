"""Scripts and styles of components as files: what a page sends of them, who gets them, and for how long."""

from __future__ import annotations

import json
import pkgutil
from collections.abc import Iterator
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from starlette.routing import Match

from pages import shared
from pages.shared import streamlit_internals
from pages.shared.server import component_files
from tests.support import ROOT
from tests.support.browser import Visit, serve_app
from tests.support.http_requests import ask

TOKEN = "correct horse battery"


@pytest.fixture(scope="module")
def files() -> dict[str, str]:
    """The files of all components by name."""
    for module in pkgutil.walk_packages(shared.__path__, "pages.shared."):
        import_module(module.name)
    return component_files._FILES


@pytest.fixture(scope="module")
def guarded() -> Iterator[str]:
    """The address of a server that asks for a token."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NEREVAL_TOKEN", TOKEN)
        patch.setenv("STREAMLIT_SERVER_ADDRESS", "0.0.0.0")
        with serve_app() as address:
            yield address


def test_no_component_goes_another_way() -> None:
    modules = [path for path in (ROOT / "pages").rglob("*.py") if "components.v2" in path.read_text(encoding="utf-8")]
    assert modules == [Path(component_files.__file__)]


def test_a_file_is_kept_for_ever_under_the_name_of_its_content(app: str, files: dict[str, str]) -> None:
    answers = {name: ask(app, f"/{component_files.FOLDER}/{name}") for name in files}
    # Those of pages that nobody has opened yet may not be there.
    of_all_pages = {name for name, content in files.items() if ".nvn" in content and ".nvh" not in content}
    assert len(of_all_pages) == 2 and all(answers[name].status == 200 for name in of_all_pages)
    for name, answer in answers.items():
        assert name == f"{sha256(files[name].encode()).hexdigest()[:32]}.js"
        assert "content-security-policy" in answer.headers and answer.headers["x-content-type-options"] == "nosniff"
        if answer.status == 200:
            assert answer.body == files[name]
            assert answer.headers["content-type"].startswith("text/javascript")
            assert answer.headers["cache-control"] == "private, max-age=31536000, immutable"


@pytest.mark.parametrize("name", ["none.js", "..%2f..%2fapp.py", "%2e%2e/app.py"])
def test_there_is_nothing_else_in_the_folder(app: str, name: str) -> None:
    answer = ask(app, f"/{component_files.FOLDER}/{name}")
    assert answer.status in (400, 404) or "<title>Streamlit</title>" in answer.body


def test_who_has_no_token_gets_no_file(guarded: str, files: dict[str, str]) -> None:
    for name in files:
        answer = ask(guarded, f"/{component_files.FOLDER}/{name}")
        assert (answer.status, "componentStyle" in answer.body) == (401, False)


def test_files_lie_below_the_path_of_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    declared: dict[str, str] = {}
    monkeypatch.setattr(streamlit_internals.st, "get_option", {"server.baseUrlPath": "team/ner"}.__getitem__)
    monkeypatch.setattr(component_files.st.components.v2, "component", lambda _, js, **__: declared.update(js=js))
    monkeypatch.setattr(component_files, "_FILES", {})
    component_files.component("any", js="export default () => {};")
    (file,) = component_files._FILES
    path = f"/team/ner/{component_files.FOLDER}/{file}"
    assert json.dumps(path) in declared["js"]
    assert (
        component_files.route().matches({"type": "http", "method": "GET", "path": path, "root_path": ""})[0]
        is Match.FULL
    )


def test_components_are_drawn_behind_a_token_and_fetched_once(guarded: str, browser: Any) -> None:
    visit = Visit(browser, guarded)
    addresses: list[str] = []
    visit.page.on("response", lambda response: addresses.append(response.url))
    visit.go(f"/Inspect?token={TOKEN.replace(' ', '+')}")
    navigation = visit.page.locator(".nvn a[aria-current='page']")
    navigation.wait_for()
    # Their styles came with them.
    assert visit.page.locator(".nvn").evaluate("drawn => drawn.parentElement.firstElementChild.tagName") == "STYLE"
    fetched = [address for address in addresses if component_files.FOLDER in address]
    assert fetched and len(set(fetched)) == len(fetched)
    visit.page.locator(".nvn a").get_by_text("Overview").click()
    visit.page.locator(".nvh").wait_for()
    again = [address for address in addresses if component_files.FOLDER in address]
    assert len(set(again)) == len(again) > len(fetched)
    visit.close()
