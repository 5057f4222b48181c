"""JSON lines of doccano: `label` as triples [start, end, type], or `entities` as objects with start_offset.

Offsets are UTF-16 units, as its pages count in JavaScript; spans have no quotes to test that by. Where annotators work
each for themselves, a file is one annotator's: files that share documents are layers.
See the formats in doccano's documentation, "Sequence labeling".
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from nereval_core.corpus.builder import Builder
from nereval_core.problems import FormatError, Problem
from nereval_core.readers import Reader, Reading, ReadOptions, Source, select_layer
from nereval_core.readers.input.source import unread_files_note
from nereval_core.readers.shared.annotation_keys import (
    choose_keys,
    key_choices,
    key_of,
    sampled_records,
    with_decoded_strings,
)
from nereval_core.readers.shared.offset_conversion import reading_in_code_points
from nereval_core.readers.shared.offset_units import Offsets
from nereval_core.readers.shared.strict_json import Complain, Item, id_string, items, json_type, list_under
from nereval_core.readers.shared.tag_cells import TagColumn

OFFSETS = Offsets("UTF-16 units")
TEXTS = ("text", "data")
SPANS = ("label", "labels", "entities")
OWN = {*TEXTS, *SPANS, "id", "relations", "Comments", "comments"}
"""Keys that are not metadata."""
OTHER_KEYS = frozenset((*(OWN - set(SPANS)), "meta", "metadata", "tokens"))
"""Keys that hold no spans."""
PARTS = ("start_offset", "end_offset", "label")


class DoccanoReader(Reader):
    name = "doccano"
    description = "JSON lines of doccano: label triples or entity objects"
    suffixes = (".jsonl", ".json")
    has_columns = True
    has_layers = True

    def recognise(self, source: Source) -> float:
        """Claim objects with a text and triples or entities; other formats with these have keys of their own."""
        keys = source.head(*self.suffixes).keys
        others = {"spans", "tokens", "annotations", "annotator", "ner_tags"}
        return 0.9 if keys & set(SPANS) and keys & set(TEXTS) and not keys & others else 0.0

    def layers(self, source: Source, options: ReadOptions) -> tuple[str, ...]:
        """Return the annotators whose files share documents, none where files make one layer.

        Raises:
            FormatError: with every problem found.
        """
        problems: list[Problem] = []
        files = source.pick(*self.suffixes)
        shared = len(files) > 1 and _shared([list(items(file, problems)) for file in files])
        if problems:
            raise FormatError(problems)
        return tuple(file.stem for file in files) if shared else ()

    def read(self, source: Source, options: ReadOptions) -> Reading:
        """Read a document a line; keys that doccano does not write become metadata.

        Raises:
            FormatError: with every problem found; files of several annotators, and none is named.
        """
        files = source.pick(*self.suffixes)
        made = Builder(source.name)
        relations = 0
        found = [(file, list(items(file, made.problems))) for file in files]
        if options.layer is not None or (len(files) > 1 and _shared([rows for _, rows in found])):
            names = tuple(file.stem for file in files)
            wanted = select_layer(source, options.layer, names)
            found = [found[names.index(wanted)]]
        records = [
            (line, file.shown, with_decoded_strings(row, OTHER_KEYS)) for file, rows in found for line, row in rows
        ]
        keys, key_notes = choose_keys(records, SPANS, OTHER_KEYS, options.column, source.name)
        for line, shown, row in records:
            relations += _document(row, line, shown, made, keys)
        notes = [
            *unread_files_note(source, files),
            *key_notes,
            *([f"relations between spans, not read: {relations}"] if relations else []),
        ]
        return reading_in_code_points(made, source, options, self.name, expected=OFFSETS, notes=notes)

    def tag_column_choices(self, source: Source) -> tuple[TagColumn, ...]:
        """Return the keys of which one has to be chosen, by the first records of small files; else nothing."""
        records = (with_decoded_strings(row, OTHER_KEYS) for row in sampled_records(source.pick(*self.suffixes)))
        return key_choices(records, SPANS, OTHER_KEYS)


READER = DoccanoReader()


def _shared(files: Iterable[Iterable[Item]]) -> bool:
    """Return whether a document stands in several files."""
    seen: set[str] = set()
    for rows in files:
        ids = {name for _, row in rows if isinstance(row, dict) and (name := id_string(row.get("id"))) is not None}
        if not seen.isdisjoint(ids):
            return True
        seen |= ids
    return False


def _document(row: Any, line: int, shown: str, made: Builder, keys: Sequence[str]) -> int:
    """Add a document; return how many relations it has, which are not read."""

    def complain(found: str, remedy: str) -> None:
        made.problems.append(Problem(shown, line, found, remedy))

    if not isinstance(row, dict):
        complain(f"{json_type(row)} where a document should be", "write one object with text and label")
        return 0
    text = next((row[key] for key in TEXTS if key in row), None)
    if not isinstance(text, str):
        complain(f"the text is {json_type(text)}", "write a string under text")
        return 0
    key = key_of(row, keys)
    if key is None and row.keys().isdisjoint(SPANS):
        remedy = "write [] where there are no spans"
        if "annotations" in row:
            remedy = "its annotations call labels by number: export it as JSONL (Text Label)"
        complain(f"no {' or '.join(SPANS)}", remedy)
        return 0
    more = row.keys() - OWN - {key}
    meta = {key: value for key, value in row.items() if key in more} if more else None
    made.document(id_string(row.get("id")), text, line=line, source=shown, meta=meta)
    if key is not None:
        _spans(list_under(row, key, complain), key, made, complain)
    return len(list_under(row, "relations", complain))


def _spans(found: list[Any], key: str, made: Builder, complain: Complain) -> None:
    """Add the spans of the last document, triples or objects."""
    for number, span in enumerate(found):
        own = None
        if type(span) is dict:
            own = id_string(span.get("id"))
            span = [span.get(part) for part in PARTS]
        if type(span) is list and list(map(type, span)) == [int, int, str]:
            made.span(*span, id=own)
        else:
            form = f"[start, end, type], or an object with {', '.join(PARTS)}"
            complain(f"{key}[{number}] is not a span", f"write {form}")
