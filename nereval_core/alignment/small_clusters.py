"""Exact solvers for clusters of few spans, for stars, and for chains.

Clusters of at most SMALL_CLUSTER_SPANS by SMALL_CLUSTER_SPANS are solved together, by trying every maximal matching. A
star, in which one side has one span, takes its best pair. Chains, in which neither side overlaps itself, are solved by
a linear dynamic programme. Sums are integers throughout.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import combinations, permutations

import numpy as np

from nereval_core.alignment.candidates import CREDIT, CandidatePairs, preference
from nereval_core.alignment.chunk_sweep import SMALL_CLUSTER_SPANS, SmallClusters
from nereval_core.alignment.codes import (
    CODES,
    EQUAL,
    SAME_TYPE,
    START,
    UNALIGNED,
    Alignment,
    Decision,
    Facts,
    Rules,
    Spans,
    describe,
)
from nereval_core.corpus.arrays import Array, Bools, Int32, Int64, UInt8

CASE_BITS = 17
"""Bits of the number of a case, at most: clusters of two by two spans, and stars of up to four, are told by cases."""
PAIR_BITS = 4
"""Bits of a pair in the number of a case."""
BLOCK_CLUSTERS = 1 << 14
"""Clusters that are looked at together: few enough for their arrays to stay near."""
FLUSH_SPANS = 1 << 17
"""Spans of small clusters that are collected before they are solved: enough to fill the vectors of each shape."""


@dataclass(frozen=True, slots=True)
class _OneShape:
    """Clusters of `golds` gold spans and `preds` predictions each.

    `span`, `start`, `end` and `kind` have shape (spans, clusters), gold spans first, each side in its order.
    """

    golds: int
    preds: int
    span: Int64
    start: Int64
    end: Int64
    kind: Array

    def repeated(self) -> Bools:
        """Return in which clusters two spans of one side are equal."""
        columns = self.start, self.end, self.kind
        same = np.logical_and.reduce([column[1:] == column[:-1] for column in columns])
        # The last gold span and the first prediction stand beside one another, and may be equal.
        same[self.golds - 1] = False
        has_equals: Bools = same.any(axis=0)
        return has_equals

    def take(self, places: Array | slice) -> _OneShape:
        columns = (column[:, places] for column in (self.span, self.start, self.end, self.kind))
        return _OneShape(self.golds, self.preds, *columns)


class SmallClusterSolver:
    """Collects small clusters, and solves those of one shape together."""

    def __init__(self, gold: Spans, pred: Spans, rules: Rules, facts: Facts, outcome: Alignment) -> None:
        self.gold, self.pred, self.rules, self.facts, self.outcome = gold, pred, rules, facts, outcome
        self.waiting: list[SmallClusters] = []
        # By shape: the number of each case seen so far, and by that number the decisions and the matching.
        self.number: dict[tuple[int, int], Int32] = {}
        self.rows: dict[tuple[int, int], UInt8] = {}
        self.best: dict[tuple[int, int], Int64] = {}

    def add(self, clusters: SmallClusters) -> None:
        self.waiting.append(clusters)
        if sum(len(clusters_of_chunk.span) for clusters_of_chunk in self.waiting) > FLUSH_SPANS:
            self.solve()

    def solve(self) -> None:
        """Decide all clusters collected."""
        if not self.waiting:
            return
        names = ("size", "preds", "span", "predicted", "start", "end")
        clusters = SmallClusters(*(np.concatenate([getattr(chunk, name) for chunk in self.waiting]) for name in names))
        self.waiting.clear()
        bits = int((clusters.end - clusters.start).max()).bit_length()
        kind = self.gold.type.take(clusters.span, mode="clip")
        kind[clusters.predicted] = self.pred.type.take(clusters.span[clusters.predicted])
        # Gold spans first, each side in its order.
        number = np.repeat(np.arange(len(clusters.size)) * 2, clusters.size) + clusters.predicted
        order = np.argsort(number, kind="stable")
        columns = [column.take(order) for column in (clusters.span, clusters.start, clusters.end, kind)]
        first = np.cumsum(clusters.size) - clusters.size
        golds = clusters.size - clusters.preds
        shape = golds * (SMALL_CLUSTER_SPANS + 1) + clusters.preds
        for which in np.flatnonzero(np.bincount(shape)).tolist():
            of_gold, of_pred = divmod(which, SMALL_CLUSTER_SPANS + 1)
            place = first[shape == which] + np.arange(of_gold + of_pred)[:, None]
            shaped = _OneShape(of_gold, of_pred, *(column[place] for column in columns))
            for low in range(0, place.shape[1], BLOCK_CLUSTERS):
                self._solve_block(shaped.take(slice(low, low + BLOCK_CLUSTERS)), bits)

    def _solve_block(self, clusters: _OneShape, bits: int) -> None:
        """Solve clusters of one shape, and write decisions and partners."""
        golds, preds, count = clusters.golds, clusters.preds, clusters.start.shape[1]
        ways = _Matchings.of(golds, preds)
        slots = golds * preds
        code = np.empty((slots + 1, count), np.uint8)
        # A slot without a pair weighs nothing, so that maximal matchings stand for all.
        code[slots] = UNALIGNED
        worth = np.empty((slots, count), np.int64)
        for slot in range(slots):
            code[slot], worth[slot] = self._described(clusters, *divmod(slot, preds), bits)
        sums = _added(worth, ways.slots)
        rivals = len(ways.slots) * (len(ways.slots) - 1) // 2
        if PAIR_BITS * slots + rivals <= CASE_BITS and not self.facts.questions:
            rows, best = self._by_case(clusters, code, sums, bits)
        else:
            rows, best = self._by_trying(clusters, code, sums, bits)
        for side, part in ((self.outcome.gold, slice(None, golds)), (self.outcome.pred, slice(golds, None))):
            side.decide(clusters.span[part].ravel(), clusters.kind[part].ravel(), rows[part].reshape(-1, rows.shape[2]))
        gold_partners, pred_partners = self.outcome.gold.partners, self.outcome.pred.partners
        if gold_partners is not None and pred_partners is not None:
            for slot in range(slots):
                g, p = divmod(slot, preds)
                these = np.flatnonzero((ways.of_span[g].take(best) == slot) & (code[slot] != UNALIGNED))
                gold_spans, pred_spans = clusters.span[g].take(these), clusters.span[golds + p].take(these)
                gold_partners[gold_spans], pred_partners[pred_spans] = pred_spans, gold_spans

    def _by_case(self, clusters: _OneShape, code: UInt8, sums: Int64, bits: int) -> tuple[UInt8, Int64]:
        """Try all matchings of one cluster of each case; the others of its case are decided alike.

        The codes of the pairs, and which of each two matchings is better where their credit is equal, make a case.
        """
        slots, ways = len(code) - 1, len(sums)
        case = np.zeros(sums.shape[1], np.int64)
        for slot in range(slots):
            case |= _CASE_OF_CODE.take(code[slot]) << PAIR_BITS * slot
        # Of equal matchings the one with the smaller list of pairs is better: the one with the first pair, in a star
        # the one with the first of the equal pairs.
        first = code[0] != UNALIGNED if clusters.golds == clusters.preds else True
        for bit, (first_way, second_way) in enumerate(combinations(range(ways), 2), start=PAIR_BITS * slots):
            better = (sums[first_way] > sums[second_way]) | ((sums[first_way] == sums[second_way]) & first)
            case |= better.astype(np.int64) << bit
        shape = clusters.golds, clusters.preds
        if shape not in self.number:
            self.number[shape] = np.full(1 << PAIR_BITS * slots + ways * (ways - 1) // 2, -1, np.int32)
            width = self.outcome.gold.rows.shape[1]
            self.rows[shape], self.best[shape] = np.zeros((sum(shape), 1, width), np.uint8), np.zeros(1, np.int64)
        number = self.number[shape]
        repeated = np.flatnonzero(clusters.repeated())
        unseen = number.take(case) < 0
        unseen[repeated] = False
        new, at = np.unique(case[unseen], return_index=True)
        if len(new):
            these = np.flatnonzero(unseen)[at]
            rows, best = self._by_trying(clusters.take(these), code[:, these], sums[:, these], bits)
            number[new] = np.arange(len(new)) + len(self.best[shape])
            self.rows[shape] = np.concatenate((self.rows[shape], rows), axis=1)
            self.best[shape] = np.concatenate((self.best[shape], best))
        which = number.take(case)
        rows, best = self.rows[shape].take(which, axis=1), self.best[shape].take(which)
        if len(repeated):
            # Equal spans of one side are told apart by nothing but their order.
            rows[:, repeated], best[repeated] = self._by_trying(
                clusters.take(repeated), code[:, repeated], sums[:, repeated], bits
            )
        return rows, best

    def _by_trying(self, clusters: _OneShape, code: UInt8, sums: Int64, bits: int) -> tuple[UInt8, Int64]:
        """Return the decisions (spans, clusters, width of the rows), and the matching under the last criterion."""
        golds, spans = clusters.golds, clusters.golds + clusters.preds
        ways = _Matchings.of(golds, clusters.preds)
        everywhere = np.arange(sums.shape[1])
        bit = np.int64(1) << np.arange(len(code) - 1)[:, None]
        pairs = _added(np.where(code[:-1] == UNALIGNED, 0, bit), ways.slots)
        rows = np.zeros((spans, sums.shape[1], self.outcome.gold.rows.shape[1]), np.uint8)
        for criterion in range(self.rules.criteria):
            decisions = self.rules.decisions[:, criterion].copy()
            decisions[UNALIGNED] = Decision.MIS
            total = _added((CREDIT[decisions] << 2 * bits + CREDIT_BIT).take(code[:-1]), ways.slots)
            total += sums
            best = total.argmax(axis=0)
            alive = total == total[best, everywhere]
            # Equal sets of pairs are not ties.
            tied = np.flatnonzero((alive & (pairs != pairs[best, everywhere])).any(axis=0))
            if len(tied):
                best[tied] = _first_of_equals(clusters.take(tied), code[:, tied], decisions, ways, alive[:, tied])
            for span in range(spans):
                if span == golds:
                    decisions[UNALIGNED] = Decision.SPU
                rows[span, :, criterion] = decisions.take(code[ways.of_span[span].take(best), everywhere])
        return rows, best

    def _described(self, clusters: _OneShape, g: int, p: int, bits: int) -> tuple[UInt8, Int64]:
        """Return codes of one pair of each cluster, and what it is worth: UNALIGNED and 0 where they do not overlap."""
        other = clusters.golds + p
        bounds = clusters.start[g], clusters.end[g], clusters.start[other], clusters.end[other]
        code = describe(*bounds)
        code |= (clusters.kind[g] == clusters.kind[other]).view(np.uint8) * np.uint8(SAME_TYPE)
        shared = np.minimum(bounds[1], bounds[3]) - np.maximum(bounds[0], bounds[2])
        # Of SMALL_CLUSTER_SPANS pairs the shared characters take 2 bits more than a span, the differences 3.
        worth = (shared << (bits + 3)) - np.abs(bounds[0] - bounds[2]) - np.abs(bounds[1] - bounds[3])
        worth += _FIXED.take(code) << (2 * bits + 5)
        if self.facts.questions:
            sizes = bounds[1] - bounds[0], bounds[3] - bounds[2]
            code |= self.facts.answers(clusters.span[g], clusters.span[other], self.pred, shared, *sizes)
        apart = shared <= 0
        code[apart], worth[apart] = UNALIGNED, 0
        return code, worth


@dataclass(frozen=True, slots=True)
class _Matchings:
    """The maximal matchings of so many gold spans and predictions, as slots `gold * predictions + prediction`.

    `of_span` (spans, matchings) is the slot of each span, the number of slots where it has none.
    """

    slots: Int64
    of_span: Int64

    @classmethod
    @cache
    def of(cls, golds: int, preds: int) -> _Matchings:
        if golds <= preds:
            matchings = [[g * preds + p for g, p in enumerate(way)] for way in permutations(range(preds), golds)]
        else:
            matchings = [[g * preds + p for p, g in enumerate(way)] for way in permutations(range(golds), preds)]
        of_span = np.full((golds + preds, len(matchings)), golds * preds)
        for number, way in enumerate(matchings):
            for slot in way:
                g, p = divmod(slot, preds)
                of_span[g, number] = of_span[golds + p, number] = slot
        return cls(np.array(matchings, np.int64), of_span)


_FIXED = np.array(
    [(code & EQUAL != 0) << 6 | 1 << 3 | (code & SAME_TYPE != 0) for code in range(CODES)],
    np.int64,
)
"""Equal boundaries, a pair and equal types, as counts of 3 bits each, by code."""
_CASE_OF_CODE = np.where(np.arange(CODES) == UNALIGNED, START >> 1, np.arange(CODES) >> 1)
"""Four bits for each code without questions: equal boundaries have START and END, no pair has START alone."""
CREDIT_BIT = 14
"""The lowest bit of the credit, in addition to twice those of the longest span: levels 2 to 6 are below it."""
UNALIGNED_LAST = np.array([0, 2, 1, 3, 3], np.int64)
"""Order of decisions among identical spans."""


def _added(values: Int64, ways: Int64) -> Int64:
    """Add up values by slot (slots, clusters) over matchings: shape (matchings, clusters)."""
    sums = np.empty((len(ways), values.shape[1]), np.int64)
    for number, (first, *others) in enumerate(ways.tolist()):
        sums[number] = values[first]
        for slot in others:
            sums[number] += values[slot]
    return sums


def _first_of_equals(clusters: _OneShape, code: UInt8, decisions: UInt8, ways: _Matchings, alive: Bools) -> Int64:
    """Return, by cluster, which of the matchings alive (matchings, clusters) has the smallest list of pairs.

    Of matchings that only exchange equal spans of one side, it is that in which the first read is aligned best.
    """
    spans = list(zip(clusters.start, clusters.end, clusters.kind, strict=True))
    rank = np.zeros(clusters.start.shape, np.int64)
    for mine, (start, end, kind) in enumerate(spans):
        for low, high, other in spans:
            rank[mine] += (low < start) | (low == start) & ((high < end) | (high == end) & (other < kind))
    slots = len(code) - 1
    keys = np.empty((slots, code.shape[1]), np.int64)
    for slot in range(slots):
        gold_rank, pred_rank = rank[slot // clusters.preds], rank[clusters.golds + slot % clusters.preds]
        keys[slot] = np.where(
            code[slot] == UNALIGNED, 255, np.minimum(gold_rank, pred_rank) << 4 | np.maximum(gold_rank, pred_rank)
        )
    lists = np.sort(keys[ways.slots], axis=1)
    packed = (lists << (8 * np.arange(lists.shape[1])[::-1])[:, None]).sum(axis=1)
    packed = np.where(alive, packed, np.iinfo(np.int64).max)
    alive = packed == packed.min(axis=0)
    order, partners = np.zeros(alive.shape, np.int64), np.zeros(alive.shape, np.int64)
    for span, slot in enumerate(ways.of_span):
        got = code[slot]
        order = order << 2 | np.where(got == UNALIGNED, UNALIGNED_LAST[Decision.MIS], UNALIGNED_LAST[decisions[got]])
        partner = slot % clusters.preds if span < clusters.golds else slot // clusters.preds % clusters.golds
        partners = partners << 2 | np.where(got == UNALIGNED, 0, partner[:, None])
    order = order << 2 * len(ways.of_span) | partners
    best: Int64 = np.where(alive, order, np.iinfo(np.int64).max).argmin(axis=0)
    return best


def solve_stars(rules: Rules, pairs: CandidatePairs, cluster: Int64) -> Iterator[tuple[int, CandidatePairs]]:
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


def solve_chain(pairs: CandidatePairs, credit: Int64) -> Int64:
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
    aligned = []
    i = 0
    while i < count:
        # Taking the earliest pair that keeps the sum gives the smallest list.
        if worth[i] + best[following[i]] == best[i]:
            aligned.append(i)
            i = following[i]
        else:
            i += 1
    return np.array(aligned, np.int64)
