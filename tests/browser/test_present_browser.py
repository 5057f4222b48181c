"""Present in a browser: star two records, put them in order, comment, show them by keys, and come back by the link."""

from __future__ import annotations

from typing import Any

from tests.support.browser import Visit
from tests.support.pages import VIEW

SHORT = "() => [...document.querySelectorAll('.nvs, .nvs-body, html')].every(e => e.scrollHeight <= e.clientHeight + 1)"


def place(visit: Visit, words: str) -> None:
    visit.page.locator(".nvs-place", has_text=words).wait_for()


def test_two_records_from_the_star_to_the_slide_and_back_by_its_link(visit: Visit, browser: Any) -> None:
    page = visit.page
    page.set_viewport_size({"width": 1024, "height": 768})
    visit.open("Inspect", VIEW)
    page.locator(".nv-text").wait_for()
    for key in ("j", "s", "j", "s"):
        visit.press(key)
    page.get_by_role("button", name="Starred", exact=True).wait_for()
    with visit.rerun():
        page.get_by_role("link", name="Order, comment and present").click()
        page.get_by_role("heading", name="Present", exact=True).wait_for()
    first = page.get_by_placeholder("What to say about it").first
    first.wait_for()
    with visit.rerun():
        first.fill("It was second.")
        first.press("Control+Enter")
    with visit.rerun():
        page.get_by_role("button", name="Move later: record 1").click()
    with visit.rerun():
        page.get_by_role("button", name="Present 5 slides").click()
    page.locator(".nvs-title h1", has_text="Starred").wait_for()
    page.locator(".nv-bar").wait_for()
    assert not page.get_by_test_id("stSidebar").is_visible() and not page.get_by_test_id("stHeader").is_visible()
    # Faster than any answer: no step is lost, and none goes past the end.
    for _ in range(5):
        page.keyboard.press("ArrowRight")
    place(visit, "2 of 2")
    page.locator(".nvs-comment", has_text="It was second.").wait_for()
    assert page.evaluate(SHORT)
    assert page.locator(".nvh-text").evaluate("e => parseFloat(getComputedStyle(e).fontSize)") >= 24
    page.keyboard.press("b")
    page.locator(".nv-blank").wait_for()
    page.keyboard.press("Escape")
    page.locator(".nv-blank").wait_for(state="detached")
    page.keyboard.press("ArrowLeft")
    place(visit, "1 of 2")
    page.wait_for_function("() => location.search.includes('slide=record') && location.search.includes('record=')")
    again = Visit(browser, visit.address)
    again.go(page.url.removeprefix(visit.address))
    place(again, "1 of 2")
    assert again.page.evaluate(SHORT)
    again.close()
    page.keyboard.press("Escape")
    page.get_by_role("heading", name="Present", exact=True).wait_for()
