"""Results in the light and dark themes of notebooks, as a browser shows them, and lines as high as their own lanes."""

from __future__ import annotations

from typing import Any

import pytest

import nereval_core as nereval
from nereval_core.report.colours import CONTRAST, contrast
from tests.support import ROOT

DEMO = ROOT / "demo_data" / "biology"
# Attributes of html and body, the theme that the browser prefers, whether the result is dark.
HOSTS = (
    ("", 'data-jp-theme-light="true"', "dark", False),
    ("", 'data-jp-theme-light="false"', "light", True),
    ("", 'class="vscode-light"', "dark", False),
    ("", 'class="vscode-dark"', "light", True),
    ("", 'class="vscode-high-contrast"', "light", True),
    ("", 'class="vscode-high-contrast vscode-high-contrast-light"', "dark", False),
    ('theme="dark"', "", "light", True),
    ("", "", "light", False),
    ("", "", "dark", True),
)
READ = """() => {
    const two = (number) => (+number).toString(16).padStart(2, "0");
    const hex = (colour) => "#" + colour.match(/\\d+/g).slice(0, 3).map(two).join("");
    const style = getComputedStyle(document.querySelector(".nvn"));
    const chip = getComputedStyle(document.querySelector(".nvn-chip"));
    return [style.color, style.backgroundColor, chip.color, chip.backgroundColor].map(hex);
}"""


def test_results_are_legible_in_the_theme_of_the_notebook(browser: Any) -> None:
    html = nereval.show(nereval.score(str(DEMO / "gold.jsonl"), str(DEMO / "rules.jsonl")), limit=2)._repr_html_()
    assert 'class="nvn tex2jax_ignore mathjax_ignore"' in html
    page = browser.new_page()
    for root, body, preferred, is_dark in HOSTS:
        page.emulate_media(color_scheme=preferred)
        page.set_content(f"<!doctype html><html {root}><body {body}>{html}</body></html>")
        ink, paper, chip_ink, chip_fill = page.evaluate(READ)
        assert (contrast(paper, "#000000") < contrast(paper, "#ffffff")) == is_dark, (root, body, preferred)
        assert min(contrast(ink, paper), contrast(chip_ink, chip_fill)) >= CONTRAST
    page.close()


def test_a_line_without_spans_is_low_beside_one_with_three_lanes(browser: Any) -> None:
    """With a doctype and without, where a browser gives boxes without text of their own no height."""
    text = "one two three\nfour five six\nseven eight nine"
    spans = [(0, 13, "A"), (0, 7, "B"), (4, 7, "C")]
    with_spans = nereval.score([spans], [spans[:1]], criteria=["strict"], texts=[text])
    without = nereval.score([[]], [[]], criteria=["strict"], texts=[text])
    page = browser.new_page()
    for doctype in ("<!doctype html>", ""):
        heights = []
        for scores in (with_spans, without):
            page.set_content(doctype + nereval.show(scores, 0)._repr_html_())
            heights.append(page.evaluate("() => document.querySelector('.nvh-text').getBoundingClientRect().height"))
        # Three lanes above and one below, on one of three lines.
        assert heights[0] - heights[1] == pytest.approx(4 * 1.1 * 14, abs=1), doctype
    page.close()
