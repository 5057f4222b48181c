"""Compare in a browser: from a p value to the text in three clicks, and sentences that run on as text does."""

from __future__ import annotations

import re

import pytest

from tests.support.browser import TALL, Visit
from tests.support.pages import VIEW


def test_from_a_p_value_to_the_text_in_three_clicks(visit: Visit) -> None:
    visit.page.set_viewport_size(TALL)
    visit.open("Systems", VIEW)
    # One: the p value of the first system. It opens the gold spans that only the better one gets right.
    visit.click_row(0, visit.table_with("p after Holm"))
    heading = visit.page.locator("strong", has_text=re.compile(r"only .* right: [\d,]+ records?$")).first
    heading.wait_for()
    number = int(heading.inner_text().rpartition(": ")[2].split()[0])
    assert number > 1
    # Two: one of these records, which is shown in its text.
    listed = visit.table_with("predicted text")
    assert visit.eventually(lambda: visit.rows(listed) == number)
    visit.click_row(0, listed, from_right=300)
    # Three: the document.
    visit.page.get_by_role("link", name=re.compile("^Inspect in ")).click()
    visit.page.get_by_role("heading", name="Inspect", exact=True).wait_for()
    visit.page.locator(".nv-selected").first.wait_for()
    assert "record=" in visit.page.url


@pytest.mark.parametrize("page", ["Overview", "Inspect"])
def test_a_sentence_runs_on_as_text_does(visit: Visit, page: str) -> None:
    visit.open(page, VIEW)
    if page == "Overview":
        with visit.rerun():
            visit.page.get_by_text("The same in words and as a table").click()
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
