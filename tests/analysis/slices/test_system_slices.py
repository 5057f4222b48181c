"""Systems by slice: F1 of each is that of the slice table, and pairs are tested within each slice."""

from __future__ import annotations

import pytest

import nereval_core as nereval
from nereval_core.analysis.bootstrap import PARTS
from nereval_core.analysis.resampling_units import ResamplingPlan, document_units
from nereval_core.analysis.slices import slicings
from nereval_core.analysis.slices.scores_by_slice import (
    BOOTSTRAP,
    FEW_UNITS_OF_SLICE,
    WILSON,
    slice_table,
    tally_slices,
)
from nereval_core.analysis.slices.span_values import SlicedScores
from nereval_core.analysis.slices.system_slices import compare_slices
from nereval_core.scoring import score_layers
from tests.support.pages import DEMO

SYSTEMS = ("perceptron", "rules")


@pytest.mark.parametrize("name", ["tokens", "frequency", "position"])
def test_each_system_has_the_f1_of_its_slices(name: str) -> None:
    tallies, tables = {}, {}
    for system in SYSTEMS:
        layers = (DEMO.corpus.gold, DEMO.corpus.system(system))
        sliced = SlicedScores(score_layers(*layers), "strict", layers)
        values = slicings.find_values(sliced, name)
        assert values is not None
        tallies[system] = tally_slices(sliced, values)
        tables[system] = slice_table(tallies[system]).set_index("slice")
    units = document_units(len(DEMO.corpus.documents))
    intervals, pairs = compare_slices(tallies, "strict", units, ResamplingPlan(resamples=200))
    for row in intervals.to_dict("records"):
        table = tables[row["system"]]
        if row["type"] in table.index:
            expected = table.loc[row["type"]]
            assert (row["POS"], row["ACT"], row["units"]) == tuple(expected[["POS", "ACT", "documents"]])
            assert row["f1"] == pytest.approx(expected["f1"], nan_ok=True)
            has_interval = expected["interval"] == BOOTSTRAP
            if expected["interval"] == WILSON:
                for end in ("precision_low", "precision_high", "recall_low", "recall_high"):
                    assert row[end] == pytest.approx(expected[end], nan_ok=True)
            assert (row["f1_low"] <= row["f1"] <= row["f1_high"]) == has_interval
            assert bool(row["why"]) != has_interval
    assert set(zip(pairs["system"], pairs["baseline"], strict=True)) == {("rules", "perceptron")}
    assert pairs["type"].tolist() == intervals["type"].drop_duplicates().tolist()
    gold_units = {
        names: int((tallies["rules"].by_document[place, PARTS.index("POS")] > 0).sum())
        for place, names in enumerate(tallies["rules"].names)
    }
    is_tested = (pairs["type"].map(gold_units) >= FEW_UNITS_OF_SLICE).tolist()
    assert pairs["p"].notna().tolist() == is_tested and pairs["tests"].tolist() == list(map(int, is_tested))
    assert pairs["why"].ne("").tolist() == [not tested for tested in is_tested]


def test_a_slice_in_few_documents_is_neither_resampled_nor_tested() -> None:
    """One system is right in the nine documents of a slice, the other wrong: no test says so of so few."""
    texts = ["one two three"] * 20
    gold = [[(0, 3, "A"), *([(4, 13, "A")] if number < 9 else [])] for number in range(20)]
    wrong = [[(0, 3, "A")]] * 20
    tallies = {}
    for name, spans in (("right", gold), ("wrong", wrong)):
        scored = nereval.score(gold, spans, texts=texts, criteria=["strict"])
        sliced = SlicedScores(scored, "strict", scored.layers("strict"))
        values = slicings.find_values(sliced, "tokens")
        assert values is not None
        tallies[name] = tally_slices(sliced, values)
    intervals, pairs = compare_slices(tallies, "strict", document_units(20), ResamplingPlan(resamples=200))
    long = intervals[intervals["units"].eq(9)]
    assert long["f1"].tolist() == [1, 0] and long["f1_low"].isna().all()
    assert set(long["why"]) == {
        "F1 has no interval and no test, P and R have Wilson's: the slice is in fewer than 10 documents"
    }
    assert pairs[pairs["type"].eq(long["type"].iat[0])]["p"].isna().all()


def test_a_slice_with_few_gold_spans_is_not_tested_however_many_predictions_it_has() -> None:
    """A bracket stood over few gold spans: one system had spurious spans of its length in ten documents."""
    texts = ["one two three"] * 20
    gold = [[(0, 3, "A"), *([(4, 13, "A")] if number < 3 else [])] for number in range(20)]
    spurious = [[(0, 3, "A"), (4, 13, "A")]] * 20
    tallies = {}
    for name, spans in (("right", gold), ("spurious", spurious)):
        scored = nereval.score(gold, spans, texts=texts, criteria=["strict"])
        sliced = SlicedScores(scored, "strict", scored.layers("strict"))
        values = slicings.find_values(sliced, "tokens")
        assert values is not None
        tallies[name] = tally_slices(sliced, values)
    _, pairs = compare_slices(tallies, "strict", document_units(20), ResamplingPlan(resamples=200))
    assert pairs["p"].notna().tolist() == [True, False]
    assert pairs["why"].iat[1] == "no test: gold spans of the slice are in fewer than 10 documents"
