"""Compare in a browser: from a p value to the text in three clicks, and sentences that run on as text does."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlencode

import pytest

from pages.shared.view import View, write
from tests.browser.test_app import click_row, table
from tests.pages.test_pages import DEMO
from tests.support.browser import Visit

VIEW = View(corpus=DEMO.corpus.digest, system="rules")


def at(page: str, view: View) -> str:
    return f"/{page}?{urlencode(write(view))}"


def number_of(visit: Visit, column: str) -> int:
    """Return which of the page's tables has a column."""
    every = visit.page.get_by_test_id("stDataFrame")
    every.locator("canvas th", has_text=column).first.wait_for(state="attached")
    return next(
        number for number in range(every.count()) if every.nth(number).locator("canvas th", has_text=column).count()
    )


def test_from_a_p_value_to_the_text_in_three_clicks(browser: Any, app: str) -> None:
    visit = Visit(browser, app, viewport={"width": 1440, "height": 2400})
    visit.go(at("Compare", VIEW))
    frame = number_of(visit, "p after Holm")
    # One: the p value of the first system. It opens the gold spans that only the better one gets right.
    with visit.rerun():
        click_row(visit, 0, frame, from_right=40)
    heading = visit.page.locator("strong", has_text=re.compile(r"only .* right: [\d,]+ records?$")).first
    heading.wait_for()
    number = int(heading.inner_text().rpartition(": ")[2].split()[0])
    assert number > 1
    # Two: one of these records, which is shown in its text.
    listed = number_of(visit, "predicted text")
    assert int(table(visit, listed).locator("canvas table").first.get_attribute("aria-rowcount")) == number + 1
    with visit.rerun():
        click_row(visit, 0, listed, from_right=300)
    # Three: the document.
    visit.page.get_by_role("link", name="Read in document").click()
    visit.page.get_by_role("heading", name="Documents", exact=True).wait_for()
    visit.page.locator(".nv-selected").first.wait_for()
    assert "record=" in visit.page.url
    visit.close()


@pytest.mark.parametrize("page", ["Overview", "Errors"])
def test_a_sentence_runs_on_as_text_does(browser: Any, app: str, page: str) -> None:
    visit = Visit(browser, app, viewport={"width": 1440, "height": 900})
    visit.go(at(page, VIEW))
    said = visit.page.locator("[class*='st-key-sentence-']").first
    number = said.locator("a, button").first
    number.wait_for()
    visit.page.wait_for_function(
        "() => getComputedStyle(document.querySelector(\"[class*='st-key-sentence-']\")).display === 'block'"
    )
    # Two lines at most, and the first number stands where its words do.
    assert said.bounding_box()["height"] < 70
    first, second = said.locator("p").first.bounding_box(), number.bounding_box()
    assert abs(first["y"] - second["y"]) < 12 and second["x"] - (first["x"] + first["width"]) < 12
    visit.close()
