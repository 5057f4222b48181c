"""Corpora as columns, and back: values are decoded when they are used, and digests are not computed again."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, overload

from nereval_core.corpus import SPAN_KEYS, Corpus, Documents, Intervals, Layer
from nereval_core.corpus.texts import Texts
from nereval_core.corpus.tokens import remember_tokens, tokens_of
from nereval_core.store.columns import (
    Columns,
    ColumnWriter,
    DamagedError,
    read_extra,
    read_texts,
    write_extra,
    write_texts,
)

INTERVALS, PARTS = ("tokens", "sentences"), ("first", "starts", "ends")
FOUND = "found tokens"
"""The tokens found in documents that have none of their own."""
LAYER_COLUMNS = ("doc", "start", "end", "type")


def write_corpus(writer: ColumnWriter, corpus: Corpus) -> dict[str, Any]:
    """Write the columns of a corpus; return its other parts as JSON."""
    documents = corpus.documents
    assert all(layer.documents is documents for layer in (corpus.gold, *corpus.systems))
    write_texts(writer, "ids", Texts.of(documents.ids))
    write_texts(writer, "texts", documents.texts if isinstance(documents.texts, Texts) else Texts.of(documents.texts))
    writer.add("lengths" if documents.sizes is None else "sizes", documents.lengths)
    writer.add("hashes", documents.hashes)
    for name in INTERVALS:
        _write_intervals(writer, name, getattr(documents, name))
    # Finding the tokens of texts takes as long as all else that is done before scores are shown.
    tokens = tokens_of(documents) if documents.sizes is None else None
    _write_intervals(writer, FOUND, None if tokens is documents.tokens else tokens)
    if documents.meta is not None:
        write_texts(writer, "meta", Texts.of(json.dumps(dict(row)) for row in documents.meta))
    layers = [_write_layer(writer, number, layer) for number, layer in enumerate((corpus.gold, *corpus.systems))]
    return {
        "name": corpus.name,
        "digest": corpus.digest,
        "notes": corpus.notes,
        "named": documents.named,
        "unit": documents.unit,
        "documents": documents.digest,
        "layers": layers,
    }


def _write_intervals(writer: ColumnWriter, name: str, intervals: Intervals | None) -> None:
    if intervals is not None:
        for part in PARTS:
            writer.add(f"{name}.{part}", getattr(intervals, part))


def _write_layer(writer: ColumnWriter, number: int, layer: Layer) -> dict[str, Any]:
    for name in LAYER_COLUMNS:
        writer.add(f"{number}.{name}", getattr(layer, name))
    if layer.order is not None:
        writer.add(f"{number}.order", layer.order)
    for kind in SPAN_KEYS:
        write_extra(writer, f"{number}.{kind}", kind, getattr(layer, kind))
    return {"name": layer.name, "types": layer.types, "digest": layer.digest}


def read_corpus(columns: Columns, about: Mapping[str, Any]) -> Corpus:
    """Return the corpus that `write_corpus` wrote, over the mapped columns.

    Raises:
        DamagedError: a column is missing.
    """
    sizes = columns.arrays.get("sizes")
    documents = Documents(
        tuple(read_texts(columns, "ids")),
        read_texts(columns, "texts", lengths=columns["lengths"] if sizes is None else None),
        tokens=_intervals(columns, "tokens"),
        sentences=_intervals(columns, "sentences"),
        meta=_Rows(read_texts(columns, "meta")) if "meta.data" in columns.arrays else None,
        named=about["named"],
        sizes=sizes,
        unit=about["unit"],
        stored_hashes=columns["hashes"],
    )
    if (tokens := _intervals(columns, FOUND)) is not None:
        remember_tokens(documents, tokens)
    gold, *systems = (_layer(columns, number, row, documents) for number, row in enumerate(about["layers"]))
    return Corpus(about["name"], documents, gold, tuple(systems), tuple(about["notes"]))


def _intervals(columns: Columns, name: str) -> Intervals | None:
    if f"{name}.first" not in columns.arrays:
        return None
    return Intervals(*(columns[f"{name}.{part}"] for part in PARTS))


def _layer(columns: Columns, number: int, row: Mapping[str, Any], documents: Documents) -> Layer:
    extras: dict[str, Any] = {kind: read_extra(columns, f"{number}.{kind}", kind) for kind in SPAN_KEYS}
    doc, start, end, kinds = (columns[f"{number}.{name}"] for name in LAYER_COLUMNS)
    if not len(doc) == len(start) == len(end) == len(kinds):
        raise DamagedError(f"the columns of layer {number} differ in length")
    order = columns.arrays.get(f"{number}.order")
    types, digest = tuple(row["types"]), row["digest"]
    return Layer(row["name"], documents, doc, start, end, kinds, types, order, **extras, stored_digest=digest)


class _Rows(Sequence[Mapping[str, Any]]):
    """Metadata by document, parsed when it is used."""

    def __init__(self, texts: Texts) -> None:
        self._texts = texts

    def __len__(self) -> int:
        return len(self._texts)

    @overload
    def __getitem__(self, index: int) -> Mapping[str, Any]: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Mapping[str, Any]]: ...
    def __getitem__(self, index: int | slice) -> Mapping[str, Any] | Sequence[Mapping[str, Any]]:
        if isinstance(index, slice):
            return [json.loads(text) for text in self._texts[index]]
        row: Mapping[str, Any] = json.loads(self._texts[index])
        return row
