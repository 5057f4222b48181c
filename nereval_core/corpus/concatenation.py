"""Documents in a row, and layers over them, made from several: parts of one layer, or documents of several pairs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from types import MappingProxyType
from typing import Any

import numpy as np

from nereval_core.corpus import SPAN_KEYS, Documents, Intervals, Layer, frozen
from nereval_core.corpus.arrays import Int64, edges_of
from nereval_core.corpus.texts import Texts

MOST_TYPES = int(np.iinfo(np.int16).max)
"""Types that the code of a span can tell apart."""


def join_documents(parts: Sequence[Documents]) -> Documents:
    """Return the documents of all parts in their order; those without ids are numbered through."""
    named = parts[0].named
    count = sum(map(len, parts))
    ids = tuple(chain.from_iterable(part.ids for part in parts)) if named else tuple(map(str, range(1, count + 1)))
    meta = [part.meta if part.meta is not None else ({},) * len(part) for part in parts]
    sized = any(part.sizes is not None for part in parts)
    return Documents(
        ids,
        _texts([part.texts for part in parts]),
        _intervals(parts, lambda part: part.tokens),
        _intervals(parts, lambda part: part.sentences),
        tuple(chain.from_iterable(meta)) if any(part.meta is not None for part in parts) else None,
        named,
        frozen(np.concatenate([part.lengths for part in parts])) if sized else None,
        unit="sentence" if all(part.unit == "sentence" for part in parts) else "document",
    )


def _texts(parts: Sequence[Sequence[str]]) -> Sequence[str]:
    packed = [part for part in parts if isinstance(part, Texts)]
    if len(packed) < len(parts):
        return tuple(chain.from_iterable(parts))
    shifts = np.cumsum([0, *(part.offsets[-1] for part in packed)]).tolist()
    rows = [part.offsets[:-1] + shift for part, shift in zip(packed, shifts, strict=False)]
    return Texts(np.concatenate([part.data for part in packed]), np.append(np.concatenate(rows), shifts[-1]))


def _intervals(parts: Sequence[Documents], of: Callable[[Documents], Intervals | None]) -> Intervals | None:
    """Return the intervals of all parts; documents of a part without any have none."""
    intervals = [of(part) for part in parts]
    if all(part_intervals is None for part_intervals in intervals):
        return None
    sizes = [
        np.zeros(len(part), np.int64) if part_intervals is None else np.diff(part_intervals.first)
        for part, part_intervals in zip(parts, intervals, strict=True)
    ]
    first = edges_of(np.concatenate(sizes))
    starts, ends = (
        np.concatenate(
            [getattr(part_intervals, key) for part_intervals in intervals if part_intervals is not None]
        ).astype(np.int32)
        for key in ("starts", "ends")
    )
    return Intervals(frozen(first), frozen(starts), frozen(ends))


def join_layers(layers: Sequence[Layer], documents: Documents, name: str) -> Layer:
    """Return the spans of layers over `documents`, which are those of all of them in their order.

    Spans of a document stay together and in their order, types being sorted; there are at most MOST_TYPES.
    """
    types = tuple(sorted({kind for layer in layers for kind in layer.types}))
    code = {kind: number for number, kind in enumerate(types)}
    docs = np.cumsum([0, *(len(layer.documents) for layer in layers)]).tolist()
    columns = [
        (
            layer.doc.astype(np.int64) + shift,
            layer.start,
            layer.end,
            np.array([code[kind] for kind in layer.types], np.int64)[layer.type],
        )
        for layer, shift in zip(layers, docs, strict=False)
    ]
    doc, start, end, kind = (np.concatenate(column) for column in zip(*columns, strict=True))
    extras: dict[str, Any] = {
        key: MappingProxyType(dict(_shifted([getattr(layer, key) for layer in layers], layers))) for key in SPAN_KEYS
    }
    return Layer(
        name,
        documents,
        frozen(doc.astype(np.int32)),
        frozen(start.astype(np.int32)),
        frozen(end.astype(np.int32)),
        frozen(kind.astype(np.int16)),
        types,
        _order(layers),
        **extras,
    )


def _shifted(extras: Sequence[Mapping[int, Any]], layers: Sequence[Layer]) -> Iterator[tuple[int, Any]]:
    shift = 0
    for extra, layer in zip(extras, layers, strict=True):
        for span, value in extra.items():
            yield span + shift, value
        shift += len(layer)


def _order(layers: Sequence[Layer]) -> Any:
    """Return the position at which each span was read, counted through all layers; None where that is its index."""
    if all(layer.order is None for layer in layers):
        return None
    orders, shift = [], 0
    for layer in layers:
        order: Int64 = np.arange(len(layer)) if layer.order is None else layer.order.astype(np.int64)
        orders.append(order + shift)
        shift += int(order.max()) + 1 if len(order) else 0
    return frozen(np.concatenate(orders).astype(np.int32))
