"""The native format: JSON lines, one document a line, lossless."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from nereval_core.corpus import Layer
from nereval_core.writers import packed_file
from nereval_core.writers.document_spans import spans_as_read
from nereval_core.writers.losses import EVERYTHING

NAME = "jsonl"
DESCRIPTION = "JSON lines, one document a line: the native format, lossless"
SHARD = ".jsonl"
HOLDS = EVERYTHING


def write(layer: Layer, path: Path) -> tuple[str, ...]:
    """Write one document a line in UTF-8, spans in the order in which they were read."""
    with packed_file(path) as file:
        for number in range(len(layer.documents)):
            row = json.dumps(_document(layer, number), ensure_ascii=False, separators=(", ", ": "), allow_nan=False)
            file.write(row.encode() + b"\n")
    return ()


def _document(layer: Layer, number: int) -> dict[str, Any]:
    documents = layer.documents
    row: dict[str, Any] = {
        "id": documents.ids[number],
        "text": documents.texts[number],
        "spans": [_span(layer, span) for span in spans_as_read(layer, number).tolist()],
    }
    for key, intervals in (("tokens", documents.tokens), ("sentences", documents.sentences)):
        if intervals is not None and intervals.first[number] < intervals.first[number + 1]:
            row[key] = intervals.of_document(number)
    if documents.meta is not None and documents.meta[number]:
        row["meta"] = dict(documents.meta[number])
    return row


def _span(layer: Layer, span: int) -> dict[str, Any]:
    row: dict[str, Any] = {"start": int(layer.start[span]), "end": int(layer.end[span]), "label": layer.label(span)}
    for key, values in (
        ("id", layer.ids),
        ("links", layer.links),
        ("fragments", layer.fragments),
        ("core", layer.cores),
        ("alternatives", layer.alternatives),
        ("score", layer.scores),
        ("meta", layer.meta),
    ):
        if span in values:
            row[key] = values[span]
    return row
