"""Patterns in a browser: keys lead from a pattern to its records, and the sheet shows what keys there are."""

from __future__ import annotations

from pages.shared.data.loading import load_demo
from pages.shared.view import View
from tests.support.browser import Visit

CORPUS = load_demo("biology").corpus
SHOWN = View(corpus=CORPUS.digest, system="perceptron", inspect_tab="patterns")


def test_keys_lead_from_a_pattern_to_its_records(visit: Visit) -> None:
    visit.open("Inspect", SHOWN)
    page = visit.page
    entries = page.locator(".np-entry")
    entries.first.wait_for()
    assert entries.count() > 3 and page.locator(".np-example").count() == 5
    page.keyboard.press("j")
    assert entries.nth(1).get_attribute("aria-current") == "true"
    number = page.locator(".np-entry").nth(1).locator("b").inner_text()
    page.keyboard.press("?")
    sheet = page.get_by_role("dialog", name="Keys")
    assert "next pattern" in sheet.inner_text()
    page.keyboard.press("Escape")
    sheet.wait_for(state="detached")
    page.wait_for_function("() => location.search.includes('pattern=')")
    visit.wait_until_drawn(0)
    with visit.rerun():
        page.keyboard.press("Enter")
    page.locator(".nw-count", has_text=f"{number} records").wait_for()
    page.keyboard.press("/")
    page.keyboard.type("a")
    box = page.get_by_role("textbox", name="Search")
    assert visit.eventually(lambda: box.input_value() == "a")
    # Enter applies the search and gives the keys back to the queue, Escape leaves what is applied.
    with visit.rerun():
        page.keyboard.press("Enter")
    page.keyboard.press("j")
    assert visit.eventually(lambda: "q=a" in page.url and "record=" in page.url) and box.input_value() == "a"
    page.keyboard.press("/")
    page.keyboard.type("globin")
    page.keyboard.press("Escape")
    page.keyboard.press("k")
    page.wait_for_timeout(300)
    assert box.input_value() == "a" and "globin" not in page.url
