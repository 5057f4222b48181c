"""The Guide in a browser: it is short, and a link to an entry leads there."""

from __future__ import annotations

import pytest

from nereval_core.scoring.criteria import CRITERIA
from nereval_core.tables.glossary import GLOSSARY
from tests.support.browser import Visit

MOST_PIXELS = 2_850
IN_VIEW = """anchor => {
    const box = document.getElementById(anchor)?.getBoundingClientRect();
    return Boolean(box) && box.top >= 0 && box.bottom <= innerHeight;
}"""


def test_the_guide_is_short_and_has_every_entry(visit: Visit) -> None:
    visit.page.set_viewport_size({"width": 1440, "height": 900})
    visit.go("/Guide")
    entries = visit.page.locator(".nvg section")
    entries.first.wait_for()
    found = {entry.get_attribute("id") for entry in entries.all()}
    assert {term.anchor for term in GLOSSARY.values()} | {f"criterion-{name}" for name in CRITERIA} <= found
    main = visit.page.get_by_test_id("stMain")
    assert main.evaluate("main => main.scrollHeight") <= MOST_PIXELS
    visit.page.set_viewport_size({"width": 390, "height": 844})
    visit.page.wait_for_function("main => main.scrollWidth <= main.clientWidth", arg=main.element_handle())


@pytest.mark.parametrize("anchor", [GLOSSARY["micro"].anchor, "criterion-left"])
def test_a_link_to_an_entry_leads_there(visit: Visit, anchor: str) -> None:
    visit.go(f"/Guide#{anchor}")
    visit.page.locator(f"#{anchor}.nvg-found").wait_for()
    assert visit.page.evaluate(IN_VIEW, anchor)
