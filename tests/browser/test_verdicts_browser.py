"""Verdicts by keyboard in a browser: ten records in a row, one taken back, and all there after a reload."""

from __future__ import annotations

import os
from collections.abc import Iterator

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
    visit.open("Inspect", VIEW)
    # Keys are heard once the buttons are drawn that they belong to.
    visit.page.get_by_role("button", name="Undo").wait_for()
    visit.page.wait_for_timeout(500)


def test_ten_records_by_keyboard_and_still_there(visit: Visit, store: ReviewStore) -> None:
    given = len(store.every())
    opened(visit)
    visit.press("j")
    visit.press(KEYS[0])
    visit.page.get_by_placeholder("Your name").last.click()
    visit.page.keyboard.type(WHO)
    assert len(store.every()) == given
    visit.press("Enter")
    before = visit.run_count()
    for key in KEYS[1:]:
        visit.press(key)
    assert visit.run_count() - before == 9, "one round trip a record"
    assert [(one.who, one.verdict.kind) for one in store.every()[given:]] == [(WHO, kind) for kind in KINDS]
    note = visit.page.get_by_label("Note", exact=True)
    note.click()
    visit.page.keyboard.type("12345 u j k")
    visit.press("Tab")
    assert note.input_value() == "12345 u j k" and len(store.every()) == given + 10
    visit.press("u")
    assert len(store.reviewed()) == 9
    opened(visit)
    visit.page.get_by_text("9 of 60 have a verdict").wait_for()
    # The browser remembers who gives the verdicts.
    visit.page.get_by_text(f"as {WHO}").first.wait_for()
