"""Scores of predictions: decisions at confidence thresholds, a threshold tried out, and slicings by score.

Predictions below a threshold are left out. Each threshold is scored anew, so its counts are exact. Only documents in
which a span overlaps several of the other side are aligned again; in all others, leaving out a prediction only changes
the decision on its gold span.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from nereval_core.alignment.codes import Decision
from nereval_core.analysis.resampling_units import ResamplingUnits, resampling_units
from nereval_core.analysis.slices.span_values import SlicedScores, SpanValues
from nereval_core.analysis.span_relations import overlap_counts
from nereval_core.corpus import Layer
from nereval_core.corpus.arrays import Int64, UInt8
from nereval_core.records.tables import DECISIONS
from nereval_core.scoring import Counts, Scores, Settings, score_layers
from nereval_core.scoring.count_tables import Columns, typed_table
from nereval_core.scoring.counts import RATIOS, ratio_columns

DROPPED = "left out"
DECIDED = (*DECISIONS, DROPPED)
"""The decisions on a span at a threshold."""
KEPT_OR_DROPPED = ("kept", DROPPED)
_OUT = len(DECISIONS)
MOST_THRESHOLDS = 100
"""Of more distinct scores, so many are chosen with about equally many predictions between them."""
CURVE_COLUMNS: Columns = {
    "threshold": "float64",
    **dict.fromkeys(("COR", "INC", "PAR", "MIS", "SPU", "POS", "ACT"), "Int64"),
    **dict.fromkeys(RATIOS, "float64"),
}
"""Columns of `ThresholdSweep.curve`: counts of the predictions with at least so high a score; COR, INC, PAR are NA
where the two sides differ."""
HELD_OUT_COLUMNS: Columns = {
    **dict.fromkeys(("chosen_on", "tested_on"), "int64"),
    **dict.fromkeys(("threshold", "f1_chosen", "f1_tested", "f1_without"), "float64"),
}
"""Columns of `ThresholdSweep.held_out`: the number of units in each half, the threshold with the highest F1 on one half
and its F1 there, its F1 on the other half, and the F1 of all predictions on the other half."""
SCORE_TENTHS = tuple(f"{low / 10:.1f}-{(low + 1) / 10:.1f}" for low in range(10))
"""Tenths of the scores of predictions; the last includes 1."""
SCORE_ROUNDING = 1e-6
"""Probabilities in float32 add up to 1 with such errors."""


def span_scores(layer: Layer) -> NDArray[np.float64]:
    """Return the system's score of each span, NaN where it has none, shape (spans,)."""
    scores = np.full(len(layer), np.nan)
    if layer.scores:
        spans = np.fromiter(layer.scores.keys(), np.int64, len(layer.scores))
        scores[spans] = np.fromiter(layer.scores.values(), np.float64, len(layer.scores))
    return scores


@dataclass(frozen=True, eq=False)
class ThresholdDecisions:
    """The decisions of one system under a criterion at any threshold; predictions without a score are always kept."""

    scores: Scores
    criterion: str
    confidence: NDArray[np.float64]

    def steps(self, most: int = MOST_THRESHOLDS) -> NDArray[np.float64]:
        """Return the thresholds to show, increasing: all distinct scores, or `most` with the lowest and the highest."""
        scores = np.sort(self.confidence[~np.isnan(self.confidence)])
        distinct = np.unique(scores)
        if len(distinct) <= most:
            return distinct
        return np.unique(scores[np.linspace(0, len(scores) - 1, most).round().astype(np.int64)])

    def at(self, threshold: float) -> tuple[UInt8, UInt8]:
        """Return the decisions of gold spans and of predictions as indices into DECIDED, shape (spans,) each."""
        gold_codes, pred_codes = (codes.copy() for codes in self.scores.decisions(self.criterion))
        stays = ~(self.confidence < threshold)
        partner = self.scores.partners(self.criterion)[0]
        is_paired = partner >= 0
        gold_codes[is_paired] = np.where(stays[partner[is_paired]], gold_codes[is_paired], Decision.MIS)
        again_gold, again_pred = self._again
        pred_there = again_pred[stays[again_pred]]
        if len(again_gold) + len(again_pred):
            gold, pred = self._tangled
            remaining = pred.take(np.flatnonzero(stays[again_pred])) if len(pred_there) < len(again_pred) else pred
            redone = score_layers(gold, remaining, self._settings)
            gold_codes[again_gold], pred_codes[pred_there] = redone.decisions(self.criterion)
        pred_codes[~stays] = _OUT
        return gold_codes, pred_codes

    def counts(self, threshold: float, parts: Int64) -> Int64:
        """Return the counts of the predictions kept at a threshold in two parts of the corpus.

        `parts` is 0 or 1 for each document. The shape is (2 parts, 2 sides, 5 decisions).
        """
        sides = zip(self.scores.layers(self.criterion), self.at(threshold), strict=True)
        size = len(DECIDED)
        side_counts = [np.bincount(parts[layer.doc] * size + codes, minlength=2 * size) for layer, codes in sides]
        return np.stack([side.reshape(2, size)[:, :_OUT] for side in side_counts], axis=1)

    @cached_property
    def _settings(self) -> Settings:
        # The layers are as scored, with types merged already.
        criterion = replace(self.scores.criterion(self.criterion), merge=(), leave_out=())
        return Settings((criterion,), (), (), self.scores.settings.counting)

    @cached_property
    def _again(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """The spans of the documents in which a span overlaps several of the other side."""
        gold, pred = self.scores.layers(self.criterion)
        tangled = np.zeros(len(gold.documents), bool)
        for layer, other in ((gold, pred), (pred, gold)):
            tangled[layer.doc[overlap_counts(layer, other) > 1]] = True
        return np.flatnonzero(tangled[gold.doc]), np.flatnonzero(tangled[pred.doc])

    @cached_property
    def _tangled(self) -> tuple[Layer, Layer]:
        # Attributes that no criterion needs would only take time.
        bare = (replace(layer, scores={}, meta={}, ids={}, links={}) for layer in self.scores.layers(self.criterion))
        gold, pred = (layer.take(spans) for layer, spans in zip(bare, self._again, strict=True))
        return gold, pred


def threshold_decisions(scores: Scores, criterion: str) -> ThresholdDecisions | None:
    """Return the decisions at thresholds, None if no prediction has a score or the criterion counts tokens."""
    pred = scores.layers(criterion)[1]
    if scores.criterion(criterion).unit == "token" or not pred.scores:
        return None
    return ThresholdDecisions(scores, criterion, span_scores(pred))


@dataclass(frozen=True, eq=False)
class ThresholdSweep:
    """The counts of a system at increasing thresholds, in two random halves of the resampling units.

    The first threshold keeps all predictions. `counts` has the shape (thresholds, 2 halves, 2 sides, 5 decisions),
    `units` is the number of units in each half.
    """

    thresholds: NDArray[np.float64]
    counts: Int64
    units: tuple[int, int]

    def curve(self) -> pd.DataFrame:
        """Return counts and ratios of the corpus by threshold: CURVE_COLUMNS."""
        rows = []
        for threshold, sides in zip(self.thresholds.tolist(), self.counts.sum(axis=1).tolist(), strict=True):
            counts = Counts(*map(tuple, sides))
            decided = (counts.cor, counts.inc, counts.par, counts.mis, counts.spu, counts.pos, counts.act)
            rows.append((threshold, *decided, counts.precision, counts.recall, counts.f1))
        return typed_table(rows, CURVE_COLUMNS)

    def held_out(self) -> pd.DataFrame:
        """Return what the threshold chosen on each half gives on the other: HELD_OUT_COLUMNS, up to two rows.

        The lowest of several thresholds with the highest F1 is chosen. A half without spans leaves no row.
        """
        f1 = [ratio_columns(self.counts[:, half, 0], self.counts[:, half, 1])[2] for half in range(2)]
        rows = []
        for first, second in ((0, 1), (1, 0)):
            if np.isnan(f1[first]).all() or np.isnan(f1[second]).any():
                continue
            best = int(np.nanargmax(f1[first]))
            values = (f1[first][best], f1[second][best], f1[second][0])
            rows.append((self.units[first], self.units[second], self.thresholds[best], *values))
        return typed_table(rows, HELD_OUT_COLUMNS)


def sweep_thresholds(
    scores: Scores,
    criterion: str,
    *,
    units: ResamplingUnits | None = None,
    seed: int = 0,
    steps: int = MOST_THRESHOLDS,
) -> ThresholdSweep | None:
    """Return the counts at up to `steps` thresholds, None where no prediction has a score or tokens are counted.

    `units`, by default each document, are split into halves by `seed`.
    """
    decisions = threshold_decisions(scores, criterion)
    if decisions is None:
        return None
    units = units or resampling_units(scores.read[0].documents)
    order = np.random.default_rng((seed, 3)).permutation(units.count)
    first = units.count // 2
    second = np.zeros(units.count, np.int64)
    second[order[first:]] = 1
    parts = second[units.of_documents(np.arange(scores.documents))]
    thresholds = decisions.steps(steps)
    counts = np.stack([decisions.counts(threshold, parts) for threshold in thresholds.tolist()])
    return ThresholdSweep(thresholds, counts, (first, units.count - first))


def probabilities(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return scores that can be probabilities, NaN elsewhere; those outside 0 to 1 by rounding alone are moved in."""
    within = (scores >= -SCORE_ROUNDING) & (scores <= 1 + SCORE_ROUNDING)
    return np.where(within, np.clip(scores, 0, 1), np.nan)


def score_values(sliced: SlicedScores, _: str) -> SpanValues | None:
    """Return the tenth from 0 to 1 of each prediction's score: bins of equal width, which contain their lower bound."""
    gold, pred = sliced.layers
    scores = probabilities(span_scores(pred))
    within = ~np.isnan(scores)
    if not within.any():
        return None
    codes = np.full(len(pred), -1, np.int8)
    # Products such as 0.3 * 10 are inexact: the bound itself decides.
    edges = np.array([float(name.partition("-")[0]) for name in SCORE_TENTHS])
    codes[within] = np.searchsorted(edges, scores[within], side="right") - 1
    return SpanValues(SCORE_TENTHS, np.full(len(gold), -1, np.int8), codes)


def score_mass_values(sliced: SlicedScores, _: str) -> SpanValues | None:
    """Return the tenth of the scored predictions in which each lies by its score: bins of equal mass.

    The bin is that of the share of predictions with a lower score, so that equal scores share a bin. Bins without
    predictions are left out. A name holds the least and the greatest score of its bin.
    """
    gold, pred = sliced.layers
    scores = span_scores(pred)
    has_score = ~np.isnan(scores)
    if not has_score.any():
        return None
    ordered = np.sort(scores[has_score])
    tenths = len(SCORE_TENTHS) * np.searchsorted(ordered, scores[has_score]) // len(ordered)
    filled, places = np.unique(tenths, return_inverse=True)
    codes = np.full(len(pred), -1, np.int8)
    codes[has_score] = places
    ranges = [(float(own.min()), float(own.max())) for own in (scores[codes == code] for code in range(len(filled)))]
    return SpanValues(_range_names(ranges), np.full(len(gold), -1, np.int8), codes)


def _range_names(ranges: Sequence[tuple[float, float]]) -> tuple[str, ...]:
    """Return the names of ranges with as few digits, three or more, as tell them apart."""
    for digits in range(3, 18):
        ends = [(f"{low:.{digits}g}", f"{high:.{digits}g}") for low, high in ranges]
        names = tuple(low if low == high else f"{low} to {high}" for low, high in ends)
        if len(set(names)) == len(names):
            break
    return names


def at_values(sliced: SlicedScores, argument: str) -> SpanValues | None:
    """Return the decision on every span if only the predictions with at least so high a score are kept."""
    try:
        threshold = float(argument)
    except ValueError:
        return None
    decisions = threshold_decisions(sliced.scores, sliced.criterion)
    return None if decisions is None else SpanValues(DECIDED, *decisions.at(threshold))


def kept_values(sliced: SlicedScores, argument: str) -> SpanValues | None:
    """Return the predictions kept at a threshold: those with at least so high a score, and those without a score."""
    try:
        threshold = float(argument)
    except ValueError:
        return None
    gold, pred = sliced.layers
    if not pred.scores:
        return None
    return SpanValues(KEPT_OR_DROPPED, np.full(len(gold), -1, np.int8), (span_scores(pred) < threshold).astype(np.int8))
