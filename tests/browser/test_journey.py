"""The annotator's journey, by clicks and keys alone: two brat folders in a zip, what the two disagree on, verdicts, a
layer that was mended, and the next day in a fresh browser; then a report of it all."""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from nereval_core.cli import main
from nereval_core.review.store import ReviewStore
from nereval_core.review.verdicts import KINDS, kinds_between
from nereval_core.writers import write
from pages.shared.data.loading import DEMOS, load_demo
from tests.browser.test_html_report_browser import Opened
from tests.support.browser import Hand, Visit, serve_app
from tests.support.databases import emptied

DEMO = "pharmacology"
PAIR = {"anna": "annotator-1", "ben": "annotator-2"}
MOST_CLICKS = 8
MOST_KEYS = 35
"""Keys of the first decisions, beside those of the name."""
NAME = "Ann"
BY_KEY = dict(zip("12345", KINDS, strict=True))
LATER_END, EARLIER_START, OTHER_TYPE = (
    ("4", "Shift+ArrowRight", "Enter"),
    ("4", "ArrowLeft", "Shift+ArrowLeft", "Enter"),
    ("4", "n", "Enter"),
)
"""Corrections in the text, from gold's span: its end a word later, its start a word earlier, of another type."""
FIRST = (*"1235", LATER_END, *"12123", EARLIER_START, *"3212", OTHER_TYPE, *"5112")
"""The keys of each decision on the first records, one after the other, without a pause."""
NO_ENTITY, TWO_SPANS = ("4", "-", "Enter"), ("4", "+", "Enter")
MORE = (*"123", TWO_SPANS, *"52", NO_ENTITY, *"123")
"""The keys of each decision on ten further records the next day."""
NOTE = "1 or 2? guideline 3, u"


@pytest.fixture
def store(server: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ReviewStore]:
    """An empty store of verdicts in PostgreSQL, which the app and the commands find; other tests have SQLite."""
    url = server.url
    found = emptied(ReviewStore(url))
    monkeypatch.setenv("NEREVAL_REVIEW_URL", url)
    monkeypatch.setenv("NEREVAL_CACHE", str(tmp_path / "store"))
    yield found
    found.close()


def test_from_two_folders_to_a_layer_and_on_the_next_day(browser: Any, store: ReviewStore, tmp_path: Path) -> None:
    hand = Hand()
    with serve_app() as address:
        visit = Visit(browser, address)
        read_both(visit, hand, two_folders(tmp_path))
        disagreements = open_disagreements(visit, hand)
        decide_first(visit, hand, disagreements)
        promised = mend(visit, hand, disagreements, tmp_path / "copy.zip")
        visit.close()
    given = [one.verdict for one in store.reviewed().standing]
    assert [one.kind for one in given] == [BY_KEY[keys[0]] for keys in FIRST]
    assert all(len(one.right) == (one.kind == "neither") for one in given)
    assert not any({one.key.span, one.partner} & set(one.right) for one in given)
    assert scored(tmp_path) == promised
    # Another server and another browser: what was read and decided is there, and the list that it was decided in.
    with serve_app() as address:
        visit = Visit(browser, address, viewport={"width": 1440, "height": 1800})
        visit.go("/")
        hand.click(visit.page.get_by_role("button", name=f"{len(FIRST)} of {disagreements} decided"))
        visit.page.get_by_text(f"{len(FIRST)} of {disagreements} reviewed").first.wait_for()
        assert hand.clicks <= MOST_CLICKS, hand.clicks
        decide_more(visit, disagreements)
        report(visit, tmp_path / "report.html")
        visit.close()
    kept = [one.verdict for one in store.reviewed().standing]
    assert [one.kind for one in kept] == [BY_KEY[keys[0]] for keys in FIRST + MORE]
    assert [len(one.right) for one in kept[len(FIRST) :] if one.kind == "neither"] == [2, 0]
    assert [one.note for one in kept if one.note] == [NOTE]
    shown(browser, tmp_path / "report.html")


def two_folders(folder: Path) -> Path:
    """Write the layers of two annotators of the demo as folders of brat into a zip."""
    corpus = load_demo(DEMO).corpus
    with zipfile.ZipFile(folder / "both.zip", "w") as archive:
        for name, layer in PAIR.items():
            write(corpus.system(layer), folder / name, format="brat", lossy=True)
            for file in sorted((folder / name).iterdir()):
                archive.write(file, f"{name}/{file.name}")
    return folder / "both.zip"


def read_both(visit: Visit, hand: Hand, file: Path) -> None:
    visit.go("/")
    visit.drop(file)
    hand.click(visit.page.get_by_role("button", name="Read and score"))
    visit.page.get_by_role("heading", name="Annotators", exact=True).wait_for()


def open_disagreements(visit: Visit, hand: Hand) -> int:
    """Open all that the two disagree on in Inspect; return how many records these are."""
    every = visit.page.get_by_test_id("stMetric").filter(has_text="all disagreements")
    number = int(re.findall(r"(\d+) of \d+", every.inner_text())[0])
    hand.click(visit.page.get_by_role("link", name="decide who is right"))
    visit.page.get_by_text(f"0 of {number} reviewed").first.wait_for()
    visit.page.locator(".nw-verdict").first.wait_for()
    assert visit.page.locator(".nw-verdict span").all_inner_texts()[:3] == ["anna", "ben", "both"]
    return number


def decide_first(visit: Visit, hand: Hand, number: int) -> None:
    """Give verdicts by key; say once who decides."""
    page = visit.page
    page.locator(".nw-entry[aria-current]").wait_for()
    page.locator(".nw[data-quiet]").wait_for(state="detached")
    hand.press(page, FIRST[0])
    field_of_name(page)
    Hand().press(page, (*NAME, "Enter"))
    page.get_by_text(f"1 of {number} reviewed").first.wait_for()
    clicks = hand.clicks
    for keys in FIRST[1:]:
        hand.press(page, keys)
    page.get_by_text(f"{len(FIRST)} of {number} reviewed").first.wait_for()
    assert hand.keys <= MOST_KEYS and hand.clicks == clicks, (hand.keys, hand.clicks)


def field_of_name(page: Any) -> None:
    """Wait for the question for the reviewer's name, and go to its field by keyboard."""
    field = page.get_by_label("Your name", exact=True)
    field.wait_for()
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.activeElement?.getAttribute('aria-label') === 'Your name'", polling=50)


def mend(visit: Visit, hand: Hand, number: int, file: Path) -> str:
    """Return the F1 that Review promises, and save the copy of the reference that is to have it."""
    hand.click(visit.page.get_by_test_id("stSidebar").get_by_role("link", name="Review", exact=True))
    figures = visit.page.get_by_test_id("stMetric")
    said = figures.filter(has_text="F1 of ben under strict").inner_text()
    after, _, before = re.findall(r"0\.\d{3}", said)
    assert before != after and f"{len(FIRST)} of {number}" in figures.filter(has_text="Decided").inner_text()
    hand.click(visit.page.get_by_role("button", name="Finish →"))
    sentence = visit.page.get_by_text("The finished layer has")
    before = sentence.inner_text()
    hand.click(visit.page.get_by_role("radio", name="as in anna"))
    assert visit.eventually(lambda: sentence.inner_text() != before)
    # The button for the file is drawn anew after the sentence: it says which layer it has.
    (spans,) = re.findall(r"has ([\d,]+ spans)", sentence.inner_text())
    # What came as brat goes as brat, which has no place for a verdict that both are right.
    hand.clicks += 1
    visit.save(f"anna-finished.zip · {spans}, without what it cannot hold", file)
    # Progress counted against the layer without undecided records: the promise follows what becomes of these.
    against = visit.page.get_by_text("Against it, F1 of ben under strict is").inner_text()
    (promise,) = re.findall(r"F1 of ben under strict is (0\.\d{3})", against)
    assert promise != after
    return str(promise)


def decide_more(visit: Visit, number: int) -> None:
    """Give ten more verdicts by key, one of which is taken back and given anew; another browser asks for the name."""
    page = visit.page
    page.locator(f".nw-entry[data-at='{len(FIRST)}']").click()
    page.locator(f".nw-entry[aria-current][data-at='{len(FIRST)}']").wait_for()
    # In a field keys are letters.
    page.get_by_label("Note", exact=True).click()
    page.keyboard.type(NOTE)
    page.keyboard.press("Tab")
    for place, keys in enumerate(MORE, start=len(FIRST)):
        for key in keys:
            page.keyboard.press(key)
        if place == len(FIRST):
            field_of_name(page)
            page.keyboard.type(NAME)
            page.keyboard.press("Enter")
        page.get_by_text(f"{place + 1} of {number} reviewed").first.wait_for()
        if place == len(FIRST) + 4:
            page.keyboard.press("u")
            page.get_by_text(f"{place} of {number} reviewed").first.wait_for()
            page.keyboard.press("5")
            page.get_by_text(f"{place + 1} of {number} reviewed").first.wait_for()


def report(visit: Visit, file: Path) -> None:
    with visit.rerun():
        visit.page.get_by_role("link", name="Overview", exact=True).click()
    # The page before it may run once more: what is shared is to be of this one.
    visit.page.get_by_role("heading", name="Overview", exact=True).wait_for()
    visit.wait_until_drawn(visit.run_count() - 1)
    visit.open_menu("Share")
    visit.save("Download report", file)


def scored(folder: Path) -> str:
    """Return the F1 that the command line gives the second annotator against the copy."""
    files = [str(folder / "copy.zip"), str(DEMOS / DEMO / f"{PAIR['ben']}.jsonl")]
    assert main(["score", *files, "-q", "--criteria", "strict", "--json", str(folder / "scores.json")]) == 0
    (system,) = json.loads((folder / "scores.json").read_text(encoding="utf-8"))["systems"]
    return f"{system['criteria']['strict']['f1']:.3f}"


def shown(browser: Any, file: Path) -> None:
    """Open the report from disk, without a network: each verdict stands with its record."""
    opened = Opened(browser, file)
    assert "anna × ben" in opened.page.title()
    told = opened.page.locator("article .line").filter(has_text=f"by {NAME}").all_inner_texts()
    assert opened.page.locator("article .line").filter(has_text=NOTE).count() == 1
    kinds = kinds_between(*PAIR)
    assert sorted(BY_KEY[keys[0]] for keys in FIRST + MORE) == sorted(
        next(kind for kind, words in kinds.items() if words in line) for line in told
    )
    opened.close(file)
