"""Read CLEF-HIPE files of sound rows block by block, into arrays.

Files with rows to refuse are left to `hipe.read_by_rows`, which words the problems. Of a file with 100,000 spans
`read()` takes 0.17 s of CPU so, and 2.1 s row by row.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nereval_core.corpus import Documents, Intervals, Place, frozen
from nereval_core.corpus.arrays import Int64
from nereval_core.corpus.intervals import SpacedIntervals
from nereval_core.corpus.texts import Bytes, Texts
from nereval_core.problems import FormatError
from nereval_core.readers import ReadOptions
from nereval_core.readers.hipe.rows import (
    DocumentOpener,
    HipeDocument,
    HipeFile,
    linked_entries,
    noise_of_cell,
    span_extras,
)
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
from nereval_core.readers.shared.tag_reading import SpanBounds, token_bounds
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

NOTHING, SPACE, LINE_END = 0, BLANK, END


@dataclass(slots=True)
class ColumnIndices:
    """Indices of the columns that are read, -1 for none."""

    entities: int
    links: int
    misc: int


@dataclass(slots=True)
class _Flags:
    """Flags of the cells of MISC, by code: the byte after the token, whether it ends a sentence, its noise."""

    after: list[int] = field(default_factory=list)
    ending: list[bool] = field(default_factory=list)
    noise: list[float] = field(default_factory=list)

    def learn(self, cells: Sequence[bytes]) -> None:
        for cell in cells[len(self.after) :]:
            text = cell.decode()
            flags = text.split("|")
            self.after.append(LINE_END if "EndOfLine" in flags else NOTHING if "NoSpaceAfter" in flags else SPACE)
            self.ending.append("EndOfSentence" in flags)
            self.noise.append(noise_of_cell(text))


@dataclass
class PackedFiles:
    """The tokens of all files as arrays, and the documents over them; vocabularies code the cells of tags and MISC.

    These are `TagRows`: only the tags of the rows may have problems.
    """

    options: ReadOptions
    files: list[HipeFile] = field(default_factory=list)
    firsts: list[int] = field(default_factory=list)
    """Number of each document's first token; `first_bytes` is its place in the text."""
    first_bytes: list[int] = field(default_factory=list)
    tokens: int = 0
    bytes: int = 0
    tag_cells: Vocabulary = field(default_factory=Vocabulary)
    links: Vocabulary = field(default_factory=Vocabulary)
    misc: Vocabulary = field(default_factory=Vocabulary)
    flags: _Flags = field(default_factory=_Flags)
    arrays: GrowingArrays = field(
        default_factory=lambda: GrowingArrays(
            "text", "sizes", "gaps", "ended", "run", "line", "tagged", "codes", "linked", "noise"
        )
    )
    scores = None

    @property
    def distinct(self) -> frozenset[str]:
        return frozenset(name.decode() for name in self.tag_cells.names)

    def tags(self, notation: Notation) -> Tags:
        names = [name.decode() for name in self.tag_cells.names]
        return Tags.coded(*self.tagged, names, self.document_tokens, notation.parse)

    @cached_property
    def tagged(self) -> tuple[Int64, NDArray[np.int32]]:
        """The tagged tokens, and the codes of their tags."""
        return self.arrays.whole("tagged"), self.arrays.whole("codes")

    @cached_property
    def line_runs(self) -> tuple[Int64, Int64]:
        """The tokens from which on lines follow one another without a gap, and the line of each."""
        return self.arrays.whole("run"), self.arrays.whole("line")

    def written(self, token: int) -> str:
        """Return the tag of a tagged token as it stands in the file."""
        tagged, codes = self.tagged
        return self.tag_cells.names[int(codes[np.searchsorted(tagged, token)])].decode()

    def place(self, token: int) -> Place:
        first, line = self.line_runs
        run = np.searchsorted(first, token, side="right") - 1
        return self.opened[bisect_right(self.firsts, token) - 1].source, int(line[run] + token - first[run])

    def bounds(self, chunks: Chunks, documents: Documents) -> SpanBounds:
        return token_bounds(chunks, documents)

    def extras(self, chunks: Chunks) -> Mapping[str, Mapping[int, Any]]:
        """Return links and noise of chunks."""
        # The code of a file without links is -1.
        entries = [*(linked_entries(cell.decode()) for cell in self.links.names), ()]
        codes = self.arrays.whole("linked")[chunks.first]
        linked = np.flatnonzero(np.array([*map(bool, entries)])[codes])
        links = dict(zip(linked.tolist(), map(entries.__getitem__, codes[linked].tolist()), strict=True))
        noise = np.array([*self.flags.noise, np.nan], np.float64)[self.arrays.whole("noise")]
        return span_extras(links, noise, chunks.first, chunks.last + 1)

    @cached_property
    def opened(self) -> Sequence[HipeDocument]:
        """The documents of all files."""
        return [document for parsed in self.files for document in parsed.documents]

    @property
    def document_tokens(self) -> Int64:
        """The number of each document's first token and, last, the number of tokens."""
        return np.array([*self.firsts, self.tokens], np.int64)

    @property
    def document_places(self) -> tuple[Place, ...]:
        return tuple((document.source, document.line) for document in self.opened)

    @property
    def named(self) -> bool:
        return any(document.name for document in self.opened)

    def documents(self) -> Documents:
        """Return the documents with text, tokens, sentences and metadata.

        Raises:
            NotJudged: no tokens, or only some of the documents have ids.
        """
        opened, first = self.opened, self.document_tokens
        if not opened or not self.tokens or (self.named and not all(document.name for document in opened)):
            raise NotJudged
        gaps = self.arrays.whole("gaps")
        filled = np.diff(first) > 0
        last = first[1:][filled] - 1
        # The gap after the last token of a document is dropped.
        offsets = np.array([*self.first_bytes, self.bytes], np.int64)
        dropped = np.zeros(len(opened), np.int64)
        dropped[filled] = gaps[last]
        ends = offsets[1:][dropped > 0] - 1
        offsets[1:] -= np.cumsum(dropped)
        tokens = SpacedIntervals(first, self.arrays.whole("sizes"), gaps)
        lengths = np.zeros(len(opened), np.int64)
        lengths[filled] = tokens.ends[last]
        meta = tuple(document.meta for document in opened)
        return Documents(
            tuple(document.name or str(number) for number, document in enumerate(opened, start=1)),
            Texts(without_bytes(self.arrays.parts("text"), ends), offsets, lengths),
            tokens,
            _sentences(self.arrays.whole("ended"), tokens),
            meta if any(meta) else None,
            self.named,
        )


def _sentences(ended: Int64, tokens: Intervals) -> Intervals | None:
    """Return the sentences, which end at these tokens and with the documents in which any ends."""
    if not len(ended):
        return None
    first = tokens.first
    doc = np.searchsorted(first, ended, side="right") - 1
    with_any = np.flatnonzero(np.bincount(doc))
    inner = ended[ended + 1 < first[doc + 1]] + 1
    begins, ends = np.zeros((2, len(tokens.starts) + 1), np.bool_)
    begins[first[with_any]] = begins[inner] = True
    ends[first[with_any + 1] - 1] = ends[ended] = True
    begin, end = np.flatnonzero(begins), np.flatnonzero(ends)
    count = np.bincount(np.searchsorted(first, begin, side="right") - 1, minlength=len(first) - 1)
    edges = np.concatenate((np.zeros(1, np.int64), np.cumsum(count)))
    return Intervals(frozen(edges), frozen(tokens.starts[begin]), frozen(tokens.ends[end]))


def read_packed(
    files: Sequence[SourceFile],
    options: ReadOptions,
    columns: Callable[[HipeFile], ColumnIndices | None],
    block: int = BLOCK_BYTES,
) -> PackedFiles:
    """Return the contents of files; `columns` picks the columns to read from a header.

    Raises:
        NotJudged: they are to be read row by row.
    """
    packed = PackedFiles(options)
    for file in files:
        try:
            _read_file(file, block, columns, packed)
        except FormatError:
            raise NotJudged from None
    return packed


def _read_file(
    file: SourceFile, size: int, columns: Callable[[HipeFile], ColumnIndices | None], packed: PackedFiles
) -> None:
    reader = _FileReader(file.shown, packed)
    for block in watched_blocks(file, packed.options.progress, size):
        rest = block if reader.ready else reader.take_header(block, columns)
        if rest.size:
            reader.take(rest)
    if not reader.ready:
        raise NotJudged
    reader.opening.end()
    reader.note(packed.tokens, packed.bytes)


class _FileReader:
    """Adds the blocks of one file to those of all."""

    def __init__(self, source: str, packed: PackedFiles) -> None:
        self.parsed = HipeFile(source)
        self.packed = packed
        self.opening = DocumentOpener(self.parsed)
        self.line = 1
        self.opened = 0
        self.ready = False
        self.waiting = True
        """True after a comment and at first: the next row may open a document."""
        packed.files.append(self.parsed)

    def take_header(self, block: Block, columns: Callable[[HipeFile], ColumnIndices | None]) -> Block:
        """Read the lines up to the header and return the rest of the block."""
        start = 0
        while start < block.size:
            end = block.raw.index(block.end, start)
            line = block.raw[start:end].decode()
            start, number = end + block.step, self.line
            self.line += 1
            if line.startswith("#"):
                self.opening.comment(number, line)
                self.note(self.packed.tokens, self.packed.bytes)
            elif line.strip("\t "):
                self.parsed.take_header(number, line)
                indices = columns(self.parsed) if self.parsed.columns[:1] == ["TOKEN"] else None
                # A document opened before the header does not know of MISC.
                if indices is None or self.parsed.documents:
                    raise NotJudged
                self.columns, self.ready = indices, True
                self.opening.misc = self.parsed.misc
                self.lexer = Lexer(len(self.parsed.columns), True, _is_row, trimmed=False)
                break
        return block._replace(raw=block.raw[start:], size=block.size - start)

    def note(self, tokens: int, at: int) -> None:
        """Store where the documents begin that were opened since the last call."""
        new = len(self.parsed.documents) - self.opened
        if new:
            self.opened += new
            self.packed.firsts += [tokens] * new
            self.packed.first_bytes += [at] * new

    def take(self, block: Block) -> None:
        """Add the rows of a block.

        Raises:
            NotJudged: see there.
        """
        packed, arrays, indices = self.packed, self.packed.arrays, self.columns
        lexed = self.lexer.rows(block)
        data = np.frombuffer(block.raw, np.uint8)
        starts, stops = lexed.field(0)
        if len(lexed) and bool((stops == starts).any()):
            raise NotJudged
        flag_codes = self._flags(data, lexed)
        flags = packed.flags
        after = np.array([*flags.after, SPACE], np.uint8)[flag_codes]
        ending = np.array([*flags.ending, False], np.bool_)[flag_codes]
        text, ends, sizes, gaps = _text(block, data, starts, stops, after)
        self._comments(block, lexed, ends)
        run, line = lexed.line_runs()
        arrays.add(run=run + packed.tokens, line=line + self.line)
        self.line += len(lexed) + len(lexed.before)
        if not len(lexed):
            return
        tagged = lexed.filled(data, indices.entities, b"O_")
        tags, tag_stops = lexed.field(indices.entities, tagged)
        if bool((tag_stops == tags).any()):
            is_filled = tag_stops > tags
            tagged, tags, tag_stops = tagged[is_filled], tags[is_filled], tag_stops[is_filled]
        arrays.add(
            text=text,
            sizes=sizes,
            gaps=gaps,
            ended=true_places(ending) + packed.tokens,
            tagged=tagged + packed.tokens,
            codes=packed.tag_cells.codes(data, tags, tag_stops - tags),
            noise=flag_codes[tagged],
        )
        if indices.links >= 0:
            links, link_stops = lexed.field(indices.links, tagged)
            linked = packed.links.codes(data, links, link_stops - links)
        else:
            linked = np.full(len(tagged), -1, np.int32)
        arrays.add(linked=linked)
        packed.tokens += len(lexed)
        packed.bytes += len(text)

    def _flags(self, data: Bytes, lexed: BlockRows) -> NDArray[np.int32]:
        """Return the codes of what stands in MISC, -1 for nothing."""
        codes = np.full(len(lexed), -1, np.int32)
        if self.columns.misc >= 0:
            flagged = lexed.filled(data, self.columns.misc, b"_")
            starts, stops = lexed.field(self.columns.misc, flagged)
            codes[flagged] = self.packed.misc.codes(data, starts, stops - starts)
            self.packed.flags.learn(self.packed.misc.names)
        return codes

    def _comments(self, block: Block, lexed: BlockRows, ends: Int64) -> None:
        """Read the comments of a block and open the documents that they begin."""
        others = true_places(lexed.high > lexed.low)
        before = lexed.before[others]
        # Numbers of lines that are not rows before the row after each, and before the first row.
        over = np.searchsorted(lexed.before, before, side="right").tolist()
        at = np.concatenate((np.zeros(1, np.int64), ends))[before].tolist()
        skipped = int(np.searchsorted(lexed.before, 0, side="right"))
        row, start = 0, 0
        lows, highs = lexed.low[others].tolist(), lexed.high[others].tolist()
        documents = self.parsed.documents
        comments = zip(others.tolist(), before.tolist(), lows, highs, over, at, strict=True)
        for other, rows, low, high, more, place in comments:
            line = block.raw[low:high].decode()
            if not line.strip("\t "):
                continue
            if line[0] != "#":
                raise NotJudged
            if self.waiting and row < rows:
                self._open(row, skipped, start)
            self.opening.comment(self.line + rows + other, line)
            if len(documents) > self.opened:
                self.note(self.packed.tokens + rows, self.packed.bytes + place)
            self.waiting = True
            row, skipped, start = rows, more, place
        if self.waiting and row < len(lexed):
            self._open(row, skipped, start)

    def _open(self, row: int, skipped: int, start: int) -> None:
        """Open the document of the first row after a comment."""
        self.opening.row(self.line + row + skipped)
        self.note(self.packed.tokens + row, self.packed.bytes + start)
        self.waiting = False


def _is_row(line: bytes) -> bool:
    if line[0] == HASH or not line.strip(b"\t "):
        return False
    if not line.partition(b"\t")[0].strip(b" "):
        raise NotJudged
    return True


def _text(
    block: Block, data: Bytes, starts: Int64, stops: Int64, after: NDArray[np.uint8]
) -> tuple[Bytes, Int64, NDArray[np.integer[Any]], NDArray[np.uint8]]:
    """Return the text of the rows, where each ends in it, its size in code points, and the size of what follows it."""
    gaps = (after != NOTHING).view(np.uint8)
    sizes = stops - starts + gaps
    text, ends = join_pieces(data, starts, sizes)
    text += (text == TAB) * np.uint8(SPACE - TAB)
    text[ends[after == LINE_END] - 1] = LINE_END
    lengths = sizes if block.ascii else character_counts(text, sizes, ends)[0]
    return text, ends, lengths.astype(np.min_scalar_type(int(lengths.max(initial=0)))), gaps
