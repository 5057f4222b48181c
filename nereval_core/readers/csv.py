"""Tables of spans, a row each: CSV and TSV, with columns called as they usually are.

A row has a document, start, end and type. Texts stand in a column `text`, in a second file with the columns document
and text, in files `DOCUMENT.txt`, or in the gold that a prediction is read against; where they stand elsewhere, a
column `text` is what spans cover. A row without start, end and type is a document without spans. In tables of Amazon
Comprehend each line of a file is a document, `FILE:LINE` from 0.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import compress, groupby
from typing import cast

from nereval_core.corpus.builder import Builder
from nereval_core.problems import FormatError, Problem, quoted
from nereval_core.readers import Reader, Reading, ReadOptions, Source, select_layer
from nereval_core.readers.input.source import SourceFile, unread_files_note
from nereval_core.readers.shared.layer_parts import rowless_note
from nereval_core.readers.shared.offset_conversion import reading_in_code_points
from nereval_core.readers.shared.offset_units import Offsets
from nereval_core.readers.shared.table_columns import (
    ColumnChoice,
    Table,
    TableRows,
    column_place,
    column_problems,
    first_rows,
    parse_offset,
    parse_offsets,
    parse_score,
    plain_name,
    rows_of,
    table_of,
    usual_names,
)
from nereval_core.readers.shared.table_sides import columns_of_side, layer_column, rows_of_layer, type_columns
from nereval_core.readers.shared.tag_cells import TagColumn, choice_problem

OFFSETS = Offsets()
SAMPLE_ROWS = 200
"""The rows that say which columns hold types."""
LINKS = ";"
"""Separator of the links of a ranking; bars separate the concepts of one."""
OF_LINES = ["file", "line", "begin_offset", "end_offset", "type"]
"""The columns of Amazon Comprehend's tables, whose documents are the lines of files."""
NO_TEXTS = "give them in a column text or a file beside it, or score it against gold that has them"


@dataclass(frozen=True, slots=True)
class SpanColumns:
    """The spans of a table, column by column; where it has no such column, the column is empty."""

    source: str
    lines: Sequence[int]
    starts: Sequence[int]
    ends: Sequence[int]
    labels: Sequence[str]
    quotes: Sequence[str | None]
    ids: Sequence[str | None]
    links: Sequence[tuple[str, ...] | None]
    scores: Sequence[float | None]


@dataclass(slots=True)
class TableDocument:
    """A document's text, where it was met first, and the spans of it: a part, and from which to which of its rows."""

    text: str | None
    place: tuple[str, int]
    runs: list[tuple[SpanColumns, int, int]] = field(default_factory=list)


class SpanTableReader(Reader):
    name = "csv"
    description = "CSV or TSV, a span a row, texts in a column or beside it"
    suffixes = (".csv", ".tsv", ".tab")
    has_columns = True
    is_span_table = True
    has_layers = True

    def recognise(self, source: Source) -> float:
        """Claim a source where the first line names a start, an end and a type."""
        return 0.9 if any(table.has_spans or _sides(table) for table in first_tables(source)) else 0.0

    def fits_columns(self, source: Source, columns: Mapping[str, int | str]) -> bool:
        """Return whether the chosen columns are those of a file of spans."""
        return any(table.has_spans and not table.lacking for table in first_tables(source, columns))

    def tag_column_choices(self, source: Source) -> tuple[TagColumn, ...]:
        """Return the columns of types among which one has to be chosen, by the first rows of tables; else nothing."""
        return next(filter(None, map(_sides, first_tables(source))), ())

    def layers(self, source: Source, options: ReadOptions) -> tuple[str, ...]:
        """Return the annotators or systems whose spans a table holds, where documents have those of several.

        Raises:
            FormatError: not readable.
        """
        tables = [_table(file, file.text(), options.columns) for file in source.pick(*self.suffixes)]
        names = [layer_column(table, rows_of(table, [])) for table in tables if table.has_spans]
        return tuple(filter(None, dict.fromkeys(name for column in names for name in column)))

    def read(self, source: Source, options: ReadOptions) -> Reading:
        """Read the spans of all rows, documents in the order of their texts or of the rows.

        Raises:
            FormatError: with every problem found.
        """
        files = source.pick(*self.suffixes)
        builder = Builder(source.name)
        tables = [_table(file, file.text(), _columns_of_side(file, options)) for file in files]
        if options.column is None and "type" not in (options.columns or {}):
            builder.problems += [
                choice_problem(table.file.shown, 1, sides) for table in tables if (sides := _sides(table))
            ]
            if builder.problems:
                raise FormatError(builder.problems)
        spans = [table for table in tables if table.has_spans]
        texts = [table for table in tables if table.has_texts]
        lacking = [table for table in spans if table.lacking] if spans else tables
        if lacking:
            raise FormatError(problem for table in lacking for problem in column_problems(table))
        plain = _plain_texts(file for file in source.by_suffix.get(".txt", ()) if file not in files)
        documents: dict[str, TableDocument] = {}
        for table in texts:
            _add_texts(table, documents, builder.problems)
        if any(map(_counts_lines, spans)) and not texts:
            documents = _documents_of_lines(plain.values())
        has_texts = bool(documents) or bool(texts)
        named = all("document" in table.columns for table in spans)
        owned = set()
        counts: Counter[str] = Counter()
        for table in spans:
            rows = _selected_rows(source, table, options, counts, builder.problems)
            own = not has_texts and not plain and _holds_texts(rows)
            owned.add(own)
            if not named and not own:
                builder.problems.append(
                    Problem(table.file.shown, 1, "no column for the document", usual_names("document"))
                )
                continue
            _add_rows(table.file.shown, rows, documents, builder.problems, own=own, named=named)
        files_read = [*files, *(plain.values() if has_texts and not texts else ())]
        gold_texts = options.texts
        rowless: list[str] = []
        if False in owned and not has_texts:
            known_names = plain or (gold_texts.index if gold_texts is not None else {})
            documents = {_without_ending(name, known_names): document for name, document in documents.items()}
            has_plain = not plain.keys().isdisjoint(documents)
            if plain and (has_plain or gold_texts is None):
                files_read += plain.values()
                if bare := [name for name in plain if has_plain and name not in documents]:
                    rowless = [f"texts without a row, documents without spans: {len(bare)}"]
                documents |= {name: TableDocument(None, (plain[name].shown, 1)) for name in bare}
                for name, document in documents.items():
                    document.text = plain[name].text(keep_bom=True) if name in plain else None
            elif gold_texts is not None:
                rowless = rowless_note(
                    gold_texts, [number for number, name in enumerate(gold_texts.ids) if name not in documents]
                )
                for name, text in zip(gold_texts.ids, gold_texts.texts, strict=True):
                    documents.setdefault(name, TableDocument(None, (source.name, 1))).text = text
            elif not builder.problems:
                raise FormatError.single(spans[0].file.shown, 1, "no texts", NO_TEXTS)
        for name, document in documents.items():
            _add_document(name if named else None, document, builder)
        rest = dict.fromkeys(name for table in (*spans, *texts) if not _counts_lines(table) for name in table.rest)
        notes = [*rowless, *unread_files_note(source, files_read)]
        notes += [f"columns not read: {', '.join(map(quoted, rest))}"] if rest else []
        notes += [f"{what}: {count}" for what, count in counts.items() if count]
        if any(table.header is None for table in spans):
            notes.append("the first line is read as a row: columns are chosen by number")
        return reading_in_code_points(builder, source, options, self.name, expected=OFFSETS, fixed=False, notes=notes)


READER = SpanTableReader()


def _plain_texts(files: Iterable[SourceFile]) -> dict[str, SourceFile]:
    """Return files of texts by their names, without folders where these tell none from another."""
    by_path = {file.stem: file for file in files}
    by_name = {path.rpartition("/")[2]: file for path, file in by_path.items()}
    return by_name if len(by_name) == len(by_path) else by_path


def _counts_lines(table: Table) -> bool:
    return [plain_name(name) for name in table.header or ()] == OF_LINES


def _documents_of_lines(files: Iterable[SourceFile]) -> dict[str, TableDocument]:
    """Return the lines of files as documents, blank ones left out."""
    return {
        f"{file.name.rpartition('/')[2]}:{number}": TableDocument(line, (file.shown, number + 1))
        for file in files
        for number, line in enumerate(file.lines())
        if line and not line.isspace()
    }


def _without_ending(name: str, documents: Container[str]) -> str:
    """Return the name of a document without the ending of its file, where only that is the name of one."""
    stem = name.removesuffix(".txt")
    return stem if name not in documents and stem in documents else name


def first_tables(source: Source, columns: ColumnChoice | None = None) -> list[Table]:
    """Return the first two files as tables, by their first lines."""
    return [
        _table(file, "\n".join(source.head_of(file).lines), columns)
        for file in source.pick(*SpanTableReader.suffixes)[:2]
    ]


def _table(file: SourceFile, text: str, columns: ColumnChoice | None) -> Table:
    usual, table = table_of(file, text), table_of(file, text, columns)
    # A file of texts beside the one that is meant has columns of its own.
    return usual if usual.has_texts and not (table.has_spans and table.counts) else table


def _sides(table: Table) -> tuple[TagColumn, ...]:
    """Return the columns of types of a table that has several, one a side; else nothing."""
    sides = type_columns(table.header or (), first_rows(table.text, SAMPLE_ROWS, table.delimiter)[1:])
    starts = (columns_of_side(table.header or (), str(side.number)).keys() for side in sides)
    return sides if len(sides) > 1 and (table.has_spans or all({"start", "end"} <= parts for parts in starts)) else ()


def _selected_rows(
    source: Source, table: Table, options: ReadOptions, counts: Counter[str], problems: list[Problem]
) -> TableRows:
    """Return the rows of a table, those with spans of another layer or side for their documents alone.

    Raises:
        FormatError: it has several layers and none is named, or none of that name.
    """
    rows = rows_of(table, problems)
    if _counts_lines(table):
        (line_numbers,) = rows.others.values()
        names = map(":".join, zip(rows.cells["document"], map(str.strip, line_numbers), strict=True))
        rows = replace(rows, cells={**rows.cells, "document": tuple(names)})
    if by_row := layer_column(table, rows):
        layer = select_layer(source, options.layer, tuple(filter(None, dict.fromkeys(by_row))))
        counts["spans without a layer, left out"] += sum(
            bool(kind) and not name for kind, name in zip(rows.cells["type"], by_row, strict=True)
        )
        rows = rows_of_layer(rows, by_row, layer)
    if options.column is not None:
        # A cell without a type says that this side has no span there.
        rows = rows_of_layer(rows, [kind and "typed" for kind in rows.cells["type"]], "typed")
    return rows


def _columns_of_side(file: SourceFile, options: ReadOptions) -> ColumnChoice | None:
    """Return the chosen columns, and those of the side whose types stand in `options.column`."""
    if options.column is None:
        return options.columns
    table = table_of(file, file.text())
    header = table.header or ()
    at = column_place(options.column, header)
    if at is None:
        # A file of texts beside that of spans has no such column.
        return options.columns if table.has_texts else {**(options.columns or {}), "type": options.column}
    return {**columns_of_side(header, header[at].strip()), **(options.columns or {})}


def _add_texts(table: Table, documents: dict[str, TableDocument], problems: list[Problem]) -> None:
    rows = rows_of(table, problems)
    for line, name, text in zip(rows.lines, rows.cells["document"], rows.cells["text"], strict=True):
        if name in documents:
            finding = f"a second text for the document {quoted(name)}"
            problems.append(Problem(table.file.shown, line, finding, "give each document one text"))
        documents.setdefault(name, TableDocument(text, (table.file.shown, line)))


def _holds_texts(rows: TableRows) -> bool:
    """Return whether a column `text` holds whole texts, and not what spans cover: all spans end within them."""
    texts = rows.cells.get("text")
    if texts is None or "quote" in rows.cells:
        return texts is not None
    reach = (
        (len(text.encode()), parse_offset(end)) for text, end in zip(texts, rows.cells["end"], strict=True) if text
    )
    return all(last is None or last <= size + 1 for size, last in reach)


def _add_rows(
    source: str,
    rows: TableRows,
    documents: dict[str, TableDocument],
    problems: list[Problem],
    *,
    own: bool,
    named: bool,
) -> None:
    """Add rows to their documents, whose texts they may hold."""
    cells = rows.cells
    names = cells["document"] if named else cells["text"]
    for name, low, high in _runs(names):
        document = documents.get(name)
        if document is None:
            document = documents[name] = TableDocument("" if own else None, (source, rows.lines[low]))
        if own:
            _take_text(document, name, source, cells["text"][low:high], rows.lines[low:high], problems)
    if "" in cells["type"]:
        # A row without a span is there for its document.
        filled = [any(row) for row in zip(cells["start"], cells["end"], cells["type"], strict=True)]
        cells_of_spans = {what: tuple(compress(column, filled)) for what, column in cells.items()}
        rows = TableRows(tuple(compress(rows.lines, filled)), cells_of_spans)
        names = tuple(compress(names, filled))
    part = _part(source, rows, problems, own=own)
    for name, low, high in _runs(names):
        documents[name].runs.append((part, low, high))


def _runs(names: Sequence[str]) -> list[tuple[str, int, int]]:
    """Return which names stand in which rows, one after the other."""
    runs, low = [], 0
    for name, run in groupby(names):
        high = low + len([*run])
        runs.append((name, low, high))
        low = high
    return runs


def _take_text(
    document: TableDocument, name: str, source: str, texts: Sequence[str], lines: Sequence[int], problems: list[Problem]
) -> None:
    """Store the text of a document, which all of its rows or one may hold."""
    distinct_texts = {*texts} - {""}
    if distinct_texts and not document.text:
        document.text = next(filter(None, texts))
    if distinct_texts <= {document.text}:
        return
    for line, text in zip(lines, texts, strict=True):
        if text and text != document.text:
            finding = f"another text for the document {quoted(name)} than at line {document.place[1]}"
            problems.append(Problem(source, line, finding, "give each document one text, or the others none"))


def _part(source: str, rows: TableRows, problems: list[Problem], *, own: bool) -> SpanColumns:
    """Return the spans of rows; cells that should be numbers and are not go to the problems."""
    cells = rows.cells
    starts, ends = (parse_offsets(cells[side]) for side in ("start", "end"))
    score_cells = cells.get("score", ())
    scores = [parse_score(cell) if cell else None for cell in score_cells]
    number_columns: Mapping[str, tuple[Sequence[str], Sequence[float | None]]] = {
        "start": (cells["start"], starts),
        "end": (cells["end"], ends),
        "score": (score_cells, scores),
    }
    wrong: dict[int, list[str]] = {}
    for what, (column, values) in number_columns.items():
        if None in values:
            for row, (cell, value) in enumerate(zip(column, values, strict=True)):
                if value is None and (cell or what != "score"):
                    wrong.setdefault(row, []).append(f"{what} is {quoted(cell)}")
    problems += [Problem(source, rows.lines[row], ", ".join(wrong[row]), "write a number") for row in sorted(wrong)]
    quotes = cells.get("quote", ())
    if not own and "text" in cells:
        quotes = [quote or text for quote, text in zip(quotes or cells["text"], cells["text"], strict=True)]
    return SpanColumns(
        source,
        rows.lines,
        cast(Sequence[int], starts),
        cast(Sequence[int], ends),
        cells["type"],
        [quote or None for quote in quotes] if "" in quotes else quotes,
        [name or None for name in cells.get("id", ())],
        [tuple(filter(None, link.split(LINKS))) or None if link else None for link in cells.get("links", ())],
        scores,
    )


def _add_document(name: str | None, document: TableDocument, builder: Builder) -> None:
    source, line = document.place
    if document.text is None:
        finding, remedy = f"no text for the document {quoted(name or '')}", "give its text, or take its rows out"
        builder.problems.append(Problem(source, line, finding, remedy))
        return
    builder.document(name, document.text, line=line, source=source)
    for part, low, high in document.runs:
        builder.spans(
            part.starts[low:high],
            part.ends[low:high],
            part.labels[low:high],
            quotes=part.quotes[low:high],
            ids=part.ids[low:high],
            links=part.links[low:high],
            scores=part.scores[low:high],
            lines=part.lines[low:high],
            source=part.source,
        )
