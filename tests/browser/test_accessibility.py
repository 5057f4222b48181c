"""Accessibility of every page in both themes, as axe-core checks it, and the first stops of the Tab key."""

from __future__ import annotations

from typing import Any, Literal

import pytest
from axe_playwright_python.sync_playwright import Axe

from pages.shared.components.navigation import GROUPS
from tests.support.browser import Visit

PARTS = ("Overview?overview_tab=by-slice", "Annotators?annotators_tab=consistency")
"""Parts of pages that stand in the link."""
PAGES = [name if name != "Start" else "" for names in GROUPS.values() for name in names]
THEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
GRAVE = ("serious", "critical")
STILL = "* { transition: none !important; animation: none !important; }"
"""Nothing fades, so that axe never measures a colour on its way."""


@pytest.mark.parametrize("page", [*PAGES, *PARTS])
def test_axe_finds_nothing_grave(visit: Visit, page: str) -> None:
    visit.go(f"/{page}")
    visit.page.add_style_tag(content=STILL)
    for theme in THEMES:
        visit.page.emulate_media(color_scheme=theme)
        visit.page.wait_for_function(IS_DARK, arg=theme == "dark")
        visit.wait_until_drawn(0)
        visit.page.wait_for_function(IS_STYLED)
        assert not (found := grave(visit)), (theme, found)


# The browser fetches the code that adds our style sheet after the elements.
IS_STYLED = """() => [...document.querySelectorAll("[data-testid='stCaptionContainer']")]
    .every(caption => getComputedStyle(caption).opacity === "1")"""
IS_DARK = """dark => {
    const [red, green, blue] = getComputedStyle(document.querySelector(".stApp")).backgroundColor.match(/[0-9]+/g);
    return dark === (+red + +green + +blue < 384);
}"""


def grave(visit: Visit) -> list[tuple[str, Any]]:
    """Return the serious and critical findings with the elements they are about."""
    found = Axe().run(visit.page).response["violations"]
    return [(one["id"], [node["html"][:200] for node in one["nodes"]]) for one in found if one["impact"] in GRAVE]


def test_the_first_tab_stop_leads_past_the_navigation(visit: Visit) -> None:
    visit.go("/Inspect")
    visit.page.keyboard.press("Tab")
    visit.page.keyboard.press("Enter")
    for _ in range(3):
        visit.page.keyboard.press("Tab")
        if visit.page.evaluate("document.activeElement.matches('[data-testid=stMain] :is(button, input, a)')"):
            return
    raise AssertionError("five keys, and no control of the page has the focus")
