"""The presenter's journey: from the bare address to a deck in one file in at most four clicks; starred slides."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.browser import Hand, Visit, serve_app

MOST_CLICKS = 4
STARRED = 3
# Slides of which something stands outside of its box: an element in the flow, or a label beyond the slide.
OUTSIDE = """() => [...document.querySelectorAll(".nvs")].filter((slide) => slide.clientHeight).flatMap((slide) =>
    [slide, ...slide.querySelectorAll(".nvs-body, .nvs-said, h1, h2, p, dd, th, td")]
        .filter((box) => box.scrollHeight > box.clientHeight + 2 || box.scrollWidth > box.clientWidth + 2)
        .filter((box) => getComputedStyle(box).display !== "inline")
        .map((box) => box.className + " " + box.textContent.slice(0, 40)))"""


def test_from_the_bare_address_to_a_deck_in_one_file(
    browser: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Other tests put records on the playlist of the server that they share.
    monkeypatch.setenv("NEREVAL_REVIEW_URL", f"sqlite:///{tmp_path}/review.sqlite")
    file = tmp_path / "deck.html"
    with serve_app() as address:
        visit, hand = Visit(browser, address), Hand()
        page = visit.page
        visit.go("/")
        hand.click(page.get_by_test_id("stSidebar").get_by_role("link", name="Present", exact=True))
        page.locator(".nvt").nth(5).wait_for()
        with page.expect_download() as started:
            hand.click(page.get_by_role("button", name="Download", exact=True))
        started.value.save_as(file)
        assert hand.clicks <= MOST_CLICKS, hand.clicks
        hand.click(page.get_by_role("button", name="Present 7 slides"))
        page.locator(".nvs-title h1").last.wait_for()
        page.locator(".nv-bar").last.wait_for()
        for seen in ("Decisions and F1", "Gold types", "F1 of 2 systems", "pattern 1 of 3", "pattern 2 of 3"):
            hand.press(page, ("ArrowRight",))
            page.locator(".nvs", has_text=seen).last.wait_for()
            assert page.evaluate(OUTSIDE) == []
        present_starred(visit, hand)
        visit.close()
    open_file(browser, file)


def open_file(browser: Any, file: Path) -> None:
    """Go through a deck without a network, in both themes and at 4:3, and print it."""
    problems: list[str] = []
    for width, height, scheme in ((1440, 900, "light"), (1024, 768, "dark")):
        context = browser.new_context(
            viewport={"width": width, "height": height}, color_scheme=scheme, offline=True, reduced_motion="reduce"
        )
        page = context.new_page()
        page.on("console", lambda message: problems.append(message.text))
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("request", lambda request: None if request.url.startswith("file:") else problems.append(request.url))
        page.goto(file.as_uri())
        for number in range(1, 8):
            assert page.locator(".deck-slide:visible").get_attribute("id") == str(number)
            assert page.evaluate(OUTSIDE) == []
            page.keyboard.press("ArrowRight")
        assert page.url.endswith("#7")
        background = page.evaluate("getComputedStyle(document.body).backgroundColor")
        page.keyboard.press("d")
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") != background
        page.keyboard.press("n")
        assert page.locator(".deck-slide:visible .deck-notes a").is_visible()
        page.emulate_media(media="print")
        assert not page.locator(".nvs-hint").is_visible(), "keys mean nothing on paper"
        place = page.locator(".deck-slide").nth(3).evaluate("slide => getComputedStyle(slide, '::after').content")
        assert place == '"4 of 7"'
        page.emulate_media(media="null")
        for ratio in (False, True):
            printed = page.pdf(prefer_css_page_size=True, print_background=True)
            assert printed.count(b"/MediaBox") == 7 and (b"[0 0 720 540]" in printed) == ratio
            page.keyboard.press("4")
        context.close()
    assert not problems


def present_starred(visit: Visit, hand: Hand) -> None:
    """Star three records from the heat map and show them after the figures."""
    page = visit.page
    page.keyboard.press("Escape")
    sidebar = page.get_by_test_id("stSidebar")
    hand.click(sidebar.get_by_role("link", name="Confusion", exact=True))
    cell = page.locator(".nvm td:is(.nvm-full, .nvm-strong):not(.nvm-apart)").first
    cell.wait_for()
    hand.click(cell)
    hand.click(page.get_by_role("link", name="Open in Inspect").first)
    page.locator(".nw-entry[aria-current]").wait_for()
    page.locator(".nw[data-quiet]").wait_for(state="detached")
    # As fast as keys go: none is lost, and the way to Present waits until all are kept.
    hand.press(page, ("s", "j", "s", "j", "s"))
    hand.click(sidebar.get_by_role("link", name="Present", exact=True))
    hand.click(page.get_by_role("button", name=f"Present {3 + STARRED} slides"))
    page.locator(".nvs-title h1", has_text="Starred").last.wait_for()
    page.locator(".nv-bar").last.wait_for()
    for seen in ("Decisions and F1", "Gold types", f"1 of {STARRED}", f"2 of {STARRED}"):
        hand.press(page, ("ArrowRight",))
        page.locator(".nvs", has_text=seen).last.wait_for()
