"""Recognise keys of JSON records that hold annotations, and choose the one that is read.

A file that offers several, such as gold under `entities` and a prediction under `predictions`, is refused until one of
them is named. Every JSON format that can hold more than one asks here.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, ClassVar

from nereval_core.problems import FormatError, Problem, ProblemList, quoted
from nereval_core.readers.input.source import Source, SourceFile
from nereval_core.readers.read_settings import ReadOptions
from nereval_core.readers.recognition import Reader
from nereval_core.readers.shared.list_cells import first_record, records_of_table
from nereval_core.readers.shared.python_literals import json_value, python_literal
from nereval_core.readers.shared.strict_json import RefusedError, items, loads
from nereval_core.readers.shared.tag_cells import (
    OTHER_TAGS,
    SHOWN_TYPES,
    TagColumn,
    choice_problem,
    is_named_like_prediction,
    kind_of_cells,
    types_of_cells,
    unread_predictions_note,
)

TYPE_KEYS = frozenset(
    ("label", "labels", "type", "entity", "entity_group", "entity_type", "category", "class", "tag", "obj", "Type")
)
"""Keys of a span object that name its type."""
PLACE_KEYS = frozenset(
    (
        *("start", "end", "text", "word", "mention", "span", "value", "offset", "offsets", "begin", "length", "name"),
        *("start_offset", "end_offset", "start_char", "end_char", "BeginOffset", "EndOffset", "Text", "points"),
    )
)
"""Keys of a span object that name its place or its words."""
PREDICTED_TYPE = re.compile(
    r"(?:pred|predicted|prediction|hyp|system|model|output)[_ -]?(?:label|type|tag|entity|class|category)"
    r"|(?:label|type|tag|entity|class|category)[_ -](?:pred|predicted|prediction|hyp|system|model|output)",
    re.IGNORECASE,
)
"""A key of span objects that holds a predicted type."""
SAMPLED_RECORDS = 1000
"""The records that say, before a file is read, which keys hold annotations."""
PREVIEWED_BYTES = 4 << 20
"""The largest file, as stored, whose records are looked at before it is read."""


def types_of_value(value: Any) -> tuple[str, ...] | None:
    """Return the first types of a JSON value that looks like annotations, None for any other value.

    Annotations are lists of objects with a type and a place or words, lists of [start, end, type], tags in a list, an
    object with a list of such for each type, and lists of these by sentence. An empty list or object looks like none.
    """
    if isinstance(value, Mapping):
        lists = [entry for entry in value.values() if entry]
        if lists and all(isinstance(entry, list) and _are_mentions(entry) for entry in lists):
            return tuple(value)[:SHOWN_TYPES]
        return None
    if not isinstance(value, list) or not value:
        return None
    if all(isinstance(entry, Mapping) for entry in value):
        typed = [entry for entry in value if entry.keys() & TYPE_KEYS and entry.keys() & PLACE_KEYS]
        names = (next(entry[key] for key in entry if key in TYPE_KEYS) for entry in typed)
        return _first_types(names) if len(typed) == len(value) else None
    if all(isinstance(entry, str) for entry in value):
        return types_of_cells(value)[:SHOWN_TYPES] if kind_of_cells(value) in ("tags", "labels") else None
    if all(isinstance(entry, list) for entry in value):
        if all(_is_triple(entry) for entry in value):
            return _first_types(next(part for part in entry if isinstance(part, str)) for entry in value)
        sentences = [types for entry in value if (types := types_of_value(entry)) is not None]
        filled = sum(bool(entry) for entry in value)
        return _first_types(name for types in sentences for name in types) if 0 < len(sentences) == filled else None
    return None


def _first_types(names: Iterable[Any]) -> tuple[str, ...]:
    return tuple(islice(dict.fromkeys(str(name) for name in names), SHOWN_TYPES))


def _are_mentions(entries: Sequence[Any]) -> bool:
    """Return whether entries under a type are words, places or span objects."""
    return all(
        isinstance(entry, str)
        or (isinstance(entry, list) and 2 <= len(entry) <= 3 and all(type(part) is int for part in entry[:2]))
        or (isinstance(entry, Mapping) and bool(entry.keys() & PLACE_KEYS))
        for entry in entries
    ) and not all(isinstance(entry, str) and kind_of_cells([entry]) == "tags" for entry in entries)


def _is_triple(entry: Sequence[Any]) -> bool:
    """Return whether a list is a place and a type in any order, perhaps with words or a score."""
    return (
        3 <= len(entry) <= 5
        and sum(type(part) is int for part in entry) >= 2
        and any(isinstance(part, str) for part in entry)
        and all(isinstance(part, (int, float, str)) for part in entry)
    )


@dataclass(eq=False)
class AnnotationKeys:
    """The keys of records that hold annotations, collected record by record.

    `usual` are the keys that a format reads, `other` those that it knows to hold something else.
    """

    usual: Sequence[str]
    other: Collection[str]
    types: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Some types under each key that holds annotations, in the order of the keys."""
    empty: dict[str, None] = field(default_factory=dict)
    """Keys that are usual or called like a prediction, with an empty list or object in a record."""
    words: dict[str, None] = field(default_factory=dict)
    """Keys called like a prediction that hold something else than annotations."""
    settled: set[str] = field(default_factory=set)
    """Keys that hold something else than annotations in every record."""
    combinations: set[frozenset[str]] = field(default_factory=set)
    """The keys that stand in one record, once for each combination."""

    def meet(self, record: Mapping[str, Any]) -> bool:
        """Look at the keys of a record that may hold annotations, and return whether one was met for the first time."""
        before = len(self.types)
        self.combinations.add(frozenset(record))
        # Most records have no key but those that are known already.
        for key in [key for key in record if key not in self.types and key not in self.settled]:
            value, usual = record[key], key in self.usual
            if not usual and (key in self.other or OTHER_TAGS.search(key)):
                self.settled.add(key)
                continue
            if value is None:
                continue
            if not isinstance(value, (list, dict)):
                if is_named_like_prediction(key):
                    self.words[key] = None
            elif (types := types_of_value(value)) is not None:
                self.types[key] = types
            elif usual and value:
                # Reading reports what is wrong with it.
                self.types[key] = ()
            elif usual or (not value and is_named_like_prediction(key)):
                self.empty[key] = None
        return len(self.types) > before

    def choices(self) -> tuple[TagColumn, ...]:
        """Return the keys among which one has to be chosen; nothing where it is clear which is read.

        Keys that never stand in one record are not a choice: some records have one, others another. A prediction may be
        empty throughout: a key called like one is a choice without any annotation.
        """
        empty = [key for key in self.empty if key not in self.types and is_named_like_prediction(key)]
        keys = [*self.types, *empty] if self.types else []
        together = max((keys_of_record.intersection(keys) for keys_of_record in self.combinations), key=len, default=())
        if len(together) < 2:
            return ()
        return tuple(TagColumn(key, self.types.get(key, ())) for key in keys if key in together)

    def keys_read(self, requested: int | str | None, file_name: str, line: int | None) -> tuple[str, ...]:
        """Return the keys under which annotations are read, of which a record has one: the requested one, or all.

        `line` is that of the first record with a further key.

        Raises:
            FormatError: several keys hold annotations and none is requested, or the requested one is in no record.
        """
        keys = tuple(dict.fromkeys((*self.types, *self.empty, *self.words)))
        if requested is not None:
            if requested in keys:
                return (str(requested),)
            finding = f"no record has annotations under the key {quoted(str(requested))}"
            remedy = f"choose among {', '.join(map(quoted, keys))}" if keys else "leave the key out"
            raise FormatError.single(file_name, None, finding, remedy)
        if choices := self.choices():
            raise FormatError([choice_problem(file_name, line, choices, "keys hold annotations")])
        # A key that is empty throughout is not read where another of the same record holds annotations.
        own = tuple(sorted((key for key in self.usual if key in self.types or key in self.empty), key=self._is_empty))
        own = own if any(key in self.types for key in own) or not self.types else tuple(self.types)
        # What else stands under a usual key is wrong, which its reader says.
        return (*own, *(key for key in self.usual if key not in own))

    def _is_empty(self, key: str) -> bool:
        return key not in self.types

    def notes(self, keys: Collection[str]) -> list[str]:
        """Return a note on keys that are called like predictions and not read, where `keys` are."""
        return unread_predictions_note(dict.fromkeys((*self.types, *self.empty, *self.words)), keys)


def may_hold_annotations(value: Any) -> bool:
    """Return whether a JSON value, one in a string or one within an object, looks like annotations."""
    if isinstance(value, Mapping):
        return types_of_value(value) is not None or any(map(types_of_value, value.values()))
    if isinstance(value, str):
        return kind_of_cells(value.split()) == "tags" or (value.startswith("[") and bool(_decoded(value)))
    if isinstance(value, list) and value and all(isinstance(entry, Mapping) for entry in value):
        return all(entry.keys() & TYPE_KEYS for entry in value)
    return types_of_value(value) is not None


PLACED = frozenset(("start", "end"))


def rows_of_columns(value: Any) -> Any:
    """Return an object of equally long lists as a list of objects, any other value as it is."""
    if not isinstance(value, dict) or not value or not all(isinstance(column, list) for column in value.values()):
        return value
    if len({len(column) for column in value.values()}) > 1:
        return value
    return [dict(zip(value, row, strict=True)) for row in zip(*value.values(), strict=True)]


def with_decoded_strings(record: Any, other: Collection[str]) -> Any:
    """Return a record whose annotations are lists where they are in a string, or a list for each key of theirs.

    Keys of `other` hold something else.
    """
    if not isinstance(record, dict):
        return record
    decoded = {
        key: value
        for key, text in record.items()
        if type(text) is str and text.startswith("[") and key not in other and (value := _decoded(text)) is not None
    }
    columns = ((key, value) for key, value in record.items() if type(value) is dict and value.keys() >= PLACED)
    decoded |= {key: rows_of_columns(value) for key, value in columns}
    return {**record, **decoded} if decoded else record


def _decoded(text: str) -> Any:
    """Return the annotations, or the empty list, that a string holds as JSON or Python's literal; else None."""
    try:
        value = loads(text)
    except RefusedError:
        literal = python_literal(text)
        value = None if literal is None else json_value(literal[0])
    return value if value == [] or types_of_value(value) is not None else None


OF_GATE = frozenset(
    ("Token", "SpaceToken", "Sentence", "Split", "Lookup", "DEFAULT_TOKEN", "Tokenizer", "paragraph", "Paragraph")
)
"""Types of annotations that GATE's tools make on the way."""
Record = tuple[int, str, Any]
"""The line of a record, the name of its file, and the record."""


def records_of(files: Sequence[SourceFile], problems: list[Problem]) -> Iterator[Record]:
    """Yield the records of JSON files, and of tables that have lists in their cells."""
    for file in files:
        is_table = first_record(file.head()) is not None
        for line, record in records_of_table(file, problems) if is_table else items(file, problems):
            yield line, file.shown, record


def _two_types(records: Sequence[Record], keys: Sequence[str]) -> Iterator[Problem]:
    """Yield a problem where span objects hold a predicted type beside another."""
    sound: set[frozenset[str]] = set()
    for line, source, record in records:
        key = key_of(record, keys) if isinstance(record, dict) else None
        spans = record[key] if key is not None and isinstance(record[key], list) else ()
        if not spans or not isinstance(spans[0], dict):
            continue
        objects = spans if {*map(type, spans)} == {dict} else [span for span in spans if isinstance(span, dict)]
        names = frozenset[str]().union(*objects)
        if names in sound:
            continue
        sound.add(names)
        predicted = [name for name in sorted(names) if PREDICTED_TYPE.fullmatch(name)]
        own = sorted(names & TYPE_KEYS)
        if predicted and own:
            finding = f"entries of {quoted(str(key))} hold two types, {quoted(own[0])} and {quoted(predicted[0])}"
            yield Problem(source, line, finding, "write gold and prediction under keys of their own, or in two files")


def key_of(record: Mapping[str, Any], keys: Iterable[str]) -> str | None:
    """Return the first of the keys that a record has."""
    for key in keys:
        if key in record:
            return key
    return None


def sampled_records(files: Sequence[SourceFile]) -> list[Any]:
    """Return the first records of small files, as they are looked at before files are read."""
    small = [file for file in files if file.origin.size() <= PREVIEWED_BYTES]
    problems = ProblemList()
    try:
        return [record for _, _, record in islice(records_of(small, problems), SAMPLED_RECORDS)]
    except FormatError:
        # Reading reports what is wrong with the file.
        return []


class KeyedReader(Reader):
    """A reader of JSON records whose annotations stand under one of several keys."""

    suffixes: ClassVar[tuple[str, ...]] = (".jsonl", ".json")
    has_columns = True
    keys: ClassVar[Sequence[str]]
    """The keys that the format reads."""
    other_keys: ClassVar[Collection[str]]
    """The keys that hold something else."""

    def prepared(self, record: Any) -> Any:
        """Return a record with its annotations under keys of their own; lists in strings are read."""
        return with_decoded_strings(record, self.other_keys)

    def records(self, source: Source, problems: list[Problem]) -> list[Record]:
        """Return the records of all files of a source."""
        files = source.pick(*self.suffixes)
        return [(line, file_name, self.prepared(record)) for line, file_name, record in records_of(files, problems)]

    def choose_keys(
        self, records: Sequence[Record], options: ReadOptions, source: Source
    ) -> tuple[tuple[str, ...], list[str]]:
        """Return the keys under which annotations are read, of which each record has one, and notes on keys not read.

        Raises:
            FormatError: as `AnnotationKeys.keys_read`.
        """
        keys = AnnotationKeys(self.keys, self.other_keys)
        place: tuple[str, int | None] = source.name, None
        for line, file_name, record in records:
            if isinstance(record, dict) and keys.meet(record):
                place = file_name, line
        keys_read = keys.keys_read(options.column, *place)
        if problem := next(_two_types(records, keys_read), None):
            raise FormatError([problem])
        return keys_read, keys.notes(keys_read)

    def tag_column_choices(self, source: Source) -> tuple[TagColumn, ...]:
        """Return the keys of which one has to be chosen, by the first records of small files; else nothing."""
        keys = AnnotationKeys(self.keys, self.other_keys)
        for record in map(self.prepared, sampled_records(source.pick(*self.suffixes))):
            if isinstance(record, dict):
                keys.meet(record)
        return keys.choices()


def other_keys_note(records: Iterable[Any], own: Collection[str]) -> list[str]:
    """Return a note on the keys beside a format's own that hold annotations, which it does not read."""
    keys: dict[str, None] = {}
    for record in records:
        if isinstance(record, dict) and (others := record.keys() - own - keys.keys()):
            keys.update(dict.fromkeys(key for key in sorted(others) if types_of_value(record[key]) is not None))
    return [f"annotations under other keys, not read: {', '.join(map(quoted, keys))}"] if keys else []
