"""The pairs of gold spans and predictions that nervaluate makes.

Most clusters of overlapping spans hold one gold span and one prediction: every version pairs these under every schema.
In the tangled rest the order of input decides: from 1.0 on, predictions choose in input order among the gold spans that
are left. That is the one stable matching in which predictions have preferences and every gold span prefers the earlier
prediction, so that all predictions may choose at once and give way to earlier ones (Gale and Shapley 1962).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from nereval_core.alignment.candidates import overlap_blocks
from nereval_core.alignment.codes import ranges
from nereval_core.corpus.arrays import Array, Int64

Preference = Literal["first", "identical", "bounds", "type"]

SAME_BOUNDS, SAME_TYPE = 1, 2
IDENTICAL = SAME_BOUNDS | SAME_TYPE
BLOCK = 1 << 21
"""Overlapping pairs that are looked at together."""
DENSE = 512
"""Overlaps a prediction above which it is faster to work off a cluster prediction by prediction, in little memory."""
FEW = 48
"""Predictions without a gold span below which one at a time is faster than all at once."""


@dataclass(frozen=True, eq=False)
class SpanUnits:
    """One side's spans, sorted by start, end and type.

    `start` and `end` (exclusive) are positions in the row of all documents: characters or tokens. `kind` is the code of
    the type, in the order of the names and shared by both sides; `order` says which was given first.
    """

    start: Int64
    end: Int64
    kind: Array
    order: Array

    def __len__(self) -> int:
        return len(self.start)

    def take(self, which: Array) -> SpanUnits:
        return SpanUnits(self.start[which], self.end[which], self.kind[which], self.order[which])


@dataclass(frozen=True, eq=False)
class PairedSpans:
    """Paired spans, by index, and of each pair the bits SAME_BOUNDS and SAME_TYPE."""

    gold: Int64
    pred: Int64
    code: Array

    def __len__(self) -> int:
        return len(self.gold)

    def take(self, which: Array) -> PairedSpans:
        return PairedSpans(self.gold[which], self.pred[which], self.code[which])

    def of_one_type(self) -> PairedSpans:
        return self.take(np.flatnonzero(self.code & SAME_TYPE))


@dataclass(frozen=True, eq=False)
class SpanClusters:
    """Pairs that stand alone, and the spans of tangled clusters with the number of their cluster."""

    alone: PairedSpans
    gold: Int64
    gold_cluster: Int64
    pred: Int64
    pred_cluster: Int64


def concatenate_pairs(parts: Sequence[PairedSpans]) -> PairedSpans:
    if not parts:
        return PairedSpans(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.uint8))
    return PairedSpans(*(np.concatenate([getattr(part, name) for part in parts]) for name in ("gold", "pred", "code")))


def find_clusters(gold: SpanUnits, pred: SpanUnits) -> SpanClusters:
    """Cut both sides into clusters of spans that overlap directly or by way of others."""
    size = len(gold)
    start = np.concatenate((gold.start, pred.start))
    end = np.concatenate((gold.end, pred.end))
    # Both sides are sorted: the stable sort merges two runs.
    order = np.argsort(start, kind="stable")
    reach = end[order]
    np.maximum.accumulate(reach, out=reach)
    opens = np.ones(len(order) + 1, bool)
    np.greater_equal(start[order][1:], reach[:-1], out=opens[1:-1])
    at = np.flatnonzero(opens[:-2] & ~opens[1:-1] & opens[2:])
    before, after = order[at], order[at + 1]
    # Whichever comes first, the gold span has the lower number; two spans of one side are not a pair.
    g, p = np.minimum(before, after), np.maximum(before, after) - size
    apart = (g < size) & (p >= 0)
    if not apart.all():
        g, p = g[apart], p[apart]
    alone = PairedSpans(g, p, pair_codes(gold, pred, g, p))
    edge = np.flatnonzero(opens)
    large = np.flatnonzero(np.diff(edge) > 2)
    row, number = ranges(edge[large], edge[large + 1])
    member = order[number]
    predicted = member >= size
    both = (np.bincount(row[predicted], minlength=len(large)) > 0) & (
        np.bincount(row[~predicted], minlength=len(large)) > 0
    )
    is_mixed = both[row]
    ours, theirs = is_mixed & ~predicted, is_mixed & predicted
    return SpanClusters(alone, member[ours], row[ours], member[theirs] - size, row[theirs])


def pair_codes(gold: SpanUnits, pred: SpanUnits, g: Int64, p: Int64) -> Array:
    bounds = (gold.start[g] == pred.start[p]) & (gold.end[g] == pred.end[p])
    code = bounds.view(np.uint8) * np.uint8(SAME_BOUNDS)
    code |= (gold.kind[g] == pred.kind[p]).view(np.uint8) * np.uint8(SAME_TYPE)
    return np.asarray(code)


def with_overlap_of(gold: SpanUnits, pred: SpanUnits, pairs: PairedSpans, minimum: float) -> PairedSpans:
    """Return the pairs whose overlap is at least `minimum` percent of the gold span, reckoned as nervaluate does."""
    unsure = np.flatnonzero(~(pairs.code & SAME_BOUNDS).astype(bool))
    g, p = pairs.gold[unsure], pairs.pred[unsure]
    shared = np.minimum(gold.end[g], pred.end[p]) - np.maximum(gold.start[g], pred.start[p])
    short = unsure[~((shared / (gold.end[g] - gold.start[g])) * 100.0 >= minimum)]
    return pairs.take(np.delete(np.arange(len(pairs)), short)) if len(short) else pairs


def overlapping_pairs(gold: SpanUnits, pred: SpanUnits, g: Int64, p: Int64) -> Iterator[PairedSpans]:
    """List the overlapping pairs of these spans (increasing indices), about BLOCK at a time."""
    for gold_spans, pred_spans in overlap_blocks(gold.start[g], gold.end[g], pred.start[p], pred.end[p], BLOCK):
        yield PairedSpans(g[gold_spans], p[pred_spans], pair_codes(gold, pred, g[gold_spans], p[pred_spans]))


def pairs_by_preference(
    gold: SpanUnits, pred: SpanUnits, clusters: SpanClusters, minimum: float, passes: Iterable[tuple[Preference, bool]]
) -> dict[tuple[Preference, bool], PairedSpans]:
    """Return the pairs of tangled spans by preference and whether each type is matched on its own."""
    results: dict[tuple[Preference, bool], list[PairedSpans]] = {key: [] for key in passes}
    light, dense = _parts(gold, pred, clusters) if len(clusters.gold) else ([], [])
    for g, p in light:
        queue_of_all = PairQueue.of(
            gold,
            pred,
            with_overlap_of(gold, pred, concatenate_pairs(list(overlapping_pairs(gold, pred, g, p))), minimum),
        )
        typed_only = queue_of_all.of_one_type() if any(typed for _, typed in results) else queue_of_all
        for (preference, typed), parts in results.items():
            queue = typed_only if typed else queue_of_all
            parts.append(queue.pairs.take(_stable(gold, pred, queue, preference)))
    for g, p in dense:
        for (preference, typed), parts in results.items():
            parts.append(_in_turn(gold, pred, g, p, minimum, preference, typed))
    return {key: concatenate_pairs(parts) for key, parts in results.items()}


def _parts(
    gold: SpanUnits, pred: SpanUnits, clusters: SpanClusters
) -> tuple[list[tuple[Int64, Int64]], list[tuple[Int64, Int64]]]:
    """Return gold spans and predictions of clusters: by about BLOCK overlaps, and each dense one for itself."""
    gold_start, pred_start = gold.start[clusters.gold], pred.start[clusters.pred]
    ours = np.searchsorted(pred_start, gold.end[clusters.gold]) - np.searchsorted(pred_start, gold_start)
    theirs = np.searchsorted(gold_start, pred.end[clusters.pred])
    theirs -= np.searchsorted(gold_start, pred_start, side="right")
    count = int(clusters.gold_cluster[-1]) + 1
    size = np.bincount(clusters.gold_cluster, ours, count) + np.bincount(clusters.pred_cluster, theirs, count)
    dense = (size > DENSE * np.bincount(clusters.pred_cluster, minlength=count)) | (size > 4 * BLOCK)
    part = np.cumsum(np.where(dense, 0, size)).astype(np.int64) // BLOCK
    part[dense] = -1
    gold_part, pred_part = part[clusters.gold_cluster], part[clusters.pred_cluster]
    light = [
        (clusters.gold[gold_part == n], clusters.pred[pred_part == n])
        for n in np.flatnonzero(np.bincount(part + 1)[1:])
    ]
    # Clusters are numbered in the order of their spans.
    which = np.flatnonzero(dense)
    edges = [
        (np.searchsorted(side, which), np.searchsorted(side, which + 1))
        for side in (clusters.gold_cluster, clusters.pred_cluster)
    ]
    heavy = [
        (clusters.gold[low:high], clusters.pred[first:last])
        for low, high, first, last in zip(*(edge.tolist() for pair in edges for edge in pair), strict=True)
    ]
    return light, heavy


@dataclass(frozen=True, eq=False)
class PairQueue:
    """Pairs in the order in which predictions were given, and those of one prediction in that of the gold spans.

    `turn` and `choice` number predictions and gold spans from 0, predictions in their order.
    """

    pairs: PairedSpans
    turn: Int64
    choice: Int64

    @classmethod
    def of(cls, gold: SpanUnits, pred: SpanUnits, pairs: PairedSpans) -> PairQueue:
        turn, choice = _ranked(pred.order, pairs.pred), _ranked(gold.order, pairs.gold)
        order = np.argsort(turn * (len(gold) + 1) + choice)
        return cls(pairs.take(order), turn[order], choice[order])

    def of_one_type(self) -> PairQueue:
        rows = np.flatnonzero(self.pairs.code & SAME_TYPE)
        return PairQueue(self.pairs.take(rows), self.turn[rows], self.choice[rows])


def _ranked(order: Array, spans: Int64) -> Int64:
    """Return the rank in input order of each of these spans among them."""
    is_present = np.zeros(len(order), bool)
    is_present[spans] = True
    present = np.flatnonzero(is_present)
    rank = np.empty(len(order), np.int64)
    rank[present[np.argsort(order[present], kind="stable")]] = np.arange(len(present))
    ranks: Int64 = rank[spans]
    return ranks


def _rank(gold: SpanUnits, pred: SpanUnits, pairs: PairedSpans, preference: Preference) -> Array | None:
    """Return the sort key of a prediction's gold spans, the least first, None where input order decides alone."""
    if preference == "first":
        return None
    if preference == "identical":
        return np.asarray(pairs.code != IDENTICAL, np.int64)
    if preference == "bounds":
        return np.asarray((pairs.code & SAME_BOUNDS) == 0, np.int64)
    g, p = pairs.gold, pairs.pred
    distance = np.abs(gold.start[g] - pred.start[p]) + np.abs(gold.end[g] - pred.end[p])
    return np.asarray(np.where(pairs.code & SAME_TYPE, distance, distance.max(initial=0) + 1), np.int64)


def _stable(gold: SpanUnits, pred: SpanUnits, queue: PairQueue, preference: Preference) -> Int64:
    """Return which pairs come about where predictions choose in input order."""
    turn, choice = queue.turn, queue.choice
    if not len(turn):
        return turn
    ranked = np.arange(len(turn))
    if (rank := _rank(gold, pred, queue.pairs, preference)) is not None:
        ranked = np.argsort(turn * (rank.max() + 1) + rank, kind="stable")
        choice = choice[ranked]
    edge = np.flatnonzero(turn[1:] != turn[:-1]) + 1
    at, stop = np.insert(edge, 0, 0), np.append(edge, len(turn))
    none = len(at)
    holder = np.full(int(choice.max()) + 1, none)
    free = np.arange(none)
    while len(free) > FEW:
        target = choice[at[free]]
        before = holder[target]
        np.minimum.at(holder, target, free)
        won = holder[target] == free
        free = np.concatenate((free[~won], before[won & (before < none)]))
        at[free] += 1
        free = free[at[free] < stop[free]]
    _finish(free.tolist(), at, stop, choice, holder, none)
    pairs: Int64 = ranked[at[holder[holder < none]]]
    return pairs


def _finish(free: list[int], at: Int64, stop: Int64, choice: Int64, holder: Int64, none: int) -> None:
    """Let the last predictions choose one at a time; a prediction that gives way chooses next."""
    for waiting in free:
        pred = waiting
        while at[pred] < stop[pred]:
            target = choice[at[pred]]
            if pred < holder[target]:
                holder[target], pred = pred, int(holder[target])
                if pred == none:
                    break
            at[pred] += 1


def _in_turn(
    gold: SpanUnits, pred: SpanUnits, g: Int64, p: Int64, minimum: float, preference: Preference, typed: bool
) -> PairedSpans:
    """Pair one cluster prediction by prediction, each against all gold spans that are left."""
    candidates = g[np.argsort(gold.order[g], kind="stable")]
    ours = gold.take(candidates)
    used = np.zeros(len(candidates), bool)
    pairs_made = []
    for prediction in p[np.argsort(pred.order[p], kind="stable")].tolist():
        near = ~used & (ours.start < pred.end[prediction]) & (ours.end > pred.start[prediction])
        if typed:
            near &= ours.kind == pred.kind[prediction]
        at = np.flatnonzero(near)
        pairs = PairedSpans(at, np.full(len(at), prediction), pair_codes(ours, pred, at, np.full(len(at), prediction)))
        pairs = with_overlap_of(ours, pred, pairs, minimum)
        if len(pairs):
            rank = _rank(ours, pred, pairs, preference)
            best = 0 if rank is None else int(np.argmin(rank))
            used[pairs.gold[best]] = True
            pairs_made.append((int(candidates[pairs.gold[best]]), prediction, int(pairs.code[best])))
    columns = np.array(pairs_made, np.int64).reshape(-1, 3)
    return PairedSpans(columns[:, 0], columns[:, 1], columns[:, 2].astype(np.uint8))


def first_reached_pairs(gold: SpanUnits, pred: SpanUnits, clusters: SpanClusters) -> tuple[PairedSpans, Int64]:
    """Return the pairs of tangled spans that count in 0.3.1, and the gold spans that an identical one counts for.

    Predictions stand in the order of their ends, gold spans in that of their starts. A prediction that is identical to
    a gold span reaches that one, used or not. Any other reaches the gold spans it overlaps up to the first with its
    own boundaries, which counts used or not; the others count if no prediction has reached them or their doubles.
    """
    g, p = clusters.gold, clusters.pred
    if not len(g):
        return concatenate_pairs([]), g
    first, group = _doubles(gold, g)
    place = np.full(len(gold), -1)
    place[g] = np.arange(len(g))
    row = np.full(len(pred), -1)
    row[p] = np.arange(len(p))
    rank = _inverse(np.lexsort((gold.order[g], gold.start[g])))
    turn = _inverse(np.lexsort((pred.order[p], pred.end[p])))
    by_rank, by_turn = _inverse(rank), _inverse(turn)
    never = len(g)
    same, stop = np.full(len(p), -1), np.full(len(p), never)
    for pairs in overlapping_pairs(gold, pred, g, p):
        equal = pairs.code == IDENTICAL
        same[row[pairs.pred[equal]]] = group[place[pairs.gold[equal]]]
        bounds = pairs.code == SAME_BOUNDS
        np.minimum.at(stop, row[pairs.pred[bounds]], rank[place[pairs.gold[bounds]]])
    earliest = np.full(len(first), len(p))
    for pairs in overlapping_pairs(gold, pred, g, p):
        ours, theirs = place[pairs.gold], row[pairs.pred]
        does_count = np.where(same[theirs] >= 0, pairs.code == IDENTICAL, rank[ours] <= stop[theirs])
        np.minimum.at(earliest, group[ours[does_count]], turn[theirs[does_count]])
    exact = np.flatnonzero(same >= 0)
    halted = np.flatnonzero((same < 0) & (stop < never))
    touched = np.flatnonzero(earliest < len(p))
    by = by_turn[earliest[touched]]
    over = (same[by] < 0) & (rank[first[touched]] != stop[by])
    gold_row = np.concatenate((first[same[exact]], by_rank[stop[halted]], first[touched[over]]))
    pred_row = np.concatenate((exact, halted, by[over]))
    double = np.ones(len(g), bool)
    double[first] = False
    double &= earliest[group] < len(p)
    return PairedSpans(g[gold_row], p[pred_row], pair_codes(gold, pred, g[gold_row], p[pred_row])), g[double]


def _doubles(gold: SpanUnits, g: Int64) -> tuple[Int64, Int64]:
    """Return of each set of identical gold spans the place of the one given first, and the set of each span."""
    differ = np.ones(len(g), bool)
    differ[1:] = False
    for column in (gold.start[g], gold.end[g], gold.kind[g]):
        differ[1:] |= column[1:] != column[:-1]
    group = np.cumsum(differ) - 1
    order = np.lexsort((gold.order[g], group))
    return order[np.flatnonzero(differ)], group


def _inverse(order: Int64) -> Int64:
    inverse = np.empty(len(order), np.int64)
    inverse[order] = np.arange(len(order))
    return inverse
