"""The app as its users meet it: in a browser, from a count to its records and back by a link."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest
from playwright.sync_api import Error

from tests.support.browser import Visit
from tests.support.pages import VIEW


def record_in(address: str) -> str:
    found = re.search(r"[?&]doc=([^&]+).*[?&]record=([^&]+)", address)
    assert found, address
    return found[0]


def test_from_a_count_to_the_same_record_in_another_browser(visit: Visit, browser: Any, app: str) -> None:
    visit.context.grant_permissions(["clipboard-read", "clipboard-write"])
    visit.page.set_viewport_size({"width": 1280, "height": 720})
    visit.open("Confusion", replace(VIEW, share="counts"))
    last = visit.page.get_by_role("columnheader").last
    last.wait_for()
    box = last.bounding_box()
    assert "missed" in last.inner_text() and box["x"] + box["width"] <= 1280, "the missed column is in sight"
    visit.resize(1440, 900)
    missed = visit.page.get_by_role("gridcell", name="predicted missed (MIS)")
    drawn = missed.first.element_handle()
    with visit.rerun():
        missed.first.click()
    title, number = visit.listed_records()
    assert title == "gold NORMALIZABLES, predicted missed (MIS)"
    assert number == int(missed.first.inner_text()) > 1
    assert drawn.evaluate("cell => cell.isConnected"), "another cell is chosen in the table that is drawn"
    assert drawn.get_attribute("aria-selected") == "true"
    assert visit.page.locator(".nvm [aria-selected='true']").count() == 1
    assert visit.eventually(lambda: visit.rows(0) == number)
    # The keyboard reaches the neighbouring cell.
    visit.page.keyboard.press("ArrowDown")
    visit.press("Enter")
    below = ("gold NO_NORMALIZABLES, predicted missed (MIS)", int(missed.nth(1).inner_text()))
    assert visit.eventually(lambda: visit.listed_records() == below)
    visit.page.keyboard.press("ArrowUp")
    visit.press("Enter")
    assert visit.eventually(lambda: visit.listed_records() == (title, number))
    visit.click_row(1, 0, from_right=300)
    visit.page.get_by_role("link", name=re.compile("^Inspect in ")).click()
    visit.page.get_by_role("heading", name="Inspect", exact=True).wait_for()
    visit.wait_until_drawn(visit.run_count() - 1)
    first, before = record_in(visit.page.url), visit.page.locator(".nv-card").inner_text()
    visit.press("j")
    visit.page.wait_for_function("before => !location.href.includes(before)", arg=first)
    second = record_in(visit.page.url)
    assert second != first
    assert visit.eventually(lambda: visit.page.locator(".nv-card").inner_text() != before)
    card = visit.page.locator(".nv-card").inner_text()
    assert "missed (MIS)" in card
    popover = visit.open_menu("Share")
    popover.get_by_test_id("stCode").first.hover()
    popover.get_by_role("button", name="Copy to clipboard").first.click()
    link = visit.page.evaluate("navigator.clipboard.readText()")
    fresh = Visit(browser, app)
    fresh.go(link.removeprefix(app))
    assert record_in(fresh.page.url) == second
    assert fresh.eventually(lambda: fresh.page.locator(".nv-card").inner_text() == card)
    fresh.close()


def test_a_count_of_overview_opens_as_many_records(visit: Visit) -> None:
    visit.open("Overview", VIEW)
    bar = visit.page.locator(".nvb-row").first
    missed = bar.get_by_role("button", name="missed (MIS)")
    number = int(missed.inner_text().split()[1])
    missed.click()
    visit.page.get_by_role("heading", name="Inspect", exact=True).wait_for()
    visit.page.get_by_text(f"{number} records", exact=True).wait_for()
    visit.open("Overview", VIEW)
    typed = visit.page.locator(".nvb-typed").filter(has_text="PROTEINAS")
    with visit.rerun():
        typed.get_by_role("button", name="missed (MIS) of PROTEINAS").click()
    title = "gold spans of PROTEINAS, missed (MIS) under strict"
    assert visit.eventually(lambda: visit.listed_records() == (title, 9)), visit.listed_records()
    visit.open("Overview", VIEW)
    with visit.rerun():
        visit.page.get_by_text("The same as a table").click()
    visit.table().locator("canvas th", has_text="ACT").wait_for(state="attached")
    headers = visit.table().locator("canvas th").all_text_contents()
    place = headers.index("INC")
    visit.click_row(0, 0, from_right=visit.page.viewport_size["width"] // 4)
    for _ in headers:
        visit.page.keyboard.press("ArrowLeft")
    before = visit.run_count()
    for _ in range(place):
        visit.page.keyboard.press("ArrowRight")
    visit.wait_until_drawn(before)
    assert visit.eventually(lambda: "incorrect (INC)" in visit.listed_records()[0]), visit.listed_records()
    assert visit.listed_records()[1] == int(visit.cell_text(0, place))


@pytest.mark.parametrize("host", ["example.org", "198.51.100.1"])
def test_a_request_that_leaves_the_machine_is_noticed_and_fails(browser: Any, app: str, host: str) -> None:
    visit = Visit(browser, app)
    with pytest.raises(Error, match="ERR_NAME_NOT_RESOLVED"):
        visit.page.goto(f"http://{host}/")
    with pytest.raises(AssertionError, match=f"request leaves the machine: http://{host}/"):
        visit.close()


LINES = """bar => [...bar.querySelectorAll("button")]
    .filter((part) => part.getBoundingClientRect().width > 1)
    .flatMap((part) => {
        const { top, bottom, right } = bar.getBoundingClientRect();
        const words = part.querySelector(".ncb-name") ?? part;
        const range = document.createRange();
        range.selectNodeContents(words);
        const lines = new Set([...range.getClientRects()].map((line) => Math.round(line.bottom))).size;
        const box = part.getBoundingClientRect();
        const inside = box.top >= top && box.bottom <= bottom && box.right <= right;
        const whole = inside && words.scrollWidth <= words.clientWidth + 1;
        return lines <= 1 && whole ? [] : [`${part.value ?? part.innerText}: ${lines} lines`];
    })"""


def test_the_bar_is_one_line_beside_a_list_of_references_and_merged_types(visit: Visit) -> None:
    merged = (("NO_NORMALIZABLES", "chemical"), ("NORMALIZABLES", "chemical"))
    visit.open("Criteria", replace(VIEW, merge=merged, system="annotator-2"))
    bar = visit.page.locator(".ncb")
    bar.get_by_role("button", name="Types: 1 merged").wait_for()
    assert bar.get_by_role("combobox", name="Reference").is_visible()
    beyond = "sidebar => sidebar.scrollWidth - sidebar.clientWidth"
    assert visit.page.get_by_test_id("stSidebarContent").evaluate(beyond) <= 0
    for width in (1440, 1280, 1251, 1151, 1024, 390):
        visit.page.set_viewport_size({"width": width, "height": 844})
        assert visit.eventually(lambda: bar.evaluate(LINES) == []), (width, bar.evaluate(LINES))
        assert visit.eventually(lambda: bar.bounding_box()["height"] < 50), width
    # On a telephone the sidebar lies over the page, and closes where it leads to one.
    visit.page.get_by_test_id("stExpandSidebarButton").click()
    visit.page.get_by_test_id("stSidebar").get_by_role("link", name="Guide", exact=True).click()
    visit.page.get_by_role("heading", name="Guide", exact=True).wait_for()
    visit.page.get_by_test_id("stSidebarCollapseButton").wait_for(state="hidden")


def test_no_menu_of_the_bar_is_cut_off_and_the_sentence_of_start_is_read_to_its_end(visit: Visit) -> None:
    visit.page.set_viewport_size({"width": 1024, "height": 768})
    visit.open("Overview", VIEW)
    bar, runs = visit.page.locator(".ncb"), visit.run_count()
    # The style comes a moment after what it styles.
    assert visit.eventually(lambda: bar.bounding_box()["height"] < 60), "the bar is one line"
    for name in ("more", "Types", "Share"):
        box = bar.get_by_role("button", name=name).bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= 1000, name
    # The list of types to merge stays open for the next one: what is to be filled in too stands before it.
    menu = visit.open_menu("Types")
    members = menu.get_by_test_id("stMultiSelect").last
    members.get_by_role("combobox").click()
    name = menu.get_by_label("Merged type")
    name.click()
    assert name.bounding_box()["x"] + name.bounding_box()["width"] < members.bounding_box()["x"]
    visit.page.keyboard.press("Escape")
    menu.wait_for(state="hidden")
    for width, folded in ((1024, False), (390, True)):
        visit.page.set_viewport_size({"width": width, "height": 844})
        assert bar.get_by_role("button", name="Share").is_visible() is not folded
        box = bar.get_by_role("button", name="more").bounding_box()
        assert box["x"] + box["width"] <= width and box["height"] < 40
        menu = visit.open_menu("more")
        menu.get_by_text("Matching criterion or published scorer").wait_for()
        for name in ("Types shown in lists", "Mask the text"):
            menu.get_by_text(name).first.wait_for(state="visible" if folded else "hidden")
        visit.page.keyboard.press("Escape")
        menu.wait_for(state="hidden")
    assert visit.run_count() == runs, "a menu opens without a run of the page"
    # The name of the corpus and those over numbers are read to their end.
    for width in (1440, 390):
        visit.page.set_viewport_size({"width": width, "height": 844})
        for place in (".ncb-corpus .ncb-name", ".nvh p"):
            assert visit.page.locator(place).count()
            assert visit.page.locator(place).evaluate_all(
                "all => all.every((e) => e.scrollWidth <= e.clientWidth + 1 || e.clientWidth < 2)"
            ), (width, place)
    visit.go("/")
    link = visit.page.get_by_test_id("stPageLink-NavLink").filter(has_text="the rule-based system finds")
    link.wait_for()
    assert link.evaluate(
        "e => [e, ...e.querySelectorAll('*')].every(e => e.scrollWidth <= e.clientWidth + 1 || !e.clientWidth)"
    )


def test_the_bar_works_by_keys_and_a_menu_closes_by_escape_its_button_and_a_click_elsewhere(visit: Visit) -> None:
    page = visit.page
    visit.open("Overview", VIEW)
    bar = page.locator(".ncb")
    bar.get_by_role("radio", name="strict").focus()
    visit.press("ArrowRight")
    exact = bar.get_by_role("radio", name="exact", checked=True)
    assert exact.evaluate("radio => radio === document.activeElement") and "criterion=exact" in page.url
    with visit.rerun():
        bar.get_by_role("combobox", name="System").select_option("perceptron")
    assert visit.eventually(lambda: "system=perceptron" in page.url)
    runs, share = visit.run_count(), bar.get_by_role("button", name="Share")
    menu = visit.open_menu("Share")
    assert share.get_attribute("aria-expanded") == "true"
    assert visit.eventually(lambda: menu.evaluate("menu => menu.contains(document.activeElement)"))
    page.keyboard.press("Escape")
    menu.wait_for(state="hidden")
    assert share.evaluate("share => share === document.activeElement && share.ariaExpanded === 'false'")
    visit.open_menu("Types")
    page.get_by_role("heading", name="Overview", exact=True).click()
    menu.wait_for(state="hidden")
    visit.open_menu("Share")
    share.click()
    menu.wait_for(state="hidden")
    assert visit.run_count() == runs, "a menu opens and closes without a run of the page"


def test_bars_stay_and_keep_the_focus_when_their_numbers_change(visit: Visit) -> None:
    page = visit.page
    visit.open("Overview", VIEW)
    page.evaluate("() => { window.bars = [...document.querySelectorAll('.nvb')]; }")
    f1 = page.get_by_role("button", name="PROTEINAS: F1", exact=False)
    f1.focus()
    before = f1.inner_text()
    with visit.rerun():
        # Without a pointer, which would take the focus along.
        page.get_by_role("radio", name="type", exact=True).evaluate("button => button.click()")
    assert visit.eventually(lambda: f1.inner_text() != before)
    assert f1.evaluate("button => button === document.activeElement")
    assert page.evaluate("() => window.bars.every((bars) => bars.isConnected && bars.contains(bars.firstChild))")
    with visit.rerun():
        page.keyboard.press("Enter")
    assert visit.eventually(lambda: visit.listed_records()[0].startswith("Errors of PROTEINAS under type"))


FITS = """() => [...document.querySelectorAll(".nvb-bar button")].flatMap((part) => {
    const box = part.getBoundingClientRect();
    return [...part.querySelectorAll("span")].map((span) => span.getBoundingClientRect())
        .filter((text) => text.width && text.top < box.bottom - 2)
        .map((text) => text.left >= box.left - 0.5 && text.right <= box.right + 0.5);
})"""


def test_a_number_that_does_not_fit_its_bar_is_left_out_whole(visit: Visit) -> None:
    visit.page.set_viewport_size({"width": 390, "height": 1600})
    visit.open("Overview", VIEW)
    visit.page.locator(".nvb-bar button").first.wait_for()
    drawn = visit.page.evaluate(FITS)
    assert len(drawn) >= 4 and all(drawn)


def test_back_takes_a_choice_back_and_then_leads_to_the_page_before(visit: Visit) -> None:
    page = visit.page
    visit.go("/Guide")
    # The page adds the corpus to such an address, which is no choice.
    visit.go("/Overview?system=rules")
    visit.wait_until_drawn(visit.run_count() - 1)
    page.get_by_test_id("stSidebar").get_by_role("link", name="Inspect", exact=True).click()
    page.get_by_role("heading", name="Inspect", exact=True).wait_for()
    visit.wait_until_drawn(visit.run_count() - 1)
    bar = page.locator(".st-key-context_bar")
    with visit.rerun():
        page.get_by_role("radio", name="Classes").click()
    with visit.rerun():
        page.get_by_role("radio", name="Records").click()
    with visit.rerun():
        bar.get_by_role("radio", name="partial").click()
    for _ in "jj":
        before = page.url
        page.keyboard.press("j")
        page.wait_for_function("before => location.href !== before", arg=before)
    record = record_in(page.url)
    page.go_back()
    bar.get_by_role("radio", name="strict", checked=True).wait_for()
    assert "criterion" not in page.url and page.get_by_role("heading", name="Inspect", exact=True).is_visible()
    page.go_forward()
    bar.get_by_role("radio", name="partial", checked=True).wait_for()
    assert visit.eventually(lambda: record_in(page.url) == record)
    # The criterion, two tabs, and the page that was gone to.
    for heading in ("Inspect", "Inspect", "Inspect", "Overview"):
        before = page.url
        with visit.rerun():
            page.go_back()
        page.get_by_role("heading", name=heading, exact=True).wait_for()
        assert page.url != before
    page.go_back()
    page.get_by_role("heading", name="Guide", exact=True).wait_for()


def test_the_records_of_a_count_are_brought_into_view_and_focused(visit: Visit) -> None:
    page = visit.page
    page.set_viewport_size({"width": 1440, "height": 900})
    visit.open("Overview", VIEW)
    with visit.rerun():
        page.locator(".nvb-bar button").last.click()
    listed = page.locator(".st-key-records_of_type")
    listed.wait_for()
    page.wait_for_function("() => document.activeElement.classList.contains('st-key-records_of_type')")
    place = listed.bounding_box()
    assert place is not None and 0 <= place["y"] < 900 - 100
