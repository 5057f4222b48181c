"""The confusion table of many types where it is narrow: missed spans stay in sight, labels are cut so that they
differ, and another order begins at its start.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from pages.shared.components.highlighted_text import DRAWING
from pages.shared.confusion import heat_map_data
from pages.shared.view.confusion_layout import confusion_table
from tests.browser.test_reading_view import MOUNT
from tests.support import ROOT

HERE = ROOT / "pages" / "shared" / "confusion"
TYPES = [f"{head}{part}LongLabel" for head in ["organization", "person", "location", "event"] for part in range(20)]
CELLS = Counter({(name, TYPES[place % 7]): place + 1 for place, name in enumerate(TYPES)})


@pytest.fixture(scope="module")
def page(browser: Any) -> Any:
    context = browser.new_context(viewport={"width": 340, "height": 700})
    page = context.new_page()
    page.set_content("<!doctype html><html><body style='margin:0;--st-background-color:white'></body></html>")
    scripts = [(HERE / f"{name}.js").read_text(encoding="utf-8") for name in ("heat_map_layout", "heat_map")]
    page.evaluate(MOUNT, ["".join([DRAWING, *scripts]), (HERE / "heat_map.css").read_text(encoding="utf-8")])
    yield page
    context.close()


def show(page: Any, *layout: str, times: int = 1, chosen: list[int] | None = None) -> None:
    """Draw the table, every count so many times as large."""
    counts = Counter({pair: times * number for pair, number in CELLS.items()})
    data = heat_map_data(confusion_table(counts, TYPES, layout), "types", share="")
    page.evaluate("data => window.show(data)", data | {"chosen": chosen})


def box(page: Any, selector: str) -> dict[str, float]:
    found: dict[str, float] = page.locator(selector).first.bounding_box()
    return found


@pytest.mark.parametrize("scrolled", [0, 60])
def test_missed_spans_and_labels_stay_in_sight(page: Any, scrolled: int) -> None:
    show(page)
    page.evaluate("scrolled => { document.querySelector('.nvm-scroll').scrollLeft = scrolled }", scrolled)
    assert page.evaluate("document.querySelector('.nvm-scroll').scrollLeft") == scrolled
    missed, label = box(page, "tbody td.nvm-apart:last-child"), box(page, "tbody th")
    # The box that scrolls has 3 pixels around it for the outline of cells.
    assert label["x"] >= -3 and missed["x"] + missed["width"] <= 340
    spot = [missed["x"] + missed["width"] - 1, missed["y"] + missed["height"] / 2]
    assert page.evaluate("([x, y]) => document.elementFromPoint(x, y).className", spot).startswith("nvm-apart")


def test_labels_are_cut_so_that_they_differ_and_not_in_their_height(page: Any) -> None:
    show(page)
    labels = page.locator("tbody th .nvm-name").all_inner_texts()
    assert len(set(labels)) == len(TYPES) + 1 and all("…" in label for label in labels[:20])
    wide = "all => all.filter((name) => name.scrollWidth > name.clientWidth + 1).length"
    assert not page.locator("tbody th .nvm-name").evaluate_all(wide), "no second cut at the end"
    assert page.locator("tbody th .nvm-name").first.evaluate("name => getComputedStyle(name).overflowY") == "visible"
    assert page.locator("tbody th").first.get_attribute("title") == TYPES[0]


def test_the_label_of_a_cell_is_drawn_and_those_that_it_would_cover_give_way(page: Any) -> None:
    show(page)
    for place in (1, 2):
        page.locator("tbody tr").nth(place).locator("td").nth(place).focus()
        assert TYPES[place] in page.locator(".nvm-status").inner_text()
        for labels in ("tbody th", "thead th:not(:first-child)"):
            here = box(page, f"{labels}.nvm-here .nvm-name")
            drawn = [
                label.bounding_box()
                for label in page.locator(f"{labels} .nvm-name").all()
                if label.evaluate("name => getComputedStyle(name).opacity") == "1"
            ]
            assert here in drawn
            font = page.locator(f"{labels}.nvm-here").evaluate("label => parseFloat(getComputedStyle(label).fontSize)")
            side = "y" if labels == "tbody th" else "x"
            assert all(abs(other[side] - here[side]) >= font - 1 for other in drawn if other != here)


def test_the_place_is_kept_until_the_order_is_another(page: Any) -> None:
    show(page)
    for layout, place in ((("off-diagonal",), 40), (("by-confusion",), 0)):
        page.evaluate("document.querySelector('.nvm-scroll').scrollLeft = 40")
        show(page, *layout)
        assert page.evaluate("document.querySelector('.nvm-scroll').scrollLeft") == place


def test_other_numbers_go_into_the_cells_that_stand_there(page: Any) -> None:
    show(page, chosen=[0, 0])
    cell = page.locator("tbody tr").nth(1).locator("td").nth(1)
    cell.focus()
    page.evaluate("window.standing = [...document.querySelectorAll('.nvm td')]")
    show(page, times=1_000, chosen=[1, 1])
    assert page.evaluate("window.standing.every((cell) => cell.isConnected)")
    assert cell.evaluate("cell => cell === document.activeElement") and cell.get_attribute("aria-selected") == "true"
    assert page.locator(".nvm td[aria-selected='true']").count() == 1
    for name in ("title", "aria-label"):
        assert str(cell.get_attribute(name)).endswith(": 2,000")
    assert "2,000" in page.locator(".nvm-status").inner_text()
    assert "80,000" in page.locator(".nvm-legend").inner_text()
