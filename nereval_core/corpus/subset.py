"""Some documents of a corpus, and the spans in them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from nereval_core.arrays import Int64
from nereval_core.corpus import Documents, Intervals, Layer, frozen
from nereval_core.corpus.texts import Texts


def documents_of(documents: Documents, numbers: Int64) -> Documents:
    """Return these documents alone (increasing numbers); the same object where they are all."""
    if len(numbers) == len(documents):
        return documents
    rows = numbers.tolist()
    texts = documents.texts
    return Documents(
        tuple(documents.ids[row] for row in rows),
        texts.take(rows) if isinstance(texts, Texts) else tuple(texts[row] for row in rows),
        _intervals_of(documents.tokens, numbers),
        _intervals_of(documents.sentences, numbers),
        None if documents.meta is None else tuple(documents.meta[row] for row in rows),
        documents.named,
        None if documents.sizes is None else frozen(documents.sizes[numbers]),
        documents.unit,
    )


def layer_of(layer: Layer, numbers: Int64, documents: Documents) -> Layer:
    """Return the spans of these documents of a layer, as a layer over `documents`, which are these alone."""
    if len(documents) == len(layer.documents):
        return replace(layer, documents=documents)
    place = np.full(len(layer.documents), -1, np.int64)
    place[numbers] = np.arange(len(numbers))
    spans = np.flatnonzero(place[layer.doc] >= 0)
    some = layer.take(spans)
    used = np.unique(some.type)
    code = np.zeros(len(layer.types), np.int16)
    code[used] = np.arange(len(used))
    return replace(
        some,
        documents=documents,
        doc=frozen(place[some.doc].astype(np.int32)),
        type=frozen(code[some.type]),
        types=tuple(layer.types[at] for at in used.tolist()),
    )


def _intervals_of(intervals: Intervals | None, numbers: Int64) -> Intervals | None:
    if intervals is None:
        return None
    sizes = np.diff(intervals.first)
    rows = np.flatnonzero(np.repeat(np.isin(np.arange(len(sizes)), numbers), sizes))
    first = np.concatenate((np.zeros(1, np.int64), np.cumsum(sizes[numbers])))
    return Intervals(frozen(first), frozen(intervals.starts[rows]), frozen(intervals.ends[rows]))
