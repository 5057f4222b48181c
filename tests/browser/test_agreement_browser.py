"""Agreement in a browser: from a cell of the matrix to the text, with one of the two taken as gold."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tests.browser.test_app import click_row
from tests.browser.test_compare_browser import VIEW, at, number_of
from tests.support.browser import Visit


def test_from_a_cell_to_the_text(browser: Any, app: str) -> None:
    visit = Visit(browser, app, viewport={"width": 1440, "height": 2400})
    visit.go(at("Agreement", replace(VIEW, annotators=("annotator-1", "annotator-2", "rules"))))
    # One: the last cell of the second row, which opens what the two disagree on.
    frame = number_of(visit, "annotator-2")
    with visit.rerun():
        click_row(visit, 1, frame, from_right=40)
    # Two: the records, with the row's annotator taken as gold.
    visit.page.get_by_role("link", name="Open in Errors →", exact=True).click()
    visit.page.get_by_role("heading", name="Errors", exact=True).wait_for()
    visit.page.get_by_role("button", name="taken as gold: ").wait_for()
    assert "reference=annotator" in visit.page.url
    # Three: one of them in its text.
    listed = number_of(visit, "predicted text")
    with visit.rerun():
        click_row(visit, 0, listed, from_right=300)
    visit.page.get_by_role("link", name="Read in document").click()
    visit.page.locator(".nv-selected").first.wait_for()
    assert "reference=annotator" in visit.page.url
    visit.close()
