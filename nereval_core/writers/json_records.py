"""JSON, an object a document: the native format, and those of doccano, Prodigy and Label Studio."""

from __future__ import annotations

import json
from abc import abstractmethod
from pathlib import Path
from typing import Any

from nereval_core.corpus import Layer
from nereval_core.readers.annotation_tools import doccano, labelstudio, prodigy
from nereval_core.writers import packed_file
from nereval_core.writers.document_spans import other_metadata, reserved_metadata, spans_as_read, spans_with_offsets
from nereval_core.writers.writer import EVERYTHING, Writer


class RecordWriter(Writer):
    """Writes a JSON object a document, each on a line."""

    shard = ".jsonl"
    reserved_keys: frozenset[str] = frozenset()
    """Keys that the format reserves for itself: metadata of documents under them is left out."""

    @abstractmethod
    def record(self, layer: Layer, number: int) -> dict[str, Any]:
        """Return the object of a document."""

    def changed(self, layer: Layer) -> tuple[str, ...]:
        return reserved_metadata(layer, self.reserved_keys)

    def write(self, layer: Layer, path: Path) -> tuple[str, ...]:
        with packed_file(path) as file:
            for number in range(len(layer.documents)):
                file.write(self.line(layer, number) + b"\n")
        return ()

    def line(self, layer: Layer, number: int) -> bytes:
        """Return the object of a document in UTF-8."""
        return json.dumps(self.record(layer, number), ensure_ascii=False, allow_nan=False).encode()


class JsonlWriter(RecordWriter):
    """The native format, lossless; spans stand in the order in which they were read."""

    name = "jsonl"
    description = "JSON lines, one document a line: the native format, lossless"
    holds = EVERYTHING

    def record(self, layer: Layer, number: int) -> dict[str, Any]:
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


class DoccanoWriter(RecordWriter):
    """`label` as triples in UTF-16 units, metadata as further keys, as doccano imports and exports it."""

    name, description = doccano.READER.name, doccano.READER.description
    holds = frozenset(("document_meta",))
    reserved_keys = frozenset(doccano.OWN)

    def record(self, layer: Layer, number: int) -> dict[str, Any]:
        documents = layer.documents
        spans = spans_with_offsets(layer, number, doccano.OFFSETS.unit)
        return {
            "id": documents.ids[number],
            "text": documents.texts[number],
            "label": [[start, end, layer.label(span)] for span, start, end in spans],
            **other_metadata(layer, number, self.reserved_keys),
        }


class ProdigyWriter(RecordWriter):
    """A document as a task with the answer `accept`; a span has one concept at most, as its `kb_id`."""

    name, description = prodigy.READER.name, prodigy.READER.description
    holds = frozenset(("ids", "links", "scores", "tokens", "document_meta"))

    def record(self, layer: Layer, number: int) -> dict[str, Any]:
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


class LabelStudioWriter(RecordWriter):
    """A list of tasks to import: id and metadata stand in `data` beside the text, spans in UTF-16 units.

    A layer with scores is written as predictions of a model of its name, another as annotations.
    """

    name, description = labelstudio.READER.name, labelstudio.READER.description
    shard = ".json"
    holds = frozenset(("ids", "scores", "meta", "document_meta"))
    reserved_keys = frozenset(("id", "text"))

    def write(self, layer: Layer, path: Path) -> tuple[str, ...]:
        with packed_file(path) as file:
            for number in range(len(layer.documents)):
                file.write((b",\n" if number else b"[\n") + self.line(layer, number))
            file.write(b"\n]\n" if len(layer.documents) else b"[]\n")
        return ()

    def record(self, layer: Layer, number: int) -> dict[str, Any]:
        documents = layer.documents
        results = []
        for at, (span, start, end) in enumerate(spans_with_offsets(layer, number, labelstudio.OFFSETS.unit), start=1):
            value = {"start": start, "end": end, "text": layer.text(span), "labels": [layer.label(span)]}
            result: dict[str, Any] = {"id": layer.ids.get(span, str(at)), "from_name": "label", "to_name": "text"}
            result |= {"type": "labels", "value": value}
            for key, values in (("score", layer.scores), ("meta", layer.meta)):
                if span in values:
                    result[key] = values[span]
            results.append(result)
        data = {
            "id": documents.ids[number],
            "text": documents.texts[number],
            **other_metadata(layer, number, self.reserved_keys),
        }
        if layer.scores:
            return {"data": data, "predictions": [{"model_version": layer.name, "result": results}]}
        return {"data": data, "annotations": [{"result": results}]}


WRITERS = (JsonlWriter(), DoccanoWriter(), ProdigyWriter(), LabelStudioWriter())
