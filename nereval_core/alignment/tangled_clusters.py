"""Tangled clusters, in which spans overlap more than one span of the other side: each goes to the solver for its shape.

The alignment of a cluster is the best in the order of docs/scoring.md#alignment: credit, equal boundaries, pairs, equal
types, shared characters, least difference of boundaries, and then the smallest list of pairs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from nereval_core.alignment.candidates import (
    CREDIT,
    CandidatePairs,
    TangledSpans,
    candidate_pairs,
    concatenate_pairs,
    overlap_ranges,
    pair_blocks,
    preference,
    tangled_spans,
)
from nereval_core.alignment.codes import Alignment, Decision, Facts, Rules, SideOutcome, Spans, ranges
from nereval_core.alignment.general_solver import DENSE_SPANS, solve_assignment
from nereval_core.alignment.greedy_solver import greedy_alignments, offered_and_identical_pairs
from nereval_core.alignment.identical_pairs import IdenticalPairs, scopes
from nereval_core.alignment.narrow_clusters import NarrowCluster, cut_segments
from nereval_core.alignment.nesting import pairs_by_criterion, solve_nested
from nereval_core.alignment.small_clusters import UNALIGNED_LAST, solve_chain, solve_stars
from nereval_core.corpus.arrays import Int64

Rows = tuple[NDArray[np.uint8], NDArray[np.uint8]]
"""Decisions of a tangle's gold spans and predictions, by criterion."""

EXACT_PAIRS = 10_000
"""Candidate pairs up to which the solver for any shape is used; larger clusters that no other solver takes are aligned
greedily."""
HELD_PAIRS = 1 << 19
"""Candidate pairs of several clusters that are in memory at once, about."""


def solve_clusters(
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
    tangle = tangled_spans(gold, pred, base, facts, gold_spans, pred_spans)
    # Decided close together here, and then written once to where they lie far apart.
    rows = (_unaligned(outcome.gold, tangle.gold, Decision.MIS), _unaligned(outcome.pred, tangle.pred, Decision.SPU))
    greedy: set[int] = set()
    if each_side:
        greedy.update(_each_side(tangle, rules, gold, outcome, rows, gold_cluster, pred_cluster))
    else:
        for number, pairs, document in _align_clusters(tangle, rules, gold, gold_cluster, pred_cluster):
            _write(tangle, rules, outcome, rows, number, pairs)
            if document is not None:
                greedy.add(document)
        _identical_in_order(outcome, rows, tangle)
    for side, spans, members, decided in (
        (outcome.gold, gold, tangle.gold, rows[0]),
        (outcome.pred, pred, tangle.pred, rows[1]),
    ):
        side.decide(members, spans.type[members], decided)
    return greedy


def _unaligned(side: SideOutcome, members: Int64, alone: Decision) -> NDArray[np.uint8]:
    """Return rows as wide as those of the side, in which all members are unaligned under all criteria."""
    rows = np.zeros((len(members), side.rows.shape[1]), np.uint8)
    rows[:, : side.counts.shape[1]] = alone
    return rows


def _write(
    tangle: TangledSpans, rules: Rules, outcome: Alignment, rows: Rows, criterion: int, pairs: CandidatePairs
) -> None:
    decisions = rules.decisions[:, criterion].take(pairs.code)
    rows[0][pairs.gold, criterion] = decisions
    rows[1][pairs.pred, criterion] = decisions
    if outcome.gold.partners is not None and outcome.pred.partners is not None:
        g, p = tangle.gold[pairs.gold], tangle.pred[pairs.pred]
        outcome.gold.partners[g] = p
        outcome.pred.partners[p] = g


def _identical_in_order(outcome: Alignment, rows: Rows, tangle: TangledSpans) -> None:
    """Give identical spans of one side the decisions of their group, in the order in which they were read."""
    for side, other, decided, spans, rank in (
        (outcome.gold, outcome.pred, rows[0], tangle.gold, tangle.gold_rank),
        (outcome.pred, outcome.gold, rows[1], tangle.pred, tangle.pred_rank),
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


def _align_clusters(
    tangle: TangledSpans, rules: Rules, gold: Spans, gold_cluster: Int64, pred_cluster: Int64
) -> Iterator[tuple[int, CandidatePairs, int | None]]:
    """Yield (criterion, chosen pairs, None) and, for clusters aligned greedily, their document in the third place."""
    identical = IdenticalPairs.of(tangle, gold_cluster, pred_cluster)
    for scope, columns in scopes(rules).items():
        some_rules = replace(rules, decisions=rules.decisions[:, columns])
        g, p = identical.fixed(scope)
        at_once = candidate_pairs(tangle, g, p)
        yield from ((column, at_once, None) for column in columns)
        g, p = _free_places(len(tangle.gold), g), _free_places(len(tangle.pred), p)
        rest = tangle.take(g, p)
        large, *others = _split_large(rest, gold_cluster[g], pred_cluster[p])
        for spans_of_cluster in large:
            document = int(gold.doc[rest.gold[spans_of_cluster[0][0]]])
            for column, pairs in greedy_alignments(rest, some_rules, *spans_of_cluster):
                yield columns[column], pairs.of(g, p), document
        for column, pairs in _solve_exactly(rest.take(*others), some_rules):
            yield columns[column], pairs.of(g[others[0]], p[others[1]]), None


def _free_places(size: int, aligned: Int64) -> Int64:
    """Return the indices below `size` that are not taken."""
    free = np.ones(size, bool)
    free[aligned] = False
    return np.flatnonzero(free)


def _split_large(
    tangle: TangledSpans, gold_cluster: Int64, pred_cluster: Int64
) -> tuple[list[tuple[Int64, Int64]], Int64, Int64]:
    """Return the gold spans and predictions of each cluster too large to solve exactly, and then all others."""
    everything = np.arange(len(tangle.gold)), np.arange(len(tangle.pred))
    n_clusters = int(max(gold_cluster.max(initial=-1), pred_cluster.max(initial=-1))) + 1
    golds, preds = np.bincount(gold_cluster, minlength=n_clusters), np.bincount(pred_cluster, minlength=n_clusters)
    if not np.any(golds * preds > EXACT_PAIRS):
        return [], *everything
    # One seeming cluster may be several: find the true ones before deciding which are too large.
    meeting = overlap_ranges(tangle)
    gold_cluster, pred_cluster = _connected_clusters(tangle, *meeting)
    large = _too_large(tangle, meeting, gold_cluster, pred_cluster)
    large_clusters = [
        (np.flatnonzero(gold_cluster == number), np.flatnonzero(pred_cluster == number)) for number in large
    ]
    others = ~np.isin(gold_cluster, large), ~np.isin(pred_cluster, large)
    return large_clusters, np.flatnonzero(others[0]), np.flatnonzero(others[1])


def _too_large(
    tangle: TangledSpans, meeting: tuple[Int64, Int64, Int64, Int64], gold_cluster: Int64, pred_cluster: Int64
) -> list[int]:
    """Return the clusters of more than EXACT_PAIRS candidate pairs that are not stars, chains or narrow clusters."""
    a_low, a_high, b_low, b_high = meeting
    clusters = int(max(gold_cluster.max(), pred_cluster.max())) + 1
    meets = np.bincount(gold_cluster, a_high - a_low, clusters) + np.bincount(pred_cluster, b_high - b_low, clusters)
    golds, preds = np.bincount(gold_cluster, minlength=clusters), np.bincount(pred_cluster, minlength=clusters)
    too_large = []
    for number in np.flatnonzero((meets > EXACT_PAIRS) & (np.minimum(golds, preds) > 1)).tolist():
        g, p = np.flatnonzero(gold_cluster == number), np.flatnonzero(pred_cluster == number)
        if _is_flat(tangle.gold_start[g], tangle.gold_end[g]) and _is_flat(tangle.pred_start[p], tangle.pred_end[p]):
            continue
        start = np.concatenate((tangle.gold_start[g], tangle.pred_start[p]))
        order = np.argsort(start, kind="stable")
        parts = cut_segments(start[order], np.concatenate((tangle.gold_end[g], tangle.pred_end[p]))[order])
        if parts is None or not parts.fits():
            too_large.append(number)
    return too_large


def _solve_exactly(tangle: TangledSpans, rules: Rules) -> Iterator[tuple[int, CandidatePairs]]:
    """Solve the rest of the clusters, about HELD_PAIRS candidate pairs at a time."""
    if not len(tangle.gold) or not len(tangle.pred):
        return
    a_low, a_high, b_low, b_high = overlap_ranges(tangle)
    of_gold, of_pred = _number_clusters(tangle)
    meets = np.bincount(of_gold, a_high - a_low, int(max(of_gold.max(), of_pred.max())) + 1)
    meets += np.bincount(of_pred, b_high - b_low, len(meets))
    batch = np.cumsum(meets).astype(np.int64) // HELD_PAIRS
    for number in range(int(batch[-1]) + 1):
        g, p = np.flatnonzero(batch[of_gold] == number), np.flatnonzero(batch[of_pred] == number)
        part = tangle.take(g, p) if batch[-1] else tangle
        a_low, a_high, b_low, b_high = overlap_ranges(part)
        row, gold_pred = ranges(a_low, a_high)
        column, pred_gold = ranges(b_low, b_high)
        pairs = candidate_pairs(part, np.concatenate((row, pred_gold)), np.concatenate((gold_pred, column)))
        for criterion, aligned in _solve_by_shape(part, rules, pairs, *_number_clusters(part), whole=False):
            yield criterion, aligned.of(g, p)


def _number_clusters(tangle: TangledSpans) -> tuple[Int64, Int64]:
    """Number the clusters: a span opens one if all that start before it have ended."""
    golds = len(tangle.gold)
    start = np.concatenate((tangle.gold_start, tangle.pred_start))
    order = np.argsort(start, kind="stable")
    reach = np.maximum.accumulate(np.concatenate((tangle.gold_end, tangle.pred_end))[order])
    opens = np.zeros(len(order), np.int64)
    opens[1:] = start[order[1:]] >= reach[:-1]
    cluster = np.empty(len(order), np.int64)
    cluster[order] = np.cumsum(opens)
    return cluster[:golds], cluster[golds:]


def _solve_by_shape(
    tangle: TangledSpans, rules: Rules, pairs: CandidatePairs, gold_cluster: Int64, pred_cluster: Int64, *, whole: bool
) -> Iterator[tuple[int, CandidatePairs]]:
    """Send each cluster to its solver; `whole` says that clusters are known to be connected."""
    if not len(pairs):
        return
    clusters = int(max(gold_cluster.max(), pred_cluster.max())) + 1
    golds, preds = np.bincount(gold_cluster, minlength=clusters), np.bincount(pred_cluster, minlength=clusters)
    cluster = gold_cluster[pairs.gold]
    star = np.minimum(golds, preds) == 1
    of_star = star[cluster]
    if of_star.any():
        yield from solve_stars(rules, pairs.take(of_star), cluster[of_star])
    rest = ~of_star
    if not rest.any():
        return
    if not whole:
        remaining = pairs.take(rest)
        golds_in = len(tangle.gold)
        labels = _connected_labels(golds_in + len(tangle.pred), remaining.gold, remaining.pred + golds_in)
        yield from _solve_by_shape(tangle, rules, remaining, labels[:golds_in], labels[golds_in:], whole=True)
        return
    pairs, cluster = pairs.take(rest), cluster[rest]
    is_aligned, done = solve_nested(rules, tangle, pairs, cluster)
    yield from pairs_by_criterion(is_aligned, pairs)
    remaining_pairs = np.flatnonzero(~done)
    if not len(remaining_pairs):
        return
    order = np.lexsort((pairs.pred[remaining_pairs], pairs.gold[remaining_pairs], cluster[remaining_pairs]))
    remaining = pairs.take(remaining_pairs[order])
    edges = np.flatnonzero(np.diff(gold_cluster[remaining.gold])) + 1
    for part in np.split(np.arange(len(remaining)), edges):
        cluster_pairs = remaining.take(part)
        g, p = np.unique(cluster_pairs.gold), np.unique(cluster_pairs.pred)
        flat = _is_flat(tangle.gold_start[g], tangle.gold_end[g]) and _is_flat(tangle.pred_start[p], tangle.pred_end[p])
        is_small = len(g) + len(p) <= DENSE_SPANS
        narrow = None if flat or is_small else NarrowCluster.of(tangle, cluster_pairs)
        if narrow is not None and (len(cluster_pairs) > EXACT_PAIRS or narrow.segments.fits()):
            yield from pairs_by_criterion(narrow.solve(rules), cluster_pairs)
            continue
        solver = solve_chain if flat else solve_assignment
        for criterion in range(rules.criteria):
            credit = CREDIT[rules.decisions[cluster_pairs.code, criterion]]
            yield criterion, cluster_pairs.take(solver(cluster_pairs, credit))


def _each_side(
    tangle: TangledSpans,
    rules: Rules,
    gold: Spans,
    outcome: Alignment,
    rows: Rows,
    gold_cluster: Int64,
    pred_cluster: Int64,
) -> set[int]:
    """Give every span the best decision that any overlapping span of the other side earns it.

    In a cluster too large to look at all pairs, it is the best that those offered earn it. Returns the documents of
    such clusters.
    """
    large, *others = _split_large(tangle, gold_cluster, pred_cluster)
    documents = {int(gold.doc[tangle.gold[g[0]]]) for g, _ in large}

    def listed() -> Iterator[CandidatePairs]:
        yield from pair_blocks(tangle, *others)
        for g, p in large:
            yield offered_and_identical_pairs(tangle, g, p)

    best: list[list[CandidatePairs | None]] = [[None, None] for _ in range(rules.criteria)]
    for block in listed():
        for side in (0, 1):
            ordered = block.take(preference(block, block.gold if side == 0 else block.pred))
            for criterion, best_of_sides in enumerate(best):
                pairs = _best_of_each(ordered, side, rules, criterion)
                old = best_of_sides[side]
                if old is not None:
                    both = concatenate_pairs([old, pairs])
                    both = both.take(preference(both, both.gold if side == 0 else both.pred))
                    pairs = _best_of_each(both, side, rules, criterion)
                best_of_sides[side] = pairs
    for criterion, best_pairs in enumerate(best):
        for target, pairs_of, side in ((outcome.gold, best_pairs[0], 0), (outcome.pred, best_pairs[1], 1)):
            if pairs_of is None:
                continue
            place = pairs_of.gold if side == 0 else pairs_of.pred
            rows[side][place, criterion] = rules.decisions[pairs_of.code, criterion]
            if target.partners is not None:
                g, p = tangle.gold[pairs_of.gold], tangle.pred[pairs_of.pred]
                span, partner = (g, p) if side == 0 else (p, g)
                target.partners[span] = partner
    return documents


def _best_of_each(ordered: CandidatePairs, side: int, rules: Rules, criterion: int) -> CandidatePairs:
    """Return the pair of most credit of each span of one side; of those, the first in order."""
    span = ordered.gold if side == 0 else ordered.pred
    turn = np.argsort(span * 4 - CREDIT[rules.decisions[ordered.code, criterion]], kind="stable")
    return ordered.take(turn[np.flatnonzero(np.diff(span[turn], prepend=-1))])


def _is_flat(start: Int64, end: Int64) -> bool:
    return bool(np.all(start[1:] >= end[:-1]))


def _connected_labels(size: int, head: Int64, tail: Int64) -> Int64:
    """Number the connected components of a graph of `size` nodes in the order of their first nodes.

    `head` and `tail` are the ends of each edge. A component takes the smallest label of its neighbours, so at most half
    of the components with edges remain after two rounds. Importing scipy.sparse takes longer than scoring small files.
    """
    label = np.arange(size)
    while len(head):
        np.minimum.at(label, np.maximum(head, tail), np.minimum(head, tail))
        while not np.array_equal(jumped := label[label], label):
            label = jumped
        head, tail = label[head], label[tail]
        apart = np.flatnonzero(head != tail)
        head, tail = head[apart], tail[apart]
    first = label == np.arange(size)
    return (np.cumsum(first) - 1)[label]


def _connected_clusters(
    tangle: TangledSpans, a_low: Int64, a_high: Int64, b_low: Int64, b_high: Int64
) -> tuple[Int64, Int64]:
    """Label connected components without listing all pairs: the spans in one range are tied to their neighbours."""
    golds, preds = len(tangle.gold), len(tangle.pred)
    heads, tails = [], []
    for low, high, mine, theirs, count in (
        (a_low, a_high, 0, golds, preds),
        (b_low, b_high, golds, 0, golds),
    ):
        has_range = np.flatnonzero(high > low)
        heads.append(has_range + mine)
        tails.append(low[has_range] + theirs)
        # Neighbours k, k + 1 are tied where some range covers both.
        change = np.zeros(count + 1, np.int64)
        np.add.at(change, low[has_range], 1)
        np.add.at(change, high[has_range] - 1, -1)
        tied = np.flatnonzero(np.cumsum(change)[:-1] > 0)
        heads.append(tied + theirs)
        tails.append(tied + theirs + 1)
    labels = _connected_labels(golds + preds, np.concatenate(heads), np.concatenate(tails))
    return labels[:golds], labels[golds:]
