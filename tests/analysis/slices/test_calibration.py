"""Calibration of scores: errors as other programs compute them, intervals, risk by coverage, thresholds held out."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from itertools import permutations
from statistics import fmean

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nereval_core.analysis.resampling_units import ResamplingPlan, ResamplingUnits, document_units
from nereval_core.analysis.slices.calibration import (
    BIN_COLUMNS,
    EQUAL_MASS,
    EQUAL_WIDTH,
    RISK_COLUMNS,
    Calibration,
    calibration,
    risk_coverage,
)
from nereval_core.analysis.slices.slicings import find_values
from nereval_core.analysis.slices.span_values import SlicedScores
from nereval_core.analysis.slices.thresholds import MOST_THRESHOLDS, sweep_thresholds
from nereval_core.report.references import BRIER, ECE, MCE
from nereval_core.scoring import score_layers
from tests.analysis.slices.test_slicings import GOLD, PRED, drawn, layer_of, line, together
from tests.support import ROOT
from tests.support.draws import draws
from tests.support.spans import settings

KNOWN = json.loads((ROOT / "tests" / "fixtures" / "calibration.json").read_text())
PLAN = ResamplingPlan(resamples=300)


def scored(scores: Sequence[float], correct: Sequence[int], documents: int = 20) -> SlicedScores:
    """Return predictions with scores, side by side in some documents, of which those that are correct are in gold."""
    gold, pred = [], []
    for number in range(documents):
        own = list(zip(scores[number::documents], correct[number::documents], strict=True))
        spans = [{"start": 2 * k, "end": 2 * k + 1, "label": "x"} for k in range(len(own))]
        text = "a " * len(own) + "."
        gold.append(line(f"d{number}", text, [span for span, (_, right) in zip(spans, own, strict=True) if right]))
        pred.append(line(f"d{number}", text, [span | {"score": s} for span, (s, _) in zip(spans, own, strict=True)]))
    return together(layer_of(gold), layer_of(pred))


def trust(given: SlicedScores, plan: ResamplingPlan = PLAN, units: ResamplingUnits | None = None) -> Calibration:
    sweep = sweep_thresholds(given.scores, given.criterion, units=units)
    assert sweep is not None
    return calibration(given, sweep, plan, units)


def errors_of(found: Calibration) -> dict[tuple[str, str], float]:
    return {(row["bins"], row["measure"]): row["value"] for row in found.errors.to_dict("records")}


@pytest.mark.parametrize(
    ("program", "bins"),
    [
        ("torchmetrics", EQUAL_WIDTH),
        ("netcal", EQUAL_WIDTH),
        ("netcal", EQUAL_MASS),
        ("scikit-learn", ""),
    ],
)
def test_errors_are_those_of_other_programs(program: str, bins: str) -> None:
    found = errors_of(trust(scored(KNOWN["scores"], KNOWN["correct"])))
    for measure, value in KNOWN[program][bins].items():
        assert found[bins, measure] == pytest.approx(value, abs=2e-9), measure


def test_bins_and_errors_by_hand() -> None:
    """Under type 0.3 is correct, 0.95 and 1.0 are incorrect; one prediction has no score."""
    found = trust(together(layer_of(GOLD), layer_of(PRED), "type"))
    assert (found.predictions, found.unscored, found.refusal) == (3, 1, "")
    assert found.note() == "3 predictions with a score; 1 without one are left out"
    table = found.bins[EQUAL_WIDTH]
    assert list(table) == list(BIN_COLUMNS) and table["small"].all()
    assert table["slice"].tolist() == ["0.3-0.4", "0.9-1.0"] and table["ACT"].tolist() == [1, 2]
    assert table["confidence"].tolist() == pytest.approx([0.3, 0.975]) and table["precision"].tolist() == [1, 0]
    assert found.bins[EQUAL_MASS]["slice"].tolist() == ["0.3", "0.95", "1"]
    assert errors_of(found) == pytest.approx(
        {
            (EQUAL_WIDTH, ECE): (0.7 + 2 * 0.975) / 3,
            (EQUAL_WIDTH, MCE): 0.975,
            (EQUAL_MASS, ECE): (0.7 + 0.95 + 1) / 3,
            (EQUAL_MASS, MCE): 1,
            ("", BRIER): (0.49 + 0.95**2 + 1) / 3,
        }
    )
    assert found.errors["low"].isna().all()
    assert found.error_sentences(EQUAL_MASS) == (
        "expected calibration error in bins of equal mass 0.883",
        "maximum calibration error in bins of equal mass 1.000, of 1 prediction scored 1",
        "Brier score 0.797",
        "no intervals of errors, as predictions with scores are in fewer than 10 documents",
    )


def test_a_partial_prediction_is_half_correct() -> None:
    gold, pred = (
        layer_of([line("d", "aa bb", [{"start": 0, "end": end, "label": "x", **more}])])
        for end, more in ((5, {}), (2, {"score": 0.9}))
    )
    found = trust(together(gold, pred, "partial"))
    assert errors_of(found)[EQUAL_WIDTH, ECE] == pytest.approx(0.4)
    assert errors_of(found)["", BRIER] == pytest.approx(0.16) and found.risk.risk == 0.5


@draws(8)
@given(st.integers(0, 10_000))
def test_bins_hold_their_predictions(seed: int) -> None:
    gold, pred = drawn(seed)
    if not pred.scores:
        return
    found = trust(together(gold, pred, "partial"))
    assert sum(found.bins[EQUAL_WIDTH]["ACT"]) == sum(found.bins[EQUAL_MASS]["ACT"]) == found.predictions
    masses = find_values(together(gold, pred, "partial"), "score-mass")
    assert masses is not None and (masses.pred >= 0).sum() == len(pred.scores) and (masses.gold == -1).all()
    # A bin is that of the share of predictions with a lower score.
    below = {
        score: sum(other < score for other in pred.scores.values()) * 10 // len(pred.scores)
        for score in set(pred.scores.values())
    }
    place = {tenth: number for number, tenth in enumerate(sorted(set(below.values())))}
    assert all(masses.pred[span] == place[below[score]] for span, score in pred.scores.items())


def test_names_of_bins_have_digits_enough() -> None:
    scores = [0.99990 + number / 1e7 for number in range(20)]
    values = find_values(scored(scores, [1] * 20), "score-mass")
    assert values is not None and len(set(values.names)) == 10
    assert values.names[0] == "0.9999 to 0.9999001"


def test_intervals_are_over_the_units() -> None:
    sliced = scored(KNOWN["scores"], KNOWN["correct"], 40)
    found = trust(sliced).errors
    assert found["low"].isna().tolist() == [False] * 5
    for row in found.to_dict("records"):
        assert 0 <= row["low"] < row["high"] <= 1 and row["low"] <= row["value"] <= row["high"]
    # Sums are of whole numbers: the order of documents does not matter to them.
    units = replace(document_units(40), by="a", count=20, numbers=np.arange(40) // 2)
    paired = trust(sliced, units=units).errors
    assert paired["value"].tolist() == found["value"].tolist() and (paired["high"] != found["high"]).any()
    # Drawn within strata of one document each, nothing varies.
    alone = replace(document_units(40), by="document within id", strata=np.arange(40))
    fixed = trust(sliced, units=alone).errors
    assert (fixed["high"].fillna(fixed["value"]) - fixed["low"].fillna(fixed["value"])).abs().max() < 1e-12
    few = replace(units, count=4, numbers=np.arange(40) // 10)
    assert trust(sliced, units=few).errors["low"].isna().all()


def test_the_interval_of_a_calibrated_system_reaches_down_to_zero() -> None:
    """Resampling raises the error of calibrated scores, so that bias-corrected quantiles leave the value out."""
    rng = np.random.default_rng(0)
    holding, reaching = 0, 0
    for _ in range(20):
        scores = rng.beta(3, 1.5, 300)
        found = trust(scored(scores.tolist(), (rng.random(300) < scores).astype(int).tolist(), 30))
        row = found.errors.iloc[0]
        holding += row["low"] <= row["value"] <= row["high"] and row["high"] - row["low"] > 0.005
        reaching += row["low"] < 0.01
    assert holding == 20 and reaching >= 12


def test_a_maximum_of_few_units_has_no_interval() -> None:
    rng = np.random.default_rng(2)
    scores = rng.uniform(0.5, 0.99, 399)
    correct = (rng.random(399) < scores).astype(int)
    found = trust(scored([0.05, *scores.tolist()], [1, *correct.tolist()]))
    low = {(row["bins"], row["measure"]): row["low"] for row in found.errors.to_dict("records")}
    assert np.isnan(low.pop((EQUAL_WIDTH, MCE))) and not np.isnan(list(low.values())).any()
    assert found.error_sentences()[1] == (
        "maximum calibration error in bins of equal width 0.950, of 1 prediction scored 0.0-0.1"
    )


def test_log_probabilities_are_no_probabilities() -> None:
    sliced = scored(np.log(KNOWN["scores"]).tolist(), KNOWN["correct"])
    found = trust(sliced)
    assert list(found.bins) == [EQUAL_MASS] and not len(found.errors)
    (sentence,) = found.error_sentences(EQUAL_MASS)
    assert sentence.startswith("400 of 400 scores lie outside 0 to 1 (they range from -1.74413 to -0.00239687), so")
    # The order of predictions is that of the probabilities.
    as_probabilities = trust(scored(KNOWN["scores"], KNOWN["correct"]))
    assert found.risk.area == as_probabilities.risk.area
    assert found.held_out["f1_tested"].tolist() == as_probabilities.held_out["f1_tested"].tolist()


def test_a_probability_may_be_off_by_rounding() -> None:
    found = trust(scored([1.0000001, 0.5], [1, 0]))
    assert not found.refusal and found.bins[EQUAL_WIDTH]["confidence"].tolist() == [0.5, 1]


def direct_area(scores: Sequence[float], credit: Sequence[float]) -> float:
    """Return the mean risk over all coverages; of equal scores each stands for their mean."""
    risks = []
    for kept in range(1, len(scores) + 1):
        least = sorted(scores, reverse=True)[kept - 1]
        above = [1 - c for s, c in zip(scores, credit, strict=True) if s > least]
        equal = [1 - c for s, c in zip(scores, credit, strict=True) if s == least]
        risks.append((sum(above) + (kept - len(above)) * fmean(equal)) / kept)
    return fmean(risks)


PAIRS = st.lists(st.tuples(st.sampled_from((-2.0, 0.1, 0.5, 0.9)), st.sampled_from((0.0, 0.5, 1.0))), min_size=1)


@given(PAIRS)
def test_the_area_is_that_of_its_definition(pairs: list[tuple[float, float]]) -> None:
    scores, credit = zip(*pairs, strict=True)
    found = risk_coverage(np.array(scores), np.array(credit))
    assert found.area == pytest.approx(direct_area(scores, credit), abs=1e-12)
    assert found.best == pytest.approx(direct_area(credit, credit), abs=1e-12) and found.best <= found.area + 1e-12
    assert found.risk == pytest.approx(1 - fmean(credit)) == found.points["risk"].iat[-1]
    for row in found.points.to_dict("records"):
        kept = [c for s, c in pairs if s >= row["threshold"]]
        assert row["ACT"] == len(kept) and row["coverage"] == len(kept) / len(pairs)
        assert row["risk"] == pytest.approx(1 - fmean(kept))


def test_equal_scores_stand_in_all_orders() -> None:
    credit = [1.0, 0.0, 0.5, 1.0]
    each = [direct_area([4, 3, 2, 1], order) for order in permutations(credit)]
    found = risk_coverage(np.zeros(4), np.array(credit))
    assert found.area == pytest.approx(fmean(each)) and found.area == pytest.approx(found.risk)


def test_long_curves_are_thinned() -> None:
    rng = np.random.default_rng(1)
    found = risk_coverage(rng.random(1_000), rng.integers(0, 2, 1_000).astype(float))
    assert len(found.points) == MOST_THRESHOLDS and list(found.points) == list(RISK_COLUMNS)
    assert found.points["ACT"].iat[0] == 1 and found.points["coverage"].iat[-1] == 1
    assert found.sentence().startswith(f"area under the risk-coverage curve {found.area:.3f}; ")


def test_a_threshold_is_tried_on_the_other_half() -> None:
    sliced = scored(KNOWN["scores"], KNOWN["correct"])
    units = document_units(20)
    sweep = sweep_thresholds(sliced.scores, "strict", units=units, seed=5)
    assert sweep is not None and sweep.units == (10, 10)
    order = np.random.default_rng((5, 3)).permutation(20)
    halves = [set(order[:10].tolist()), set(order[10:].tolist())]
    gold, pred = sliced.layers

    def f1(half: set[int], threshold: float) -> float:
        stays = [span for span in range(len(pred)) if pred.doc[span] in half and pred.scores[span] >= threshold]
        own = [span for span in range(len(gold)) if gold.doc[span] in half]
        counts = score_layers(gold.take(np.array(own)), pred.take(np.array(stays, np.int64)), settings("strict"))
        return counts.counts("strict").f1 or 0.0

    for row, (chosen, tested) in zip(sweep.held_out().to_dict("records"), (halves, halves[::-1]), strict=True):
        every = [f1(chosen, threshold) for threshold in sweep.thresholds.tolist()]
        assert row["threshold"] == sweep.thresholds[int(np.argmax(every))] and row["f1_chosen"] == max(every)
        assert row["f1_tested"] == f1(tested, row["threshold"]) and row["f1_without"] == f1(tested, -1)
    found = calibration(sliced, sweep, PLAN)
    best = found.held_out["threshold"].iat[0]
    assert found.threshold_sentences()[0].startswith(
        f"the threshold {best:.6g}, best on 10 documents drawn at random ("
    )


def test_one_unit_has_no_halves() -> None:
    found = trust(scored([0.2, 0.8], [0, 1], 1))
    assert not len(found.held_out) and found.threshold_sentences() == ()


def test_many_units_are_resampled_in_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    sliced = scored(KNOWN["scores"], KNOWN["correct"], 40)
    whole = trust(sliced).errors
    monkeypatch.setattr("nereval_core.analysis.slices.scores_by_slice.MOST_RESAMPLED_UNITS", 13)
    grouped = trust(sliced).errors
    assert grouped["value"].tolist() == whole["value"].tolist()
    assert (grouped["high"] > grouped["value"]).all()
