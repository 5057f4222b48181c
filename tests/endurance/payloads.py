"""Words that would run, were they taken for code, stand wherever a corpus has words: nothing of them may ever run.

Every view of every page is opened in Chromium over corpora of such words, with its menus, folds, tables and tooltips;
so is each HTML file that it exports. No cell of an exported table may be a formula.
"""

from __future__ import annotations

import csv
import io
import os
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import zip_longest
from pathlib import Path
from typing import Any
from unittest.mock import patch
from urllib.parse import urlencode

from nereval_core.review.store import ReviewStore
from pages.shared.view import View
from pages.shared.view.link import write_link
from tests.endurance.payload_acts import ACTS
from tests.support.browser import TALL, Visit, serve_app, start_browser
from tests.support.every_view import Subject, every_view, wrong_links
from tests.support.payloads import FORMULAS, payloads
from tests.support.traps import Trap
from tests.support.worded_corpora import Words, keep, one_line, review

NEVER = ("ran", "made", "requests", "faults", "errors", "formulas")
TOGETHER = 60
"""Payloads that one corpus is made of: more and its tables would not show them all."""
LONGEST_NAME = 100
HOVERED = 12
"""Tooltips that are looked at on one view."""


def run(folder: Path, wanted: Callable[[int], bool], *, together: int = TOGETHER) -> Counter[str]:
    """Walk through views as long as `wanted` says so of their number, over one corpus after the other.

    Return the numbers of `views`, `files` and `payloads`; of what was `blocked` by the policy; and of what may NEVER
    be: a payload `ran`, elements `made`, `requests` to elsewhere, `faults` and `errors` of the page, `formulas`.
    """
    counts: Counter[str] = Counter()
    store, verdicts = folder / "store", f"sqlite:///{folder}/review.sqlite"
    with (
        patch.dict(os.environ, {"NEREVAL_CACHE": str(store), "NEREVAL_REVIEW_URL": verdicts}),
        serve_app("--data", str(folder)) as address,
        start_browser() as browser,
    ):
        reviews = ReviewStore(verdicts)
        walk = Walk(Visit(browser, address, viewport=TALL, accept_downloads=True), folder, counts)
        for words in _parts(payloads(), together):
            if not wanted(counts["views"]):
                break
            counts["payloads"] += len(words)
            for page, query in _links(store, reviews, words):
                if not wanted(counts["views"]):
                    break
                counts["views"] += 1
                walk.view(page, query)
            for act in ACTS if wanted(counts["views"]) else ():
                walk.act(act, words)
        walk.visit.context.close()
        reviews.close()
    for (kind, said), place in walk.trap.found.items():
        print(f"{kind} at {place}: {said}")
    return counts + walk.trap.counts()


def _parts(words: Sequence[str], size: int) -> Iterator[list[str]]:
    """Yield words in parts, each with some of every family: those next to one another are alike."""
    parts = max(1, round(len(words) / size))
    for number in range(parts):
        yield list(words[number::parts])


def _links(store: Path, reviews: ReviewStore, words: list[str]) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield pages with the parameters of links to all their views, pages by turns; then links that fit nothing."""
    made = Words(words, words, words)
    loaded = keep(store, one_line(words[0]), made)
    playlist = review(reviews, loaded, made, named=[word for word in words if 0 < len(one_line(word)) <= LONGEST_NAME])
    corpus = loaded.corpus
    first = playlist.items[0].starred.shown
    subject = Subject(
        View(corpus=corpus.digest, system=corpus.systems[0].name),
        tuple(layer.name for layer in corpus.systems),
        tuple(loaded.types),
        tuple(corpus.documents.ids),
        (first.document, first.record),
        playlist.uid,
        tuple(item.uid for item in playlist.items),
    )
    by_page: dict[str, list[View]] = {}
    for page, view in every_view(subject):
        by_page.setdefault(page, []).append(view)
    for views in zip_longest(*by_page.values()):
        yield from ((page, write_link(view)) for page, view in zip(by_page, views, strict=True) if view is not None)
    for page, params in wrong_links(words):
        yield page, {"corpus": corpus.digest, **params}


class Walk:
    """A walk through views in one browser: all that a view can unfold is unfolded, all that it exports is looked at."""

    def __init__(self, visit: Visit, folder: Path, counts: Counter[str]) -> None:
        self.visit, self.trap, self.folder, self.counts = visit, Trap(visit), folder, counts

    def view(self, page: str, query: dict[str, str]) -> None:
        self.trap.place = path = f"/{'' if page == 'Start' else page}?{urlencode(query)}"
        self.visit.go(path)
        self.trap.look()
        print(path[:100], flush=True)
        for step in (self._unfold, self._hover, self._choose, self._menus):
            import time; t=time.time()
            step()
            t2=time.time()
            self.trap.look()
            print("   ", step.__name__, round(t2-t,1), round(time.time()-t2,1), self.counts["files"], flush=True)

    def act(self, act: Callable[[Visit, Sequence[str]], Iterator[None]], words: Sequence[str]) -> None:
        """Do what a person does in several steps, and look at the page after each."""
        self.trap.place = act.__name__
        for _ in act(self.visit, words):
            self.counts["steps"] += 1
            self.trap.look()

    def _rest(self) -> None:
        self.visit.wait_until_drawn(self.visit.run_count() - 1)

    def _unfold(self) -> None:
        folds = self.visit.page.locator("[data-testid='stExpander'] details:not([open]) > summary")
        for number in reversed(range(folds.count())):
            _click(folds.nth(number))
        self._rest()

    def _hover(self) -> None:
        page = self.visit.page
        for name in ("stTooltipHoverTarget", "stTooltipIcon", "stPlotlyChart"):
            targets = page.get_by_test_id(name)
            for number in range(min(targets.count(), HOVERED)):
                with suppress(Exception):
                    targets.nth(number).hover(timeout=1_000)
                    page.wait_for_timeout(50)
                    self.trap.look()

    def _choose(self) -> None:
        """Choose a cell of each table: it lists records or shows a formula."""
        page = self.visit.page
        for number in range(self.visit.page.get_by_test_id("stDataFrame").count()):
            with suppress(Exception):
                table = self.visit.table(number)
                box = table.bounding_box(timeout=1_000)
                page.mouse.click(box["x"] + box["width"] - 40, box["y"] + 52)
                page.wait_for_timeout(100)
                self._rest()
                self.trap.look()

    def _menus(self) -> None:
        """Open each menu, look at it, and save what it offers."""
        page = self.visit.page
        page.keyboard.press("Escape")
        menus = page.locator("[data-testid='stPopover'] > div > button, [data-testid='stPopover'] > button")
        for number in range(menus.count()):
            if not _click(menus.nth(number)):
                print("no click", menus.nth(number).inner_text())
                continue
            print("menu", menus.nth(number).inner_text(),page.get_by_test_id("stPopoverBody").count())
            page.wait_for_timeout(100)
            self._rest()
            self.trap.look()
            body = page.get_by_test_id("stPopoverBody")
            for button in body.get_by_test_id("stDownloadButton").locator("button").all():
                self._save(button)
            page.keyboard.press("Escape")
        for button in page.get_by_test_id("stMain").get_by_test_id("stDownloadButton").locator("button").all():
            self._save(button)

    def _save(self, button: Any) -> None:
        """Save a file and look at it: HTML is opened, and a table has no cell that is a formula."""
        if not (button.is_visible() and button.is_enabled()):
            return
        from playwright.sync_api import TimeoutError
        label = button.inner_text()
        try:
            with self.visit.page.expect_download(timeout=20_000) as started:
                button.click(timeout=5_000)
        except TimeoutError:
            self.trap.note("errors", f"no file: {label}")
            return
        name = started.value.suggested_filename
        file = self.folder / f"saved{Path(name).suffix}"
        started.value.save_as(file)
        self.counts["files"] += 1
        if file.suffix == ".html":
            self.trap.look_at_file(file)
        elif file.suffix in (".csv", ".xlsx") and label in ("CSV", "Excel"):
            for cell in formulas(file):
                self.trap.note("formulas", f"{name}: {cell}")
        elif file.suffix == ".tex":
            for command in ("\\input{", "\\write18", "\\href{", "\\url{", "\\includegraphics{"):
                if command in file.read_text(encoding="utf-8"):
                    self.trap.note("formulas", f"{name}: {command}")


def formulas(file: Path) -> list[str]:
    """Return the cells of a table that a spreadsheet takes for formulas or links."""
    if file.suffix == ".csv":
        rows = csv.reader(io.StringIO(file.read_text(encoding="utf-8"), newline=""))
        return [cell for row in rows for cell in row if cell.startswith(("=", "+", "-", "@", "\t", "\r", "\n")) and not _is_number(cell)]
    with zipfile.ZipFile(file) as book:
        parts = {name: book.read(name).decode() for name in book.namelist() if name.endswith((".xml", ".rels"))}
    return [f"{name}: {mark}" for name, text in parts.items() for mark in ("<f>", "<f ", "<hyperlink", "External") if mark in text]


def _is_number(cell: str) -> bool:
    with suppress(ValueError):
        float(cell)
        return True
    return False


def _click(target: Any) -> bool:
    """Click what can be clicked within a second; return whether that was done."""
    with suppress(Exception):
        target.click(timeout=1_000)
        return True
    return False
