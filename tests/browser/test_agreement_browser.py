"""Agreement in a browser: from a cell of the matrix to the text, with one of the two as the reference."""

from __future__ import annotations

from dataclasses import replace

from tests.support.browser import TALL, Visit
from tests.support.pages import VIEW


def test_from_a_cell_to_the_text(visit: Visit) -> None:
    visit.page.set_viewport_size(TALL)
    visit.open(
        "Annotators", replace(VIEW, annotators=("annotator-1", "annotator-2", "rules"), annotators_tab="figures")
    )
    # One: the last cell of the second row, which opens what the two disagree on.
    visit.click_row(1, visit.table_with("annotator-2"))
    # Two: the records, with the row's annotator as the reference.
    visit.page.get_by_role("link", name="Open in Inspect →", exact=True).click()
    visit.page.get_by_role("heading", name="Inspect", exact=True).wait_for()
    assert visit.page.get_by_label("Reference").input_value().startswith("annotator")
    assert "reference=annotator" in visit.page.url
    # Three: one of them in its text.
    visit.page.locator(".nw-entry").nth(1).click()
    visit.page.locator(".nv-selected").first.wait_for()
    assert "reference=annotator" in visit.page.url


def test_no_card_of_disagreements_is_cut(visit: Visit) -> None:
    """Labels, counts and ways on fit, also with counts of a large corpus."""
    visit.open("Annotators", replace(VIEW, annotators=("annotator-1", "annotator-2", "rules")))
    cards = visit.page.locator(".st-key-disagreement_kinds")
    cards.get_by_text("decide who is right").wait_for()
    total = cards.get_by_test_id("stMetricValue").first.locator("p").first
    total.evaluate("element => { element.textContent = '12,869 of 61,242'; }")
    for width in (1440, 1024, 390):
        visit.page.set_viewport_size({"width": width, "height": 900})
        cut = cards.locator("p").evaluate_all(
            "elements => elements.filter(each => each.scrollWidth > each.clientWidth + 1).map(each => each.textContent)"
        )
        assert not cut, (width, cut)
