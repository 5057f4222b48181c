"""Consistency in a browser: from a finding by the keyboard to its places, and to its document."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qsl

from pages.shared.data.loading import load_demo
from pages.shared.view import View
from pages.shared.view.link import read_link
from tests.support.browser import Visit


def test_from_a_finding_to_its_place(visit: Visit) -> None:
    view = View(
        corpus=load_demo("biology").corpus.digest, system="rules", annotators_tab="consistency", question="edges"
    )
    visit.open("Annotators", view)
    frames = visit.page.locator("[data-testid='stDataFrame']")
    chosen(visit, frames.first, 0)
    visit.page.get_by_text("phosphorylated, left edge of protein: 2 places").wait_for()
    chosen(visit, frames.nth(1), 1)
    link = visit.page.get_by_role("link", name="Read in document")
    with visit.rerun():
        link.click()
    place = visit.page.locator(".nv-place")
    place.first.wait_for()
    assert read_link(dict(parse_qsl(visit.page.url.partition("?")[2])))[0].place is not None
    assert place.first.bounding_box()["width"] > 60


def chosen(visit: Visit, frame: Any, row: int) -> None:
    """Choose the first cell of a row, then the one beside it by the keyboard."""
    canvas = frame.locator("canvas").first
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    with visit.rerun():
        visit.page.mouse.click(box["x"] + 60, box["y"] + 35 * (row + 1) + 17)
    visit.press("ArrowRight")
