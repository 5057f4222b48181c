"""JSON of PubAnnotation and TextAE: a `text` with `denotations`, each a span of it and what it denotes.

A file holds one document, a list of them, or one a line. Offsets are code points, `begin` to `end` exclusive; a list of
spans is a discontinuous one. Attributes are metadata of the denotation that is their subject. See the documentation of
PubAnnotation, "Annotation format".
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import msgspec

from nereval_core.corpus.builder import Builder
from nereval_core.problems import quoted
from nereval_core.readers import Reading, ReadOptions, Source
from nereval_core.readers.input.source import unread_files_note
from nereval_core.readers.shared.annotation_keys import KeyedReader
from nereval_core.readers.shared.offset_conversion import reading_in_code_points
from nereval_core.readers.shared.offset_units import Offsets
from nereval_core.readers.shared.strict_json import Complain, id_string, json_type, list_under, typed_list

OFFSETS = Offsets()
DENOTATIONS, ATTRIBUTES, TRACKS = "denotations", "attributes", "tracks"
COUNTED = ("relations", "modifications", "blocks")
"""Lists that are counted, not read."""
OWN = frozenset(("text", "id", "sourceid", "divid", DENOTATIONS, ATTRIBUTES, *COUNTED, "config", "namespaces"))
"""Keys of a document that are not metadata of it."""
FRAGMENT = "_FRAGMENT"
"""What a part denotes in chains, the other way to write discontinuous spans."""
FORM = 'write {"id": "T1", "span": {"begin": 0, "end": 4}, "obj": "TYPE"}'
ATTRIBUTE_FORM = 'write {"subj": "T1", "pred": "NAME", "obj": VALUE}'


class SpanPart(msgspec.Struct):
    """A span, or a part of a discontinuous one."""

    begin: int
    end: int


class Denotation(msgspec.Struct):
    """A span and its type."""

    span: SpanPart | list[SpanPart]
    obj: str
    id: Any = None


class Attribute(msgspec.Struct):
    """A property of a denotation, or of a relation."""

    subj: str | int
    pred: str
    obj: Any


class PubAnnotationReader(KeyedReader):
    name = "pubannotation"
    description = "JSON of PubAnnotation and TextAE: texts with denotations and their attributes"
    suffixes = (".json", ".jsonl")
    keys = (DENOTATIONS,)
    other_keys = OWN - {DENOTATIONS}

    def recognise(self, source: Source) -> float:
        """Claim objects with denotations, or the text of a document of PubAnnotation that has none."""
        keys = source.head(*self.suffixes).keys
        return 1.0 if DENOTATIONS in keys else 0.9 if keys >= {"text", "sourcedb"} else 0.0

    def read(self, source: Source, options: ReadOptions) -> Reading:
        """Read all documents, called as their `sourceid` (with `-` and `divid`, where they are divided) or `id`.

        Raises:
            FormatError: with every problem found; annotations of several projects, parts of chains.
        """
        builder = Builder(source.name)
        counts: Counter[str] = Counter()
        records = self.records(source, builder.problems)
        keys, key_notes = self.choose_keys(records, options, source)
        for line, file_name, row in records:
            _add_document(row, line, file_name, builder, counts, (*keys, DENOTATIONS)[0])
        notes = [*unread_files_note(source, source.pick(*self.suffixes)), *key_notes]
        notes += [f"{what}, not read: {count}" for what, count in sorted(counts.items()) if count]
        return reading_in_code_points(builder, source, options, self.name, expected=OFFSETS, notes=notes)


READER = PubAnnotationReader()


def _add_document(row: Any, line: int, file_name: str, builder: Builder, counts: Counter[str], key: str) -> None:
    def complain(finding: str, remedy: str) -> None:
        builder.problem(line, finding, remedy, source=file_name)

    if not isinstance(row, dict) or not isinstance(row.get("text"), str):
        what = "no text" if isinstance(row, dict) else f"{json_type(row)} where a document should be"
        complain(what, "write an object with text and denotations")
        return
    if TRACKS in row:
        complain(f"{TRACKS}, the annotations of several projects", "download those of one project, and score it alone")
        return
    name, part = id_string(row.get("sourceid")), id_string(row.get("divid"))
    if name is not None and part is not None:
        name = f"{name}-{part}"
    meta = {name: value for name, value in row.items() if name not in OWN and name != key and value is not None}
    builder.document(name or id_string(row.get("id")), row["text"], line=line, source=file_name, meta=meta)
    counts.update({key: len(list_under(row, key, complain)) for key in COUNTED})
    first = len(builder.starts)
    for number, denotation in enumerate(typed_list(row, key, list[Denotation], complain, FORM)):
        _add_denotation(denotation, f"{key}[{number}]", builder, complain)
    ids = builder.extras["ids"]
    named_spans = [span for span in range(first, len(builder.starts)) if span in ids]
    span_of_id = {ids[span]: span for span in named_spans}
    if len(span_of_id) < len(named_spans):
        complain("two denotations of one id", "give each its own")
    others = {id_string(other.get("id")) for key in COUNTED for other in row.get(key) or () if isinstance(other, dict)}
    for number, attribute in enumerate(typed_list(row, ATTRIBUTES, list[Attribute], complain, ATTRIBUTE_FORM)):
        subject = str(attribute.subj)
        if subject in span_of_id:
            _add_attribute(builder.extras["meta"].setdefault(span_of_id[subject], {}), attribute.pred, attribute.obj)
        elif subject in others:
            counts[f"{ATTRIBUTES} of others than denotations"] += 1
        else:
            complain(f"{ATTRIBUTES}[{number}] is of {quoted(subject)}, which no denotation is", "name one of this text")


def _add_denotation(denotation: Denotation, place: str, builder: Builder, complain: Complain) -> None:
    """Add a denotation to the spans of the last document."""
    parts = denotation.span if isinstance(denotation.span, list) else [denotation.span]
    pairs = sorted((part.begin, part.end) for part in parts)
    if not pairs:
        complain(f"{place}.span has no parts", FORM)
    elif not denotation.obj:
        complain(f"{place}.obj is empty", FORM)
    elif denotation.obj == FRAGMENT:
        complain(f"{place} is a part of a chain", "write the parts of one denotation as a list under its span")
    else:
        fragments = tuple(pairs) if len(pairs) > 1 else ()
        builder.span(pairs[0][0], pairs[-1][1], denotation.obj, fragments=fragments, id=id_string(denotation.id))


def _add_attribute(meta: dict[str, Any], name: str, value: Any) -> None:
    """Add an attribute, which may have several values, to the metadata of a span."""
    if name not in meta:
        meta[name] = value
    else:
        meta[name] = [*(meta[name] if isinstance(meta[name], list) else [meta[name]]), value]
