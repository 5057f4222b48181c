"""From what two annotators disagree on to a gold that was mended, its score and a report, by clicks and keys alone."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from nereval_core.cli import main
from nereval_core.review.store import ReviewStore
from nereval_core.review.verdicts import KINDS
from pages.shared.data.loading import DEMOS, load_demo
from pages.shared.view import View
from tests.browser.test_html_report_browser import Opened
from tests.support.browser import Visit, serve_app
from tests.support.databases import emptied

DEMO = "pharmacology"
PAIR = "annotator-1", "annotator-2"
KEYS = "1234524123"
"""What is pressed on ten records, one after the other; where neither is right, the first has no entity."""
GIVEN = ("gold", "pred", "both", "neither", "unclear", "pred", "neither", "gold", "pred", "both")
NOTE = "1 or 2? guideline 3, u"


@pytest.fixture(params=["sqlite", "postgresql"])
def store(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ReviewStore]:
    """An empty store in each kind of database, which the app and the commands find."""
    if request.param == "sqlite":
        url = f"sqlite:///{tmp_path}/review.sqlite"
        found = ReviewStore(url)
    else:
        url = request.getfixturevalue("server").url
        found = emptied(ReviewStore(url))
    monkeypatch.setenv("NEREVAL_REVIEW_URL", url)
    yield found
    found.close()


def test_from_a_disagreement_to_the_report(browser: Any, store: ReviewStore, tmp_path: Path) -> None:
    view = View(corpus=load_demo(DEMO).corpus.digest, system="rules")
    with serve_app() as address:
        visit = Visit(browser, address, viewport={"width": 1440, "height": 1800})
        visit.open("Annotators", view)
        disagreements = open_cell(visit)
        decide(visit, disagreements)
        place = urlsplit(visit.page.url)
        visit.page.goto("about:blank")
    kept = [one.verdict.kind for one in store.reviewed().standing]
    assert kept == list(GIVEN)
    assert [one.verdict.note for one in store.reviewed().standing if one.verdict.note] == [NOTE]
    # Another server, another process: what was decided is there.
    with serve_app() as address:
        visit.address = address
        visit.go(f"{place.path}?{place.query}")
        visit.page.get_by_text(f"10 of {disagreements} reviewed").first.wait_for()
        promised = what_if(visit, tmp_path / "copy.jsonl")
        report(visit, tmp_path / "report.html")
        visit.close()
    assert scored(tmp_path) == promised
    shown(browser, tmp_path / "report.html")


def open_cell(visit: Visit) -> int:
    """Choose a cell of the matrix and open its records in Inspect; return how many there are."""
    visit.click_row(0, visit.table_with(PAIR[1]))
    heading = visit.page.locator("strong", has_text=re.compile(r"[\d,]+ records?$")).first
    heading.wait_for()
    number = int(re.findall(r"([\d,]+) records?$", heading.inner_text())[0])
    with visit.rerun():
        visit.page.get_by_role("link", name="Open in Inspect →", exact=True).click()
    visit.page.get_by_text(f"0 of {number} reviewed").first.wait_for()
    assert visit.page.get_by_label("Reference").input_value() == PAIR[0]
    return number


def decide(visit: Visit, number: int) -> None:
    """Give ten verdicts by key, one of which is taken back and given anew; say once who decides."""
    page = visit.page
    page.locator(".nw-verdict").first.wait_for()
    # In a field keys are letters.
    page.get_by_label("Note", exact=True).click()
    page.keyboard.type(NOTE)
    page.keyboard.press("Tab")
    for place, key in enumerate(KEYS):
        page.keyboard.press(key)
        if place == 0:
            page.get_by_label("Your name").wait_for()
            page.keyboard.type("Ann")
            page.keyboard.press("Enter")
        elif key == "4":
            say_right_span(page.get_by_test_id("stDialog"), none=place == 3)
            # Then the next record opens, and keys are for that one.
            page.locator(f".nw-entry[aria-current][data-at='{place + 1}']").wait_for()
        page.get_by_text(f"{place + 1} of {number} reviewed").first.wait_for()
        if place == 4:
            page.keyboard.press("u")
            page.get_by_text(f"{place} of {number} reviewed").first.wait_for()
            page.keyboard.press("5")
            page.get_by_text(f"{place + 1} of {number} reviewed").first.wait_for()


def say_right_span(dialog: Any, *, none: bool) -> None:
    """Say that there is no entity, or choose the first word of the text, and the first of the types."""
    if none:
        dialog.get_by_role("button", name="No entity").click()
    else:
        for label in ("From word", "Type"):
            box = dialog.get_by_label(label, exact=True).first
            box.click()
            box.press("ArrowDown")
            box.press("Enter")
        dialog.get_by_role("button", name="Keep this").click()
    dialog.wait_for(state="detached")


def what_if(visit: Visit, file: Path) -> str:
    """Return the F1 that Review promises, and save the copy of gold that is to have it."""
    with visit.rerun():
        visit.page.get_by_role("link", name="Review", exact=True).click()
    said = visit.page.get_by_test_id("stMetric").filter(has_text=f"F1 of {PAIR[1]} under strict").inner_text()
    before, after = re.findall(r"0\.\d{3}", said)[:2]
    assert before != after
    with visit.rerun():
        visit.page.get_by_text("Export and import", exact=True).click()
    visit.save(f"{PAIR[0]}-corrected.jsonl", file)
    return after


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
    files = [str(folder / "copy.jsonl"), str(DEMOS / DEMO / f"{PAIR[1]}.jsonl")]
    assert main(["score", *files, "-q", "--criteria", "strict", "--json", str(folder / "scores.json")]) == 0
    (system,) = json.loads((folder / "scores.json").read_text(encoding="utf-8"))["systems"]
    return f"{system['criteria']['strict']['f1']:.3f}"


def shown(browser: Any, file: Path) -> None:
    """Open the report from disk, without a network: each verdict stands with its record."""
    opened = Opened(browser, file)
    assert opened.page.title().endswith(f", {PAIR[0]} taken as gold")
    told = opened.page.locator("article .line").filter(has_text="by Ann").all_inner_texts()
    assert len(told) == len(GIVEN)
    assert opened.page.locator("article .line").filter(has_text=NOTE).count() == 1
    assert sorted(kind for kind in GIVEN) == sorted(
        next(kind for kind, words in KINDS.items() if words in line) for line in told
    )
    opened.close(file)
