"""Stretches of documents as small documents of their own, so that what verdicts change is scored without the rest.

Spans of which none shares a character with one outside a stretch get the same decisions in it as in the whole: counts
of stretches add up.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nereval_core.corpus import Documents, Intervals, Labels, Layer, frozen
from nereval_core.corpus import layer as layer_of
from nereval_core.corpus.tokens import remember_tokens, tokens_of
from nereval_core.review.apply import places
from nereval_core.review.apply.settlement import Settled
from nereval_core.review.verdicts import Fragments, Marked

SCORED = ("fragments", "cores", "alternatives")
"""What scoring looks at beside boundaries and types."""


class Window(NamedTuple):
    """Characters [low, high) of a document, by its number; every span that begins in it ends in it."""

    document: int
    low: int
    high: int


def whole(documents: Documents, numbers: Sequence[int]) -> list[Window]:
    """Return these documents as windows."""
    lengths = documents.lengths
    return [Window(number, 0, int(lengths[number])) for number in numbers]


def within(result: Settled, window: Window) -> Settled:
    """Return what verdicts make of the spans in a window of their document."""

    def here(span: Marked) -> bool:
        return window.low <= span.start < window.high

    return Settled(
        tuple(filter(here, result.gone)),
        tuple(filter(here, result.added)),
        {span: other for span, other in result.alternatives.items() if here(span)},
        (),
    )


def cut(documents: Documents, windows: Sequence[Window], *, tokens: bool) -> Documents:
    """Return windows as documents, named by their place; with `tokens` they have those of the whole."""
    texts = tuple(documents.texts[window.document][window.low : window.high] for window in windows)
    found = Documents(tuple(map(str, range(len(windows)))), texts, named=False)
    if tokens:
        remember_tokens(found, _tokens(tokens_of(documents), windows))
    return found


def pieces(
    layer: Layer, windows: Sequence[Window], documents: Documents, results: Sequence[Settled | None] = ()
) -> Layer:
    """Return the spans of a layer in windows, which `cut` made into documents; `results` change those of each."""
    rows: list[NDArray[np.int64]] = []
    more: dict[int, tuple[int, int]] = {}
    added: list[tuple[int, int, int, str, Fragments, Fragments]] = []
    done = 0
    for number, window in enumerate(windows):
        first, last = layer.first[window.document : window.document + 2].tolist()
        start = layer.start[first:last]
        low, high = np.searchsorted(start, np.array((window.low, window.high), start.dtype)).tolist()
        here = np.arange(first + low, first + high)
        result = results[number] if results else None
        if result is not None:
            gone = [at for span in result.gone for at in places(layer, window.document, span)]
            if gone:
                stays = np.ones(len(here), bool)
                stays[np.array(gone) - (first + low)] = False
                here = here[stays]
            for span, other in result.alternatives.items():
                for at in places(layer, window.document, span):
                    more[done + int(np.searchsorted(here, at))] = other
            for span in result.added:
                others: Fragments = (result.alternatives[span],) if span in result.alternatives else ()
                shift = window.low
                added.append((number, span.start - shift, span.end - shift, span.type, span.fragments, others))
        rows.append(here)
        done += len(here)
    index = np.concatenate([np.zeros(0, np.int64), *rows])
    doc = np.repeat(np.arange(len(windows)), list(map(len, rows)))
    shift_of = np.array([window.low for window in windows], np.int64)[doc] if len(doc) else doc
    extras = {key: _shifted(layer, key, index, shift_of) for key in SCORED}
    for at, other in more.items():
        low = int(shift_of[at])
        moved = (other[0] - low, other[1] - low)
        extras["alternatives"][at] = tuple(dict.fromkeys((*extras["alternatives"].get(at, ()), moved)))
    types = tuple(dict.fromkeys((*layer.types, *(kind for *_, kind, _, _ in added))))
    for at, (number, _, _, _, fragments, others) in enumerate(added, start=len(index)):
        low = windows[number].low
        if len(fragments) > 1:
            extras["fragments"][at] = _moved(fragments, low)
        if others:
            extras["alternatives"][at] = _moved(others, low)
    size = documents.lengths
    extras["alternatives"] = {
        at: kept
        for at, others in extras["alternatives"].items()
        # What lies outside is no span of any prediction that shares a character with this one.
        if (kept := _inside(others, int(size[doc[at] if at < len(doc) else added[at - len(doc)][0]])))
    }
    return layer_of(
        layer.name,
        documents,
        _joined(doc, [row[0] for row in added]),
        _joined(layer.start[index] - shift_of, [row[1] for row in added]),
        _joined(layer.end[index] - shift_of, [row[2] for row in added]),
        Labels(_joined(layer.type[index], [types.index(row[3]) for row in added]), types),
        extras=extras,
    )


def _joined(kept: NDArray[Any], added: Sequence[int]) -> NDArray[np.int64]:
    return np.concatenate((kept.astype(np.int64), np.array(added, np.int64)))


def _moved(parts: Fragments, low: int) -> Fragments:
    return tuple((start - low, end - low) for start, end in parts)


def _inside(parts: Fragments, length: int) -> Fragments:
    return tuple((start, end) for start, end in parts if start >= 0 and end <= length)


def _shifted(layer: Layer, key: str, index: NDArray[np.int64], shift: NDArray[np.int64]) -> dict[int, Any]:
    values = getattr(layer, key)
    found: dict[int, Any] = {}
    for at, span in enumerate(index.tolist() if values else ()):
        if span in values:
            value, low = values[span], int(shift[at])
            found[at] = (value[0] - low, value[1] - low) if key == "cores" else _moved(value, low)
    return found


def _tokens(tokens: Intervals, windows: Sequence[Window]) -> Intervals:
    first, starts, ends = [0], [np.zeros(0, np.int32)], [np.zeros(0, np.int32)]
    for document, low, high in windows:
        here = slice(*tokens.first[document : document + 2].tolist())
        inside = slice(*np.searchsorted(tokens.starts[here], np.array((low, high), np.int32)).tolist())
        starts.append(tokens.starts[here][inside] - np.int32(low))
        ends.append(tokens.ends[here][inside] - np.int32(low))
        first.append(first[-1] + len(starts[-1]))
    return Intervals(np.array(first, np.int64), frozen(np.concatenate(starts)), frozen(np.concatenate(ends)))
