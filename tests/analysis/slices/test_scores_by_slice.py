"""Intervals of slices and scores at thresholds: each against its definition."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from nereval_core.analysis.bootstrap import RATIOS, bootstrap_sums, document_counts, ratios
from nereval_core.analysis.comparison.measures import ComparisonGroup, SystemResamples, UnitCounts
from nereval_core.analysis.comparison.significance import interval_table
from nereval_core.analysis.intervals import bca_intervals, wilson_interval
from nereval_core.analysis.resampling_units import ResamplingPlan, document_units
from nereval_core.analysis.slices import scores_by_slice as analysis
from nereval_core.analysis.slices.scores_by_slice import (
    BOOTSTRAP,
    slice_bootstrap,
    slice_table,
    tally_slices,
)
from nereval_core.analysis.slices.slicings import find_values
from nereval_core.analysis.slices.span_values import SlicedScores, SpanValues
from nereval_core.analysis.slices.thresholds import (
    DECIDED,
    DROPPED,
    ThresholdDecisions,
    span_scores,
    sweep_thresholds,
    threshold_decisions,
)
from nereval_core.analysis.span_relations import overlap_counts
from nereval_core.corpus import Layer
from nereval_core.records.tables import DECISIONS
from nereval_core.scoring import Counting, score_layers
from pages.shared.data.loading import load_demo
from tests.analysis.slices.test_slicings import GOLD, PRED, drawn, layer_of, together
from tests.support.draws import draws
from tests.support.spans import CRITERIA_TESTED, Settings, documents, make, random_spans, settings


@pytest.mark.parametrize(("credit", "whole"), [(0, 5), (5, 5), (3, 10), (97, 230), (0, 1)])
def test_wilson_is_that_of_scipy(credit: int, whole: int) -> None:
    low, high = wilson_interval(np.array([credit]), np.array([whole]), 0.95)
    expected = binomtest(credit, whole).proportion_ci(0.95, "wilson")
    assert (low[0], high[0]) == pytest.approx((expected.low, expected.high), abs=1e-12)


def test_wilson_of_nothing_is_undefined() -> None:
    assert np.isnan(wilson_interval(np.array([0]), np.array([0]), 0.95)).all()


def everything(name: str, criterion: str = "strict") -> tuple[SlicedScores, SpanValues]:
    """Return a demo in a single slice."""
    corpus = load_demo(name).corpus
    system = corpus.system("perceptron")
    found = SlicedScores(score_layers(corpus.gold, system, settings(criterion)), criterion, (corpus.gold, system))
    zeros = (np.zeros(len(layer), np.int8) for layer in found.layers)
    return found, SpanValues(("all",), *zeros)


@pytest.mark.parametrize(("demo", "criterion"), [("biology", "strict"), ("newspapers", "partial")])
def test_the_interval_of_one_slice_of_all_is_that_of_the_comparison(demo: str, criterion: str) -> None:
    sliced, values = everything(demo, criterion)
    plan = ResamplingPlan(resamples=500, seed=3)
    (row,) = slice_table(tally_slices(sliced, values), plan).to_dict("records")
    counts = document_counts(sliced.scores, criterion)[None, None]
    (expected,) = interval_table(
        SystemResamples(
            UnitCounts((ComparisonGroup(criterion),), ("s",), counts, document_units(counts.shape[-1])), plan
        )
    ).to_dict("records")
    assert row["interval"] == BOOTSTRAP
    for ratio in RATIOS:
        for key in (ratio, f"{ratio}_low", f"{ratio}_high"):
            assert row[key] == pytest.approx(expected[key], abs=1e-12)


def test_where_all_spans_are_right_the_interval_is_no_point() -> None:
    corpus = load_demo("biology").corpus
    scores = score_layers(corpus.gold, corpus.gold, settings("strict"))
    sliced = SlicedScores(scores, "strict", (corpus.gold, corpus.gold))
    values = find_values(sliced, "shape")
    assert values is not None
    table = slice_table(tally_slices(sliced, values))
    assert (table["f1"] == 1).all() and set(table["interval"]) == {"Wilson"}
    assert (table["precision_low"] < 1).all() and (table["recall_high"] > 0.999999).all()


def test_many_documents_are_resampled_in_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    sliced, values = everything("pharmacology")
    cells = tally_slices(sliced, values).by_document
    monkeypatch.setattr(analysis, "MOST_RESAMPLED_UNITS", 7)
    grouped = slice_bootstrap(ResamplingPlan(), document_units(cells.shape[-1])).group_units(cells)
    assert grouped.shape[-1] == 7 and (grouped.sum(axis=-1) == cells.sum(axis=-1)).all()


def test_groups_tell_as_much_as_documents() -> None:
    rng = np.random.default_rng(5)
    cells = np.zeros((1, 4, 10_000), np.int32)
    cells[0, 2:] = rng.integers(1, 6, 10_000)
    cells[0, :2] = 2 * rng.binomial(cells[0, 2], rng.beta(2, 1, 10_000))
    plan = ResamplingPlan(resamples=600)
    bootstrap = slice_bootstrap(plan, document_units(10_000))
    (sums,) = bootstrap.resample_units(cells)
    grouped = bootstrap.estimate(sums.map(ratios))
    observed = ratios(cells.sum(axis=-1, dtype=np.int64)[..., None]).reshape(-1)
    single = bca_intervals(observed, ratios(bootstrap_sums(cells, plan)).reshape(3, -1), np.zeros(3), np.full(3, 1.96))
    assert sums.left_out.shape == (4, analysis.MOST_RESAMPLED_UNITS)
    assert grouped.high - grouped.low == pytest.approx(single.high - single.low, rel=0.1)
    assert ((grouped.low < observed) & (observed < grouped.high)).all()


@pytest.mark.parametrize("counting", ["one-to-one", "each-side"])
@draws(8)
@given(st.integers(0, 10_000))
def test_decisions_at_a_threshold_are_those_of_scoring_what_stays(counting: Counting, seed: int) -> None:
    gold, pred = drawn(seed)
    rule = CRITERIA_TESTED[seed % 13]
    found = threshold_decisions(score_layers(gold, pred, Settings((rule,), counting=counting)), rule.name)
    assert (found is None) == (not pred.scores)
    for threshold in () if found is None else (-1.0, 0.25, 0.6, 2.0):
        check_threshold(span_scores(pred), found, gold, pred, threshold, counting)


def check_threshold(
    confidence: np.ndarray, found: ThresholdDecisions, gold: Layer, pred: Layer, threshold: float, counting: Counting
) -> None:
    stays = [span for span in range(len(pred)) if not confidence[span] < threshold]
    rule = found.scores.criterion(found.criterion)
    some = pred.take(np.array(stays, np.int64))
    again = score_layers(gold, some, Settings((rule,), counting=counting))
    ours, theirs = again.decisions(rule.name)
    expected = np.full(len(pred), DECIDED.index(DROPPED), np.uint8)
    expected[stays] = theirs
    one, two = found.at(threshold)
    assert one.tolist() == ours.tolist() and two.tolist() == expected.tolist()
    parts = np.arange(len(gold.documents)) % 2
    counts = found.counts(threshold, parts)
    whole = again.counts(rule.name)
    assert counts.sum(axis=0).tolist() == [list(whole.gold), list(whole.pred)]
    for part in range(2):
        kept = np.bincount(ours[parts[gold.doc] == part], minlength=5).tolist()
        assert counts[part, 0].tolist() == kept


def test_only_tangled_documents_are_scored_again() -> None:
    gold, pred = layer_of(GOLD), layer_of(PRED)
    sliced = together(gold, pred)
    found = threshold_decisions(sliced.scores, "strict")
    assert found is not None and [len(side) for side in found._again] == [0, 0]
    assert found.steps().tolist() == [0.3, 0.95, 1.0] and found.steps(2).tolist() == [0.3, 1.0]


@given(st.integers(0, 10_000))
def test_overlapped_counts_hulls(seed: int) -> None:
    rng = random.Random(seed)
    over = documents(3)
    one, two = (make(name, over, [(d, s) for d in range(3) for s in random_spans(rng, 5)]) for name in "ab")
    expected = [
        sum(
            two.doc[b] == one.doc[a] and two.start[b] < one.end[a] and one.start[a] < two.end[b]
            for b in range(len(two))
        )
        for a in range(len(one))
    ]
    assert overlap_counts(one, two).tolist() == expected


def test_the_curve_is_what_scoring_counts() -> None:
    gold, pred = drawn(7)
    sliced = together(gold, pred, "partial")
    sweep = sweep_thresholds(sliced.scores, "partial")
    assert sweep is not None
    table = sweep.curve()
    assert table["threshold"].tolist() == [0, 0.25, 0.5, 0.75, 1]
    confidence = span_scores(pred)
    for row in table.to_dict("records"):
        some = pred.take(np.flatnonzero(~(confidence < row["threshold"])))
        counts = score_layers(gold, some, settings("partial")).counts("partial")
        assert [row[name] for name in (*DECISIONS, "POS", "ACT")] == [
            counts.cor, counts.inc, counts.par, counts.mis, counts.spu, counts.pos, counts.act
        ]  # fmt: skip
        assert [row[name] for name in RATIOS] == [counts.precision, counts.recall, counts.f1]


def test_no_curve_without_scores_or_by_token() -> None:
    gold, pred = drawn(7)
    assert sweep_thresholds(together(gold, replace(pred, scores={})).scores, "strict") is None
    assert sweep_thresholds(together(gold, pred, "fragment").scores, "fragment") is None
