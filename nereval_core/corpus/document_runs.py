"""Cut a layer into parts of whole documents: for files that are read one by one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from nereval_core.corpus import SPAN_KEYS, Documents, Intervals, Layer, frozen
from nereval_core.corpus.texts import Texts


def cuts(documents: int, shards: int) -> list[int]:
    """Return the first document of each shard, and last the number of documents.

    Shards differ by one document at most, and none is empty: there are fewer where there are not so many documents.
    It depends on nothing else, so that gold and predictions over the same documents are cut alike.
    """
    shards = max(1, min(shards, documents))
    return [documents * number // shards for number in range(shards + 1)]


def sharded(layer: Layer, shards: int) -> Iterator[Layer]:
    """Yield the layer in so many parts, in the order of its documents."""
    edges = cuts(len(layer.documents), shards)
    first = layer.first[edges]
    extras: list[dict[str, dict[int, Any]]] = [{key: {} for key in SPAN_KEYS} for _ in edges[1:]]
    for key in SPAN_KEYS:
        values = getattr(layer, key)
        spans = np.fromiter(values, np.int64, len(values))
        for part, span, value in zip(
            (np.searchsorted(first, spans, side="right") - 1).tolist(), spans.tolist(), values.values(), strict=True
        ):
            extras[part][key][span - int(first[part])] = value
    for number, (low, high) in enumerate(pairwise(edges)):
        rows = slice(int(first[number]), int(first[number + 1]))
        columns: dict[str, Any] = {key: frozen(getattr(layer, key)[rows]) for key in ("start", "end", "type")}
        columns |= extras[number]
        yield replace(
            layer,
            documents=_documents(layer.documents, low, high),
            doc=frozen(layer.doc[rows] - np.int32(low)),
            order=None if layer.order is None else frozen(layer.order[rows]),
            **columns,
        )


def _documents(documents: Documents, low: int, high: int) -> Documents:
    meta = documents.meta[low:high] if documents.meta is not None else ()
    return Documents(
        documents.ids[low:high],
        _texts(documents.texts, low, high),
        _intervals(documents.tokens, low, high),
        _intervals(documents.sentences, low, high),
        meta if any(meta) else None,
        documents.named,
        None if documents.sizes is None else documents.sizes[low:high],
        documents.unit,
    )


def _texts(texts: Sequence[str], low: int, high: int) -> Sequence[str]:
    """Return some of the texts, their bytes not copied."""
    if not isinstance(texts, Texts):
        return texts[low:high]
    offsets = texts.offsets[low : high + 1]
    return Texts(texts.data[int(offsets[0]) : int(offsets[-1])], offsets - offsets[0])


def _intervals(intervals: Intervals | None, low: int, high: int) -> Intervals | None:
    if intervals is None:
        return None
    first = intervals.first[low : high + 1]
    if first[0] == first[-1]:
        return None
    inner = slice(int(first[0]), int(first[-1]))
    return Intervals(frozen(first - first[0]), frozen(intervals.starts[inner]), frozen(intervals.ends[inner]))
