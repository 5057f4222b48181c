"""Compare in a browser: from a p value to the text in three clicks."""

from __future__ import annotations

import re

from tests.support.browser import TALL, Visit
from tests.support.pages import VIEW


def test_from_a_p_value_to_the_text_in_three_clicks(visit: Visit) -> None:
    visit.page.set_viewport_size(TALL)
    visit.open("Systems", VIEW)
    with visit.rerun():
        visit.page.get_by_text("All numbers as tables").click()
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
