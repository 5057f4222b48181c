"""The tab-separated format of CLEF-HIPE, with the headers of 2020 and of 2022.

One token a row; the tags of a column are read as IOB2, S- as B- and E- as I-. See Ehrmann et al. 2020 and 2022, and the
participation guidelines of HIPE-2020 and HIPE-2022.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import islice
from math import isfinite

from nereval_core.corpus import Layer, Place
from nereval_core.corpus.builder import Builder
from nereval_core.problems import FormatError, counted, quoted
from nereval_core.readers import Reader, Reading, ReadOptions, Source
from nereval_core.readers.hipe.blocks import ColumnIndices, read_packed
from nereval_core.readers.hipe.packed_layer import NO_LINK, TAG, entity_layer, join_entities, tagged_tokens
from nereval_core.readers.hipe.rows import LED, HipeDocument, HipeFile, add_documents, parse_file
from nereval_core.readers.input.source import SourceFile, unread_files_note
from nereval_core.readers.shared.tag_cells import TagColumn, annotation_columns, choice_problem
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
OUTSIDE = ("O", "_", "")


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
        known = [("", ()) if STANDARD.fullmatch(name) else (name, cells) for name, cells in columns]
        others = [columns[at] for at in annotation_columns(known, ())]
        usual = [column for column in columns if column[0] == COLUMN]
        return tuple(TagColumn.of(*column) for column in (*usual, *others)) if others and usual else ()

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
    """Read sound files block by block.

    Raises:
        Unjudged: they are to be read row by row.
    """
    columns: list[str] = []

    def chosen_columns(parsed: HipeFile) -> ColumnIndices | None:
        chosen = _column(parsed.columns, options.column)
        if chosen is None:
            return None
        tags, links, note = _chosen(parsed.columns, chosen)
        columns.append(note)
        return ColumnIndices(tags, links, parsed.misc)

    packed = read_packed(files, options, chosen_columns, block)
    found = tagged_tokens(packed)
    chosen = join_entities(found, options)
    layer = entity_layer(found, chosen, packed.links.names, options.name or source.label)
    counts: Counter[str] = Counter()
    for parsed in packed.files:
        counts += parsed.counts
    if chosen.orphans:
        counts["orphans"] = chosen.orphans
        counts[str(options.repair)] = chosen.orphans
    return _reading(layer, found.places, columns, counts, source, files)


def read_by_rows(source: Source, files: Sequence[SourceFile], options: ReadOptions) -> Reading:
    """Read files row by row.

    Raises:
        FormatError: as `read`.
    """
    builder = Builder(source.name)
    counts: Counter[str] = Counter()
    documents: list[HipeDocument] = []
    chosen_of: list[tuple[int, int]] = []
    columns: list[str] = []
    for file in files:
        parsed = parse_file(file, builder, options.progress)
        counts += parsed.counts
        if not parsed.columns:
            continue
        chosen = _column(parsed.columns, options.column)
        if chosen is None:
            found = f"no column {quoted(str(options.column or COLUMN))} for entities"
            remedy = f"choose one of {', '.join(parsed.columns[1:])}"
            builder.problem(parsed.header_line, found, remedy, source=file.shown)
            continue
        tags, links, note = _chosen(parsed.columns, chosen)
        columns.append(note)
        documents += parsed.documents
        chosen_of += [(tags, links)] * len(parsed.documents)
        counts["short rows"] += _check_rows(parsed, tags, builder)
    every = zip(documents, add_documents(documents, builder), chosen_of, strict=True)
    for document, places, (tags, links) in every:
        _add_spans(document, places, tags, links, options, builder, counts)
    layer = builder.finish(options.name or source.label)
    return _reading(layer, builder.places, columns, counts, source, files)


OWN_COLUMN = re.compile(r"TOKEN|NE-|NEL-|RENDER|SEG|OCR-INFO|MISC|$")
"""The columns of HIPE 2020 and 2022, by how their names begin."""


def _chosen(header: Sequence[str], column: str) -> tuple[int, int, str]:
    """Return the indices of the columns with entities and links (-1 for none), and a note on them."""
    links = header.index(LINKS[column]) if LINKS.get(column) in header else -1
    note = f"entities from column {column}" + (f", links from {LINKS[column]}" if links >= 0 else "")
    if unread := [name for name in header if not OWN_COLUMN.match(name)]:
        note += f"; columns that HIPE does not have, not read: {', '.join(map(quoted, unread))}"
    return header.index(column), links, note


def _reading(
    layer: Layer,
    places: Sequence[Place],
    columns: Sequence[str],
    counts: Counter[str],
    source: Source,
    files: Sequence[SourceFile],
) -> Reading:
    notes = [*dict.fromkeys(columns), *_notes(counts, layer.documents.named), *unread_files_note(source, files)]
    mended = "".join(note.format(counts[key]) for key, note in MENDED.items() if counts[key])
    return Reading(layer.documents, layer, HipeReader.name, tuple(notes), places=places, mended=mended)


def _check_rows(parsed: HipeFile, entities: int, builder: Builder) -> int:
    """Remove rows without token or tag or with too many cells, as problems, and return the number with too few."""
    width = len(parsed.columns)
    short = 0
    for document in parsed.documents:
        wrong = set()
        for line, cells in document.rows:
            if len(cells) == width and cells[0].strip(" "):
                continue
            if len(cells) > width and any(cells[width:]):
                found, remedy = f"{counted(len(cells), 'cell')} under a header of {width}", "write one cell a column"
            elif not cells[0].strip(" "):
                found, remedy = "a row without a token", "write the token in the first cell, or leave the line empty"
            elif len(cells) <= entities:
                found = f"{counted(len(cells), 'cell')}, so no tag in column {parsed.columns[entities]}"
                remedy = f"write {entities + 1} cells or more, parted by tabs"
            else:
                short += len(cells) < width
                continue
            builder.problem(line, found, remedy, source=parsed.shown)
            wrong.add(line)
        if wrong:
            document.rows = [row for row in document.rows if row.line not in wrong]
    return short


def _column(header: Sequence[str], wanted: int | str | None) -> str | None:
    """Return the name of the column asked for by name or number from 1, None if there is none such."""
    if isinstance(wanted, int):
        return header[wanted - 1] if 2 <= wanted <= len(header) else None
    name = wanted or COLUMN
    return name if name in header[1:] else None


def _add_spans(
    document: HipeDocument,
    places: Sequence[tuple[int, int]],
    entities: int,
    links: int,
    options: ReadOptions,
    builder: Builder,
    counts: Counter[str],
) -> None:
    for first, last, label in _entities(document, entities, options, builder, counts):
        line, cells = document.rows[first]
        link = cells[links] if 0 <= links < len(cells) else ""
        found = () if link in NO_LINK else tuple(one for one in link.split("|") if one)
        noise = _noise(document, first, last)
        builder.span(
            places[first][0], places[last][1], label, line=line, source=document.shown, links=found, meta=noise
        )


def _noise(document: HipeDocument, first: int, last: int) -> dict[str, float]:
    """Return the largest LED among tokens, as metadata of their span; nothing where MISC gives none."""
    at = document.misc
    if at < 0:
        return {}
    cells = (row.cells[at] for row in document.rows[first : last + 1] if at < len(row.cells))
    found = [float(match[1]) for cell in cells if (match := LED.search(cell))]
    return {"LED": max(found)} if found and isfinite(max(found)) else {}


def _entities(
    document: HipeDocument, column: int, options: ReadOptions, builder: Builder, counts: Counter[str]
) -> list[tuple[int, int, str]]:
    """Return the entities as first token, last token and type."""
    found: list[tuple[int, int, str]] = []
    label = dropped = ""
    for number, (line, cells) in enumerate(document.rows):
        tag = cells[column] if column < len(cells) else ""
        if tag in OUTSIDE:
            label = dropped = ""
            continue
        match = TAG.fullmatch(tag)
        if match is None:
            remedy = "write O, _ or a tag like B-loc and I-loc"
            builder.problem(line, f"{quoted(tag)} is not a tag", remedy, source=document.shown)
            label = dropped = ""
            continue
        inside = match[1] in "IE"
        if inside and match[2] == label:
            found[-1] = (found[-1][0], number, label)
            continue
        if inside and match[2] == dropped:
            continue
        if inside:
            counts["orphans"] += 1
            if options.repair is None:
                said = f"{quoted(tag)} continues nothing"
                said += f": the entity before it is of type {quoted(label)}" if label else ""
                remedy = f"write B-{match[2]}, or read with --repair conlleval (it begins an entity) or discard"
                builder.problem(line, said, remedy, source=document.shown)
        label, dropped = (match[2], "") if not inside or options.repair != "discard" else ("", match[2])
        if label:
            found.append((number, number, label))
    if options.repair:
        counts[options.repair] = counts["orphans"]
    return found


MENDED = {
    "conlleval": "tags that continued nothing, made to begin an entity (repair conlleval): {}",
    "discard": "runs of tags that continued nothing, left out (repair discard): {}",
}


def _notes(counts: Mapping[str, int], named: bool) -> list[str]:
    said = []
    if not counts.get("document comments"):
        said.append("no document_id comments: each file is one document")
    elif not named:
        said.append("document_id comments without ids: the documents are numbered in order")
    for key, note in (
        *MENDED.items(),
        ("short rows", "rows with fewer cells than the header, the missing ones read as empty: {}"),
        ("segments", "comments on segments, left out: {}"),
        ("tokens like comments", "lines that begin with # and have cells, comments by the rules of the format: {}"),
    ):
        if counts.get(key):
            said.append(note.format(counts[key]))
    return said
