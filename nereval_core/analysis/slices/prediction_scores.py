"""Values of predictions by their scores: slicings by the score, and by the decision at a threshold."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from nereval_core.analysis.slices import thresholds
from nereval_core.analysis.slices.span_values import SlicedScores, SpanValues

SCORE_TENTHS = tuple(f"{low / 10:.1f}-{(low + 1) / 10:.1f}" for low in range(10))
"""Tenths of the scores of predictions; the last includes 1."""
SCORE_ROUNDING = 1e-6
"""Probabilities in float32 add up to 1 with such errors."""


def probabilities(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return scores that can be probabilities, NaN elsewhere; those outside 0 to 1 by rounding alone are moved in."""
    within = (scores >= -SCORE_ROUNDING) & (scores <= 1 + SCORE_ROUNDING)
    return np.where(within, np.clip(scores, 0, 1), np.nan)


def score_values(given: SlicedScores, _: str) -> SpanValues | None:
    """Return the tenth from 0 to 1 of each prediction's score: bins of equal width, which contain their lower bound."""
    gold, pred = given.layers
    scores = probabilities(thresholds.span_scores(pred))
    within = ~np.isnan(scores)
    if not within.any():
        return None
    codes = np.full(len(pred), -1, np.int8)
    # Products such as 0.3 * 10 are inexact: the bound itself decides.
    edges = np.array([float(name.partition("-")[0]) for name in SCORE_TENTHS])
    codes[within] = np.searchsorted(edges, scores[within], side="right") - 1
    return SpanValues(SCORE_TENTHS, np.full(len(gold), -1, np.int8), codes)


def score_mass_values(given: SlicedScores, _: str) -> SpanValues | None:
    """Return the tenth of the scored predictions in which each lies by its score: bins of equal mass.

    The bin is that of the share of predictions with a lower score, so that equal scores share a bin. Bins without
    predictions are left out. A name holds the least and the greatest score of its bin.
    """
    gold, pred = given.layers
    scores = thresholds.span_scores(pred)
    known = ~np.isnan(scores)
    if not known.any():
        return None
    ordered = np.sort(scores[known])
    tenths = len(SCORE_TENTHS) * np.searchsorted(ordered, scores[known]) // len(ordered)
    filled, places = np.unique(tenths, return_inverse=True)
    codes = np.full(len(pred), -1, np.int8)
    codes[known] = places
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


def at_values(given: SlicedScores, argument: str) -> SpanValues | None:
    """Return the decision on every span if only the predictions with at least so high a score are kept."""
    try:
        threshold = float(argument)
    except ValueError:
        return None
    found = thresholds.threshold_decisions(given.scores, given.criterion)
    return None if found is None else SpanValues(thresholds.DECIDED, *found.at(threshold))


KEPT_OR_DROPPED = ("kept", thresholds.DROPPED)


def kept_values(given: SlicedScores, argument: str) -> SpanValues | None:
    """Return the predictions kept at a threshold: those with at least so high a score, and those without a score."""
    try:
        threshold = float(argument)
    except ValueError:
        return None
    gold, pred = given.layers
    if not pred.scores:
        return None
    return SpanValues(
        KEPT_OR_DROPPED, np.full(len(gold), -1, np.int8), (thresholds.span_scores(pred) < threshold).astype(np.int8)
    )
