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
from functools import cached_property
from hashlib import blake2b
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
WEIGHTS_AT_ONCE = 1 << 22
"""Weights drawn together; the draws are the same whatever this number is. Each product with them reads all counts."""
DRAWN_AT_ONCE = 1 << 15
"""Documents drawn together, which is several times as fast for corpora of few; the draws are the same, too."""
COUNTS_AT_ONCE = 1 << 25
"""Counts multiplied together; for more counts the same weights are drawn again."""
SUMS_AT_ONCE = 1 << 23
"""Sums over resamples held in memory together: 64 MB."""
WEIGHTS_KEPT = 1 << 27
"""Weights of all units and resamples, a byte each, that are kept for blocks with counts in few units."""
FEW_OF_ALL = 8
"""One in so many units is few: their weights are multiplied apart, which takes a half of the time at most."""
BLOCKS_AT_ONCE, COMMON_ROWS = 1024, 256
"""Blocks that wait until others fill a product, and rows common to blocks that are remembered."""
FLOAT32_EXACT_BELOW = 1 << 24
"""float32 holds all whole numbers below this one exactly."""
FEW_UNITS = 20
"""With fewer units that have spans, a bootstrap over units is unreliable."""


class ResampledValues(NamedTuple):
    """The same sums, or figures, of all units, of all units but one, and of units drawn with replacement.

    Shapes (rows, 1), (rows, columns), (rows, resamples). `left_out` has a column for each unit, or, where `times` is
    given, one for as many units as `times` says, shape (columns,): without any of them the sums are the same.
    """

    observed: Array
    left_out: Array
    resampled: Array
    times: Int64 | None = None

    @classmethod
    def of_stages(cls, stages: Iterable[Array], times: Int64 | None = None) -> ResampledValues:
        """Return the values of the three `stages`."""
        observed, left_out, resampled = stages
        return cls(observed, left_out, resampled, times)

    @property
    def stages(self) -> tuple[Array, Array, Array]:
        return self.observed, self.left_out, self.resampled

    def map(self, figures: Callable[[Array], Array]) -> ResampledValues:
        """Return figures computed from the sums, shape (rows, n) to (figures, n)."""
        return self.of_stages(map(figures, self.stages), self.times)

    def differences(self, rows: Sequence[int], other_rows: Sequence[int]) -> ResampledValues:
        """Return some rows less others, row by row."""
        return self.of_stages((values[rows] - values[other_rows] for values in self.stages), self.times)


@dataclass(frozen=True, eq=False)
class Alone:
    """A block of counts whose sums are not added to those of others: they may have `ResampledValues.times`."""

    counts: Array


Block = Array | Alone
Draws = Iterator[tuple[slice, Sums]]
"""Some resamples after others, and their weights, shape (resamples, units)."""


def _told(block: Block) -> tuple[Array, bool]:
    """Return the counts of a block, and whether they are alone."""
    return (block.counts, True) if isinstance(block, Alone) else (block, False)


@dataclass(frozen=True, eq=False)
class Bootstrap:
    """The bootstrap of one analysis: all its figures are resampled with the same draws over the same units.

    More than `most_units` units are resampled in so many random groups, unless they have strata; None: never. Groups
    change the width of an interval by a few hundredths at most.
    """

    plan: ResamplingPlan
    units: ResamplingUnits
    most_units: int | None = None

    def resample(self, blocks: Iterable[Block]) -> Iterator[ResampledValues]:
        """Yield the sums of each block of counts, shape (rows, documents)."""
        return self._resample_counts((self.units.sum_counts(counts), alone) for counts, alone in map(_told, blocks))

    def resample_units(self, blocks: Iterable[Block]) -> Iterator[ResampledValues]:
        """Yield the sums of each block of counts, shape (rows, units)."""
        return self._resample_counts(map(_told, blocks))

    def _resample_counts(self, blocks: Iterable[tuple[Array, bool]]) -> Iterator[ResampledValues]:
        """Yield the sums of each block of counts, which come with whether they are `Alone`.

        Drawing weights takes longer than adding up, so that units are drawn once for as many blocks as SUMS_AT_ONCE
        and COUNTS_AT_ONCE allow. Blocks with counts in few units are multiplied by the weights of these alone.
        """
        batch: list[Array | _FewUnits] = []
        n_rows = 0
        for counts, alone in blocks:
            block = self.group_units(counts)
            most = min(SUMS_AT_ONCE // self.plan.resamples, COUNTS_AT_ONCE // max(1, block.shape[-1]))
            few = self._in_few_units(block, alone)
            n_added = 0 if few else len(block)
            if batch and (n_rows + n_added > most or len(batch) == BLOCKS_AT_ONCE):
                yield from self._resample_batch(batch)
                batch, n_rows = [], 0
            batch.append(few or block)
            n_rows += n_added
        if batch:
            yield from self._resample_batch(batch)

    def _resample_batch(self, batch: Sequence[Array | _FewUnits]) -> Iterator[ResampledValues]:
        blocks = [block for block in batch if not isinstance(block, _FewUnits)]
        if blocks:
            # Weights that blocks of few units need are not drawn a second time.
            draws = self._kept_draws if len(blocks) < len(batch) or "_weights" in vars(self) else None
            sums = bootstrap_sums(np.concatenate(blocks), self.plan, self.units.strata, draws)
            parts = iter(np.split(sums, np.cumsum([len(block) for block in blocks])[:-1]))
        for block in batch:
            if isinstance(block, _FewUnits):
                yield self._resample_few(block)
            else:
                observed = block.sum(axis=-1, keepdims=True, dtype=np.int64)
                yield ResampledValues(observed, observed - block, next(parts))

    def _in_few_units(self, block: Array, alone: bool) -> _FewUnits | None:
        """Return a block as `_FewUnits`, None where it is not one or the weights of all units cannot be kept."""
        n_units = block.shape[-1]
        is_drawn_apart = self.units.strata is not None or n_units != self.units.count
        if is_drawn_apart or not 0 < n_units * self.plan.resamples <= WEIGHTS_KEPT:
            return None
        is_counted = block != 0
        is_common = is_counted.sum(axis=1) * FEW_OF_ALL > n_units
        units = np.flatnonzero(is_counted[~is_common].any(axis=0))
        # Common rows are multiplied one by one: worth it where other blocks have them too, as a few of a rare type.
        if len(units) * FEW_OF_ALL > n_units or 2 * is_common.sum() > len(block):
            return None
        return _FewUnits(
            is_common, units, block[~is_common][:, units], [self._common_row(row) for row in block[is_common]], alone
        )

    def _common_row(self, row: Array) -> _CommonRow:
        """Return a row that several blocks may share."""
        key = row.tobytes()
        common = self._common_rows.pop(key, None)
        # The latest come last.
        self._common_rows[key] = common = common or _CommonRow(row)
        if len(self._common_rows) > COMMON_ROWS:
            del self._common_rows[next(iter(self._common_rows))]
        return common

    @cached_property
    def _common_rows(self) -> dict[bytes, _CommonRow]:
        return {}

    @cached_property
    def _classes(self) -> dict[tuple[_CommonRow, ...], tuple[Array, Int64]]:
        return {}

    @cached_property
    def _weights(self) -> NDArray[np.uint8]:
        """How often each unit is drawn in each resample, shape (resamples, units): the draws of `bootstrap_sums`."""
        weights = np.empty((self.plan.resamples, self.units.count), np.uint8)
        for resamples, drawn in _draws(_draw_with_replacement, self.plan, 0, self.units.count):
            # One in e times the factorial of 256 is more.
            assert drawn.max(initial=0) < 256
            weights[resamples] = drawn
        return weights

    def _kept_draws(self) -> Draws:
        """Yield the kept weights as `bootstrap_sums` draws them."""
        for resamples in _slices(self.plan.resamples, max(1, WEIGHTS_AT_ONCE // self.units.count)):
            yield resamples, self._weights[resamples].astype(np.float32)

    def _resample_few(self, block: _FewUnits) -> ResampledValues:
        resampled = np.empty((len(block.is_common), self.plan.resamples))
        resampled[~block.is_common] = block.counts.astype(np.float64) @ self._weights[:, block.units].T
        resampled[block.is_common] = self._common_sums(block.common)
        observed = np.empty((len(resampled), 1), np.int64)
        observed[~block.is_common, 0] = block.counts.sum(axis=1, dtype=np.int64)
        observed[block.is_common, 0] = self._common_table(block.common).sum(axis=1, dtype=np.int64)
        n_units = self.units.count
        if not block.alone:
            counts = np.zeros((len(resampled), n_units), np.int64)
            counts[np.ix_(~block.is_common, block.units)] = block.counts
            counts[block.is_common] = self._common_table(block.common)
            return ResampledValues(observed, observed - counts, resampled)
        columns, class_of_unit = self._column_classes(block.common)
        times = np.bincount(class_of_unit, minlength=columns.shape[1])
        times -= np.bincount(class_of_unit[block.units], minlength=columns.shape[1])
        n_few, others = len(block.units), np.flatnonzero(times)
        counts = np.zeros((len(resampled), n_few + len(others)), np.int64)
        counts[~block.is_common, :n_few] = block.counts
        counts[block.is_common] = np.concatenate((columns[:, class_of_unit[block.units]], columns[:, others]), axis=1)
        times = np.concatenate((np.ones(n_few, np.int64), times[others]))
        return ResampledValues(observed, observed - counts, resampled, times)

    def _common_sums(self, rows: Sequence[_CommonRow]) -> Float64:
        """Return the sums of some rows over drawn units, shape (rows, resamples)."""
        new = [row for row in rows if row.sums is None]
        if new:
            counts = np.array([row.counts for row in new], np.float64)
            sums = np.empty((len(new), self.plan.resamples))
            for resamples, weights in self._kept_draws():
                sums[:, resamples] = counts @ weights.T
            for row, values in zip(new, sums, strict=True):
                row.sums = values
        return np.array([row.sums for row in rows]).reshape(len(rows), self.plan.resamples)

    def _common_table(self, rows: Sequence[_CommonRow]) -> Array:
        """Return the counts of some rows, shape (rows, units)."""
        return np.array([row.counts for row in rows], np.int64).reshape(len(rows), self.units.count)

    def _column_classes(self, rows: Sequence[_CommonRow]) -> tuple[Array, Int64]:
        """Return the distinct columns of some rows, shape (rows, classes), and the class of each unit."""
        key = tuple(rows)
        if key not in self._classes:
            self._classes.clear()
            columns, class_of_unit = np.unique(self._common_table(rows), axis=1, return_inverse=True)
            self._classes[key] = columns, class_of_unit.reshape(-1)
        return self._classes[key]

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
        quantiles = tail_quantiles(self.plan.level, effective_units(figures.left_out, figures.times), strata)
        accelerations = acceleration(figures.left_out, strata, figures.times)
        return bca_intervals(figures.observed[:, 0], figures.resampled, accelerations, quantiles)


class _CommonRow:
    """A row of counts that many units have, and its sums over drawn units once these were needed."""

    def __init__(self, counts: Array) -> None:
        self.counts = counts
        self.sums: Float64 | None = None


@dataclass(frozen=True, eq=False)
class _FewUnits:
    """A block of counts of which most rows are 0 but in few units.

    `is_common` tells which rows are not, shape (rows,); they are `common`. `counts` are those of the others in `units`,
    shape (other rows, units).
    """

    is_common: Bools
    units: Int64
    counts: Array
    common: Sequence[_CommonRow]
    alone: bool


def document_counts(scores: CountedScores, criterion: str) -> DocumentCounts:
    """Return the PARTS of each document under a criterion, shape (4, documents); a document without spans has zeros."""
    rows = scores.by_document(criterion)
    counts = np.zeros((len(PARTS), scores.documents), np.int32)
    for part, side in enumerate((rows.gold, rows.pred)):
        counts[part, rows.numbers] = 2 * side[:, Decision.COR] + side[:, Decision.PAR]
        counts[2 + part, rows.numbers] = side.sum(axis=1)
    return counts


def type_counts(scores: Scores, criterion: str, types: tuple[str, ...]) -> DocumentCounts:
    """Return the PARTS of each type and document, shape (types, 4, documents); see `counts_of_types`."""
    counts = np.zeros((len(types), len(PARTS), scores.documents), np.int32)
    for row, of_type in zip(counts, counts_of_types(scores, criterion, types), strict=True):
        row[:] = of_type
    return counts


def counts_of_types(scores: Scores, criterion: str, types: tuple[str, ...]) -> Iterator[DocumentCounts]:
    """Yield the PARTS of each document for one type after another, shape (4, documents).

    Gold spans and predictions count for their own types. `types` must hold those of both layers as scored under the
    criterion.
    """
    code_of_type = {kind: code for code, kind in enumerate(types)}
    sides = []
    columns = zip(scores.layers(criterion), scores.decisions(criterion), scores.weights(criterion), strict=True)
    for layer, decisions, weights in columns:
        code = np.array([code_of_type.get(kind, -1) for kind in layer.types], np.int64)[layer.type]
        order = np.argsort(code, kind="stable")
        credit = (2 * (decisions == Decision.COR) + (decisions == Decision.PAR)) * weights
        edges = np.searchsorted(code[order], np.arange(len(types) + 1))
        sides.append((edges, layer.doc[order], credit[order], weights[order]))
    for number in range(len(types)):
        counts = np.zeros((len(PARTS), scores.documents), np.int32)
        for side, (edges, doc, credit, weights) in enumerate(sides):
            spans = slice(edges[number], edges[number + 1])
            for part, values in ((side, credit), (2 + side, weights)):
                counts[part] = np.bincount(doc[spans], values[spans], scores.documents)
        yield counts


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


def bootstrap_sums(
    counts: DocumentCounts, plan: ResamplingPlan, strata: Int64 | None = None, draws: Callable[[], Draws] | None = None
) -> Sums:
    """Return the sums over documents drawn with replacement, shape (..., documents) to (..., resamples).

    `strata` is the stratum of each document: from each stratum as many are drawn as it has. `draws` yields the
    weights where they were drawn before.
    """

    def draw_within(rng: np.random.Generator, weights: Sums) -> None:
        for members in stratum_members:
            weights[:, members] = rng.multinomial(len(members), np.full(len(members), 1 / len(members)), len(weights))

    if strata is None:
        return _weighted_sums(counts, plan, 0, _draw_with_replacement, draws)
    stratum_members = np.split(np.argsort(strata, kind="stable"), np.cumsum(np.bincount(strata))[:-1])
    return _weighted_sums(counts, plan, 0, draw_within)


def _draw_with_replacement(rng: np.random.Generator, weights: Sums) -> None:
    resamples, documents = weights.shape
    step = max(1, DRAWN_AT_ONCE // documents)
    first = np.arange(0, step * documents, documents)[:, np.newaxis]
    for rows in _slices(resamples, step):
        part = weights[rows]
        drawn = rng.integers(0, documents, part.shape, np.int32) + first[: len(part)]
        part[:] = np.bincount(drawn.ravel(), minlength=part.size).reshape(part.shape)


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


def _weighted_sums(
    counts: DocumentCounts, plan: ResamplingPlan, stream: int, draw: Draw, draws: Callable[[], Draws] | None = None
) -> Sums:
    documents = counts.shape[-1]
    if not documents:
        return np.zeros((*counts.shape[:-1], plan.resamples))
    rows = np.ascontiguousarray(counts).reshape(-1, documents)
    # Criteria share the number of spans and often all counts: equal rows are multiplied once.
    codes: dict[bytes, int] = {}
    distinct_row = [codes.setdefault(blake2b(row.tobytes()).digest(), len(codes)) for row in rows]
    first = np.unique(distinct_row, return_index=True)[1]
    most = np.maximum(rows.max(axis=1, initial=1), -rows.min(axis=1, initial=0)).astype(np.float64)[first]
    is_exact = documents * most < FLOAT32_EXACT_BELOW
    sums = np.empty((len(first), plan.resamples), np.float32 if is_exact.all() else np.float64)
    for part in _slices(len(first), max(1, COUNTS_AT_ONCE // documents)):
        # Products of float32 take half of the time: a few rows of large counts do not slow down all.
        by_type = ((np.float32, is_exact[part]), (np.float64, ~is_exact[part]))
        columns = [
            (part.start + np.flatnonzero(which), np.ascontiguousarray(rows[first[part][which]].astype(dtype).T))
            for dtype, which in by_type
            if which.any()
        ]
        for resamples, weights in draws() if draws else _draws(draw, plan, stream, documents):
            for places, of_type in columns:
                sums[places, resamples] = (weights.astype(of_type.dtype, copy=False) @ of_type).T
    return sums[distinct_row].reshape(*counts.shape[:-1], plan.resamples)


def _draws(draw: Draw, plan: ResamplingPlan, stream: int, units: int) -> Draws:
    """Yield a few resamples after another and their weights, shape (resamples, units); the next overwrite these."""
    buffer = np.empty((min(plan.resamples, max(1, WEIGHTS_AT_ONCE // units)), units), np.float32)
    rng = np.random.default_rng((plan.seed, stream))
    for resamples in _slices(plan.resamples, len(buffer)):
        weights = buffer[: resamples.stop - resamples.start]
        draw(rng, weights)
        yield resamples, weights


def _slices(size: int, step: int) -> Iterator[slice]:
    for low in range(0, size, step):
        yield slice(low, min(low + step, size))
