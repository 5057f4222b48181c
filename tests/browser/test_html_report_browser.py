"""The report opened from disk: without the network, in both themes, at every width, on paper, and with hostile text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from nereval_core.cli import main
from nereval_core.report.colours import CONTRAST
from tests.html_report.test_page import hostile
from tests.support.browser import ROOT

# Of every element with words of its own: its colour against what lies behind it.
DIM = """(least) => {
  const parsed = (colour) => {
    const canvas = new OffscreenCanvas(1, 1).getContext("2d");
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  };
  const luminance = ([r, g, b]) => {
    const linear = (v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    const [x, y, z] = [r, g, b].map((v) => linear(v / 255));
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const page = parsed(getComputedStyle(document.body).backgroundColor);
  const found = [];
  for (const element of document.querySelectorAll("body *:not(script):not(style):not(svg):not(svg *)")) {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    if (!own || !element.checkVisibility()) continue;
    let back = page;
    for (let outer = element; outer; outer = outer.parentElement) {
      const colour = parsed(getComputedStyle(outer).backgroundColor);
      if (colour[3] === 1) { back = colour; break; }
    }
    const [high, low] = [luminance(parsed(getComputedStyle(element).color)), luminance(back)].sort((a, b) => b - a);
    const contrast = (high + 0.05) / (low + 0.05);
    if (contrast < least) found.push(`${element.tagName}.${element.className}: ${contrast.toFixed(2)}`);
  }
  return [...new Set(found)];
}"""


class Opened:
    """A file opened in a fresh browser context: whatever it asks for, runs or says is kept."""

    def __init__(self, browser: Any, path: Path, **context: Any) -> None:
        self.asked: list[str] = []
        self.problems: list[str] = []
        self.context = browser.new_context(**{"viewport": {"width": 1440, "height": 900}, **context})
        self.context.route("**/*", self._route)
        self.page = self.context.new_page()
        self.page.on("dialog", self._dialog)
        self.page.on("pageerror", lambda error: self.problems.append(f"error: {error}"))
        self.page.on("console", lambda said: self.problems.append(f"{said.type}: {said.text}"))
        self.page.goto(path.as_uri())
        self.page.locator(".plot .main-svg").first.wait_for()

    def _route(self, route: Any) -> None:
        self.asked.append(route.request.url)
        if route.request.url.startswith("file://"):
            route.continue_()
        else:
            route.abort()

    def _dialog(self, dialog: Any) -> None:
        self.problems.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def close(self, path: Path) -> None:
        self.context.close()
        assert self.problems == []
        assert self.asked == [path.as_uri()]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "report.html"
    demo = ROOT / "demo_data" / "newspapers"
    files = [str(demo / f"{name}.jsonl") for name in ("gold", "rules", "perceptron")]
    assert main(["report", *files, "--out", str(path), "-q"]) == 0
    return path


@pytest.fixture
def opened(browser: Any, made: Path) -> Iterator[Opened]:
    found = Opened(browser, made)
    yield found
    found.close(made)


def test_a_number_leads_to_its_records(opened: Opened) -> None:
    page = opened.page
    every = page.locator("article").count()
    row = page.locator("#overview tr", has_text="perceptron").first
    # Before POS and ACT, which lead to their records too.
    link = row.locator("a").nth(row.locator("a").count() - 3)
    number = int(link.inner_text().replace(",", ""))
    link.click()
    page.wait_for_url(re.compile("#show="))
    shown = page.locator("article:visible")
    there = int((link.get_attribute("title") or "").split()[0])
    assert shown.count() == there < every
    said = page.locator("#status").inner_text()
    assert said.startswith(f"{there} of the {number} counted" if there < number else f"These are the {number} records")
    assert page.evaluate("document.activeElement.id") == "h-records"
    assert all("spurious (SPU)" in head for head in shown.locator("h4").all_inner_texts())
    # The address is a link to these; Back shows all again, and so does the button.
    page.go_back()
    expect(page.locator("article[hidden]")).to_have_count(0)
    page.go_forward()
    page.get_by_role("button", name="Show all records").click()
    expect(page.locator("article[hidden]")).to_have_count(0)
    assert page.locator("#status").is_hidden()


def test_figures_answer(opened: Opened) -> None:
    page = opened.page
    plot = page.locator("#confusion .plot").first
    plot.scroll_into_view_if_needed()
    # A cell away from the diagonal, with records in the report.
    place = plot.evaluate(
        """plot => {
            const trace = plot.data.find((one) => one.customdata);
            const at = trace.customdata.findIndex((one) => one && one.length);
            const box = plot.getBoundingClientRect(), { xaxis, yaxis } = plot._fullLayout;
            return [box.x + xaxis._offset + xaxis.c2p(trace.x[at]), box.y + yaxis._offset + yaxis.c2p(trace.y[at])];
        }"""
    )
    page.mouse.move(*place)
    page.locator("#confusion .hoverlayer .hovertext").first.wait_for()
    assert "gold" in page.locator("#confusion .hoverlayer").first.text_content()
    page.mouse.click(*place)
    page.wait_for_url(re.compile("#show="))
    assert page.locator("article:visible").count() >= 1


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_it_reads_in_both_themes_and_at_every_width(browser: Any, made: Path, theme: str, tmp_path: Path) -> None:
    found = Opened(browser, made, color_scheme=theme, viewport={"width": 390, "height": 844})
    page = found.page
    assert page.evaluate(DIM, CONTRAST) == []
    inks = page.locator(".plot .xtick text").evaluate_all("all => [...new Set(all.map(e => getComputedStyle(e).fill))]")
    assert inks == ["rgb(250, 250, 250)" if theme == "dark" else "rgb(26, 26, 26)"]
    for width in (390, 1024, 1440):
        page.set_viewport_size({"width": width, "height": 844})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    if theme == "dark":
        check_paper(page, tmp_path)
    found.close(made)


def check_paper(page: Any, folder: Path) -> None:
    """Check that what is dark on screen is printed dark on white, and no figure wider than the paper."""
    page.evaluate(
        """() => { window.seen = []; addEventListener("beforeprint", () => seen.push(
            ...[...document.querySelectorAll(".plot .main-svg")].map((svg) => svg.getBoundingClientRect().width))); }"""
    )
    printed = page.pdf(path=folder / "report.pdf", format="A4", print_background=True)
    assert len(re.findall(rb"/Type\s*/Page\b", printed)) > 5
    widths = page.evaluate("seen")
    assert widths and max(widths) <= 690
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.locator("nav").is_hidden() and page.locator("details table").first.is_visible()


def test_hostile_text_does_nothing(browser: Any, tmp_path: Path) -> None:
    gold, pred = hostile(tmp_path)
    path = tmp_path / "report.html"
    assert main(["report", str(gold), f"</script>={pred}", "--out", str(path), "--title", "<b>x", "-q"]) == 0
    found = Opened(browser, path)
    page = found.page
    assert page.locator("article").count() == 2
    assert page.locator("main img, main script:not([type]), main b >> text=x").count() == 0
    assert "</script><script>alert(1)</script>" in page.locator("article .nvh-text").first.inner_text()
    assert page.title() == "<b>x"
    # Whatever is clicked or hovered, nothing runs.
    for link in page.locator("main a").all()[:6]:
        assert (link.get_attribute("href") or "").startswith("#r")
        link.click()
    page.locator("#confusion .plot").first.hover()
    found.close(path)
