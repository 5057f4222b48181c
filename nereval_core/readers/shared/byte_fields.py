"""Fields of bytes: numbers, comparisons and codes for thousands of places of an array at once.

Whole words of WORD_BYTES are fetched, so that as many bytes must follow each place: arrays end in as many zeros.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from nereval_core.arrays import Bools, Int32, Int64, UInt64
from nereval_core.corpus.texts import Bytes

WORD_BYTES = 32
"""Bytes moved at once, which takes no longer than fewer would."""
HALVES = WORD_BYTES // 8
ZERO = ord("0")
MOST_DIGITS = 9
"""Numbers of more digits are left to the exact readers."""
MASKS = np.array(
    [[(1 << 8 * min(8, max(0, size - low))) - 1 for low in range(0, WORD_BYTES, 8)] for size in range(WORD_BYTES + 1)],
    np.uint64,
)
"""Masks that keep the first bytes of a word, by their number; shape (sizes, numbers of eight bytes)."""
FACTORS = np.array([0x9E3779B97F4A7C15 * (2 * number + 1) % 2**64 for number in range(HALVES)], np.uint64)
"""Odd numbers that spread the bits of a word over its key."""


def fetch_words(data: Bytes, starts: Int64) -> NDArray[np.void]:
    """Return the WORD_BYTES bytes from each place on."""
    # As numbers of eight bytes they would have to be aligned: numpy copies opaque ones as they stand.
    return np.ndarray((len(data) - WORD_BYTES + 1,), f"V{WORD_BYTES}", data.data, 0, (1,))[starts]


def word_numbers(data: Bytes, starts: Int64, sizes: Int64) -> UInt64:
    """Return strings of at most WORD_BYTES bytes as numbers, zeros after their ends; shape (strings, HALVES)."""
    return fetch_words(data, starts).view("<u8").reshape(-1, HALVES) & MASKS[sizes]


def equal_pieces(data: Bytes, at: Int64, other: Bytes, there: Int64, sizes: Int64) -> Bools:
    """Return which pieces of two arrays are equal, the two of each pair being of one size."""
    equal = np.ones(len(at), np.bool_)
    pieces = np.flatnonzero(sizes)
    done = 0
    while len(pieces):
        rest = np.minimum(sizes[pieces] - done, WORD_BYTES)
        one, two = word_numbers(data, at[pieces] + done, rest), word_numbers(other, there[pieces] + done, rest)
        equal[pieces] &= (one == two).all(axis=1)
        done += WORD_BYTES
        pieces = pieces[sizes[pieces] > done]
    return equal


def numbers(data: Bytes, low: Int64, high: Int64) -> tuple[Int32, Bools]:
    """Return the numbers between the places, and which are not plain: at most MOST_DIGITS digits, no zero first."""
    size = high - low
    wrong = (size < 1) | (size > MOST_DIGITS) | ((size > 1) & (data.take(low, mode="clip") == ZERO))
    values = np.zeros(len(low), np.int32)
    for place in range(min(int(size.max(initial=0)), MOST_DIGITS)):
        digits = data.take(high - (1 + place), mode="clip") - np.uint8(ZERO)
        if place:
            digits *= size > place
        if int(digits.max()) >= 10:
            wrong |= digits >= 10
        values += digits * np.int32(10**place)
    return values, wrong


@dataclass(slots=True)
class Vocabulary:
    """Codes for strings of bytes, such as tags; the code of a string is its place in `names`."""

    names: list[bytes] = field(default_factory=list)
    _codes: dict[bytes, int] = field(default_factory=dict)

    def codes(self, data: Bytes, starts: Int64, sizes: Int64) -> Int32:
        """Return the code of each string, adding new ones."""
        codes = np.empty(len(starts), np.int32)
        short = sizes <= WORD_BYTES
        held = np.flatnonzero(short)
        found = word_numbers(data, starts[held], sizes[held])
        found = found[:, : 1 + int(sizes[held].max(initial=0)) // 8]
        # The size tells strings apart that end in zeros.
        keys = found @ FACTORS[: found.shape[1]] + sizes[held].astype(np.uint64)
        _, first, group = np.unique(keys, return_index=True, return_inverse=True)
        codes[held] = self._looked_up(data, starts[held][first], sizes[held][first])[group]
        # Two strings may have one key.
        same = (found == found[first][group]).all(axis=1) & (sizes[held] == sizes[held][first][group])
        rest = np.concatenate((np.flatnonzero(~short), held[~same]))
        codes[rest] = self._looked_up(data, starts[rest], sizes[rest])
        return codes

    def _looked_up(self, data: Bytes, starts: Int64, sizes: Int64) -> Int32:
        """Return the code of each string, one by one."""
        known = self._codes
        found = []
        for start, size in zip(starts.tolist(), sizes.tolist(), strict=True):
            name = data.data[start : start + size].tobytes()
            code = known.setdefault(name, len(known))
            if code == len(self.names):
                self.names.append(name)
            found.append(code)
        return np.array(found, np.int32)
