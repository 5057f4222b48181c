"""The tab-separated format of CLEF-HIPE, with the headers of 2020 and of 2022.

One token a row; the tags of a column are read as IOB2, S- as B- and E- as I-. The text is put together again from the
tokens and the flags in MISC: a line end after EndOfLine, nothing after NoSpaceAfter, else one blank. See Ehrmann et
al. 2020 and 2022, and the participation guidelines of HIPE-2020 and HIPE-2022.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from nereval_core.corpus import Builder
from nereval_core.errors import FormatError, quoted
from nereval_core.readers import Reading, ReadOptions, Source
from nereval_core.readers.source import SourceFile, left_out, watched

NAME = "hipe"
COLUMNS = True
DESCRIPTION = "CLEF-HIPE TSV, 2020 and 2022: one column of tags a layer, chosen by name"

COLUMN = "NE-COARSE-LIT"
LINKS = {
    "NE-COARSE-LIT": "NEL-LIT",
    "NE-FINE-LIT": "NEL-LIT",
    "NE-COARSE-METO": "NEL-METO",
    "NE-FINE-METO": "NEL-METO",
}
"""The column with the links of an entity column."""

OUTSIDE = ("O", "_", "")
NO_LINK = ("", "_", "-")
DOCUMENT_KEYS = ("document_id", "hipe2022:document_id")
SEGMENT_KEYS = ("segment_iiif_link", "segment_id")
COMMENT = re.compile(r"#\s*([^=]*?)\s*(?:=\s*(.*?))?\s*", re.DOTALL)
TAG = re.compile(r"([BIES])-(.+)", re.DOTALL)


class _Token(NamedTuple):
    line: int
    text: str
    tag: str
    link: str
    flags: tuple[str, ...]


@dataclass(slots=True)
class _Document:
    shown: str
    line: int
    name: str
    meta: dict[str, str]
    tokens: list[_Token] = field(default_factory=list)


def recognise(source: Source) -> float:
    """Be sure where the first row is a header with TOKEN and a column of entities."""
    for line in source.pick(".tsv")[0].head():
        if line.strip() and not line.startswith("#"):
            names = line.split()
            return 1.0 if names[0] == "TOKEN" and any(name.startswith("NE-") for name in names) else 0.0
    return 0.0


def read(source: Source, options: ReadOptions) -> Reading:
    """Read the entity column `options.column` (NE-COARSE-LIT) and the links from the matching NEL column.

    A document starts at its `document_id` comment. Where no comment gives ids the documents are numbered; where there
    are no such comments at all a file is one document. The other metadata comments become the document's `meta`.

    Raises:
        FormatError: with every problem found; for a tag that continues nothing too, unless `options.repair` is given.
    """
    files = source.pick(".tsv")
    builder = Builder(source.name)
    counts: Counter[str] = Counter()
    documents: list[_Document] = []
    columns: list[str] = []
    for file in files:
        _read_file(file, options, builder, counts, documents, columns)
    builder.named = any(document.name for document in documents)
    for number, document in enumerate(documents, start=1):
        if builder.named and not document.name:
            found = "tokens before the first document_id, or a document_id without a value"
            builder.problem(document.line, found, "give each document its id", source=document.shown)
        _add(document, document.name or str(number), options, builder, counts)
    layer = builder.finish(options.name or source.label)
    notes = [*dict.fromkeys(columns), *_notes(counts, builder.named), *left_out(source, files)]
    mended = "".join(note.format(counts[key]) for key, note in MENDED.items() if counts[key])
    return Reading(layer.documents, layer, NAME, tuple(notes), places=builder.places, mended=mended)


def _read_file(
    file: SourceFile,
    options: ReadOptions,
    builder: Builder,
    counts: Counter[str],
    documents: list[_Document],
    columns: list[str],
) -> None:
    """Append the documents of a file, and what was taken from its columns."""
    try:
        lines = file.lines()
    except FormatError as error:
        builder.problems.extend(error.problems)
        return None
    header: list[str] | None = None
    entity = link = misc = -1
    current: _Document | None = None
    # Comments belong to the document that starts among them, before or after its id.
    meta: dict[str, str] = {}
    start: tuple[int, str] | None = None

    def complain(number: int, found: str, remedy: str) -> None:
        builder.problem(number, found, remedy, source=file.shown)

    def opened(line: int, name: str) -> _Document:
        nonlocal meta, start
        documents.append(_Document(file.shown, line, name, meta))
        meta, start = {}, None
        return documents[-1]

    for number, line in enumerate(watched(lines, options.progress), start=1):
        cells = line.split("\t")
        if line.startswith("#"):
            counts["tokens like comments"] += len(cells) > 1 and not line.startswith("# ") and any(cells[1:])
            match = COMMENT.fullmatch(line)
            key, value = (match[1], match[2] or "") if match else ("", "")
            counts["segments"] += key in SEGMENT_KEYS
            if start is not None and (key in DOCUMENT_KEYS or key in meta):
                current = opened(*start)
            if key in DOCUMENT_KEYS:
                counts["document comments"] += 1
                start = (number, value)
            elif value and key not in SEGMENT_KEYS:
                meta[key.removeprefix("hipe2022:")] = value
            continue
        if not line.strip("\t "):
            continue
        if header is None:
            # Names hold no blanks, and one team wrote blanks for a tab.
            header = line.split()
            if header[0] != "TOKEN":
                return complain(number, f"{quoted(line)} is no header", "begin with TOKEN<tab>NE-COARSE-LIT<tab>…")
            chosen = _column(header, options.column)
            if chosen is None:
                found = f"no column {quoted(str(options.column or COLUMN))} for entities"
                return complain(number, found, f"choose one of {', '.join(header[1:])}")
            entity = header.index(chosen)
            link = header.index(LINKS[chosen]) if LINKS.get(chosen) in header else -1
            misc = header.index("MISC") if "MISC" in header else -1
            columns.append(f"entities from column {chosen}" + (f", links from {LINKS[chosen]}" if link >= 0 else ""))
            continue
        if len(cells) > len(header) and any(cells[len(header) :]):
            complain(number, f"{len(cells)} cells under a header of {len(header)}", "write one cell a column")
            continue
        if not cells[0].strip(" "):
            complain(number, "a row without a token", "write the token in the first cell, or leave the line empty")
            continue
        if len(cells) <= entity:
            found = f"{len(cells)} cells, so no tag in column {header[entity]}"
            complain(number, found, f"write {entity + 1} cells or more, parted by tabs")
            continue
        counts["short rows"] += len(cells) < len(header)
        if start is not None:
            current = opened(*start)
        elif current is None:
            current = opened(number, "")
        elif meta:
            current.meta = {**meta, **current.meta}
            meta = {}
        row = cells + [""] * (len(header) - len(cells))
        flags = tuple(row[misc].split("|")) if misc >= 0 else ()
        current.tokens.append(_Token(number, row[0], row[entity], row[link] if link >= 0 else "", flags))
    if start is not None:
        opened(*start)
    if header is None:
        builder.problem(None, "no header", "begin with TOKEN<tab>NE-COARSE-LIT<tab>…", source=file.shown)
    return None


def _column(header: Sequence[str], wanted: int | str | None) -> str | None:
    """Return the name of the column asked for by name or number from 1, None if there is none such."""
    if isinstance(wanted, int):
        return header[wanted - 1] if 2 <= wanted <= len(header) else None
    name = wanted or COLUMN
    return name if name in header[1:] else None


def _add(document: _Document, name: str, options: ReadOptions, builder: Builder, counts: Counter[str]) -> None:
    pieces: list[str] = []
    places: list[tuple[int, int]] = []
    sentences: list[tuple[int, int]] = []
    at = first = 0
    for number, token in enumerate(document.tokens):
        places.append((at, at + len(token.text)))
        if "EndOfSentence" in token.flags:
            sentences.append((places[first][0], places[-1][1]))
            first = number + 1
        gap = "\n" if "EndOfLine" in token.flags else "" if "NoSpaceAfter" in token.flags else " "
        if number + 1 == len(document.tokens):
            gap = ""
        pieces += (token.text, gap)
        at += len(token.text) + len(gap)
    if sentences and first < len(places):
        sentences.append((places[first][0], places[-1][1]))
    builder.document(
        name,
        "".join(pieces),
        line=document.line,
        source=document.shown,
        tokens=places,
        sentences=sentences,
        meta=document.meta,
    )
    for first, last, label in _entities(document, options, builder, counts):
        token = document.tokens[first]
        links = () if token.link in NO_LINK else tuple(link for link in token.link.split("|") if link)
        builder.span(places[first][0], places[last][1], label, line=token.line, source=document.shown, links=links)


def _entities(
    document: _Document, options: ReadOptions, builder: Builder, counts: Counter[str]
) -> list[tuple[int, int, str]]:
    """Return the entities as first token, last token and type."""
    found: list[tuple[int, int, str]] = []
    label = dropped = ""
    for number, token in enumerate(document.tokens):
        if token.tag in OUTSIDE:
            label = dropped = ""
            continue
        match = TAG.fullmatch(token.tag)
        if match is None:
            remedy = "write O, _ or a tag like B-loc and I-loc"
            builder.problem(token.line, f"{quoted(token.tag)} is no tag", remedy, source=document.shown)
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
                said = f"{quoted(token.tag)} continues nothing"
                said += f": the entity before it is of type {quoted(label)}" if label else ""
                remedy = f"write B-{match[2]}, or read with --repair conlleval (it begins an entity) or discard"
                builder.problem(token.line, said, remedy, source=document.shown)
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
