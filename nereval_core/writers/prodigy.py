"""JSON lines of Prodigy: one task per line with the answer `accept`, and tokens where the documents have them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from nereval_core.corpus import Layer
from nereval_core.readers.annotation_tools.prodigy import READER
from nereval_core.writers import packed_file
from nereval_core.writers.document_spans import spans_with_offsets

NAME, DESCRIPTION = READER.name, READER.description

SHARD = ".jsonl"
HOLDS = frozenset(("ids", "links", "scores", "tokens", "document_meta"))


def write(layer: Layer, path: Path) -> tuple[str, ...]:
    """Write one document a line as an accepted task; a span has one concept at most, as its `kb_id`.

    Raises:
        FormatError: a place that cannot be written.
    """
    with packed_file(path) as file:
        for number in range(len(layer.documents)):
            file.write(json.dumps(_task(layer, number), ensure_ascii=False, allow_nan=False).encode() + b"\n")
    return ()


def _task(layer: Layer, number: int) -> dict[str, Any]:
    documents = layer.documents
    text = documents.texts[number]
    own = [] if documents.tokens is None else documents.tokens.of_document(number)
    first = {start: at for at, (start, _) in enumerate(own)}
    last = {end: at for at, (_, end) in enumerate(own)}
    spans = []
    for span, start, end in spans_with_offsets(layer, number):
        row: dict[str, Any] = {"start": start, "end": end, "label": layer.label(span)}
        if start in first and end in last:
            row |= {"token_start": first[start], "token_end": last[end]}
        for key, values in (("id", layer.ids), ("score", layer.scores)):
            if span in values:
                row[key] = values[span]
        if span in layer.links:
            row["kb_id"] = layer.links[span][0]
        spans.append(row)
    task: dict[str, Any] = {"id": documents.ids[number], "text": text, "spans": spans}
    if own:
        task["tokens"] = [
            {"text": text[start:end], "start": start, "end": end, "id": at, "ws": text[end : end + 1] == " "}
            for at, (start, end) in enumerate(own)
        ]
    if documents.meta is not None and documents.meta[number]:
        task["meta"] = dict(documents.meta[number])
    return {**task, "answer": "accept"}
