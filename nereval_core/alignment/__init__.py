"""The best one-to-one alignment of gold spans and predictions, under several criteria at once.

Most spans overlap at most one span of the other side, and are decided by vector operations over chunks of whole
documents that fit in cache: both sides are merged into one sorted array, a running maximum of the ends cuts it into
clusters, and a cluster of one gold span and one prediction is a pair. Only the rest, the tangled clusters, go to a
solver (`solver_choice.py`).

A pair is described by a code: the bits EQUAL, START, END, CONTAIN and SAME_TYPE, and one bit for each further question
that criteria ask (`Facts`). A criterion is a table from codes to decisions.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nereval_core.alignment.codes import (
    CODES,
    CONTAIN,
    END,
    EQUAL,
    SAME_TYPE,
    START,
    TANGLED,
    UNALIGNED,
    Alignment,
    Decision,
    Facts,
    Progress,
    Rules,
    SideOutcome,
    Spans,
    describe,
)
from nereval_core.arrays import Array, Int64, UInt8

CHUNK_SPANS = 1 << 17
"""Spans a side that are decided at once: few enough for the arrays to stay near, enough to pay for the calls."""
LOWEST_BYTE = 0 if sys.byteorder == "little" else 7
FLUSH_SPANS = 1 << 18
"""Tangled spans collected before the solvers run: enough to fill their vectors, few enough to bound memory."""


def align(
    gold: Spans,
    pred: Spans,
    base: Int64,
    rules: Rules,
    *,
    types: int,
    partners: bool = False,
    each_side: bool = False,
    progress: Progress | None = None,
) -> Alignment:
    """Decide every span under every criterion.

    `base` (documents + 1,) says where each document starts if all texts stood in a row (code points); `types` is the
    number of type codes. `partners` asks for partners too and takes one criterion. `each_side` lets every span take
    the best decision that an overlapping span of the other side earns it, instead of aligning one to one.
    `progress` is called with the gold spans done and their total.
    """
    assert not partners or rules.criteria == 1, "partners differ by criterion: ask for one at a time"
    outcome = Alignment(
        _side(len(gold), rules, types, partners),
        _side(len(pred), rules, types, partners),
        (),
    )
    tables = tuple(_Table.of(rules, alone) for alone in (Decision.MIS, Decision.SPU))
    histograms = tuple(np.zeros(types * CODES, np.int64) for _ in range(2))
    facts = Facts.of(gold, pred, rules.questions)
    waiting: list[tuple[Int64, Int64, Int64, Int64]] = []
    greedy: set[int] = set()
    tangled = clusters = 0

    def solve_waiting() -> None:
        nonlocal tangled, clusters
        if waiting:
            # Most small corpora have no tangled spans, and the solvers are many.
            from nereval_core.alignment.solver_choice import solve_clusters

            columns = [np.concatenate(column) for column in zip(*waiting, strict=True)]
            greedy.update(solve_clusters(gold, pred, base, rules, facts, outcome, *columns, each_side=each_side))
            waiting.clear()
            tangled = clusters = 0

    for chunk in _chunks(gold, pred, base):
        codes, tangles, pairs = _sweep(gold, pred, base, facts, chunk)
        for side, table, code, part, histogram, spans in zip(
            (outcome.gold, outcome.pred), tables, codes, (chunk.gold, chunk.pred), histograms, (gold, pred), strict=True
        ):
            table.write(side.rows[part], code)
            key = spans.type[part].astype(np.uint16 if types <= 256 else np.int64)
            key *= CODES
            key += code
            histogram += np.bincount(key, minlength=len(histogram))
        if partners:
            assert outcome.gold.partners is not None and outcome.pred.partners is not None
            gold_of, pred_of = pairs[0] + chunk.gold.start, pairs[1] + chunk.pred.start
            outcome.gold.partners[gold_of] = pred_of
            outcome.pred.partners[pred_of] = gold_of
        if tangles is not None:
            waiting.append(
                (
                    tangles.gold + chunk.gold.start,
                    tangles.gold_cluster + clusters,
                    tangles.pred + chunk.pred.start,
                    tangles.pred_cluster + clusters,
                )
            )
            clusters += tangles.clusters
            tangled += len(tangles.gold) + len(tangles.pred)
            if tangled > FLUSH_SPANS:
                solve_waiting()
        if progress is not None:
            progress(chunk.gold.stop, len(gold))
    solve_waiting()
    for side, histogram, table in zip((outcome.gold, outcome.pred), histograms, tables, strict=True):
        rows = histogram.reshape(types, CODES)
        rows[:, TANGLED] = 0
        for decision in Decision:
            side.counts[:, :, decision] += rows @ (table.decisions == decision).astype(np.int64)
    outcome.greedy = tuple(sorted(greedy))
    return outcome


@dataclass(frozen=True, slots=True)
class _Chunk:
    """Whole documents: a slice of each side, and the number of the first of them."""

    gold: slice
    pred: slice
    first: int


@dataclass(frozen=True, slots=True)
class _Tangles:
    """Spans of tangled clusters, as indices into the chunk, with the number of their cluster."""

    gold: Int64
    gold_cluster: Int64
    pred: Int64
    pred_cluster: Int64
    clusters: int


@dataclass(frozen=True, slots=True)
class _Table:
    """Decisions by code, with rows packed into unsigned integers of `width` bytes, so that they are moved as one."""

    decisions: UInt8
    packed: Array
    width: int

    @classmethod
    def of(cls, rules: Rules, alone: Decision) -> _Table:
        decisions = rules.decisions.copy()
        decisions[UNALIGNED] = alone
        decisions[TANGLED] = alone
        padded = np.zeros((CODES, _width(rules.criteria)), np.uint8)
        padded[:, : rules.criteria] = decisions
        width = 8 if padded.shape[1] % 8 == 0 else padded.shape[1]
        return cls(decisions, padded.view(f"u{width}"), width)

    def write(self, rows: UInt8, code: UInt8) -> None:
        # No code is out of range: mode "clip" only lets the result be written where it belongs, without a copy.
        np.take(self.packed, code, axis=0, out=rows.view(f"u{self.width}"), mode="clip")


def _width(criteria: int) -> int:
    """Bytes a row of decisions takes: a power of two, or a multiple of 8, so that it can be written as integers."""
    return next((width for width in (1, 2, 4, 8) if criteria <= width), -(-criteria // 8) * 8)


def _side(spans: int, rules: Rules, types: int, partners: bool) -> SideOutcome:
    return SideOutcome(
        np.empty((spans, _width(rules.criteria)), np.uint8),
        np.zeros((types, rules.criteria, len(Decision)), np.int64),
        np.full(spans, -1, np.int32) if partners else None,
    )


def _chunks(gold: Spans, pred: Spans, base: Int64) -> Iterator[_Chunk]:
    """Cut both sides at document boundaries, about CHUNK_SPANS spans at a time, twice as many where input is large."""
    end_gold, end_pred, documents = len(gold), len(pred), len(base) - 1
    step = min(max(CHUNK_SPANS, end_gold // 32), 2 * CHUNK_SPANS)
    g = p = 0
    while g < end_gold or p < end_pred:
        first = min(side.doc[at] for side, at, end in ((gold, g, end_gold), (pred, p, end_pred)) if at < end)
        stop = documents
        if g + step < end_gold:
            stop = min(stop, gold.doc[g + step])
        if p + step < end_pred:
            stop = min(stop, pred.doc[p + step])
        # Positions within a chunk must leave room for a length in 63 bits.
        stop = min(stop, int(np.searchsorted(base, base[first] + (1 << 31), side="right")) - 1)
        stop = max(int(stop), int(first) + 1)
        # A key of the column's own type: any other makes searchsorted copy the column.
        key = gold.doc.dtype.type(stop)
        next_g = g + int(np.searchsorted(gold.doc[g:], key))
        next_p = p + int(np.searchsorted(pred.doc[p:], key))
        yield _Chunk(slice(g, next_g), slice(p, next_p), int(first))
        g, p = next_g, next_p


def _sweep(
    gold: Spans, pred: Spans, base: Int64, facts: Facts, chunk: _Chunk
) -> tuple[tuple[UInt8, UInt8], _Tangles | None, tuple[Array, Array]]:
    """Return the codes of both sides of a chunk, its tangled clusters, and its untangled pairs (two index arrays)."""
    sides = ((gold, chunk.gold), (pred, chunk.pred))
    codes = tuple(np.full(part.stop - part.start, UNALIGNED, np.uint8) for _, part in sides)
    none = np.zeros(0, np.int64)
    if not len(codes[0]) or not len(codes[1]):
        return (codes[0], codes[1]), None, (none, none)
    lengths = [spans.end[part] - spans.start[part] for spans, part in sides]
    bits = int(max(length.max() for length in lengths)).bit_length()
    merged = _merged_keys(sides, lengths, bits, base, chunk)
    opens = _cluster_starts(merged, bits)
    # The lowest byte of each key holds its side.
    side: UInt8 = merged.view(np.uint8)[LOWEST_BYTE::8] & np.uint8(1)
    # Of the type of indices: numpy would convert any other each time it is used as one.
    before = np.empty(len(merged) + 1, np.int64)
    before[0] = 0
    np.cumsum(side, out=before[1:])
    # A pair is a cluster that opens at i, not at i + 1, again at i + 2, and whose two spans are of different sides.
    inner = ~opens[1:-1]
    two = opens[:-2] & inner
    two &= opens[2:]
    two &= side[:-1] != side[1:]
    tangles = None
    broken = bool(gold.fragments or pred.fragments)
    third = inner[1:] & inner[:-1]
    if broken or third.any():
        tangles, two = _find_tangles(gold, pred, chunk, side, before, opens, third, two)
    at = np.flatnonzero(two)
    p = before.take(at)
    g = at - p
    code = _codes(merged, at, bits)
    same = gold.type[chunk.gold].take(g) == pred.type[chunk.pred].take(p)
    code |= same.view(np.uint8) * np.uint8(SAME_TYPE)
    if facts.questions:
        one, other = merged[at], merged[at + 1]
        shared = np.minimum(_end(one, bits), _end(other, bits)) - (other >> (bits + 1))
        sizes = (lengths[0][g].astype(np.int64), lengths[1][p].astype(np.int64))
        code |= facts.answers(g + chunk.gold.start, p + chunk.pred.start, pred, shared, *sizes)
    codes[0][g] = code
    codes[1][p] = code
    if tangles is not None:
        codes[0][tangles.gold] = TANGLED
        codes[1][tangles.pred] = TANGLED
    return (codes[0], codes[1]), tangles, (g, p)


def _merged_keys(
    sides: tuple[tuple[Spans, slice], ...], lengths: list[Array], bits: int, base: Int64, chunk: _Chunk
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


def _cluster_starts(merged: Int64, bits: int) -> NDArray[np.bool_]:
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
    one, two = merged[at], merged[at + 1]
    shift = bits + 1
    code[rest] = describe(one >> shift, _end(one, bits), two >> shift, _end(two, bits))
    return code


def _find_tangles(
    gold: Spans,
    pred: Spans,
    chunk: _Chunk,
    side: UInt8,
    before: Int64,
    opens: NDArray[np.bool_],
    third: NDArray[np.bool_],
    two: NDArray[np.bool_],
) -> tuple[_Tangles | None, NDArray[np.bool_]]:
    """Return the clusters that a solver must decide, and the pairs that are left untangled.

    `third` says of every position but the last two whether the next two positions belong to the same cluster.
    """
    # Few spans are tangled: all are marked in booleans, and only marked ones are handled as numbers.
    in_tangle = np.zeros(len(side), bool)
    for place in range(3):
        in_tangle[place : place + len(third)] |= third
    if gold.fragments or pred.fragments:
        # Hulls of discontinuous spans may overlap where no character is shared: a solver looks at the fragments.
        broken = np.zeros(len(side), bool)
        for spans, part, number in ((gold, chunk.gold, 0), (pred, chunk.pred, 1)):
            inside = [i - part.start for i in spans.fragments if part.start <= i < part.stop]
            broken[np.flatnonzero(side == number)[inside]] = True
        handed = two & (broken[:-1] | broken[1:])
        in_tangle[:-1] |= handed
        in_tangle[1:] |= handed
        two = two & ~handed
    member = np.flatnonzero(in_tangle)
    predicted = side[member] == 1
    cluster = np.cumsum(opens[member]) - 1
    # Clusters of one side only have nothing to align.
    sizes = np.bincount(cluster)
    preds = np.bincount(cluster[predicted], minlength=len(sizes))
    both = np.flatnonzero((preds > 0) & (preds < sizes))
    if not len(both):
        return None, two
    number_of = np.full(len(sizes), -1, np.int64)
    number_of[both] = np.arange(len(both))
    cluster = number_of[cluster]
    kept = cluster >= 0
    member, predicted, cluster = member[kept], predicted[kept], cluster[kept]
    p = before[member]
    return (
        _Tangles((member - p)[~predicted], cluster[~predicted], p[predicted], cluster[predicted], len(both)),
        two,
    )
