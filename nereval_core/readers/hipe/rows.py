"""Rows, comments and documents of a CLEF-HIPE file with all their columns, for the reader and for the scorers.

The text is put together again from the tokens and the flags in MISC: a line end after EndOfLine, nothing after
NoSpaceAfter, else one blank.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nereval_core.corpus.arrays import Int64
from nereval_core.corpus.builder import Builder
from nereval_core.problems import FormatError, quoted
from nereval_core.readers.input.source import SourceFile, with_progress

NO_LINK = ("", "_", "-")
DOCUMENT_KEYS = ("document_id", "hipe2022:document_id")
SEGMENT_KEYS = ("segment_iiif_link", "segment_id")
LED = re.compile(r"LED(\d+(\.\d+)?)")
"""The noise of a token, in MISC: the edit distance of the OCR's text from the right one, by its length."""
LED_KEY = "LED"
"""The key of noise in the metadata of a span."""


class TokenRow(NamedTuple):
    """A token's line of a file, counted from 1, and its cells."""

    line: int
    cells: list[str]


class CommentLine(NamedTuple):
    """A line that begins with #: its first cell, and how many rows of the file stand before it."""

    line: int
    rows: int
    text: str


@dataclass(slots=True)
class HipeDocument:
    """A document as it stands in a file; `line` is that of its id, or of its first row."""

    source: str
    line: int
    name: str
    meta: dict[str, str]
    misc: int
    rows: list[TokenRow] = field(default_factory=list)


@dataclass(slots=True)
class HipeFile:
    """A parsed file: its rows are those of its documents in order; `header` is the line as it stands."""

    source: str
    header: str = ""
    header_line: int | None = None
    columns: list[str] = field(default_factory=list)
    documents: list[HipeDocument] = field(default_factory=list)
    comments: list[CommentLine] = field(default_factory=list)
    """Kept by `parse_file` alone, for the scorers."""
    counts: Counter[str] = field(default_factory=Counter)

    def take_header(self, number: int, line: str) -> None:
        # Names hold no blanks, and one team wrote blanks for a tab.
        self.header, self.header_line, self.columns = line, number, line.split()

    @property
    def misc(self) -> int:
        """The index of the column with flags and noise, -1 where there is none."""
        return self.columns.index("MISC") if "MISC" in self.columns else -1


@dataclass(slots=True)
class DocumentOpener:
    """Opens documents at comments and rows, in the order of a file; `misc` is the index of that column, -1 for none."""

    parsed: HipeFile
    misc: int = -1
    _current: HipeDocument | None = None
    # Comments belong to the document that starts among them, before or after its id.
    _meta: dict[str, str] = field(default_factory=dict)
    _start: tuple[int, str] | None = None

    def comment(self, number: int, line: str) -> None:
        """Read a line that begins with #."""
        counts = self.parsed.counts
        if "\t" in line and not line.startswith("# ") and line.partition("\t")[2].strip("\t"):
            counts["tokens like comments"] += 1
        key, _, value = line[1:].partition("=")
        key, value = key.strip(), value.strip()
        if key in DOCUMENT_KEYS:
            if self._start is not None:
                self._open(*self._start)
            counts["document comments"] += 1
            self._start = (number, value)
            return
        if self._start is not None and key in self._meta:
            self._open(*self._start)
        if key in SEGMENT_KEYS:
            counts["segments"] += 1
        elif value:
            self._meta[key.removeprefix("hipe2022:")] = value

    def row(self, number: int) -> HipeDocument:
        """Return the document of a row."""
        if self._start is not None:
            return self._open(*self._start)
        if self._current is None:
            return self._open(number, "")
        if self._meta:
            self._current.meta = {**self._meta, **self._current.meta}
            self._meta = {}
        return self._current

    def end(self) -> None:
        if self._start is not None:
            self._open(*self._start)

    def _open(self, line: int, name: str) -> HipeDocument:
        self._current = HipeDocument(self.parsed.source, line, name, self._meta, self.misc)
        self.parsed.documents.append(self._current)
        self._meta, self._start = {}, None
        return self._current


def parse_file(file: SourceFile, builder: Builder, progress: Callable[[int, int], None] | None = None) -> HipeFile:
    """Parse a file into documents with all their columns; problems with its lines go to the builder.

    A line that is not a header leaves `columns` empty.
    """
    parsed = HipeFile(file.shown)
    try:
        lines = file.lines()
    except FormatError as error:
        builder.problems.extend(error.problems)
        return parsed
    if len(lines) == 1 and "\r" in lines[0]:
        finding = "lines end in a carriage return alone"
        builder.problem(None, finding, "save the file with line feeds", source=file.shown)
        return parsed
    opening = DocumentOpener(parsed)
    rows = 0
    document: HipeDocument | None = None
    for number, line in enumerate(with_progress(lines, progress), start=1):
        if line.startswith("#"):
            document = None
            parsed.comments.append(CommentLine(number, rows, line.partition("\t")[0]))
            opening.comment(number, line)
        elif not line.strip("\t "):
            continue
        elif not parsed.columns:
            parsed.take_header(number, line)
            if parsed.columns[:1] != ["TOKEN"]:
                finding = f"{quoted(line)} is not a header"
                builder.problem(number, finding, "begin with TOKEN<tab>NE-COARSE-LIT<tab>…", source=file.shown)
                parsed.columns = []
                return parsed
            opening.misc = parsed.misc
        else:
            if document is None:
                document = opening.row(number)
            document.rows.append(TokenRow(number, line.split("\t")))
            rows += 1
    opening.end()
    if not parsed.columns:
        builder.problem(None, "no header", "begin with TOKEN<tab>NE-COARSE-LIT<tab>…", source=file.shown)
    return parsed


def add_documents(documents: Sequence[HipeDocument], builder: Builder) -> Iterator[list[tuple[int, int]]]:
    """Add documents to the builder, one at a time, and yield where the tokens of each stand in its text."""
    builder.named = any(document.name for document in documents)
    for number, document in enumerate(documents, start=1):
        if builder.named and not document.name:
            finding = "tokens before the first document_id, or a document_id without a value"
            builder.problem(document.line, finding, "give each document its id", source=document.source)
        yield _add_document(document, document.name or str(number), builder)


def _add_document(document: HipeDocument, name: str, builder: Builder) -> list[tuple[int, int]]:
    pieces: list[str] = []
    places: list[tuple[int, int]] = []
    sentences: list[tuple[int, int]] = []
    at = first = 0
    last = len(document.rows) - 1
    flags = map(_flags, column_cells(document.rows, document.misc))
    for number, ((_, cells), (ends_sentence, gap)) in enumerate(zip(document.rows, flags, strict=True)):
        token = cells[0]
        end = at + len(token)
        places.append((at, end))
        if ends_sentence:
            sentences.append((places[first][0], end))
            first = number + 1
        if number == last:
            gap = ""
        pieces += (token, gap)
        at = end + len(gap)
    if sentences and first < len(places):
        sentences.append((places[first][0], places[-1][1]))
    builder.document(
        name,
        "".join(pieces),
        line=document.line,
        source=document.source,
        tokens=places,
        sentences=sentences,
        meta=document.meta,
    )
    return places


def column_cells(rows: Sequence[TokenRow], column: int) -> list[str]:
    """Return the cells of a column, "" where the file has no such column or the row ends before."""
    if column < 0:
        return [""] * len(rows)
    return [cells[column] if column < len(cells) else "" for _, cells in rows]


@lru_cache(1 << 12)
def _flags(cell: str) -> tuple[bool, str]:
    """Return whether a sentence ends with a token, and what stands between it and the next one, by its cell of MISC."""
    flags = cell.split("|")
    return "EndOfSentence" in flags, "\n" if "EndOfLine" in flags else "" if "NoSpaceAfter" in flags else " "


@lru_cache(1 << 12)
def linked_entries(cell: str) -> tuple[str, ...]:
    """Return the entries that a cell of links names, best first."""
    return () if cell in NO_LINK else tuple(filter(None, cell.split("|")))


@lru_cache(1 << 12)
def noise_of_cell(cell: str) -> float:
    """Return the noise that a cell of MISC gives a token, NaN for none."""
    match = LED.search(cell)
    return float(match[1]) if match else np.nan


def span_extras(
    links: Mapping[int, tuple[str, ...]], noise: NDArray[np.float64], first: Int64, end: Int64
) -> Mapping[str, Mapping[int, Any]]:
    """Return links and noise of spans, as `layer` takes them.

    `links` are those of spans that have any. `noise` is that of tokens, of which a span has `[first, end)`; the largest
    counts.
    """
    edges = np.column_stack((first, end)).ravel()
    largest = np.fmax.reduceat(np.append(noise, np.nan), edges)[::2] if len(edges) else noise[:0]
    noisy = np.flatnonzero(np.isfinite(largest))
    levels, level_of_span = np.unique(largest[noisy], return_inverse=True)
    level_metas = [{LED_KEY: level} for level in levels.tolist()]
    return {
        "links": links,
        "meta": dict(zip(noisy.tolist(), map(level_metas.__getitem__, level_of_span.tolist()), strict=True)),
    }
