"""Bars of decisions on a narrow slide: no count runs into the F1 beside its bar."""

from __future__ import annotations

from typing import Any

import pytest

from nereval_core.report.slides import STYLE, Bar, bars_html

COUNTS = {"COR": 288, "INC": 93, "PAR": 12, "MIS": 68, "SPU": 81}


@pytest.mark.parametrize("width", [390, 1024])
def test_counts_of_a_bar_end_before_its_f1(browser: Any, width: int) -> None:
    bars = [Bar(name, "0.632", "[0.581, 0.680]", COUNTS) for name in ("strict", "exact", "partial", "type")]
    page = browser.new_page(viewport={"width": width, "height": 768})
    slide = str(STYLE) + str(bars_html("Errors of team10", "team10", "Decisions and F1", bars))
    page.set_content(f"<!doctype html><body style='margin:0'>{slide}")
    last, f1, end = page.evaluate(
        """() => {
            const [bar, f1] = document.querySelectorAll(".nvs-bars dd");
            const text = document.createRange();
            text.selectNodeContents(f1);
            const box = text.getBoundingClientRect();
            return [[...bar.children].at(-1).getBoundingClientRect().right, box.left, box.right];
        }"""
    )
    page.close()
    assert last <= f1 and end <= width
