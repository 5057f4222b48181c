"""The researcher's journey: files of a shared task, official scores, why criteria differ, which system is better."""

from __future__ import annotations

import csv
import re
from pathlib import Path

from tests.support.browser import Hand, Visit
from tests.support.shared_corpora import SHARED, needs

TASK = SHARED / "hipe2020"
RUNS = ("team10_bundle1_en_1", "team37_bundle4_en_1", "team31_bundle2_en_1", "team1_bundle3_en_1")
"""Runs of four teams, the best first in the official ranking."""
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

    # The official scores, and which system is better with its p.
    hand.click(sidebar.get_by_role("link", name="Systems", exact=True))
    page.get_by_text("team10_bundle1_en_1 is significantly better.").wait_for()
    page.get_by_text("(p ≤ .0006)").first.wait_for()
    hand.click(page.get_by_role("radio", name="Published scorers"))
    hand.click(page.get_by_text("All numbers as tables"))
    numbers = visit.table(visit.table_with("published scorer"))
    numbers.locator("canvas td", has_text=f"{official(RUNS[0]):.3f}").first.wait_for(state="attached")
    cells = numbers.locator("canvas td").all_text_contents()
    assert {f"{official(run):.3f}" for run in RUNS} <= {cell.partition(" ")[0] for cell in cells}, cells

    # Why strict and type differ.
    hand.click(sidebar.get_by_role("link", name="Criteria", exact=True))
    hand.click(page.get_by_role("radio", name="Two criteria"))
    page.get_by_text(re.compile(rf"F1 is {official(RUNS[0]):.3f}\d under strict")).wait_for()

    # Slices with intervals, the table and the figure.
    hand.click(sidebar.get_by_role("link", name="Systems", exact=True))
    hand.click(page.get_by_role("radio", name="By slice"))
    page.get_by_text("F1 of 4 systems by").wait_for()
    page.get_by_text("95% intervals, 2,000 resamples").wait_for()
    hand.click(page.get_by_role("button", name="Export"))
    with page.expect_download() as table:
        hand.click(page.get_by_role("button", name="LaTeX").first)
    table.value.save_as(tmp_path / "table.tex")
    with page.expect_download() as figure:
        hand.click(page.get_by_role("button", name="SVG").first)
    figure.value.save_as(tmp_path / "figure.svg")
    assert "team10" in (tmp_path / "table.tex").read_text() and "<svg" in (tmp_path / "figure.svg").read_text()
    assert hand.clicks <= MOST_CLICKS, hand.clicks


def official(run: str) -> float:
    """Return the F1 of a run in the official ranking, strict and micro averaged, to three places."""
    with (SHARED / "expected/hipe2020/official_ranking_en_coarse_strict.tsv").open(encoding="utf-8") as file:
        rows = csv.DictReader(file, delimiter="\t")
        (f1,) = (
            row["F1"]
            for row in rows
            if (row["System"], row["Evaluation"], row["Label"]) == (run, "NE-COARSE-LIT-micro-strict", "ALL")
        )
    return float(f1)
