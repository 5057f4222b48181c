"""Tables of spans in CSV and TSV: their delimiter, the columns that are known, and the cells by column."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from math import isfinite

from nereval_core.problems import FormatError, Problem, counted, quoted
from nereval_core.readers.input.source import SourceFile

ColumnChoice = Mapping[str, int | str]
"""Columns by what they hold, each by number from 1 or by name; "" for no column."""

DELIMITERS = ("\t", ",", ";", "|")
TAGS = "tags"
"""Key of a column of tags in `ReadOptions.columns`; no table of spans has one."""
COLUMNS: Mapping[str, tuple[str, ...]] = {
    "document": (
        "document",
        "document_id",
        "doc",
        "doc_id",
        "docid",
        "file",
        "filename",
        "file_name",
        "tweet_id",
        "tweets_id",
        "id",
    ),
    "start": (
        "start",
        "begin",
        "start_offset",
        "start_char",
        "char_start",
        "from",
        "off0",
        "start_span",
        "begin_offset",
    ),
    "end": ("end", "stop", "end_offset", "end_char", "char_end", "to", "off1", "end_span"),
    "type": ("label", "type", "entity_type", "entity_group", "category", "class", "tag", "ner", "ent_label", "entity"),
    "quote": (
        "quote",
        "mention",
        "surface",
        "covered_text",
        "span_text",
        "entity_text",
        "ent_text",
        "span",
        "extraction",
        "entity",
    ),
    "text": ("text", "document_text", "full_text", "sentence"),
    "id": ("span_id", "annotation_id", "entity_id", "mark", "id"),
    "links": ("links", "link", "concept", "concept_id", "identifier", "cui", "kb_id"),
    "score": ("score", "confidence", "probability"),
}
"""Usual column names by what the column holds, the surest first; each column is used once, in this order."""
PLACE = ("start", "end", "type")
NUMBER = re.compile(r" *(-?[0-9]{1,12})(?:\.0+)? *")
PLAIN_DIGITS = 12
HEADER_CHARACTERS = 1 << 16
"""Characters of a file that are searched for its first rows."""
OPTION = "--span-columns"
QUOTING = 'write cells with quotes or line ends in "…", each " in them twice'
MORE_OR_LESS_CELLS = 'write as many, those with delimiters in "…"'


@dataclass(frozen=True)
class Table:
    """A file of rows: `columns` are the places of those we know, `rest` the names of those we do not.

    `header` is its first line, None where that is a row already; `lacking` are chosen columns that it does not have.
    """

    file: SourceFile
    text: str
    delimiter: str
    width: int
    header: tuple[str, ...] | None
    columns: Mapping[str, int]
    lacking: tuple[str, ...] = ()

    @property
    def rest(self) -> tuple[str, ...]:
        """The names of columns that are not read."""
        columns_read = set(self.columns.values())
        return tuple(name for at, name in enumerate(self.header or ()) if at not in columns_read)

    @property
    def has_spans(self) -> bool:
        return self.columns.keys() >= set(PLACE)

    @property
    def has_texts(self) -> bool:
        """True for a table of documents and texts, without spans."""
        return not self.has_spans and self.columns.keys() >= {"document", "text"}

    @property
    def counts(self) -> bool:
        """True where the first row has numbers for start and end."""
        rows = first_rows(self.text, 2, self.delimiter)[self.header is not None :]
        return any(_numbered(row, self.columns) for row in rows[:1])


@dataclass(frozen=True)
class TableRows:
    """The rows of a table below its header: the lines on which they begin, and the cells of each column we know.

    `others` are the cells of the other columns by name.
    """

    lines: Sequence[int]
    cells: Mapping[str, Sequence[str]]
    others: Mapping[str, Sequence[str]] = field(default_factory=dict)


def parse_column_options(words: str) -> dict[str, int | str]:
    """Read what `--span-columns` says: `document=doc,start=2,end=3,type=kind`, names or numbers from 1.

    Raises:
        FormatError: it says something else.
    """
    columns: dict[str, int | str] = {}
    for part in words.split(","):
        what, equals, name = (word.strip() for word in part.partition("="))
        if not equals or what not in COLUMNS or what in columns or name == "0":
            finding = f"{quoted(part.strip())} is not a column" if what not in columns else f"two columns for {what}"
            remedy = (
                f"write document=NAME,start=NAME,… with names or numbers from 1; what is known is {', '.join(COLUMNS)}"
            )
            raise FormatError.single(OPTION, None, finding, remedy)
        columns[what] = int(name) if name.isdecimal() else name
    return columns


def table_of(file: SourceFile, text: str, choice: ColumnChoice | None = None) -> Table:
    """Find the delimiter by which the first line has the most columns that we know.

    The first line is a row where start and end are chosen by their numbers, and it has numbers there.
    """
    best, best_merit = Table(file, text, ",", 0, (), {}, tuple(choice or ())), (0, False, 0)
    for delimiter in DELIMITERS:
        rows = first_rows(text, 2, delimiter)
        if not rows:
            continue
        table = _table(file, text, delimiter, rows[0], choice or {})
        # Where names say nothing, numbers do.
        merit = (len(table.columns), any(_numbered(row, table.columns) for row in rows), table.width)
        if merit > best_merit:
            best, best_merit = table, merit
    return best


def first_rows(text: str, count: int, delimiter: str) -> list[list[str]]:
    """Return the first rows of a text, blank lines left out; fewer where it has not as many or they are not rows."""
    reader = csv.reader(io.StringIO(text[:HEADER_CHARACTERS], newline=""), delimiter=delimiter)
    rows: list[list[str]] = []
    try:
        rows += islice(filter(None, reader), count)
    except csv.Error:
        return []
    return rows


def checked_rows(
    source: str, text: str, delimiter: str, width: int, problems: list[Problem]
) -> Iterator[tuple[int, list[str]]]:
    """Yield line and cells of each row that is not blank; rows without `width` cells go to the problems."""
    # A cell may be longer than the module's limit.
    csv.field_size_limit(max(csv.field_size_limit(), len(text)))
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    line = 1
    try:
        for row in reader:
            number, line = line, reader.line_num + 1
            if len(row) == width:
                if any(map(str.strip, row)):
                    yield number, row
            elif any(map(str.strip, row)):
                finding = f"{counted(len(row), 'cell')} under {counted(width, 'column')}"
                problems.append(Problem(source, number, finding, MORE_OR_LESS_CELLS))
    except csv.Error as error:
        problems.append(Problem(source, line, f"not a row of a table: {error}", QUOTING))


def rows_of(table: Table, problems: list[Problem]) -> TableRows:
    """Return the rows of a table, all of its columns that we know."""
    # A text may be longer than the module's limit.
    csv.field_size_limit(max(csv.field_size_limit(), len(table.text)))
    # Amazon's documents have a blank behind each comma.
    names = (table.header or ())[1:]
    is_spaced = bool(names) and all(name.startswith(" ") for name in names)
    text = io.StringIO(table.text, newline="")
    reader = csv.reader(text, delimiter=table.delimiter, strict=True, skipinitialspace=is_spaced)
    rows: list[list[str]] = []
    lines = [1]
    try:
        for row in reader:
            rows.append(row)
            lines.append(reader.line_num + 1)
    except csv.Error as error:
        problems.append(Problem(table.file.shown, lines[-1], f"not a row of a table: {error}", QUOTING))
    first = next((at for at, row in enumerate(rows) if row), 0) + 1 if table.header is not None else 0
    del rows[:first], lines[:first]
    if set(map(len, rows)) - {table.width}:
        for line, row in zip(lines, rows, strict=False):
            if row and len(row) != table.width:
                finding = f"{counted(len(row), 'cell')} under {counted(table.width, 'column')}"
                problems.append(Problem(table.file.shown, line, finding, MORE_OR_LESS_CELLS))
        fine = [(line, row) for line, row in zip(lines, rows, strict=False) if len(row) == table.width]
        lines, rows = [line for line, _ in fine], [row for _, row in fine]
    by_column = list(zip(*rows, strict=True)) or [()] * table.width
    cells = {what: by_column[at] for what, at in table.columns.items()}
    others = {name: by_column[at] for at, name in enumerate(table.header or ()) if at not in table.columns.values()}
    return TableRows(lines[: len(rows)], cells, others)


def column_problems(table: Table) -> list[Problem]:
    """Return the problems of a table without the columns of spans: chosen ones that it lacks, and unknown ones."""
    header = ", ".join(quoted(name) for name in table.header or ()) or f"numbers to {table.width}"
    if table.lacking:
        remedy = f"choose among {header}, or by number from 1"
        finding = f"no such column for {', '.join(table.lacking)}"
        return [Problem(table.file.shown, 1, finding, remedy)]
    lacking = [what for what in PLACE if what not in table.columns]
    remedy = f"{'; '.join(map(usual_names, lacking))}; or choose among {header}: {OPTION} {lacking[0]}=NAME"
    return [Problem(table.file.shown, 1, f"no column for {', '.join(lacking)}", remedy)]


def usual_names(what: str) -> str:
    return f"call that of {what} one of {', '.join(COLUMNS[what])}"


def parse_offset(cell: str) -> int | None:
    """Return an offset; tables that went through a program of statistics may have 5.0 for 5."""
    match = NUMBER.fullmatch(cell)
    return int(match[1]) if match else None


def parse_offsets(cells: Sequence[str]) -> list[int | None]:
    """Return the offsets of a column, None for each cell that is not an offset."""
    # Most columns hold digits alone, and few of them.
    if max(map(len, cells), default=0) <= PLAIN_DIGITS and all(map(str.isdecimal, cells)) and "".join(cells).isascii():
        return [*map(int, cells)]
    return [parse_offset(cell) for cell in cells]


def parse_score(cell: str | None) -> float | None:
    """Return a score, None where this is not a number."""
    try:
        value = float(cell or "")
    except ValueError:
        return None
    return value if isfinite(value) else None


def _table(file: SourceFile, text: str, delimiter: str, first: Sequence[str], choice: ColumnChoice) -> Table:
    header = tuple(first)
    columns = _chosen_columns(header, choice)
    lacking = tuple(what for what, column in choice.items() if column != "" and what not in columns)
    numbered = all(isinstance(choice.get(what), int) for what in ("start", "end"))
    if numbered and _numbered(header, columns):
        return Table(file, text, delimiter, len(header), None, columns, lacking)
    return Table(file, text, delimiter, len(header), header, find_columns(header, choice), lacking)


def find_columns(header: Sequence[str], choice: ColumnChoice) -> dict[str, int]:
    """Return the places of columns by what they hold: the chosen ones, and others that are called as usual."""
    columns = _chosen_columns(header, choice)
    names = [plain_name(name) for name in header]
    for what, called in COLUMNS.items():
        free = (names.index(name) for name in called if name in names and names.index(name) not in columns.values())
        at = next(free, None) if what not in choice else None
        if at is not None:
            columns[what] = at
    return columns


def usual_place(header: Sequence[str], what: str) -> int | None:
    """Return the place of the column that is called as one of this kind usually is."""
    return find_columns(header, {}).get(what)


def _chosen_columns(header: Sequence[str], choice: ColumnChoice) -> dict[str, int]:
    places = {what: column_place(column, header) for what, column in choice.items()}
    return {what: at for what, at in places.items() if at is not None}


def column_place(column: int | str, header: Sequence[str]) -> int | None:
    """Return where a column stands: by number from 1, by its very name, or by its name in other letters."""
    if isinstance(column, int):
        return column - 1 if 1 <= column <= len(header) else None
    for name, names in ((column, [cell.strip() for cell in header]), (plain_name(column), [*map(plain_name, header)])):
        if name and name in names:
            return names.index(name)
    return None


def plain_name(name: str) -> str:
    """Return the name of a column in small letters, `_` for blanks and dashes."""
    return name.strip().lower().replace(" ", "_").replace("-", "_")


def _numbered(row: Sequence[str], columns: Mapping[str, int]) -> bool:
    """Return whether a row has numbers, or nothing, for start and end."""
    cells = [row[columns[what]] for what in ("start", "end") if what in columns and columns[what] < len(row)]
    return len(cells) == 2 and all(not cell or parse_offset(cell) is not None for cell in cells)
