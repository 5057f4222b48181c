"""Signs of formats in a file's first bytes, and the keys of the objects of JSON formats."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from nereval_core.readers.input.file_text import Head
from nereval_core.readers.input.origins import ZIP
from nereval_core.readers.input.source import Source, SourceFile

Sign = Callable[[SourceFile, Head], bool]


def first_line(pattern: str) -> Sign:
    """Return the sign that the first line which is not blank begins so."""
    compiled = re.compile(pattern)
    return lambda file, head: compiled.match(head.first_line) is not None


def keys(*names: str, without: str | None = None) -> Sign:
    """Return the sign that the first JSON object has one of these keys, and not the one `without`."""
    return lambda file, head: not head.keys.isdisjoint(names) and without not in head.keys


def within(*texts: str) -> Sign:
    """Return the sign that one of these texts stands in a line of the head."""
    return lambda file, head: any(text in line for line in head.lines for text in texts)


def suffix(ending: str) -> Sign:
    """Return the sign that the file is called so."""
    return lambda file, head: file.suffix == ending


def other_keys_than(*names: str) -> Sign:
    """Return the sign that the first JSON object has none of these keys."""
    return lambda file, head: bool(head.keys) and head.keys.isdisjoint(names)


def keys_beyond_the_native(file: SourceFile, head: Head) -> bool:
    """Return whether the first JSON object has keys that the native format does not have."""
    return not head.keys <= {"id", "text", "spans", "tokens", "sentences", "meta"}


def lists_in_a_list(file: SourceFile, head: Head) -> bool:
    """Return whether the file begins with a list of lists."""
    return re.match(r"\s*\[\s*\[", head.text) is not None


def list_in_a_cell(file: SourceFile, head: Head) -> bool:
    """Return whether the file is no JSON, and a list or an object stands in its head."""
    return not head.first_line.lstrip().startswith(("[", "{")) and LIST_BEGINS.search(head.text) is not None


def marks_in_text(file: SourceFile, head: Head) -> bool:
    """Return whether the file is no JSON, and a line of the head has marks of names, or is one of Rasa's."""
    marks = ("<START", "]", "nlu:", "## intent:")
    return not head.first_line.lstrip().startswith("{") and any(mark in line for line in head.lines for mark in marks)


def text_beside_other_keys(file: SourceFile, head: Head) -> bool:
    """Return whether the first JSON object has a text, and keys that the native format does not have."""
    return "text" in head.keys and keys_beyond_the_native(file, head)


LIST_BEGINS = re.compile(r"[\[{]\s*[\[({\"']")
"""The beginning of a list or an object, as JSON or Python writes it."""
NO_OBJECT = first_line(r"(?!\{)")
ANSWERS = other_keys_than("spans", "passages", "denotations", "data", "ner_tags", "tokenized_text", "%TYPES")
"""The keys of answers of language models may be types; other formats have one of these."""
SIGNS: Mapping[str, tuple[Sign, ...]] = MappingProxyType(
    {
        "bc2gm": (first_line(r"[^|\s{][^|\s]*\|"),),
        "bioc": (within("<collection"), keys("documents", "PubTator3", "passages")),
        "bracketed": (marks_in_text,),
        "bionlp": (suffix(".a1"), suffix(".a2")),
        "brat": (suffix(".ann"),),
        "cas": (within("XMI", '"%'),),
        "conll": (NO_OBJECT,),
        "conllu": (NO_OBJECT,),
        "csv": (NO_OBJECT,),
        "datasets": (first_line("PAR1"), keys("tokens", "words", "ner", "predicted_ner")),
        "docbin": (first_line("x"),),
        "doccano": (keys("label", "labels", "entities"),),
        "hipe": (within("TOKEN"),),
        "inline": (within("</"),),
        "jsonl": (first_line(r"\s*\{"), keys("spans")),
        "labelstudio": (keys("data", "annotation_id"), list_in_a_cell),
        "mentions": (
            ANSWERS,
            within('"generated_text"'),
            first_line(r"(?i)(?!\{).*(?:answer|response|completion|generated.text|output)"),
        ),
        "nif": (within("/nif-core#"),),
        "offsetxml": (within("<GateDocument", "<TEXT>"),),
        "parquet": (first_line("PAR1"),),
        "pipeline": (
            text_beside_other_keys,
            first_line(r"\s*\["),
            list_in_a_cell,
            within('"spans":{', '"spans": {'),
        ),
        "prodigy": (
            first_line(r"\s*\["),
            keys("spans", "tokens", without="id"),
            keys("answer", "_input_hash", "_task_hash", "_annotator_id", "_session_id"),
        ),
        "pubannotation": (keys("denotations", "sourcedb"),),
        "pubtator": (first_line(r"[^|\t]+\|t\|"),),
        "ragged": (first_line(r"#begin document|-DOCSTART- \("),),
        "records": (
            keys_beyond_the_native,
            lists_in_a_list,
            within(
                '"characterOffsetBegin"', '"dspan"', '"agent"', '"start_pos"', '"start_idx"', "nif-core#", "<document>"
            ),
        ),
        "slashtags": (first_line(r"(?!\s*[{\[<]).*(?:/|\|[^|]+\|)"),),
        "spanlines": (first_line(r'(?:c|m|EVENT|TIMEX3|SECTIME)="|[^|\t]+\|\|?|[^\t]*\t.*:[0-9]+-[0-9]+\t'),),
        "tagrows": (NO_OBJECT,),
        "tei": (within("<TEI", "<teiCorpus", ":TEI"),),
        "tokentable": (first_line(r"(?i)(?!\{).*\b(?:word|token)s?\b"),),
        "webanno": (first_line(r"\s*#"),),
    }
)
"""Signs of each format in a single file, of which one is enough: a reader is imported only where one stands.

A row is optional: it spares the import of a reader that would say 0. Wherever the reader's `recognise` says more than 0
of a single file, one of its signs must be there.
"""


def may_be(format: str, source: Source) -> bool:
    """Return whether a source may be of a format; several files, zips and blank files may be of any."""
    file = source.files[0]
    if format not in SIGNS or len(source.files) > 1 or file.suffix == ZIP:
        return True
    head = source.head_of(file)
    return not head.first_line or any(sign(file, head) for sign in SIGNS[format])


COMMON = frozenset(("id", "text", "meta"))
"""Keys that tell no format from another."""


@dataclass(frozen=True)
class Shape:
    """The keys of the objects of a JSON format."""

    keys: frozenset[str]


SHAPES: Mapping[str, tuple[Shape, ...]] = MappingProxyType(
    {
        "jsonl": (Shape(frozenset(("id", "text", "spans", "tokens", "sentences", "meta"))),),
        "doccano": (
            Shape(frozenset(("id", "text", "label", "Comments"))),
            Shape(frozenset(("id", "text", "entities", "relations", "Comments"))),
        ),
        "prodigy": (Shape(frozenset(("text", "spans", "tokens", "answer", "_input_hash", "_task_hash"))),),
        "labelstudio": (
            Shape(frozenset(("id", "data", "annotations", "predictions"))),
            Shape(frozenset(("id", "text", "label", "annotator", "annotation_id", "created_at", "lead_time"))),
        ),
        "datasets": (Shape(frozenset(("id", "tokens", "ner_tags"))),),
        "mentions": tuple(Shape(frozenset(("id", key))) for key in ("answer", "response", "completion", "output")),
        "pipeline": (Shape(frozenset(("text", "entities"))), Shape(frozenset(("text", "ents")))),
        "bioc": (
            Shape(frozenset(("id", "infons", "passages", "annotations", "relations"))),
            Shape(frozenset(("source", "date", "key", "infons", "documents"))),
        ),
        "pubannotation": (
            Shape(frozenset(("text", "denotations", "attributes", "relations", "sourcedb", "sourceid"))),
        ),
        "cas": (Shape(frozenset(("%TYPES", "%FEATURE_STRUCTURES", "%VIEWS"))),),
    }
)
"""The objects of the JSON formats, by format."""


def nearest_shape(keys: Collection[str]) -> tuple[str, Shape] | None:
    """Return the known format whose objects share most keys with these; None where none shares any.

    Keys that many formats have count only where no others are shared.
    """
    own_keys = set(keys)

    def likeness(shape: Shape) -> tuple[int, float]:
        shared = own_keys & shape.keys
        return len(shared - COMMON), len(shared) / len(own_keys | shape.keys)

    shapes_by_format = [(format, shape) for format, shapes in SHAPES.items() for shape in shapes]
    format, shape = max(shapes_by_format, key=lambda pair: likeness(pair[1]))
    if own_keys & shape.keys - COMMON:
        return format, shape
    return ("jsonl", SHAPES["jsonl"][0]) if own_keys & COMMON else None


def is_native_slip(keys: Collection[str]) -> bool:
    """Return whether an object of these keys is meant for the native format: it has spans, or all keys but one."""
    native = SHAPES["jsonl"][0].keys
    return "spans" in keys or (len(set(keys) & native) > 1 and len(set(keys) - native) <= 1)
