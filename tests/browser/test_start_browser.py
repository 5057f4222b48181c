"""Start in a browser: one left edge, an error that is seen at once, and recent corpora that open by mouse and Enter."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.browser import Visit, serve_app
from tests.support.pages import GOLD, PREDICTION

GOLD_FILE, RUN_FILE = "HIPE-data-v1.3-test-en.jsonl", "team31_bundle5_en_1.jsonl"
LEFT = """() => {
    const range = document.createRange();
    const left = (node) => { range.selectNodeContents(node); return Math.round(range.getBoundingClientRect().left); };
    const main = document.querySelector("[data-testid='stMainBlockContainer']");
    const texts = "h1, h2, .nvh-text, [data-testid='stCaptionContainer'] p, [data-testid='stMarkdownContainer'] > p";
    const shown = [...main.querySelectorAll(texts)].filter((node) => !node.closest("button, details"));
    return shown.filter((node) => node.getBoundingClientRect().width && node.textContent.trim()).map(left);
}"""


@pytest.fixture
def stranger(browser: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A page at a server without corpora, on a telephone."""
    monkeypatch.setenv("NEREVAL_CACHE", str(tmp_path / "store"))
    with serve_app() as address:
        visit = Visit(browser, address, viewport={"width": 390, "height": 844})
        yield visit
        visit.close()


def test_start_of_a_stranger_and_of_one_who_returns(stranger: Visit, tmp_path: Path) -> None:
    page = stranger.page
    stranger.go("/")
    title = page.get_by_role("heading", name="nereval").bounding_box()
    button = page.get_by_test_id("stExpandSidebarButton").bounding_box()
    assert button["y"] + button["height"] <= title["y"], "the button that shows the sidebar lies over the heading"
    assert page.locator(".st-key-start").evaluate("start => start.scrollWidth <= start.clientWidth")
    assert len(set(page.evaluate(LEFT))) == 1, page.evaluate(LEFT)

    (tmp_path / GOLD_FILE).write_text(GOLD)
    (tmp_path / RUN_FILE).write_text(PREDICTION)
    with stranger.rerun():
        page.locator("input[type=file]").first.set_input_files([tmp_path / GOLD_FILE, tmp_path / RUN_FILE])
    page.get_by_role("button", name="Read and score").click()
    page.get_by_role("heading", name="Overview", exact=True).wait_for()

    stranger.go("/")
    table = page.get_by_role("table", name="Recent corpora")
    table.wait_for()
    headings = table.get_by_role("columnheader").all_inner_texts()
    assert headings == ["corpus", "best F1", "decided", "last opened"], "systems have no room on a telephone"
    for width in (1024, 390):
        page.set_viewport_size({"width": width, "height": 844})
        page.wait_for_function(
            "table => table.scrollWidth <= table.clientWidth", arg=page.locator(".nvc").element_handle()
        )
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Overview", exact=True).wait_for()
    page.get_by_text(GOLD_FILE.removesuffix(".jsonl"), exact=True).first.wait_for(state="attached")

    stranger.go("/")
    table.wait_for()
    # Where a control has the focus, Enter is its own.
    page.get_by_role("button", name="Molecular biology").focus()
    page.keyboard.press("Enter")
    page.get_by_text("Demo: Molecular biology").wait_for()
