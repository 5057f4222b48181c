"""Split the lines of columns of a whole block of bytes into fields.

A block holds whole lines. Fields are separated by tabs, or by runs of blanks and tabs. Nothing is decoded and no object
is made for a line: the lexer finds separators and line ends only, and leaves lines that are not rows to its caller.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nereval_core.corpus.arrays import Bools, Int64
from nereval_core.corpus.texts import Bytes
from nereval_core.readers.input.source import SourceFile
from nereval_core.readers.shared.byte_fields import WORD_BYTES, true_places, word_numbers

BLOCK_BYTES = 1 << 20
"""Bytes read at once: with fewer, the calls for each block take longer than what they do."""
LINES_BYTES = 1 << 16
"""Bytes, at least, of the lines that are decoded at once."""
ALL_ROWS = slice(None)
ZEROS = bytes(WORD_BYTES)
"""The bytes after each block, so that the last fields can be fetched too."""
BOM = b"\xef\xbb\xbf"
TAB, END, RETURN, BLANK, HASH, DASH = b"\t\n\r #-"
MOST_STRIPPED = 10_000
"""Blanks removed at the end of a line; lines with more are read one by one."""


class NotJudged(Exception):  # noqa: N818 - no error of the input
    """Raised for input that block readers cannot judge exactly: the file has to be read line by line."""


class Block(NamedTuple):
    """Whole lines as bytes, `size` of them, then WORD_BYTES zeros.

    Each line is ended by a line feed alone, or each by a carriage return (`end`) and a line feed (`step` bytes).
    """

    raw: bytes
    size: int
    ascii: bool
    end: int = END

    @property
    def step(self) -> int:
        return 1 if self.end == END else 2

    def lines(self) -> Iterator[list[str]]:
        """Yield the lines, some at a time."""
        low = 0
        while low < self.size:
            high = self.raw.find(b"\n", low + LINES_BYTES) + 1
            high = min(high, self.size) if high else self.size
            yield self.raw[low:high].decode().split("\n" if self.end == END else "\r\n")[:-1]
            low = high


def read_blocks(stream: BinaryIO, size: int = BLOCK_BYTES) -> Iterator[Block]:
    """Yield the lines of a file, block by block, without byte-order mark.

    Raises:
        NotJudged: not UTF-8.
    """
    pieces: list[bytes] = []
    piece = stream.read(max(size, len(BOM)))
    if piece.startswith(BOM):
        piece = piece[len(BOM) :] or stream.read(size)
    while piece:
        cut = piece.rfind(b"\n") + 1
        if cut:
            yield _block(b"".join((*pieces, memoryview(piece)[:cut], ZEROS)))
            pieces = []
        pieces.append(piece[cut:])
        piece = stream.read(size)
    if last := b"".join(pieces):
        yield _block(last + b"\n" + ZEROS)


def watched_blocks(
    file: SourceFile, progress: Callable[[int, int], None] | None, size: int = BLOCK_BYTES
) -> Iterator[Block]:
    """Yield the blocks of a file and report the bytes that were read, of how many, after each was used.

    Raises:
        FormatError: not readable.
        NotJudged: not UTF-8.
    """
    total, done = file.origin.size(), 0
    with file.stream() as stream:
        for block in read_blocks(stream, size):
            yield block
            done += block.size
            if progress is not None:
                # A packed file is shorter than its lines.
                progress(min(done, total - 1), total)
    if progress is not None and done:
        progress(total, total)


def _block(raw: bytes) -> Block:
    """Return the block of these lines, WORD_BYTES zeros after them."""
    end = END
    if b"\r" in raw:
        data = np.frombuffer(raw, np.uint8)
        if data[0] != END and np.array_equal((data == RETURN)[:-1], (data == END)[1:]):
            end = RETURN
        else:
            # Two CR before one LF are known; more are taken off line by line.
            for _ in range(2):
                raw = raw.replace(b"\r\n", b"\n")
                if b"\r\n" not in raw:
                    break
            else:
                raw = b"\n".join(line.rstrip(b"\r") for line in raw.split(b"\n"))
    plain = raw.isascii()
    if not plain:
        try:
            raw.decode()
        except UnicodeDecodeError:
            raise NotJudged from None
    return Block(raw, len(raw) - WORD_BYTES, plain, end)


@dataclass(frozen=True, slots=True)
class BlockRows:
    """The rows of a block and the lines between them; places are bytes of the block, ends exclusive.

    `begin` has shape (rows,), `ends` (rows, columns); `starts` is None where each field begins one byte after the one
    before it ends. The lines that are not rows have shape (others,): `before` says how many rows stand before each,
    `low` and `high` where it stands, `blank` whether nothing is in it.
    """

    begin: Int64
    ends: Int64
    starts: Int64 | None
    before: Int64
    low: Int64
    high: Int64
    blank: Bools

    def __len__(self) -> int:
        return len(self.begin)

    def field(self, column: int, rows: Int64 | slice = ALL_ROWS) -> tuple[Int64, Int64]:
        """Return where the fields of a column start and end, in these rows."""
        ends = self.ends[rows, column]
        if self.starts is not None:
            return self.starts[rows, column], ends
        return self.begin[rows] if column == 0 else self.ends[rows, column - 1] + 1, ends

    def line_runs(self) -> tuple[Int64, Int64]:
        """Return the rows from which on rows follow one another without a gap, and the line of each, from 0."""
        count, before = len(self), self.before
        last = true_places(np.concatenate((before[1:] > before[:-1], np.ones(min(1, len(before)), np.bool_))))
        run = before[last]
        line = run + last + 1
        if not len(run) or run[0]:
            run, line = np.concatenate((np.zeros(1, np.int64), run)), np.concatenate((np.zeros(1, np.int64), line))
        is_row = run < count
        return run[is_row], line[is_row]

    def filled(self, data: Bytes, column: int, plain: bytes) -> Int64:
        """Return the rows whose field in this column is something else than one of these bytes."""
        starts, ends = self.field(column)
        first = data.take(starts)
        is_plain = first == plain[0]
        for other in plain[1:]:
            is_plain |= first == other
        is_plain &= ends - starts == 1
        return true_places(~is_plain)


@dataclass(slots=True)
class Lexer:
    """Splits the lines of blocks into fields.

    `is_row` is asked about lines of as many fields as columns that begin with #, white space or `doubtful`. The first
    byte of `doubtful` must be DASH or one before it.
    """

    columns: int
    tabs: bool
    is_row: Callable[[bytes], bool]
    doubtful: bytes = b""
    trimmed: bool = True
    """Remove blanks and tabs at the end of lines with too many fields."""
    _last_doubtful: bytes = b""
    """The last doubtful line that was not a row, with its end, if it has at most WORD_BYTES."""

    def rows(self, block: Block) -> BlockRows:
        """Return the rows of a block.

        Raises:
            NotJudged: see there.
        """
        data = np.frombuffer(block.raw, np.uint8)
        return self._even(block, data) or self._uneven(block, data)

    def _even(self, block: Block, data: Bytes) -> BlockRows | None:
        """Return the rows of a block in which all lines but empty and doubtful ones are alike, else None."""
        view, end, step = data[: block.size], block.end, block.step
        ends = view == end
        marks = view == (TAB if self.tabs else BLANK)
        if not self.tabs and b"\t" in block.raw:
            marks |= view == TAB
        marks |= ends
        # Lines that are not rows begin with bytes up to DASH.
        early = true_places(ends[:-step] & (view[step:] <= DASH)) + step
        if view[0] <= DASH:
            early = np.concatenate((np.zeros(1, np.int64), early))
        first = view[early]
        high = early[first == end]
        marks[high] = False
        low, blank = high, np.ones(len(high), np.bool_)
        doubted = early[self._doubted(data, early, first)]
        if len(doubted):
            starts, stops = self._no_rows(block, data, doubted, marks)
            order = np.argsort(np.concatenate((high, stops)), kind="stable")
            blank = order < len(high)
            low, high = np.concatenate((low, starts))[order], np.concatenate((high, stops))[order]
        if not self.tabs and (marks[0] or (marks[1:] & marks[:-1]).any()):
            return None
        if not self.tabs and step > 1 and (marks[step:] & ends[:-step]).any():
            return None
        separators = true_places(marks)
        count, rest = divmod(len(separators), self.columns)
        if rest or count + len(high) != np.count_nonzero(ends):
            return None
        places: Int64 = separators.reshape(count, self.columns)
        last = places[:, -1].copy()
        if not ends.take(last).all():
            return None
        begin = np.empty(count, np.int64)
        begin[:1] = 0
        np.add(last[:-1], step, out=begin[1:])
        before = np.zeros(0, np.int64)
        if len(high):
            # Lines that are not rows stand in groups; each begins where the row after it would.
            heads = np.ones(len(high), np.bool_)
            heads[1:] = low[1:] != high[:-1] + step
            ends[low] = True
            followed = true_places(ends.take(begin))
            before = np.concatenate((followed, np.full(1, count)))[heads.cumsum() - 1]
            begin[followed] = high[np.concatenate((heads[1:], heads[:1]))][: len(followed)] + step
        return BlockRows(begin, places, None, before, low, high, blank)

    def _no_rows(self, block: Block, data: Bytes, doubted: Int64, marks: Bools) -> tuple[Int64, Int64]:
        """Return where those of the lines that begin here stand that are not rows.

        What parts their fields is taken off the marks. Lines like the last one that was not a row (document marks) are
        found all at once.
        """
        last_doubtful = self._last_doubtful
        size = len(last_doubtful)
        repeated, rest = doubted[:0], doubted
        # The carriage return at the end of a line of one block may stand inside a line of another.
        if last_doubtful.endswith(bytes((block.end,))):
            words = word_numbers(data, doubted, np.full(len(doubted), size))
            like = (words == np.frombuffer(last_doubtful.ljust(WORD_BYTES, b"\0"), "<u8")).all(axis=1)
            repeated, rest = doubted[like], doubted[~like]
            marks[repeated[:, None] + np.arange(size)] = False
        starts, stops = self._judged(block, rest, marks)
        if not len(repeated):
            return starts, stops
        starts, stops = np.concatenate((starts, repeated)), np.concatenate((stops, repeated + (size - 1)))
        starts.sort()
        stops.sort()
        return starts, stops

    def _judged(self, block: Block, doubted: Int64, marks: Bools) -> tuple[Int64, Int64]:
        """Return as `_no_rows` does, asking about one line after the other."""
        starts: list[int] = []
        stops: list[int] = []
        raw, end = block.raw, bytes((block.end,))
        for start in doubted.tolist():
            stop = raw.index(end, start)
            # Between tabs a line without one is not a row, as comments mostly are.
            if not self.tabs or raw.find(b"\t", start, stop) >= 0:
                if self.is_row(raw[start:stop]):
                    continue
                marks[start:stop] = False
            starts.append(start)
            stops.append(stop)
        if starts:
            last = raw[starts[-1] : stops[-1] + 1]
            self._last_doubtful = last if len(last) <= WORD_BYTES else b""
            marks[stops] = False
        return np.array(starts, np.int64), np.array(stops, np.int64)

    def _doubted(self, data: Bytes, begin: Int64, first: Bytes) -> Bools:
        """Return which lines may not be rows, by where and with what they begin."""
        doubted: Bools = (first == HASH) | (first == BLANK) | (first == TAB)
        if self.doubtful:
            second = true_places(first == self.doubtful[0])
            doubted[second] = data[begin[second] + 1] == self.doubtful[1]
        return doubted

    def _uneven(self, block: Block, data: Bytes) -> BlockRows:
        """Return the rows of any block, counting the fields of each line."""
        view = data[: block.size]
        high = true_places(view == block.end)
        low = np.zeros_like(high)
        low[1:] = high[:-1] + block.step
        split = self._between_tabs if self.tabs else self._between_blanks
        row_lines, starts, ends, blank = split(block, view, low, high)
        begin = low[row_lines] if starts is None else starts[:, 0]
        is_row = np.ones(len(row_lines), np.bool_)
        for row in true_places(self._doubted(data, begin, data.take(begin))).tolist():
            is_row[row] = self.is_row(block.raw[low[row_lines[row]] : high[row_lines[row]]])
        if not is_row.all():
            row_lines, begin, ends = row_lines[is_row], begin[is_row], ends[is_row]
            starts = None if starts is None else starts[is_row]
        other = np.ones(len(high), np.bool_)
        other[row_lines] = False
        others = true_places(other)
        return BlockRows(begin, ends, starts, others - np.arange(len(others)), low[others], high[others], blank[others])

    def _between_tabs(
        self, block: Block, view: Bytes, low: Int64, high: Int64
    ) -> tuple[Int64, Int64 | None, Int64, Bools]:
        """Return the lines with as many fields as columns, the ends of their fields, and which lines are blank."""
        tabs = true_places(view == TAB)
        stop = np.searchsorted(tabs, high)
        first = np.zeros_like(stop)
        first[1:] = stop[:-1]
        count = stop - first + 1
        end = high.copy()
        # Lines with another number of fields lose blanks and tabs at their end.
        lines = true_places(count != self.columns) if self.trimmed else np.zeros(0, np.int64)
        for _ in range(MOST_STRIPPED):
            last = view.take(end[lines] - 1, mode="wrap")
            white = (end[lines] > low[lines]) & ((last == TAB) | (last == BLANK))
            lines = lines[white]
            if not len(lines):
                break
            count[lines] -= last[white] == TAB
            end[lines] -= 1
        else:
            raise NotJudged
        blank = end == low
        row_lines = true_places((count == self.columns) & ~blank)
        ends = np.empty((len(row_lines), self.columns), np.int64)
        ends[:, :-1] = tabs[first[row_lines][:, None] + np.arange(self.columns - 1)]
        ends[:, -1] = end[row_lines]
        return row_lines, None, ends, blank

    def _between_blanks(
        self, block: Block, view: Bytes, low: Int64, high: Int64
    ) -> tuple[Int64, Int64 | None, Int64, Bools]:
        """Return as `_between_tabs` does; with the starts of fields, as runs of any length part them."""
        white = (view == BLANK) | (view == TAB) | (view == END) | (view == block.end)
        starts = true_places(~white[1:] & white[:-1]) + 1
        if not white[0]:
            starts = np.concatenate((np.zeros(1, np.int64), starts))
        ends = true_places(~white[:-1] & white[1:]) + 1
        stop = np.searchsorted(starts, high)
        first = np.zeros_like(stop)
        first[1:] = stop[:-1]
        count = stop - first
        row_lines = true_places(count == self.columns)
        fields = first[row_lines][:, None] + np.arange(self.columns)
        return row_lines, starts[fields], ends[fields], count == 0


class GrowingArrays:
    """Arrays by name, each kept as the blocks' parts until it is asked for."""

    def __init__(self, *names: str) -> None:
        self._parts: dict[str, list[NDArray[Any]]] = {name: [] for name in names}

    def add(self, **parts: NDArray[Any]) -> None:
        for name, part in parts.items():
            self._parts[name].append(part)

    def last(self, name: str) -> NDArray[Any]:
        """Return the part added last."""
        return self._parts[name][-1]

    def parts(self, name: str) -> list[NDArray[Any]]:
        """Return the parts of an array, and forget them."""
        return self._parts.pop(name)

    def whole(self, name: str, *more: NDArray[Any]) -> NDArray[Any]:
        """Return an array, with these at its end, and forget its parts."""
        parts = [*self.parts(name), *more]
        return np.concatenate(parts) if parts else np.zeros(0, np.int64)
