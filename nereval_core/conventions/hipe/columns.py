"""The columns of CLEF-HIPE files over tokens, of one side and of both."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from nereval_core.arrays import Int64
from nereval_core.corpus import Documents, Place
from nereval_core.readers.hipe.rows import Document, Row

Codes = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Column:
    """A cell a token: `codes` of shape (tokens,) index `cells`, the distinct cells as the file has them."""

    codes: Codes
    cells: tuple[str, ...]

    @classmethod
    def of(cls, cells: Sequence[str]) -> Column:
        seen: dict[str, int] = {}
        codes = np.fromiter((seen.setdefault(cell, len(seen)) for cell in cells), np.int32, len(cells))
        return cls(codes, tuple(seen))

    def take(self, tokens: Int64) -> Column:
        return replace(self, codes=self.codes[tokens])

    def filled(self, rows: Sequence[tuple[int, int]], cell: str) -> Column:
        """Return the column with this cell in these ranges of rows, end exclusive."""
        if not rows:
            return self
        cells = [self.cells[code] for code in self.codes.tolist()]
        for first, end in rows:
            cells[first:end] = [cell] * (end - first)
        return Column.of(cells)

    def changed(self, change: Callable[[str], str]) -> Column:
        """Return the column with every cell changed."""
        return replace(self, cells=tuple(map(change, self.cells)))


@dataclass(frozen=True, eq=False)
class Pair:
    """Both sides over gold's tokens.

    `doc` is the document of a token as the scorer parts them, `day` its date (ordinal, 0 for none), `noise` the
    distance of its OCR from the manual transcript (NaN for none); `words` are the tokens of gold and prediction, None
    where both are the same. `known` says whether noise is known at all.
    """

    documents: Documents
    gold: Mapping[str, Column]
    pred: Mapping[str, Column]
    doc: Int64
    day: Int64
    noise: NDArray[np.float64]
    words: tuple[Sequence[str], Sequence[str]] | None
    source: str
    noisy: bool = True
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Side:
    """A file or several, row after row: `segments` and `documents` hold the number of the first row of each.

    `lost` holds the first row and the row after the last of each document that the scorer loses: the last document of a
    file that ends with a comment on a segment and no token after it.
    """

    source: str
    rows: list[Row]
    place: Callable[[int], Place]
    columns: Mapping[str, Column]
    segments: list[int]
    documents: list[int]
    lost: list[tuple[int, int]]
    days: list[tuple[int, int]]
    parsed: list[Document]
    newer: bool

    @property
    def words(self) -> list[str]:
        return [row.cells[0] for row in self.rows]

    def shape(self) -> list[list[int]]:
        """Return the number of tokens in each segment of each document that the scorer keeps."""
        size = len(self.rows)
        cuts = [*self.segments, size]
        lengths = dict(zip(self.segments, (high - low for low, high in pairwise(cuts)), strict=True))
        edges = [*self.documents, size]
        kept = [(low, high) for low, high in pairwise(edges) if (low, high) not in self.lost]
        return [[lengths[start] for start in self.segments if low <= start < high] for low, high in kept]
