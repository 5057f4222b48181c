"""Clusters with too many candidate pairs to align exactly: few pairs are offered for each span, the best taken first.

Identical spans are paired first. Of the rest, every span is offered the next WINDOW_SPANS spans of the other side that
start inside it (fewer in a cluster of more than OFFERED_PAIRS // WINDOW_SPANS spans), and, of all types and of its own,
the one before it that ends last and the one after it that ends first. The best pair offered is taken (in the order of
docs/scoring.md#alignment), then the next that is still free. The remaining spans are paired in one pass from left to
right, equal types first. Time and memory grow with the number of spans, not with that of their overlaps.

Only the rank, which both sides share, distinguishes spans: neither their order nor their side decides anything.
"""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heappop, heappush

import numpy as np

from nereval_core.alignment.candidates import (
    CREDIT,
    CandidatePairs,
    TangledSpans,
    candidate_pairs,
    concatenate_pairs,
    preference,
)
from nereval_core.alignment.codes import Rules, ranges
from nereval_core.corpus.arrays import Int64

WINDOW_SPANS = 64
"""Spans of the other side that each span is offered at most, of those that start inside it."""
OFFERED_PAIRS = 1 << 20
"""Pairs offered in one cluster, about: in larger clusters the window shrinks."""


def greedy_alignments(tangle: TangledSpans, rules: Rules, g: Int64, p: Int64) -> Iterator[tuple[int, CandidatePairs]]:
    """Yield each criterion with the pairs that a connected cluster is aligned by; `g` and `p` are its spans."""
    g, p = _by_rank(g, tangle.gold_rank), _by_rank(p, tangle.pred_rank)
    identical_gold, identical_pred = _identical(tangle.gold_rank[g], tangle.pred_rank[p])
    identical = candidate_pairs(tangle, g[identical_gold], p[identical_pred])
    g, p = np.delete(g, identical_gold), np.delete(p, identical_pred)
    offers = offered_pairs(tangle, g, p)
    offers = offers.take(preference(offers))
    for criterion in range(rules.criteria):
        credit = CREDIT[rules.decisions[:, criterion]].astype(np.uint8)[offers.code]
        best = offers.take(np.argsort(2 - credit, kind="stable"))
        best_pairs = best.take(_first_free(best))
        remaining = _without(g, best_pairs.gold), _without(p, best_pairs.pred)
        yield criterion, concatenate_pairs([identical, best_pairs, _pair_rest(tangle, *remaining)])


def offered_pairs(tangle: TangledSpans, g: Int64, p: Int64) -> CandidatePairs:
    """Return pairs of overlapping spans that differ in rank, each once: those offered for any of `g` and `p`."""
    g, p = _by_rank(g, tangle.gold_rank), _by_rank(p, tangle.pred_rank)
    most = max(1, min(WINDOW_SPANS, OFFERED_PAIRS // max(1, len(g) + len(p))))
    golds = (tangle.gold_rank[g], tangle.gold_start[g], tangle.gold_end[g], tangle.gold_type[g].astype(np.int64))
    preds = (tangle.pred_rank[p], tangle.pred_start[p], tangle.pred_end[p], tangle.pred_type[p].astype(np.int64))
    of_gold, of_pred = _offers(golds, preds, most), _offers(preds, golds, most)
    gold_places = np.concatenate((of_gold[0], of_pred[1]))
    pred_places = np.concatenate((of_gold[1], of_pred[0]))
    pair = np.unique(gold_places * max(1, len(p)) + pred_places)
    gold_places, pred_places = np.divmod(pair, max(1, len(p)))
    # Pairs of the same two ranks follow the numbers of their copies, that of the lower rank first.
    turns = _copy_numbers(golds[0])[gold_places], _copy_numbers(preds[0])[pred_places]
    lower = golds[0][gold_places] < preds[0][pred_places]
    order = np.lexsort((np.where(lower, turns[1], turns[0]), np.where(lower, turns[0], turns[1])))
    return candidate_pairs(tangle, g[gold_places[order]], p[pred_places[order]])


def offered_and_identical_pairs(tangle: TangledSpans, g: Int64, p: Int64) -> CandidatePairs:
    """Return the pairs offered, and for every span one of its identical ones of the other side."""
    ranks_of = tangle.gold_rank[g], tangle.pred_rank[p]
    pairs = [offered_pairs(tangle, g, p)]
    for mine, theirs, swap in ((*ranks_of, False), (*ranks_of[::-1], True)):
        order = np.argsort(theirs, kind="stable")
        at = order.take(np.searchsorted(theirs[order], mine), mode="clip")
        has_identical = np.flatnonzero(theirs[at] == mine)
        gold_places, pred_places = (at[has_identical], has_identical) if swap else (has_identical, at[has_identical])
        pairs.append(candidate_pairs(tangle, g[gold_places], p[pred_places]))
    return concatenate_pairs(pairs)


def _without(spans: Int64, aligned: Int64) -> Int64:
    """Return the spans that are not taken."""
    free = np.ones(int(spans.max(initial=-1)) + 1, bool)
    free[aligned] = False
    return spans[free[spans]]


def _by_rank(spans: Int64, rank: Int64) -> Int64:
    return spans[np.argsort(rank[spans], kind="stable")]


def _identical(gold_rank: Int64, pred_rank: Int64) -> tuple[Int64, Int64]:
    """Pair spans of equal rank, as many as there are on both sides; both columns are sorted."""
    n_copies = np.searchsorted(pred_rank, gold_rank, side="right") - np.searchsorted(pred_rank, gold_rank, side="left")
    turn = _copy_numbers(gold_rank)
    gold_places = np.flatnonzero(turn < n_copies)
    return gold_places, np.searchsorted(pred_rank, gold_rank[gold_places], side="left") + turn[gold_places]


def _copy_numbers(rank: Int64) -> Int64:
    """Number the spans of each rank from 0; the column is sorted."""
    turn: Int64 = np.arange(len(rank)) - np.searchsorted(rank, rank, side="left")
    return turn


_Columns = tuple[Int64, Int64, Int64, Int64]


def _offers(mine: _Columns, theirs: _Columns, most: int) -> tuple[Int64, Int64]:
    """Offer spans of one side some that overlap them; columns are rank (sorted), start, end and type."""
    rank, start, end, kind = mine
    other_rank, other_start, other_end, other_kind = theirs
    if not len(rank) or not len(other_rank):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    low = np.searchsorted(other_rank, rank, side="right")
    high = np.searchsorted(other_start, end, side="left")
    offered = [ranges(low, np.maximum(low, np.minimum(high, low + most)))]
    ends, place = np.unique(other_end, return_inverse=True)
    step = np.int64(len(other_rank))
    scale = int(max(rank.max(), other_rank.max())) + 1
    everybody = np.arange(len(rank))
    for my_kind, their_kind in ((np.zeros_like(kind), np.zeros_like(other_kind)), (kind, other_kind)):
        # By type and then by rank; within a type, a running extreme of the ends, with where it is in one number.
        order = np.lexsort((other_rank, their_kind))
        key = their_kind[order] * scale + other_rank[order]
        most_last = their_kind[order] * len(ends) + place[order]
        reach = np.maximum.accumulate(most_last * step + (step - 1 - order))
        before = np.searchsorted(key, my_kind * scale + rank, side="left") - 1
        at = step - 1 - reach[before] % step
        fits = (before >= 0) & (their_kind[at] == my_kind) & (other_end[at] > start)
        offered.append((everybody[fits], at[fits]))
        least = np.minimum.accumulate((most_last * step + order)[::-1])[::-1]
        after = np.searchsorted(key, my_kind * scale + rank, side="right")
        inside = after < len(key)
        at = least.take(after, mode="clip") % step
        fits = inside & (their_kind[at] == my_kind) & (other_start[at] < end)
        offered.append((everybody[fits], at[fits]))
    return np.concatenate([own_places for own_places, _ in offered]), np.concatenate(
        [other_places for _, other_places in offered]
    )


def _first_free(pairs: CandidatePairs) -> Int64:
    """Return the pairs, in their order, neither span of which an earlier one has taken."""
    golds, preds = (bytearray(int(column.max(initial=-1)) + 1) for column in (pairs.gold, pairs.pred))
    free_pairs = []
    for i, (gold_span, pred_span) in enumerate(zip(pairs.gold.tolist(), pairs.pred.tolist(), strict=True)):
        if not golds[gold_span] and not preds[pred_span]:
            golds[gold_span] = preds[pred_span] = 1
            free_pairs.append(i)
    return np.array(free_pairs, np.int64)


def _pair_rest(tangle: TangledSpans, g: Int64, p: Int64) -> CandidatePairs:
    """Pair what remains from left to right: each span takes the open one of the other side that ends first.

    Equal types go first. Discontinuous spans stay unaligned: that their hulls overlap says nothing.
    """
    if _all_alike(tangle, g, p):
        g, p = _by_rank(g, tangle.gold_rank), _by_rank(p, tangle.pred_rank)
        both = min(len(g), len(p))
        return candidate_pairs(tangle, g[:both], p[:both])
    spans = [
        (rank, start, end, kind, side, span)
        for side, spans_of_side, parts, columns in (
            (0, g, tangle.gold_parts, (tangle.gold_rank, tangle.gold_start, tangle.gold_end, tangle.gold_type)),
            (1, p, tangle.pred_parts, (tangle.pred_rank, tangle.pred_start, tangle.pred_end, tangle.pred_type)),
        )
        for rank, start, end, kind, span in zip(
            *(column[spans_of_side].tolist() for column in columns), spans_of_side.tolist(), strict=True
        )
        if span not in parts
    ]
    spans.sort()
    aligned: dict[int, list[int]] = {0: [], 1: []}
    for typed in (True, False):
        free: list[set[int]] = [set(), set()]
        opened: tuple[dict[int, list[tuple[int, int, int]]], ...] = ({}, {})
        for rank, start, end, kind, side, span in spans:
            group = kind if typed else 0
            others = opened[1 - side].get(group, [])
            while others and others[0][0] <= start:
                heappop(others)
            if others:
                other = heappop(others)[2]
                free[1 - side].discard(other)
                aligned[side].append(span)
                aligned[1 - side].append(other)
            else:
                heappush(opened[side].setdefault(group, []), (end, rank, span))
                free[side].add(span)
        spans = [row for row in spans if row[5] in free[row[4]]]
    return candidate_pairs(tangle, np.array(aligned[0], np.int64), np.array(aligned[1], np.int64))


def _all_alike(tangle: TangledSpans, g: Int64, p: Int64) -> bool:
    """Return whether all spans have the same boundaries, and no type is on both sides: then each takes the next."""
    if tangle.gold_parts or tangle.pred_parts or not len(g) or not len(p):
        return False
    columns = (tangle.gold_start[g], tangle.pred_start[p]), (tangle.gold_end[g], tangle.pred_end[p])
    if any(
        min(gold_column.min(), pred_column.min()) < max(gold_column.max(), pred_column.max())
        for gold_column, pred_column in columns
    ):
        return False
    return not np.isin(np.unique(tangle.gold_type[g]), np.unique(tangle.pred_type[p])).any()
