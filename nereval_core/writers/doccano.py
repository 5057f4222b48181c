"""JSON lines of doccano: a document a line, `label` as triples [start, end, type] in UTF-16 units."""

from __future__ import annotations

import json
from pathlib import Path

from nereval_core.corpus import Layer
from nereval_core.readers.doccano import DESCRIPTION, NAME, OFFSETS, OWN
from nereval_core.writers import left_out, packed_file
from nereval_core.writers.places import metadata, metadata_lost, places, refuse_discontinuous

__all__ = ["DESCRIPTION", "NAME", "write"]

SHARD = ".jsonl"
LOST = {
    "ids": "span ids",
    "links": "lists of links",
    "cores": "cores",
    "alternatives": "lists of alternatives",
    "scores": "scores",
    "meta": "spans' metadata",
}
TAKEN = frozenset(OWN)


def write(layer: Layer, path: Path) -> tuple[str, ...]:
    """Write one document a line, its metadata as further keys, as doccano imports and exports it.

    Raises:
        FormatError: a discontinuous span, or a place that cannot be written.
    """
    refuse_discontinuous(layer, path)
    documents = layer.documents
    with packed_file(path) as file:
        for number, (name, text) in enumerate(zip(documents.ids, documents.texts, strict=True)):
            label = [[start, end, layer.label(span)] for span, start, end in places(layer, number, OFFSETS.unit)]
            row = {"id": name, "text": text, "label": label, **metadata(layer, number, TAKEN)}
            file.write(json.dumps(row, ensure_ascii=False, allow_nan=False).encode() + b"\n")
    return (*left_out(layer, NAME, LOST, beside=("tokens", "sentences")), *metadata_lost(layer, TAKEN))
