"""The app as its users meet it: in a browser, from the demo and from uploads, to a record and back by a link."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.browser import ROOT, Visit, served

PAGES = sorted(path.stem.split("_", 1)[1] for path in (ROOT / "pages").glob("*.py"))
ROW = 35
"""Height in pixels of a row of a table, the header included."""


@pytest.fixture
def visit(browser: Any, app: str) -> Iterator[Visit]:
    found = Visit(browser, app, permissions=["clipboard-read", "clipboard-write"])
    yield found
    found.close()


def open_demo(visit: Visit, page: str) -> None:
    """Choose the demo corpus on the front page and go to another page by the sidebar."""
    visit.go("/")
    with visit.rerun():
        visit.page.get_by_role("button", name="Open", exact=True).first.click()
    visit.page.get_by_test_id("stSidebar").get_by_role("link", name=page, exact=True).click()
    visit.page.get_by_role("heading", name=page, exact=True).wait_for()
    visit.drawn(visit.runs() - 1)


def table(visit: Visit, number: int = 0) -> Any:
    return visit.page.get_by_test_id("stDataFrame").nth(number)


def cell_text(visit: Visit, row: int, column: int, number: int = 0) -> str:
    return str(table(visit, number).get_by_test_id(f"glide-cell-{column}-{row}").first.text_content())


def click_row(visit: Visit, row: int, number: int, *, from_right: int = 40) -> None:
    """Click a cell of a table, so many pixels from its right edge; the box is measured anew each time."""
    target = table(visit, number)
    target.scroll_into_view_if_needed()
    box = target.bounding_box()
    visit.page.mouse.click(box["x"] + box["width"] - from_right, box["y"] + ROW * (row + 1) + ROW / 2)


def listed(visit: Visit) -> tuple[str, int]:
    """Return title and number of the records that a cell has opened."""
    heading = visit.page.locator("strong", has_text=re.compile(r": [\d,]+ records?$")).first.inner_text()
    title, _, number = heading.rpartition(": ")
    return title, int(number.split()[0].replace(",", ""))


def eventually(visit: Visit, holds: Callable[[], bool]) -> bool:
    """Wait for what several runs of the page may take to bring about."""
    for _ in range(240):
        if holds():
            return True
        visit.page.wait_for_timeout(250)
    return False


def record_in(address: str) -> str:
    found = re.search(r"[?&]doc=([^&]+).*[?&]record=([^&]+)", address)
    assert found, address
    return found[0]


def test_from_a_count_to_the_same_record_in_another_browser(visit: Visit, browser: Any, app: str) -> None:
    open_demo(visit, "Confusion")
    with visit.rerun():
        click_row(visit, 0, 0)
    title, number = listed(visit)
    assert title == "gold NORMALIZABLES, predicted missed (MIS)"
    assert number == int(cell_text(visit, 0, 4)) > 1
    assert int(table(visit, 1).locator("canvas table").first.get_attribute("aria-rowcount")) == number + 1
    # The keyboard reaches the neighbouring cell.
    with visit.rerun():
        visit.page.keyboard.press("ArrowDown")
    below = ("gold NO_NORMALIZABLES, predicted missed (MIS)", int(cell_text(visit, 1, 4)))
    assert eventually(visit, lambda: listed(visit) == below)
    with visit.rerun():
        visit.page.keyboard.press("ArrowUp")
    assert eventually(visit, lambda: listed(visit) == (title, number))
    with visit.rerun():
        click_row(visit, 1, 1, from_right=300)
    visit.page.get_by_role("link", name="Read in document").click()
    visit.page.get_by_role("heading", name="Documents", exact=True).wait_for()
    visit.drawn(visit.runs() - 1)
    first, before = record_in(visit.page.url), visit.page.locator(".nv-card").inner_text()
    with visit.rerun():
        visit.page.keyboard.press("j")
    visit.page.wait_for_function("before => !location.href.includes(before)", arg=first)
    second = record_in(visit.page.url)
    assert second != first
    assert eventually(visit, lambda: visit.page.locator(".nv-card").inner_text() != before)
    card = visit.page.locator(".nv-card").inner_text()
    assert "missed (MIS)" in card
    visit.page.get_by_text("Copy link").click()
    popover = visit.page.get_by_test_id("stPopoverBody")
    popover.get_by_test_id("stCode").first.hover()
    popover.get_by_role("button", name="Copy to clipboard").first.click()
    link = visit.page.evaluate("navigator.clipboard.readText()")
    fresh = Visit(browser, app)
    fresh.go(link.removeprefix(app))
    assert record_in(fresh.page.url) == second
    assert eventually(fresh, lambda: fresh.page.locator(".nv-card").inner_text() == card)
    fresh.close()


def test_a_count_of_overview_opens_as_many_records(visit: Visit) -> None:
    open_demo(visit, "Overview")
    table(visit).locator("canvas th", has_text="(ACT)").wait_for(state="attached")
    headers = table(visit).locator("canvas th").all_text_contents()
    shown = {re.findall(r"\((\w+)\)|$", name)[0]: place for place, name in enumerate(headers)}
    place = shown["INC"]
    click_row(visit, 0, 0, from_right=visit.page.viewport_size["width"] // 4)
    for _ in headers:
        visit.page.keyboard.press("ArrowLeft")
    before = visit.runs()
    for _ in range(place):
        visit.page.keyboard.press("ArrowRight")
    visit.drawn(before)
    assert eventually(visit, lambda: "incorrect (INC)" in listed(visit)[0]), listed(visit)
    assert listed(visit)[1] == int(cell_text(visit, 0, place))


def test_a_row_of_criteria_opens_the_spans_that_part_it_from_the_one_above(visit: Visit) -> None:
    open_demo(visit, "Criteria")
    table(visit).locator("canvas th", has_text="differs").wait_for(state="attached")
    with visit.rerun():
        click_row(visit, 1, 0)
    said = int(cell_text(visit, 1, 4))
    # From the count at the right edge the keyboard leads to the number of spans that differ.
    with visit.rerun():
        for _ in range(4):
            visit.page.keyboard.press("ArrowLeft")
    heading = f"Where they part: {said} spans decided differently"
    assert eventually(visit, lambda: visit.page.get_by_text(heading).count() == 1)


def test_an_upload_with_two_mistakes_shows_both_lines(visit: Visit, tmp_path: Path) -> None:
    gold = tmp_path / "gold.jsonl"
    gold.write_text('{"id": "a", "text": "Aspirin helps", "spans": [{"start": 0, "end": 7, "label": "Drug"}]}\n')
    pred = tmp_path / "system.jsonl"
    spans = [{"start": 0, "end": 70, "label": "Drug"}, {"start": 8, "end": 13, "label": ""}]
    pred.write_text("\n" + json.dumps({"id": "a", "text": "Aspirin helps", "spans": spans}) + "\n")
    visit.go("/")
    visit.page.get_by_role("tab", name="Upload").click()
    inputs = visit.page.locator("input[type=file]")
    with visit.rerun():
        inputs.nth(0).set_input_files(gold)
    with visit.rerun():
        inputs.nth(1).set_input_files(pred)
    with visit.rerun():
        visit.page.get_by_role("button", name="Read and score").click()
    visit.page.get_by_text("system.jsonl:2: span [0, 70) of document").wait_for()
    visit.page.get_by_text("system.jsonl:2: a span without a usable type").wait_for()
    # The rest of the page goes on working, and mended files are read.
    spans = [{"start": 0, "end": 7, "label": "Drug"}]
    pred.write_text(json.dumps({"id": "a", "text": "Aspirin helps", "spans": spans}) + "\n")
    with visit.rerun():
        visit.page.get_by_role("button", name="Remove system.jsonl").click()
    visit.page.get_by_test_id("stFileChip").nth(1).wait_for(state="detached")
    with visit.rerun():
        with visit.page.expect_file_chooser() as chooser:
            visit.page.get_by_role("button", name="Upload", exact=True).click()
        chooser.value.set_files(pred)
    with visit.rerun():
        visit.page.get_by_role("button", name="Read and score").click()
    visit.page.get_by_text("What was read").wait_for()


SIZES = ((1440, 900), (1024, 768), (390, 844))
"""A wide screen, a small one, a telephone: width and height in pixels."""


def test_no_page_scrolls_sideways(visit: Visit) -> None:
    visit.go("/")
    with visit.rerun():
        visit.page.get_by_role("button", name="Open", exact=True).first.click()
    for name in ("Start", *PAGES):
        before = visit.runs()
        visit.page.get_by_test_id("stSidebar").get_by_role("link", name=name, exact=True).click()
        visit.page.get_by_role("heading", name="nereval" if name == "Start" else name, exact=True).wait_for()
        visit.drawn(before)
        for width, height in reversed(SIZES):
            visit.page.set_viewport_size({"width": width, "height": height})
            # Tables and figures take a while to follow.
            assert eventually(visit, lambda: sideways(visit) <= 0), (name, width, sideways(visit))


def sideways(visit: Visit) -> int:
    """Return by how many pixels the page is wider than the window."""
    wider = "Math.max(...['html', '[data-testid=stMain]'].map(at => document.querySelector(at)).map(at => at.{}))"
    return int(visit.page.evaluate(wider.format("scrollWidth - at.clientWidth")))


def test_a_link_to_a_corpus_that_the_server_lacks_says_which(visit: Visit) -> None:
    visit.go("/Errors?corpus=0123456789abcdef")
    visit.page.get_by_text("0123456789abcdef").wait_for()


def test_a_folder_served_from_the_command_line(browser: Any, tmp_path: Path) -> None:
    inside, outside = tmp_path / "data", tmp_path / "secret"
    for folder in (inside / "mine", outside):
        folder.mkdir(parents=True)
        for name in ("gold", "system"):
            line = '{"id": "a", "text": "Aspirin helps", "spans": [{"start": 0, "end": 7, "label": "Drug"}]}\n'
            (folder / f"{name}.jsonl").write_text(line)
    (inside / "link").symlink_to(outside)
    with served("--data", str(inside)) as address:
        visit = Visit(browser, address)
        visit.go("/")
        visit.page.get_by_role("tab", name="Server").click()
        assert visit.page.get_by_text("secret").count() == 0
        assert visit.page.get_by_text("link", exact=True).count() == 0
        with visit.rerun():
            visit.page.get_by_role("combobox", name="Folder").click()
            visit.page.get_by_role("option", name="mine").click()
        with visit.rerun():
            visit.page.get_by_role("button", name="Read and score").last.click()
        visit.page.get_by_text("What was read").wait_for()
        visit.close()
