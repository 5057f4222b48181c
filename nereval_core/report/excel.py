"""Tables as an Excel file: text is never a formula, and the same tables give the same bytes."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import chain, islice
from typing import Any

from nereval_core.report.score_tables import Cell, Sheet

SHEET_ROWS = 1_048_575
"""Rows of an Excel sheet below its header; a longer table continues on another sheet."""
CELL_CHARACTERS = 32_767
"""Characters of a cell; longer texts are cut and end in an ellipsis."""
LONGEST_NAME = 31
_FORBIDDEN = re.compile(r"[\[\]:*?/\\\x00-\x1f]")
_LOOKED_AT = 100
_WIDTHS = (8, 60)

Table = tuple[str, Sequence[str], Iterable[Sequence[Cell]]]
"""Title, columns and rows."""


def as_excel(sheets: Iterable[Sheet]) -> bytes:
    """Return an Excel file with one sheet per table, and the notes of all tables on a last one."""
    every = tuple(sheets)
    notes = [(sheet.title, note) for sheet in every for note in sheet.notes]
    return excel_of(((sheet.title, sheet.columns, sheet.rows) for sheet in every), notes)


def excel_of(tables: Iterable[Table], notes: Sequence[tuple[str, str]] = ()) -> bytes:
    """Return an Excel file of tables, whose rows are consumed one by one; `notes` are (table, note)."""
    import xlsxwriter

    file = io.BytesIO()
    options = {"strings_to_formulas": False, "strings_to_urls": False, "strings_to_numbers": False}
    with xlsxwriter.Workbook(file, {**options, "constant_memory": True}) as book:
        # With a fixed date the same tables give the same bytes.
        book.set_properties({"created": datetime(2000, 1, 1, tzinfo=UTC)})
        looks = book.add_format({"bold": True, "bottom": 1}), book.add_format({"num_format": "0.0000"})
        taken: set[str] = set()
        for title, columns, rows in tables:
            _write(book, title, columns, rows, looks, taken)
        if notes:
            _write(book, "notes", ("table", "note"), notes, looks, taken)
    return file.getvalue()


def _write(
    book: Any, title: str, columns: Sequence[str], rows: Iterable[Sequence[Cell]], looks: Any, taken: set[str]
) -> None:
    waiting = iter(rows)
    begun = False
    while (first := list(islice(waiting, _LOOKED_AT))) or not begun:
        begun = True
        page = book.add_worksheet(_name(title, taken))
        page.freeze_panes(1, 0)
        for number, column in enumerate(columns):
            longest = max(len(_text(cell)) for cell in (column, *(row[number] for row in first)))
            page.set_column(number, number, min(max(longest + 2, _WIDTHS[0]), _WIDTHS[1]))
        for number, column in enumerate(columns):
            page.write_string(0, number, _cut(column), looks[0])
        for place, row in enumerate(_up_to(first, waiting), start=1):
            for number, cell in enumerate(row):
                if isinstance(cell, str):
                    page.write_string(place, number, _cut(cell))
                elif cell is not None:
                    page.write_number(place, number, cell, looks[1] if isinstance(cell, float) else None)


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


def _name(title: str, taken: set[str]) -> str:
    """Return a name that differs from all others, ignoring case, without the characters that Excel forbids."""
    plain = _FORBIDDEN.sub(" ", title).strip(" '") or "table"
    for number in range(1, len(taken) + 2):
        end = "" if number == 1 else f" {number}"
        name = plain[: LONGEST_NAME - len(end)].rstrip(" '") + end
        # Excel reserves this name.
        if name.casefold() not in taken and name.casefold() != "history":
            break
    taken.add(name.casefold())
    return name
