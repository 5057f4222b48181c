"""Many texts held as one array of UTF-8 bytes: small, quick to compare and to save, decoded one at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from nereval_core.arrays import Int64

Bytes = NDArray[np.uint8]

CONTINUATION = 0x80
"""A byte that begins no character is one of these in its two highest bits."""
BLOCK = 1 << 20
"""Bytes looked at together: what stays in the processor's cache."""


@dataclass(frozen=True, eq=False)
class Texts(Sequence[str]):
    """Texts in a row: that of number i is the UTF-8 of `data[offsets[i]:offsets[i + 1]]`.

    `data` has shape (bytes,), `offsets` (texts + 1,). Both are read-only views of what they are given.
    """

    data: Bytes
    offsets: Int64

    def __post_init__(self) -> None:
        for array in (self.data, self.offsets):
            array.setflags(write=False)
        # The text decoded last, as spans are looked up in the order of their documents.
        object.__setattr__(self, "_last", (-1, ""))

    @classmethod
    def of(cls, texts: Iterable[str]) -> Texts:
        """Return texts that are held as strings so far.

        Raises:
            UnicodeEncodeError: one of them holds half a surrogate pair.
        """
        raw = [text.encode() for text in texts]
        offsets = np.zeros(len(raw) + 1, np.int64)
        np.cumsum(np.fromiter(map(len, raw), np.int64, len(raw)), out=offsets[1:])
        return cls(np.frombuffer(b"".join(raw), np.uint8), offsets)

    @cached_property
    def lengths(self) -> Int64:
        """Length of each text in code points, shape (texts,)."""
        sizes = np.diff(self.offsets)
        for low in range(0, len(self.data), BLOCK):
            block = self.data[low : low + BLOCK]
            if int(block.max()) >= CONTINUATION:
                inner = np.flatnonzero((block & 0xC0) == CONTINUATION) + low
                owner = np.searchsorted(self.offsets, inner, side="right") - 1
                sizes -= np.bincount(owner, minlength=len(sizes))
        sizes.setflags(write=False)
        return sizes

    def raw(self, number: int) -> memoryview:
        """Return the bytes of one text, not copied."""
        return self.data.data[int(self.offsets[number]) : int(self.offsets[number + 1])]

    def take(self, numbers: Iterable[int]) -> Texts:
        """Return these texts, in the order given."""
        rows = np.fromiter(numbers, np.int64)
        sizes = np.diff(self.offsets)[rows]
        offsets = np.zeros(len(rows) + 1, np.int64)
        np.cumsum(sizes, out=offsets[1:])
        parts = [self.raw(number) for number in rows.tolist()]
        return Texts(np.frombuffer(b"".join(parts), np.uint8), offsets)

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
        last: tuple[int, str] = self.__dict__["_last"]
        if last[0] == number:
            return last[1]
        text = str(self.raw(number), "utf-8")
        object.__setattr__(self, "_last", (number, text))
        return text

    def __iter__(self) -> Iterator[str]:
        data = self.data.data
        for low, high in pairwise(self.offsets.tolist()):
            yield str(data[low:high], "utf-8")

    def __eq__(self, other: Any) -> bool:
        if isinstance(other, Texts):
            return self.same(other)
        if isinstance(other, Sequence) and not isinstance(other, str):
            return len(self) == len(other) and all(one == two for one, two in zip(self, other, strict=True))
        return NotImplemented

    __hash__ = None  # type: ignore[assignment]
