"""The presenter's journey: bare address, heat map, three starred examples, slides; in at most seven clicks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.browser import Hand, Visit, serve_app

MOST_CLICKS = 7
STARRED = 3


def test_from_the_bare_address_to_slides(browser: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Other tests put records on the playlist of the server that they share.
    monkeypatch.setenv("NEREVAL_REVIEW_URL", f"sqlite:///{tmp_path}/review.sqlite")
    with serve_app() as address:
        visit, hand = Visit(browser, address), Hand()
        present(visit, hand)
        visit.close()
    assert hand.clicks <= MOST_CLICKS, hand.clicks


def present(visit: Visit, hand: Hand) -> None:
    page = visit.page
    visit.go("/")
    sidebar = page.get_by_test_id("stSidebar")
    hand.click(sidebar.get_by_role("link", name="Confusion", exact=True))
    cell = page.locator(".nvm td:is(.nvm-full, .nvm-strong):not(.nvm-apart)").first
    cell.wait_for()
    hand.click(cell)
    hand.click(page.get_by_role("link", name="Open in Inspect").first)
    page.locator(".nw-entry[aria-current]").wait_for()
    # As fast as keys go: none is lost, and the way to Present waits until all are kept.
    hand.press(page, ("s", "j", "s", "j", "s"))
    hand.click(sidebar.get_by_role("link", name="Present", exact=True))
    hand.click(page.get_by_role("button", name=f"Present {STARRED} records"))
    page.locator(".nvs-title h1", has_text="Starred").wait_for()
    page.locator(".nv-bar").wait_for()
    for seen in ("Decisions and F1", "Gold types", f"1 of {STARRED}", f"2 of {STARRED}"):
        hand.press(page, ("ArrowRight",))
        page.locator(".nvs", has_text=seen).wait_for()
