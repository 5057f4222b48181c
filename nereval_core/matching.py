"""Solvers for tangled clusters: spans that overlap more than one span of the other side.

Each returns the alignment that is best in the order of design section 4: credit, equal boundaries, pairs, equal types,
shared characters, least difference of boundaries, and then the smallest list of pairs. Sums are integers throughout.
Stars take their best pair; clusters of at most SMALL by SMALL are solved together, by trying every maximal matching;
chains of flat spans by a linear dynamic programme; all others by assignment, level by level.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nereval_core.alignment import EQUAL, SAME_TYPE, Alignment, Rules, Spans, describe, ranges, reached

Int64 = NDArray[np.int64]
Array = NDArray[Any]

SMALL = 5
LIMIT = 1_000_000
"""Candidate pairs up to which a cluster is aligned exactly, whatever its shape."""
BLOCK = 1 << 22
"""Candidate pairs that are looked at together where a cluster is too large to hold them all."""
CREDIT = np.array([2, 0, 1, 0, 0], np.int64)
"""Twice the credit of each decision."""
UNALIGNED_LAST = np.array([0, 2, 1, 3, 3], np.int64)
"""Order of decisions among identical spans."""


@dataclass(frozen=True, slots=True)
class _Knot:
    """Tangled spans of both sides: index, position (start, end), type, and rank among all of them.

    Spans with equal boundaries, type and fragments have equal ranks, whichever side they are on.
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
    gold_parts: dict[int, tuple[tuple[int, int], ...]]
    pred_parts: dict[int, tuple[tuple[int, int], ...]]

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


@dataclass(frozen=True, slots=True)
class _Pairs:
    """Candidate pairs: the two spans (indices into the knot), code, shared characters, difference of boundaries, key.

    `key` orders pairs as design section 4 does under 7.
    """

    gold: Int64
    pred: Int64
    code: NDArray[np.uint8]
    shared: Int64
    difference: Int64
    key: Int64

    def __len__(self) -> int:
        return len(self.gold)

    def take(self, which: Array | slice) -> _Pairs:
        return _Pairs(
            self.gold[which],
            self.pred[which],
            self.code[which],
            self.shared[which],
            self.difference[which],
            self.key[which],
        )


def solve(
    gold: Spans,
    pred: Spans,
    base: Int64,
    rules: Rules,
    outcome: Alignment,
    gold_spans: Int64,
    gold_cluster: Int64,
    pred_spans: Int64,
    pred_cluster: Int64,
    *,
    each_side: bool,
) -> set[int]:
    """Decide tangled spans and write decisions, counts and partners into `outcome`.

    `gold_spans` and `pred_spans` are increasing indices; the clusters are numbered from 0. Returns the documents that
    hold a cluster too large to be aligned exactly.
    """
    knot = _knot(gold, pred, base, gold_spans, pred_spans)
    greedy: set[int] = set()
    if each_side:
        _each_side(knot, rules, outcome)
    else:
        for number, pairs, document in _aligned(knot, rules, gold, gold_cluster, pred_cluster):
            _write(knot, rules, outcome, number, pairs)
            if document is not None:
                greedy.add(document)
        _identical_in_order(outcome, knot)
    for side, spans, members in ((outcome.gold, gold, knot.gold), (outcome.pred, pred, knot.pred)):
        kinds, criteria, decisions = side.counts.shape
        for criterion in range(criteria):
            key = spans.type[members].astype(np.int64) * decisions + side.rows[members, criterion]
            side.counts[:, criterion] += np.bincount(key, minlength=kinds * decisions).reshape(kinds, decisions)
    return greedy


def _write(knot: _Knot, rules: Rules, outcome: Alignment, criterion: int, pairs: _Pairs) -> None:
    decisions = rules.decisions[pairs.code, criterion]
    g, p = knot.gold[pairs.gold], knot.pred[pairs.pred]
    outcome.gold.rows[g, criterion] = decisions
    outcome.pred.rows[p, criterion] = decisions
    if outcome.gold.partners is not None and outcome.pred.partners is not None:
        outcome.gold.partners[g] = p
        outcome.pred.partners[p] = g


def _identical_in_order(outcome: Alignment, knot: _Knot) -> None:
    """Let identical spans of one side take what their group got in the order in which they were read."""
    for side, other, spans, rank in (
        (outcome.gold, outcome.pred, knot.gold, knot.gold_rank),
        (outcome.pred, outcome.gold, knot.pred, knot.pred_rank),
    ):
        same = np.diff(rank, prepend=-1) == 0
        if not same.any():
            continue
        group = np.cumsum(~same)
        repeated = np.flatnonzero(np.bincount(group)[group] > 1)
        members = spans[repeated]
        for criterion in range(side.counts.shape[1]):
            got = side.rows[members, criterion]
            partner = side.partners[members] if side.partners is not None else got
            order = np.lexsort((partner, UNALIGNED_LAST[got], group[repeated]))
            side.rows[members, criterion] = got[order]
            if side.partners is not None and other.partners is not None:
                side.partners[members] = partner[order]
                paired = members[side.partners[members] >= 0]
                other.partners[side.partners[paired]] = paired


def _knot(gold: Spans, pred: Spans, base: Int64, gold_spans: Int64, pred_spans: Int64) -> _Knot:
    columns = []
    parts = []
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
    ranks = _ranks(columns, parts)
    (gold_start, gold_end, gold_type), (pred_start, pred_end, pred_type) = columns
    return _Knot(
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
        parts[0],
        parts[1],
    )


def _ranks(columns: list[tuple[Int64, Int64, Array]], parts: list[dict[int, tuple[tuple[int, int], ...]]]) -> Int64:
    """Rank both sides' spans together by start, end, type and fragments; equal spans get equal ranks."""
    start, end, kind = (np.concatenate((one, two)).astype(np.int64) for one, two in zip(*columns, strict=True))
    keys = [kind, end, start]
    if any(parts):
        order = {value: rank for rank, value in enumerate(sorted({v for side in parts for v in side.values()}), 1)}
        fragments = np.zeros(len(start), np.int64)
        for offset, side in ((0, parts[0]), (len(columns[0][0]), parts[1])):
            for place, value in side.items():
                fragments[offset + place] = order[value]
        keys.insert(0, fragments)
    sequence = np.lexsort(keys)
    steps = np.zeros(len(sequence), np.int64)
    for key in keys:
        steps[1:] |= key[sequence[1:]] != key[sequence[:-1]]
    ranks = np.empty(len(sequence), np.int64)
    ranks[sequence] = np.cumsum(steps)
    return ranks


def _bounds(knot: _Knot) -> tuple[Int64, Int64, Int64, Int64]:
    """Return where the overlaps of each span are: every pair of overlapping hulls is in exactly one range.

    A gold span meets the predictions that start inside it, and a prediction the gold spans that start inside it but
    not where it starts itself. Positions are sorted on both sides, so that both are ranges.
    """
    return (
        np.searchsorted(knot.pred_start, knot.gold_start, side="left"),
        np.searchsorted(knot.pred_start, knot.gold_end, side="left"),
        np.searchsorted(knot.gold_start, knot.pred_start, side="right"),
        np.searchsorted(knot.gold_start, knot.pred_end, side="left"),
    )


def _pairs(knot: _Knot, rules: Rules, g: Int64, p: Int64) -> _Pairs:
    """Describe candidate pairs; those of discontinuous spans that share no character are dropped."""
    gold_start, gold_end = knot.gold_start[g], knot.gold_end[g]
    pred_start, pred_end = knot.pred_start[p], knot.pred_end[p]
    shared = np.minimum(gold_end, pred_end) - np.maximum(gold_start, pred_start)
    code = describe(gold_start, gold_end, pred_start, pred_end)
    code |= (knot.gold_type[g] == knot.pred_type[p]).view(np.uint8) * np.uint8(SAME_TYPE)
    if knot.gold_parts or knot.pred_parts:
        broken = np.isin(g, list(knot.gold_parts)) | np.isin(p, list(knot.pred_parts))
        for i in np.flatnonzero(broken).tolist():
            one = knot.gold_parts.get(int(g[i])) or ((int(gold_start[i]), int(gold_end[i])),)
            two = knot.pred_parts.get(int(p[i])) or ((int(pred_start[i]), int(pred_end[i])),)
            shared[i] = shared_characters(one, two)
            if one != two:
                code[i] &= ~np.uint8(EQUAL)
        kept = shared > 0
        g, p, code, shared = g[kept], p[kept], code[kept], shared[kept]
        gold_start, gold_end = gold_start[kept], gold_end[kept]
        pred_start, pred_end = pred_start[kept], pred_end[kept]
    if rules.minima:
        code |= reached(rules, shared, knot.size("gold")[g], knot.size("pred")[p])
    low = np.minimum(knot.gold_rank[g], knot.pred_rank[p])
    high = np.maximum(knot.gold_rank[g], knot.pred_rank[p])
    return _Pairs(
        g,
        p,
        code,
        shared,
        np.abs(gold_start - pred_start) + np.abs(gold_end - pred_end),
        low * (len(knot.gold) + len(knot.pred)) + high,
    )


def shared_characters(one: tuple[tuple[int, int], ...], two: tuple[tuple[int, int], ...]) -> int:
    """Count the characters that two sorted lists of fragments share."""
    total = i = j = 0
    while i < len(one) and j < len(two):
        total += max(0, min(one[i][1], two[j][1]) - max(one[i][0], two[j][0]))
        if one[i][1] <= two[j][1]:
            i += 1
        else:
            j += 1
    return total


def _aligned(
    knot: _Knot, rules: Rules, gold: Spans, gold_cluster: Int64, pred_cluster: Int64
) -> Iterator[tuple[int, _Pairs, int | None]]:
    """Yield (criterion, chosen pairs, None) and, for clusters aligned greedily, their document in the third place."""
    a_low, a_high, b_low, b_high = _bounds(knot)
    b_high = np.maximum(b_low, b_high)
    clusters = int(max(gold_cluster[-1], pred_cluster[-1])) + 1
    meets = np.bincount(gold_cluster, a_high - a_low, clusters) + np.bincount(pred_cluster, b_high - b_low, clusters)
    if meets.max() > LIMIT:
        # What seems one cluster may be several: find the true ones before deciding what is too large.
        gold_cluster, pred_cluster = _components(knot, a_low, a_high, b_low, b_high)
        clusters = int(max(gold_cluster.max(), pred_cluster.max())) + 1
        meets = np.bincount(gold_cluster, a_high - a_low, clusters)
        meets += np.bincount(pred_cluster, b_high - b_low, clusters)
        golds, preds = np.bincount(gold_cluster, minlength=clusters), np.bincount(pred_cluster, minlength=clusters)
        for number in np.flatnonzero((meets > LIMIT) & (np.minimum(golds, preds) > 1)).tolist():
            g, p = np.flatnonzero(gold_cluster == number), np.flatnonzero(pred_cluster == number)
            if _flat(knot.gold_start[g], knot.gold_end[g]) and _flat(knot.pred_start[p], knot.pred_end[p]):
                continue
            a_high[g], b_high[p] = a_low[g], b_low[p]
            document = int(gold.doc[knot.gold[g[0]]])
            for criterion in range(rules.criteria):
                yield criterion, _greedy(knot, rules, criterion, g, p), document
    row, other = ranges(a_low, a_high)
    column, one = ranges(b_low, b_high)
    pairs = _pairs(knot, rules, np.concatenate((row, one)), np.concatenate((other, column)))
    pairs = pairs.take(np.lexsort((pairs.pred, pairs.gold)))
    yield from _split(knot, rules, pairs, gold_cluster, pred_cluster, whole=False)


def _split(
    knot: _Knot, rules: Rules, pairs: _Pairs, gold_cluster: Int64, pred_cluster: Int64, *, whole: bool
) -> Iterator[tuple[int, _Pairs, int | None]]:
    """Send each cluster to its solver; `whole` says that clusters are known to be connected."""
    if not len(pairs):
        return
    clusters = int(max(gold_cluster.max(), pred_cluster.max())) + 1
    golds, preds = np.bincount(gold_cluster, minlength=clusters), np.bincount(pred_cluster, minlength=clusters)
    cluster = gold_cluster[pairs.gold]
    star = np.minimum(golds, preds) == 1
    small = (np.maximum(golds, preds) <= SMALL) & ~star
    of_star, of_small = star[cluster], small[cluster]
    if of_star.any():
        yield from _stars(rules, pairs.take(of_star), cluster[of_star])
    if of_small.any():
        local_gold, local_pred = _local(gold_cluster), _local(pred_cluster)
        for rows in range(2, SMALL + 1):
            for columns in range(2, SMALL + 1):
                these = of_small & (golds[cluster] == rows) & (preds[cluster] == columns)
                if these.any():
                    yield from _smalls(rules, pairs.take(these), cluster[these], rows, columns, local_gold, local_pred)
    rest = ~(of_star | of_small)
    if not rest.any():
        return
    if not whole:
        remaining = pairs.take(rest)
        golds_in = len(knot.gold)
        labels = _labels(golds_in + len(knot.pred), remaining.gold, remaining.pred + golds_in)
        yield from _split(knot, rules, remaining, labels[:golds_in], labels[golds_in:], whole=True)
        return
    order = np.argsort(cluster[rest], kind="stable")
    remaining = pairs.take(np.flatnonzero(rest)[order])
    edges = np.flatnonzero(np.diff(gold_cluster[remaining.gold])) + 1
    for part in np.split(np.arange(len(remaining)), edges):
        some = remaining.take(part)
        g, p = np.unique(some.gold), np.unique(some.pred)
        flat = _flat(knot.gold_start[g], knot.gold_end[g]) and _flat(knot.pred_start[p], knot.pred_end[p])
        solver = _chain if flat else _exact
        for criterion in range(rules.criteria):
            credit = CREDIT[rules.decisions[some.code, criterion]]
            yield criterion, some.take(solver(some, credit)), None


def _flat(start: Int64, end: Int64) -> bool:
    return bool(np.all(start[1:] >= end[:-1]))


def _local(cluster: Int64) -> Int64:
    """Number the spans of each cluster from 0."""
    order = np.argsort(cluster, kind="stable")
    ordered = cluster[order]
    first = np.searchsorted(ordered, ordered)
    local = np.empty(len(cluster), np.int64)
    local[order] = np.arange(len(cluster)) - first
    return local


def _labels(size: int, head: Int64, tail: Int64) -> Int64:
    """Label the connected components of a graph."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    graph = coo_array((np.ones(len(head), np.int8), (head, tail)), shape=(size, size))
    labels: Int64 = connected_components(graph, directed=False)[1].astype(np.int64)
    return labels


def _components(knot: _Knot, a_low: Int64, a_high: Int64, b_low: Int64, b_high: Int64) -> tuple[Int64, Int64]:
    """Label connected components without listing all pairs: the spans in one range are tied to their neighbours."""
    golds, preds = len(knot.gold), len(knot.pred)
    heads, tails = [], []
    for low, high, mine, theirs, count in (
        (a_low, a_high, 0, golds, preds),
        (b_low, b_high, golds, 0, golds),
    ):
        some = np.flatnonzero(high > low)
        heads.append(some + mine)
        tails.append(low[some] + theirs)
        # Neighbours k, k + 1 are tied where some range covers both.
        change = np.zeros(count + 1, np.int64)
        np.add.at(change, low[some], 1)
        np.add.at(change, high[some] - 1, -1)
        tied = np.flatnonzero(np.cumsum(change)[:-1] > 0)
        heads.append(tied + theirs)
        tails.append(tied + theirs + 1)
    labels = _labels(golds + preds, np.concatenate(heads), np.concatenate(tails))
    return labels[:golds], labels[golds:]


def _worth(pairs: _Pairs) -> Int64:
    """Pack equal boundaries, equal type and shared characters of single pairs into one number."""
    rank = ((pairs.code & EQUAL).astype(np.int64) << 42) | ((pairs.code & SAME_TYPE).astype(np.int64) << 36)
    worth: Int64 = rank + pairs.shared
    return worth


def _preference(pairs: _Pairs, *before: Array) -> Int64:
    """Order pairs by `before`, and then from the best to the worst whatever they earn."""
    order: Int64 = np.lexsort((pairs.key, pairs.difference, -_worth(pairs), *before[::-1]))
    return order


def _stars(rules: Rules, pairs: _Pairs, cluster: Int64) -> Iterator[tuple[int, _Pairs, int | None]]:
    """Take the best pair of each cluster in which one side has one span."""
    order = _preference(pairs, cluster)
    first = np.flatnonzero(np.diff(cluster[order], prepend=-1))
    size = np.diff(first, append=len(order))
    code = pairs.code[order]
    for criterion in range(rules.criteria):
        credit = CREDIT[rules.decisions[code, criterion]]
        best = np.repeat(np.maximum.reduceat(credit, first), size)
        place = np.where(credit == best, np.arange(len(order)), len(order))
        yield criterion, pairs.take(order[np.minimum.reduceat(place, first)]), None


@cache
def _matchings(rows: int, columns: int) -> Int64:
    """List the maximal matchings of a complete bipartite graph as slots `row * columns + column`."""
    if rows <= columns:
        found = [[i * columns + j for i, j in enumerate(way)] for way in permutations(range(columns), rows)]
    else:
        found = [[i * columns + j for j, i in enumerate(way)] for way in permutations(range(rows), columns)]
    return np.array(found, np.int64)


def _smalls(
    rules: Rules, pairs: _Pairs, cluster: Int64, rows: int, columns: int, local_gold: Int64, local_pred: Int64
) -> Iterator[tuple[int, _Pairs, int | None]]:
    """Try every maximal matching of all clusters of one size at once.

    A slot without a pair weighs nothing, so that maximal matchings stand for all.
    """
    ways = _matchings(rows, columns)
    slots = rows * columns
    numbers, row = np.unique(cluster, return_inverse=True)
    slot = local_gold[pairs.gold] * columns + local_pred[pairs.pred]
    step = max(1, BLOCK // ways.size)
    for low in range(0, len(numbers), step):
        inside = np.flatnonzero((row >= low) & (row < low + step))
        height = min(step, len(numbers) - low)
        place = (row[inside] - low) * slots + slot[inside]
        edge: Array = np.full(height * slots, -1, np.int64)
        edge[place] = inside
        # Sums of at most SMALL pairs: 3 bits hold a count, 34 the shared characters of any text.
        code = pairs.code[inside].astype(np.int64)
        worth = np.zeros(height * slots, np.int64)
        worth[place] = ((code & EQUAL) << 40) + (1 << 37) + ((code & SAME_TYPE) << 30) + pairs.shared[inside]
        difference = np.zeros(height * slots, np.int64)
        difference[place] = pairs.difference[inside]
        key: Array = np.full(height * slots, np.iinfo(np.int64).max)
        key[place] = pairs.key[inside]
        worth_of = worth.reshape(height, slots)[:, ways].sum(axis=2)
        difference_of = difference.reshape(height, slots)[:, ways].sum(axis=2)
        edge, key = edge.reshape(height, slots), key.reshape(height, slots)
        for criterion in range(rules.criteria):
            credit = np.zeros(height * slots, np.int64)
            credit[place] = CREDIT[rules.decisions[pairs.code[inside], criterion]]
            total = worth_of + (credit.reshape(height, slots)[:, ways].sum(axis=2) << 43)
            alive = total == total.max(axis=1, keepdims=True)
            least = np.where(alive, difference_of, np.iinfo(np.int64).max)
            alive = least == least.min(axis=1, keepdims=True)
            best = alive.argmax(axis=1)
            tied = np.flatnonzero(np.count_nonzero(alive, axis=1) > 1)
            if len(tied):
                best[tied] = _smallest(np.sort(key[tied][:, ways], axis=2), alive[tied])
            chosen = edge[np.arange(height)[:, None], ways[best]].ravel()
            yield criterion, pairs.take(chosen[chosen >= 0]), None


def _smallest(keys: Array, alive: NDArray[np.bool_]) -> Int64:
    """Return, by row, which of the ways alive has the lexicographically smallest keys."""
    for place in range(keys.shape[2]):
        column = np.where(alive, keys[:, :, place], np.iinfo(np.int64).max)
        alive = alive & (column == column.min(axis=1, keepdims=True))
    best: Int64 = alive.argmax(axis=1)
    return best


def _chain(pairs: _Pairs, credit: Int64) -> Int64:
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


def _exact(pairs: _Pairs, credit: Int64) -> Int64:
    """Solve any cluster: an assignment for each level, over the pairs that all best solutions so far may use.

    Levels are packed together as far as their sums stay exact in float64. After each assignment, dual prices tell
    which pairs a best solution may use; what is left after the last level is decided by the order of the pairs.
    """
    golds, g = np.unique(pairs.gold, return_inverse=True)
    preds, p = np.unique(pairs.pred, return_inverse=True)
    most_pairs = min(len(golds), len(preds))
    farthest = int(pairs.difference.max())
    levels = [
        (credit, 2),
        ((pairs.code & EQUAL != 0).astype(np.int64), 1),
        (np.ones(len(pairs), np.int64), 1),
        ((pairs.code & SAME_TYPE != 0).astype(np.int64), 1),
        (pairs.shared, int(pairs.shared.max())),
        # All solutions left have equally many pairs, so that a constant each changes nothing.
        (farthest - pairs.difference, farthest),
    ]
    solver = _Assignment(len(golds), len(preds), g, p)
    packed, room = np.zeros(len(pairs), np.int64), 1
    for worth, most in levels:
        if room * (most * most_pairs + 1) > 1 << 50:
            solver.restrict(packed)
            packed, room = np.zeros(len(pairs), np.int64), 1
        packed = packed * (most * most_pairs + 1) + worth
        room *= most * most_pairs + 1
    solver.restrict(packed)
    return solver.smallest(pairs.key)


class _Assignment:
    """The best matchings of a bipartite graph, as perfect matchings of a graph twice its size.

    Each span has a stand-in on the other side, worth nothing, that it takes when it stays unaligned; the stand-ins of
    the two spans of a pair may take each other. `row`, `column` and `allowed` describe the edges, the pairs first, and
    `match` the column of each row.
    """

    def __init__(self, golds: int, preds: int, g: Int64, p: Int64) -> None:
        self.pairs, self.size = len(g), golds + preds
        alone_gold, alone_pred = np.arange(golds), np.arange(preds)
        self.row = np.concatenate((g, golds + p, alone_gold, golds + alone_pred))
        self.column = np.concatenate((p, preds + g, preds + alone_gold, alone_pred))
        self.allowed = np.ones(len(self.row), bool)
        self.match = np.zeros(self.size, np.int64)

    def restrict(self, worth: Int64) -> None:
        """Keep the edges that some best perfect matching may use; `worth` is that of each pair."""
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import min_weight_full_bipartite_matching

        edges = np.flatnonzero(self.allowed)
        edges = edges[np.argsort(self.column[edges], kind="stable")]
        row, column = self.row[edges], self.column[edges]
        # Every perfect matching has equally many edges: a constant makes all costs positive, as the solver asks.
        cost = np.full(len(self.row), int(worth.max()) + 1)
        cost[: self.pairs] -= worth
        cost = cost[edges]
        graph = csr_array((cost.astype(np.float64), (row, column)), shape=(self.size, self.size))
        rows, columns = min_weight_full_bipartite_matching(graph)
        self.match[rows] = columns
        # What it costs to move a row from its column to another: shortest paths over these are the dual prices.
        kept = np.zeros(self.size, np.int64)
        matched = self.match[row] == column
        kept[row[matched]] = cost[matched]
        move = cost - kept[row]
        first = np.flatnonzero(np.diff(column, prepend=-1))
        price = np.zeros(self.size, np.int64)
        for _ in range(self.size + 1):
            reach = price[self.match[row]] + move
            lower = np.minimum(price, np.minimum.reduceat(reach, first))
            if np.array_equal(lower, price):
                break
            price = lower
        else:
            raise AssertionError("the assignment is not the best one")
        self.allowed[edges] = reach == price[column]

    def smallest(self, key: Int64) -> Int64:
        """Return the pairs of the perfect matching whose sorted keys are smallest."""
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import connected_components

        edges = np.flatnonzero(self.allowed)
        row_of = np.empty(self.size, np.int64)
        row_of[self.match] = np.arange(self.size)
        # An edge can be used if its row and the row that holds its column can hand columns round in a circle.
        holder = row_of[self.column[edges]]
        graph = csr_array((np.ones(len(edges), np.int8), (self.row[edges], holder)), shape=(self.size, self.size))
        labels = connected_components(graph, directed=True, connection="strong")[1]
        edges = edges[labels[self.row[edges]] == labels[holder]]
        if len(edges) > self.size:
            ways: list[list[int]] = [[] for _ in range(self.size)]
            for i, j in zip(self.row[edges].tolist(), self.column[edges].tolist(), strict=True):
                ways[i].append(j)
            order = edges[edges < self.pairs]
            order = order[np.argsort(key[order], kind="stable")]
            match, holders = self.match.tolist(), row_of.tolist()
            fixed = bytearray(self.size)
            shut: set[tuple[int, int]] = set()
            for i, j in zip(self.row[order].tolist(), self.column[order].tolist(), strict=True):
                if not fixed[i] and not fixed[holders[j]] and (i, j) not in shut:
                    fixed[i] = match[i] == j or _rotate(i, j, match, holders, ways, fixed, shut)
            self.match = np.array(match)
        return np.flatnonzero(self.match[self.row[: self.pairs]] == self.column[: self.pairs])


def _rotate(
    row: int,
    column: int,
    match: list[int],
    holders: list[int],
    ways: list[list[int]],
    fixed: bytearray,
    shut: set[tuple[int, int]],
) -> bool:
    """Give `column` to `row` by handing columns round in a circle of rows not yet fixed, if there is one."""
    start = holders[column]
    came = {start: start}
    waiting = [start]
    while waiting and row not in came:
        at = waiting.pop()
        for way in ways[at]:
            holder = holders[way]
            if holder not in came and not fixed[holder] and (at, way) not in shut:
                came[holder] = at
                waiting.append(holder)
    if row not in came:
        # The rows reached can never give way to this one.
        shut.update((row, match[reached]) for reached in came)
        return False
    circle = [row]
    while circle[-1] != start:
        circle.append(came[circle[-1]])
    columns = [match[at] for at in circle]
    # Each row takes the column of the one before it in the circle; the first takes the one asked for.
    for at, taken in zip(circle, [column, *columns[:-1]], strict=True):
        match[at], holders[taken] = taken, at
    return True


def _greedy(knot: _Knot, rules: Rules, criterion: int, g: Int64, p: Int64) -> _Pairs:
    """Align a cluster too large to solve: the best pair first, by design section 4 pair by pair, then the next.

    Pairs are looked at in blocks, and only the best of them kept: what is held is bounded, whatever the size.
    """
    chosen: list[_Pairs] = []
    while len(g) and len(p):
        best: _Pairs | None = None
        everything = True
        least = np.iinfo(np.int64).min
        for block in _blocks(knot, rules, g, p):
            worth = _worth(block) + (CREDIT[rules.decisions[block.code, criterion]] << 44)
            some = block.take(worth >= least)
            best = some if best is None else _joined([best, some])
            if len(best) > BLOCK:
                best = best.take(_ranked(rules, criterion, best)[: BLOCK // 2])
                last = best.take(slice(-1, None))
                least = int(_worth(last)[0] + (CREDIT[rules.decisions[last.code, criterion]][0] << 44))
                everything = False
        if best is None or not len(best):
            break
        best = best.take(_ranked(rules, criterion, best))
        golds, preds = set(g.tolist()), set(p.tolist())
        picks = []
        for i, (one, two) in enumerate(zip(best.gold.tolist(), best.pred.tolist(), strict=True)):
            if one in golds and two in preds:
                golds.remove(one)
                preds.remove(two)
                picks.append(i)
        chosen.append(best.take(np.array(picks, np.int64)))
        if everything:
            break
        g, p = np.array(sorted(golds), np.int64), np.array(sorted(preds), np.int64)
    return _joined(chosen)


def _ranked(rules: Rules, criterion: int, pairs: _Pairs) -> Int64:
    return _preference(pairs, -CREDIT[rules.decisions[pairs.code, criterion]])


def _joined(parts: list[_Pairs]) -> _Pairs:
    names = ("gold", "pred", "code", "shared", "difference", "key")
    return _Pairs(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))


def _blocks(knot: _Knot, rules: Rules, g: Int64, p: Int64) -> Iterator[_Pairs]:
    """List all candidate pairs of some gold spans and predictions, at most about BLOCK // 4 at a time."""
    gold_start, pred_start = knot.gold_start[g], knot.pred_start[p]
    for mine, low, high in (
        (
            "gold",
            np.searchsorted(pred_start, gold_start, side="left"),
            np.searchsorted(pred_start, knot.gold_end[g], side="left"),
        ),
        (
            "pred",
            np.searchsorted(gold_start, pred_start, side="right"),
            np.searchsorted(gold_start, knot.pred_end[p], side="left"),
        ),
    ):
        total = np.cumsum(np.maximum(high - low, 0))
        at = 0
        while at < len(total):
            done = int(total[at - 1]) if at else 0
            stop = max(at + 1, int(np.searchsorted(total, done + BLOCK // 4, side="right")))
            row, other = ranges(low[at:stop], np.maximum(low[at:stop], high[at:stop]))
            if len(row):
                pair = (g[row + at], p[other]) if mine == "gold" else (g[other], p[row + at])
                yield _pairs(knot, rules, *pair)
            at = stop


def _each_side(knot: _Knot, rules: Rules, outcome: Alignment) -> None:
    """Give every span the best decision that any overlapping span of the other side earns it."""
    everything = np.arange(len(knot.gold)), np.arange(len(knot.pred))
    for criterion in range(rules.criteria):
        best: list[_Pairs | None] = [None, None]
        for block in _blocks(knot, rules, *everything):
            for side in (0, 1):
                known = best[side]
                pairs = block if known is None else _joined([known, block])
                span = pairs.gold if side == 0 else pairs.pred
                order = _preference(pairs, span, -CREDIT[rules.decisions[pairs.code, criterion]])
                best[side] = pairs.take(order[np.flatnonzero(np.diff(span[order], prepend=-1))])
        for target, pairs_of, side in ((outcome.gold, best[0], 0), (outcome.pred, best[1], 1)):
            if pairs_of is None:
                continue
            g, p = knot.gold[pairs_of.gold], knot.pred[pairs_of.pred]
            span, partner = (g, p) if side == 0 else (p, g)
            target.rows[span, criterion] = rules.decisions[pairs_of.code, criterion]
            if target.partners is not None:
                target.partners[span] = partner
