"""The three versions of the CLEF-HIPE scorer, and the columns of its files over tokens, of one side and of both."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from nereval_core.corpus import Documents, Layer, Place
from nereval_core.corpus.arrays import Int64
from nereval_core.readers.hipe.rows import HipeDocument, TokenRow
from nereval_core.readers.shared.token_tags import tokens_of_spans, with_tokens

FAMILY = "CLEF-HIPE"
NEL = "nel"
"""The task of links; the others are of entities."""
LITERAL_LINKS, METONYMIC_LINKS = "NEL-LIT", "NEL-METO"
LAYER_COLUMNS = {"nerc_coarse": "NE-COARSE-LIT", "nerc_fine": "NE-FINE-LIT", NEL: LITERAL_LINKS}
"""The column that a layer stands for, by task."""


@dataclass(frozen=True, kw_only=True)
class HipeVersion:
    """One commit of the scorer.

    `text`: equal spans need equal token text too. `whole`: an entity over a whole document counts. `slices`: knows
    periods and noise. `rows`: "fill" takes the cells a row lacks as `_`, "misc" does if MISC is there, "full" stops
    on them. `iobes`: S- and E- are read as B- and I-.
    `mentions`: links take their bounds from the mentions. `patches`: a prediction without comments may have up to 20
    kinds of differing tokens, else none. `regimes` are those of linking in the table.
    """

    name: str
    commit: str
    text: bool
    whole: bool
    slices: bool
    rows: Literal["fill", "misc", "full"]
    iobes: bool
    mentions: bool
    patches: bool
    regimes: tuple[str, ...]


JUNE = HipeVersion(
    name="hipe-2020",
    commit="08d31e6",
    text=False,
    whole=False,
    slices=False,
    rows="fill",
    iobes=False,
    mentions=False,
    patches=False,
    regimes=("fuzzy",),
)
JULY = HipeVersion(
    name="hipe-2020-july",
    commit="ac5c876",
    text=True,
    whole=True,
    slices=True,
    rows="misc",
    iobes=False,
    mentions=False,
    patches=False,
    regimes=("fuzzy",),
)
HIPE_2022 = HipeVersion(
    name="hipe-2022",
    commit="6605770",
    text=True,
    whole=True,
    slices=True,
    rows="full",
    iobes=True,
    mentions=True,
    patches=True,
    regimes=("fuzzy", "strict"),
)

COLUMNS = {
    "hipe-2020": {
        "nerc_coarse": ("NE-COARSE-LIT", "NE-COARSE-METO"),
        "nerc_fine": ("NE-FINE-LIT", "NE-FINE-METO", "NE-FINE-COMP", "NE-NESTED"),
        NEL: (LITERAL_LINKS, METONYMIC_LINKS),
    },
    "hipe-2022": {
        "nerc_coarse": ("NE-COARSE-LIT",),
        "nerc_fine": ("NE-FINE-LIT", "NE-NESTED"),
        NEL: (LITERAL_LINKS,),
    },
}
"""The columns of a task, by edition."""
MENTIONS = {LITERAL_LINKS: "NE-COARSE-LIT", METONYMIC_LINKS: "NE-COARSE-METO"}
"""The column whose mentions bound the links of a column."""

Codes = NDArray[np.int32]
DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


@dataclass(frozen=True, eq=False)
class CellColumn:
    """A cell a token: `codes` of shape (tokens,) index `cells`, the distinct cells as the file has them."""

    codes: Codes
    cells: tuple[str, ...]

    @classmethod
    def of(cls, cells: Sequence[str]) -> CellColumn:
        code_of: dict[str, int] = {}
        codes = np.fromiter((code_of.setdefault(cell, len(code_of)) for cell in cells), np.int32, len(cells))
        return cls(codes, tuple(code_of))

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
        bounds = [(low, high) for low, high in pairwise(edges) if (low, high) not in self.lost]
        return [[lengths[start] for start in self.segments if low <= start < high] for low, high in bounds]


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
        # Sentences do not matter here.
        unbroken = replace(layer, documents=replace(documents, sentences=None))
        first, last = tokens_of_spans(unbroken, version.name)
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
    code_of = {"_": 0}
    span_codes = np.zeros(len(layer), np.int32)
    for span, links in layer.links.items():
        span_codes[span] = code_of.setdefault("|".join(links) or "_", len(code_of))
    codes = np.zeros(len(layer.documents.tokens.starts), np.int32)
    codes[_inside(first, last)] = np.repeat(span_codes, last - first + 1)
    return CellColumn(codes, tuple(code_of))


def _inside(first: Int64, last: Int64) -> Int64:
    sizes = last - first + 1
    before: Int64 = np.cumsum(sizes) - sizes
    return np.arange(int(sizes.sum())) - np.repeat(before, sizes) + np.repeat(first, sizes)
