"""Results as notebooks and terminals show them."""

from __future__ import annotations

import pandas as pd

import nereval_core as nereval
from nereval_core.report.displayed import NOTEBOOK_ROWS
from nereval_core.report.scored_system import AVERAGES
from tests.support import ROOT

DEMO = ROOT / "demo_data" / "biology"
GOLD, RULES, PERCEPTRON = (str(DEMO / f"{name}.jsonl") for name in ("gold", "rules", "perceptron"))


def test_scores() -> None:
    scores = nereval.score(GOLD, RULES, criteria=("partial", "strict"))
    assert scores.f1 == scores.counts("partial").f1
    assert scores.to_frame()["criterion"].tolist() == ["partial", "strict"]
    lines = repr(scores).splitlines()
    assert len(lines) == 3 and lines[1].split()[:5] == [
        *("partial", "0.8333", "0.7745", f"{scores.f1:.4f}", str(scores.counts("partial").cor))
    ]
    assert f"<td>{scores.f1:.4f}</td>" in scores._repr_html_()


def test_a_comparison_of_many_is_ten_lines() -> None:
    systems = {f"s{number}": RULES if number % 2 else PERCEPTRON for number in range(14)}
    found = nereval.compare(GOLD, systems, resamples=100, criteria=("strict", "exact", "partial", "type"), by_type=True)
    lines = repr(found).splitlines()
    assert len(lines) == 10 and max(map(len, lines)) <= 120
    assert lines[-1] == f"… {len(found.to_frame()) - 8:,} more rows: to_frame() has them"
    assert pd.DataFrame(found.to_frame()).equals(found.intervals)


def test_agreement() -> None:
    found = nereval.agreement({"a": RULES, "b": PERCEPTRON}, resamples=100)
    assert len(repr(found).splitlines()) <= 10 and "kappa" in repr(found)
    assert found.to_frame() is found.table


def test_a_report_of_many_types_keeps_its_averages_in_a_notebook() -> None:
    documents = [[(at, at + 1, f"type {at}") for at in range(NOTEBOOK_ROWS)]]
    drawn = nereval.score(documents, documents).report()._repr_html_()
    assert all(name in drawn for name in AVERAGES)
    assert drawn.count("<tr") == 1 + NOTEBOOK_ROWS and "… 3 more rows: to_frame() has them" in drawn
