"""Exact solver for clusters in which few spans are open at any place, nested ones above all, in linear time.

The spans of a cluster are visited by start. The rest of an alignment depends only on which of the spans then open are
still free, so that a cluster is solved by a table over the subsets of its open spans: a span that begins stays free, or
takes a free one of the other side. Each subset carries the best sums so far, and the pairs taken as bits: 2 to the
power of a pair's place from the end of the cluster's list, the last rule of docs/scoring.md#alignment. Clusters are
solved side by side, a step for all of them at a time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from nereval_core.alignment.candidates import CREDIT, CandidatePairs, TangledSpans
from nereval_core.alignment.codes import EQUAL, SAME_TYPE, Rules
from nereval_core.corpus.arrays import Bools, Int64

MOST_OPEN_SPANS = 8
"""Spans open at once, both sides together, up to which tables over their subsets are made."""
LONGEST_CLUSTER_SPANS = 200
"""Spans a cluster: longer ones are rare, and their steps would be taken for few."""
MOST_PAIRS = 15
"""Pairs an alignment may have, so that a sum of counts takes 4 bits."""
SUM_BITS = 21
"""Bits for the sum of shared characters, and for that of differences."""
PAIR_BITS = 62
"""Pairs that one number has bits for."""
FIRST_PAIR_BIT = PAIR_BITS - 1
"""The bit of the pair that comes first in its cluster's list; that of each further one is one lower."""
BATCH_CELLS = 1 << 16
"""Subsets of all clusters that are worked on at once: few enough to stay near."""
UNREACHABLE = -(1 << 60)
"""Less than any alignment is worth, also after the worth of MOST_PAIRS pairs is added."""


def solve_nested(rules: Rules, tangle: TangledSpans, pairs: CandidatePairs, cluster: Int64) -> tuple[Bools, Bools]:
    """Solve all clusters that lend themselves to it; `cluster` (pairs,) numbers connected clusters.

    Returns which pairs are in the best alignment, by criterion, and which belong to a cluster that was solved, shapes
    (criteria, pairs) and (pairs,).
    """
    is_aligned = np.zeros((rules.criteria, len(pairs)), bool)
    table = Clusters.of(tangle, pairs, cluster)
    done = table.able[table.cluster]
    worth = _worth(rules, pairs)
    for width in range(2, MOST_OPEN_SPANS + 1):
        these = np.flatnonzero(table.able & (table.width == width))
        # The longest first: those that are still at work at a step are the first so many.
        these = these[np.argsort(-table.size[these], kind="stable")]
        step = max(1, BATCH_CELLS >> width)
        for low in range(0, len(these), step):
            _solve(table, these[low : low + step], width, worth, is_aligned)
    return is_aligned, done


def _worth(rules: Rules, pairs: CandidatePairs) -> Int64:
    """Return rules 1 to 6 of docs/scoring.md#alignment as one number, by criterion and pair."""
    code = pairs.code
    base = np.where(code & EQUAL != 0, 1 << 8, 0) + (1 << 4) + np.where(code & SAME_TYPE != 0, 1, 0)
    base = (((base << SUM_BITS) + pairs.shared) << SUM_BITS) - pairs.difference
    credit = CREDIT[rules.decisions[code]].T << (12 + 2 * SUM_BITS)
    worth: Int64 = base + credit
    return worth


@dataclass(frozen=True, slots=True)
class Clusters:
    """Clusters laid out for the steps.

    By cluster: `size` in spans, `first` of them in the columns by span, most spans open at once (`width`), and whether
    it can be solved here (`able`). By span, in the order of cluster and start: `slot`, and `edge` (spans,
    MOST_OPEN_SPANS), the pair that the span makes with the earlier one in each slot, -1 where none. By pair: `cluster`,
    and its `place` in the cluster's list.
    """

    size: Int64
    first: Int64
    width: Int64
    able: Bools
    slot: Int64
    edge: Int64
    cluster: Int64
    place: Int64

    @classmethod
    def of(cls, tangle: TangledSpans, pairs: CandidatePairs, label: Int64) -> Clusters:
        golds = len(tangle.gold)
        labels = np.full(golds + len(tangle.pred), -1, np.int64)
        heads, tails = pairs.gold, pairs.pred + golds
        labels[heads] = labels[tails] = label
        nodes = np.flatnonzero(labels >= 0)
        start = np.concatenate((tangle.gold_start, tangle.pred_start))[nodes]
        end = np.concatenate((tangle.gold_end, tangle.pred_end))[nodes]
        order = np.lexsort((start, labels[nodes]))
        nodes, start, end = nodes[order], start[order], end[order]
        opens = np.flatnonzero(np.diff(labels[nodes], prepend=-1))
        number = np.zeros(int(label.max()) + 1, np.int64)
        number[labels[nodes[opens]]] = np.arange(len(opens))
        cluster = number[label]
        size = np.diff(opens, append=len(nodes))
        of_gold = np.add.reduceat((nodes < golds).astype(np.int64), opens)
        turn = np.lexsort((pairs.key, cluster))
        n_pairs = np.bincount(cluster, minlength=len(opens))
        place = np.empty(len(pairs), np.int64)
        place[turn] = np.arange(len(pairs)) - np.repeat(np.cumsum(n_pairs) - n_pairs, n_pairs)
        most = np.minimum(of_gold, size - of_gold)
        able = (size <= LONGEST_CLUSTER_SPANS) & (most <= MOST_PAIRS) & (n_pairs <= PAIR_BITS)
        for amount in (pairs.shared, pairs.difference):
            largest = np.zeros(len(opens), np.int64)
            np.maximum.at(largest, cluster, amount)
            able &= largest * most < 1 << SUM_BITS
        slot, width = _slots(start, end, opens, size, able)
        able &= width <= MOST_OPEN_SPANS
        position = np.full(len(labels), -1, np.int64)
        position[nodes] = np.arange(len(nodes))
        first_places, second_places = position[heads], position[tails]
        edge = np.full((len(nodes), MOST_OPEN_SPANS), -1, np.int64)
        edge[np.maximum(first_places, second_places), slot[np.minimum(first_places, second_places)]] = np.arange(
            len(pairs)
        )
        return cls(size, opens, width, able, slot, edge, cluster, place)


def _slots(start: Int64, end: Int64, first: Int64, size: Int64, able: Bools) -> tuple[Int64, Int64]:
    """Give each span the lowest slot that no open span of its cluster has; return also how many each cluster takes."""
    slot = np.zeros(len(start), np.int64)
    width = np.zeros(len(first), np.int64)
    these = np.flatnonzero(able)
    these = these[np.argsort(-size[these], kind="stable")]
    steps = np.cumsum(np.bincount(size[these])[::-1])[::-1] if len(these) else np.zeros(1, np.int64)
    until = np.full((len(these), MOST_OPEN_SPANS + 1), -1, np.int64)
    # The last column is always free: a span that lands there is one too many.
    for step in range(len(steps) - 1):
        working = int(steps[step + 1])
        span = first[these[:working]] + step
        free = until[:working] <= start[span, None]
        free[:, MOST_OPEN_SPANS] = True
        slot_of_span = free.argmax(axis=1)
        until[np.arange(working), slot_of_span] = end[span]
        slot[span] = np.minimum(slot_of_span, MOST_OPEN_SPANS - 1)
        width[these[:working]] = np.maximum(width[these[:working]], slot_of_span + 1)
    return slot, width


def _solve(table: Clusters, these: Int64, width: int, worth: Int64, is_aligned: Bools) -> None:
    """Solve clusters, the longest of them first, and mark the pairs taken."""
    best = subset_tables(table, these, width, worth, np.zeros(len(these), np.int64))
    for level in range(width):
        middle = 1 << width - level - 1
        low, high = slice(None, middle), slice(middle, None)
        best = better_alignments(*(part[:, :, half] for half in (low, high) for part in best))
    _mark(table, these, best[1][:, :, 0], is_aligned)


def subset_tables(table: Clusters, these: Int64, width: int, worth: Int64, begin: Int64) -> tuple[Int64, Int64]:
    """Return the best sums and the pairs taken, shape (criteria, clusters, subsets), where the clusters `these` end.

    The longest cluster comes first. `begin` (clusters,) is the subset of slots that holds free spans before the first
    step.
    """
    criteria, height, subsets = len(worth), len(these), 1 << width
    sums = np.full((criteria, height * subsets), UNREACHABLE, np.int64)
    sums[:, np.arange(height) * subsets + begin] = 0
    pair_bits = np.zeros((criteria, height * subsets), np.int64)
    size = table.size[these]
    half = np.arange(subsets >> 1)
    # Subsets without some slot, by that slot: those that are the same but for it stand 1 << slot further.
    without = np.stack([half + (half >> slot << slot) for slot in range(width)])
    for step in range(int(size[0])):
        working = int(np.searchsorted(-size, -step, side="left"))
        span = table.first[these[:working]] + step
        slot = table.slot[span]
        place = (without[slot] + (np.arange(working) * subsets)[:, None]).ravel()
        other = place + np.repeat(np.int64(1) << slot, subsets >> 1)
        # The span that had the slot has ended: free or not, nothing depends on it any more.
        free = better_alignments(*(part.take(where, axis=1) for where in (place, other) for part in (sums, pair_bits)))
        sums[:, other], pair_bits[:, other] = free
        sums[:, place], pair_bits[:, place] = _paired(free, table, span, slot, width, worth)
    shape = (criteria, height, subsets)
    return sums.reshape(shape), pair_bits.reshape(shape)


def _paired(
    free: tuple[Int64, Int64], table: Clusters, span: Int64, slot: Int64, width: int, worth: Int64
) -> tuple[Int64, Int64]:
    """Return the best sums in which the span that begins takes one of those free, by subset of the other slots."""
    criteria, working = len(worth), len(span)
    result = tuple(np.full_like(part, value) for part, value in zip(free, (UNREACHABLE, 0), strict=True))
    for bit in range(width - 1):
        # With its own slot left out, the slots above it stand one lower.
        pair = table.edge[span, bit + (bit >= slot)]
        has_pair = np.flatnonzero(pair >= 0)
        if not len(has_pair):
            continue
        pair = pair[has_pair]
        shape = (criteria, working, 1 << width - 2 - bit, 2, 1 << bit)
        sums, pair_bits = (part.reshape(shape)[:, :, :, 1][:, has_pair] for part in free)
        best, bits = (part.reshape(shape)[:, :, :, 0] for part in result)
        gain = worth.take(pair, axis=1)[:, :, None, None]
        mark = (np.int64(1) << (FIRST_PAIR_BIT - table.place[pair]))[None, :, None, None]
        best[:, has_pair], bits[:, has_pair] = better_alignments(
            best[:, has_pair], bits[:, has_pair], sums + gain, pair_bits | mark
        )
    return result[0], result[1]


def better_alignments(sums: Int64, pair_bits: Int64, other_sums: Int64, other_bits: Int64) -> tuple[Int64, Int64]:
    """Return the better of two alignments each: greater sums, then the smaller list of pairs."""
    wins = (other_sums > sums) | (other_sums == sums) & (other_bits > pair_bits)
    return np.where(wins, other_sums, sums), np.where(wins, other_bits, pair_bits)


def _mark(table: Clusters, these: Int64, pair_bits: Int64, is_aligned: Bools) -> None:
    row = np.full(len(table.size), -1, np.int64)
    row[these] = np.arange(len(these))
    pairs = np.flatnonzero(row[table.cluster] >= 0)
    is_aligned[:, pairs] = pair_bits[:, row[table.cluster[pairs]]] >> (FIRST_PAIR_BIT - table.place[pairs]) & 1


def pairs_by_criterion(is_aligned: Bools, pairs: CandidatePairs) -> Iterator[tuple[int, CandidatePairs]]:
    """Yield the chosen pairs of each criterion."""
    for criterion, is_aligned_under in enumerate(is_aligned):
        yield criterion, pairs.take(is_aligned_under)
