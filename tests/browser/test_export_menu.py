"""The Export menu of a page: the figure shown is saved as a picture by the browser, the table as a file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from urllib.parse import urlencode

from pages.shared.view.link import write_link
from tests.support.browser import Visit
from tests.support.pages import VIEW
from tests.support.visitors import Visitor


def test_a_figure_is_saved_as_the_browser_shows_it(visit: Visit, tmp_path: Path) -> None:
    visit.open("Overview", replace(VIEW, overview_tab="by-slice"))
    visit.page.locator(".js-plotly-plot svg.main-svg").first.wait_for()
    assert visit.page.locator(".modebar-btn").count() == 0
    menu = visit.open_menu("Export")
    visit.page.locator(".nvp").first.wait_for()
    for form in ("PNG", "SVG", "CSV"):
        with visit.page.expect_download() as started:
            menu.get_by_role("button", name=form, exact=True).last.click()
        started.value.save_as(tmp_path / form)
    assert (tmp_path / "PNG").read_bytes().startswith(b"\x89PNG")
    drawn = (tmp_path / "SVG").read_text(encoding="utf-8")
    assert drawn.startswith("<svg") and "rules by span length in characters" in drawn
    # Where the page's font is missing, texts keep the room that was measured for them.
    page = visit.context.new_page()
    page.set_content(drawn)
    shown = page.locator("text").evaluate_all(
        """texts => texts.map((text) => [text, [...text.querySelectorAll(".line")]])
        .flatMap(([text, lines]) => (lines.length ? lines : [text]))
        .filter((line) => line.textContent.trim())
        .map((line) => [line.getComputedTextLength(), Number(line.getAttribute("textLength"))])"""
    )
    page.close()
    assert shown and all(abs(length - meant) < 1 for length, meant in shown), shown
    assert b"signature" in (tmp_path / "CSV").read_bytes().splitlines()[0]


def test_a_figure_is_drawn_for_papers_where_the_app_runs(app: str) -> None:
    with Visitor(app) as visitor:
        visitor.open("Confusion", urlencode(write_link(VIEW)))
        visitor.open_menu("export")
        visitor.choose("Width of figures for papers", "text, 174 mm")
        pdf, svg = (visitor.download(f"{form} for papers") for form in ("PDF", "SVG"))
    assert b"/FontFile2 " in pdf
    drawn = svg.decode("utf-8")
    assert ' width="174mm"' in drawn[:300] and "<title>Gold types and what rules made of them. " in drawn[:400]


def test_a_link_that_closes_a_menu_leads_to_its_page(app: str) -> None:
    with Visitor(app) as visitor:
        query = urlencode(write_link(VIEW))
        visitor.open("Confusion", query)
        target = visitor.page
        visitor.open("Overview", query)
        visitor.open_menu("export")
        left, visitor.page = visitor.page, target
        visitor._send_rerun()
        # As a browser does: the menu has closed, on the page that it leaves.
        visitor.page = left
        visitor.open_menu("")
        assert visitor.page == target
        # Later the page that was left is one like any other.
        visitor.open("Overview", query)
        assert visitor.page == left
