"""JSON records of other tools, services and corpora: a text, and spans under keys that a table of shapes names.

A shape is a row (`shapes`); a user can give one (`--keys`). Texts that are not in a file are gold's. Where spans quote
their words, these say what offsets count; else the row does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from nereval_core.corpus import Documents, Intervals
from nereval_core.corpus.builder import Builder
from nereval_core.problems import FormatError, Problem
from nereval_core.readers import Reader, Reading, ReadOptions, Source, select_layer
from nereval_core.readers.input.source import unread_files_note
from nereval_core.readers.records.extraction import (
    FaultError,
    Ordinal,
    RecordSpan,
    RecordText,
    WrongPathError,
    add_span,
    labels_of_features,
    layers_of,
    tags_of,
    text_of,
    visits,
)
from nereval_core.readers.records.record_shape import RecordShape, shape_of_keys
from nereval_core.readers.records.shapes import shape_of_head
from nereval_core.readers.shared.annotation_keys import other_keys_note
from nereval_core.readers.shared.label_list import TAGS, LabelList, labels_of_json
from nereval_core.readers.shared.offset_conversion import reading_in_code_points
from nereval_core.readers.shared.strict_json import id_string, items, json_type
from nereval_core.readers.shared.tag_reading import TagCells, reading_of_tags

PLAIN = "annotations"
"""The layer of annotations that do not say whose they are."""


@dataclass(frozen=True)
class Record:
    """A record with its file and line, and the list of labels of that file."""

    source: str
    line: int
    value: Any
    labels: LabelList | None = None


class RecordsReader(Reader):
    name = "records"
    description = "JSON records of other tools and services, of a known shape or with keys that you name"
    suffixes = (".jsonl", ".json", ".ndjson", ".manifest", ".bdocjs")
    has_layers = True
    has_labels = True

    def recognise(self, source: Source) -> float:
        """Claim what has the keys of a shape: no other format has them together."""
        return 1.0 if shape_of_head(source.head(*self.suffixes)) else 0.0

    def layers(self, source: Source, options: ReadOptions) -> tuple[str, ...]:
        """Return the annotators and models of a file, in the order of their first records.

        Raises:
            FormatError: with every problem found.
        """
        shape = self._shape(source, options)
        if not shape.layers and not shape.seen:
            return ()
        problems: list[Problem] = []
        names = [name for record in self._records(source, shape, problems) for name in _layers(record, shape, problems)]
        if problems:
            raise FormatError(problems)
        return tuple(dict.fromkeys(filter(None, names)))

    def read(self, source: Source, options: ReadOptions) -> Reading:
        """Read the records of a source, those of one layer if it has several.

        Raises:
            FormatError: with every problem found; no shape fits and no keys are given.
        """
        shape = self._shape(source, options)
        builder = Builder(source.name)
        records = list(self._records(source, shape, builder.problems))
        values = [record.value for record in records]
        notes = [f"read as {shape.name}", *unread_files_note(source, source.pick(*self.suffixes))]
        notes += other_keys_note(values, shape.own_keys())
        if shape.tags:
            return _read_tags(records, shape, source, options, builder, notes)
        spans_of_records = [_layers(record, shape, builder.problems) for record in records]
        names = tuple(dict.fromkeys(name for layers in spans_of_records for name in layers if name))
        if not names and not builder.problems and (shape.layers or options.layer is not None):
            builder.problem(None, "no layer of spans in it", "export it with the annotations of spans")
        if builder.problems:
            raise FormatError(builder.problems)
        layer = select_layer(source, options.layer, names) if names else None
        for number, (record, layers) in enumerate(zip(records, spans_of_records, strict=True)):
            if layer is None or layer in layers:
                _add_document(
                    record, Ordinal(number, len(records)), layers.get(layer or "", []), shape, options, builder
                )
        return reading_in_code_points(builder, source, options, self.name, expected=shape.counting, notes=notes)

    def _shape(self, source: Source, options: ReadOptions) -> RecordShape:
        if options.keys:
            return shape_of_keys(options.keys)
        shape = shape_of_head(source.head(*self.suffixes))
        if shape is None:
            # A wrong encoding and broken JSON look like no shape: they come first.
            problems: list[Problem] = []
            for file in source.pick(*self.suffixes):
                for _ in items(file, problems):
                    pass
            if problems:
                raise FormatError(problems)
            remedy = "name its keys: --keys text=KEY,spans=KEY,start=KEY,end=KEY,label=KEY (last=KEY for an end inside)"
            raise FormatError.single(source.name, None, "records of no known shape", remedy)
        return shape

    def _records(self, source: Source, shape: RecordShape, problems: list[Problem]) -> Iterator[Record]:
        """Yield the records of all files; what is wrong with one goes to the problems."""
        for file in source.pick(*self.suffixes):
            rows = list(items(file, problems))
            if shape.sentences == "*" and rows and all(_is_sentence(value) for _, value in rows):
                # The file is one document, a list of sentences.
                rows = [rows[0]._replace(value=[value for _, value in rows])]
            for line, value in rows:
                try:
                    inner = list(visits(value, shape.records)) if shape.records else None
                except WrongPathError as error:
                    problems.append(Problem(file.shown, line, *error.args))
                    continue
                features = (
                    labels_of_features(value.get(shape.features)) if shape.features and isinstance(value, dict) else {}
                )
                labels = labels_of_json(features, TAGS)
                listed = LabelList(tuple(labels), file.shown) if labels else None
                if inner is None:
                    inner_values = [value]
                elif not inner and not (isinstance(value, dict) and shape.records.partition(".")[0] in value):
                    problems.append(Problem(file.shown, line, *_not_a_record(value, shape)))
                    continue
                else:
                    inner_values = [visit.value for visit in inner]
                yield from (Record(file.shown, line, inner_value, listed) for inner_value in inner_values)


READER = RecordsReader()


def _is_sentence(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(word, dict) for word in value)


def _not_a_record(value: Any, shape: RecordShape) -> tuple[str, str]:
    return f"{json_type(value)} that is not {shape.name}", "give files of one tool, and no other values in them"


def _layers(record: Record, shape: RecordShape, problems: list[Problem]) -> dict[str, list[RecordSpan]]:
    if not isinstance(record.value, (dict, list)):
        problems.append(Problem(record.source, record.line, *_not_a_record(record.value, shape)))
        return {}
    try:
        return layers_of(record.value, shape)
    except WrongPathError as error:
        problems.append(Problem(record.source, record.line, *error.args))
        return {}


def _name(record: Record, shape: RecordShape) -> str | None:
    names = (id_string(visit.value) for visit in visits(record.value, shape.id)) if shape.id else iter(())
    return next(filter(None, names), None)


def _text(record: Record, at: Ordinal, shape: RecordShape, options: ReadOptions, builder: Builder) -> RecordText | None:
    """Add the document of a record to a builder and return its text, None where there is a problem with it."""
    try:
        name = _name(record, shape)
        text = text_of(record.value, shape, name, options.texts, at)
    except (FaultError, WrongPathError) as fault:
        builder.problem(record.line, *fault.args, source=record.source)
        return None
    name = text.name if name is None else name
    tokens = text.tokens if shape.words or shape.tags else ()
    sentences = text.sentences() if tokens else ()
    builder.document(name, text.text, line=record.line, source=record.source, tokens=tokens, sentences=sentences)
    return text


def _add_document(
    record: Record,
    at: Ordinal,
    spans: Sequence[RecordSpan],
    shape: RecordShape,
    options: ReadOptions,
    builder: Builder,
) -> None:
    def complain(finding: str, remedy: str) -> None:
        builder.problem(record.line, finding, remedy, source=record.source)

    text = _text(record, at, shape, options, builder)
    for _, span in spans if text is not None else ():
        add_span(span, shape, text, builder, complain)  # type: ignore[arg-type]


def _read_tags(
    records: Sequence[Record],
    shape: RecordShape,
    source: Source,
    options: ReadOptions,
    builder: Builder,
    notes: Sequence[str],
) -> Reading:
    """Read records with a tag for each token."""
    rows: list[list[str]] = []
    places = []
    for number, record in enumerate(records):
        if not isinstance(record.value, (dict, list)):
            builder.problem(record.line, *_not_a_record(record.value, shape), source=record.source)
            continue
        text = _text(record, Ordinal(number, len(records)), shape, options, builder)
        if text is None:
            continue
        try:
            tags = tags_of(record.value, shape, text, options.labels or record.labels)
        except FaultError as fault:
            builder.problem(record.line, *fault.args, source=record.source)
            continue
        for low, high in zip(text.first, [*text.first[1:], len(tags)], strict=True):
            rows.append(tags[low:high])
            places.append((record.source, record.line))
    if builder.problems:
        raise FormatError(builder.problems)
    return reading_of_tags(
        options.name or source.label,
        RecordsReader.name,
        _with_tokens(builder.documents()),
        TagCells.of_rows(rows, places),
        options,
        places=builder.places,
        notes=notes,
    )


def _with_tokens(documents: Documents) -> Documents:
    """Return documents with tokens, even where none has any."""
    if documents.tokens is not None:
        return documents
    return replace(documents, tokens=Intervals.of([() for _ in documents.ids]))
