"""One chunk of whole documents: which spans overlap which, and the decision on all that need no solver.

Both sides are merged into one sorted array, and a running maximum of the ends cuts it into clusters. A cluster of one
gold span and one prediction is a pair. From larger clusters, identical pairs that every best alignment contains are
taken out (`identical_pairs.py`), and the rest falls into clusters again: pairs, clusters of few spans
(`small_clusters.py`), and those that are left to the other solvers.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from nereval_core.alignment.codes import (
    CONTAIN,
    END,
    EQUAL,
    SAME_TYPE,
    START,
    TANGLED,
    UNALIGNED,
    Facts,
    Spans,
    describe,
)
from nereval_core.corpus.arrays import Array, Bools, Int64, UInt8

LOWEST_BYTE = 0 if sys.byteorder == "little" else 7
SMALL_CLUSTER_SPANS = 4
"""Spans a side up to which a cluster is small."""
LENGTH_BITS = 20
"""Bits of the longest span of a small cluster: sums of SMALL_CLUSTER_SPANS pairs fit into one number."""
SPREAD = 0x9E3779B1
"""Odd number that spreads the numbers of clusters over slots."""
IDENTICAL = EQUAL | START | END | CONTAIN | SAME_TYPE


@dataclass(frozen=True, slots=True)
class Chunk:
    """Whole documents: a slice of each side, and the number of the first of them."""

    gold: slice
    pred: slice
    first: int


@dataclass(frozen=True, slots=True)
class Tangles:
    """Spans of tangled clusters, as indices into the chunk, with the number of their cluster."""

    gold: Int64
    gold_cluster: Int64
    pred: Int64
    pred_cluster: Int64
    clusters: int


@dataclass(frozen=True, slots=True)
class SmallClusters:
    """Clusters of at most SMALL_CLUSTER_SPANS spans a side: how many spans each has, and how many of them `preds`.

    Their spans, one cluster after the other, are sorted by start and end: `span` is the index into the spans of its
    side, `predicted` says which side that is. Positions compare within a cluster only.
    """

    size: Int64
    preds: Int64
    span: Int64
    predicted: Bools
    start: Int64
    end: Int64


@dataclass(slots=True)
class Swept:
    """The decisions on a chunk, and its undecided clusters; spans are indices into it, but for those of small clusters.

    `codes` of both sides, TANGLED for spans of `small` clusters and of `tangles`; `pairs` are those decided, None where
    they are not asked for.
    """

    codes: tuple[UInt8, UInt8]
    pairs: list[tuple[Int64, Int64]] | None
    small: SmallClusters | None = None
    tangles: Tangles | None = None

    def add(self, g: Int64, p: Int64, code: UInt8 | int) -> None:
        self.codes[0][g] = code
        self.codes[1][p] = code
        if self.pairs is not None:
            self.pairs.append((g, p))


def sweep(
    gold: Spans,
    pred: Spans,
    base: Int64,
    facts: Facts,
    chunk: Chunk,
    *,
    partners: bool,
    identical_first: Callable[[], tuple[bool, bool]],
    small_apart: bool,
) -> Swept:
    """Decide the untangled spans of a chunk, and find the clusters of the others.

    `identical_first` says which identical pairs may be decided before (see `fixed_first`), `small_apart` whether small
    clusters are told from the others. `partners` asks for the pairs.
    """
    sides = ((gold, chunk.gold), (pred, chunk.pred))
    alone = [np.full(part.stop - part.start, UNALIGNED, np.uint8) for _, part in sides]
    swept = Swept((alone[0], alone[1]), [] if partners else None)
    if not len(swept.codes[0]) or not len(swept.codes[1]):
        return swept
    lengths = [spans.end[part] - spans.start[part] for spans, part in sides]
    bits = int(max(length.max() for length in lengths)).bit_length()
    merged = _merged_keys(sides, lengths, bits, base, chunk)
    del lengths
    opens = _cluster_starts(merged, bits)
    # The lowest byte of each key holds its side.
    side: UInt8 = merged.view(np.uint8)[LOWEST_BYTE::8] & np.uint8(1)
    before = np.zeros(len(merged) + 1, np.int32)
    np.cumsum(side, out=before[1:])
    # A pair is a cluster that opens at i, not at i + 1, again at i + 2, and whose two spans are of different sides.
    inner = ~opens[1:-1]
    two = opens[:-2] & inner
    two &= opens[2:]
    two &= side[:-1] != side[1:]
    third = inner[1:] & inner[:-1]
    broken = _broken(gold, pred, chunk, side)
    tangled = None
    if broken is not None or third.any():
        tangled = _of_three(third, len(side))
        if broken is not None:
            # Hulls of discontinuous spans may overlap where no character is shared: a solver looks at the fragments.
            handed = two & (broken[:-1] | broken[1:])
            tangled[:-1] |= handed
            tangled[1:] |= handed
            two &= ~handed
    decide = _Decider(gold, pred, chunk, facts, bits, swept)
    at = np.flatnonzero(two)
    # Of the type of indices: numpy would convert any other each time it is used as one.
    p = before.take(at).astype(np.int64)
    decide.pairs(merged, at, at - p, p)
    if tangled is None:
        return swept
    member = np.flatnonzero(tangled)
    span = before.take(member).astype(np.int64)
    np.subtract(member, span, out=span, where=side.take(member) == 0)
    members = _Members(merged.take(member), span)
    # What is known of overlaps does not hold for discontinuous spans: chunks with some are left to the solvers.
    if broken is None:
        innermost, lone = identical_first()
        members = decide.without_innermost(members) if innermost else members
        # With what stood inside them gone, few have others of their type beside them.
        members = decide.without_alone(members) if lone and len(members) else members
    tangles = decide.clusters(members, small_apart=broken is None and small_apart) if len(members) else None
    swept.tangles = tangles
    if tangles is not None:
        swept.codes[0][tangles.gold] = TANGLED
        swept.codes[1][tangles.pred] = TANGLED
    return swept


@dataclass(frozen=True, slots=True)
class _Members:
    """Spans of both sides in the order of their keys, each with its index into its side of the chunk."""

    key: Int64
    span: Int64

    def __len__(self) -> int:
        return len(self.key)

    def take(self, which: Bools) -> _Members:
        places = np.flatnonzero(which)
        return _Members(self.key.take(places), self.span.take(places))

    def sides(self) -> UInt8:
        side: UInt8 = self.key.view(np.uint8)[LOWEST_BYTE::8] & np.uint8(1)
        return side


@dataclass(frozen=True, slots=True)
class _Decider:
    """Writes the decisions on pairs and small clusters of a chunk into `swept`."""

    gold: Spans
    pred: Spans
    chunk: Chunk
    facts: Facts
    bits: int
    swept: Swept

    def pairs(self, keys: Int64, at: Int64, g: Int64, p: Int64) -> None:
        """Decide pairs of which the first span stands at `at`, the second behind it: spans `g` and `p`."""
        code = _codes(keys, at, self.bits)
        gold, pred = self.chunk.gold, self.chunk.pred
        same = self.gold.type[gold].take(g) == self.pred.type[pred].take(p)
        code |= same.view(np.uint8) * np.uint8(SAME_TYPE)
        if self.facts.questions:
            first_key, second_key = keys[at], keys[at + 1]
            shared = np.minimum(_end(first_key, self.bits), _end(second_key, self.bits)) - (
                second_key >> (self.bits + 1)
            )
            sizes = (self._sizes(self.gold, gold, g), self._sizes(self.pred, pred, p))
            code |= self.facts.answers(g + gold.start, p + pred.start, self.pred, shared, *sizes)
        self.swept.add(g, p, code)

    @staticmethod
    def _sizes(spans: Spans, part: slice, which: Int64) -> Int64:
        return (spans.end[part].take(which) - spans.start[part].take(which)).astype(np.int64)

    def clusters(self, members: _Members, *, small_apart: bool) -> Tangles | None:
        """Tell the clusters of some spans apart, and return those that are neither pairs nor small."""
        clusters = _Clusters.of(members, self.bits)
        mixed = (clusters.preds > 0) & (clusters.preds < clusters.size)
        if not small_apart:
            return _tangles(members, clusters, mixed)
        pair = mixed & (clusters.size == 2)
        at = clusters.first[pair]
        spans = members.span.take(at), members.span.take(at + 1)
        swapped = members.sides().take(at) == 1
        self.pairs(members.key, at, np.where(swapped, *spans[::-1]), np.where(swapped, *spans))
        most = SMALL_CLUSTER_SPANS if self.bits <= LENGTH_BITS else 0
        small = (clusters.preds <= most) & (clusters.size - clusters.preds <= most) & mixed & ~pair
        if small.any():
            small_members = members.take(np.repeat(small, clusters.size))
            predicted = small_members.sides() == 1
            self.swept.codes[0][small_members.span[~predicted]] = TANGLED
            self.swept.codes[1][small_members.span[predicted]] = TANGLED
            origin = np.where(predicted, self.chunk.pred.start, self.chunk.gold.start)
            start = small_members.key >> (self.bits + 1)
            self.swept.small = SmallClusters(
                clusters.size[small],
                clusters.preds[small],
                small_members.span + origin,
                predicted,
                start,
                _end(small_members.key, self.bits),
            )
        return _tangles(members, clusters, mixed & ~pair & ~small)

    def without_innermost(self, members: _Members) -> _Members:
        """Decide identical pairs that all overlapping spans contain, and return the others."""
        from nereval_core.alignment.identical_pairs import innermost

        first, may = self._identical(members)
        bounds = members.key.take(first) >> 1
        start = bounds >> self.bits
        return self._decided(members, first.take(innermost(start, start + (bounds & ((1 << self.bits) - 1)), may)))

    def without_alone(self, members: _Members) -> _Members:
        """Decide identical pairs whose cluster has no other gold span or no other prediction of their type."""
        first, may = self._identical(members)
        at = first[may]
        if not len(at):
            return members
        side = members.sides()
        kind = self.gold.type[self.chunk.gold].take(members.span, mode="clip").astype(np.int64)
        predicted = np.flatnonzero(side)
        kind[predicted] = self.pred.type[self.chunk.pred].take(members.span.take(predicted))
        # Others may share a slot: then a pair is left to the solvers, which find it too.
        slot = np.cumsum(_cluster_starts(members.key, self.bits)[:-1]) * SPREAD
        slot += kind * 2 + side
        slot &= (1 << (8 * len(members)).bit_length()) - 1
        alone = np.bincount(slot) == 1
        return self._decided(members, at[alone.take(slot.take(at)) | alone.take(slot.take(at + 1))])

    def _identical(self, members: _Members) -> tuple[Int64, Bools]:
        """Return where spans of each pair of boundaries begin, and whether these are one identical pair alone."""
        key = members.key
        bounds = key >> 1
        new = np.ones(len(key), bool)
        np.not_equal(bounds[1:], bounds[:-1], out=new[1:])
        first = np.flatnonzero(new)
        may = np.diff(first, append=len(key)) == 2
        twins = np.flatnonzero(may)
        at = first.take(twins)
        g, p = members.span.take(at), members.span.take(at + 1)
        # Gold stands first where the two are of different sides; where they are not, their types say nothing.
        types = self.gold.type[self.chunk.gold], self.pred.type[self.chunk.pred]
        same = types[0].take(g, mode="clip") == types[1].take(p, mode="clip")
        may[twins] = same & (key.take(at) + 1 == key.take(at + 1))
        return first, may

    def _decided(self, members: _Members, at: Int64) -> _Members:
        """Decide identical pairs, of which gold stands at `at`, and return the other spans."""
        self.swept.add(members.span.take(at), members.span.take(at + 1), IDENTICAL)
        rest = np.ones(len(members), bool)
        rest[at] = rest[at + 1] = False
        return members.take(rest)


@dataclass(frozen=True, slots=True)
class _Clusters:
    """Clusters of members: where each begins, how many spans it holds, and how many of these are predictions."""

    first: Int64
    size: Int64
    preds: Int64

    @classmethod
    def of(cls, members: _Members, bits: int) -> _Clusters:
        first = np.flatnonzero(_cluster_starts(members.key, bits)[:-1])
        return cls(first, np.diff(first, append=len(members)), np.add.reduceat(members.sides(), first, dtype=np.int64))


def _merged_keys(
    sides: tuple[tuple[Spans, slice], ...], lengths: list[Array], bits: int, base: Int64, chunk: Chunk
) -> Int64:
    """Return both sides as sorted keys: position, length in `bits` bits, and side in one.

    Both sides are sorted already: the stable sort merges two runs.
    """
    merged = np.empty(sum(map(len, lengths)), np.int64)
    # Documents may stand further apart than their texts are long. Where there is room, they stand a power of two
    # apart, which is faster than to look up where each starts.
    farthest = max(int(spans.end[part].max()) for spans, part in sides).bit_length()
    last = max(int(spans.doc[part.stop - 1]) for spans, part in sides) - chunk.first
    apart = last.bit_length() + farthest + bits + 1 <= 63
    low = 0
    for number, ((spans, part), length) in enumerate(zip(sides, lengths, strict=True)):
        key = merged[low : low + len(length)]
        if apart:
            key[:] = spans.doc[part]
            key -= chunk.first
            key <<= farthest
        else:
            np.take(base, spans.doc[part], out=key, mode="clip")
            key -= base[chunk.first]
        key += spans.start[part]
        key <<= bits + 1
        length = length.astype(np.int64) if bits > 29 else length
        key += (length << 1) | number
        low += len(length)
    merged.sort(kind="stable")
    return merged


def _cluster_starts(merged: Int64, bits: int) -> Bools:
    """Return where clusters open: at spans that start no earlier than all before them have ended, and at the end."""
    # Ends are put where starts stand in the key, so that both compare without being unpacked.
    reach = merged & ((1 << (bits + 1)) - 2)
    reach <<= bits
    reach += merged
    reach &= -1 << (bits + 1)
    np.maximum.accumulate(reach, out=reach)
    opens = np.empty(len(merged) + 1, bool)
    opens[0] = opens[-1] = True
    np.greater_equal(merged[1:], reach[:-1], out=opens[1:-1])
    return opens


def _end(key: Int64, bits: int) -> Int64:
    return (key >> (bits + 1)) + ((key >> 1) & ((1 << bits) - 1))


def _codes(merged: Int64, at: Int64, bits: int) -> UInt8:
    """Return the codes, types aside, of the pairs of which the first span stands at `at`, the second behind it."""
    code = np.full(len(at), EQUAL | START | END | CONTAIN, np.uint8)
    # Most pairs have equal boundaries, so that their keys differ in the side only: the others are looked at closely.
    alike = (merged[1:] ^ merged[:-1]) == 1
    rest = np.flatnonzero(~alike.take(at))
    at = at[rest]
    first_keys, second_keys = merged[at], merged[at + 1]
    shift = bits + 1
    code[rest] = describe(first_keys >> shift, _end(first_keys, bits), second_keys >> shift, _end(second_keys, bits))
    return code


def _of_three(third: Bools, size: int) -> Bools:
    """Return which of `size` places belong to clusters of three spans or more.

    `third` says of every place but the last two whether the next two belong to the same cluster.
    """
    # All are marked in booleans, and only marked ones are handled as numbers: few spans are tangled.
    is_member = np.zeros(size, bool)
    for place in range(3):
        is_member[place : place + len(third)] |= third
    return is_member


def _broken(gold: Spans, pred: Spans, chunk: Chunk, side: UInt8) -> Bools | None:
    """Return which places of the merged spans hold discontinuous ones, None where there are none."""
    is_broken = None
    for spans, part, number in ((gold, chunk.gold, 0), (pred, chunk.pred, 1)):
        inside = [i - part.start for i in spans.fragments if part.start <= i < part.stop]
        if inside:
            is_broken = np.zeros(len(side), bool) if is_broken is None else is_broken
            is_broken[np.flatnonzero(side == number)[inside]] = True
    return is_broken


def _tangles(members: _Members, clusters: _Clusters, which: Bools) -> Tangles | None:
    """Return the spans of some clusters, which are numbered anew."""
    n_clusters = int(np.count_nonzero(which))
    if not n_clusters:
        return None
    is_member = np.repeat(which, clusters.size)
    span, predicted = members.span[is_member], members.sides()[is_member] == 1
    cluster = np.repeat(np.arange(n_clusters), clusters.size[which])
    return Tangles(span[~predicted], cluster[~predicted], span[predicted], cluster[predicted], n_clusters)
