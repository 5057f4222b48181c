"""Workbooks of Excel and the like (`.xlsx`, ECMA-376): each sheet that holds something is read as a file of CSV.

Problems name the row of the sheet. Numbers stand as stored, dates as ISO 8601; of formulas the stored results are read.
A cell merged over several rows counts in each of them. Nothing is calculated, declared or fetched.
"""

from __future__ import annotations

import io
import posixpath
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property
from typing import TYPE_CHECKING, BinaryIO, ClassVar
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers.expat import XMLParserType

from nereval_core.problems import FormatError, Problem, ProblemList, quoted
from nereval_core.readers.input.compression import files_of_package
from nereval_core.readers.input.file_text import HEAD_BYTES
from nereval_core.readers.input.origins import InZip, Origin, expanded_limit, expands_too_far
from nereval_core.readers.shared.safe_xml import Attributes, Start, parse_xml

if TYPE_CHECKING:
    from nereval_core.corpus import Place

BOOK = "xl/workbook.xml"
FILLED = re.compile(rb"<(?:\w+:)?(?:v|is|f)[ />]")
"""An element of a cell that holds something."""
REFERENCE = re.compile(r"([A-Z]{1,3})([0-9]{1,9})")
LINE_END = re.compile(r"\r\n|\r|\n")
QUOTED = re.compile(r'[,"\r\n]')
ESCAPE = re.compile(r"_x([0-9A-Fa-f]{4})_")
DATE_FORMATS = frozenset((*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)))
"""The numbers of built-in formats of dates and times."""
LITERAL = re.compile(r'"[^"]*"|\\.|\[[^\]]*\]')
"""Parts of a format that are not signs of a date: text, escapes, colours and conditions."""
EPOCH, EPOCH_1904 = datetime(1899, 12, 30), datetime(1904, 1, 1)
MOST_ROWS, MOST_COLUMNS = 1 << 20, 1 << 14
"""The rows and columns of a sheet, as Excel bounds them."""
MERGED_COST = 8
"""What a merged cell costs in each row beside its text: any number may be merged over all rows."""
SAVE_AGAIN = "save the workbook again as .xlsx"


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
        book, problems = self.book, ProblemList()
        limit = expanded_limit(book.origin.size())
        rows: dict[int, dict[int, str]] = {}
        merged: list[str] = []
        last_row = size = 0

        def put(row: int, column: int, value: str, cost: int = 0) -> None:
            nonlocal size
            # Any number of cells may refer to one long text.
            size += len(value) + cost
            if size > limit:
                raise self._too_far(limit)
            rows[row].setdefault(column, value)

        def take(element: Element) -> None:
            nonlocal last_row
            if _local(element) == "mergeCell":
                merged.append(element.get("ref", ""))
                element.clear()
                return
            last_row = _number(element.get("r", ""), last_row + 1)
            if not 0 < last_row <= MOST_ROWS:
                raise FormatError.single(book.source, None, f"a row {last_row} in {quoted(self.name)}", SAVE_AGAIN)
            rows.setdefault(last_row, {})
            column = -1
            for cell in _children(element, "c"):
                column = _column(cell.get("r", ""), column + 1)
                if value := _shown(cell, book, column, last_row, problems):
                    put(last_row, column, value)
            element.clear()

        book.visit(self.path, ("row", "mergeCell"), take)
        filled = sorted(row for row, cells in rows.items() if cells)
        for reference in merged:
            first, _, last = (REFERENCE.fullmatch(end) for end in reference.partition(":"))
            if first and last and (value := rows.get(top := int(first[2]), {}).get(column := _column(first[0], 0))):
                # Its value stands in the first row, and counts in each that holds something.
                for row in filled[bisect_right(filled, top) : bisect_right(filled, int(last[2]))]:
                    put(row, column, value, MERGED_COST)
        if problems:
            raise FormatError(problems)
        width = max((max(row) + 1 for row in rows.values() if row), default=0)
        # Each cell takes a comma, and a blank row a line end.
        if width * len(rows) + max(rows, default=0) > limit:
            raise self._too_far(limit)
        written: list[str] = []
        line, lines = 1, []
        for number in range(1, max(rows, default=0) + 1):
            cells = rows.get(number, {})
            written.append(",".join(_quoted(cells.get(column, "")) for column in range(width)) if cells else "")
            lines.append(line)
            line += 1 + sum(len(LINE_END.findall(cell)) for cell in cells.values())
        return "\n".join([*written, ""]).encode(errors="replace"), lines

    def row_of_line(self, line: int) -> int:
        """Return the row of the sheet, from 1, that a line of its CSV belongs to."""
        return max(1, bisect_right(self.csv[1], line))

    def _too_far(self, limit: int) -> FormatError:
        what = f"the sheet {quoted(self.name)} "
        return FormatError([expands_too_far(self.book.source, what, self.book.origin.size(), f"more than {limit:,}")])


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
    def related(self) -> Mapping[str, tuple[str, str]]:
        """The kind and path of each part that the workbook refers to, by its id."""
        return {
            each.get("Id", ""): (
                each.get("Type", "").rpartition("/")[2],
                posixpath.normpath(posixpath.join("xl", each.get("Target", ""))).lstrip("/"),
            )
            for each in self.elements("xl/_rels/workbook.xml.rels", "Relationship")
        }

    @cached_property
    def strings(self) -> Sequence[str]:
        """The texts that cells refer to by number."""
        texts: list[str] = []

        def take(string: Element) -> None:
            texts.append(_text(string))
            string.clear()

        self.visit(self._path_of("sharedStrings"), ("si",), take)
        return texts

    @cached_property
    def epoch(self) -> datetime:
        """The day from which dates count."""
        is_1904 = any(each.get("date1904") in ("1", "true") for each in self.elements(BOOK, "workbookPr"))
        return EPOCH_1904 if is_1904 else EPOCH

    @cached_property
    def date_styles(self) -> frozenset[int]:
        """The numbers of the styles of cells that show numbers as dates."""
        formats, styles = set(DATE_FORMATS), []
        for each in self.elements(self._path_of("styles"), "numFmt", "cellXfs"):
            if _local(each) == "cellXfs":
                styles = [_number(style.get("numFmtId", "0")) for style in each]
                continue
            signs = set(LITERAL.sub("", each.get("formatCode", "")).lower())
            (formats.add if signs & set("dmyhs") else formats.discard)(_number(each.get("numFmtId", "")))
        return frozenset(style for style, number in enumerate(styles) if number in formats)

    def sheets(self) -> list[Sheet]:
        """Return the sheets that are shown and hold something.

        Raises:
            FormatError: not a workbook, or none of its sheets holds anything.
        """
        if BOOK not in self.parts:
            raise FormatError.single(self.source, None, f"not a workbook: it has no {BOOK}", SAVE_AGAIN)
        sheets: list[Sheet] = []
        for each in self.elements(BOOK, "sheet"):
            id = next((value for key, value in each.items() if key.endswith("relationships id")), "")
            kind, path = self.related.get(id, ("", ""))
            if each.get("state", "visible") == "visible" and kind == "worksheet" and path in self.parts:
                name = each.get("name", "").replace("/", "_") or f"Sheet{len(sheets) + 1}"
                sheets.append(Sheet(self, name, path))
        filled = [sheet for sheet in sheets if FILLED.search(self.parts[sheet.path].load(HEAD_BYTES))]
        if not filled:
            raise FormatError.single(self.source, None, "no sheet that holds anything", "give one with rows of spans")
        return filled

    def elements(self, path: str, *names: str) -> Sequence[Element]:
        """Return the elements of these names in a part.

        Raises:
            FormatError: as `visit`.
        """
        elements: list[Element] = []
        self.visit(path, names, elements.append)
        return elements

    def visit(self, path: str, names: Sequence[str], take: Callable[[Element], None]) -> None:
        """Call a function with each element of these names in a part, if there is one, once it is whole.

        Raises:
            FormatError: the part is not XML, or declares a document type.
        """
        if path not in self.parts:
            return
        tree = TreeBuilder()

        def listen(parser: XMLParserType) -> Start:
            def end(name: str) -> None:
                element = tree.end(name)
                if _local(element) in names:
                    take(element)

            def start(name: str, attributes: Attributes) -> None:
                tree.start(name, dict(attributes))

            parser.EndElementHandler, parser.CharacterDataHandler = end, tree.data
            return start

        problems: list[Problem] = []
        parse_xml(self.parts[path].load(-1), path, problems, listen)
        if problems:
            # Lines of a part are not rows of a sheet, which the function names.
            raise FormatError(
                Problem(self.source, None, f"{path}: {each.found}", SAVE_AGAIN) if each.source == path else each
                for each in problems
            )

    def _path_of(self, kind: str) -> str:
        return next((path for other, path in self.related.values() if other == kind), "")


def row_of_place(place: Place, sheets: Mapping[str, Sheet]) -> Place:
    """Return a place in the CSV of a sheet as one in the sheet; any other as it is."""
    source, line = place
    return (source, sheets[source].row_of_line(line)) if source in sheets and line is not None else place


def _shown(cell: Element, book: Workbook, column: int, row: int, problems: ProblemList) -> str:
    """Return the text of a cell; what the workbook does not hold goes to the problems."""
    kind = cell.get("t", "n")
    stored = next(_children(cell, "v"), None)
    value = (stored.text or "") if stored is not None else ""
    if kind == "inlineStr":
        return "".join(map(_text, _children(cell, "is")))
    # Only a text may be empty: other empty results are not stored yet.
    if (not value if kind != "str" else stored is None) and next(_children(cell, "f"), None) is not None:
        finding = f"the formula in column {_letters(column)} has no stored result"
        problems.append(Problem(book.source, row, finding, "open the workbook in a program of sheets and save it"))
    if kind == "s" and value:
        number = _number(value)
        if 0 <= number < len(book.strings):
            return book.strings[number]
        finding = f"column {_letters(column)} refers to the text {quoted(value)}, which the workbook has not"
        problems.append(Problem(book.source, row, finding, SAVE_AGAIN))
        return ""
    if kind == "b":
        return {"1": "TRUE", "0": "FALSE"}.get(value, value)
    if kind == "n" and value:
        with suppress(ValueError, OverflowError):
            amount = float(value)
            if _number(cell.get("s", "0")) in book.date_styles:
                return _date(amount, book.epoch)
            # 1E3 is how some programs store 1000.
            if "e" in value.lower() and amount.is_integer() and abs(amount) < 1e15:
                return str(int(amount))
    return value


def _text(string: Element) -> str:
    """Return the text of a string in pieces, without how Japanese is pronounced (`<rPh>`)."""
    runs = [string, *_children(string, "r")]
    text = "".join(piece.text or "" for run in runs for piece in _children(run, "t"))
    return ESCAPE.sub(lambda match: chr(int(match[1], 16)), text) if "_x" in text else text


def _date(days: float, epoch: datetime) -> str:
    """Return a date, a time or both; Excel's 1900 has a 29 February, before which days are one off."""
    moment = epoch + timedelta(days=days + (epoch == EPOCH and 0 < days < 60), milliseconds=500)
    moment = moment.replace(microsecond=0)
    if 0 <= days < 1:
        return moment.time().isoformat()
    return (moment.date() if days.is_integer() else moment).isoformat()


def _children(element: Element, name: str) -> Iterator[Element]:
    return (child for child in element if _local(child) == name)


def _local(element: Element) -> str:
    """Return the name of an element without its namespace."""
    return element.tag.rpartition(" ")[2]


def _quoted(cell: str) -> str:
    """Return a cell as CSV has it: Python's writer leaves a carriage return without quotes."""
    return '"' + cell.replace('"', '""') + '"' if QUOTED.search(cell) else cell


def _column(reference: str, next_column: int) -> int:
    """Return the column of a cell from 0; cells without a reference follow one another."""
    match = REFERENCE.fullmatch(reference)
    column = next_column
    if match:
        column = -1
        for letter in match[1]:
            column = (column + 1) * 26 + ord(letter) - ord("A")
    return min(column, MOST_COLUMNS - 1)


def _letters(column: int) -> str:
    """Return the name of a column from 0."""
    return (_letters(column // 26 - 1) if column >= 26 else "") + chr(ord("A") + column % 26)


def _number(digits: str, otherwise: int = -1) -> int:
    return int(digits) if digits.isascii() and digits.isdecimal() and len(digits) < 10 else otherwise
