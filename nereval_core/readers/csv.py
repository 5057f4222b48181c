"""Tables of spans, a row each: CSV and TSV, with columns called as they usually are.

A row has a document, start, end and type. Texts stand in a column `text`, in a second file with the columns document
and text, in files `DOCUMENT.txt`, or in the gold that a prediction is read against; where they stand elsewhere, a
column `text` is what spans cover. A row without start, end and type is a document without spans.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from operator import itemgetter
from typing import Any

from nereval_core.errors import FormatError, Problem, quoted
from nereval_core.readers import Reading, ReadOptions, Source
from nereval_core.readers.counted import Counted
from nereval_core.readers.offsets import Offsets
from nereval_core.readers.source import SourceFile, left_out

NAME = "csv"
DESCRIPTION = "CSV or TSV, a span a row, texts in a column or beside it"

SUFFIXES = (".csv", ".tsv", ".tab")
DELIMITERS = ("\t", ",", ";", "|")
OFFSETS = Offsets()
COLUMNS: Mapping[str, tuple[str, ...]] = {
    "document": ("document", "document_id", "doc", "doc_id", "docid", "file", "filename", "file_name", "id"),
    "start": ("start", "begin", "start_offset", "start_char", "char_start", "from"),
    "end": ("end", "stop", "end_offset", "end_char", "char_end", "to"),
    "type": ("label", "type", "entity_type", "entity_group", "category", "class", "tag", "ner", "entity"),
    "quote": ("quote", "mention", "surface", "covered_text", "span_text", "entity_text", "span", "entity"),
    "text": ("text", "document_text", "full_text", "sentence"),
    "id": ("span_id", "annotation_id", "entity_id", "id"),
    "links": ("links", "link", "concept", "concept_id", "identifier", "cui", "kb_id"),
    "score": ("score", "confidence", "probability"),
}
"""What columns hold by what they are called, the surest name first; each column is taken once, in this order."""
PLACE = ("start", "end", "type")
NUMBER = re.compile(r" *(-?[0-9]{1,12})(?:\.0+)? *")
LINKS = ";"
"""What stands between the links of a ranking; bars part the concepts of one."""
HEADER = 1 << 16
"""How much of a file is looked at for its first line."""
NO_TEXTS = "give them in a column text or a file beside it, or score it against gold that has them"
QUOTING = 'write cells with quotes or line ends in "…", each " in them twice'


@dataclass(frozen=True)
class Table:
    """A file of rows: `columns` are the places of those we know, `rest` the names of those we do not."""

    file: SourceFile
    text: str
    delimiter: str
    columns: Mapping[str, int]
    rest: tuple[str, ...]
    width: int

    @property
    def has_spans(self) -> bool:
        return self.columns.keys() >= set(PLACE)


@dataclass(slots=True)
class Document:
    """A document's text, where it was met first, and its rows: file, line, and cells from start on."""

    text: str | None
    place: tuple[str, int | None]
    rows: list[tuple[Any, ...]] = field(default_factory=list)


def recognise(source: Source) -> float:
    """Be sure where the first line names a start, an end and a type."""
    files = source.pick(*SUFFIXES)
    return 0.9 if any(_table(file, "\n".join(file.head()[:1])).has_spans for file in files[:2]) else 0.0


def read(source: Source, options: ReadOptions) -> Reading:
    """Read the spans of all rows, documents in the order of their texts or of the rows.

    Raises:
        FormatError: with every problem found.
    """
    files = source.pick(*SUFFIXES)
    made = Counted()
    tables = [_table(file, file.text()) for file in files]
    spans = [table for table in tables if table.has_spans]
    texts = [table for table in tables if not table.has_spans and table.columns.keys() >= {"document", "text"}]
    if not spans:
        raise FormatError(_no_columns(table) for table in tables)
    plain = {file.stem: file for file in source.by_suffix.get(".txt", ()) if file not in files}
    documents: dict[str, Document] = {}
    for table in texts:
        for line, row in _rows(table, made.problems):
            _add_text(table, line, row, documents, made.problems)
    named = all("document" in table.columns for table in spans)
    owned = set()
    for table in spans:
        rows = list(_rows(table, made.problems))
        own = not texts and not plain and _holds_texts(table, rows)
        owned.add(own)
        if not named and not own:
            made.problems.append(Problem(table.file.shown, 1, "no column for the document", _known("document")))
            continue
        _add_rows(table, rows, documents, made.problems, own=own, named=named)
    taken = [*files]
    given = options.texts
    if False in owned and not texts:
        if plain:
            taken += [plain[name] for name in documents if name in plain]
            for name, document in documents.items():
                document.text = plain[name].text(keep_bom=True) if name in plain else None
        elif given is not None:
            for name, text in zip(given.ids, given.texts, strict=True):
                documents.setdefault(name, Document(None, (source.name, None))).text = text
        elif not made.problems:
            raise FormatError.single(spans[0].file.shown, 1, "no texts", NO_TEXTS)
    for name, document in documents.items():
        _add_document(name if named else None, document, made)
    rest = dict.fromkeys(name for table in (*spans, *texts) for name in table.rest)
    notes = left_out(source, taken)
    notes += [f"columns not read: {', '.join(map(quoted, rest))}"] if rest else []
    return made.finish(source, options, NAME, expected=OFFSETS, fixed=False, notes=notes)


def _table(file: SourceFile, text: str) -> Table:
    """Find the delimiter by which the first line names the most columns that we know."""
    best = Table(file, text, ",", {}, (), 0)
    for delimiter in DELIMITERS:
        try:
            header = next(csv.reader(io.StringIO(text[:HEADER], newline=""), delimiter=delimiter), [])
        except csv.Error:
            continue
        names = [name.strip().lower().replace(" ", "_").replace("-", "_") for name in header]
        columns: dict[str, int] = {}
        for what, known in COLUMNS.items():
            free = (names.index(name) for name in known if name in names and names.index(name) not in columns.values())
            at = next(free, None)
            if at is not None:
                columns[what] = at
        rest = tuple(name for at, name in enumerate(header) if at not in columns.values())
        if len(columns) > len(best.columns):
            best = Table(file, text, delimiter, columns, rest, len(header))
    return best


def _rows(table: Table, problems: list[Problem]) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows below the first that are not blank, with the lines on which they begin."""
    # A text may be longer than the module's limit.
    csv.field_size_limit(max(csv.field_size_limit(), len(table.text)))
    reader = csv.reader(io.StringIO(table.text, newline=""), delimiter=table.delimiter, strict=True)
    line = 1
    try:
        for row in reader:
            if line > 1 and len(row) == table.width:
                yield line, row
            elif line > 1 and row:
                found = f"{len(row)} cells under {table.width} columns"
                problems.append(Problem(table.file.shown, line, found, 'write as many, those with delimiters in "…"'))
            line = reader.line_num + 1
    except csv.Error as error:
        problems.append(Problem(table.file.shown, line, f"no row of a table: {error}", QUOTING))


def _add_text(
    table: Table, line: int, row: Sequence[str], documents: dict[str, Document], problems: list[Problem]
) -> None:
    name = row[table.columns["document"]]
    if name in documents:
        found = f"a second text for the document {quoted(name)}"
        problems.append(Problem(table.file.shown, line, found, "give each document one text"))
    documents.setdefault(name, Document(row[table.columns["text"]], (table.file.shown, line)))


def _holds_texts(table: Table, rows: Sequence[tuple[int, Sequence[str]]]) -> bool:
    """Say whether a column `text` holds whole texts, and not what spans cover: all spans end within them."""
    at = table.columns.get("text")
    if at is None or "quote" in table.columns:
        return at is not None
    end = table.columns["end"]
    reach = ((len(row[at].encode()), _number(row[end])) for _, row in rows if row[at])
    return all(last is None or last <= size + 1 for size, last in reach)


def _add_rows(
    table: Table,
    rows: Iterable[tuple[int, list[str]]],
    documents: dict[str, Document],
    problems: list[Problem],
    *,
    own: bool,
    named: bool,
) -> None:
    """Add rows to their documents, whose texts they may hold."""
    # A column that is not there is the empty cell at the end.
    pick = itemgetter(*(table.columns.get(what, -1) for what in COLUMNS))
    shown = table.file.shown
    for line, row in rows:
        row.append("")
        name, start, end, label, quote, text, *more = pick(row)
        if not named:
            name = text
        document = documents.get(name)
        if document is None:
            document = documents[name] = Document("" if own else None, (shown, line))
        if own and text:
            if document.text and document.text != text:
                found = f"another text for the document {quoted(name)} than at line {document.place[1]}"
                problems.append(Problem(shown, line, found, "give each document one text, or the others none"))
            document.text = text
        elif text:
            quote = quote or text
        if start or end or label:
            document.rows.append((shown, line, start, end, label, quote, *more))


def _add_document(name: str | None, document: Document, made: Counted) -> None:
    shown, line = document.place
    if document.text is None:
        found, remedy = f"no text for the document {quoted(name or '')}", "give its text, or take its rows out"
        made.problems.append(Problem(shown, line, found, remedy))
        return
    made.document(name, document.text, line=line, source=shown)
    for source, at, *cells, label, quote, own, links, given in document.rows:
        start, end = map(_number, cells)
        score = _score(given) if given else None
        if start is None or end is None or (given and score is None):
            values = zip(("start", "end", "score"), (*cells, given), (start, end, score), strict=True)
            found = ", ".join(
                f"{what} is {quoted(cell)}"
                for what, cell, value in values
                if value is None and (cell or what != "score")
            )
            made.problems.append(Problem(source, at, found, "write a number"))
            continue
        made.span(
            start,
            end,
            label,
            quote=quote or None,
            line=at,
            source=source,
            id=own or None,
            links=tuple(filter(None, links.split(LINKS))) if links else (),
            score=score,
        )


def _number(cell: str) -> int | None:
    """Return an offset; tables that went through a program of statistics may have 5.0 for 5."""
    found = NUMBER.fullmatch(cell)
    return int(found[1]) if found else None


def _score(cell: str) -> float | None:
    """Return a score, None where this is no number."""
    try:
        value = float(cell)
    except ValueError:
        return None
    return value if isfinite(value) else None


def _no_columns(table: Table) -> Problem:
    lacking = [what for what in PLACE if what not in table.columns]
    return Problem(table.file.shown, 1, f"no column for {', '.join(lacking)}", "; ".join(map(_known, lacking)))


def _known(what: str) -> str:
    return f"call that of {what} one of {', '.join(COLUMNS[what])}"
