"""Every page in both themes and three widths, as axe-core and the console see it; the first stops of the Tab key."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import pytest
from axe_playwright_python.sync_playwright import Axe

from pages.shared.components.navigation import GROUPS
from tests.support.browser import Visit

PARTS = ("Overview?overview_tab=by-slice", "Annotators?annotators_tab=consistency")
"""Parts of pages that stand in the link."""
PAGES = [name for names in GROUPS.values() for name in names]
RULES: dict[Literal["light", "dark"], list[str] | None] = {
    "light": None,
    "dark": ["color-contrast", "link-in-text-block"],
}
"""The rules of axe-core for each theme, or all: themes differ in colours alone."""
SIZES = ((390, 844), (1024, 768), (1440, 900))
"""A telephone, a small screen, a wide one: width and height in pixels."""
GRAVE = ("serious", "critical")
STILL = "* { transition: none !important; animation: none !important; }"
"""Nothing fades, so that axe never measures a colour on its way."""


@pytest.fixture(scope="module")
def walk(browser: Any, app: str) -> Iterator[Visit]:
    """One page in the browser, which goes from page to page: to load the app anew takes longer than to draw a page."""
    visit = Visit(browser, app)
    visit.go("/")
    yield visit
    visit.close()


@pytest.mark.parametrize("page", ["", *PAGES, *PARTS])
def test_a_page_has_no_fault_in_any_theme_and_width(walk: Visit, page: str) -> None:
    if page in PAGES:
        if not walk.page.get_by_text("Demo: ").count():
            with walk.rerun():
                walk.page.locator(".st-key-demo-pharmacology button").first.click()
        before = walk.run_count()
        walk.page.get_by_test_id("stSidebar").get_by_role("link", name=page, exact=True).click()
        walk.page.get_by_role("heading", name="nereval" if page == "Start" else page, exact=True).wait_for()
        walk.wait_until_drawn(before)
    else:
        walk.go(f"/{page}")
    walk.page.add_style_tag(content=STILL)
    walk.page.wait_for_function(IS_STYLED)
    assert not (broken := walk.page.evaluate(BROKEN_SENTENCES)), broken
    for theme, rules in RULES.items():
        walk.page.emulate_media(color_scheme=theme)
        walk.page.wait_for_function(IS_DARK, arg=theme == "dark")
        walk.wait_until_drawn(0)
        assert not (faults := grave(walk, rules)), (theme, faults)
    for width, height in SIZES:
        walk.page.set_viewport_size({"width": width, "height": height})
        # Tables and figures take a while to follow.
        assert walk.eventually(lambda: sideways(walk) <= 0), (width, sideways(walk))
    problems = [walk.problems.pop() for _ in range(len(walk.problems))]
    assert not problems


def sideways(visit: Visit) -> int:
    """Return by how many pixels the page is wider than the window."""
    wider = "Math.max(...['html', '[data-testid=stMain]'].map(at => document.querySelector(at)).map(at => at.{}))"
    return int(visit.page.evaluate(wider.format("scrollWidth - at.clientWidth")))


# The browser fetches the code that adds our style sheet after the elements.
IS_STYLED = """() => [...document.querySelectorAll("[data-testid='stCaptionContainer']")]
    .every(caption => getComputedStyle(caption).opacity === "1")"""
# A sentence whose links are boxes, in place of running on as text does.
BROKEN_SENTENCES = """() => [...document.querySelectorAll("[class*='st-key-sentence-'] a")]
    .filter(link => getComputedStyle(link).display !== "inline").map(link => link.textContent)"""
IS_DARK = """dark => {
    const [red, green, blue] = getComputedStyle(document.querySelector(".stApp")).backgroundColor.match(/[0-9]+/g);
    return dark === (+red + +green + +blue < 384);
}"""


def grave(visit: Visit, rules: list[str] | None) -> list[tuple[str, Any]]:
    """Return the serious and critical findings of these rules, or of all, with the elements they are about."""
    options = {"resultTypes": ["violations"]} | ({"runOnly": {"type": "rule", "values": rules}} if rules else {})
    if not visit.page.evaluate("'axe' in window"):
        visit.page.evaluate(Axe().axe_script)
    violations = visit.page.evaluate("async options => (await axe.run(options)).violations", options)
    return [
        (violation["id"], [node["html"][:200] for node in violation["nodes"]])
        for violation in violations
        if violation["impact"] in GRAVE
    ]


def test_the_first_tab_stop_leads_past_the_navigation(visit: Visit) -> None:
    visit.go("/Inspect")
    visit.page.keyboard.press("Tab")
    visit.page.keyboard.press("Enter")
    for _ in range(3):
        visit.page.keyboard.press("Tab")
        if visit.page.evaluate("document.activeElement.matches('[data-testid=stMain] :is(button, input, a)')"):
            return
    raise AssertionError("five keys, and no control of the page has the focus")
