"""Exact solvers for stars, for clusters of few spans, and for chains.

A star, in which one side has one span, takes its best pair. Clusters of at most SMALL_CLUSTER_SPANS by
SMALL_CLUSTER_SPANS are solved together, by trying every maximal matching. Chains, in which neither side overlaps
itself, are solved by a linear dynamic programme. Sums are integers throughout.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from nereval_core.alignment.candidates import BLOCK_PAIRS, CREDIT, Pairs, preference
from nereval_core.alignment.codes import EQUAL, SAME_TYPE, Rules
from nereval_core.arrays import Array, Int64

SMALL_CLUSTER_SPANS = 4
"""Spans a side up to which all maximal matchings are tried."""


def solve_stars(rules: Rules, pairs: Pairs, cluster: Int64) -> Iterator[tuple[int, Pairs]]:
    """Take the best pair of each cluster in which one side has one span."""
    order = preference(pairs, cluster)
    first = np.flatnonzero(np.diff(cluster[order], prepend=-1))
    code = pairs.code[order]
    # The credit lost counts first, then the place in the order: as one number, of which the smallest is best.
    place = np.arange(len(order))
    for criterion in range(rules.criteria):
        lost = (2 - CREDIT[rules.decisions[:, criterion]]) * len(order)
        best = np.minimum.reduceat(lost.take(code) + place, first)
        yield criterion, pairs.take(order[best % len(order)])


@cache
def _matchings(rows: int, columns: int) -> Int64:
    """List the maximal matchings of a complete bipartite graph as slots `row * columns + column`."""
    if rows <= columns:
        found = [[i * columns + j for i, j in enumerate(way)] for way in permutations(range(columns), rows)]
    else:
        found = [[i * columns + j for j, i in enumerate(way)] for way in permutations(range(rows), columns)]
    return np.array(found, np.int64)


def solve_small_clusters(
    rules: Rules, pairs: Pairs, cluster: Int64, rows: int, columns: int, local_gold: Int64, local_pred: Int64
) -> Iterator[tuple[int, Pairs]]:
    """Try every maximal matching of all clusters of one size at once.

    A slot without a pair weighs nothing, so that maximal matchings stand for all.
    """
    ways = _matchings(rows, columns)
    slots = rows * columns
    numbers, row = np.unique(cluster, return_inverse=True)
    slot = local_gold[pairs.gold] * columns + local_pred[pairs.pred]
    step = max(1, BLOCK_PAIRS // ways.size)
    for low in range(0, len(numbers), step):
        inside = np.flatnonzero((row >= low) & (row < low + step))
        height = min(step, len(numbers) - low)
        place = (row[inside] - low) * slots + slot[inside]
        edge: Array = np.full(height * slots, -1, np.int64)
        edge[place] = inside
        # Sums of at most SMALL_CLUSTER_SPANS pairs: 3 bits hold a count, 34 the shared characters of any text.
        code = pairs.code[inside].astype(np.int64)
        worth = np.zeros(height * slots, np.int64)
        worth[place] = ((code & EQUAL) << 40) + (1 << 37) + ((code & SAME_TYPE) << 30) + pairs.shared[inside]
        difference = np.zeros(height * slots, np.int64)
        difference[place] = pairs.difference[inside]
        key: Array = np.full(height * slots, np.iinfo(np.int64).max)
        key[place] = pairs.key[inside]
        worths = worth.reshape(height, slots)[:, ways].sum(axis=2)
        difference_of = difference.reshape(height, slots)[:, ways].sum(axis=2)
        edge, key = edge.reshape(height, slots), key.reshape(height, slots)
        for criterion in range(rules.criteria):
            credit = np.zeros(height * slots, np.int64)
            credit[place] = CREDIT[rules.decisions[pairs.code[inside], criterion]]
            total = worths + (credit.reshape(height, slots)[:, ways].sum(axis=2) << 43)
            alive = total == total.max(axis=1, keepdims=True)
            least = np.where(alive, difference_of, np.iinfo(np.int64).max)
            alive = least == least.min(axis=1, keepdims=True)
            best = alive.argmax(axis=1)
            tied = np.flatnonzero(np.count_nonzero(alive, axis=1) > 1)
            if len(tied):
                best[tied] = _smallest(np.sort(key[tied][:, ways], axis=2), alive[tied])
            chosen = edge[np.arange(height)[:, None], ways[best]].ravel()
            yield criterion, pairs.take(chosen[chosen >= 0])


def _smallest(keys: Array, alive: NDArray[np.bool_]) -> Int64:
    """Return, by row, which of the ways alive has the lexicographically smallest keys."""
    for place in range(keys.shape[2]):
        column = np.where(alive, keys[:, :, place], np.iinfo(np.int64).max)
        alive = alive & (column == column.min(axis=1, keepdims=True))
    best: Int64 = alive.argmax(axis=1)
    return best


def solve_chain(pairs: Pairs, credit: Int64) -> Int64:
    """Solve a cluster in which neither side overlaps itself: its pairs form a staircase, in the order of their keys.

    The pairs that share a span with pair i are neighbours of it, so the best of the rest from i on is the better of
    leaving pair i out and of taking it together with the best from the first pair on that shares neither span with it.
    """
    count = len(pairs)
    g, p = pairs.gold, pairs.pred
    # Both columns are sorted: the last pair with the same span, plus one, is the next that is free of it.
    following = np.maximum(np.searchsorted(g, g, side="right"), np.searchsorted(p, p, side="right")).tolist()
    field = 60
    worth = [
        (((((c << field | e) << field | 1) << field | t) << field | s) << field) - d
        for c, e, t, s, d in zip(
            credit.tolist(),
            (pairs.code & EQUAL != 0).astype(int).tolist(),
            (pairs.code & SAME_TYPE != 0).astype(int).tolist(),
            pairs.shared.tolist(),
            pairs.difference.tolist(),
            strict=True,
        )
    ]
    best = [0] * (count + 1)
    for i in range(count - 1, -1, -1):
        best[i] = max(best[i + 1], worth[i] + best[following[i]])
    chosen = []
    i = 0
    while i < count:
        # Taking the earliest pair that keeps the sum gives the smallest list.
        if worth[i] + best[following[i]] == best[i]:
            chosen.append(i)
            i = following[i]
        else:
            i += 1
    return np.array(chosen, np.int64)
