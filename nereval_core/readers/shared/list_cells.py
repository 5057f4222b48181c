"""Tables with a list of annotations in a cell, as JSON or as Python writes it: their rows as JSON records.

A text is a row. Label Studio exports such CSV, and data frames of texts and entities are saved so.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from nereval_core.problems import Problem, counted
from nereval_core.readers.input.file_text import Head
from nereval_core.readers.input.source import SourceFile
from nereval_core.readers.shared.python_literals import json_value, python_literal
from nereval_core.readers.shared.strict_json import Item, RefusedError, loads
from nereval_core.readers.shared.table_columns import COLUMNS, checked_rows, first_rows, plain_name

DELIMITERS = (",", "\t", ";", "|")
SAMPLED_ROWS = 50
"""The rows among which one has a list, if any has."""
TEXT = "text"
OTHER_TEXTS = ("content", "data", "source_text", "unmasked_text", "generated_text")
"""Columns of texts beside lists: the last are those of data sets of ai4privacy and Gretel."""
EMPTY = frozenset(("", "nan", "NaN", "None", "null"))
KEYS = {"start_offset": "start", "end_offset": "end", "start_char": "start", "end_char": "end"}
"""Keys of offsets as they are called elsewhere."""
INNER = ("entities", "spans", "label", "labels", "ents")
"""Keys of an object in a cell under which its list stands, as in spaCy's training tuples."""


def first_record(head: Head) -> Mapping[str, Any] | None:
    """Return the first row of a table with a list in a cell as a record; None for a file that is no such table."""
    if head.first_line.lstrip().startswith(("{", "[")):
        return None
    text = "\n".join(head.lines)
    delimiter = _delimiter(text)
    if delimiter is None:
        return None
    header, *rows = first_rows(text, SAMPLED_ROWS + 1, delimiter)
    records = (_record(header, row) for row in rows if len(row) == len(header))
    return next(
        (record for record in records if any(isinstance(cell, list) and cell for cell in record.values())), None
    )


def delimiter_of_columns(head: Head, names: Collection[str]) -> str | None:
    """Return what separates the cells of a table one of whose columns is called so, None for any other file."""
    if head.first_line.lstrip().startswith(("{", "[")):
        return None
    headers = ((delimiter, first_rows(head.first_line, 1, delimiter)) for delimiter in DELIMITERS)
    return next(
        (
            delimiter
            for delimiter, rows in headers
            if rows and len(rows[0]) > 1 and not set(names).isdisjoint(map(plain_name, rows[0]))
        ),
        None,
    )


def records_of_table(file: SourceFile, problems: list[Problem], delimiter: str | None = None) -> Iterator[Item]:
    """Yield the rows of a table as records, each with its line; what is wrong with one goes to the problems.

    Without a `delimiter` a table with a list in a cell is expected, and its cut lists are problems.
    """
    text = file.text()
    is_named = delimiter is not None
    delimiter = delimiter or _delimiter(text)
    if delimiter is None:
        return
    rows = checked_rows(file.shown, text, delimiter, len(first_rows(text, 1, delimiter)[0]), problems)
    _, header = next(rows)
    records = [(line, _record(header, row)) for line, row in rows]
    lists = {name for _, record in records for name, cell in record.items() if isinstance(cell, list)}
    for line, record in records:
        # An empty cell among lists is an empty list, as data frames and tools write it.
        record |= {name: [] for name in lists if isinstance(record[name], str) and record[name].strip() in EMPTY}
        # A cell that begins as a list and is none was cut off, or is not what it looks like.
        begun = [name for name, cell in record.items() if isinstance(cell, str) and cell.startswith(("[{", "[(", "[["))]
        cut = [] if is_named else begun
        for name in cut:
            finding = f"{name} begins a list and is none, {counted(len(record[name]), 'character')}"
            problems.append(Problem(file.shown, line, finding, "write it as JSON, or as Python's list"))
        if not cut:
            yield Item(line, record)


def _delimiter(text: str) -> str | None:
    """Return what separates the cells of a table that has a list of objects or lists in one of its first rows."""
    for delimiter in DELIMITERS:
        header, *rows = first_rows(text, SAMPLED_ROWS + 1, delimiter) or [[]]
        if len(header) > 1 and any(
            isinstance(list_in_cell(cell), list) and list_in_cell(cell)
            for row in rows
            if len(row) == len(header)
            for cell in row
        ):
            return delimiter
    return None


def _record(header: list[str], row: list[str]) -> dict[str, Any]:
    """Return a row as a record, its text under `text` where its column is called as those of texts usually are."""
    record = {name.strip(): list_in_cell(cell) for name, cell in zip(header, row, strict=True)}
    if TEXT not in record:
        usual = next((name for name in record if plain_name(name) in (*COLUMNS["text"], *OTHER_TEXTS)), None)
        record = {TEXT if name == usual else name: cell for name, cell in record.items()}
    if "id" not in record:
        usual = next((name for name in record if plain_name(name) in COLUMNS["document"]), None)
        record = {"id" if name == usual else name: cell for name, cell in record.items()}
    return record


def list_in_cell(cell: str) -> Any:
    """Return the list that a cell holds, if it is one of objects or lists, or empty; any other cell as it is."""
    plain = cell.strip()
    if not plain.startswith(("[", "{")):
        return cell
    try:
        value = loads(plain)
    except RefusedError:
        literal = python_literal(plain)
        value = None if literal is None else json_value(literal[0])
    if isinstance(value, dict):
        value = next((value[key] for key in INNER if key in value), None)
    is_list = isinstance(value, list) and all(isinstance(entry, (dict, list)) for entry in value)
    if not is_list:
        return cell
    return [
        {KEYS.get(key, key): content for key, content in entry.items()} if isinstance(entry, dict) else entry
        for entry in value
    ]
