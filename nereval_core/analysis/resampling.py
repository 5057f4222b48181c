"""Counts by document, resampled: bootstrap over documents, random swaps of two systems, and intervals from these.

Everything is a product of a matrix of weights (resamples, documents) with the counts of all criteria and systems at
once. Counts are integers, half credit as 2 COR + PAR, so sums are exact. The last axis is documents or resamples.

Efron 1987, Better bootstrap confidence intervals (BCa); Noreen 1989 and Yeh 2000, approximate randomization.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from nereval_core.alignment.codes import Decision
from nereval_core.arrays import Float64, Int64
from nereval_core.scoring import Scores
from nereval_core.scoring.protocols import Tallied

Counts = NDArray[np.int32]
Sums = NDArray[np.floating[Any]]

PARTS = ("gold_credit", "pred_credit", "POS", "ACT")
"""What ratios are made of: twice the credit of gold spans and of predictions, and the number of either."""
RATIOS = ("precision", "recall", "f1")
BLOCK = 1 << 20
"""Weights that are drawn at once: their number does not change what is drawn."""
COLUMNS = 1 << 25
"""Counts that are multiplied at once; for more the weights are drawn again."""
EXACT = 1 << 24
"""Whole numbers below are exact in float32."""
SLACK = 1e-12
"""Differences below are taken for rounding: no two different ratios of countable spans are so near."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """How often is resampled, from which seed, and how sure an interval is to be."""

    resamples: int = 10_000
    seed: int = 0
    level: float = 0.95


def document_counts(scores: Tallied, criterion: str) -> Counts:
    """Return the PARTS of each document under a criterion, shape (4, documents); documents without spans are 0."""
    rows = scores.by_document(criterion)
    found = np.zeros((len(PARTS), scores.documents), np.int32)
    for place, side in enumerate((rows.gold, rows.pred)):
        found[place, rows.numbers] = 2 * side[:, Decision.COR] + side[:, Decision.PAR]
        found[2 + place, rows.numbers] = side.sum(axis=1)
    return found


def type_counts(scores: Scores, criterion: str, types: tuple[str, ...]) -> Counts:
    """Return the PARTS of each type and document, shape (types, 4, documents).

    The credit of gold is that of gold spans of the type, the credit of the prediction that of predictions of the type.
    `types` hold those of both layers as scored under the criterion.
    """
    found = np.zeros((len(types), len(PARTS), scores.documents), np.int32)
    place = {kind: code for code, kind in enumerate(types)}
    sides = zip(scores.layers(criterion), scores.decisions(criterion), scores.weights(criterion), strict=True)
    for side, (layer, decisions, weights) in enumerate(sides):
        code = np.array([place.get(kind, -1) for kind in layer.types], np.int64)[layer.type]
        key = code * scores.documents + layer.doc
        credit = (2 * (decisions == Decision.COR) + (decisions == Decision.PAR)) * weights
        for part, values in ((side, credit), (2 + side, weights)):
            sums = np.bincount(key, values, len(types) * scores.documents)
            found[:, part] = sums.reshape(len(types), scores.documents)
    return found


def ratios(sums: NDArray[Any]) -> Float64:
    """Return precision, recall and F1 of PARTS, shape (..., 4, n) to (..., 3, n); NaN where undefined.

    They are those of `nereval_core.scoring.counts.Counts`.
    """
    gold, pred, pos, act = (sums[..., part, :].astype(np.float64) for part in range(len(PARTS)))
    found = np.full((*sums.shape[:-2], len(RATIOS), sums.shape[-1]), np.nan)
    np.divide(pred, 2 * act, out=found[..., 0, :], where=act != 0)
    np.divide(gold, 2 * pos, out=found[..., 1, :], where=pos != 0)
    top, bottom = gold, pos + act
    even = gold == pred
    if not even.all():
        # No credit on one side only is an F1 of 0.
        top = np.where(even, gold, gold * pred)
        below = np.where(even, bottom, pred * pos + gold * act)
        bottom = np.where(below == 0, bottom, below)
    np.divide(top, bottom, out=found[..., 2, :], where=bottom != 0)
    return found


def bootstrap_sums(counts: Counts, plan: Plan) -> Sums:
    """Return the sums over documents drawn with replacement, shape (..., documents) to (..., resamples)."""

    def draw(rng: np.random.Generator, weights: Sums) -> None:
        documents = weights.shape[1]
        for row in weights:
            row[:] = np.bincount(rng.integers(0, documents, documents, np.int32), minlength=documents)

    return _products(counts, plan, 0, draw)


def swap_sums(counts: Counts, plan: Plan) -> Sums:
    """Return the sums with a random sign for each document, shape (..., documents) to (..., resamples).

    With d those of A's counts less those of B's, swapping the two where the sign is minus leaves A with half of the
    total of both plus half of d.
    """

    def draw(rng: np.random.Generator, weights: Sums) -> None:
        rows, documents = weights.shape
        words = rng.integers(0, 1 << 32, (rows, -(-documents // 32)), np.uint32)
        np.multiply(np.unpackbits(words.view(np.uint8), axis=1, count=documents), -2.0, out=weights, casting="unsafe")
        np.add(weights, 1, out=weights)

    return _products(counts, plan, 1, draw)


Draw = Callable[[np.random.Generator, Sums], None]
"""Fills an array of weights, shape (resamples, documents): one row is drawn after the other."""


def _products(counts: Counts, plan: Plan, stream: int, draw: Draw) -> Sums:
    documents = counts.shape[-1]
    if not documents:
        return np.zeros((*counts.shape[:-1], plan.resamples))
    rows = np.ascontiguousarray(counts).reshape(-1, documents)
    # Criteria share the number of spans, and often all: what is equal is multiplied once.
    seen: dict[bytes, int] = {}
    place = [seen.setdefault(row.tobytes(), len(seen)) for row in rows]
    first = np.unique(place, return_index=True)[1]
    exact = documents * max(int(np.abs(rows).max(initial=0)), 1) < EXACT
    kind: type[np.floating[Any]] = np.float32 if exact else np.float64
    found = np.empty((len(first), plan.resamples), kind)
    weights = np.empty((min(plan.resamples, max(1, BLOCK // documents)), documents), kind)
    for part in _blocks(len(first), max(1, COLUMNS // documents)):
        columns = np.ascontiguousarray(rows[first[part]].astype(kind).T)
        rng = np.random.default_rng((plan.seed, stream))
        for some in _blocks(plan.resamples, len(weights)):
            used = weights[: some.stop - some.start]
            draw(rng, used)
            found[part, some] = (used @ columns).T
    return found[place].reshape(*counts.shape[:-1], plan.resamples)


def _blocks(size: int, step: int) -> Iterator[slice]:
    for low in range(0, size, step):
        yield slice(low, min(low + step, size))


class Interval(NamedTuple):
    """Ends of confidence intervals, NaN where there are none, and the resamples in which the value was undefined."""

    low: Float64
    high: Float64
    undefined: Int64


def leave_one_out(counts: Counts) -> Counts:
    """Return the sums over all documents but one, shape (..., documents): what the acceleration is made of."""
    found: Counts = counts.sum(axis=-1, keepdims=True, dtype=np.int32) - counts
    return found


def acceleration(values: Float64) -> Float64:
    """Return Efron's acceleration from the values with one document left out, shape (k, documents) to (k,).

    NaN where a value is undefined without one of the documents: it rests on that one alone, and resamples, which hold
    that document or have no value, tell nothing of how it varies.
    """
    alone = np.isnan(values).any(axis=-1)
    rest = values.sum(axis=-1, keepdims=True) / max(values.shape[-1], 1) - values
    below = 6 * np.square(rest).sum(axis=-1) ** 1.5
    found = np.where(alone, np.nan, 0.0)
    np.divide((rest**3).sum(axis=-1), below, out=found, where=below > 0)
    return found


def bca(observed: Float64, replicates: Float64, accelerations: Float64, level: float) -> Interval:
    """Return bias-corrected and accelerated intervals, shapes (k,), (k, resamples), (k,).

    Resamples in which a value is undefined are left out of its interval and counted. Where all others lie on one side
    of the observed value, half a resample is taken to lie on the other. Where an acceleration is NaN there is no
    interval.
    """
    ordered = np.sort(replicates, axis=-1)
    undefined = np.isnan(replicates).sum(axis=-1)
    number = replicates.shape[-1] - undefined
    below = np.empty(len(observed))
    for row, (value, values) in enumerate(zip(observed.tolist(), ordered, strict=True)):
        here = values[: number[row]]
        below[row] = (np.searchsorted(here, value - SLACK) + np.searchsorted(here, value + SLACK, "right")) / 2
    known = (number > 0) & ~np.isnan(observed) & ~np.isnan(accelerations)
    share = np.clip(below, 0.5, np.maximum(number - 0.5, 0.5)) / np.maximum(number, 1)
    bias = ndtri(share)
    ends = []
    for tail in ((1 - level) / 2, (1 + level) / 2):
        z = bias + ndtri(tail)
        slope = 1 - accelerations * z
        # Where the correction has no bounds, its limit.
        moved = np.where(slope > 0, z / np.where(slope > 0, slope, 1), np.sign(z) * np.inf)
        ends.append(_quantiles(ordered, number, ndtr(bias + moved), known))
    return Interval(ends[0], ends[1], undefined)


def _quantiles(ordered: Float64, number: Int64, at: Float64, known: NDArray[np.bool_]) -> Float64:
    """Return the quantile of each sorted row's first numbers, between two of them in proportion."""
    place = np.where(known, at, 0) * np.maximum(number - 1, 0)
    low = np.floor(place).astype(np.int64)
    high = np.minimum(low + 1, np.maximum(number - 1, 0))
    rows = np.arange(len(ordered))
    one, two = ordered[rows, low], ordered[rows, high]
    return np.where(known, one + (two - one) * (place - low), np.nan)
