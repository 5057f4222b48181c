"""JSON of Label Studio: a list of tasks to import, spans in UTF-16 units with the texts that they cover.

A layer with scores is written as predictions of a model of its name, another as annotations.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from nereval_core.corpus import Layer
from nereval_core.readers.annotation_tools.labelstudio import OFFSETS, READER
from nereval_core.writers import packed_file
from nereval_core.writers.document_spans import other_metadata, reserved_metadata, spans_with_offsets

NAME, DESCRIPTION = READER.name, READER.description

SHARD = ".json"
HOLDS = frozenset(("ids", "scores", "meta", "document_meta"))
RESERVED_KEYS = frozenset(("id", "text"))
CONTROL, OBJECT = "label", "text"
"""Names of the tags in Label Studio's own labelling set-up for named entities."""


def changed(layer: Layer) -> tuple[str, ...]:
    """Return a message about metadata under keys that the format reserves for itself."""
    return reserved_metadata(layer, RESERVED_KEYS)


def write(layer: Layer, path: Path) -> tuple[str, ...]:
    """Write one task a document, its id and metadata in `data` beside the text.

    Raises:
        FormatError: a place that cannot be written.
    """
    with packed_file(path) as file:
        for number in range(len(layer.documents)):
            row = json.dumps(_task(layer, number), ensure_ascii=False, allow_nan=False)
            file.write((",\n" if number else "[\n").encode() + row.encode())
        file.write(b"\n]\n" if len(layer.documents) else b"[]\n")
    return ()


def _task(layer: Layer, number: int) -> dict[str, Any]:
    documents = layer.documents
    results = []
    for at, (span, start, end) in enumerate(spans_with_offsets(layer, number, OFFSETS.unit), start=1):
        value = {"start": start, "end": end, "text": layer.text(span), "labels": [layer.label(span)]}
        result: dict[str, Any] = {"id": layer.ids.get(span, str(at)), "from_name": CONTROL, "to_name": OBJECT}
        result |= {"type": "labels", "value": value}
        for key, values in (("score", layer.scores), ("meta", layer.meta)):
            if span in values:
                result[key] = values[span]
        results.append(result)
    data = {
        "id": documents.ids[number],
        "text": documents.texts[number],
        **other_metadata(layer, number, RESERVED_KEYS),
    }
    if layer.scores:
        return {"data": data, "predictions": [{"model_version": layer.name, "result": results}]}
    return {"data": data, "annotations": [{"result": results}]}
