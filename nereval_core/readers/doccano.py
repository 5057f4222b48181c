"""JSON lines of doccano: `label` as triples [start, end, type], or `entities` as objects with start_offset.

Offsets are UTF-16 units, as its pages count in JavaScript; spans have no quotes to test that by.
See the formats in doccano's documentation, "Sequence labeling".
"""

from __future__ import annotations

from typing import Any

from nereval_core.errors import Problem
from nereval_core.readers import Reading, ReadOptions, Source
from nereval_core.readers.counted import Counted, columns, columns_of
from nereval_core.readers.offsets import Offsets
from nereval_core.readers.source import left_out
from nereval_core.readers.strict_json import Complain, first_keys, items, kind, listed, named

NAME = "doccano"
DESCRIPTION = "JSON lines of doccano: label triples or entity objects"

SUFFIXES = (".jsonl", ".json")
OFFSETS = Offsets("UTF-16 units")
TEXTS = ("text", "data")
SPANS = ("label", "labels", "entities")
OWN = {*TEXTS, *SPANS, "id", "relations", "Comments", "comments"}
"""Keys that are no metadata."""
PARTS = ("start_offset", "end_offset", "label")


def recognise(source: Source) -> float:
    """Be sure of objects with a text and triples or entities; other formats with these have keys of their own."""
    keys = first_keys(source, *SUFFIXES)
    others = {"spans", "tokens", "annotations", "annotator", "ner_tags"}
    return 0.9 if keys & set(SPANS) and keys & set(TEXTS) and not keys & others else 0.0


def read(source: Source, options: ReadOptions) -> Reading:
    """Read a document a line; keys that doccano does not write become metadata.

    Raises:
        FormatError: with every problem found.
    """
    files = source.pick(*SUFFIXES)
    made = Counted()
    relations = 0
    for file in files:
        for line, row in items(file, made.problems):
            relations += _document(row, line, file.shown, made)
    notes = [*left_out(source, files), *([f"relations between spans, not read: {relations}"] if relations else [])]
    return made.finish(source, options, NAME, expected=OFFSETS, notes=notes)


def _document(row: Any, line: int, shown: str, made: Counted) -> int:
    """Add a document; return how many relations it has, which are not read."""

    def complain(found: str, remedy: str) -> None:
        made.problems.append(Problem(shown, line, found, remedy))

    if not isinstance(row, dict):
        complain(f"{kind(row)} where a document should be", "write one object with text and label")
        return 0
    text = next((row[key] for key in TEXTS if key in row), None)
    if not isinstance(text, str):
        complain(f"the text is {kind(text)}", "write a string under text")
        return 0
    more = row.keys() - OWN
    meta = {key: value for key, value in row.items() if key in more} if more else None
    made.document(named(row.get("id")), text, line=line, source=shown, meta=meta)
    for key in filter(row.__contains__, SPANS):
        _spans(listed(row, key, complain), key, made, complain)
    return len(listed(row, "relations", complain))


def _spans(found: list[Any], key: str, made: Counted, complain: Complain) -> None:
    """Add the spans of the last document, triples or objects."""
    kinds = set(map(type, found))
    whole = columns(found) if kinds == {list} else columns_of(found, PARTS) if kinds == {dict} else None
    if whole is not None:
        made.spans(whole, ids=[named(span.get("id")) for span in found] if kinds == {dict} else ())
        return
    for number, span in enumerate(found):
        own = None
        if type(span) is dict:
            own = named(span.get("id"))
            span = [span.get(part) for part in PARTS]
        if type(span) is list and list(map(type, span)) == [int, int, str]:
            made.span(*span, id=own)
        else:
            complain(f"{key}[{number}] is no span", f"write [start, end, type], or an object with {', '.join(PARTS)}")
