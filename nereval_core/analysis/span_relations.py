"""Relations between the spans of layers: equal spans, the same span under other type rules, overlapping spans.

Layers are over the same documents. Fragments count: the characters between them belong to no span, except where a
function says that it looks at hulls (from the first to the last character).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nereval_core.alignment.candidates import (
    CandidatePairs,
    TangledSpans,
    candidate_pairs,
    overlap_ranges,
    shared_characters,
    tangled_spans,
)
from nereval_core.alignment.codes import Facts, Question, ranges
from nereval_core.corpus import Layer
from nereval_core.corpus.arrays import Array, Bools, Int64, UInt8
from nereval_core.problems import FormatError
from nereval_core.scoring import spans_of
from nereval_core.scoring.criteria import Criterion, decision_table

MOST_PAIRS = 20_000_000
"""Pairs held in memory together: each takes 41 bytes, and somewhat more while they are found."""
_KEYS_BELOW = 1 << 60


def span_keys(layers: Sequence[Layer]) -> list[Int64]:
    """Return a number for each span, the same for spans equal in document, fragments and type in all of the layers.

    Keys have the order of document, start, end, type and fragments.
    """
    types = {kind: code for code, kind in enumerate(sorted({kind for layer in layers for kind in layer.types}))}
    all_fragments = sorted({fragments for layer in layers for fragments in layer.fragments.values()})
    number = {fragments: code for code, fragments in enumerate(all_fragments, start=1)}
    base = layers[0].documents.base
    columns = []
    for layer in layers:
        kinds = np.array([types[kind] for kind in layer.types], np.int64)
        broken = np.zeros(len(layer), np.int64)
        for span, fragments in layer.fragments.items():
            broken[span] = number[fragments]
        kind = kinds[layer.type] if len(layer) else np.zeros(0, np.int64)
        columns.append((base[layer.doc] + layer.start, (layer.end - layer.start).astype(np.int64), kind, broken))
    keys, *rest = (np.concatenate(column) for column in zip(*columns, strict=True))
    most = int(base[-1]) + 1
    for column in rest:
        size = int(column.max(initial=0)) + 1
        if most * size >= _KEYS_BELOW:
            keys = np.unique(keys, return_inverse=True)[1]
            most = int(keys.max(initial=0)) + 1
        keys = keys * size + column
        most *= size
    return np.split(keys.astype(np.int64), np.cumsum([len(layer) for layer in layers])[:-1])


def corresponding_spans(layer: Layer, other: Layer) -> Int64:
    """Return the index of each span in another layer made from the same reading, -1 where it is left out there.

    Type rules leave spans out, and reorder spans of equal boundaries.
    """
    if other is layer:
        return np.arange(len(layer))
    read, other_read = (
        np.arange(len(each)) if each.order is None else each.order.astype(np.int64) for each in (layer, other)
    )
    position = np.full(max(int(read.max(initial=-1)), int(other_read.max(initial=-1))) + 1, -1, np.int64)
    position[other_read] = np.arange(len(other))
    placed: Int64 = position[read]
    return placed


def carry_over(codes: Array, layer: Layer, other: Layer) -> Array:
    """Return codes by span of a layer as codes by span of another made from the same reading, -1 where it has none."""
    if other is layer:
        return codes
    source = corresponding_spans(other, layer)
    return np.where(source >= 0, codes[source], codes.dtype.type(-1)) if len(codes) else source.astype(codes.dtype)


def have_same_type(gold: Layer, pred: Layer, g: Array, p: Array) -> Bools:
    """Tell which pairs of a gold span and a prediction have equal types, shape (pairs,)."""
    place = {kind: code for code, kind in enumerate(gold.types)}
    codes = np.array([place.get(kind, -1) for kind in pred.types], np.int32)
    return np.asarray(codes[pred.type[p]] == gold.type[g])


def overlapping_pairs(gold: Layer, pred: Layer) -> tuple[CandidatePairs, Int64, Int64]:
    """Return every pair of a gold span and a prediction that share a character, and the characters of each span.

    `gold` and `pred` of a pair are span indices, `shared` is in code points. The numbers of characters are empty where
    either side has no spans.

    Raises:
        FormatError: more than MOST_PAIRS pairs.
    """
    if not len(gold) or not len(pred):
        none = np.zeros(0, np.int64)
        alone = CandidatePairs(none, none, none.astype(np.uint8), none, none, none)
        return alone, none, none
    tangle = _tangle(gold, pred, (), (np.arange(len(gold)), np.arange(len(pred))))
    low, high, other_low, other_high = overlap_ranges(tangle)
    number = int((high - low).sum() + (other_high - other_low).sum())
    if number > MOST_PAIRS:
        finding = f"{number:,} pairs of overlapping spans"
        raise FormatError.single("spans", None, finding, f"look at documents with at most {MOST_PAIRS:,} in all")
    # Pairs in which the prediction begins within the gold span, then those in which the gold span begins later.
    g, p = ranges(low, high)
    later_p, later_g = ranges(other_low, other_high)
    pairs = candidate_pairs(tangle, np.concatenate((g, later_g)), np.concatenate((p, later_p)))
    return pairs, tangle.size("gold"), tangle.size("pred")


def judge_pairs(gold: Layer, pred: Layer, rule: Criterion, g: Array, p: Array) -> UInt8:
    """Return the decision of a criterion about each pair that shares a character, whichever pairs it aligns."""
    if not len(g):
        return np.zeros(0, np.uint8)
    rules = decision_table((rule,))
    members = g.astype(np.int64), p.astype(np.int64)
    number = np.arange(len(g))
    pairs = candidate_pairs(_tangle(gold, pred, rules.questions, members), number, number)
    decisions: UInt8 = rules.decisions[pairs.code, 0]
    return decisions


def _tangle(gold: Layer, pred: Layer, questions: tuple[Question, ...], members: tuple[Int64, Int64]) -> TangledSpans:
    types = tuple(sorted({*gold.types, *pred.types}))
    ours, theirs = spans_of(gold, types), spans_of(pred, types)
    facts = Facts.of(ours, theirs, questions)
    return tangled_spans(ours, theirs, gold.documents.base, facts, *members)


def overlap_counts(layer: Layer, other: Layer) -> Int64:
    """Return the number of spans of another layer whose hulls overlap the hull of each span."""
    base = layer.documents.base
    starts, ends = (np.sort(base[other.doc] + edge) for edge in (other.start, other.end))
    at = base[layer.doc]
    return np.searchsorted(starts, at + layer.end, side="left") - np.searchsorted(ends, at + layer.start, side="right")


def touching_spans(layer: Layer, a: Array, other: Layer, b: Array) -> tuple[Bools, Bools]:
    """Tell which of the spans `a` of a layer share a character with one of the spans `b` of another, and which of `b`.

    `a` and `b` are indices in any order. The work grows with n log n, except that pairs with a discontinuous span are
    compared one by one.
    """
    hit = np.zeros(len(a), bool), np.zeros(len(b), bool)
    sides = []
    for each, spans in ((layer, a), (other, b)):
        broken = np.zeros(len(each), bool)
        broken[list(each.fragments)] = True
        origin = each.documents.base[each.doc[spans]]
        sides.append((origin + each.start[spans], origin + each.end[spans], broken[spans]))
    whole = [np.flatnonzero(~broken) for _, _, broken in sides]
    edges = [(start[rows], end[rows]) for (start, end, _), rows in zip(sides, whole, strict=True)]
    hit[0][whole[0]] = _overlap_any(*edges[0], *edges[1])
    hit[1][whole[1]] = _overlap_any(*edges[1], *edges[0])
    for here, opposite, layers, of in ((0, 1, (layer, other), (a, b)), (1, 0, (other, layer), (b, a))):
        start, end, broken = sides[here]
        rows = np.flatnonzero(broken)
        pairs = _overlapping_hulls(start[rows], end[rows], sides[opposite][0], sides[opposite][1])
        for mine, theirs in zip(rows[pairs[0]].tolist(), pairs[1].tolist(), strict=True):
            if shared_characters(layers[0].parts(int(of[0][mine])), layers[1].parts(int(of[1][theirs]))):
                hit[here][mine] = hit[opposite][theirs] = True
    return hit


def _overlap_any(start: Array, end: Array, starts: Array, ends: Array) -> Bools:
    """Tell which intervals overlap any of some others; positions count from the beginning of all texts."""
    order = np.argsort(starts, kind="stable")
    reach = np.append(np.maximum.accumulate(ends[order]), -1)
    # Of the intervals that start before this one ends, the one that reaches furthest must pass this one's start.
    last = np.searchsorted(starts[order], end, side="left") - 1
    met: Bools = (last >= 0) & (reach[last] > start)
    return met


def _overlapping_hulls(start: Array, end: Array, starts: Array, ends: Array) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return all pairs of overlapping intervals, as indices into both sides."""
    order = np.argsort(starts, kind="stable")
    longest = int((ends - starts).max(initial=0))
    low = np.searchsorted(starts[order], start - longest, side="left")
    row, place = ranges(low, np.maximum(low, np.searchsorted(starts[order], end, side="left")))
    met = ends[order[place]] > start[row]
    return row[met], order[place[met]]
