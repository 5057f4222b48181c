"""Compare the texts and tokens of two sides as arrays, a block of documents at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from nereval_core.arrays import Bools, Int64
from nereval_core.corpus import Documents
from nereval_core.corpus.texts import Texts

BLOCK_ROWS = 1 << 20
"""Bytes of text, or tokens, that are compared at once: they fit into the processor's cache."""


def same_texts(ours: Sequence[str], theirs: Sequence[str], to: Int64) -> Bools:
    """Return for each of their texts whether it equals ours: their number i is compared with our number `to[i]`."""
    if not isinstance(ours, Texts) or not isinstance(theirs, Texts):
        if len(to) == len(ours) and _in_order(to) and ours == theirs:
            return np.ones(len(to), bool)
        pairs = zip(theirs, to.tolist(), strict=True)
        return np.fromiter((text == ours[there] for text, there in pairs), np.bool_, len(to))
    same: Bools = np.diff(theirs.offsets) == np.diff(ours.offsets)[to]
    for block in _blocks(theirs.offsets):
        some = np.flatnonzero(same[block]) + block.start
        here, there, size = _rows(theirs.offsets, ours.offsets, some, to[some])
        if not np.array_equal(theirs.data[here], ours.data[there]):
            odd = np.flatnonzero(theirs.data[here] != ours.data[there])
            same[some[np.searchsorted(np.cumsum(size), odd, side="right")]] = False
    return same


def same_tokens(ours: Documents, theirs: Documents, to: Int64) -> Bools:
    """Return for each of their documents whether tokens equal those of our number `to[i]`, or a side has none."""
    same = np.ones(len(to), np.bool_)
    if ours.tokens is None or theirs.tokens is None:
        return same
    one, two = theirs.tokens, ours.tokens
    if len(to) == len(ours) and _in_order(to) and one.same(two):
        return same
    counts = np.diff(one.first), np.diff(two.first)[to]
    both = (counts[0] > 0) & (counts[1] > 0)
    same[both & (counts[0] != counts[1])] = False
    for block in _blocks(one.first):
        some = np.flatnonzero((both & same)[block]) + block.start
        here, there, size = _rows(one.first, two.first, some, to[some])
        odd = np.flatnonzero((one.starts[here] != two.starts[there]) | (one.ends[here] != two.ends[there]))
        same[some[np.searchsorted(np.cumsum(size), odd, side="right")]] = False
    return same


def _in_order(numbers: Int64) -> bool:
    return bool(np.all(np.diff(numbers) == 1)) and not numbers[:1].any()


def _blocks(first: Int64) -> Iterator[slice]:
    """Yield runs of documents with about BLOCK_ROWS rows; `first` (documents + 1,) counts the rows before each."""
    low = 0
    while low < len(first) - 1:
        high = max(low + 1, int(np.searchsorted(first, first[low] + BLOCK_ROWS, side="right")) - 1)
        yield slice(low, high)
        low = high


def _rows(here: Int64, there: Int64, some: Int64, to: Int64) -> tuple[Any, Any, Int64]:
    """Return the rows of some documents on both sides, as slices if they are consecutive, and the rows of each.

    Documents have equally many rows on both sides.
    """
    size = here[some + 1] - here[some]
    if not len(some):
        return slice(0, 0), slice(0, 0), size
    if some[-1] - some[0] == len(some) - 1 and bool(np.all(np.diff(to) == 1)):
        return (
            slice(int(here[some[0]]), int(here[some[-1] + 1])),
            slice(int(there[to[0]]), int(there[to[-1] + 1])),
            size,
        )
    inside = np.arange(int(size.sum())) - np.repeat(np.cumsum(size) - size, size)
    return inside + np.repeat(here[some], size), inside + np.repeat(there[to], size), size
