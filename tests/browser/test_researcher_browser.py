"""The researcher's journey: files of a shared task, official scores, why criteria differ, which system is better."""

from __future__ import annotations

import json
from pathlib import Path

from tests.support.browser import Hand, Visit
from tests.support.shared_corpora import SHARED, needs

TASK = SHARED / "hipe2020"
RUNS = ("team10_bundle1_en_1", "team31_bundle2_en_1", "team1_bundle3_en_1")
MOST_CLICKS = 12


@needs("hipe2020")
def test_from_a_shared_task_to_a_table_and_a_figure(visit: Visit, tmp_path: Path) -> None:
    hand, page = Hand(), visit.page
    sidebar = page.get_by_test_id("stSidebar")
    visit.go("/")
    with visit.rerun():
        runs = [TASK / f"submissions/{name}.tsv" for name in RUNS]
        page.locator("input[type=file]").set_input_files([TASK / "gold/HIPE-data-v1.3-test-en.tsv", *runs])
    page.get_by_text("team1_bundle3_en_1.tsv · ✓ hipe").wait_for()
    hand.click(page.get_by_role("button", name="Read and score"))
    # Files as submitted spell tokens otherwise and begin entities with I: the refusal offers the way on.
    hand.click(page.get_by_role("button", name="Fix all and continue"))
    page.get_by_role("heading", name="Overview", exact=True).wait_for()

    hand.click(page.locator(".st-key-context_bar").get_by_role("button", name="more"))
    hand.click(page.get_by_role("combobox", name="Matching criterion or published scorer"))
    # The list draws only the options in view: typing brings those of one name.
    page.keyboard.type("hipe-2020")
    hand.click(page.get_by_role("option", name="hipe-2020 ·").first)
    page.get_by_role("heading", name="As published: hipe-2020").wait_for()
    page.locator("canvas td", has_text=official(RUNS[0])).first.wait_for(state="attached")

    hand.click(sidebar.get_by_role("link", name="Criteria", exact=True))
    hand.click(page.get_by_role("radio", name="Two criteria"))
    page.get_by_text(f"F1 is {official(RUNS[0])}").wait_for()

    hand.click(sidebar.get_by_role("link", name="Systems", exact=True))
    page.get_by_text("team10_bundle1_en_1 is significantly better.").wait_for()
    hand.click(page.get_by_role("button", name="Export"))
    with page.expect_download() as table:
        hand.click(page.get_by_role("button", name="LaTeX").first)
    table.value.save_as(tmp_path / "table.tex")
    with page.expect_download() as figure:
        hand.click(page.get_by_role("button", name="SVG").first)
    figure.value.save_as(tmp_path / "figure.svg")
    assert "team10" in (tmp_path / "table.tex").read_text() and "<svg" in (tmp_path / "figure.svg").read_text()
    assert hand.clicks <= MOST_CLICKS, hand.clicks


def official(run: str) -> str:
    """Return the F1 of a run in the official ranking, strict and micro averaged, as it is printed there."""
    rows = json.loads((SHARED / f"expected/hipe2020/{run}.json").read_text())["official_rows"]
    (found,) = (
        row["F1"] for row in rows if row["Evaluation"] == "NE-COARSE-LIT-micro-strict" and row["Label"] == "ALL"
    )
    return str(found)
