"""Fields of bytes: codes of fields and texts of tokens, for thousands of places of an array at once.

Whole words of WORD_BYTES are fetched, so that as many bytes must follow each place: arrays end in as many zeros.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from nereval_core.corpus.arrays import Bools, Int32, Int64, UInt64
from nereval_core.corpus.texts import Bytes

WORD_BYTES = 32
"""Bytes moved at once, which takes no longer than fewer would."""
HALVES = WORD_BYTES // 8
_BYTES_KEPT = np.array(
    [[(1 << 8 * min(8, max(0, size - low))) - 1 for low in range(0, WORD_BYTES, 8)] for size in range(WORD_BYTES + 1)],
    np.uint64,
)
MASKS = tuple(
    np.ascontiguousarray(_BYTES_KEPT[:, :width]).view(f"V{8 * width}").ravel() for width in range(1, HALVES + 1)
)
"""Masks that keep the first bytes of a word, by the numbers of eight bytes that it has, and by the bytes kept.

They are opaque, as each is then copied at once.
"""
FACTORS = np.array([0x9E3779B97F4A7C15 * (2 * number + 1) % 2**64 for number in range(HALVES)], np.uint64)
"""Odd numbers that spread the bits of a word over its key."""


def fetch_words(data: Bytes, starts: Int64, size: int = WORD_BYTES) -> NDArray[np.void]:
    """Return the bytes from each place on, `size` of them."""
    # As numbers of eight bytes they would have to be aligned: numpy copies opaque ones as they stand.
    return np.ndarray((len(data) - size + 1,), f"V{size}", data.data, 0, (1,))[starts]


def word_numbers(data: Bytes, starts: Int64, sizes: Int64, width: int = HALVES) -> UInt64:
    """Return strings of at most 8 * `width` bytes as numbers, zeros after their ends; shape (strings, width)."""
    words: UInt64 = fetch_words(data, starts, 8 * width).view("<u8")
    words &= MASKS[width - 1][sizes].view(np.uint64)
    return words.reshape(-1, width)


LEAST_TABLE_BITS = 12
SLOTS_PER_NAME = 16
"""Places of the table of codes for each string: of so many a string seldom has to share one."""


@dataclass(slots=True)
class Vocabulary:
    """Codes for strings of bytes, such as tags; the code of a string is its place in `names`.

    Nearly all strings of a block were met before. Each is looked up in a table, whose entries are the codes of known
    strings at the first bits of their keys, and is compared with the one found there. Those that differ are sorted out
    one by one; they are new, longer than WORD_BYTES, or share their place in the table.
    """

    names: list[bytes] = field(default_factory=list)
    _codes: dict[bytes, int] = field(default_factory=dict)
    _words: UInt64 = field(default_factory=lambda: np.zeros((0, HALVES), np.uint64))
    """The strings of the table as numbers; `_sizes` is their length."""
    _sizes: Int64 = field(default_factory=lambda: np.zeros(0, np.int64))
    _table: Int32 = field(default_factory=lambda: np.zeros(0, np.int32))
    _searched: int = 0
    """Strings looked up one by one since the table was filled."""

    def codes(self, data: Bytes, starts: Int64, sizes: Int64) -> Int32:
        """Return the code of each string, adding new ones."""
        if not len(starts):
            return np.zeros(0, np.int32)
        longest = int(sizes.max())
        if longest <= WORD_BYTES:
            return self._short(data, starts, sizes, longest)
        codes = np.empty(len(starts), np.int32)
        short = sizes <= WORD_BYTES
        short_strings, long_strings = np.flatnonzero(short), np.flatnonzero(~short)
        if len(short_strings):
            codes[short_strings] = self._short(data, starts[short_strings], sizes[short_strings], WORD_BYTES)
        codes[long_strings] = self._looked_up(data, starts[long_strings], sizes[long_strings])
        return codes

    def _short(self, data: Bytes, starts: Int64, sizes: Int64, longest: int) -> Int32:
        """Return the code of each string of at most `longest` bytes, which are at most WORD_BYTES."""
        width = max(1, (longest + 7) // 8)
        words = word_numbers(data, starts, sizes, width)
        keys = _keys(words, sizes)
        if not len(self._table):
            codes = np.empty(len(starts), np.int32)
            unknown = np.arange(len(starts))
        else:
            codes = self._table[self._slots(keys)]
            same = self._sizes[codes] == sizes
            for half in range(width):
                same &= self._words[codes, half] == words[:, half]
            unknown = np.flatnonzero(~same)
        if len(unknown):
            codes[unknown] = self._unknown(data, starts[unknown], sizes[unknown], words[unknown], keys[unknown])
            # Filling the table takes as long as looking up a part of the names.
            if len(self.names) > len(self._sizes) and 4 * self._searched > len(self.names):
                self._fill()
        return codes

    def _unknown(self, data: Bytes, starts: Int64, sizes: Int64, words: UInt64, keys: UInt64) -> Int32:
        """Return the code of each string, looking up one of those with the same key."""
        _, first, group = np.unique(keys, return_index=True, return_inverse=True)
        codes = self._looked_up(data, starts[first], sizes[first])[group]
        # Two strings may have one key.
        other = np.flatnonzero((words != words[first][group]).any(axis=1) | (sizes != sizes[first][group]))
        codes[other] = self._looked_up(data, starts[other], sizes[other])
        return codes

    def _looked_up(self, data: Bytes, starts: Int64, sizes: Int64) -> Int32:
        """Return the code of each string, one by one."""
        code_of_name = self._codes
        codes = []
        self._searched += len(starts)
        for start, size in zip(starts.tolist(), sizes.tolist(), strict=True):
            name = data.data[start : start + size].tobytes()
            code = code_of_name.setdefault(name, len(code_of_name))
            if code == len(self.names):
                self.names.append(name)
            codes.append(code)
        return np.array(codes, np.int32)

    def _slots(self, keys: UInt64) -> UInt64:
        """Return the places of keys in the table."""
        # Names that count, such as Q1 to Q9999, have keys in regular steps, which alone would share many places.
        mixed = keys ^ (keys >> np.uint64(32))
        mixed *= FACTORS[0]
        mixed >>= np.uint64(65 - len(self._table).bit_length())
        return mixed

    def _fill(self) -> None:
        """Make the table of all names."""
        new = self.names[len(self._sizes) :]
        sizes = np.fromiter(map(len, new), np.int64, len(new))
        words = np.array([name[:WORD_BYTES].ljust(WORD_BYTES, b"\0") for name in new], f"V{WORD_BYTES}")
        self._sizes = np.concatenate((self._sizes, sizes))
        self._words = np.concatenate((self._words, words.view("<u8").reshape(-1, HALVES)))
        self._table = np.zeros(1 << max(LEAST_TABLE_BITS, (SLOTS_PER_NAME * len(self.names)).bit_length()), np.int32)
        self._table[self._slots(_keys(self._words, self._sizes))] = np.arange(len(self._sizes))
        self._searched = 0


def _keys(words: UInt64, sizes: Int64) -> UInt64:
    """Return a key for each string: its size tells strings apart that end in zeros."""
    keys = sizes.astype(np.uint64)
    for half in range(words.shape[1]):
        keys += words[:, half] * FACTORS[half]
    return keys


def true_places(mask: Bools) -> Int64:
    """Return where a mask is true: `np.flatnonzero` without its detours, which tell where blocks are small."""
    places: Int64 = mask.nonzero()[0]
    return places


PIECES_AT_ONCE = 1 << 12
"""Pieces of text moved at once."""
LONG_BYTES = 1 << 10
"""Bytes from which a piece is moved by itself."""
LEAST_FIRST_BYTE = -64
"""Bytes at which a character may begin, as signed numbers, are from this one on."""


def join_pieces(data: Bytes, starts: Int64, sizes: Int64) -> tuple[Bytes, Int64]:
    """Return the pieces of `data` in a row, and where each ends in it; WORD_BYTES zeros must follow the last piece."""
    ends = np.cumsum(sizes)
    total = int(ends[-1]) if len(ends) else 0
    out = np.empty(total + WORD_BYTES, np.uint8)
    target = np.ndarray((total + 1,), f"V{WORD_BYTES}", out.data, 0, (1,))
    at = ends - sizes
    # Whole words are written: what goes beyond a piece's end is written over by the pieces after it. So the further
    # words of longer pieces come first, and the first word of every piece last and in order.
    longest = min(int(sizes.max(initial=1)), LONG_BYTES)
    for word in range((longest - 1) // WORD_BYTES * WORD_BYTES, 0, -WORD_BYTES):
        long = true_places(sizes > word)
        target[at[long] + word] = fetch_words(data, starts[long] + word)
    for low in range(0, len(sizes), PIECES_AT_ONCE):
        target[at[low : low + PIECES_AT_ONCE]] = fetch_words(data, starts[low : low + PIECES_AT_ONCE])
    for piece in true_places(sizes > LONG_BYTES).tolist():
        out[at[piece] : ends[piece]] = data[starts[piece] : starts[piece] + sizes[piece]]
    return out[:total], ends


def without_bytes(parts: Sequence[Bytes], places: Int64) -> Bytes:
    """Return the parts of a text in a row, the bytes at these places (sorted) left out."""
    out = np.empty(sum(map(len, parts)) - len(places), np.uint8)
    here = done = low = 0
    for part in parts:
        high = int(np.searchsorted(places, here + len(part)))
        gone = places[low:high] - here
        is_kept = np.ones(len(part), np.bool_)
        is_kept[gone] = False
        size = len(part) - len(gone)
        out[done : done + size] = part[is_kept]
        done += size
        here, low = here + len(part), high
    return out


def character_counts(text: Bytes, sizes: Int64, stops: Int64) -> tuple[Int64, Int64]:
    """Return sizes and ends of the pieces of a text in code points."""
    # Bytes within a character, 10xxxxxx, are the lowest of the signed ones.
    inner = true_places(text.view(np.int8) < LEAST_FIRST_BYTE)
    if not len(inner):
        return sizes, stops
    if len(inner) > len(stops):
        reached = stops - np.searchsorted(inner, stops)
        return np.diff(reached, prepend=0), reached
    lengths = sizes - np.bincount(np.searchsorted(stops, inner, side="right"), minlength=len(sizes))
    return lengths, np.cumsum(lengths)
