"""Linking in a browser: from a count to its records, to the text, and an id opened in a new tab."""

from __future__ import annotations

from urllib.parse import unquote

from tests.support.browser import Visit


def test_from_a_count_to_an_id_in_a_new_tab(visit: Visit) -> None:
    visit.open_demo("Linking")
    visit.click_row(3, 0, from_right=300)
    assert visit.eventually(lambda: "overlapping, n = 1" in visit.listed_records()[0])
    number = visit.listed_records()[1]
    assert visit.eventually(lambda: visit.rows(1) == number)
    visit.page.get_by_text("≠ wrong link ·").click()
    assert visit.eventually(lambda: visit.listed_records()[0] == "wrong link, overlapping, n = 1")
    # The table follows a moment later, and takes no click before.
    assert visit.eventually(lambda: visit.rows(1) == visit.listed_records()[1])
    visit.click_row(0, 1, from_right=300)
    visit.page.locator(".nvh-link", has_text="DEMO:0082").first.wait_for()
    assert "record=g" in unquote(visit.page.url)
    visit.page.get_by_role("button", name="Let ids open a page").click()
    field = visit.page.get_by_role("textbox", name="Address")
    field.fill(f"{visit.address}/?id={{id}}")
    with visit.rerun():
        field.press("Enter")
    visit.page.keyboard.press("Escape")
    chip = visit.page.locator("a.nvh-link", has_text="DEMO:0081").first
    chip.wait_for()
    assert chip.get_attribute("rel") == "noopener noreferrer"
    with visit.context.expect_page() as opening:
        chip.click()
    assert "id=DEMO%3A0081" in opening.value.url
    assert opening.value.evaluate("window.opener") is None
    opening.value.close()
