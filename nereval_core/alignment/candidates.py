"""Tangled spans and their candidate pairs, which the solvers of tangled clusters take.

All positions are those in the row of all texts; spans are indices into a tangle, the tangled spans of both sides.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nereval_core.alignment.codes import EQUAL, SAME_TYPE, Facts, Spans, describe, ranges
from nereval_core.corpus.arrays import Array, Int64

BLOCK_PAIRS = 1 << 22
"""Candidate pairs that are looked at together where a cluster is too large to hold them all."""
CREDIT = np.array([2, 0, 1, 0, 0], np.int64)
"""Twice the credit of each decision."""


@dataclass(frozen=True, slots=True)
class TangledSpans:
    """Tangled spans of both sides: index, position (start, end), type, and rank among all of them.

    Spans with equal boundaries, type, fragments, core and alternatives have equal ranks, whichever side they are on.
    `ranks` is the number of different ones.
    """

    gold: Int64
    pred: Int64
    gold_start: Int64
    gold_end: Int64
    pred_start: Int64
    pred_end: Int64
    gold_type: Array
    pred_type: Array
    gold_rank: Int64
    pred_rank: Int64
    ranks: int
    gold_parts: dict[int, tuple[tuple[int, int], ...]]
    pred_parts: dict[int, tuple[tuple[int, int], ...]]
    preds: Spans
    facts: Facts

    def size(self, side: str) -> Int64:
        """Characters of each span, those between fragments left out."""
        start, end, parts = (
            (self.gold_start, self.gold_end, self.gold_parts)
            if side == "gold"
            else (self.pred_start, self.pred_end, self.pred_parts)
        )
        size = end - start
        for span, fragments in parts.items():
            size[span] = sum(high - low for low, high in fragments)
        return size

    def take(self, g: Int64, p: Int64) -> TangledSpans:
        """Return a tangle of some gold spans and predictions (increasing indices)."""
        return replace(
            self,
            gold=self.gold[g],
            pred=self.pred[p],
            gold_start=self.gold_start[g],
            gold_end=self.gold_end[g],
            pred_start=self.pred_start[p],
            pred_end=self.pred_end[p],
            gold_type=self.gold_type[g],
            pred_type=self.pred_type[p],
            gold_rank=self.gold_rank[g],
            pred_rank=self.pred_rank[p],
            gold_parts=_parts_of_some(self.gold_parts, g),
            pred_parts=_parts_of_some(self.pred_parts, p),
        )


@dataclass(frozen=True, slots=True)
class CandidatePairs:
    """Candidate pairs: the two spans (indices into the tangle), code, shared characters, difference of boundaries, key.

    `key` orders pairs by rule 7 of docs/scoring.md#alignment.
    """

    gold: Int64
    pred: Int64
    code: NDArray[np.uint8]
    shared: Int64
    difference: Int64
    key: Int64

    def __len__(self) -> int:
        return len(self.gold)

    def of(self, g: Int64, p: Int64) -> CandidatePairs:
        """Return the pairs with their spans as indices into another tangle: `g` and `p` give those of this one's."""
        return replace(self, gold=g[self.gold], pred=p[self.pred])

    def take(self, which: Array | slice) -> CandidatePairs:
        if not isinstance(which, slice) and which.dtype == bool:
            # Six columns are faster to take by number.
            which = np.flatnonzero(which)
        return CandidatePairs(
            self.gold[which],
            self.pred[which],
            self.code[which],
            self.shared[which],
            self.difference[which],
            self.key[which],
        )


def tangled_spans(
    gold: Spans, pred: Spans, base: Int64, facts: Facts, gold_spans: Int64, pred_spans: Int64
) -> TangledSpans:
    columns = []
    parts = []
    more: list[dict[int, _More]] = []
    for spans, members in ((gold, gold_spans), (pred, pred_spans)):
        origin = base[spans.doc[members]]
        columns.append((origin + spans.start[members], origin + spans.end[members], spans.type[members]))
        mine: dict[int, tuple[tuple[int, int], ...]] = {}
        if spans.fragments:
            for place, span in enumerate(members.tolist()):
                if span in spans.fragments:
                    shift = int(origin[place])
                    mine[place] = tuple((low + shift, high + shift) for low, high in spans.fragments[span])
        parts.append(mine)
        more.append(_more(spans, members))
    ranks = _ranks(columns, parts, more)
    (gold_start, gold_end, gold_type), (pred_start, pred_end, pred_type) = columns
    return TangledSpans(
        gold_spans,
        pred_spans,
        gold_start,
        gold_end,
        pred_start,
        pred_end,
        gold_type,
        pred_type,
        ranks[: len(gold_spans)],
        ranks[len(gold_spans) :],
        int(ranks.max(initial=-1)) + 1,
        parts[0],
        parts[1],
        pred,
        facts,
    )


def _parts_of_some(
    parts: dict[int, tuple[tuple[int, int], ...]], members: Int64
) -> dict[int, tuple[tuple[int, int], ...]]:
    if not parts:
        return {}
    return {place: parts[span] for place, span in enumerate(members.tolist()) if span in parts}


_More = tuple[tuple[int, int], tuple[tuple[int, int], ...]]


def _more(spans: Spans, members: Int64) -> dict[int, _More]:
    """Return core and alternatives by place, whatever is asked: ties are broken alike for all criteria."""
    if not spans.cores and not spans.alternatives:
        return {}
    return {
        place: (spans.cores.get(span, (-1, -1)), tuple(sorted(set(spans.alternatives.get(span, ())))))
        for place, span in enumerate(members.tolist())
        if span in spans.cores or span in spans.alternatives
    }


def _ranks(
    columns: list[tuple[Int64, Int64, Array]],
    parts: list[dict[int, tuple[tuple[int, int], ...]]],
    more: list[dict[int, _More]],
) -> Int64:
    """Rank both sides' spans together by start, end, type, fragments, core and alternatives; equal ones equally."""
    start, end, kind = (
        np.concatenate((gold_column, pred_column)).astype(np.int64)
        for gold_column, pred_column in zip(*columns, strict=True)
    )
    keys = [end - start, kind]
    keys += [_order(extra, len(columns[0][0]), len(start)) for extra in (parts, more) if any(extra)]
    # Columns are packed into one number as long as they fit; each side is sorted by it (or nearly so), which makes
    # sorting them together a merge.
    packed, most = start, int(start.max())
    for key in keys:
        size = int(key.max()) + 1
        if (most + 1) * size >= 1 << 63:
            packed = _dense(packed)
            most = int(packed.max())
        packed = packed * size + key
        most = (most + 1) * size - 1
    return _dense(packed)


def _dense(values: Int64) -> Int64:
    """Number values from 0 in their order, equal ones equally."""
    sequence = np.argsort(values, kind="stable")
    steps = np.zeros(len(values), np.int64)
    steps[1:] = np.diff(values[sequence]) != 0
    ranks = np.empty(len(values), np.int64)
    ranks[sequence] = np.cumsum(steps)
    return ranks


def _order(extra: Sequence[Mapping[int, Any]], golds: int, spans: int) -> Int64:
    """Number the values that some spans of either side have, from 1 in their order; 0 stands for none."""
    number = {value: rank for rank, value in enumerate(sorted({v for side in extra for v in side.values()}), 1)}
    order = np.zeros(spans, np.int64)
    for offset, side in zip((0, golds), extra, strict=True):
        for place, value in side.items():
            order[offset + place] = number[value]
    return order


def overlap_ranges(tangle: TangledSpans) -> tuple[Int64, Int64, Int64, Int64]:
    """Return where the overlaps of each span are: every pair of overlapping hulls is in exactly one range.

    A gold span meets the predictions that start inside it, and a prediction the gold spans that start inside it but
    not where it starts itself. Positions are sorted on both sides, so that both are ranges.
    """
    return _ranges_of(tangle.gold_start, tangle.gold_end, tangle.pred_start, tangle.pred_end)


def _ranges_of(
    gold_start: Int64, gold_end: Int64, pred_start: Int64, pred_end: Int64
) -> tuple[Int64, Int64, Int64, Int64]:
    low = np.searchsorted(gold_start, pred_start, side="right")
    return (
        np.searchsorted(pred_start, gold_start, side="left"),
        np.searchsorted(pred_start, gold_end, side="left"),
        low,
        np.maximum(low, np.searchsorted(gold_start, pred_end, side="left")),
    )


def overlap_blocks(
    gold_start: Int64, gold_end: Int64, pred_start: Int64, pred_end: Int64, most: int
) -> Iterator[tuple[Int64, Int64]]:
    """Yield the indices of all overlapping pairs of hulls, about `most` at a time; both sides are sorted by start."""
    low, high, other_low, other_high = _ranges_of(gold_start, gold_end, pred_start, pred_end)
    for first, last, of_gold in ((low, high, True), (other_low, other_high, False)):
        total = np.cumsum(last - first)
        at = 0
        while at < len(total):
            done = int(total[at - 1]) if at else 0
            stop = max(at + 1, int(np.searchsorted(total, done + most, side="right")))
            row, other = ranges(first[at:stop], last[at:stop])
            if len(row):
                yield (row + at, other) if of_gold else (other, row + at)
            at = stop


def candidate_pairs(tangle: TangledSpans, g: Int64, p: Int64) -> CandidatePairs:
    """Describe candidate pairs; those of discontinuous spans that share no character are dropped."""
    gold_start, gold_end = tangle.gold_start[g], tangle.gold_end[g]
    pred_start, pred_end = tangle.pred_start[p], tangle.pred_end[p]
    shared = np.minimum(gold_end, pred_end) - np.maximum(gold_start, pred_start)
    code = describe(gold_start, gold_end, pred_start, pred_end)
    code |= (tangle.gold_type[g] == tangle.pred_type[p]).view(np.uint8) * np.uint8(SAME_TYPE)
    if tangle.gold_parts or tangle.pred_parts:
        broken = np.isin(g, list(tangle.gold_parts)) | np.isin(p, list(tangle.pred_parts))
        for i in np.flatnonzero(broken).tolist():
            gold_fragments = tangle.gold_parts.get(int(g[i])) or ((int(gold_start[i]), int(gold_end[i])),)
            pred_fragments = tangle.pred_parts.get(int(p[i])) or ((int(pred_start[i]), int(pred_end[i])),)
            shared[i] = shared_characters(gold_fragments, pred_fragments)
            if gold_fragments != pred_fragments:
                code[i] &= ~np.uint8(EQUAL)
        has_shared = shared > 0
        g, p, code, shared = g[has_shared], p[has_shared], code[has_shared], shared[has_shared]
        gold_start, gold_end = gold_start[has_shared], gold_end[has_shared]
        pred_start, pred_end = pred_start[has_shared], pred_end[has_shared]
    if tangle.facts.questions:
        sizes = (tangle.size("gold")[g], tangle.size("pred")[p])
        code |= tangle.facts.answers(tangle.gold[g], tangle.pred[p], tangle.preds, shared, *sizes)
    low = np.minimum(tangle.gold_rank[g], tangle.pred_rank[p])
    high = np.maximum(tangle.gold_rank[g], tangle.pred_rank[p])
    return CandidatePairs(
        g,
        p,
        code,
        shared,
        np.abs(gold_start - pred_start) + np.abs(gold_end - pred_end),
        low * tangle.ranks + high,
    )


def shared_characters(gold_fragments: tuple[tuple[int, int], ...], pred_fragments: tuple[tuple[int, int], ...]) -> int:
    """Count the characters that two sorted lists of fragments share."""
    total = i = j = 0
    while i < len(gold_fragments) and j < len(pred_fragments):
        total += max(
            0, min(gold_fragments[i][1], pred_fragments[j][1]) - max(gold_fragments[i][0], pred_fragments[j][0])
        )
        if gold_fragments[i][1] <= pred_fragments[j][1]:
            i += 1
        else:
            j += 1
    return total


def pair_blocks(tangle: TangledSpans, g: Int64, p: Int64) -> Iterator[CandidatePairs]:
    """List all candidate pairs of some gold spans and predictions, at most about BLOCK_PAIRS // 4 at a time."""
    hulls = (tangle.gold_start[g], tangle.gold_end[g], tangle.pred_start[p], tangle.pred_end[p])
    for gold_places, pred_places in overlap_blocks(*hulls, BLOCK_PAIRS // 4):
        yield candidate_pairs(tangle, g[gold_places], p[pred_places])


def _worth(pairs: CandidatePairs) -> Int64:
    """Pack equal boundaries, equal type and shared characters of single pairs into one number."""
    rank = ((pairs.code & EQUAL).astype(np.int64) << 42) | ((pairs.code & SAME_TYPE).astype(np.int64) << 36)
    worth: Int64 = rank + pairs.shared
    return worth


def preference(pairs: CandidatePairs, *before: Array) -> Int64:
    """Order pairs by `before`, and then from the best to the worst whatever they earn."""
    order: Int64 = np.lexsort((pairs.key, pairs.difference, -_worth(pairs), *before[::-1]))
    return order


def concatenate_pairs(parts: list[CandidatePairs]) -> CandidatePairs:
    names = ("gold", "pred", "code", "shared", "difference", "key")
    return CandidatePairs(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))
