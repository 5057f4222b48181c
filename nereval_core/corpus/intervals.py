"""Half-open intervals of code points by document: tokens and sentences."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nereval_core.corpus.arrays import Bools, Int32, Int64, edges_of, frozen

Integers = NDArray[np.integer[Any]]

BLOCK_INTERVALS = 1 << 16
"""Intervals that are placed at once: they fit into the processor's cache."""
LARGEST_OFFSET = 2**40
"""Larger offsets, which lie outside any text, are clipped to this number to fit into int64."""


class Intervals:
    """Half-open intervals by document: those of document d are `starts[first[d]:first[d + 1]]`, `ends[...]`."""

    __slots__ = ("_places", "first")

    def __init__(self, first: Int64, starts: Int32, ends: Int32) -> None:
        self.first = first
        self._places: tuple[Int32, Int32] | None = (starts, ends)

    @classmethod
    def of(cls, by_document: Sequence[Sequence[tuple[int, int]]]) -> Intervals:
        """Return intervals from the (start, end) pairs of each document."""
        sizes = np.fromiter((len(row) for row in by_document), np.int64, len(by_document))
        first = edges_of(sizes)
        try:
            places = chain.from_iterable(chain.from_iterable(by_document))
            flat = np.fromiter(places, np.int32, 2 * int(first[-1])).reshape(-1, 2)
        except OverflowError:
            # Numbers beyond int32 are clipped: they lie outside any text and are refused as such.
            edges = offset_array([edge for row in by_document for pair in row for edge in pair])
            flat = np.clip(edges, -1, np.iinfo(np.int32).max).astype(np.int32).reshape(-1, 2)
        return cls(frozen(first), frozen(flat[:, 0].copy()), frozen(flat[:, 1].copy()))

    @property
    def places(self) -> tuple[Int32, Int32]:
        """Starts and ends of the intervals, each of shape (intervals,)."""
        assert self._places is not None
        return self._places

    @property
    def starts(self) -> Int32:
        return self.places[0]

    @property
    def ends(self) -> Int32:
        return self.places[1]

    def tile_texts(self, lengths: Int64) -> bool:
        """Tell whether the intervals are known to be valid in texts of these lengths.

        False means that each interval has to be checked.
        """
        return False

    def same(self, other: Intervals) -> bool:
        """Tell whether both hold the same intervals."""
        return all(np.array_equal(getattr(self, key), getattr(other, key)) for key in ("first", "starts", "ends"))

    def take(self, documents: Int64) -> Intervals:
        """Return the intervals of the documents with these (increasing) numbers."""
        low = self.first[documents]
        sizes = self.first[documents + 1] - low
        first = edges_of(sizes)
        rows = np.arange(first[-1]) + np.repeat(low - first[:-1], sizes)
        return Intervals(frozen(first), frozen(self.starts[rows]), frozen(self.ends[rows]))

    def between(self, low: int, high: int) -> Intervals:
        """Return the intervals of the documents from number `low` up to `high`, exclusive; places are not copied."""
        first = self.first[low : high + 1]
        rows = slice(int(first[0]), int(first[-1]))
        return Intervals(frozen(first - first[0]), frozen(self.starts[rows]), frozen(self.ends[rows]))

    def of_document(self, document: int) -> list[tuple[int, int]]:
        low, high = self.first[document], self.first[document + 1]
        return list(zip(self.starts[low:high].tolist(), self.ends[low:high].tolist(), strict=True))

    def near(self, document: int, low: int, high: int) -> list[tuple[int, int]]:
        """Return the intervals of a document that begin between two places, and one on either side of these."""
        begin, end = self.first[document], self.first[document + 1]
        starts = self.starts[begin:end]
        places = slice(max(np.searchsorted(starts, low) - 1, 0), np.searchsorted(starts, high) + 1)
        return list(zip(starts[places].tolist(), self.ends[begin:end][places].tolist(), strict=True))


class SpacedIntervals(Intervals):
    """Intervals that follow one another in each document from 0 on, held as their sizes.

    The size of an interval counts the characters after it too: one, or as many as `gaps` says. Those after the last
    interval of a document are not part of the document. Starts and ends are computed when they are first asked for:
    many corpora are scored without them.
    """

    __slots__ = ("gaps", "sizes")

    def __init__(self, first: Int64, sizes: Integers, gaps: Integers | None = None) -> None:
        self.first = frozen(first)
        self.sizes = frozen(sizes)
        self.gaps = gaps if gaps is None else frozen(gaps)
        self._places = None

    @property
    def places(self) -> tuple[Int32, Int32]:
        """Starts and ends of the intervals, each of shape (intervals,)."""
        if self._places is None:
            self._places = self._computed_places()
        return self._places

    def tile_texts(self, lengths: Int64) -> bool:
        """Tell whether each text is as long as its intervals and the gaps between them, and no interval is empty."""
        first, sizes, gaps = self.first, self.sizes, self.gaps
        if not len(sizes):
            return True
        filled: Bools = np.diff(first) > 0
        reached = np.add.reduceat(sizes, first[:-1][filled], dtype=np.int64)
        last = 1 if gaps is None else gaps[first[1:][filled] - 1]
        least = sizes.min() > 1 if gaps is None else (sizes > gaps).all()
        return bool(least) and np.array_equal(reached - last, lengths[filled])

    def same(self, other: Intervals) -> bool:
        """Tell whether both hold the same intervals, by their sizes where these decide it."""
        if isinstance(other, SpacedIntervals) and self.gaps is None and other.gaps is None:
            return np.array_equal(self.first, other.first) and np.array_equal(self.sizes, other.sizes)
        return super().same(other)

    def _computed_places(self) -> tuple[Int32, Int32]:
        first, sizes, gaps = self.first, self.sizes, self.gaps
        starts, ends = np.empty(len(sizes), np.int32), np.empty(len(sizes), np.int32)
        base = np.zeros(len(first) - 1, np.int64)
        done = 0
        for low in range(0, len(sizes), BLOCK_INTERVALS):
            reached = np.cumsum(sizes[low : low + BLOCK_INTERVALS], dtype=np.int64) + done
            before = reached - sizes[low : low + BLOCK_INTERVALS]
            done = int(reached[-1])
            high = low + len(reached)
            # The documents that begin in this block, and those that reach into it.
            begun = slice(*np.searchsorted(first[:-1], (low, high)).tolist())
            base[begun] = before[first[:-1][begun] - low]
            within = slice(int(np.searchsorted(first[1:], low, side="right")), begun.stop)
            shift = np.repeat(base[within], np.diff(first[within.start : within.stop + 1].clip(low, high)))
            starts[low:high] = before - shift
            ends[low:high] = reached - (1 if gaps is None else gaps[low:high]) - shift
        return frozen(starts), frozen(ends)


def offset_array(values: Sequence[int] | Integers) -> Int64:
    """Return offsets as int64, numbers beyond any text clipped so that they are refused as outside."""
    try:
        return np.asarray(values, np.int64).reshape(-1)
    except OverflowError:
        return np.array([max(-LARGEST_OFFSET, min(LARGEST_OFFSET, int(value))) for value in values], np.int64)
