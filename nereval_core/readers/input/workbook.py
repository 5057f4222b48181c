"""Workbooks of Excel and the like (`.xlsx`, ECMA-376): each sheet that holds something is read as a file of CSV.

Problems name the row of the sheet. Numbers stand as stored, dates as ISO 8601; of formulas the stored results are read.
A cell merged over several rows counts in each of them. Nothing is calculated, declared or fetched.
"""

from __future__ import annotations

import io
import posixpath
import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property
from typing import BinaryIO, ClassVar
from xml.etree.ElementTree import Element

from nereval_core.problems import FormatError, Problem, ProblemList, quoted
from nereval_core.readers.input.compression import files_of_package
from nereval_core.readers.input.file_text import HEAD_BYTES
from nereval_core.readers.input.origins import InZip, Origin, expanded_limit, expands_too_far
from nereval_core.readers.shared.safe_xml import Item, parse_elements

BOOK = "xl/workbook.xml"
FILLED = re.compile(rb"<(?:\w+:)?(?:v|is|f)[ />]")
"""An element of a cell that holds something."""
REFERENCE = re.compile(r"([A-Z]{1,3})([0-9]{1,9})")
ESCAPE, LINE_END, QUOTED = map(re.compile, (r"_x([0-9A-Fa-f]{4})_", r"\r\n|\r|\n", r'[,"\r\n]'))
DATE_FORMATS = frozenset((*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)))
"""The numbers of built-in formats of dates and times."""
LITERAL = re.compile(r'"[^"]*"|\\.|\[[^\]]*\]')
"""Parts of a format that are not signs of a date: text, escapes, colours and conditions."""
EPOCH, EPOCH_1904 = datetime(1899, 12, 30), datetime(1904, 1, 1)
ROW_COST = 32
"""Bytes that a row counts, and a merged cell in each row: rows may be blank, any number of cells merged over all."""
BOOLEANS = {"1": "TRUE", "0": "FALSE"}
SAVE_AGAIN = "save the workbook again as .xlsx"
Rows = dict[int, dict[int, str]]
"""Cells that hold something, by row from 1 and column from 0."""


@dataclass(eq=False)
class Sheet:
    """A sheet as an origin of CSV; `path` is its part of the workbook."""

    book: Workbook = field(repr=False)
    name: str
    path: str
    most: ClassVar[int] = 0

    def size(self) -> int:
        return self.book.parts[self.path].size()

    def load(self, size: int) -> bytes:
        return self.csv[0] if size < 0 else self.csv[0][:size]

    def open(self) -> BinaryIO:
        return io.BytesIO(self.load(-1))

    def refused(self, error: Exception) -> FormatError:
        return FormatError.single(self.book.source, None, f"cannot be read: {error}", SAVE_AGAIN)

    @cached_property
    def csv(self) -> tuple[bytes, list[int]]:
        """The sheet as CSV, rows as wide as the widest, and the line on which each of its rows begins.

        Raises:
            FormatError: damaged, formulas without a result, or more text than its size may expand to.
        """
        rows = self._rows()
        width = max((max(cells) + 1 for cells in rows.values() if cells), default=0)
        # Any number of cells may refer to one long text, and each takes a comma.
        n_letters = sum(sum(map(len, cells.values())) for cells in rows.values())
        self._bound(n_letters + width * len(rows) + ROW_COST * max(rows, default=0))
        written, lines, line = list[str](), list[int](), 1
        for number in range(1, max(rows, default=0) + 1):
            cells = rows.get(number, {})
            written.append(",".join(_quoted(cells.get(column, "")) for column in range(width)) if cells else "")
            lines.append(line)
            line += 1 + sum(len(LINE_END.findall(cell)) for cell in cells.values())
        return "\n".join([*written, ""]).encode(errors="replace"), lines

    def _rows(self) -> dict[int, dict[int, str]]:
        """Return the cells that hold something, by row from 1 and column from 0."""
        problems, rows, row, n_merged = ProblemList(), dict[int, dict[int, str]](), 0, 0

        def read(element: Element) -> str:
            nonlocal row
            if element.tag == "row":
                row = max(_number(element.get("r", "")), row + 1)
                cells, column = rows.setdefault(row, {}), -1
                for cell in element.iterfind("c"):
                    column = _column(cell.get("r", ""), column + 1)
                    if value := self.book.text_of(cell, row, problems):
                        cells.setdefault(column, value)
            return element.get("ref", "")

        merged = self.book.read(self.path, ("row", "mergeCell"), read)
        if problems:
            raise FormatError(problems)
        filled = [row for row, cells in rows.items() if cells]
        for first, _, last in (map(REFERENCE.fullmatch, reference.partition(":")) for reference in merged):
            if first and last and (value := rows.get(top := int(first[2]), {}).get(column := _column(first[0], 0))):
                # Its value stands in the first row, and counts in each that holds something.
                below = filled[bisect_right(filled, top) : bisect_right(filled, int(last[2]))]
                self._bound((n_merged := n_merged + len(below)) * ROW_COST)
                for row in below:
                    rows[row].setdefault(column, value)
        return rows

    def _bound(self, size: int) -> None:
        """Refuse more than the size of the workbook may expand to."""
        packed = self.book.origin.size()
        if size > (limit := expanded_limit(packed)):
            sheet = f"the sheet {quoted(self.name)} "
            raise FormatError([expands_too_far(self.book.source, sheet, packed, f"more than {limit:,}")])


@dataclass(eq=False)
class Workbook:
    """A workbook, called `source` in problems."""

    origin: Origin
    source: str

    @cached_property
    def parts(self) -> Mapping[str, InZip]:
        """The parts by their paths."""
        return files_of_package(self.source, self.origin)

    @cached_property
    def related(self) -> Mapping[str, Mapping[str, str]]:
        """The paths of the parts that the workbook refers to, by kind and id."""
        related: dict[str, dict[str, str]] = defaultdict(dict)
        for each in self.read("xl/_rels/workbook.xml.rels", ("Relationship",), lambda each: each.attrib):
            path = posixpath.normpath(posixpath.join("xl", each.get("Target", ""))).lstrip("/")
            related[each.get("Type", "").rpartition("/")[2]][each.get("Id", "")] = path
        return related

    @cached_property
    def strings(self) -> Sequence[str]:
        """The texts that cells refer to by number."""
        return [text for path in self.related["sharedStrings"].values() for text in self.read(path, ("si",), _text)]

    @cached_property
    def epochs(self) -> Mapping[int, datetime]:
        """The days from which dates count, by the styles of cells that show numbers as dates."""
        path = next(iter(self.related["styles"].values()), "")
        formats = set(DATE_FORMATS)
        for each in self.read(path, ("numFmt",), lambda each: each.attrib):
            signs = set(LITERAL.sub("", each.get("formatCode", "")).lower())
            (formats.add if signs & set("dmyhs") else formats.discard)(_number(each.get("numFmtId", "")))
        styles = self.read(path, ("cellXfs",), lambda cells: [_number(style.get("numFmtId", "0")) for style in cells])
        counting = self.read(BOOK, ("workbookPr",), lambda each: each.get("date1904", "0"))
        epoch = EPOCH if {"1", "true"}.isdisjoint(counting) else EPOCH_1904
        return {style: epoch for each in styles for style, number in enumerate(each) if number in formats}

    def sheets(self) -> list[Sheet]:
        """Return the sheets that are shown and hold something.

        Raises:
            FormatError: not a workbook, or none of its sheets holds anything.
        """
        if BOOK not in self.parts:
            raise FormatError.single(self.source, None, f"not a workbook: it has no {BOOK}", SAVE_AGAIN)
        sheets: list[Sheet] = []
        for each in self.read(BOOK, ("sheet",), lambda each: each.attrib):
            part = self.parts.get(path := self.related["worksheet"].get(each.get("id", ""), ""))
            if part and each.get("state", "visible") == "visible" and FILLED.search(part.load(HEAD_BYTES)):
                name = each.get("name", "").replace("/", "_") or f"Sheet{len(sheets) + 1}"
                sheets.append(Sheet(self, name, path))
        if not sheets:
            raise FormatError.single(self.source, None, "no sheet that holds anything", "give one with rows of spans")
        return sheets

    def text_of(self, cell: Element, row: int, problems: ProblemList) -> str:
        """Return the text of a cell; what the workbook does not hold goes to the problems."""
        kind, stored, place = cell.get("t", "n"), cell.find("v"), cell.get("r", "a cell")
        value = (stored.text or "") if stored is not None else ""
        if kind == "inlineStr":
            return "".join(map(_text, cell.iterfind("is")))
        # Only a text may be empty: other empty results are not stored yet.
        if (not value if kind != "str" else stored is None) and cell.find("f") is not None:
            finding = f"the formula in {place} has no stored result"
            problems.append(Problem(self.source, row, finding, "open the workbook in a program of sheets and save it"))
        if kind == "s" and value:
            if 0 <= (number := _number(value)) < len(self.strings):
                return self.strings[number]
            finding = f"{place} refers to the text {quoted(value)}, which the workbook has not"
            problems.append(Problem(self.source, row, finding, SAVE_AGAIN))
        if kind == "n" and value:
            with suppress(ValueError, OverflowError):
                amount = float(value)
                if epoch := self.epochs.get(_number(cell.get("s", "0"))):
                    return _date(amount, epoch)
                # 1E3 is how some programs store 1000.
                if "e" in value.lower() and amount.is_integer() and abs(amount) < 1e15:
                    return str(int(amount))
        return BOOLEANS.get(value, value) if kind == "b" else value

    def read(self, path: str, names: Sequence[str], read: Callable[[Element], Item]) -> list[Item]:
        """Return what a function reads of each element of these names in a part, nothing if there is no such part.

        Raises:
            FormatError: the part is not XML, or declares a document type.
        """
        part = self.parts.get(path)
        return parse_elements(part.load(-1), f"{self.source}/{path}", names, read) if part else []


def row_of_place(place: tuple[str, int | None], sheets: Mapping[str, Sheet]) -> tuple[str, int | None]:
    """Return a place in the CSV of a sheet as one in the sheet, whose rows count from 1; any other as it is."""
    source, line = place
    return (source, max(1, bisect_right(sheets[source].csv[1], line))) if source in sheets and line else place


def _text(string: Element) -> str:
    """Return the text of a string in pieces, without how Japanese is pronounced (`<rPh>`)."""
    text = "".join(piece.text or "" for run in (string, *string.iterfind("r")) for piece in run.iterfind("t"))
    return ESCAPE.sub(lambda match: chr(int(match[1], 16)), text)


def _date(days: float, epoch: datetime) -> str:
    """Return a date, a time or both; Excel's 1900 has a 29 February, before which days are one off."""
    moment = epoch + timedelta(days=days + (epoch == EPOCH and 0 < days < 60), milliseconds=500)
    moment = moment.replace(microsecond=0)
    if 0 <= days < 1:
        return moment.time().isoformat()
    return (moment.date() if days.is_integer() else moment).isoformat()


def _quoted(cell: str) -> str:
    """Return a cell as CSV has it: Python's writer leaves a carriage return without quotes."""
    return '"' + cell.replace('"', '""') + '"' if QUOTED.search(cell) else cell


def _column(reference: str, next_column: int) -> int:
    """Return the column of a cell from 0; cells without a reference follow one another."""
    column = -1
    for letter in match[1] if (match := REFERENCE.fullmatch(reference)) else "":
        column = (column + 1) * 26 + ord(letter) - ord("A")
    return column if match else next_column


def _number(digits: str) -> int:
    return int(digits) if digits.isascii() and digits.isdecimal() and len(digits) < 10 else -1
