"""Codes for short strings of bytes, as tags are, looked up for many places of a block at once."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from nereval_core.arrays import Int64, UInt64
from nereval_core.corpus.texts import Bytes
from nereval_core.readers.shared.token_columns import WORD, fetched, places_of

Words = list[tuple[Int64 | None, UInt64]]

BITS = 12
"""A table begins with 2 to this power slots. Each string has two; one that finds both taken is looked up by itself."""
MOST_BITS = 20
ROOM = 4
"""So many slots a string has at least."""
PAIR = 16
HALF = PAIR // 2
"""Bytes of a string fetched at once, and taken for a number."""
MOST = 16
"""So many times eight bytes of a string are compared at once."""
FACTORS = np.array([0x9E3779B97F4A7C15 * (2 * number + 1) % 2**64 for number in range(MOST)], np.uint64)
"""Odd numbers that spread the bits of words."""
MASKS = np.array([(1 << 8 * size) - 1 for size in range(HALF + 1)], np.uint64)
"""What is kept of eight bytes, as a number, in which a string of so many ends."""


@dataclass(slots=True)
class Vocabulary:
    """The strings met so far; the code of one is its place in `names`."""

    names: list[bytes] = field(default_factory=list)
    _codes: dict[bytes, int] = field(default_factory=dict)
    _bits: int = BITS
    _table: NDArray[np.int32] = field(default_factory=lambda: np.zeros(1 << BITS, np.int32))
    _words: list[UInt64] = field(default_factory=list)
    _sizes: Int64 = field(default_factory=lambda: np.full(1, -1, np.int64))

    def codes(self, data: Bytes, starts: Int64, sizes: Int64) -> NDArray[np.int32]:
        """Return the code of each string of `data`, new ones added; WORD zeros must follow the last of them."""
        if not len(starts):
            return np.zeros(0, np.int32)
        words = _words(data, starts, sizes)
        mixed = _mixed(words, sizes)
        known = self._table.take(_slot(mixed, self._bits))
        misses = places_of(~self._fits(known, words, sizes))
        if len(misses):
            # The first slot may be another's.
            known[misses] = self._table.take(_slot(mixed[misses], self._bits, 2))
            misses = places_of(~self._fits(known, words, sizes))
        known -= 1
        if len(misses):
            known[misses] = self._added(data, starts[misses], sizes[misses])
        return known

    def _fits(self, known: NDArray[np.int32], words: Words, sizes: Int64) -> NDArray[np.bool_]:
        """Return which strings are those of their slots, byte by byte."""
        fits: NDArray[np.bool_] = self._sizes.take(known) == sizes
        for number, (place, word) in enumerate(words):
            if number == len(self._words):
                fits[place] = False
                break
            if place is None:
                fits &= self._words[number].take(known) == word
            else:
                fits[place] &= self._words[number].take(known[place]) == word
        return fits

    def _added(self, data: Bytes, starts: Int64, sizes: Int64) -> list[int]:
        raw, known = data.data, self._codes
        before = len(known)
        found = [
            known.setdefault(bytes(raw[start : start + size]), len(known))
            for start, size in zip(starts.tolist(), sizes.tolist(), strict=True)
        ]
        if len(known) > before:
            self.names = list(known)
            self._learn(before)
        return found

    def _learn(self, before: int) -> None:
        """Put the strings from this number on into the table."""
        new = self.names[before:]
        sizes = np.fromiter(map(len, new), np.int64, len(new))
        data = np.frombuffer(b"".join(new) + bytes(WORD), np.uint8)
        words = _words(data, np.cumsum(sizes) - sizes, sizes)
        # Strings of more words than these are rare: they are looked up one by one.
        for number in range(max(len(self._words), min(len(words), MOST))):
            here = np.zeros(len(new), np.uint64)
            if number < len(words):
                which, word = words[number]
                here[slice(None) if which is None else which] = word
            if number == len(self._words):
                self._words.append(np.zeros(1 + before, np.uint64))
            self._words[number] = np.concatenate((self._words[number], here))
        self._sizes = np.concatenate((self._sizes, sizes))
        if ROOM * len(self.names) > len(self._table) and self._bits < MOST_BITS:
            while ROOM * len(self.names) > len(self._table) // 2 and self._bits < MOST_BITS:
                self._bits += 1
                self._table = np.zeros(1 << self._bits, np.int32)
            before, sizes = 0, self._sizes[1:]
            data = np.frombuffer(b"".join(self.names) + bytes(WORD), np.uint8)
            words = _words(data, np.cumsum(sizes) - sizes, sizes)
        mixed = _mixed(words, sizes)
        both = np.stack([_slot(mixed, self._bits, which) for which in (1, 2)], axis=1).tolist()
        for number, slots in enumerate(both, start=1 + before):
            free = [slot for slot in slots if not self._table[slot]]
            if free:
                self._table[free[0]] = number


def _words(data: Bytes, starts: Int64, sizes: Int64) -> Words:
    """Return each eight bytes of the strings as a number, zeros after their ends.

    With each goes which strings reach it; None are all.
    """
    longest = int(sizes.max())
    if longest <= HALF:
        return [(None, fetched(data, starts, HALF).view(np.uint64) & MASKS.take(sizes))]
    found: Words = []
    place: Int64 | None = None
    for low in range(0, longest, PAIR):
        here, rest = starts, sizes
        if low:
            place = places_of(sizes > low)
            here, rest = starts[place] + low, sizes[place] - low
        pair = fetched(data, here, PAIR).view(np.uint64).reshape(-1, 2)
        found.append((place, pair[:, 0] & MASKS.take(rest, mode="clip")))
        if int(rest.max()) > HALF:
            found.append((place, pair[:, 1] & MASKS.take(rest - HALF, mode="clip")))
    return found


def _mixed(words: Words, sizes: Int64) -> UInt64:
    """Return a number for each string that its slots are taken from."""
    mixed = sizes.astype(np.uint64)
    # Words of zeros add nothing: the slots of a string are the same beside longer ones.
    for (place, word), factor in zip(words, FACTORS, strict=False):
        if place is None:
            mixed += word * factor
        else:
            mixed[place] += word * factor
    mixed ^= mixed >> np.uint64(29)
    mixed *= FACTORS[0]
    return mixed


def _slot(mixed: UInt64, bits: int, which: int = 1) -> Int64:
    """Return the first or the second slot of each string."""
    return (mixed >> np.uint64(64 - which * bits) & np.uint64((1 << bits) - 1)).view(np.int64)
