"""A page that fails shows it to visitors, to the log and to tests; and each page runs without the others."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from pages.shared.components.navigation import pages
from pages.shared.frame import context_bar
from pages.shared.overview import headline
from tests.support import ROOT
from tests.support.browser import Visit, serve_app
from tests.support.pages import VIEW, opened, sound, title
from tests.support.visitors import Visitor


def fail(*_: object, **__: object) -> None:
    raise RuntimeError("secret words of a file")


@pytest.mark.parametrize("module, name", [(context_bar, "draw_head"), (headline, "draw_headline")])
def test_a_page_that_failed_is_seen_by_tests(
    module: object, name: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(module, name, fail)
    with pytest.raises(AssertionError, match="fault of nereval, not of your files"), caplog.at_level(logging.ERROR):
        opened("Overview", VIEW)
    app = AppTest.from_file(str(ROOT / "pages" / "10_Overview.py"), default_timeout=60).run()
    (fault,) = app.exception
    assert fault.value.startswith("This is a fault of nereval, not of your files. The server's log has it under ")
    number = fault.value.rstrip(".").rpartition(" ")[2]
    (record,) = (one for one in caplog.records if number in one.getMessage())
    assert record.exc_info and "secret words" in str(record.exc_info[1])
    assert "secret words" not in str(fault.proto)


@pytest.mark.parametrize("page", sorted(pages().items()), ids=lambda page: page[0])
def test_a_page_runs_alone(page: tuple[str, str]) -> None:
    name, file = page
    app = sound(AppTest.from_file(str(ROOT / file), default_timeout=60).run())
    assert title(app) == ("nereval" if name == "Start" else name)


BROKEN = """
import sys
sys.path.insert(0, {root!r})
import streamlit as st
from streamlit.starlette import App
from pages.shared.frame import page
from pages.shared.server import component_files

if st.runtime.exists():
    @page("Guide", needs_corpus=False)
    def draw(here):
        raise RuntimeError("secret words of a file")
else:
    app = App(__file__, routes=[component_files.route()])
"""


def test_visitors_and_browsers_of_tests_see_it(tmp_path: Path, browser: Any) -> None:
    script = tmp_path / "broken.py"
    script.write_text(BROKEN.format(root=str(ROOT)))
    with serve_app(script=script) as address:
        with Visitor(address) as visitor, pytest.raises(AssertionError, match="fault of nereval"):
            visitor.open()
        visit = Visit(browser, address)
        with pytest.raises(AssertionError, match="fault of nereval"):
            visit.go()
        assert "secret" not in visit.page.content()
        visit.close()
