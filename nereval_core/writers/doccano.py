"""JSON lines of doccano: one document per line, `label` as triples [start, end, type] in UTF-16 units."""

from __future__ import annotations

import json
from pathlib import Path

from nereval_core.corpus import Layer
from nereval_core.readers.annotation_tools.doccano import OFFSETS, OWN, READER
from nereval_core.writers import packed_file
from nereval_core.writers.document_spans import other_metadata, reserved_metadata, spans_with_offsets

NAME, DESCRIPTION = READER.name, READER.description

SHARD = ".jsonl"
HOLDS = frozenset(("document_meta",))
RESERVED_KEYS = frozenset(OWN)


def changed(layer: Layer) -> tuple[str, ...]:
    """Return a message about metadata under keys that the format reserves for itself."""
    return reserved_metadata(layer, RESERVED_KEYS)


def write(layer: Layer, path: Path) -> tuple[str, ...]:
    """Write one document a line, its metadata as further keys, as doccano imports and exports it.

    Raises:
        FormatError: a place that cannot be written.
    """
    documents = layer.documents
    with packed_file(path) as file:
        for number, (name, text) in enumerate(zip(documents.ids, documents.texts, strict=True)):
            label = [
                [start, end, layer.label(span)] for span, start, end in spans_with_offsets(layer, number, OFFSETS.unit)
            ]
            row = {"id": name, "text": text, "label": label, **other_metadata(layer, number, RESERVED_KEYS)}
            file.write(json.dumps(row, ensure_ascii=False, allow_nan=False).encode() + b"\n")
    return ()
