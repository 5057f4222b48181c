"""Lines of columns, split for a block of bytes at once: where each field of each row stands.

A block holds whole lines. Fields are split by tabs, or by runs of blanks and tabs. Nothing is decoded and no object is
made for a line: the lexer looks for separators and line ends only, and leaves lines that are no rows to its caller.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nereval_core.arrays import Bools, Int64
from nereval_core.corpus.texts import CONTINUATION, Bytes

BLOCK = 1 << 20
"""Bytes read at once: with fewer, the calls for each block take longer than what they do."""
EVERY = slice(None)
WORD = 32
"""Bytes moved at once, which takes no longer than fewer would.

Each block is followed by so many zeros, so that the last fields can be fetched too.
"""
DENSE = 8
"""Where more than one byte in so many continues a character, characters are counted byte by byte."""
SPARSE = 500
"""Where fewer than one byte in so many is left out, what stands between them is copied piece by piece."""
PIECE = 1 << 12
"""So many pieces of text are moved at once."""
ZEROS = bytes(WORD)
BOM = b"\xef\xbb\xbf"
TAB, END, RETURN, BLANK, HASH, DASH = b"\t\n\r #-"
ALIKE = 100
"""So many lines are kept that may come again."""
STRIPPED = 10_000
"""So many blanks at the end of a line are taken off; more is a case for reading line by line."""


class Unjudged(Exception):  # noqa: N818 - no error of the input
    """Something that this way of reading cannot judge exactly: the file is to be read line by line."""


class Block(NamedTuple):
    """Whole lines as bytes, `size` of them, then WORD zeros.

    Each line is ended by a line feed alone, or each by a carriage return (`end`) and a line feed (`step` bytes).
    """

    raw: bytes
    size: int
    ascii: bool
    end: int = END

    @property
    def step(self) -> int:
        return 1 if self.end == END else 2

    def lines(self) -> list[str]:
        return self.raw[: self.size].decode().split("\n" if self.end == END else "\r\n")[:-1]


def blocks(stream: BinaryIO, size: int = BLOCK) -> Iterator[Block]:
    """Yield the lines of a file, block by block, without byte-order mark.

    Raises:
        Unjudged: not UTF-8.
    """
    held: list[bytes] = []
    piece = stream.read(max(size, len(BOM)))
    if piece.startswith(BOM):
        piece = piece[len(BOM) :] or stream.read(size)
    while piece:
        cut = piece.rfind(b"\n") + 1
        if cut:
            yield _block(b"".join((*held, memoryview(piece)[:cut], ZEROS)))
            held = []
        held.append(piece[cut:])
        piece = stream.read(size)
    if last := b"".join(held):
        yield _block(last + b"\n" + ZEROS)


def _block(raw: bytes) -> Block:
    """Return the block of these lines, WORD zeros after them."""
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
            raise Unjudged from None
    return Block(raw, len(raw) - WORD, plain, end)


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of a block and the lines between them; places are bytes of the block, ends exclusive.

    `begin` has shape (rows,), `ends` (rows, columns); `starts` is None where each field begins one byte after the one
    before it ends. The lines that are no rows have shape (others,): `before` says how many rows stand before each,
    `low` and `high` where it stands, `blank` whether nothing is in it, `alike` whether it is `Lexer.alike`.
    """

    begin: Int64
    ends: Int64
    starts: Int64 | None
    before: Int64
    low: Int64
    high: Int64
    blank: Bools
    alike: Bools

    def __len__(self) -> int:
        return len(self.begin)

    def field(self, column: int, rows: Int64 | slice = EVERY) -> tuple[Int64, Int64]:
        """Return where the fields of a column start and end, in these rows."""
        ends = self.ends[rows, column]
        if self.starts is not None:
            return self.starts[rows, column], ends
        return self.begin[rows] if column == 0 else self.ends[rows, column - 1] + 1, ends

    def filled(self, data: Bytes, column: int, tabs: bool, plain: bytes) -> Int64:
        """Return the rows whose field in this column, not the first, is something else than one of these bytes."""
        # One byte alone is known by what stands before it, which spares looking where the field begins.
        place = self.ends[:, column] - 1
        last = data.take(place)
        place -= 1
        before = data.take(place)
        alone = before == TAB
        if not tabs:
            alone |= before == BLANK
        known = last == plain[0]
        for byte in plain[1:]:
            known |= last == byte
        alone &= known
        return places_of(~alone)


@dataclass(slots=True)
class Lexer:
    """How lines are split.

    `is_row` is asked about lines of as many fields as columns that begin with #, white space or `doubtful`. The first
    byte of `doubtful` must be DASH or one before it.
    """

    columns: int
    tabs: bool
    is_row: Callable[[bytes], bool]
    doubtful: bytes = b""
    trimmed: bool = True
    """Whether blanks and tabs at the end of a line are taken off where it has too many fields."""
    judged: dict[bytes, bool] = field(default_factory=dict)
    """What `is_row` said of some lines."""
    alike: bytes = b""
    """The last of them that is no row: there may be as many as documents, and most are alike."""

    def rows(self, block: Block) -> Rows:
        """Return the rows of a block.

        Raises:
            Unjudged: see there.
        """
        data = np.frombuffer(block.raw, np.uint8)
        return self._even(block, data) or self._uneven(block, data)

    def _even(self, block: Block, data: Bytes) -> Rows | None:
        """Return the rows of a block in which all lines but empty and doubtful ones are alike, else None."""
        view, end, step = data[: block.size], block.end, block.step
        ends = view == end
        marks = view == (TAB if self.tabs else BLANK)
        if not self.tabs and b"\t" in block.raw:
            marks |= view == TAB
        marks |= ends
        # What begins a line that is no row comes early in the alphabet.
        early = places_of(ends[:-step] & (view[step:] <= DASH)) + step
        if view[0] <= DASH:
            early = np.concatenate((np.zeros(1, np.int64), early))
        first = view[early]
        high = early[first == end]
        marks[high] = False
        low, blank, alike = high, np.ones(len(high), np.bool_), np.zeros(len(high), np.bool_)
        doubted = early[self._doubted(data, early, first)]
        if len(doubted):
            starts, stops, same = self._no_rows(block, data, doubted, marks)
            order = np.argsort(np.concatenate((high, stops)), kind="stable")
            blank = order < len(high)
            alike = np.concatenate((alike, same))[order]
            low, high = np.concatenate((low, starts))[order], np.concatenate((high, stops))[order]
        if not self.tabs and (marks[0] or (marks[1:] & marks[:-1]).any()):
            return None
        if not self.tabs and step > 1 and (marks[step:] & ends[:-step]).any():
            return None
        found = places_of(marks)
        count, rest = divmod(len(found), self.columns)
        if rest or count + len(high) != np.count_nonzero(ends):
            return None
        places: Int64 = found.reshape(count, self.columns)
        last = places[:, -1].copy()
        if not ends.take(last).all():
            return None
        begin = np.empty(count, np.int64)
        begin[:1] = 0
        np.add(last[:-1], step, out=begin[1:])
        before = np.zeros(0, np.int64)
        if len(high):
            # Lines that are no rows stand in groups; each begins where the row after it would.
            heads = np.ones(len(high), np.bool_)
            heads[1:] = low[1:] != high[:-1] + step
            ends[low] = True
            followed = places_of(ends.take(begin))
            before = np.concatenate((followed, np.full(1, count)))[heads.cumsum() - 1]
            begin[followed] = high[np.concatenate((heads[1:], heads[:1]))][: len(followed)] + step
        return Rows(begin, places, None, before, low, high, blank, alike)

    def _no_rows(self, block: Block, data: Bytes, doubted: Int64, marks: Bools) -> tuple[Int64, Int64, Bools]:
        """Return where those of the lines that begin here stand that are no rows, and which are `alike`.

        What parts their fields is taken off the marks.
        """
        starts: list[int] = []
        stops: list[int] = []
        raw, end = block.raw, bytes((block.end,))
        if self.doubtful and not self.alike and raw.startswith(self.doubtful, doubted[0]):
            self._asked(raw[doubted[0] : raw.index(end, doubted[0])])
        wanted = self.alike + end
        size = len(wanted)
        same = doubted[:0]
        if size > 1 and len(marks) >= size:
            pieces = f"V{size}"
            inner = doubted[doubted <= len(marks) - size]
            windows = np.ndarray((len(data) - size + 1,), pieces, data.data, 0, (1,))[inner]
            equal = (windows.view(np.uint8).reshape(-1, size) == np.frombuffer(wanted, np.uint8)).all(axis=1)
            same = inner[equal]
            np.ndarray((len(marks) - size + 1,), pieces, marks.data, 0, (1,))[same] = np.zeros(1, pieces)
            doubted = np.concatenate((inner[~equal], doubted[len(inner) :]))
        for start in doubted.tolist():
            stop = raw.index(end, start)
            # Between tabs a line without one is no row, as comments mostly are.
            if not self.tabs or raw.find(b"\t", start, stop) >= 0:
                line = raw[start:stop]
                taken = self.judged.get(line)
                if self._asked(line) if taken is None else taken:
                    continue
                marks[start:stop] = False
            starts.append(start)
            stops.append(stop)
        marks[stops] = False
        others = np.zeros(len(same) + len(starts), np.bool_)
        others[: len(same)] = True
        return (
            np.concatenate((same, np.array(starts, np.int64))),
            np.concatenate((same + (size - 1), np.array(stops, np.int64))),
            others,
        )

    def _asked(self, line: bytes) -> bool:
        """Return whether a doubtful line is a row."""
        found = self.is_row(line)
        if self.doubtful and line.startswith(self.doubtful) and len(self.judged) < ALIKE:
            self.judged[line] = found
            if not found:
                self.alike = line
        return found

    def _doubted(self, data: Bytes, begin: Int64, first: Bytes) -> Bools:
        """Return which lines or rows may be none, by where and with what they begin."""
        doubted: Bools = (first == HASH) | (first == BLANK) | (first == TAB)
        if self.doubtful:
            second = places_of(first == self.doubtful[0])
            doubted[second] = data[begin[second] + 1] == self.doubtful[1]
        return doubted

    def _uneven(self, block: Block, data: Bytes) -> Rows:
        """Return the rows of any block, counting the fields of each line."""
        view = data[: block.size]
        high = places_of(view == block.end)
        low = np.zeros_like(high)
        low[1:] = high[:-1] + block.step
        found, starts, ends, blank = (self._between_tabs if self.tabs else self._between_blanks)(block, view, low, high)
        begin = low[found] if starts is None else starts[:, 0]
        kept = np.ones(len(found), np.bool_)
        for row in places_of(self._doubted(data, begin, data.take(begin))).tolist():
            kept[row] = self._asked(block.raw[low[found[row]] : high[found[row]]])
        if not kept.all():
            found, begin, ends = found[kept], begin[kept], ends[kept]
            starts = None if starts is None else starts[kept]
        other = np.ones(len(high), np.bool_)
        other[found] = False
        others = places_of(other)
        before, alike = others - np.arange(len(others)), np.zeros(len(others), np.bool_)
        return Rows(begin, ends, starts, before, low[others], high[others], blank[others], alike)

    def _between_tabs(
        self, block: Block, view: Bytes, low: Int64, high: Int64
    ) -> tuple[Int64, Int64 | None, Int64, Bools]:
        """Return the lines with as many fields as columns, the ends of their fields, and which lines are blank."""
        tabs = places_of(view == TAB)
        stop = np.searchsorted(tabs, high)
        first = np.zeros_like(stop)
        first[1:] = stop[:-1]
        count = stop - first + 1
        end = high.copy()
        # Where the number is wrong, blanks and tabs at the end are taken off.
        lines = places_of(count != self.columns) if self.trimmed else np.zeros(0, np.int64)
        for _ in range(STRIPPED):
            last = view.take(end[lines] - 1, mode="wrap")
            white = (end[lines] > low[lines]) & ((last == TAB) | (last == BLANK))
            lines = lines[white]
            if not len(lines):
                break
            count[lines] -= last[white] == TAB
            end[lines] -= 1
        else:
            raise Unjudged
        blank = end == low
        found = places_of((count == self.columns) & ~blank)
        ends = np.empty((len(found), self.columns), np.int64)
        ends[:, :-1] = tabs[first[found][:, None] + np.arange(self.columns - 1)]
        ends[:, -1] = end[found]
        return found, None, ends, blank

    def _between_blanks(
        self, block: Block, view: Bytes, low: Int64, high: Int64
    ) -> tuple[Int64, Int64 | None, Int64, Bools]:
        """Return as `_between_tabs` does; with the starts of fields, as runs of any length part them."""
        white = (view == BLANK) | (view == TAB) | (view == END) | (view == block.end)
        starts = places_of(~white[1:] & white[:-1]) + 1
        if not white[0]:
            starts = np.concatenate((np.zeros(1, np.int64), starts))
        ends = places_of(~white[:-1] & white[1:]) + 1
        stop = np.searchsorted(starts, high)
        first = np.zeros_like(stop)
        first[1:] = stop[:-1]
        count = stop - first
        found = places_of(count == self.columns)
        fields = first[found][:, None] + np.arange(self.columns)
        return found, starts[fields], ends[fields], count == 0


def places_of(mask: Bools) -> Int64:
    """Return where a mask is true: `np.flatnonzero` without its detours, which tell where blocks are small."""
    found: Int64 = mask.nonzero()[0]
    return found


def fetched(data: Bytes, starts: Int64, size: int = WORD) -> NDArray[np.void]:
    """Return so many bytes, at most WORD, from each place on."""
    # As numbers of eight bytes they would have to be aligned: numpy copies opaque ones as they stand.
    return np.ndarray((len(data) - size + 1,), f"V{size}", data.data, 0, (1,))[starts]


def joined(data: Bytes, starts: Int64, sizes: Int64) -> tuple[Bytes, Int64]:
    """Return the pieces of `data` in a row, and where each ends in it; WORD zeros must follow the last piece."""
    ends = np.cumsum(sizes)
    total = int(ends[-1]) if len(ends) else 0
    out = np.empty(total + WORD, np.uint8)
    target = np.ndarray((total + 1,), f"V{WORD}", out.data, 0, (1,))
    at = ends - sizes
    # Whole words are written: what goes beyond a piece's end is written over by the pieces after it. So the further
    # words of long pieces come first, and the first word of every piece last and in order.
    for word in range((int(sizes.max(initial=1)) - 1) // WORD * WORD, 0, -WORD):
        long = places_of(sizes > word)
        target[at[long] + word] = fetched(data, starts[long] + word)
    for low in range(0, len(sizes), PIECE):
        target[at[low : low + PIECE]] = fetched(data, starts[low : low + PIECE])
    return out[:total], ends


def without(parts: Sequence[Bytes], places: Int64) -> Bytes:
    """Return the parts of a text in a row, the bytes at these places (sorted) left out."""
    out = np.empty(sum(map(len, parts)) - len(places), np.uint8)
    here = done = low = 0
    for part in parts:
        high = int(np.searchsorted(places, here + len(part)))
        gone = places[low:high] - here
        if len(gone) * SPARSE > len(part):
            mask = np.ones(len(part), np.bool_)
            mask[gone] = False
            pieces = [part[mask]]
        else:
            pieces = [part[a + 1 : b] for a, b in pairwise((-1, *gone.tolist(), len(part)))]
        for piece in pieces:
            out[done : done + len(piece)] = piece
            done += len(piece)
        here, low = here + len(part), high
    return out


def characters(text: Bytes, sizes: Int64, stops: Int64) -> tuple[Int64, Int64]:
    """Return sizes and ends of the pieces of a text in code points."""
    inner = (text & 0xC0) == CONTINUATION
    count = int(np.count_nonzero(inner))
    if not count:
        return sizes, stops
    if count * DENSE < len(text):
        owners = np.searchsorted(stops, places_of(inner), side="right")
        lengths = sizes - np.bincount(owners, minlength=len(sizes))
        return lengths, np.cumsum(lengths)
    reached = stops - np.cumsum(inner)[stops - 1]
    return np.diff(reached, prepend=0), reached
