"""Reasons of records in words: by how much a prediction starts or ends elsewhere, which type differs, what overlaps."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nereval_core.alignment.candidates import shared_characters
from nereval_core.alignment.codes import ranges
from nereval_core.corpus import Layer
from nereval_core.problems import name_text, quoted

BOUNDARIES = ("equal", "start differs", "end differs", "both differ", "fragments differ", "unaligned")
ALIGNED_ELSEWHERE = tuple(f"every {text} that overlaps it is aligned elsewhere" for text in ("prediction", "gold span"))
"""The reasons of a gold span and of a prediction alone that spans of the other side overlap."""
_FRAGMENTS = BOUNDARIES.index("fragments differ")


def reasons(gold: Layer, pred: Layer, g: NDArray[Any], p: NDArray[Any]) -> NDArray[Any]:
    """Return in words how the two sides of each record differ: at which end, by how much, and in type."""
    words = np.empty(len(g), object)
    paired = np.flatnonzero((g >= 0) & (p >= 0))
    if len(paired):
        gold_spans, pred_spans = g[paired], p[paired]
        by_token, starts, ends = _shifts(gold, pred, gold_spans, pred_spans)
        moved = boundaries(gold, pred, gold_spans, pred_spans)
        facts = (by_token, starts, ends, gold.type[gold_spans], pred.type[pred_spans], moved)
        first, which = _distinct(facts)
        rows = zip(*(fact[first].tolist() for fact in facts), strict=True)
        words[paired] = np.array([_words(gold, pred, *row) for row in rows], object)[which]
    for mine, layer, spans, other, text, elsewhere in (
        (np.flatnonzero(p < 0), gold, g, pred, "prediction", ALIGNED_ELSEWHERE[0]),
        (np.flatnonzero(g < 0), pred, p, gold, "gold span", ALIGNED_ELSEWHERE[1]),
    ):
        met = _meets(layer, spans[mine], other)
        words[mine] = np.where(met, elsewhere, f"no {text} overlaps it")
    alone = np.flatnonzero(g < 0)
    for place in alone[pred.unplaced[p[alone]]].tolist() if len(pred) else ():
        nearest = pred.meta[int(p[place])].get("closest")
        words[place] = "stands nowhere in the text" + (f"; nearest is {quoted(nearest)}" if nearest else "")
    return words


def boundaries(gold: Layer, pred: Layer, g: NDArray[Any], p: NDArray[Any]) -> NDArray[np.uint8]:
    """Return how the boundaries of gold spans and predictions (-1: none) relate, as indices into BOUNDARIES."""
    relation = np.full(len(g), BOUNDARIES.index("unaligned"), np.uint8)
    paired = np.flatnonzero((g >= 0) & (p >= 0))
    gold_spans, pred_spans = g[paired], p[paired]
    moved = (gold.start[gold_spans] != pred.start[pred_spans]) + 2 * (gold.end[gold_spans] != pred.end[pred_spans])
    if gold.fragments or pred.fragments:
        for place in np.flatnonzero(
            (moved == 0) & (is_discontinuous(gold)[gold_spans] | is_discontinuous(pred)[pred_spans])
        ).tolist():
            if gold.fragments.get(int(gold_spans[place])) != pred.fragments.get(int(pred_spans[place])):
                moved[place] = _FRAGMENTS
    relation[paired] = moved
    return relation


def is_discontinuous(layer: Layer) -> NDArray[np.bool_]:
    """Tell which spans of a layer have several fragments, shape (spans,)."""
    mask = np.zeros(len(layer), bool)
    mask[list(layer.fragments)] = True
    return mask


def _distinct(facts: Iterable[NDArray[Any]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return where each different row of some columns of whole numbers first stands, and which of these each is."""
    packed: Any = np.zeros(1, np.int64)
    most = 1
    for fact in facts:
        least = int(fact.min())
        size = int(fact.max()) - least + 1
        if most * size >= 1 << 62:
            packed = np.unique(packed, return_inverse=True)[1]
            most = int(packed.max()) + 1
        packed = packed * size + (fact.astype(np.int64) - least)
        most *= size
    _, first, which = np.unique(packed, return_index=True, return_inverse=True)
    return first, which


def _meets(layer: Layer, spans: NDArray[Any], other: Layer) -> NDArray[np.bool_]:
    """Tell which spans overlap some span of the other layer."""
    if not len(other) or not len(spans):
        return np.zeros(len(spans), bool)
    base = layer.documents.base
    start = base[layer.doc[spans]] + layer.start[spans]
    end = base[layer.doc[spans]] + layer.end[spans]
    near = _in_documents(other.first, layer.doc[spans])
    starts = base[other.doc[near]] + other.start[near]
    reach = np.append(np.maximum.accumulate(base[other.doc[near]] + other.end[near]), -1)
    # The last span that starts before this one's end: whether any reaches past this one's start.
    last = np.searchsorted(starts, end, side="left") - 1
    met: NDArray[np.bool_] = (last >= 0) & (reach[last] > start)
    if layer.fragments or other.fragments:
        # Hulls that overlap may share no character: of those the fragments tell.
        met[met] = [_shares(layer, int(span), other) for span in spans[met]]
    return met


def _in_documents(first: NDArray[np.int64], docs: NDArray[Any]) -> NDArray[np.int64]:
    """Return the indices of all rows of some documents, in order; `first` is the index of each document's first."""
    distinct = np.unique(docs)
    return ranges(first[distinct], first[distinct + 1])[1]


def _shares(layer: Layer, span: int, other: Layer) -> bool:
    low, high = other.first[layer.doc[span] : layer.doc[span] + 2].tolist()
    near = (other.start[low:high] < layer.end[span]) & (other.end[low:high] > layer.start[span])
    own = layer.parts(span)
    return any(shared_characters(own, other.parts(i)) for i in (np.flatnonzero(near) + low).tolist())


def _shifts(
    gold: Layer, pred: Layer, gold_spans: NDArray[Any], pred_spans: NDArray[Any]
) -> tuple[NDArray[np.bool_], NDArray[np.int64], NDArray[np.int64]]:
    """Return by how much each prediction starts and ends later: in tokens, and True, where all four of its and the
    gold span's bounds lie on token bounds, else in characters."""
    base, tokens = gold.documents.base, gold.documents.tokens
    doc = base[gold.doc[gold_spans]]
    bounds = [
        doc + column.astype(np.int64)
        for column in (gold.start[gold_spans], pred.start[pred_spans], gold.end[gold_spans], pred.end[pred_spans])
    ]
    starts, ends = bounds[1] - bounds[0], bounds[3] - bounds[2]
    by_token = np.zeros(len(gold_spans), bool)
    near = np.zeros(0, np.int64) if tokens is None else _in_documents(tokens.first, gold.doc[gold_spans])
    if tokens is None or not len(near):
        return by_token, starts, ends
    origin = base[np.searchsorted(tokens.first, near, side="right") - 1]
    edges = (origin + tokens.starts[near], origin + tokens.ends[near])
    places = [np.searchsorted(edges[i // 2], bound) for i, bound in enumerate(bounds)]
    by_token[:] = True
    for i, (place, bound) in enumerate(zip(places, bounds, strict=True)):
        by_token &= edges[i // 2][np.minimum(place, len(near) - 1)] == bound
    return (
        by_token,
        np.where(by_token, places[1] - places[0], starts),
        np.where(by_token, places[3] - places[2], ends),
    )


def _words(gold: Layer, pred: Layer, by_token: int, start: int, end: int, kind: int, other: int, moved: int) -> str:
    unit = "token" if by_token else "character"
    parts = []
    for verb, shift in (("starts", start), ("ends", end)):
        if shift:
            size = f"{abs(shift)} {unit}{'s' if abs(shift) > 1 else ''}"
            parts.append(f"{verb} {size} {'later' if shift > 0 else 'earlier'}")
    if moved == _FRAGMENTS:
        parts.append("other fragments")
    if gold.types[kind] != pred.types[other]:
        parts.append(type_difference(gold.types[kind], pred.types[other]))
    return "; ".join(parts) or "same boundaries and type"


def type_difference(gold_type: str, pred_type: str) -> str:
    """Return how two types differ, as a reason has it; characters of names that do not print are escapes."""
    return f"type {name_text(pred_type)} instead of {name_text(gold_type)}"
