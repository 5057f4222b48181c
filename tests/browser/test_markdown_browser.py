"""Words of a corpus show as themselves where pages write Markdown: no link, picture or mark is made of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.support.browser import Visit, serve_app
from tests.support.payloads import payloads
from tests.support.traps import Trap

SCRIPT = """
import streamlit as st
from pages.shared.view.text import plain
from tests.support.payloads import payloads

for word in payloads():
    st.markdown(f"about {plain(word, 10_000)}")
st.markdown("That is all.")
"""


def test_nothing_is_made_of_plain_words(browser: Any, tmp_path: Path) -> None:
    script = tmp_path / "words.py"
    script.write_text(SCRIPT, encoding="utf-8")
    with serve_app(script=script) as address:
        visit = Visit(browser, address)
        trap = Trap(visit)
        visit.page.goto(address)
        visit.page.get_by_text("That is all.").wait_for()
        trap.look()
        shown = visit.page.get_by_test_id("stMarkdown").count()
        visit.context.close()
    assert not trap.found and shown == len(payloads()) + 1
