"""Verdicts by keyboard in a browser: no key is lost, a name is asked for once, and all is there after a reload."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace

import pytest

from nereval_core.review.store import ReviewStore
from tests.support.browser import Visit
from tests.support.pages import VIEW

WHO = "Ann 1u2"
KEYS = "1251135212"
KINDS = ["gold", "pred", "unclear", "gold", "gold", "both", "unclear", "pred", "gold", "pred"]


@pytest.fixture
def store() -> Iterator[ReviewStore]:
    """The store of the running app, left as it was found."""
    found = ReviewStore(os.environ["NEREVAL_REVIEW_URL"])
    yield found
    while found.undo(WHO):
        pass
    found.close()


def opened(visit: Visit) -> None:
    """Open the page and wait for the first moment at which its buttons are there, not for the end of its run."""
    visit.page.goto("about:blank")
    visit.open_at_once("Inspect", VIEW)
    visit.page.locator(".nw-verdict").first.wait_for()


def place(visit: Visit) -> int:
    return int(visit.page.locator(".nw-entry[aria-current]").get_attribute("data-at"))


def test_no_key_is_lost_from_the_first_moment_on(visit: Visit) -> None:
    for _ in range(2):
        opened(visit)
        assert place(visit) == 0
        for _ in range(3):
            visit.page.keyboard.press("j")
        assert place(visit) == 3
        visit.wait_until_drawn(0)
        visit.page.wait_for_function("() => location.search.includes('record=')")
        visit.page.wait_for_timeout(500)
        assert place(visit) == 3


def test_ten_records_by_keyboard_faster_than_the_page_and_still_there(visit: Visit, store: ReviewStore) -> None:
    given = len(store.every())
    opened(visit)
    visit.page.keyboard.press(KEYS[0])
    # The field has the focus, and what was given before is kept.
    field = visit.page.get_by_test_id("stDialog").get_by_label("Your name")
    field.wait_for()
    visit.page.wait_for_function("() => document.activeElement.getAttribute('aria-label') === 'Your name'")
    assert visit.page.get_by_label("Your name").count() == 1
    visit.page.keyboard.type(WHO)
    assert len(store.every()) == given
    visit.page.keyboard.press("Enter")
    field.wait_for(state="detached")
    assert visit.eventually(lambda: len(store.every()) == given + 1)
    # Closing the dialog gives the focus back, and keys pressed meanwhile would go to what had it.
    visit.wait_until_drawn(visit.run_count() - 1)
    visit.page.wait_for_timeout(500)
    assert place(visit) == 1
    for key in KEYS[1:]:
        visit.page.keyboard.press(key)
    assert visit.eventually(lambda: place(visit) == 10 and len(store.every()) == given + 10)
    assert [(one.who, one.verdict.kind) for one in store.every()[given:]] == [(WHO, kind) for kind in KINDS]
    names = [one.verdict.key.record for one in store.every()[given:]]
    assert len(set(names)) == 10
    note = visit.page.get_by_label("Note", exact=True)
    note.click()
    visit.page.keyboard.type("12345 u j k")
    visit.page.keyboard.press("Enter")
    assert note.input_value() == "12345 u j k" and len(store.every()) == given + 10
    visit.press("u")
    assert visit.eventually(lambda: len(store.reviewed()) == 9 and place(visit) == 9)
    opened(visit)
    visit.page.get_by_text("9 of 60 reviewed").first.wait_for()
    # The browser remembers who gives the verdicts.
    visit.page.keyboard.press("2")
    assert visit.eventually(lambda: store.every()[-1].verdict.kind == "pred" and store.every()[-1].who == WHO)


def test_neither_starts_empty_and_keeps_nothing_that_is_there_already(visit: Visit, store: ReviewStore) -> None:
    given = len(store.every())
    opened(visit)
    visit.page.keyboard.press("4")
    dialog = visit.page.get_by_test_id("stDialog")
    dialog.get_by_text("Choose the first and the last word").wait_for()
    assert dialog.get_by_role("button", name="Keep this").is_disabled()
    visit.page.keyboard.press("Enter")
    visit.page.keyboard.press("Escape")
    dialog.wait_for(state="detached")
    assert len(store.every()) == given


def test_the_chrome_above_the_text_is_low_and_the_bar_in_sight(visit: Visit) -> None:
    visit.open("Inspect", VIEW)
    visit.page.locator(".nv-text").wait_for()
    assert visit.page.locator(".nw-scroll").bounding_box()["y"] <= 200
    for width, height in ((1440, 900), (1280, 720), (1024, 768)):
        visit.page.set_viewport_size({"width": width, "height": height})
        visit.page.wait_for_function(
            "() => document.querySelector('.nw-bar').getBoundingClientRect().bottom <= window.innerHeight"
        )


def test_a_document_alone_is_read_as_a_whole_and_w_leads_back_to_the_queue(visit: Visit) -> None:
    visit.open("Inspect", replace(VIEW, doc="en-02"))
    visit.page.locator(".nv-text").wait_for()
    assert not visit.page.locator(".nw-queue").is_visible()
    ticks = visit.page.locator(".nw-tick")
    assert ticks.count() > 2
    ticks.first.click()
    visit.page.locator(".nv-selected").first.wait_for()
    visit.page.wait_for_function("() => location.search.includes('record=')")
    visit.press("w")
    visit.page.locator(".nw-entry[aria-current]").wait_for()
