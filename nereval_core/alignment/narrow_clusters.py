"""Exact solver for long clusters in which few spans are open at any place, such as one span over thousands of others.

The spans of a cluster, in the order of their starts, are cut into segments where few are open. Each segment is solved
by the tables of `nesting.py` once for every subset of the open spans that may be free where it begins, which gives
the best sums for every subset that may be free where it ends. The segments are then joined from left to right. Where
sums are equal, the alignment with the smaller list of pairs is better: of each two subsets, the first pair in which
their alignments differ is remembered. Time grows with the number of spans.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from nereval_core.alignment.candidates import CREDIT, CandidatePairs, TangledSpans
from nereval_core.alignment.codes import EQUAL, SAME_TYPE, Rules
from nereval_core.alignment.nesting import (
    BATCH_CELLS,
    FIRST_PAIR_BIT,
    MOST_OPEN_SPANS,
    UNREACHABLE,
    Clusters,
    better_alignments,
    subset_tables,
)
from nereval_core.corpus.arrays import Bools, Int64

SEGMENT_SPANS = 16
"""Spans a segment, at most."""
SEGMENT_PAIRS = 53
"""Pairs a segment, at most: the first in which two alignments differ is found by a conversion to float64."""
SEGMENT_WORTH = 1 << 60
"""Worth of all pairs of a segment together, at most, so that it can be added to UNREACHABLE."""
CELLS_PER_SPAN = 1 << 8
"""Steps of table cells for each span, on average, up to which a cluster is solved here."""
CLUSTER_SPANS = 1 << 19
"""Spans up to which the sums of a cluster fit."""
NO_DIFFERENCE = 1 << 62


@dataclass(frozen=True, slots=True)
class Segments:
    """The segments of a cluster: `slot` by span, and where each segment begins.

    `cuts` (segments + 1,) are numbers of spans in the order of their starts, `open` (segments + 1,) the slots open
    before these spans, as bits, and `width` is the number of slots. No segment's alignment has more than `most` pairs.
    """

    slot: Int64
    cuts: Int64
    open: Int64
    width: int
    most: int

    def fits(self) -> bool:
        """Return whether time and memory for each span are within bounds."""
        begin = np.array([1 << slots.bit_count() for slots in self.open[:-1].tolist()], np.int64)
        work = int((begin * np.diff(self.cuts)).sum()) << self.width
        return work <= CELLS_PER_SPAN * len(self.slot)


def cut_segments(start: Int64, end: Int64) -> Segments | None:
    """Cut a cluster of spans, sorted by start, into segments; None if too many are open at once to be solved here."""
    if len(start) > CLUSTER_SPANS or _most_open(start, end) > MOST_OPEN_SPANS:
        return None
    until: list[int] = []
    slots, opened = [], []
    for low, high in zip(start.tolist(), end.tolist(), strict=True):
        opened.append(sum(1 << slot for slot, last in enumerate(until) if last > low))
        slot = next((slot for slot, last in enumerate(until) if last <= low), len(until))
        if slot == len(until):
            until.append(high)
        until[slot] = high
        slots.append(slot)
    opened.append(0)
    width = max(2, len(until))
    longest = int((end - start).max())
    ways = range(min(SEGMENT_SPANS, SEGMENT_PAIRS // (width - 1)), 0, -1)
    most = next((most for most in ways if _radix(most, longest) <= SEGMENT_WORTH), None)
    if most is None:
        return None
    cuts = [0]
    while cuts[-1] < len(slots):
        farthest = min(cuts[-1] + most, len(slots))
        nearest = farthest if farthest == len(slots) else cuts[-1] + (most + 1) // 2
        cuts.append(min(range(farthest, nearest - 1, -1), key=lambda at: opened[at].bit_count()))
    return Segments(np.array(slots), np.array(cuts), np.array(opened)[cuts], width, most)


def _most_open(start: Int64, end: Int64) -> int:
    """Return how many spans are open at once, at most; `start` is sorted."""
    return int((np.arange(1, len(start) + 1) - np.searchsorted(np.sort(end), start, side="right")).max())


def _radix(most: int, longest: int) -> int:
    """Return more than `most` pairs of spans of at most `longest` characters are worth, as one number."""
    return (2 * most + 1) * (most + 1) ** 3 * (most * longest + 1) * (2 * most * longest + 1)


@dataclass(frozen=True, slots=True)
class NarrowCluster:
    """A connected cluster that can be solved here: its pairs, and its segments with their spans laid out."""

    pairs: CandidatePairs
    segments: Segments
    longest: int
    earlier: Int64
    later: Int64

    @classmethod
    def of(cls, tangle: TangledSpans, pairs: CandidatePairs) -> NarrowCluster | None:
        """Return the cluster of these pairs, or None if too many spans are open at once."""
        golds, g = np.unique(pairs.gold, return_inverse=True)
        preds, p = np.unique(pairs.pred, return_inverse=True)
        start = np.concatenate((tangle.gold_start[golds], tangle.pred_start[preds]))
        end = np.concatenate((tangle.gold_end[golds], tangle.pred_end[preds]))
        order = np.argsort(start, kind="stable")
        segments = cut_segments(start[order], end[order])
        if segments is None:
            return None
        position = np.empty(len(order), np.int64)
        position[order] = np.arange(len(order))
        gold_places, pred_places = position[g], position[p + len(golds)]
        return cls(
            pairs,
            segments,
            int((end - start).max()),
            np.minimum(gold_places, pred_places),
            np.maximum(gold_places, pred_places),
        )

    def solve(self, rules: Rules) -> Bools:
        """Return which pairs are in the best alignment, shape (criteria, pairs)."""
        cuts = self.segments.cuts
        inside = np.searchsorted(cuts, self.later, side="right") - 1
        # The places of a segment's pairs, and those of all pairs, are in the order of their keys.
        overall = np.empty(len(self.pairs), np.int64)
        overall[np.argsort(self.pairs.key, kind="stable")] = np.arange(len(self.pairs))
        turn = np.lexsort((overall, inside))
        first = np.searchsorted(inside[turn], np.arange(len(cuts)))
        place = np.empty(len(self.pairs), np.int64)
        place[turn] = np.arange(len(turn)) - first[inside[turn]]
        joined = _JoinedSegments(rules.criteria, len(cuts) - 1)
        sums, pair_bits = self._solved_segments(rules, place, inside)
        for number in range(len(cuts) - 1):
            joined.add(sums[number], pair_bits[number], overall[turn[first[number] : first[number + 1]]])
        bits = joined.traced()[:, inside]
        is_aligned: Bools = (bits >> (FIRST_PAIR_BIT - place) & 1).astype(bool)
        return is_aligned

    def _solved_segments(self, rules: Rules, place: Int64, inside: Int64) -> tuple[dict[int, Int64], dict[int, Int64]]:
        """Return, by segment, sums and pairs taken by criterion and by subset where it begins and where it ends."""
        cuts, opened, width = self.segments.cuts, self.segments.open, self.segments.width
        worth = self._worth(rules)
        edge = np.full((len(self.segments.slot), MOST_OPEN_SPANS), -1, np.int64)
        edge[self.later, self.segments.slot[self.earlier]] = np.arange(len(self.pairs))
        sums, pair_bits = {}, {}
        for before, after, numbers in _segments_by_slots(opened):
            begin = _subsets(before)
            numbers = numbers[np.argsort(cuts[numbers] - cuts[numbers + 1], kind="stable")]
            step = max(1, BATCH_CELLS // (len(begin) << width))
            for low in range(0, len(numbers), step):
                batch = numbers[low : low + step]
                rows = np.repeat(batch, len(begin))
                table = Clusters(
                    size=np.diff(cuts)[rows],
                    first=cuts[rows],
                    width=np.full(len(rows), width),
                    able=np.ones(len(rows), bool),
                    slot=self.segments.slot,
                    edge=edge,
                    cluster=inside,
                    place=place,
                )
                best = subset_tables(table, np.arange(len(rows)), width, worth, np.tile(begin, len(batch)))
                for slot in range(width):
                    if not after >> slot & 1:
                        # Its span has ended: free or not, nothing depends on it any more.
                        free = np.flatnonzero(np.arange(1 << width) >> slot & 1)
                        both = (part[:, :, which] for which in (free ^ 1 << slot, free) for part in best)
                        for part, won in zip(best, better_alignments(*both), strict=True):
                            part[:, :, free ^ 1 << slot] = won
                end = _subsets(after)
                shape = (rules.criteria, len(batch), len(begin), len(end))
                words = self._unpacked(best[0][:, :, end]).reshape(3, *shape)
                bits = best[1][:, :, end].reshape(shape)
                for at, number in enumerate(batch.tolist()):
                    sums[number], pair_bits[number] = words[:, :, at], bits[:, at]
        return sums, pair_bits

    def _worth(self, rules: Rules) -> Int64:
        """Return rules 1 to 6 of docs/scoring.md#alignment as one number, by criterion and pair."""
        most, code = self.segments.most, self.pairs.code
        worth = CREDIT[rules.decisions[code]].T
        for level in (code & EQUAL != 0, np.ones(len(code), bool), code & SAME_TYPE != 0):
            worth = worth * (most + 1) + level
        worth = worth * (most * self.longest + 1) + self.pairs.shared
        packed: Int64 = worth * (2 * most * self.longest + 1) - self.pairs.difference
        return packed

    def _unpacked(self, sums: Int64) -> Int64:
        """Return sums as three numbers each: credit, equal boundaries and pairs; equal types and characters; distance.

        What cannot be reached is UNREACHABLE in the first.
        """
        most = self.segments.most
        rest, distance = np.divmod(-sums, 2 * most * self.longest + 1)
        rest, shared = np.divmod(-rest, most * self.longest + 1)
        rest, types = np.divmod(rest, most + 1)
        rest, pairs = np.divmod(rest, most + 1)
        credit, equal = np.divmod(rest, most + 1)
        first = (credit << 40) + (equal << 20) + pairs
        return np.stack((np.where(sums < 0, UNREACHABLE, first), (types << 43) + shared, -distance))


class _JoinedSegments:
    """The best alignments of the segments joined so far, by criterion and subset of the spans then open.

    `sums` (3, criteria, subsets) are their sums, and `first` (criteria, subsets, subsets) is the first pair in which
    two of them differ: its place plus one, negative where the second has it.
    """

    def __init__(self, criteria: int, count: int) -> None:
        self.sums = np.zeros((3, criteria, 1), np.int64)
        self.first = np.full((criteria, 1, 1), NO_DIFFERENCE)
        self.criteria = np.arange(criteria)[:, None]
        self.ways: list[tuple[Int64, Int64]] = []

    def add(self, sums: Int64, pair_bits: Int64, overall: Int64) -> None:
        """Join a segment; `overall` are the places of its pairs among all of the cluster."""
        together = self.sums[:, :, :, None] + sums
        np.maximum(together[0], UNREACHABLE, out=together[0])
        alive: Bools = np.ones_like(together[0], bool)
        for word in together:
            worth = np.where(alive, word, np.iinfo(np.int64).min)
            alive &= worth == worth.max(axis=1, keepdims=True)
        best = alive.argmax(axis=1)
        end = np.arange(best.shape[1])[None]
        if np.count_nonzero(alive) > best.size:
            for way in range(1, alive.shape[1]):
                mine = pair_bits[:, way, :]
                theirs = pair_bits[self.criteria, best, end]
                differ = _nearer(self.first[self.criteria, way, best], _first_different(mine, theirs, overall))
                best = np.where(alive[:, way] & (differ > 0) & (differ < NO_DIFFERENCE), way, best)
        bits = pair_bits[self.criteria, best, end]
        self.ways.append((best, bits))
        self.sums = together[:, self.criteria, best, end]
        row = self.criteria[:, :, None]
        self.first = _nearer(
            self.first[row, best[:, :, None], best[:, None, :]],
            _first_different(bits[:, :, None], bits[:, None, :], overall),
        )

    def traced(self) -> Int64:
        """Return the pairs taken in each segment, as bits, shape (criteria, segments)."""
        bits_of_segments = np.empty((len(self.criteria), len(self.ways)), np.int64)
        end = np.zeros(len(self.criteria), np.int64)
        criterion = self.criteria[:, 0]
        for number in range(len(self.ways) - 1, -1, -1):
            best, bits = self.ways[number]
            bits_of_segments[:, number] = bits[criterion, end]
            end = best[criterion, end]
        return bits_of_segments


def _nearer(first_difference: Int64, second_difference: Int64) -> Int64:
    """Return of two differences each the one that comes first."""
    first: Int64 = np.where(np.abs(first_difference) <= np.abs(second_difference), first_difference, second_difference)
    return first


def _first_different(first_bits: Int64, second_bits: Int64, overall: Int64) -> Int64:
    """Return the first pair of a segment that only one of two alignments has, negative where the second has it."""
    differ = first_bits ^ second_bits
    if not len(overall):
        return np.full(differ.shape, NO_DIFFERENCE)
    place = FIRST_PAIR_BIT + 1 - np.frexp(differ.astype(np.float64))[1]
    first_pair = overall.take(place, mode="clip") + 1
    signed: Int64 = np.where(
        differ == 0, np.int64(NO_DIFFERENCE), np.where(first_bits > second_bits, first_pair, -first_pair)
    )
    return signed


def _segments_by_slots(opened: Int64) -> Iterator[tuple[int, int, Int64]]:
    """Yield the slots open where segments begin and where they end, with the numbers of the segments."""
    kinds, kind = np.unique(np.stack((opened[:-1], opened[1:])), axis=1, return_inverse=True)
    for number, (before, after) in enumerate(kinds.T.tolist()):
        yield before, after, np.flatnonzero(kind.ravel() == number)


def _subsets(slots: int) -> Int64:
    """Return all subsets of some slots, each as bits, in increasing order."""
    everything = np.arange(slots + 1, dtype=np.int64)
    inside: Int64 = everything[everything & ~slots == 0]
    return inside
