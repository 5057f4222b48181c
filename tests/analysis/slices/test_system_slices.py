"""Systems by slice: F1 of each is that of the slice table, and pairs are tested within each slice."""

from __future__ import annotations

import pytest

from nereval_core.analysis.resampling_units import ResamplingPlan, document_units
from nereval_core.analysis.slices import slicings
from nereval_core.analysis.slices.scores_by_slice import slice_table, tally_slices
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
            assert row["f1_low"] <= row["f1"] <= row["f1_high"] or row["units"] < 2
    assert set(zip(pairs["system"], pairs["baseline"], strict=True)) == {("rules", "perceptron")}
    assert pairs["type"].tolist() == intervals["type"].drop_duplicates().tolist()
    assert (pairs["tests"] <= 1).all()
