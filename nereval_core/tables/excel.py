"""Tables as an Excel file: text is never a formula, and the same tables give the same bytes."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import chain, islice
from typing import Any

from nereval_core.tables import Cell, Column, Kind, Table, columns_of

SHEET_ROWS = 1_048_575
"""Rows of an Excel sheet below its header; a longer table continues on another sheet."""
CELL_CHARACTERS = 32_767
"""Characters of a cell; longer texts are cut and end in an ellipsis."""
LONGEST_NAME = 31
_FORBIDDEN = re.compile(r"[\[\]:*?/\\\x00-\x1f]")
_LOOKED_AT = 100
_WIDTHS = (8, 60)

Streamed = tuple[str, Sequence[Column], Iterable[Sequence[Cell]]]
"""Title, columns and rows of a table that may be longer than memory."""
_NUMBER_FORMATS: Mapping[Kind, str] = {
    "ratio": "0.0000",
    "value": "0.0000",
    "share": "0.0%",
    "difference": "+0.0000;−0.0000;0",
}


def as_excel(tables: Sequence[Table]) -> bytes:
    """Return an Excel file with one sheet per table, and the notes of all tables on a last one."""
    notes = [(table.title, note) for table in tables for note in table.footnotes]
    return excel_of(((table.title, table.columns, table.rows) for table in tables), notes)


def excel_of(tables: Iterable[Streamed], notes: Sequence[tuple[str, str]] = ()) -> bytes:
    """Return an Excel file of tables, whose rows are consumed one by one; `notes` are (table, note)."""
    import xlsxwriter

    file = io.BytesIO()
    options = {"strings_to_formulas": False, "strings_to_urls": False, "strings_to_numbers": False}
    with xlsxwriter.Workbook(file, {**options, "constant_memory": True}) as book:
        # With a fixed date the same tables give the same bytes.
        book.set_properties({"created": datetime(2000, 1, 1, tzinfo=UTC)})
        heading = book.add_format({"bold": True, "bottom": 1})
        formats = {kind: book.add_format({"num_format": form}) for kind, form in _NUMBER_FORMATS.items()}
        names: set[str] = set()
        for title, columns, rows in tables:
            _write(book, title, columns, rows, (heading, formats), names)
        if notes:
            _write(book, "notes", columns_of("table", "note"), notes, (heading, formats), names)
    return file.getvalue()


def _write(
    book: Any,
    title: str,
    columns: Sequence[Column],
    rows: Iterable[Sequence[Cell]],
    formats: tuple[Any, Mapping[Kind, Any]],
    names: set[str],
) -> None:
    remaining = iter(rows)
    is_begun = False
    while (first := list(islice(remaining, _LOOKED_AT))) or not is_begun:
        is_begun = True
        sheet = book.add_worksheet(_name(title, names))
        sheet.freeze_panes(1, 0)
        for number, column in enumerate(columns):
            longest = max(len(_text(cell)) for cell in (column.label, *(row[number] for row in first)))
            sheet.set_column(number, number, min(max(longest + 2, _WIDTHS[0]), _WIDTHS[1]))
            sheet.write_string(0, number, _cut(column.label), formats[0])
        for place, row in enumerate(_up_to(first, remaining), start=1):
            for number, (cell, column) in enumerate(zip(row, columns, strict=True)):
                if isinstance(cell, str):
                    sheet.write_string(place, number, _cut(cell))
                elif cell is not None:
                    form = formats[1].get(column.kind) if isinstance(cell, float) else None
                    sheet.write_number(place, number, cell, form)


def _up_to(first: Sequence[Sequence[Cell]], rest: Iterator[Sequence[Cell]]) -> Iterator[Sequence[Cell]]:
    return chain(first, islice(rest, SHEET_ROWS - len(first)))


def _text(cell: Cell) -> str:
    return f"{cell:.4f}" if isinstance(cell, float) else str(cell or "")


def _cut(text: str) -> str:
    # Excel counts UTF-16 units.
    units = text.encode("utf-16-le", "surrogatepass")
    if len(units) <= 2 * CELL_CHARACTERS:
        return text
    return units[: 2 * (CELL_CHARACTERS - 1)].decode("utf-16-le", "ignore") + "…"


def _name(title: str, names: set[str]) -> str:
    """Return a name that differs from all others, ignoring case, without the characters that Excel forbids."""
    plain = _FORBIDDEN.sub(" ", title).strip(" '") or "table"
    for number in range(1, len(names) + 2):
        end = "" if number == 1 else f" {number}"
        name = plain[: LONGEST_NAME - len(end)].rstrip(" '") + end
        # Excel reserves this name.
        if name.casefold() not in names and name.casefold() != "history":
            break
    names.add(name.casefold())
    return name
