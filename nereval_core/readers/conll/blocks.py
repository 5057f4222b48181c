"""Read the rows of columns block by block, into arrays; `conll.rows` reads, and refuses, line by line.

Of a file with 100,000 spans `read()` takes 0.06 s of CPU so, and 0.5 s line by line.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from nereval_core.corpus import Documents, Intervals, Place, frozen
from nereval_core.corpus.arrays import Int64
from nereval_core.corpus.intervals import SpacedIntervals
from nereval_core.corpus.texts import Bytes, Texts
from nereval_core.readers import ReadOptions
from nereval_core.readers.conll.layout import DOCSTART, SAMPLE_LINES, Layout, sample_rows
from nereval_core.readers.conll.rows import DocumentMark, FileStructure, Places, file_layout
from nereval_core.readers.input.source import SourceFile
from nereval_core.readers.shared.byte_fields import (
    Vocabulary,
    character_counts,
    join_pieces,
    true_places,
    without_bytes,
)
from nereval_core.readers.shared.tag_cells import Notation
from nereval_core.readers.shared.tag_decoding import Chunks
from nereval_core.readers.shared.tag_reading import SpanBounds
from nereval_core.readers.shared.tag_schemes import Tags
from nereval_core.readers.shared.token_columns import (
    BLANK,
    BLOCK_BYTES,
    END,
    HASH,
    TAB,
    Block,
    BlockRows,
    GrowingArrays,
    Lexer,
    NotJudged,
    watched_blocks,
)

KNOWN_LINES = 256
"""Doubtful lines that are kept with what they are: most are marks of documents, each like the others."""


@dataclass(slots=True)
class _Totals:
    """Totals before the next block: tokens, and the length of their text with one character after each."""

    tokens: int = 0
    bytes: int = 0
    characters: int = 0


@dataclass
class PackedRows:
    """The rows of all files as arrays.

    The text is taken as one, with one character after every token. A token is as long as `sizes` says, in code points,
    that character included. Of tokens tagged otherwise than O it is known where they start (`at`, code points).
    """

    structure: FileStructure = field(default_factory=FileStructure)
    vocabulary: Vocabulary = field(default_factory=Vocabulary)
    totals: _Totals = field(default_factory=_Totals)
    inside: Int64 | None = None
    """The places of the tags' tokens among the tagged ones, where another word for outside is among these."""
    columns: GrowingArrays = field(
        default_factory=lambda: GrowingArrays(
            "text", "sizes", "first", "first_at", "first_byte", "run", "line", "tagged", "codes", "at", "length"
        )
    )

    def finished(self) -> PackedRows:
        """Join the arrays of all blocks."""
        totals, columns = self.totals, self.columns
        self.text: list[Bytes] = columns.parts("text")
        self.sizes = columns.whole("sizes")
        self.sentences: Int64 = columns.whole("first", np.array([totals.tokens]))
        self.first_at: Int64 = columns.whole("first_at", np.array([totals.characters]))
        self.first_byte: Int64 = columns.whole("first_byte", np.array([totals.bytes]))
        self.run: Int64 = columns.whole("run")
        self.line: Int64 = columns.whole("line")
        self.tagged: Int64 = columns.whole("tagged")
        self.codes = columns.whole("codes")
        self.at: Int64 = columns.whole("at")
        self.length: NDArray[np.int32] = columns.whole("length")
        return self

    scores = None
    """Tags with probabilities are read line by line."""

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name.decode() for name in self.vocabulary.names)

    def tag_rows(self) -> PackedRows:
        return self

    def tags(self, notation: Notation) -> Tags:
        tags = Tags.coded(self.tagged, self.codes, self.names, self.sentences, notation.parse)
        self.inside = None if len(tags.tokens) == len(self.tagged) else np.searchsorted(self.tagged, tags.tokens)
        return tags

    @property
    def distinct(self) -> frozenset[str]:
        """The tags as they stand in the files, each once."""
        return frozenset((*self.names, *(["O"] if len(self.tagged) < self.count else [])))

    def written(self, token: int) -> str:
        """Return the tag as it stands in the file."""
        place = int(np.searchsorted(self.tagged, token))
        fits = place < len(self.tagged) and self.tagged[place] == token
        return self.names[self.codes[place]] if fits else "O"

    @property
    def count(self) -> int:
        return self.totals.tokens

    def place(self, token: int) -> Place:
        return self.places(np.array([token]))[0]

    def places(self, tokens: Int64) -> Places:
        runs = np.searchsorted(self.run, tokens, side="right") - 1
        return Places.of(tokens, self.line[runs] + tokens - self.run[runs], self.structure)

    def documents(self, first: Sequence[int], ids: tuple[str, ...], named: bool) -> Documents:
        """Return the documents that begin at these sentences, with text, tokens and sentences."""
        edges = np.array([*first, len(self.sentences) - 1], np.int64)
        tokens, filled = self.sentences[edges], np.diff(edges) > 0
        # The last token of a document is followed by nothing.
        offsets = self.first_byte[edges]
        ends = offsets[1:][filled] - 1
        offsets[1:] -= np.cumsum(filled)
        base = self.first_at[edges]
        lengths = np.diff(base) - filled
        inner = np.repeat(base[:-1], np.diff(edges))
        reach = Intervals(
            frozen(edges),
            frozen((self.first_at[:-1] - inner).astype(np.int32)),
            frozen((self.first_at[1:] - 1 - inner).astype(np.int32)),
        )
        texts = Texts(without_bytes(self.text, ends), offsets, lengths)
        self.text = []
        return Documents(ids, texts, SpacedIntervals(tokens, self.sizes), reach, named=named)

    def bounds(self, chunks: Chunks, documents: Documents) -> SpanBounds:
        """Return the places of chunks in the documents."""
        assert documents.tokens is not None and documents.sentences is not None
        sentences = documents.sentences
        bounds = np.searchsorted(chunks.start, documents.tokens.first)
        count = np.diff(bounds)
        base = np.repeat(self.first_at[sentences.first[:-1]], count)
        first, last = chunks.first, chunks.last
        if self.inside is not None:
            first, last = self.inside[first], self.inside[last]
        start = self.at[first] - base
        end = self.at[last] + self.length[last] - base
        return SpanBounds(np.repeat(np.arange(len(count)), count), start.astype(np.int32), end.astype(np.int32))


def read_packed(files: Sequence[SourceFile], options: ReadOptions, block: int = BLOCK_BYTES) -> PackedRows:
    """Return the rows of all files; problems with their lines are in `structure`.

    Raises:
        NotJudged: they are to be read line by line.
    """
    rows = PackedRows()
    for file in files:
        _read_file(file, watched_blocks(file, options.progress, block), options, rows)
    return rows.finished()


def _read_file(file: SourceFile, blocks: Iterator[Block], options: ReadOptions, rows: PackedRows) -> None:
    structure = rows.structure
    structure.files.append(rows.totals.tokens)
    structure.sources.append(file)
    head, lines = _head(blocks)
    if not lines:
        return
    if (len(lines) == 1 and "\r" in lines[0]) or not sample_rows(lines)[0]:
        raise NotJudged
    layout = file_layout(lines, file, options, structure)
    if layout is None:
        return
    if layout.scored:
        raise NotJudged
    reader = _FileReader(file.shown, layout, rows)
    for block in chain(head, blocks):
        reader.take(block)
    if any(name.isspace() for name in rows.names):
        # A line of such white space as is text elsewhere is blank, though it is a row by its tabs.
        raise NotJudged


def _head(blocks: Iterator[Block]) -> tuple[list[Block], list[str]]:
    """Return the first blocks and their lines that are not blank, enough to decide how they are split."""
    head: list[Block] = []
    lines: list[str] = []
    n_enough = SAMPLE_LINES
    for block in blocks:
        head.append(block)
        for block_lines in block.lines() if not block.raw[: block.size].isspace() else ():
            lines += [line for line in block_lines if line and not line.isspace()]
            if len(lines) > n_enough:
                if len(sample_rows(lines)[0]) == SAMPLE_LINES:
                    return head, lines
                n_enough = 2 * len(lines)
    return head, lines


class _FileReader:
    """Adds the blocks of one file to those of all."""

    def __init__(self, source: str, layout: Layout, rows: PackedRows) -> None:
        self.source = source
        self.layout = layout
        self.rows = rows
        self.line = 1
        self.ended = True
        self.docstarts: dict[bytes, tuple[str, ...]] = {}
        """Lines with -DOCSTART- that were met, and the tag beside it in a row of the table."""
        self.lexer = Lexer(layout.columns, layout.tabs, lru_cache(KNOWN_LINES)(self._is_row), DOCSTART.encode())

    def _is_row(self, line: bytes) -> bool:
        # Most comments are told from tokens at a glance: they have no tab, or no tag at their end.
        if self.layout.tabs:
            if b"\t" not in line:
                return False
        elif self.layout.column == self.layout.columns - 1:
            tag = line.replace(b"\t", b" ").rstrip(b" ").rpartition(b" ")[2]
            if line[0] == HASH and tag != b"O" and tag[1:2] != b"-":
                return False
        text = line.decode()
        return not text.isspace() and self.layout.is_row(self.layout.row(text))

    def take(self, block: Block) -> None:
        """Add the rows of a block to those of the files.

        Raises:
            NotJudged: see there.
        """
        columns, totals = self.rows.columns, self.rows.totals
        lexed = self.lexer.rows(block)
        data = np.frombuffer(block.raw, np.uint8)
        # Each token is taken with the separator after it.
        starts, ends = lexed.field(self.layout.word)
        sizes = ends - starts
        sizes += 1
        if len(lexed) and int(sizes.min()) < 2:
            raise NotJudged
        text, stops = join_pieces(data, starts, sizes)
        if self.layout.tabs or b"\t" in block.raw:
            text += (text == TAB) * np.uint8(BLANK - TAB)
        lengths, reached = (sizes, stops) if block.ascii else character_counts(text, sizes, stops)

        tagged = lexed.filled(data, self.layout.column, b"O")
        tags, tag_ends = lexed.field(self.layout.column, tagged)
        codes = self.rows.vocabulary.codes(data, tags, tag_ends - tags)
        tag_lengths = lengths[tagged]
        columns.add(
            tagged=tagged + totals.tokens,
            codes=codes,
            at=reached[tagged] - tag_lengths + totals.characters,
            length=(tag_lengths - 1).astype(np.int32),
        )
        first = self._sentences(block, lexed)
        inner = first[first > 0]
        if len(inner) < len(first) and totals.tokens:
            columns.last("text")[-1] = END
        text[stops[inner - 1] - 1] = END
        columns.add(
            first=first + totals.tokens,
            first_at=reached[first] - lengths[first] + totals.characters,
            first_byte=stops[first] - sizes[first] + totals.bytes,
        )
        if len(lexed):
            columns.add(text=text, sizes=lengths.astype(np.min_scalar_type(int(lengths.max()))))
            totals.tokens += len(lexed)
            totals.bytes += len(text)
            totals.characters += int(reached[-1])
        self.line += len(lexed) + len(lexed.before)

    def _sentences(self, block: Block, lexed: BlockRows) -> Int64:
        """Return the first row of each sentence that begins in a block, once the lines that are not rows are taken."""
        count, before = len(lexed), lexed.before
        run, line = lexed.line_runs()
        self.rows.columns.add(run=run + self.rows.totals.tokens, line=line + self.line)
        ending = lexed.blank
        others = true_places(~ending)
        if len(others):
            ending = ending.copy()
            tokens, numbers = before[others] + self.rows.totals.tokens, before[others] + others + self.line
            lows, highs = lexed.low[others].tolist(), lexed.high[others].tolist()
            raw = block.raw
            ending[others] = [
                self._other(raw[low:high], token, number)
                for low, high, token, number in zip(lows, highs, tokens.tolist(), numbers.tolist(), strict=True)
            ]
        first = before[ending]
        if self.ended:
            first = np.concatenate((np.zeros(1, np.int64), first))
        if len(first):
            # Of several such lines before one row the first is enough; one after the last row is for the next block.
            first = first[np.concatenate((np.ones(1, np.bool_), first[1:] > first[:-1]))]
            self.ended = int(first[-1]) == count
        return first[: len(first) - self.ended]

    def _other(self, line: bytes, token: int, number: int) -> bool:
        """Read a line that is not a row, before this token, and return whether it ends the sentence."""
        structure, place = self.rows.structure, (self.source, number)
        tags = self.docstarts.get(line)
        if tags is not None:
            structure.marks.append(DocumentMark("docstart", None, token, place))
            structure.marked += tags
            return True
        text = line.decode()
        if text.isspace():
            return True
        tagged = len(structure.marked)
        ends = structure.other(text, token, place, self.layout)
        if ends and structure.marks[-1].kind == "docstart" and len(self.docstarts) < KNOWN_LINES:
            self.docstarts[line] = tuple(structure.marked[tagged:])
        return ends
