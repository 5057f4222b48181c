"""A walk through the views of a corpus in Chromium: all is unfolded, chosen, saved and opened."""

from __future__ import annotations

import csv
import io
import zipfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playwright.sync_api import Error

from tests.support.browser import BEGUN, Visit
from tests.support.payloads import FORMULAS
from tests.support.traps import Trap

HOVERED = 12
"""Tooltips of one kind that are looked at on one view."""
BEGUN_WITHIN_MS = 300
"""Time in which a click that draws the page anew has begun to."""
DRAWN_ELSEWHERE = "PDF for papers"
"""A file that takes long to make, with the words of the SVG beside it."""
TEX = ("\\input{", "\\write18", "\\href{", "\\url{", "\\includegraphics{", "\\immediate")
NAME = """one => [...one.closest("[class*='st-key-']")?.classList ?? []].find(name => name.startsWith("st-key-"))
  + (one.ariaLabel ?? one.innerText.split("\\n").at(-1))"""
"""In the page: the key and the label of a field or button."""
FIELDS = "input[type=text]:not([role=combobox]), textarea"
FORMULA_PARTS = ("<f>", "<f ", "<hyperlink", 'TargetMode="External"')


@dataclass
class Given:
    """The words of a corpus and files of them by name; the pages seen, and the fields and buttons used, by name."""

    words: Sequence[str]
    files: Mapping[str, bytes]
    pages: set[str] = field(default_factory=set)
    used: set[str] = field(default_factory=set)


class Walk:
    """A walk in one browser; without `steps` views are only opened."""

    given: Given

    def __init__(self, visit: Visit, folder: Path, counts: Counter[str], *, steps: bool = True) -> None:
        self.visit, self.trap, self.folder, self.counts = visit, Trap(visit), folder, counts
        self.steps = steps

    def view(self, given: Given, page: str, path: str) -> None:
        """Open a view and all that it unfolds; write and drop words wherever it takes some, once for each corpus."""
        self.given, self.trap.place = given, path
        first = page not in given.pages
        given.pages.add(page)
        self.counts["views"] += 1
        self.visit.go(path)
        self.trap.look()
        if not self.steps:
            return
        for step in (self._unfold, self._hover, self._choose, self._menus, self._save_all, self._write, self._drop):
            step()
            self.trap.look()
        if first:
            self._keys()

    @contextmanager
    def _settled(self) -> Iterator[None]:
        """Wait, after the block, for what it may have asked for: not everything draws the page anew."""
        before = self.visit.run_count()
        yield
        with suppress(Error):
            self.visit.page.wait_for_function(BEGUN, arg=before, timeout=BEGUN_WITHIN_MS)
        self.visit.wait_until_drawn(self.visit.run_count() - 1)

    def _unfold(self) -> None:
        folds = self.visit.page.locator("[data-testid='stExpander'] details:not([open]) > summary")
        for fold in reversed(folds.element_handles()):
            with self._settled():
                _click(fold)

    def _hover(self) -> None:
        page = self.visit.page
        for name in ("stTooltipHoverTarget", "stTooltipIcon", "stPlotlyChart"):
            for target in page.get_by_test_id(name).element_handles()[:HOVERED]:
                with suppress(Error):
                    target.hover(timeout=1_000)
                    page.wait_for_timeout(50)
                    self.counts["hovered"] += 1
                    self.trap.look()

    def _choose(self) -> None:
        """Choose a cell of each table: it lists records or shows a formula."""
        page = self.visit.page
        for table in page.get_by_test_id("stDataFrame").element_handles():
            with suppress(Error):
                table.scroll_into_view_if_needed(timeout=1_000)
                box = table.bounding_box()
                with self._settled():
                    page.mouse.click(box["x"] + box["width"] - 40, box["y"] + 52)
                self.counts["chosen"] += 1
                self.trap.look()

    def _menus(self) -> None:
        """Open each menu, look at it, and save what it offers."""
        page = self.visit.page
        menus = page.locator("[data-testid='stPopoverButton'], button[data-menu]")
        body = page.locator("[data-testid='stPopoverBody'], [class*='st-key-bar_open_'][role]")
        for menu in menus.element_handles():
            with self._settled():
                opened = _click(menu)
            if not opened:
                continue
            self.counts["menus"] += 1
            self.trap.look()
            for button in body.get_by_test_id("stDownloadButton").locator("button").element_handles():
                self._save(button)
            self._write(body)
            self._drop()
            page.keyboard.press("Escape")
            with suppress(Error):
                body.wait_for(state="detached", timeout=2_000)

    def _save_all(self) -> None:
        for button in (
            self.visit.page.get_by_test_id("stMain")
            .get_by_test_id("stDownloadButton")
            .locator("button")
            .element_handles()
        ):
            self._save(button)

    def _save(self, button: Any) -> None:
        """Save a file, once for each corpus, and look at it."""
        try:
            label = button.inner_text().split("\n")[-1]
            if (
                label == DRAWN_ELSEWHERE
                or not (button.is_visible() and button.is_enabled())
                or not self._is_new(button)
            ):
                return
        except Error:
            # The page was drawn anew, and the button is another one now.
            return
        try:
            with self.visit.page.expect_download(timeout=20_000) as started:
                button.click(timeout=5_000)
        except Error:
            self.counts["not saved"] += 1
            print(f"not saved at {self.trap.place}: {label}")
            return
        file = self.folder / f"saved{Path(started.value.suggested_filename).suffix}"
        started.value.save_as(file)
        self.counts["files"] += 1
        if file.suffix in (".html", ".svg"):
            self.trap.look_at_file(file)
        for found in formulas(file) if label in ("CSV", "Excel", "LaTeX") else ():
            self.trap.note("formulas", f"{started.value.suggested_filename}: {found}")

    def _is_new(self, element: Any) -> bool:
        """Return whether a field or button that is seen was not used yet over this corpus."""
        name = str(element.evaluate(NAME))
        known = name in self.given.used
        self.given.used.add(name)
        return not known

    def _write(self, place: Any | None = None) -> None:
        """Write a word into each field, of the page or a place in it, and look at what becomes of it."""
        fields = (place or self.visit.page.get_by_test_id("stMain")).locator(FIELDS)
        for number, box in enumerate(fields.element_handles()):
            with suppress(Error):
                if not box.is_visible() or not self._is_new(box):
                    continue
                with self._settled():
                    box.fill(self.given.words[number % len(self.given.words)], timeout=1_000)
                    box.press("Control+Enter" if box.evaluate("one => one.localName") == "textarea" else "Enter")
                self.counts["written"] += 1
                self.trap.look()

    def _drop(self) -> None:
        """Drop files called by words, and made of them, wherever there is a place for files; read those at Start."""
        for place in self.visit.page.locator("input[type=file]").element_handles():
            with suppress(Error):
                self._drop_at(place)

    def _drop_at(self, place: Any) -> None:
        if not self._is_new(place):
            return
        every = list(self.given.files)
        several = place.get_attribute("multiple") is not None
        for names in (every[:2], every) if several else ([name] for name in every):
            files = [{"name": name, "mimeType": "text/plain", "buffer": self.given.files[name]} for name in names]
            with self._settled():
                place.set_input_files(files, timeout=5_000)
            self.counts["dropped"] += 1
            self.trap.look()
            self._read()

    def _read(self) -> None:
        """Read what was dropped at Start, and wait until that is done."""
        with self._settled():
            begun = _click(self.visit.page.get_by_role("button", name="Read and score").first)
        if begun:
            with self._settled():
                self.visit.page.get_by_role("button", name="Cancel").wait_for(state="detached")
            self.counts["read"] += 1
            self.trap.look()

    def _keys(self) -> None:
        """Press the keys that give verdicts and stars, and look at what they open."""
        page = self.visit.page
        if not page.locator(".nw-entry").count():
            return
        for key in ("1", "4", "s", "u", "5"):
            page.keyboard.press("Escape")
            with self._settled():
                page.keyboard.press(key)
            self.trap.look()
            self._write(page.locator(".nw-name"))


def formulas(file: Path) -> Iterator[str]:
    """Yield the cells of a table that a spreadsheet takes for formulas, and commands of LaTeX that may not be."""
    if file.suffix == ".csv":
        for row in csv.reader(io.StringIO(file.read_bytes().decode(), newline="")):
            yield from (cell for cell in row if cell.startswith(FORMULAS) and not _is_number(cell))
    elif file.suffix == ".xlsx":
        with zipfile.ZipFile(file) as book:
            for name in book.namelist():
                yield from (f"{name} {part}" for part in FORMULA_PARTS if part.encode() in book.read(name))
    else:
        # Of a comment TeX reads nothing.
        text = "\n".join(line for line in file.read_bytes().decode().splitlines() if not line.startswith("%"))
        yield from (part for part in TEX if part in text)


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _click(target: Any) -> bool:
    """Click what can be clicked within a second; return whether that was done."""
    with suppress(Error):
        target.click(timeout=1_000)
        return True
    return False
