"""JSON lines of doccano: a document a line, `label` as triples [start, end, type] in UTF-16 units."""

from __future__ import annotations

import json
from pathlib import Path

from nereval_core.corpus import Layer
from nereval_core.readers.doccano import DESCRIPTION, NAME, OFFSETS, OWN
from nereval_core.writers import packed_file
from nereval_core.writers.unit_offsets import metadata, metadata_lost, places

__all__ = ["DESCRIPTION", "NAME", "write"]

SHARD = ".jsonl"
HOLDS = frozenset(("document_meta",))
TAKEN = frozenset(OWN)


def changed(layer: Layer) -> tuple[str, ...]:
    """Return what else would not be as it is: metadata under keys of the format's own."""
    return metadata_lost(layer, TAKEN)


def write(layer: Layer, path: Path) -> tuple[str, ...]:
    """Write one document a line, its metadata as further keys, as doccano imports and exports it.

    Raises:
        FormatError: a place that cannot be written.
    """
    documents = layer.documents
    with packed_file(path) as file:
        for number, (name, text) in enumerate(zip(documents.ids, documents.texts, strict=True)):
            label = [[start, end, layer.label(span)] for span, start, end in places(layer, number, OFFSETS.unit)]
            row = {"id": name, "text": text, "label": label, **metadata(layer, number, TAKEN)}
            file.write(json.dumps(row, ensure_ascii=False, allow_nan=False).encode() + b"\n")
    return ()
