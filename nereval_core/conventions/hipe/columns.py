"""The columns of CLEF-HIPE files over tokens, of one side and of both."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nereval_core.arrays import Int64
from nereval_core.conventions.hipe.versions import LAYER_COLUMNS, LITERAL_LINKS, MENTIONS, NEL, HipeVersion
from nereval_core.corpus import Documents, Layer, Place
from nereval_core.problems import FormatError
from nereval_core.readers.hipe.rows import HipeDocument, TokenRow
from nereval_core.readers.shared.token_tags import tags_of_layer, with_tokens

Codes = NDArray[np.int32]
DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


@dataclass(frozen=True, eq=False)
class CellColumn:
    """A cell a token: `codes` of shape (tokens,) index `cells`, the distinct cells as the file has them."""

    codes: Codes
    cells: tuple[str, ...]

    @classmethod
    def of(cls, cells: Sequence[str]) -> CellColumn:
        seen: dict[str, int] = {}
        codes = np.fromiter((seen.setdefault(cell, len(seen)) for cell in cells), np.int32, len(cells))
        return cls(codes, tuple(seen))

    def take(self, tokens: Int64) -> CellColumn:
        return replace(self, codes=self.codes[tokens])

    def filled(self, rows: Sequence[tuple[int, int]], cell: str) -> CellColumn:
        """Return the column with this cell in these ranges of rows, end exclusive."""
        if not rows:
            return self
        cells = [self.cells[code] for code in self.codes.tolist()]
        for first, end in rows:
            cells[first:end] = [cell] * (end - first)
        return CellColumn.of(cells)

    def changed(self, change: Callable[[str], str]) -> CellColumn:
        """Return the column with every cell changed."""
        return replace(self, cells=tuple(map(change, self.cells)))


@dataclass(frozen=True, eq=False)
class ColumnPair:
    """Both sides over gold's tokens.

    `doc` is the document of a token as the scorer parts them, `day` its date (ordinal, 0 for none), `noise` the
    distance of its OCR from the manual transcript (NaN for none); `words` are the tokens of gold and prediction, None
    where both are the same. `known` says whether noise is known at all.
    """

    documents: Documents
    gold: Mapping[str, CellColumn]
    pred: Mapping[str, CellColumn]
    doc: Int64
    day: Int64
    noise: NDArray[np.float64]
    words: tuple[Sequence[str], Sequence[str]] | None
    source: str
    noisy: bool = True
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class ColumnFiles:
    """A file or several, row after row: `segments` and `documents` hold the number of the first row of each.

    `lost` holds the first row and the row after the last of each document that the scorer loses: the last document of a
    file that ends with a comment on a segment and no token after it.
    """

    source: str
    rows: list[TokenRow]
    place: Callable[[int], Place]
    columns: Mapping[str, CellColumn]
    segments: list[int]
    documents: list[int]
    lost: list[tuple[int, int]]
    days: list[tuple[int, int]]
    parsed: list[HipeDocument]
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


def pair_of_layers(gold: Layer, pred: Layer, version: HipeVersion, options: Mapping[str, Any]) -> ColumnPair:
    """Return layers over the same documents as a pair of one column of tags, for linking with one of links too.

    Raises:
        FormatError: spans that tags cannot say.
    """
    linking = options["task"] == NEL
    name = MENTIONS[LITERAL_LINKS] if linking else LAYER_COLUMNS[options["task"]]
    documents, notes = with_tokens(gold.documents)
    sides: list[dict[str, CellColumn]] = []
    for layer in (replace(gold, documents=documents), replace(pred, documents=documents)):
        first, last = _tokens(layer, version.name)
        columns = {name: _tags(layer, first, last)}
        if linking:
            columns[LITERAL_LINKS] = _links(layer, first, last)
        sides.append(columns)
    assert documents.tokens is not None, "tags stand beside tokens"
    sizes = np.diff(documents.tokens.first)
    days = [_day_of(str(meta.get("date", ""))) for meta in documents.meta or ()] or [0] * len(documents)
    return ColumnPair(
        documents,
        sides[0],
        sides[1],
        np.repeat(np.arange(len(sizes)), sizes),
        np.repeat(np.array(days, np.int64), sizes),
        np.full(len(documents.tokens.starts), np.nan),
        None,
        gold.name,
        noisy=False,
        notes=notes,
    )


def _day_of(text: str) -> int:
    """Return a date as an ordinal number, 0 where it is none."""
    match = DAY.search(text)
    try:
        return date.fromisoformat(match[0]).toordinal() if match else 0
    except ValueError:
        return 0


def _tokens(layer: Layer, name: str) -> tuple[Int64, Int64]:
    """Return first and last token of each span.

    Raises:
        FormatError: as `tagged`; sentences do not matter here.
    """
    documents = replace(layer.documents, sentences=None)
    tokens = documents.tokens
    assert tokens is not None, "tags stand beside tokens"
    origin = np.repeat(documents.base[:-1], np.diff(tokens.first))
    base = documents.base[layer.doc]
    starts, ends = origin + tokens.starts, origin + tokens.ends
    first = np.searchsorted(starts, base + layer.start)
    last = np.searchsorted(ends, base + layer.end)
    held = np.minimum(last, max(len(ends) - 1, 0)), np.minimum(first, max(len(starts) - 1, 0))
    fits = not len(layer) or (
        len(starts) > 0
        and not layer.fragments
        and bool(np.all(starts[held[1]] == base + layer.start))
        and bool(np.all(ends[held[0]] == base + layer.end))
        and bool(np.all(first[1:] > last[:-1]))
    )
    if not fits:
        tags_of_layer(replace(layer, documents=documents), name)
        raise FormatError.single(layer.name, None, f"{name} cannot say its spans as tags", "choose another convention")
    return first.astype(np.int64), last.astype(np.int64)


def _tags(layer: Layer, first: Int64, last: Int64) -> CellColumn:
    """Return IOB2 tags: code 0 is O, then B- and I- of each type in turn."""
    assert layer.documents.tokens is not None
    cells = ("O", *(f"{letter}-{name}" for name in layer.types for letter in "BI"))
    codes = np.zeros(len(layer.documents.tokens.starts), np.int32)
    codes[_inside(first, last)] = np.repeat(2 * layer.type.astype(np.int32) + 2, last - first + 1)
    codes[first] = 2 * layer.type.astype(np.int32) + 1
    return CellColumn(codes, cells)


def _links(layer: Layer, first: Int64, last: Int64) -> CellColumn:
    """Return the links of spans, ranked ones separated by |, on each of their tokens; `_` for none."""
    assert layer.documents.tokens is not None
    known = {"_": 0}
    span_codes = np.zeros(len(layer), np.int32)
    for span, links in layer.links.items():
        span_codes[span] = known.setdefault("|".join(links) or "_", len(known))
    codes = np.zeros(len(layer.documents.tokens.starts), np.int32)
    codes[_inside(first, last)] = np.repeat(span_codes, last - first + 1)
    return CellColumn(codes, tuple(known))


def _inside(first: Int64, last: Int64) -> Int64:
    sizes = last - first + 1
    before: Int64 = np.cumsum(sizes) - sizes
    return np.arange(int(sizes.sum())) - np.repeat(before, sizes) + np.repeat(first, sizes)
