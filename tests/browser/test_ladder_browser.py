"""The ladder of Criteria in a browser: keys go down it, and steps, pieces and examples lead to their records."""

from __future__ import annotations

from nereval_core.analysis.criteria.steps import ladder_steps
from nereval_core.scoring import score_layers
from nereval_core.scoring.criteria import APPLICABLE
from pages.shared.data.loading import load_demo
from pages.shared.view import View
from tests.support.browser import Visit
from tests.support.spans import settings

CORPUS = load_demo("biology").corpus
STEPS = {
    step.criterion: step
    for step in ladder_steps(score_layers(CORPUS.gold, CORPUS.system("rules"), settings(*APPLICABLE)))
}
SHOWN = View(corpus=CORPUS.digest, system="rules", step="left")
WIDTHS = """pieces => pieces.map((piece) => [piece.className, piece.getBoundingClientRect().width])"""


def test_keys_and_clicks_lead_from_the_ladder_to_records(visit: Visit) -> None:
    visit.open("Criteria", SHOWN)
    page = visit.page
    current = page.locator(".ncl-entry[aria-current]")
    current.wait_for()
    assert "left" in current.inner_text() and page.locator(".ncl-entry").count() == len(STEPS)
    with visit.rerun():
        page.keyboard.press("j")
    assert "muc" in current.inner_text()
    assert visit.eventually(lambda: "step=muc" in page.url)
    pane = page.get_by_role("region", name="The open step")
    assert "Against strict: +0.087" in pane.inner_text()
    # Pieces are as long as their part of F1: those that are lost stand behind those that are kept and gained.
    row = page.locator(".ncl-row", has=current)
    widths = row.locator(".ncl-piece").evaluate_all(WIDTHS)
    of_part = {(part.kind, part.gains): abs(float(part.f1)) for part in STEPS["muc"].parts}
    assert len(widths) == 1 + len(of_part)
    pixels = [width for name, width in widths if "ncl-kept" not in name]
    scale = pixels[0] / next(iter(of_part.values()))
    assert all(abs(width - scale * f1) < 2 for width, f1 in zip(pixels, of_part.values(), strict=True))
    (lost,) = (part for part in STEPS["muc"].parts if not part.gains and part.kind == "boundaries")
    row.locator(".ncl-piece.ncl-lost").first.click()
    page.locator(".nw-count", has_text=f"{lost.spans} records").wait_for()
    page.go_back()
    current.wait_for()
    # What the list is narrowed down to is no part of the address here: it would go along in a link.
    assert "step=muc" in page.url and "decision=" not in page.url and "q=" not in page.url
    page.keyboard.press("Enter")
    page.locator(".nw-count", has_text=f"{STEPS['muc'].changed} records").wait_for()


def test_in_a_narrow_window_the_open_step_unfolds_in_its_place(visit: Visit) -> None:
    page = visit.page
    page.set_viewport_size({"width": 390, "height": 844})
    visit.open("Criteria", SHOWN)
    row = page.locator(".ncl-row", has=page.locator(".ncl-entry[aria-current]"))
    row.locator(".ncl-pane .ncl-example").first.wait_for()
    assert page.locator(".ncl").evaluate("ladder => ladder.scrollWidth <= ladder.clientWidth")
    # Its examples are read without going past the steps below.
    assert row.locator(".ncl-pane").bounding_box()["y"] < page.locator(".ncl-row").last.bounding_box()["y"]
