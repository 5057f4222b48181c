"""Tangled clusters: spans that overlap more than one span of the other side, each sent to the solver for its shape.

The alignment of a cluster is the best in the order of design section 4: credit, equal boundaries, pairs, equal types,
shared characters, least difference of boundaries, and then the smallest list of pairs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from nereval_core.alignment.assignment import assign
from nereval_core.alignment.candidates import (
    CREDIT,
    Knot,
    Pairs,
    blocks,
    bounds,
    candidate_pairs,
    joined,
    preference,
    tie_up,
)
from nereval_core.alignment.codes import Decision, Spans, ranges
from nereval_core.alignment.greedy import greedy_alignments, with_identical
from nereval_core.alignment.identical_pairs import IdenticalPairs, scopes
from nereval_core.alignment.narrow_clusters import NarrowCluster, segments
from nereval_core.alignment.nesting import by_criterion, solved_by_nesting
from nereval_core.alignment.outcome import Alignment, Rules, Side
from nereval_core.alignment.questions import Facts
from nereval_core.alignment.small_clusters import SMALL, chain, smalls, stars
from nereval_core.arrays import Int64

Rows = tuple[NDArray[np.uint8], NDArray[np.uint8]]
"""Decisions of a knot's gold spans and predictions, by criterion."""

LIMIT = 10_000
"""Candidate pairs up to which the solver for any shape is used; what no other solver can align is aligned greedily."""
HELD = 1 << 19
"""Candidate pairs of several clusters that are held at once, about."""
UNALIGNED_LAST = np.array([0, 2, 1, 3, 3], np.int64)
"""Order of decisions among identical spans."""


def solve(
    gold: Spans,
    pred: Spans,
    base: Int64,
    rules: Rules,
    facts: Facts,
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
    knot = tie_up(gold, pred, base, facts, gold_spans, pred_spans)
    # Decided close together here, and then written once to where they lie far apart.
    rows = (_unaligned(outcome.gold, knot.gold, Decision.MIS), _unaligned(outcome.pred, knot.pred, Decision.SPU))
    greedy: set[int] = set()
    if each_side:
        greedy.update(_each_side(knot, rules, gold, outcome, rows, gold_cluster, pred_cluster))
    else:
        for number, pairs, document in _aligned(knot, rules, gold, gold_cluster, pred_cluster):
            _write(knot, rules, outcome, rows, number, pairs)
            if document is not None:
                greedy.add(document)
        _identical_in_order(outcome, rows, knot)
    for side, spans, members, decided in (
        (outcome.gold, gold, knot.gold, rows[0]),
        (outcome.pred, pred, knot.pred, rows[1]),
    ):
        side.rows[members] = decided
        kinds, criteria, decisions = side.counts.shape
        first = spans.type[members].astype(np.int64) * decisions
        for criterion in range(criteria):
            tally = np.bincount(first + decided[:, criterion], minlength=kinds * decisions)
            side.counts[:, criterion] += tally.reshape(kinds, decisions)
    return greedy


def _unaligned(side: Side, members: Int64, alone: Decision) -> NDArray[np.uint8]:
    """Return rows as wide as those of the side, in which all members are unaligned under all criteria."""
    rows = np.zeros((len(members), side.rows.shape[1]), np.uint8)
    rows[:, : side.counts.shape[1]] = alone
    return rows


def _write(knot: Knot, rules: Rules, outcome: Alignment, rows: Rows, criterion: int, pairs: Pairs) -> None:
    decisions = rules.decisions[:, criterion].take(pairs.code)
    rows[0][pairs.gold, criterion] = decisions
    rows[1][pairs.pred, criterion] = decisions
    if outcome.gold.partners is not None and outcome.pred.partners is not None:
        g, p = knot.gold[pairs.gold], knot.pred[pairs.pred]
        outcome.gold.partners[g] = p
        outcome.pred.partners[p] = g


def _identical_in_order(outcome: Alignment, rows: Rows, knot: Knot) -> None:
    """Let identical spans of one side take what their group got in the order in which they were read."""
    for side, other, decided, spans, rank in (
        (outcome.gold, outcome.pred, rows[0], knot.gold, knot.gold_rank),
        (outcome.pred, outcome.gold, rows[1], knot.pred, knot.pred_rank),
    ):
        place = np.arange(len(rank))
        if (np.diff(rank) < 0).any():
            # Spans that differ in core or alternatives only stand as they were read.
            place = np.argsort(rank, kind="stable")
            rank = rank[place]
        same = np.diff(rank, prepend=-1) == 0
        if not same.any():
            continue
        group = np.cumsum(~same)
        repeated = np.flatnonzero(np.bincount(group)[group] > 1)
        place = place[repeated]
        members = spans[place]
        for criterion in range(side.counts.shape[1]):
            got = decided[place, criterion]
            partner = side.partners[members] if side.partners is not None else got
            order = np.lexsort((partner, UNALIGNED_LAST[got], group[repeated]))
            decided[place, criterion] = got[order]
            if side.partners is not None and other.partners is not None:
                side.partners[members] = partner[order]
                paired = members[side.partners[members] >= 0]
                other.partners[side.partners[paired]] = paired


def _aligned(
    knot: Knot, rules: Rules, gold: Spans, gold_cluster: Int64, pred_cluster: Int64
) -> Iterator[tuple[int, Pairs, int | None]]:
    """Yield (criterion, chosen pairs, None) and, for clusters aligned greedily, their document in the third place."""
    identical = IdenticalPairs.of(knot, gold_cluster, pred_cluster)
    for scope, columns in scopes(rules).items():
        some_rules = replace(rules, decisions=rules.decisions[:, columns])
        g, p = identical.fixed(scope)
        at_once = candidate_pairs(knot, g, p)
        yield from ((column, at_once, None) for column in columns)
        g, p = _others(len(knot.gold), g), _others(len(knot.pred), p)
        rest = knot.take(g, p)
        large, *others = _parted(rest, gold_cluster[g], pred_cluster[p])
        for some in large:
            document = int(gold.doc[rest.gold[some[0][0]]])
            for column, pairs in greedy_alignments(rest, some_rules, *some):
                yield columns[column], pairs.of(g, p), document
        for column, pairs in _solved(rest.take(*others), some_rules):
            yield columns[column], pairs.of(g[others[0]], p[others[1]]), None


def _others(size: int, taken: Int64) -> Int64:
    """Return the indices below `size` that are not taken."""
    free = np.ones(size, bool)
    free[taken] = False
    return np.flatnonzero(free)


def _parted(knot: Knot, gold_cluster: Int64, pred_cluster: Int64) -> tuple[list[tuple[Int64, Int64]], Int64, Int64]:
    """Return the gold spans and predictions of each cluster too large to solve exactly, and then all others."""
    everything = np.arange(len(knot.gold)), np.arange(len(knot.pred))
    many = int(max(gold_cluster.max(initial=-1), pred_cluster.max(initial=-1))) + 1
    golds, preds = np.bincount(gold_cluster, minlength=many), np.bincount(pred_cluster, minlength=many)
    if not np.any(golds * preds > LIMIT):
        return [], *everything
    # What seems one cluster may be several: find the true ones before deciding what is too large.
    meeting = bounds(knot)
    gold_cluster, pred_cluster = _components(knot, *meeting)
    large = _too_large(knot, meeting, gold_cluster, pred_cluster)
    found = [(np.flatnonzero(gold_cluster == number), np.flatnonzero(pred_cluster == number)) for number in large]
    others = ~np.isin(gold_cluster, large), ~np.isin(pred_cluster, large)
    return found, np.flatnonzero(others[0]), np.flatnonzero(others[1])


def _too_large(
    knot: Knot, meeting: tuple[Int64, Int64, Int64, Int64], gold_cluster: Int64, pred_cluster: Int64
) -> list[int]:
    """Return the clusters of more than LIMIT candidate pairs that are no stars, chains or narrow clusters."""
    a_low, a_high, b_low, b_high = meeting
    clusters = int(max(gold_cluster.max(), pred_cluster.max())) + 1
    meets = np.bincount(gold_cluster, a_high - a_low, clusters) + np.bincount(pred_cluster, b_high - b_low, clusters)
    golds, preds = np.bincount(gold_cluster, minlength=clusters), np.bincount(pred_cluster, minlength=clusters)
    found = []
    for number in np.flatnonzero((meets > LIMIT) & (np.minimum(golds, preds) > 1)).tolist():
        g, p = np.flatnonzero(gold_cluster == number), np.flatnonzero(pred_cluster == number)
        if _flat(knot.gold_start[g], knot.gold_end[g]) and _flat(knot.pred_start[p], knot.pred_end[p]):
            continue
        start = np.concatenate((knot.gold_start[g], knot.pred_start[p]))
        order = np.argsort(start, kind="stable")
        parts = segments(start[order], np.concatenate((knot.gold_end[g], knot.pred_end[p]))[order])
        if parts is None or not parts.fits():
            found.append(number)
    return found


def _solved(knot: Knot, rules: Rules) -> Iterator[tuple[int, Pairs]]:
    """Solve all that is left of the clusters, about HELD candidate pairs at a time."""
    if not len(knot.gold) or not len(knot.pred):
        return
    a_low, a_high, b_low, b_high = bounds(knot)
    of_gold, of_pred = _swept(knot)
    meets = np.bincount(of_gold, a_high - a_low, int(max(of_gold.max(), of_pred.max())) + 1)
    meets += np.bincount(of_pred, b_high - b_low, len(meets))
    batch = np.cumsum(meets).astype(np.int64) // HELD
    for number in range(int(batch[-1]) + 1):
        g, p = np.flatnonzero(batch[of_gold] == number), np.flatnonzero(batch[of_pred] == number)
        part = knot.take(g, p) if batch[-1] else knot
        a_low, a_high, b_low, b_high = bounds(part)
        row, other = ranges(a_low, a_high)
        column, one = ranges(b_low, b_high)
        pairs = candidate_pairs(part, np.concatenate((row, one)), np.concatenate((other, column)))
        for criterion, chosen in _split(part, rules, pairs, *_swept(part), whole=False):
            yield criterion, chosen.of(g, p)


def _swept(knot: Knot) -> tuple[Int64, Int64]:
    """Number the clusters: a span opens one if all that start before it have ended."""
    golds = len(knot.gold)
    start = np.concatenate((knot.gold_start, knot.pred_start))
    order = np.argsort(start, kind="stable")
    reach = np.maximum.accumulate(np.concatenate((knot.gold_end, knot.pred_end))[order])
    opens = np.zeros(len(order), np.int64)
    opens[1:] = start[order[1:]] >= reach[:-1]
    cluster = np.empty(len(order), np.int64)
    cluster[order] = np.cumsum(opens)
    return cluster[:golds], cluster[golds:]


def _split(
    knot: Knot, rules: Rules, pairs: Pairs, gold_cluster: Int64, pred_cluster: Int64, *, whole: bool
) -> Iterator[tuple[int, Pairs]]:
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
        yield from stars(rules, pairs.take(of_star), cluster[of_star])
    if of_small.any():
        local_gold, local_pred = _local(gold_cluster), _local(pred_cluster)
        shapes = np.where(small, golds * (SMALL + 1) + preds, 0)[cluster]
        for shape in np.flatnonzero(np.bincount(shapes)).tolist():
            if shape:
                these = np.flatnonzero(shapes == shape)
                rows, columns = divmod(shape, SMALL + 1)
                yield from smalls(rules, pairs.take(these), cluster[these], rows, columns, local_gold, local_pred)
    rest = ~(of_star | of_small)
    if not rest.any():
        return
    if not whole:
        remaining = pairs.take(rest)
        golds_in = len(knot.gold)
        labels = _labels(golds_in + len(knot.pred), remaining.gold, remaining.pred + golds_in)
        yield from _split(knot, rules, remaining, labels[:golds_in], labels[golds_in:], whole=True)
        return
    pairs, cluster = pairs.take(rest), cluster[rest]
    chosen, done = solved_by_nesting(rules, knot, pairs, cluster)
    yield from by_criterion(chosen, pairs)
    left = np.flatnonzero(~done)
    if not len(left):
        return
    order = np.lexsort((pairs.pred[left], pairs.gold[left], cluster[left]))
    remaining = pairs.take(left[order])
    edges = np.flatnonzero(np.diff(gold_cluster[remaining.gold])) + 1
    for part in np.split(np.arange(len(remaining)), edges):
        some = remaining.take(part)
        g, p = np.unique(some.gold), np.unique(some.pred)
        flat = _flat(knot.gold_start[g], knot.gold_end[g]) and _flat(knot.pred_start[p], knot.pred_end[p])
        narrow = None if flat else NarrowCluster.of(knot, some)
        if narrow is not None and (len(some) > LIMIT or narrow.segments.fits()):
            yield from by_criterion(narrow.solve(rules), some)
            continue
        solver = chain if flat else assign
        for criterion in range(rules.criteria):
            credit = CREDIT[rules.decisions[some.code, criterion]]
            yield criterion, some.take(solver(some, credit))


def _each_side(
    knot: Knot, rules: Rules, gold: Spans, outcome: Alignment, rows: Rows, gold_cluster: Int64, pred_cluster: Int64
) -> set[int]:
    """Give every span the best decision that any overlapping span of the other side earns it.

    In a cluster too large to look at all pairs, it is the best that those offered earn it. Returns the documents of
    such clusters.
    """
    large, *others = _parted(knot, gold_cluster, pred_cluster)
    documents = {int(gold.doc[knot.gold[g[0]]]) for g, _ in large}

    def listed() -> Iterator[Pairs]:
        yield from blocks(knot, *others)
        for g, p in large:
            yield with_identical(knot, g, p)

    best: list[list[Pairs | None]] = [[None, None] for _ in range(rules.criteria)]
    for block in listed():
        for side in (0, 1):
            ordered = block.take(preference(block, block.gold if side == 0 else block.pred))
            for criterion, known in enumerate(best):
                pairs = _best_of_each(ordered, side, rules, criterion)
                old = known[side]
                if old is not None:
                    both = joined([old, pairs])
                    both = both.take(preference(both, both.gold if side == 0 else both.pred))
                    pairs = _best_of_each(both, side, rules, criterion)
                known[side] = pairs
    for criterion, found in enumerate(best):
        for target, pairs_of, side in ((outcome.gold, found[0], 0), (outcome.pred, found[1], 1)):
            if pairs_of is None:
                continue
            place = pairs_of.gold if side == 0 else pairs_of.pred
            rows[side][place, criterion] = rules.decisions[pairs_of.code, criterion]
            if target.partners is not None:
                g, p = knot.gold[pairs_of.gold], knot.pred[pairs_of.pred]
                span, partner = (g, p) if side == 0 else (p, g)
                target.partners[span] = partner
    return documents


def _best_of_each(ordered: Pairs, side: int, rules: Rules, criterion: int) -> Pairs:
    """Return the pair of most credit of each span of one side; of those, the first in order."""
    span = ordered.gold if side == 0 else ordered.pred
    turn = np.argsort(span * 4 - CREDIT[rules.decisions[ordered.code, criterion]], kind="stable")
    return ordered.take(turn[np.flatnonzero(np.diff(span[turn], prepend=-1))])


def _flat(start: Int64, end: Int64) -> bool:
    return bool(np.all(start[1:] >= end[:-1]))


def _local(cluster: Int64) -> Int64:
    """Number the spans of each cluster from 0."""
    order = np.argsort(cluster, kind="stable")
    ordered = cluster[order]
    first = np.flatnonzero(np.diff(ordered, prepend=-1))
    local = np.empty(len(cluster), np.int64)
    local[order] = np.arange(len(cluster)) - np.repeat(first, np.diff(first, append=len(cluster)))
    return local


def _labels(size: int, head: Int64, tail: Int64) -> Int64:
    """Label the connected components of a graph."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    graph = coo_array((np.ones(len(head), np.int8), (head, tail)), shape=(size, size))
    labels: Int64 = connected_components(graph, directed=False)[1].astype(np.int64)
    return labels


def _components(knot: Knot, a_low: Int64, a_high: Int64, b_low: Int64, b_high: Int64) -> tuple[Int64, Int64]:
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
