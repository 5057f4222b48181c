"""Columns of the user: a CSV file with further values for documents, or for single spans."""

from __future__ import annotations

import csv
import hashlib
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from nereval_core.corpus import Layer
from nereval_core.problems import FormatError, Problem, ProblemList, counted, one_line, quoted
from nereval_core.records.match_records import record_ids
from nereval_core.scoring.count_tables import free_name

DOCUMENT, SPAN = "document", "span"
"""The columns that name the document of a row and, in a file about spans, its span."""
NOT_GIVEN, OTHER = "not given", "other values"
MOST_VALUES = 30
"""Of a column with more values only the most frequent ones are shown."""
MOST_NUMBERS = 10
"""A column of more distinct numbers is divided into RANGES of about equally many rows."""
RANGES = 5
_MOST_VALUE_CHARACTERS = 80

Key = tuple[str, str]
"""Document and span; the span is empty in a file about documents."""


@dataclass(frozen=True, eq=False)
class UserColumns:
    """The content of a CSV file: `rows` by document and span, with a text for each of `names`."""

    names: tuple[str, ...]
    of_spans: bool
    rows: Mapping[Key, tuple[str, ...]]
    lines: Mapping[Key, int]
    source: str = ""

    @cached_property
    def digest(self) -> str:
        """SHA-256 (hex) of names and rows, whatever the order of rows."""
        sha = hashlib.sha256(repr((self.names, self.of_spans)).encode())
        for key in sorted(self.rows):
            sha.update(repr((key, self.rows[key])).encode())
        return sha.hexdigest()


def read_columns(text: str, source: str) -> UserColumns:
    """Read a CSV file with a line of names: `document`, for single spans `span`, and the columns to slice by.

    Raises:
        FormatError: with all problems of the file.
    """
    reader = csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline=""), strict=True)
    problems = ProblemList()
    rows: dict[Key, tuple[str, ...]] = {}
    lines: dict[Key, int] = {}
    head: list[str] = []
    line = 1
    try:
        head = [name.strip() for name in next(reader, [])]
        problems += _head_problems(head, source)
        if problems:
            raise FormatError(problems)
        spans = SPAN in head
        own = [place for place, name in enumerate(head) if name not in (DOCUMENT, SPAN)]
        while True:
            line = reader.line_num + 1
            row = next(reader, None)
            if row is None:
                break
            if not row:
                continue
            if len(row) != len(head):
                finding = f"{counted(len(row), 'cell')} where the first line names {counted(len(head), 'column')}"
                problems.append(Problem(source, line, finding, "give every row a cell for each column"))
                continue
            key = (row[head.index(DOCUMENT)], row[head.index(SPAN)].strip() if spans else "")
            if key in rows:
                finding = f"{_row_name(key)} has a row already, in line {lines[key]}"
                problems.append(Problem(source, line, finding, "give it one row"))
                continue
            rows[key], lines[key] = tuple(row[place].strip() for place in own), line
    except csv.Error as error:
        problems.append(
            Problem(source, line, f"this is not CSV: {error}", 'put a cell with quotes in "...", quotes doubled')
        )
    if problems:
        raise FormatError(problems)
    return UserColumns(tuple(head[place] for place in own), spans, rows, lines, source)


def _head_problems(head: Sequence[str], source: str) -> Iterable[Problem]:
    if DOCUMENT not in head:
        remedy = f"name the columns in the first line, one of them {DOCUMENT} with the documents' ids"
        yield Problem(source, 1, f"no column is called {DOCUMENT}", remedy)
    elif not set(head) - {DOCUMENT, SPAN}:
        yield Problem(source, 1, "there is no column to slice by", f"add one beside {DOCUMENT} and {SPAN}")
    for name in dict.fromkeys(name for name in head if head.count(name) > 1 or not name):
        finding = f"two columns are called {quoted(name)}" if name else "a column has no name"
        yield Problem(source, 1, finding, "give every column its own name")


def _row_name(key: Key) -> str:
    return f"document {quoted(key[0])}" + (f", span {quoted(key[1])}" if key[1] else "")


def check_columns(columns: UserColumns, gold: Layer, systems: Iterable[Layer]) -> None:
    """Check that the documents and spans of all rows exist in the layers as they were read.

    Raises:
        FormatError: with every row whose document or span does not exist.
    """
    index = gold.documents.index
    span_names = set() if not columns.of_spans else _span_names([gold, *systems])
    problems = ProblemList()
    for key, line in columns.lines.items():
        if key[0] not in index:
            finding = f"there is no document {quoted(key[0])}"
        elif columns.of_spans and key not in span_names:
            finding = f"there is no {_row_name(key).partition(', ')[2]} in document {quoted(key[0])}"
        else:
            continue
        remedy = "name it as gold does, or take the row out"
        if columns.of_spans and key[0] in index:
            remedy = "give a gold span's id, or a record's such as g:12-19:Drug (gold) or p:12-19:Drug (predicted)"
        problems.append(Problem(columns.source, line, finding, remedy))
    if problems:
        raise FormatError(problems)


def _span_names(layers: Sequence[Layer]) -> set[Key]:
    gold, *systems = layers
    names = set(_record_keys(gold, "g"))
    for layer in systems:
        names |= set(_record_keys(layer, "p"))
    ids = gold.documents.ids
    return names | {(ids[int(gold.doc[span])], name) for span, name in gold.ids.items()}


def _record_keys(layer: Layer, side: str) -> list[Key]:
    ids = layer.documents.ids
    return [(ids[doc], name) for doc, name in zip(layer.doc.tolist(), record_ids(layer, side), strict=True)]


def group_values(values: Sequence[object]) -> tuple[NDArray[np.int16], tuple[str, ...]]:
    """Group values into slices: many distinct numbers into ranges, other texts each into its own slice.

    Returns indices into the names of the slices, shape (values,), and the names in order. None and empty values are
    NOT_GIVEN.
    """
    texts = [_value_text(value) for value in values]
    defined = [text for text in texts if text is not None]
    numbers = {text: number for text in dict.fromkeys(defined) if (number := _finite_number(text)) is not None}
    counted: dict[str, int] = {}
    for text in defined:
        counted[text] = counted.get(text, 0) + 1
    label: dict[str, str]
    if len(numbers) == len(counted) and len(set(numbers.values())) > MOST_NUMBERS:
        label, names = _ranges(numbers, np.array([numbers[text] for text in defined]))
    else:
        frequent = sorted(sorted(counted), key=lambda text: -counted[text])[:MOST_VALUES]
        other = free_name(OTHER, counted)
        names = sorted(frequent, key=(numbers.__getitem__ if len(numbers) == len(counted) else str))
        names += [other] if len(counted) > len(frequent) else []
        label = {text: text if text in frequent else other for text in counted}
    if len(defined) < len(texts):
        names = [*names, free_name(NOT_GIVEN, names)]
    place = {name: code for code, name in enumerate(names)}
    codes = (len(names) - 1 if text is None else place[label[text]] for text in texts)
    return np.fromiter(codes, np.int16, len(texts)), tuple(names)


def _ranges(numbers: Mapping[str, float], rows: NDArray[np.float64]) -> tuple[dict[str, str], list[str]]:
    """Return the range of each number, and the ranges in order."""
    edges = np.unique(np.quantile(rows, np.arange(1, RANGES) / RANGES, method="inverted_cdf"))
    group = {text: int(np.searchsorted(edges, number)) for text, number in numbers.items()}
    members: dict[int, list[float]] = {}
    for text, number in group.items():
        members.setdefault(number, []).append(numbers[text])
    names = {number: f"{min(values):g} to {max(values):g}" for number, values in members.items()}
    if len(set(names.values())) < len(names):
        # Six digits do not distinguish these ranges.
        names = {number: f"{min(values)!r} to {max(values)!r}" for number, values in members.items()}
    return {text: names[number] for text, number in group.items()}, [names[number] for number in sorted(names)]


def _value_text(value: object) -> str | None:
    if value is None:
        return None
    return one_line(str(value).strip())[:_MOST_VALUE_CHARACTERS] or None


def _finite_number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if np.isfinite(number) else None


def document_values(columns: UserColumns, name: str, gold: Layer) -> list[str | None]:
    """Return the value of a column for each document, None where it has no row."""
    place = columns.names.index(name)
    return [row[place] if (row := columns.rows.get((doc_id, ""))) else None for doc_id in gold.documents.ids]


def values_of_spans(columns: UserColumns, name: str, layer: Layer, side: str) -> list[str | None]:
    """Return the value of a column for each span of a layer as it was read, None where it has no row.

    `side` is "g" for gold, whose spans can be named by their ids too, "p" for a prediction.
    """
    place = columns.names.index(name)
    values: list[str | None] = [
        row[place] if (row := columns.rows.get(key)) else None for key in _record_keys(layer, side)
    ]
    ids = layer.documents.ids
    for span, own in layer.ids.items() if side == "g" else ():
        if values[span] is None and (row := columns.rows.get((ids[int(layer.doc[span])], own))):
            values[span] = row[place]
    return values
