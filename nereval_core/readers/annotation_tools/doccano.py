"""JSON lines of doccano: `label` as triples [start, end, type], or `entities` as objects with start_offset.

Offsets are UTF-16 units or code points, by version and import; spans have no quotes to test that by, so that edges of
words decide. Where annotators work each for themselves, a file is one annotator's: files that share documents are
layers.
See the formats in doccano's documentation, "Sequence labeling".
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from nereval_core.corpus.builder import Builder
from nereval_core.problems import FormatError, ProblemList
from nereval_core.readers import Reading, ReadOptions, Source, select_layer
from nereval_core.readers.input.source import unread_files_note
from nereval_core.readers.shared.annotation_keys import KeyedReader, key_of
from nereval_core.readers.shared.offset_conversion import reading_in_code_points
from nereval_core.readers.shared.offset_units import Offsets
from nereval_core.readers.shared.strict_json import Item, id_string, items, json_type, list_under, typed_list

OFFSETS = Offsets("UTF-16 units")
TEXTS = ("text", "data")
SPANS = ("label", "labels", "entities")
OWN = {*TEXTS, *SPANS, "id", "relations", "Comments", "comments"}
"""Keys that are not metadata."""
OTHER_KEYS = frozenset((*(OWN - set(SPANS)), "meta", "metadata", "tokens"))
"""Keys that hold no spans."""
SPAN_FORM = "write [start, end, type], or an object with start_offset, end_offset, label"


class Entity(msgspec.Struct):
    """A span that is an object."""

    start_offset: int
    end_offset: int
    label: str
    id: Any = None


Triple = tuple[int, int, str]
"""Start, end and type of a span."""


class DoccanoReader(KeyedReader):
    name = "doccano"
    description = "JSON lines of doccano: label triples or entity objects"
    has_layers = True
    keys = SPANS
    other_keys = OTHER_KEYS

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
        problems = ProblemList()
        files = source.pick(*self.suffixes)
        is_shared = len(files) > 1 and _share_documents([list(items(file, problems)) for file in files])
        if problems:
            raise FormatError(problems)
        return tuple(file.stem for file in files) if is_shared else ()

    def read(self, source: Source, options: ReadOptions) -> Reading:
        """Read a document a line; keys that doccano does not write become metadata.

        Raises:
            FormatError: with every problem found; files of several annotators, and none is named.
        """
        files = source.pick(*self.suffixes)
        builder = Builder(source.name)
        rows_of_files = [(file, list(items(file, builder.problems))) for file in files]
        if options.layer is not None or (len(files) > 1 and _share_documents([rows for _, rows in rows_of_files])):
            names = tuple(file.stem for file in files)
            rows_of_files = [rows_of_files[names.index(select_layer(source, options.layer, names))]]
        records = [(line, file.shown, self.prepared(row)) for file, rows in rows_of_files for line, row in rows]
        keys, key_notes = self.choose_keys(records, options, source)
        n_relations = sum(_add_document(row, line, file_name, builder, keys) for line, file_name, row in records)
        notes = [
            *unread_files_note(source, files),
            *key_notes,
            *([f"relations between spans, not read: {n_relations}"] if n_relations else []),
        ]
        return reading_in_code_points(builder, source, options, self.name, expected=OFFSETS, doubtful=True, notes=notes)


READER = DoccanoReader()


def _share_documents(files: Iterable[Iterable[Item]]) -> bool:
    """Return whether a document stands in several files."""
    ids_before: set[str] = set()
    for rows in files:
        ids = {name for _, row in rows if isinstance(row, dict) and (name := id_string(row.get("id"))) is not None}
        if not ids_before.isdisjoint(ids):
            return True
        ids_before |= ids
    return False


def _add_document(row: Any, line: int, file_name: str, builder: Builder, keys: Sequence[str]) -> int:
    """Add a document; return the number of its relations, which are not read."""

    def complain(finding: str, remedy: str) -> None:
        builder.problem(line, finding, remedy, source=file_name)

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
    meta_keys = row.keys() - OWN - {key}
    meta = {key: value for key, value in row.items() if key in meta_keys} if meta_keys else None
    builder.document(id_string(row.get("id")), text, line=line, source=file_name, meta=meta)
    for span in typed_list(row, key, list[Entity | Triple], complain, SPAN_FORM) if key is not None else ():
        if isinstance(span, Entity):
            builder.span(span.start_offset, span.end_offset, span.label, id=id_string(span.id))
        else:
            builder.span(*span)
    return len(list_under(row, "relations", complain))
