"""The tab-separated format of CLEF-HIPE, with the headers of 2020 and of 2022.

One token a row; the tags of a column are read as IOB2, S- as B- and E- as I-. See Ehrmann et al. 2020 and 2022, and the
participation guidelines of HIPE-2020 and HIPE-2022.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np

from nereval_core.corpus import Place
from nereval_core.corpus.builder import Builder
from nereval_core.problems import FormatError, counted, quoted
from nereval_core.readers import Reader, Reading, ReadOptions, Source
from nereval_core.readers.hipe.blocks import ColumnIndices, read_packed
from nereval_core.readers.hipe.rows import (
    HipeDocument,
    HipeFile,
    add_documents,
    column_cells,
    linked_entries,
    noise_of_cell,
    parse_file,
    span_extras,
)
from nereval_core.readers.input.source import SourceFile, unread_files_note
from nereval_core.readers.shared.tag_cells import Notation, TagColumn, annotation_columns, choice_problem
from nereval_core.readers.shared.tag_decoding import Chunks
from nereval_core.readers.shared.tag_reading import SpanBounds, TagCells, reading_of_tags
from nereval_core.readers.shared.token_columns import BLOCK_BYTES, NotJudged

COLUMN = "NE-COARSE-LIT"
LINKS = {
    "NE-COARSE-LIT": "NEL-LIT",
    "NE-FINE-LIT": "NEL-LIT",
    "NE-COARSE-METO": "NEL-METO",
    "NE-FINE-METO": "NEL-METO",
}
"""The column with the links of an entity column."""

STANDARD = re.compile(r"TOKEN|NE-(COARSE|FINE)-(LIT|METO|COMP)|NE-NESTED|NEL-\w+|MISC|RENDER|SEG|OCR-INFO")
"""The columns of both years."""
SAMPLE_ROWS = 1000
"""The rows that say whether other columns hold tags."""
OWN_COLUMN = re.compile(r"TOKEN|NE-|NEL-|RENDER|SEG|OCR-INFO|MISC|$")
"""The columns of HIPE 2020 and 2022, by how their names begin."""
NOTATION = Notation(
    outside=frozenset(("O", "_", "")),
    form=re.compile(r"(?P<letter>[BIES])-(?P<type>.+)", re.DOTALL),
    letters={"S": "B", "E": "I"},
)


class HipeReader(Reader):
    name = "hipe"
    description = "CLEF-HIPE TSV, 2020 and 2022: one column of tags a layer, chosen by name"
    has_columns = True
    is_table = True

    def recognise(self, source: Source) -> float:
        """Claim a source where the first row is a header with TOKEN and a column of entities."""
        for line in source.head(".tsv").lines:
            if line.strip() and not line.startswith("#"):
                names = line.split()
                return 1.0 if names[0] == "TOKEN" and any(name.startswith("NE-") for name in names) else 0.0
        return 0.0

    def tag_column_choices(self, source: Source) -> tuple[TagColumn, ...]:
        """Return the column that is read where none is named and others of tags, which the format has not; else
        nothing."""
        lines = (line for line in source.head(".tsv").lines if line.strip() and not line.startswith("#"))
        header, *rows = [line.split("\t") for line in islice(lines, SAMPLE_ROWS)] or [[]]
        full = [row for row in rows if len(row) == len(header)]
        columns = [(name, [row[at] for row in full]) for at, name in enumerate(header)]
        others = [("", ()) if STANDARD.fullmatch(name) else (name, cells) for name, cells in columns]
        tagged = [columns[at] for at in annotation_columns(others, ())]
        usual = [column for column in columns if column[0] == COLUMN]
        return tuple(TagColumn.of(*column) for column in (*usual, *tagged)) if tagged and usual else ()

    def read(self, source: Source, options: ReadOptions) -> Reading:
        """Read the entity column `options.column` (NE-COARSE-LIT) and the links from the matching NEL column.

        A document starts at its `document_id` comment. Where no comment gives ids the documents are numbered; where
        there are no such comments at all a file is one document. The other metadata comments become the document's
        `meta`. A span's `meta` holds the noise that MISC gives its tokens, `{"LED": 0.12}`, the largest where they
        differ.

        Raises:
            FormatError: with every problem found; for a tag that continues nothing too, unless `options.repair` is
                given.
        """
        files = source.pick(".tsv")
        if options.column is None and (choices := self.tag_column_choices(source)):
            raise FormatError([choice_problem(files[0].shown, None, choices)])
        try:
            return read_by_blocks(source, files, options)
        except NotJudged:
            return read_by_rows(source, files, options)


READER = HipeReader()


def read_by_blocks(
    source: Source, files: Sequence[SourceFile], options: ReadOptions, block: int = BLOCK_BYTES
) -> Reading:
    """Read files of sound rows block by block.

    Raises:
        FormatError: with what is wrong with tags and ids of documents.
        NotJudged: the files are to be read row by row.
    """
    packed = read_packed(files, options, lambda parsed: _columns(parsed, options.column), block)
    return reading_of_tags(
        options.name or source.label,
        HipeReader.name,
        packed.documents(),
        packed,
        options,
        places=packed.document_places,
        notes=_notes(source, files, packed.files, options, Counter(), named=packed.named),
        notation=NOTATION,
        extras=packed.extras,
    )


def read_by_rows(source: Source, files: Sequence[SourceFile], options: ReadOptions) -> Reading:
    """Read files row by row.

    Raises:
        FormatError: as `read`.
    """
    builder = Builder(source.name)
    short_rows: Counter[str] = Counter()
    documents: list[HipeDocument] = []
    columns_of_documents: list[ColumnIndices] = []
    parsed_files: list[HipeFile] = []
    for file in files:
        parsed = parse_file(file, builder, options.progress)
        parsed_files.append(parsed)
        if not parsed.columns:
            continue
        columns = _columns(parsed, options.column)
        if columns is None:
            finding = f"no column {quoted(str(options.column or COLUMN))} for entities"
            remedy = f"choose one of {', '.join(parsed.columns[1:])}"
            builder.problem(parsed.header_line, finding, remedy, source=file.shown)
            continue
        documents += parsed.documents
        columns_of_documents += [columns] * len(parsed.documents)
        short_rows["short rows"] += _check_rows(parsed, columns.entities, builder)
    cells: list[str] = []
    links: list[str] = []
    noise: list[float] = []
    lines: list[int] = []
    bounds: list[tuple[int, int]] = []
    first = [0]
    for document, tokens, columns in zip(
        documents, add_documents(documents, builder), columns_of_documents, strict=True
    ):
        bounds += tokens
        lines += [row.line for row in document.rows]
        cells += column_cells(document.rows, columns.entities)
        links += column_cells(document.rows, columns.links)
        noise += map(noise_of_cell, column_cells(document.rows, columns.misc))
        first.append(len(cells))
    document_of_token = np.repeat(np.arange(len(documents)), np.diff(first))
    starts, ends = np.array(bounds, np.int32).reshape(-1, 2).T

    def place(token: int) -> Place:
        return documents[document_of_token[token]].source, lines[token]

    def extras(chunks: Chunks) -> Mapping[str, Mapping[int, Any]]:
        entries = enumerate(linked_entries(links[token]) for token in chunks.start.tolist())
        linked = {span: entry for span, entry in entries if entry}
        return span_extras(linked, np.array(noise), chunks.start, chunks.end)

    return reading_of_tags(
        options.name or source.label,
        HipeReader.name,
        builder.documents(),
        TagCells(cells, first, place, token_bounds=SpanBounds(document_of_token, starts, ends)),
        options,
        places=builder.places,
        problems=builder.problems,
        notes=_notes(source, files, parsed_files, options, short_rows, named=builder.named),
        notation=NOTATION,
        extras=extras,
    )


def _columns(parsed: HipeFile, column: int | str | None) -> ColumnIndices | None:
    """Return the columns to read: that of entities, by name or number from 1, and those beside; None where it lacks."""
    header = parsed.columns
    name = (header[column - 1] if 2 <= column <= len(header) else "") if isinstance(column, int) else column or COLUMN
    if name not in header[1:]:
        return None
    return ColumnIndices(
        header.index(name), header.index(LINKS[name]) if LINKS.get(name) in header else -1, parsed.misc
    )


def _check_rows(parsed: HipeFile, entities: int, builder: Builder) -> int:
    """Remove rows without token or tag or with too many cells, as problems, and return the number with too few."""
    width = len(parsed.columns)
    n_short = 0
    for document in parsed.documents:
        wrong_lines = set()
        for line, cells in document.rows:
            if len(cells) == width and cells[0].strip(" "):
                continue
            if len(cells) > width and any(cells[width:]):
                finding, remedy = f"{counted(len(cells), 'cell')} under a header of {width}", "write one cell a column"
            elif not cells[0].strip(" "):
                finding, remedy = "a row without a token", "write the token in the first cell, or leave the line empty"
            elif len(cells) <= entities:
                finding = f"{counted(len(cells), 'cell')}, so no tag in column {parsed.columns[entities]}"
                remedy = f"write {entities + 1} cells or more, parted by tabs"
            else:
                n_short += len(cells) < width
                continue
            builder.problem(line, finding, remedy, source=parsed.source)
            wrong_lines.add(line)
        if wrong_lines:
            document.rows = [row for row in document.rows if row.line not in wrong_lines]
    return n_short


def _notes(
    source: Source,
    files: Sequence[SourceFile],
    parsed_files: Sequence[HipeFile],
    options: ReadOptions,
    counts: Counter[str],
    *,
    named: bool,
) -> list[str]:
    """Return the notes on columns, ids of documents, and what was counted; `counts` are those of rows."""
    notes = list(dict.fromkeys(filter(None, (_column_note(parsed, options.column) for parsed in parsed_files))))
    for parsed in parsed_files:
        counts += parsed.counts
    if not counts["document comments"]:
        notes.append("no document_id comments: each file is one document")
    elif not named:
        notes.append("document_id comments without ids: the documents are numbered in order")
    for key, note in (
        ("short rows", "rows with fewer cells than the header, the missing ones read as empty: {}"),
        ("segments", "comments on segments, left out: {}"),
        ("tokens like comments", "lines that begin with # and have cells, comments by the rules of the format: {}"),
    ):
        if counts[key]:
            notes.append(note.format(counts[key]))
    return [*notes, *unread_files_note(source, files)]


def _column_note(parsed: HipeFile, column: int | str | None) -> str:
    """Return a note on the columns that are read of a file, and on those that the format does not have."""
    columns = _columns(parsed, column)
    if columns is None:
        return ""
    header = parsed.columns
    note = f"entities from column {header[columns.entities]}"
    note += f", links from {header[columns.links]}" if columns.links >= 0 else ""
    if unread := [name for name in header if not OWN_COLUMN.match(name)]:
        note += f"; columns that HIPE does not have, not read: {', '.join(map(quoted, unread))}"
    return note
