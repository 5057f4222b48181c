"""The Guide in a browser: it is short, and a link to an entry leads there."""

from __future__ import annotations

from nereval_core.scoring.criteria import CRITERIA
from nereval_core.tables.glossary import GLOSSARY
from tests.support.browser import Visit

MOST_PIXELS = 3_250
IN_VIEW = """anchor => {
    const box = document.getElementById(anchor)?.getBoundingClientRect();
    return Boolean(box) && box.top >= 0 && box.bottom <= innerHeight;
}"""

ROWS = """wholes => wholes.filter((whole) => whole.checkVisibility()).map((whole) => {
    // An element that goes over several lines has a box on each.
    return [whole.textContent, whole.getClientRects().length];
})"""


def test_the_guide_is_short_and_links_lead_to_every_entry(visit: Visit) -> None:
    page = visit.page
    visit.go(f"/Guide#{GLOSSARY['micro'].anchor}")
    page.locator(f"#{GLOSSARY['micro'].anchor}.nvg-found").wait_for()
    assert page.evaluate(IN_VIEW, GLOSSARY["micro"].anchor)
    page.evaluate("location.hash = 'criterion-left'")
    page.locator("#criterion-left.nvg-found").wait_for()
    page.wait_for_function(IN_VIEW, arg="criterion-left")
    anchors = set(page.locator(".nvg section").evaluate_all("entries => entries.map(entry => entry.id)"))
    assert {term.anchor for term in GLOSSARY.values()} | {f"criterion-{name}" for name in CRITERIA} <= anchors
    main = page.get_by_test_id("stMain")
    assert main.evaluate("main => main.scrollHeight") <= MOST_PIXELS
    page.set_viewport_size({"width": 390, "height": 844})
    page.wait_for_function("main => main.scrollWidth <= main.clientWidth", arg=main.element_handle())
    # Both fragments of a short span are on the line of its label.
    lines = page.locator(".nvh-text .nvh-whole").evaluate_all(ROWS)
    assert "Bank of Peru" in dict(lines) and all(number == 1 for _, number in lines)
