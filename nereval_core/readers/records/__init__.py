"""JSON records of other tools, services and corpora: a text, and spans under keys that a table of shapes names.

A shape is a row (`shapes`); a user can give one (`--keys`). Texts that are not in a file are gold's. Where spans quote
their words, these say what offsets count; else the row does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Any

from nereval_core.corpus import Documents, Intervals
from nereval_core.corpus.builder import Builder
from nereval_core.problems import FormatError, Problem, quoted
from nereval_core.readers import Reader, Reading, ReadOptions, Source, select_layer
from nereval_core.readers.input.source import unread_files_note
from nereval_core.readers.mentions.reading import read_answers
from nereval_core.readers.records.corenlp_xml import items_of_xml
from nereval_core.readers.records.extraction import (
    FaultError,
    Ordinal,
    RecordSpan,
    RecordText,
    add_span,
    labels_of_features,
    layers_of,
    tags_of,
    text_of,
    type_of_span,
    visits,
)
from nereval_core.readers.records.paths import Visit, WrongPathError, leaf
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
    suffixes = (".jsonl", ".json", ".ndjson", ".manifest", ".bdocjs", ".jsonld", ".xml")
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
        if shape.document:
            records = _of_documents(records, shape)
        shape, notes = _in_golds_order(records, shape, options.texts)
        notes = [f"read as {shape.name}", *notes]
        if not shape.of_files:
            notes += unread_files_note(source, source.pick(*self.suffixes))
        notes += other_keys_note((record.value for record in records), shape.own_keys())
        if not shape.start:
            return _read_quotes(records, shape, source, options, builder, notes)
        if shape.tags:
            return _read_tags(records, shape, source, options, builder, notes)
        spans_of_records = [_layers(record, shape, builder.problems) for record in records]
        names = tuple(dict.fromkeys(name for layers in spans_of_records for name in layers if name))
        if not names and not builder.problems and (shape.layers or options.layer is not None):
            builder.problem(None, "no layer of spans in it", "export it with the annotations of spans")
        if builder.problems:
            raise FormatError(builder.problems)
        layer = select_layer(source, options.layer, names) if names else None
        n_bare = n_of_tools = 0
        for number, (record, layers) in enumerate(zip(records, spans_of_records, strict=True)):
            if layer is None or layer in layers:
                all_spans = layers.get(layer or "", [])
                spans = [span for span in all_spans if not _is_of_tool(span.visit, shape)]
                n_of_tools += len(all_spans) - len(spans)
                typed = [span for span in spans if type_of_span(span.visit, shape) != []]
                n_bare += len(spans) - len(typed)
                _add_document(record, Ordinal(number, len(records)), typed, shape, options, builder)
        notes += [f"spans that were given no type, left out: {n_bare}"] if n_bare else []
        notes += [f"annotations of GATE's tools and empty ones, left out: {n_of_tools}"] if n_of_tools else []
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
            rows = items_of_xml(file) if file.head().text.lstrip().startswith("<") else list(items(file, problems))
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
                labels = labels_of_json(features, (*TAGS, *shape.tags.split("|")))
                listed = LabelList(tuple(labels), file.shown) if labels else None
                if inner is None:
                    inner_values = [value]
                elif not inner and not (isinstance(value, dict) and shape.records.partition(".")[0] in value):
                    problems.append(Problem(file.shown, line, *_not_a_record(value, shape)))
                    continue
                else:
                    inner_values = [visit.value for visit in inner]
                for inner_value in inner_values:
                    # Texts that nobody looked at are null in the NER annotator's file.
                    if inner_value is not None or not shape.records:
                        try:
                            prepared = shape.prepare(inner_value) if shape.prepare else inner_value
                        except WrongPathError as error:
                            problems.append(Problem(file.shown, line, *error.args))
                            continue
                        if prepared is None and inner_value is not None:
                            continue
                        yield Record(file.shown, line, _beside_its_text(prepared, shape, source), listed)


READER = RecordsReader()


def _of_documents(records: Sequence[Record], shape: RecordShape) -> list[Record]:
    """Return a record for each document that records name, with its text, if one of them has it, and their spans."""
    by_name: dict[str | None, list[Record]] = {}
    for record in records:
        by_name.setdefault(id_string(leaf(record.value, shape.document)), []).append(record)
    documents = []
    for name, members in by_name.items():
        text = next(filter(None, (leaf(member.value, shape.text) for member in members)), None)
        spans = [member.value for member in members if leaf(member.value, f"{shape.start}|{shape.end}") is not None]
        documents.append(replace(members[0], value={"id": name, shape.text or "text": text, "spans": spans}))
    return documents


def _is_of_tool(span: Visit, shape: RecordShape) -> bool:
    """Return whether a tool made a span on the way to others, such as a token, or it is empty beside these."""
    is_empty = leaf(span.value, shape.start) == leaf(span.value, shape.end)
    return bool(shape.tool_types) and (is_empty or type_of_span(span, shape) in shape.tool_types)


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


def _name(record: Record, shape: RecordShape, gold: Documents | None = None) -> str | None:
    names = (id_string(visit.value) for visit in visits(record.value, shape.id)) if shape.id else iter(())
    name = next(filter(None, names), None)
    if name is None or not shape.of_files or (gold is not None and name in gold.index):
        return name
    number = leaf(record.value, shape.number) if shape.number else None
    if type(number) is int and gold is not None and leaf(record.value, shape.text) is None:
        return None
    return f"{name}:{number}" if type(number) is int else PurePosixPath(name).stem


def _beside_its_text(record: Any, shape: RecordShape, source: Source) -> Any:
    """Return a record with the text of the file that it names, or its line there, if the file lies beside."""
    name = leaf(record, shape.id) if shape.of_files else None
    path = PurePosixPath(name.replace("\\", "/")).name if isinstance(name, str) else ""
    file = next((file for file in source.files if path and PurePosixPath(file.name).name == path), None)
    number = leaf(record, shape.number) if shape.number else None
    if file is None or not isinstance(record, dict):
        return record
    if number is None:
        return {**record, shape.text: file.text()}
    lines = file.lines()
    is_line = type(number) is int and 0 <= number < len(lines)
    return {**record, shape.text: lines[number]} if is_line else record


def _in_golds_order(
    records: Sequence[Record], shape: RecordShape, gold: Documents | None
) -> tuple[RecordShape, list[str]]:
    """Return a shape without ids where records have no texts and gold has none of their ids, and a note.

    Their quotes then show whether their order is gold's.
    """
    has_texts = bool(shape.words or shape.pieces or shape.number)
    if gold is None or has_texts or not (shape.id and shape.quote) or len(records) != len(gold):
        return shape, []
    if any(_name(record, shape) in gold.index or leaf(record.value, shape.text) is not None for record in records):
        return shape, []
    return replace(shape, id=""), ["ids of which gold has none: records are taken in gold's order"]


def _text(record: Record, at: Ordinal, shape: RecordShape, options: ReadOptions, builder: Builder) -> RecordText | None:
    """Add the document of a record to a builder and return its text, None where there is a problem with it."""
    failure = leaf(record.value, shape.failure) if shape.failure else None
    if failure is not None:
        remedy = "send this text again, or leave it out of gold"
        builder.problem(record.line, f"no answer: {quoted(str(failure))}", remedy, source=record.source)
        return None
    number = leaf(record.value, shape.number) if shape.number else None
    if type(number) is int and options.texts is not None:
        at = Ordinal(number, len(options.texts))
    try:
        name = _name(record, shape, options.texts)
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


def _read_quotes(
    records: Sequence[Record],
    shape: RecordShape,
    source: Source,
    options: ReadOptions,
    builder: Builder,
    notes: Sequence[str],
) -> Reading:
    """Read records whose spans have words and no places: these are found as those of answers are."""
    rows = []
    for record in records:
        spans = _layers(record, shape, builder.problems).get("", [])
        row = {
            "id": _name(record, shape),
            "text": leaf(record.value, shape.text),
            "entities": [
                {"text": leaf(span.visit.value, shape.quote), "type": type_of_span(span.visit, shape)} for span in spans
            ],
        }
        rows.append(((record.source, record.line), {key: value for key, value in row.items() if value is not None}))
    reading = read_answers(rows, options, source=source.name, name=source.label, problems=builder.problems, notes=notes)
    return replace(reading, format=RecordsReader.name)


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
