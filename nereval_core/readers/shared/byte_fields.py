"""Numbers and names where they stand in an array of bytes: thousands of places looked at together.

Words of WORD bytes are fetched at once, so that as many bytes must follow each place: arrays end in as many zeros.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from nereval_core.arrays import Bools, Int64
from nereval_core.corpus.texts import Bytes

Words = NDArray[np.uint64]

WORD = 16
ZERO = ord("0")
DIGITS = 9
"""Numbers of more digits are left to whoever reads exactly."""
FACTOR = np.uint64(0x9E3779B97F4A7C15)
MASKS = tuple(
    np.array([(1 << 8 * min(8, max(0, size - before))) - 1 for size in range(WORD + 1)], np.uint64) for before in (0, 8)
)
"""What is kept of the two halves of a word in which a name of so many bytes ends, little endian."""


def words(data: Bytes, at: Int64) -> Words:
    """Return the WORD bytes from each place on, as two numbers each, in a row."""
    # As numbers of eight bytes they would have to be aligned: opaque ones are copied as they stand.
    return np.ndarray((len(data) - WORD + 1,), f"V{WORD}", data.data, 0, (1,))[at].view("<u8")


def stand(data: Bytes, at: Int64, expected: bytes) -> bool:
    """Tell whether these bytes, at most WORD of them, stand at all the places."""
    fetched = words(data, at)
    for half in range(0, len(expected), 8):
        part = expected[half : half + 8]
        mask, wanted = (np.frombuffer(raw.ljust(8, b"\0"), "<u8")[0] for raw in (b"\xff" * len(part), part))
        found = fetched[half // 8 :: 2] & mask
        if np.any(found != wanted):
            return False
    return True


def same(data: Bytes, at: Int64, other: Bytes, there: Int64, sizes: Int64) -> Bools:
    """Tell which pieces of two arrays are equal, both of the same size."""
    found = np.ones(len(at), np.bool_)
    place = np.flatnonzero(sizes)
    done = 0
    while len(place):
        rest = np.minimum(sizes[place] - done, WORD)
        one, two = words(data, at[place] + done), words(other, there[place] + done)
        one ^= two
        found[place] &= ((one[0::2] & MASKS[0].take(rest)) | (one[1::2] & MASKS[1].take(rest))) == 0
        done += WORD
        place = place[sizes[place] > done]
    return found


def numbers(data: Bytes, low: Int64, high: Int64) -> tuple[NDArray[np.int32], Bools]:
    """Return the numbers between the places, and where there is none in plain digits, at most DIGITS, no zero first."""
    size = high - low
    wrong = (size < 1) | (size > DIGITS) | ((size > 1) & (data.take(low, mode="clip") == ZERO))
    values = np.zeros(len(low), np.int32)
    for place in range(min(int(size.max(initial=0)), DIGITS)):
        digits = data.take(high - (1 + place), mode="clip") - np.uint8(ZERO)
        if place:
            digits *= size > place
        if int(digits.max()) >= 10:
            wrong |= digits >= 10
        values += digits * np.int32(10**place)
    return values, wrong


class Types:
    """Codes of types, looked up where they stand; `code` gives the code of one that is new."""

    def __init__(self, code: Callable[[str], int]) -> None:
        self._code = code
        self._known: dict[bytes, int] = {}
        self._learn([])

    def codes(self, raw: bytes, low: Int64, high: Int64) -> Sequence[int] | Int64:
        """Return the code of each type, none of which holds NUL; WORD bytes must follow where the last one begins.

        Raises:
            UnicodeDecodeError: one that is not UTF-8; and whatever `code` raises.
        """
        sizes = high - low
        if len(self._keys) and int(sizes.max()) <= WORD:
            found = words(np.frombuffer(raw, np.uint8), low)
            first, second = found[0::2] & MASKS[0].take(sizes), found[1::2] & MASKS[1].take(sizes)
            key = first * FACTOR + second
            for _ in range(2):
                at = np.searchsorted(self._keys, key)
                known = (self._first.take(at, mode="clip") == first) & (self._second.take(at, mode="clip") == second)
                if known.all():
                    return self._codes.take(at)
                new = np.flatnonzero(~known)
                self._learn(raw[a:b] for a, b in zip(low[new].tolist(), high[new].tolist(), strict=True))
        # Long ones, and two that have the same key.
        names = [raw[a:b] for a, b in zip(low.tolist(), high.tolist(), strict=True)]
        self._learn(names)
        return list(map(self._known.__getitem__, names))

    def _learn(self, names: Iterable[bytes]) -> None:
        for name in dict.fromkeys(names):
            if name not in self._known:
                self._known[name] = self._code(name.decode())
        short = [name for name in self._known if len(name) <= WORD]
        found = np.frombuffer(b"".join(name.ljust(WORD, b"\0") for name in short), "<u8")
        keys = found[0::2] * FACTOR + found[1::2]
        order = np.argsort(keys)
        self._keys, self._first, self._second = keys[order], found[0::2][order], found[1::2][order]
        self._codes = np.array([self._known[name] for name in short], np.int64)[order]
