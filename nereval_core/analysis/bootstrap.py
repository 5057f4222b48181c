"""Bootstrap intervals (BCa) of figures that are functions of counts by document, and sums under random swaps.

Counts are integers by document (half credit as 2 COR + PAR), so sums are exact. A resample is a row of weights of the
documents, and sums over all resamples are one product of these weights with the counts of all criteria and systems. The
last axis of an array is documents, resampling units or resamples.

Efron 1987, Better bootstrap confidence intervals (BCa); Hesterberg 2015, What teachers should know about the bootstrap
(wider intervals for few units); Davison and Hinkley 1997, Bootstrap methods and their application (strata); Noreen 1989
and Yeh 2000, approximate randomization.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri, stdtrit

from nereval_core.alignment.codes import Decision
from nereval_core.analysis.resampling_units import ResamplingPlan, ResamplingUnits
from nereval_core.arrays import Array, Bools, Float64, Int64
from nereval_core.scoring import Scores
from nereval_core.scoring.protocols import CountedScores

DocumentCounts = NDArray[np.int32]
Sums = NDArray[np.floating[Any]]

PARTS = ("gold_credit", "pred_credit", "POS", "ACT")
"""The counts that ratios are computed from: twice the credit of gold spans and of predictions, and their numbers."""
RATIOS = ("precision", "recall", "f1")
WEIGHTS_AT_ONCE = 1 << 20
"""Weights drawn together; the draws are the same whatever this number is."""
COUNTS_AT_ONCE = 1 << 25
"""Counts multiplied together; for more counts the same weights are drawn again."""
SUMS_AT_ONCE = 1 << 25
"""Sums over resamples held in memory together: 256 MB."""
FLOAT32_EXACT_BELOW = 1 << 24
"""float32 holds all whole numbers below this one exactly."""
RATIO_TOLERANCE = 1e-12
"""Smaller differences are rounding errors: two different ratios of countable spans are never so close."""


class ConfidenceIntervals(NamedTuple):
    """Ends of confidence intervals, NaN where there are none, and the resamples in which the value was undefined."""

    low: Float64
    high: Float64
    undefined: Int64


class ResampledValues(NamedTuple):
    """The same sums, or figures, of all units, of all units but one, and of units drawn with replacement.

    Shapes (rows, 1), (rows, units), (rows, resamples).
    """

    whole: Array
    left_out: Array
    drawn: Array


class Estimates(NamedTuple):
    """Figures with their intervals and the resamples in which they are undefined, shape (figures,) each."""

    value: Float64
    low: Float64
    high: Float64
    undefined: Int64


@dataclass(frozen=True, eq=False)
class Bootstrap:
    """The bootstrap of one analysis: all its figures are resampled with the same draws over the same units."""

    plan: ResamplingPlan
    units: ResamplingUnits

    def resample(self, blocks: Iterable[Array]) -> Iterator[ResampledValues]:
        """Yield the sums of each block of counts, shape (rows, documents)."""
        return resample_counts(map(self.units.sum_counts, blocks), self.plan, self.units.strata)

    def estimate(self, figures: ResampledValues) -> Estimates:
        """Return figures with their intervals."""
        return estimate_intervals(figures, self.plan, self.units.strata)


def document_counts(scores: CountedScores, criterion: str) -> DocumentCounts:
    """Return the PARTS of each document under a criterion, shape (4, documents); a document without spans has zeros."""
    rows = scores.by_document(criterion)
    found = np.zeros((len(PARTS), scores.documents), np.int32)
    for place, side in enumerate((rows.gold, rows.pred)):
        found[place, rows.numbers] = 2 * side[:, Decision.COR] + side[:, Decision.PAR]
        found[2 + place, rows.numbers] = side.sum(axis=1)
    return found


def type_counts(scores: Scores, criterion: str, types: tuple[str, ...]) -> DocumentCounts:
    """Return the PARTS of each type and document, shape (types, 4, documents).

    Gold spans and predictions count for their own types. `types` must hold those of both layers as scored under the
    criterion.
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


def ratios(sums: Array) -> Float64:
    """Return precision, recall and F1 of PARTS, shape (..., 4, n) to (..., 3, n); NaN where undefined.

    The definitions are those of `nereval_core.scoring.counts.Counts`.
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


def resample_counts(
    blocks: Iterable[Array], plan: ResamplingPlan, strata: Int64 | None = None
) -> Iterator[ResampledValues]:
    """Yield the sums of each block of counts, shape (rows, units).

    Drawing weights takes longer than adding up, so that units are drawn once for as many blocks as SUMS_AT_ONCE allows.
    """
    batch: list[Array] = []
    rows = 0
    for block in blocks:
        if batch and (rows + len(block)) * plan.resamples > SUMS_AT_ONCE:
            yield from _resample_batch(batch, plan, strata)
            batch, rows = [], 0
        batch.append(block)
        rows += len(block)
    if batch:
        yield from _resample_batch(batch, plan, strata)


def _resample_batch(blocks: Sequence[Array], plan: ResamplingPlan, strata: Int64 | None) -> Iterator[ResampledValues]:
    sums = bootstrap_sums(np.concatenate(blocks), plan, strata)
    for block, drawn in zip(blocks, np.split(sums, np.cumsum([len(block) for block in blocks])[:-1]), strict=True):
        whole = block.sum(axis=-1, keepdims=True, dtype=np.int64)
        yield ResampledValues(whole, whole - block, drawn)


def estimate_intervals(figures: ResampledValues, plan: ResamplingPlan, strata: Int64 | None = None) -> Estimates:
    """Return figures with bias-corrected and accelerated intervals, widened for few units."""
    value = figures.whole[:, 0]
    accelerations = acceleration(figures.left_out, strata)
    quantiles = tail_quantiles(plan.level, effective_units(figures.left_out), strata)
    return Estimates(value, *bca_intervals(value, figures.drawn, accelerations, quantiles))


def undefined_estimates(number: int) -> Estimates:
    """Return so many undefined figures."""
    nothing = np.full(number, np.nan)
    return Estimates(nothing, nothing, nothing, np.zeros(number, np.int64))


def leave_one_out(counts: DocumentCounts) -> DocumentCounts:
    """Return the sums over all documents but one, shape (..., documents), from which accelerations are computed."""
    found: DocumentCounts = counts.sum(axis=-1, keepdims=True, dtype=np.int32) - counts
    return found


def acceleration(values: Float64, strata: Int64 | None = None) -> Float64:
    """Return Efron's acceleration from the values with one unit left out, shape (k, units) to (k,).

    With l = (n - 1) (mean - value) in each stratum of n units, it is the sum of l³/n³ over 6 times the sum of l²/n² to
    the power of 3/2 (Davison and Hinkley 1997, section 5.3); all units are one stratum where there are none.

    The acceleration is NaN where a value is undefined without one of the units. Such a value rests on that unit alone,
    and resamples, which contain the unit or have no value, do not show how the value varies.
    """
    alone = np.isnan(values).any(axis=-1)
    if strata is None:
        rest = values.sum(axis=-1, keepdims=True) / max(values.shape[-1], 1) - values
    else:
        sizes = np.bincount(strata)
        means = np.array([np.bincount(strata, row) for row in values]).reshape(len(values), -1) / sizes
        rest = (means[:, strata] - values) * (1 - 1 / sizes)[strata]
    below = 6 * np.square(rest).sum(axis=-1) ** 1.5
    found = np.where(alone, np.nan, 0.0)
    np.divide((rest**3).sum(axis=-1), below, out=found, where=below > 0)
    return found


def effective_units(values: Float64) -> Float64:
    """Return the effective number of units from the values with one unit left out, shape (k, units) to (k,).

    With d = value - mean it is 3 (sum of d²)² / sum of d⁴: the degrees of freedom that Satterthwaite (1946) gives to
    the sum of squares where the d are normal, as many as units. Where few units carry most of the variance it is less;
    it is never more than the number of units without which the figure differs.
    """
    apart = values - values.mean(axis=-1, keepdims=True) if values.shape[-1] else values
    squares = np.square(apart)
    below = np.square(squares).sum(axis=-1)
    found: Float64 = (squares > 0).sum(axis=-1).astype(np.float64)
    ratio = np.full(found.shape, np.inf)
    np.divide(3 * np.square(squares.sum(axis=-1)), below, out=ratio, where=below > 0)
    number: Float64 = np.minimum(found, ratio)
    return number


def tail_quantiles(level: float, units: Float64, strata: Int64 | None = None) -> Float64:
    """Return what stands for the upper quantile of the normal distribution with few units, shape (k,).

    It is that of Student's t with units - strata degrees of freedom times the root of units / (units - strata): the
    bootstrap draws from the sample, whose variance is too small by that factor (Hesterberg 2015, section 3.2).
    """
    groups = 1 if strata is None else int(strata.max(initial=0)) + 1
    freedom = np.maximum(units - groups, 1)
    found: Float64 = stdtrit(freedom, (1 + level) / 2) * np.sqrt((freedom + groups) / freedom)
    return found


def bca_intervals(
    observed: Float64, replicates: Float64, accelerations: Float64, quantiles: Float64
) -> ConfidenceIntervals:
    """Return bias-corrected and accelerated intervals, shapes (k,), (k, resamples), (k,), (k,).

    `quantiles` are the upper quantiles of the level: of the normal distribution, or `tail_quantiles`.

    Resamples in which a value is undefined are left out of its interval and counted. Where all others lie on one side
    of the observed value, half a resample counts as lying on the other side. There is no interval where the
    acceleration is NaN.
    """
    ordered = np.sort(replicates, axis=-1)
    undefined = np.isnan(replicates).sum(axis=-1)
    number = replicates.shape[-1] - undefined
    below = np.empty(len(observed))
    for row, (value, values) in enumerate(zip(observed.tolist(), ordered, strict=True)):
        here = values[: number[row]]
        below[row] = (
            np.searchsorted(here, value - RATIO_TOLERANCE) + np.searchsorted(here, value + RATIO_TOLERANCE, "right")
        ) / 2
    known = (number > 0) & ~np.isnan(observed) & ~np.isnan(accelerations)
    share = np.clip(below, 0.5, np.maximum(number - 0.5, 0.5)) / np.maximum(number, 1)
    bias = ndtri(share)
    ends = []
    for quantile in (-quantiles, quantiles):
        z = bias + quantile
        slope = 1 - accelerations * z
        # Where the correction is unbounded, its limit applies.
        moved = np.where(slope > 0, z / np.where(slope > 0, slope, 1), np.sign(z) * np.inf)
        ends.append(_quantiles(ordered, number, ndtr(bias + moved), known))
    return ConfidenceIntervals(ends[0], ends[1], undefined)


def _quantiles(ordered: Float64, number: Int64, at: Float64, known: Bools) -> Float64:
    """Return the quantile `at` of the first `number` values of each sorted row, interpolated linearly."""
    place = np.where(known, at, 0) * np.maximum(number - 1, 0)
    low = np.floor(place).astype(np.int64)
    high = np.minimum(low + 1, np.maximum(number - 1, 0))
    rows = np.arange(len(ordered))
    one, two = ordered[rows, low], ordered[rows, high]
    return np.where(known, one + (two - one) * (place - low), np.nan)


def bootstrap_sums(counts: DocumentCounts, plan: ResamplingPlan, strata: Int64 | None = None) -> Sums:
    """Return the sums over documents drawn with replacement, shape (..., documents) to (..., resamples).

    `strata` is the stratum of each document: from each stratum as many are drawn as it has.
    """

    def draw(rng: np.random.Generator, weights: Sums) -> None:
        documents = weights.shape[1]
        for row in weights:
            row[:] = np.bincount(rng.integers(0, documents, documents, np.int32), minlength=documents)

    def draw_within(rng: np.random.Generator, weights: Sums) -> None:
        for members in stratum_members:
            weights[:, members] = rng.multinomial(len(members), np.full(len(members), 1 / len(members)), len(weights))

    if strata is None:
        return _weighted_sums(counts, plan, 0, draw)
    stratum_members = np.split(np.argsort(strata, kind="stable"), np.cumsum(np.bincount(strata))[:-1])
    return _weighted_sums(counts, plan, 0, draw_within)


def swap_sums(counts: DocumentCounts, plan: ResamplingPlan) -> Sums:
    """Return the sums with a random sign for each document, shape (..., documents) to (..., resamples).

    Let d be the sums of A's counts less B's. Swapping the two systems where the sign is minus leaves A with half of
    the total of both systems plus half of d.
    """

    def draw(rng: np.random.Generator, weights: Sums) -> None:
        rows, documents = weights.shape
        words = rng.integers(0, 1 << 32, (rows, -(-documents // 32)), np.uint32)
        np.multiply(np.unpackbits(words.view(np.uint8), axis=1, count=documents), -2.0, out=weights, casting="unsafe")
        np.add(weights, 1, out=weights)

    return _weighted_sums(counts, plan, 1, draw)


def replacement_sums(counts: DocumentCounts, candidates: Bools, chosen: int, plan: ResamplingPlan) -> Sums:
    """Return the sums over the units in which one candidate is drawn, shape (..., units) to (..., resamples).

    In each unit one of its candidates, or none, is drawn, all equally likely. `candidates` has the shape (candidates,
    units); the draws are the same whichever of them is `chosen`.
    """
    high = (candidates.sum(axis=0) + 1).astype(np.float32)
    place = np.where(candidates, candidates.cumsum(axis=0), -1)[chosen].astype(np.float32)

    def draw(rng: np.random.Generator, weights: Sums) -> None:
        # Several times as fast as whole numbers below bounds that differ from unit to unit.
        drawn = rng.random(weights.shape, np.float32)
        drawn *= high
        np.equal(np.floor(drawn, out=drawn), place, out=weights, casting="unsafe")

    return _weighted_sums(counts, plan, 2, draw)


Draw = Callable[[np.random.Generator, Sums], None]
"""Fill an array of weights, shape (resamples, documents), row after row."""


def _weighted_sums(counts: DocumentCounts, plan: ResamplingPlan, stream: int, draw: Draw) -> Sums:
    documents = counts.shape[-1]
    if not documents:
        return np.zeros((*counts.shape[:-1], plan.resamples))
    rows = np.ascontiguousarray(counts).reshape(-1, documents)
    # Criteria share the number of spans and often all counts: equal rows are multiplied once.
    seen: dict[bytes, int] = {}
    place = [seen.setdefault(row.tobytes(), len(seen)) for row in rows]
    first = np.unique(place, return_index=True)[1]
    exact = documents * max(int(np.abs(rows).max(initial=0)), 1) < FLOAT32_EXACT_BELOW
    kind: type[np.floating[Any]] = np.float32 if exact else np.float64
    found = np.empty((len(first), plan.resamples), kind)
    weights = np.empty((min(plan.resamples, max(1, WEIGHTS_AT_ONCE // documents)), documents), kind)
    for part in _slices(len(first), max(1, COUNTS_AT_ONCE // documents)):
        columns = np.ascontiguousarray(rows[first[part]].astype(kind).T)
        rng = np.random.default_rng((plan.seed, stream))
        for some in _slices(plan.resamples, len(weights)):
            used = weights[: some.stop - some.start]
            draw(rng, used)
            found[part, some] = (used @ columns).T
    return found[place].reshape(*counts.shape[:-1], plan.resamples)


def _slices(size: int, step: int) -> Iterator[slice]:
    for low in range(0, size, step):
        yield slice(low, min(low + step, size))
