"""Some documents of a corpus with the spans in them: those selected, or the shards of a layer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from nereval_core.corpus import SPAN_KEYS, Documents, Layer
from nereval_core.corpus.arrays import Int64, frozen
from nereval_core.corpus.texts import Texts


def select_documents(documents: Documents, numbers: Int64) -> Documents:
    """Return the documents with these (increasing) numbers; the same object where they are all."""
    if len(numbers) == len(documents):
        return documents
    rows = numbers.tolist()
    texts = documents.texts
    return replace(
        documents,
        ids=tuple(documents.ids[row] for row in rows),
        texts=texts.take(rows) if isinstance(texts, Texts) else tuple(texts[row] for row in rows),
        tokens=documents.tokens and documents.tokens.take(numbers),
        sentences=documents.sentences and documents.sentences.take(numbers),
        meta=None if documents.meta is None else tuple(documents.meta[row] for row in rows),
        sizes=None if documents.sizes is None else frozen(documents.sizes[numbers]),
    )


def select_spans(layer: Layer, numbers: Int64, documents: Documents) -> Layer:
    """Return the spans of the documents with these numbers, as a layer over `documents`, which are these documents."""
    if len(documents) == len(layer.documents):
        return replace(layer, documents=documents)
    place = np.full(len(layer.documents), -1, np.int64)
    place[numbers] = np.arange(len(numbers))
    selected = _with_used_types(layer.take(np.flatnonzero(place[layer.doc] >= 0)))
    return replace(selected, documents=documents, doc=frozen(place[selected.doc].astype(np.int32)))


def single_document(layer: Layer, number: int) -> Layer:
    """Return the layer of one document alone, numbered 0; its spans keep their order.

    Its arrays are copies: a document that is kept does not keep the whole corpus, and its file, in memory.
    """
    documents = layer.documents
    low, high = layer.first[number : number + 2].tolist()
    tokens, sentences = (
        intervals and intervals.take(np.array([number])) for intervals in (documents.tokens, documents.sentences)
    )
    alone = replace(
        documents,
        ids=(documents.ids[number],),
        texts=(documents.texts[number],),
        tokens=tokens,
        sentences=sentences,
        meta=None if documents.meta is None else (documents.meta[number],),
        sizes=None if documents.sizes is None else documents.sizes[number : number + 1].copy(),
    )
    columns: dict[str, Any] = {key: frozen(getattr(layer, key)[low:high].copy()) for key in ("start", "end", "type")}
    for key in SPAN_KEYS:
        values = getattr(layer, key)
        columns[key] = {span - low: values[span] for span in range(low, high) if span in values} if values else {}
    order = None if layer.order is None else frozen(layer.order[low:high].copy())
    return replace(layer, documents=alone, doc=frozen(np.zeros(high - low, np.int32)), order=order, **columns)


def without_type(layer: Layer, type: str) -> Layer:
    """Return a layer without the spans of a type."""
    return _with_used_types(layer.take(np.flatnonzero(layer.type != layer.types.index(type))))


def _with_used_types(layer: Layer) -> Layer:
    used = np.unique(layer.type)
    code = np.zeros(len(layer.types), np.int16)
    code[used] = np.arange(len(used))
    return replace(layer, type=frozen(code[layer.type]), types=tuple(layer.types[at] for at in used.tolist()))


def shard_edges(documents: int, shards: int) -> list[int]:
    """Return the first document of each shard, and last the number of documents.

    Shards differ by one document at most, and none is empty: there are fewer where there are not so many documents.
    The edges depend on nothing else, so that gold and predictions over the same documents are split alike.
    """
    shards = max(1, min(shards, documents))
    return [documents * number // shards for number in range(shards + 1)]


def split_layer(layer: Layer, shards: int) -> Iterator[Layer]:
    """Yield the shards of a layer, each of whole documents, in the order of the documents."""
    edges = shard_edges(len(layer.documents), shards)
    first = layer.first[edges]
    extras: list[dict[str, dict[int, Any]]] = [{key: {} for key in SPAN_KEYS} for _ in edges[1:]]
    for key in SPAN_KEYS:
        values = getattr(layer, key)
        spans = np.fromiter(values, np.int64, len(values))
        for shard, span, value in zip(
            (np.searchsorted(first, spans, side="right") - 1).tolist(), spans.tolist(), values.values(), strict=True
        ):
            extras[shard][key][span - int(first[shard])] = value
    for number, (low, high) in enumerate(pairwise(edges)):
        rows = slice(int(first[number]), int(first[number + 1]))
        columns: dict[str, Any] = {key: frozen(getattr(layer, key)[rows]) for key in ("start", "end", "type")}
        columns |= extras[number]
        yield replace(
            layer,
            documents=_documents_between(layer.documents, low, high),
            doc=frozen(layer.doc[rows] - np.int32(low)),
            order=None if layer.order is None else frozen(layer.order[rows]),
            **columns,
        )


def _documents_between(documents: Documents, low: int, high: int) -> Documents:
    """Return the documents from number `low` up to `high`, exclusive; the bytes of their texts are not copied."""
    texts = documents.texts
    tokens, sentences = (
        None if intervals is None or intervals.first[low] == intervals.first[high] else intervals.between(low, high)
        for intervals in (documents.tokens, documents.sentences)
    )
    meta = documents.meta[low:high] if documents.meta is not None else ()
    return replace(
        documents,
        ids=documents.ids[low:high],
        texts=texts.between(low, high) if isinstance(texts, Texts) else texts[low:high],
        tokens=tokens,
        sentences=sentences,
        meta=meta if any(meta) else None,
        sizes=None if documents.sizes is None else documents.sizes[low:high],
    )
