"""Resample counts by document, and estimate figures of them with bootstrap intervals (BCa).

Every statistic takes the same way: counts by document are resampled (`Bootstrap.resample`), a figure is computed from
the sums, its interval is estimated (`Bootstrap.estimate`); differences of figures take the same interval, and their
tests are corrected in `multiple_tests`. Counts are integers (half credit as 2 COR + PAR), so sums are exact.
A resample is a row of weights of the documents, and sums over all resamples are one product of these weights with the
counts of all criteria and systems. The last axis of an array is documents, resampling units or resamples.

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

from nereval_core.alignment.codes import Decision
from nereval_core.analysis.intervals import Estimates, acceleration, bca_intervals, effective_units, tail_quantiles
from nereval_core.analysis.resampling_units import ResamplingPlan, ResamplingUnits
from nereval_core.corpus.arrays import Array, Bools, Float64, Int64
from nereval_core.scoring import Scores
from nereval_core.scoring.protocols import CountedScores

DocumentCounts = NDArray[np.int32]
Sums = NDArray[np.floating[Any]]

PARTS = ("gold_credit", "pred_credit", "POS", "ACT")
"""The counts that ratios are computed from: twice the credit of gold spans and of predictions, and their numbers."""
RATIOS = ("precision", "recall", "f1")
F1 = RATIOS.index("f1")
WEIGHTS_AT_ONCE = 1 << 20
"""Weights drawn together; the draws are the same whatever this number is."""
COUNTS_AT_ONCE = 1 << 25
"""Counts multiplied together; for more counts the same weights are drawn again."""
SUMS_AT_ONCE = 1 << 25
"""Sums over resamples held in memory together: 256 MB."""
FLOAT32_EXACT_BELOW = 1 << 24
"""float32 holds all whole numbers below this one exactly."""
FEW_UNITS = 20
"""With fewer units that have spans, a bootstrap over units is unreliable."""


class ResampledValues(NamedTuple):
    """The same sums, or figures, of all units, of all units but one, and of units drawn with replacement.

    Shapes (rows, 1), (rows, units), (rows, resamples).
    """

    observed: Array
    left_out: Array
    resampled: Array

    def map(self, figures: Callable[[Array], Array]) -> ResampledValues:
        """Return figures computed from the sums, shape (rows, n) to (figures, n)."""
        return ResampledValues(*map(figures, self))

    def differences(self, rows: Sequence[int], other_rows: Sequence[int]) -> ResampledValues:
        """Return some rows less others, row by row."""
        return ResampledValues(*(values[rows] - values[other_rows] for values in self))


@dataclass(frozen=True, eq=False)
class Bootstrap:
    """The bootstrap of one analysis: all its figures are resampled with the same draws over the same units.

    More than `most_units` units are resampled in so many random groups, unless they have strata; None: never. Groups
    change the width of an interval by a few hundredths at most.
    """

    plan: ResamplingPlan
    units: ResamplingUnits
    most_units: int | None = None

    def resample(self, blocks: Iterable[Array]) -> Iterator[ResampledValues]:
        """Yield the sums of each block of counts, shape (rows, documents)."""
        return self.resample_units(map(self.units.sum_counts, blocks))

    def resample_units(self, blocks: Iterable[Array]) -> Iterator[ResampledValues]:
        """Yield the sums of each block of counts, shape (rows, units).

        Drawing weights takes longer than adding up, so that units are drawn once for as many blocks as SUMS_AT_ONCE
        allows.
        """
        batch: list[Array] = []
        n_rows = 0
        for block in map(self.group_units, blocks):
            if batch and (n_rows + len(block)) * self.plan.resamples > SUMS_AT_ONCE:
                yield from self._resample_batch(batch)
                batch, n_rows = [], 0
            batch.append(block)
            n_rows += len(block)
        if batch:
            yield from self._resample_batch(batch)

    def _resample_batch(self, blocks: Sequence[Array]) -> Iterator[ResampledValues]:
        sums = bootstrap_sums(np.concatenate(blocks), self.plan, self.units.strata)
        ends = np.cumsum([len(block) for block in blocks])
        for block, resampled in zip(blocks, np.split(sums, ends[:-1]), strict=True):
            observed = block.sum(axis=-1, keepdims=True, dtype=np.int64)
            yield ResampledValues(observed, observed - block, resampled)

    def group_units(self, counts: Array) -> Array:
        """Return the sums over random groups of about equally many units, where there are more than `most_units`."""
        n_units = counts.shape[-1]
        if self.most_units is None or n_units <= self.most_units or self.units.strata is not None:
            return counts
        order = np.random.default_rng((self.plan.seed, 2)).permutation(n_units)
        starts = np.arange(self.most_units) * n_units // self.most_units
        sums: Array = np.add.reduceat(counts[..., order], starts, axis=-1)
        return sums

    def estimate(self, figures: ResampledValues) -> Estimates:
        """Return figures with bias-corrected and accelerated intervals, widened for few units."""
        strata = self.units.strata
        quantiles = tail_quantiles(self.plan.level, effective_units(figures.left_out), strata)
        accelerations = acceleration(figures.left_out, strata)
        return bca_intervals(figures.observed[:, 0], figures.resampled, accelerations, quantiles)


def document_counts(scores: CountedScores, criterion: str) -> DocumentCounts:
    """Return the PARTS of each document under a criterion, shape (4, documents); a document without spans has zeros."""
    rows = scores.by_document(criterion)
    counts = np.zeros((len(PARTS), scores.documents), np.int32)
    for part, side in enumerate((rows.gold, rows.pred)):
        counts[part, rows.numbers] = 2 * side[:, Decision.COR] + side[:, Decision.PAR]
        counts[2 + part, rows.numbers] = side.sum(axis=1)
    return counts


def type_counts(scores: Scores, criterion: str, types: tuple[str, ...]) -> DocumentCounts:
    """Return the PARTS of each type and document, shape (types, 4, documents).

    Gold spans and predictions count for their own types. `types` must hold those of both layers as scored under the
    criterion.
    """
    counts = np.zeros((len(types), len(PARTS), scores.documents), np.int32)
    code_of_type = {kind: code for code, kind in enumerate(types)}
    sides = zip(scores.layers(criterion), scores.decisions(criterion), scores.weights(criterion), strict=True)
    for side, (layer, decisions, weights) in enumerate(sides):
        code = np.array([code_of_type.get(kind, -1) for kind in layer.types], np.int64)[layer.type]
        cell = code * scores.documents + layer.doc
        credit = (2 * (decisions == Decision.COR) + (decisions == Decision.PAR)) * weights
        for part, values in ((side, credit), (2 + side, weights)):
            sums = np.bincount(cell, values, len(types) * scores.documents)
            counts[:, part] = sums.reshape(len(types), scores.documents)
    return counts


def slot_errors_of_types(scores: Scores, criterion: str, types: tuple[str, ...]) -> DocumentCounts:
    """Return twice the errors of the slot error rate, and POS, of each type and document, shape (types, 2, documents).

    A pair counts for the type of its gold span.
    """
    counts = np.zeros((len(types), 2, scores.documents), np.int32)
    if not types:
        return counts
    code_of_type = {kind: code for code, kind in enumerate(types)}
    costs = np.zeros((2, len(Decision)), np.int64)
    costs[0, [Decision.INC, Decision.PAR, Decision.MIS]] = 2, 1, 2
    costs[1, Decision.SPU] = 2
    sides = zip(scores.layers(criterion), scores.decisions(criterion), scores.weights(criterion), costs, strict=True)
    for side, (layer, decisions, weights, cost) in enumerate(sides):
        code = np.array([code_of_type.get(kind, -1) for kind in layer.types], np.int64)[layer.type]
        cell = code * scores.documents + layer.doc
        for part, values in ((0, cost[decisions] * weights), *([(1, weights)] if side == 0 else [])):
            sums = np.bincount(cell, values, len(types) * scores.documents)
            counts[:, part] += sums.reshape(len(types), scores.documents).astype(np.int32)
    return counts


def ratios(sums: Array) -> Float64:
    """Return precision, recall and F1 of PARTS, shape (..., 4, n) to (..., 3, n); NaN where undefined.

    The definitions are those of `nereval_core.scoring.counts.Counts`.
    """
    gold, pred, pos, act = (sums[..., part, :].astype(np.float64) for part in range(len(PARTS)))
    values = np.full((*sums.shape[:-2], len(RATIOS), sums.shape[-1]), np.nan)
    np.divide(pred, 2 * act, out=values[..., 0, :], where=act != 0)
    np.divide(gold, 2 * pos, out=values[..., 1, :], where=pos != 0)
    _divide_f1(gold, pred, pos, act, values[..., F1, :])
    return values


def f1_ratios(sums: Array) -> Float64:
    """Return F1 alone of PARTS, shape (..., 4, n) to (..., n); see `ratios`."""
    gold, pred, pos, act = (sums[..., part, :].astype(np.float64) for part in range(len(PARTS)))
    values = np.full(gold.shape, np.nan)
    _divide_f1(gold, pred, pos, act, values)
    return values


def _divide_f1(gold: Float64, pred: Float64, pos: Float64, act: Float64, out: Float64) -> None:
    """Write F1 to `out` where it is defined."""
    top, bottom = gold, pos + act
    even = gold == pred
    if not even.all():
        # No credit on one side only is an F1 of 0.
        top = np.where(even, gold, gold * pred)
        weighted = np.where(even, bottom, pred * pos + gold * act)
        bottom = np.where(weighted == 0, bottom, weighted)
    np.divide(top, bottom, out=out, where=bottom != 0)


def mean_of_defined(values: Float64) -> Float64:
    """Return the mean of the defined values over the first axis, NaN where none is defined."""
    is_defined = ~np.isnan(values)
    n_defined = is_defined.sum(axis=0)
    means = np.full(values.shape[1:], np.nan)
    np.divide(np.where(is_defined, values, 0).sum(axis=0), n_defined, out=means, where=n_defined > 0)
    return means


def leave_one_out(counts: DocumentCounts) -> DocumentCounts:
    """Return the sums over all documents but one, shape (..., documents), from which accelerations are computed."""
    sums: DocumentCounts = counts.sum(axis=-1, keepdims=True, dtype=np.int32) - counts
    return sums


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


def replacement_sums(counts: DocumentCounts, candidates: Bools, candidate: int, plan: ResamplingPlan) -> Sums:
    """Return the sums over the units in which one candidate is drawn, shape (..., units) to (..., resamples).

    In each unit one of its candidates, or none, is drawn, all equally likely. `candidates` has the shape (candidates,
    units); the draws are the same whichever `candidate` it is.
    """
    high = (candidates.sum(axis=0) + 1).astype(np.float32)
    number = np.where(candidates, candidates.cumsum(axis=0), -1)[candidate].astype(np.float32)

    def draw(rng: np.random.Generator, weights: Sums) -> None:
        # Several times as fast as whole numbers below bounds that differ from unit to unit.
        draws = rng.random(weights.shape, np.float32)
        draws *= high
        np.equal(np.floor(draws, out=draws), number, out=weights, casting="unsafe")

    return _weighted_sums(counts, plan, 2, draw)


Draw = Callable[[np.random.Generator, Sums], None]
"""Fill an array of weights, shape (resamples, documents), row after row."""


def _weighted_sums(counts: DocumentCounts, plan: ResamplingPlan, stream: int, draw: Draw) -> Sums:
    documents = counts.shape[-1]
    if not documents:
        return np.zeros((*counts.shape[:-1], plan.resamples))
    rows = np.ascontiguousarray(counts).reshape(-1, documents)
    # Criteria share the number of spans and often all counts: equal rows are multiplied once.
    codes: dict[bytes, int] = {}
    distinct_row = [codes.setdefault(row.tobytes(), len(codes)) for row in rows]
    first = np.unique(distinct_row, return_index=True)[1]
    is_exact = documents * max(int(np.abs(rows).max(initial=0)), 1) < FLOAT32_EXACT_BELOW
    dtype: type[np.floating[Any]] = np.float32 if is_exact else np.float64
    sums = np.empty((len(first), plan.resamples), dtype)
    buffer = np.empty((min(plan.resamples, max(1, WEIGHTS_AT_ONCE // documents)), documents), dtype)
    for part in _slices(len(first), max(1, COUNTS_AT_ONCE // documents)):
        columns = np.ascontiguousarray(rows[first[part]].astype(dtype).T)
        rng = np.random.default_rng((plan.seed, stream))
        for resamples in _slices(plan.resamples, len(buffer)):
            weights = buffer[: resamples.stop - resamples.start]
            draw(rng, weights)
            sums[part, resamples] = (weights @ columns).T
    return sums[distinct_row].reshape(*counts.shape[:-1], plan.resamples)


def _slices(size: int, step: int) -> Iterator[slice]:
    for low in range(0, size, step):
        yield slice(low, min(low + step, size))
