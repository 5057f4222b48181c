"""Rows, comments and documents of a CLEF-HIPE file with all their columns, for the reader and for the scorers.

The text is put together again from the tokens and the flags in MISC: a line end after EndOfLine, nothing after
NoSpaceAfter, else one blank.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from nereval_core.corpus import Builder
from nereval_core.errors import FormatError, quoted
from nereval_core.readers.source import SourceFile, watched

DOCUMENT_KEYS = ("document_id", "hipe2022:document_id")
SEGMENT_KEYS = ("segment_iiif_link", "segment_id")
LED = re.compile(r"LED(\d+(\.\d+)?)")
"""The noise of a token, in MISC: the edit distance of the OCR's text from the right one, by its length."""
COMMENT = re.compile(r"#\s*([^=]*?)\s*(?:=\s*(.*?))?\s*", re.DOTALL)


class Row(NamedTuple):
    """A token's line of a file, counted from 1, and its cells."""

    line: int
    cells: list[str]


class Comment(NamedTuple):
    """A line that begins with #: its first cell, and how many rows of the file stand before it."""

    line: int
    rows: int
    text: str


@dataclass(slots=True)
class Document:
    """A document as it stands in a file; `line` is that of its id, or of its first row."""

    shown: str
    line: int
    name: str
    meta: dict[str, str]
    misc: int
    rows: list[Row] = field(default_factory=list)


@dataclass(slots=True)
class Parsed:
    """A file taken apart: its rows are those of its documents in order; `header` is the line as it stands."""

    shown: str
    header: str = ""
    header_line: int | None = None
    columns: list[str] = field(default_factory=list)
    documents: list[Document] = field(default_factory=list)
    comments: list[Comment] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)


def parse(file: SourceFile, builder: Builder, progress: Callable[[int, int], None] | None = None) -> Parsed:
    """Take a file apart into documents with all their columns; what is wrong with its lines goes to the builder.

    A header that is none leaves `columns` empty.
    """
    parsed = Parsed(file.shown)
    try:
        lines = file.lines()
    except FormatError as error:
        builder.problems.extend(error.problems)
        return parsed
    if len(lines) == 1 and "\r" in lines[0]:
        found = "lines end in a carriage return alone"
        builder.problem(None, found, "save the file with line feeds", source=file.shown)
        return parsed
    counts = parsed.counts
    misc, rows = -1, 0
    current: Document | None = None
    # Comments belong to the document that starts among them, before or after its id.
    meta: dict[str, str] = {}
    start: tuple[int, str] | None = None

    def opened(line: int, name: str) -> Document:
        nonlocal meta, start
        parsed.documents.append(Document(file.shown, line, name, meta, misc))
        meta, start = {}, None
        return parsed.documents[-1]

    for number, line in enumerate(watched(lines, progress), start=1):
        if line.startswith("#"):
            cells = line.split("\t")
            parsed.comments.append(Comment(number, rows, cells[0]))
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
        if not parsed.columns:
            # Names hold no blanks, and one team wrote blanks for a tab.
            parsed.header, parsed.header_line, parsed.columns = line, number, line.split()
            if parsed.columns[0] != "TOKEN":
                found = f"{quoted(line)} is no header"
                builder.problem(number, found, "begin with TOKEN<tab>NE-COARSE-LIT<tab>…", source=file.shown)
                parsed.columns = []
                return parsed
            misc = parsed.columns.index("MISC") if "MISC" in parsed.columns else -1
            continue
        if start is not None:
            current = opened(*start)
        elif current is None:
            current = opened(number, "")
        elif meta:
            current.meta = {**meta, **current.meta}
            meta = {}
        current.rows.append(Row(number, line.split("\t")))
        rows += 1
    if start is not None:
        opened(*start)
    if not parsed.columns:
        builder.problem(None, "no header", "begin with TOKEN<tab>NE-COARSE-LIT<tab>…", source=file.shown)
    return parsed


def add_documents(documents: Sequence[Document], builder: Builder) -> Iterator[list[tuple[int, int]]]:
    """Add documents to the builder, one at a time, and yield where the tokens of each stand in its text."""
    builder.named = any(document.name for document in documents)
    for number, document in enumerate(documents, start=1):
        if builder.named and not document.name:
            found = "tokens before the first document_id, or a document_id without a value"
            builder.problem(document.line, found, "give each document its id", source=document.shown)
        yield _add_document(document, document.name or str(number), builder)


def _add_document(document: Document, name: str, builder: Builder) -> list[tuple[int, int]]:
    pieces: list[str] = []
    places: list[tuple[int, int]] = []
    sentences: list[tuple[int, int]] = []
    at = first = 0
    last = len(document.rows) - 1
    for number, (_, cells) in enumerate(document.rows):
        token = cells[0]
        flags = cells[document.misc].split("|") if 0 <= document.misc < len(cells) else ()
        places.append((at, at + len(token)))
        if "EndOfSentence" in flags:
            sentences.append((places[first][0], places[-1][1]))
            first = number + 1
        gap = "\n" if "EndOfLine" in flags else "" if "NoSpaceAfter" in flags else " "
        if number == last:
            gap = ""
        pieces += (token, gap)
        at += len(token) + len(gap)
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
    return places
