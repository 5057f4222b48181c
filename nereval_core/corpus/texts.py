"""Many texts held as one array of UTF-8 bytes: small, quick to compare and to save, decoded one at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, overload

import numpy as np

from nereval_core.corpus.arrays import Int64, UInt8, frozen

Bytes = UInt8
CONTINUATION = 0x80
"""The two highest bits of a byte of UTF-8 that begins no character."""
BLOCK_BYTES = 1 << 20
"""Bytes searched at once: they fit into the processor's cache."""


class Texts(Sequence[str]):
    """Texts in a row: text i is the UTF-8 of `data[offsets[i]:offsets[i + 1]]`.

    `data` has shape (bytes,), `offsets` (texts + 1,); both arrays become read-only. A caller that knows the `lengths`
    of the texts in code points can spare counting them.
    """

    __slots__ = ("_last", "_lengths", "data", "offsets")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, data: Bytes, offsets: Int64, lengths: Int64 | None = None) -> None:
        self.data = frozen(data)
        self.offsets = frozen(offsets)
        self._lengths = None if lengths is None else frozen(lengths)
        # Number and text that were decoded last: spans are looked up in the order of their documents.
        self._last = (-1, "")

    @classmethod
    def of(cls, texts: Iterable[str]) -> Texts:
        """Return texts that are given as strings.

        Raises:
            UnicodeEncodeError: one of them holds half a surrogate pair.
        """
        return cls.of_bytes([text.encode() for text in texts])

    @classmethod
    def of_bytes(cls, raw: Sequence[bytes | memoryview]) -> Texts:
        """Return texts that are given as their UTF-8."""
        offsets = np.zeros(len(raw) + 1, np.int64)
        np.cumsum(np.fromiter(map(len, raw), np.int64, len(raw)), out=offsets[1:])
        return cls(np.frombuffer(b"".join(raw), np.uint8), offsets)

    @property
    def lengths(self) -> Int64:
        """Length of each text in code points, shape (texts,)."""
        if self._lengths is None:
            self._lengths = self._counted_lengths()
        return self._lengths

    def raw(self, number: int) -> memoryview:
        """Return the bytes of one text, not copied."""
        return self.data.data[int(self.offsets[number]) : int(self.offsets[number + 1])]

    def take(self, numbers: Sequence[int]) -> Texts:
        """Return the texts with these numbers, in the order given."""
        data, places = self.data.data, np.asarray(numbers, np.int64)
        edges = zip(self.offsets[places].tolist(), self.offsets[places + 1].tolist(), strict=True)
        return Texts.of_bytes([data[low:high] for low, high in edges])

    def between(self, low: int, high: int) -> Texts:
        """Return the texts from number `low` up to `high`, exclusive; their bytes are not copied."""
        offsets = self.offsets[low : high + 1]
        return Texts(self.data[int(offsets[0]) : int(offsets[-1])], offsets - offsets[0])

    def same(self, other: Texts) -> bool:
        """Tell whether both hold the same texts in the same order."""
        return bool(np.array_equal(self.offsets, other.offsets) and np.array_equal(self.data, other.data))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[str, ...]: ...
    def __getitem__(self, index: int | slice) -> str | tuple[str, ...]:
        if isinstance(index, slice):
            return tuple(self[number] for number in range(*index.indices(len(self))))
        number = int(index)
        if number < 0:
            number += len(self)
        if not 0 <= number < len(self):
            raise IndexError(index)
        # Read once, as another thread may replace it.
        last_number, text = self._last
        if last_number != number:
            text = str(self.raw(number), "utf-8")
            self._last = (number, text)
        return text

    def __iter__(self) -> Iterator[str]:
        data = self.data.data
        for low, high in pairwise(self.offsets.tolist()):
            yield str(data[low:high], "utf-8")

    def __eq__(self, other: Any) -> bool:
        if isinstance(other, Texts):
            return self.same(other)
        if isinstance(other, Sequence) and not isinstance(other, str):
            return len(self) == len(other) and all(
                text == other_text for text, other_text in zip(self, other, strict=True)
            )
        return NotImplemented

    def _counted_lengths(self) -> Int64:
        lengths = np.diff(self.offsets)
        for low in range(0, len(self.data), BLOCK_BYTES):
            block = self.data[low : low + BLOCK_BYTES]
            if int(block.max()) >= CONTINUATION:
                inner = np.flatnonzero((block & 0xC0) == CONTINUATION) + low
                owner = np.searchsorted(self.offsets, inner, side="right") - 1
                lengths -= np.bincount(owner, minlength=len(lengths))
        return frozen(lengths)
