"""Agreement in a browser: no card of disagreements is cut."""

from __future__ import annotations

from dataclasses import replace

from tests.support.browser import Visit
from tests.support.pages import VIEW


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
