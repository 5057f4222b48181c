"""The ratios of each type averaged over documents, for all criteria of a group, a block of documents at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nereval_core.alignment.candidates import CREDIT
from nereval_core.alignment.codes import Decision
from nereval_core.arrays import Float64, Int64, UInt8
from nereval_core.corpus import Layer
from nereval_core.scoring.averages import Sums, ratio_columns, ratios_of
from nereval_core.scoring.counts import RATIOS, Average

Sides = tuple[UInt8, UInt8]
Weights = tuple[Int64, Int64]

BLOCK = 1 << 17
"""Spans whose documents are looked at together."""
SPARSE = 4
"""Cells a span, of documents and types, beyond which only those that occur are held."""
FIELD = 12
"""Bits for each of the four numbers that make a cell's ratios, where they are packed into one."""
TYPES = 1 << 14
"""Types that fit beside them."""


def sums_by_type(
    gold: Layer, pred: Layer, decisions: Mapping[str, Sides], weights: Weights | None, types: tuple[str, ...]
) -> dict[str, list[Sums]]:
    """Return, by criterion, the sums of each of RATIOS by type over the documents that have spans of it on either side.

    `decisions` are those of gold spans and predictions by criterion, `weights` how much each counts, None for 1;
    `types` are sorted and hold those of both layers.
    """
    sums = {name: [Sums(len(types)) for _ in RATIOS] for name in decisions}
    codes = [_codes(layer, types) for layer in (gold, pred)]
    for low, high in _blocks(gold.first + pred.first):
        cells, parts = [], []
        for layer, code in zip((gold, pred), codes, strict=True):
            part = slice(int(layer.first[low]), int(layer.first[high]))
            cell = (layer.doc[part].astype(np.int64) - low) * len(types)
            cell += code[part]
            cells.append(cell)
            parts.append(part)
        kind, cells, size = _distinct(cells, (high - low) * len(types), len(types))
        # No number of a cell is larger than twice the spans of its document.
        packed = weights is None and len(types) < TYPES and _largest(gold, pred, low, high) < 1 << FIELD - 1
        for name, decided in decisions.items():
            some = (decided[0][parts[0]], decided[1][parts[1]])
            if packed:
                _add_packed(sums[name], cells, some, kind, size)
            else:
                own = [None, None] if weights is None else [weights[0][parts[0]], weights[1][parts[1]]]
                _add_counted(sums[name], cells, some, own, kind, size)
    return sums


def averages_by_type(sums: Sequence[Sums], types: tuple[str, ...]) -> dict[str, dict[str, Average]]:
    """Return the averages of each type that some document has spans of."""
    return {
        kind: {
            name: Average(found.mean(code), int(found.n[code]), int(found.undefined[code]))
            for name, found in zip(RATIOS, sums, strict=True)
        }
        for code, kind in enumerate(types)
        if sums[0].n[code] + sums[0].undefined[code]
    }


def _blocks(spans: Int64) -> Iterator[tuple[int, int]]:
    """Yield ranges of documents; `spans` (documents + 1,) counts the spans before each."""
    low = 0
    while low < len(spans) - 1:
        high = max(low + 1, int(np.searchsorted(spans, spans[low] + BLOCK, side="right")) - 1)
        yield low, high
        low = high


def _codes(layer: Layer, types: tuple[str, ...]) -> NDArray[Any]:
    if layer.types == types:
        return layer.type
    place = {kind: code for code, kind in enumerate(types)}
    return np.array([place[kind] for kind in layer.types], np.int64)[layer.type]


def _distinct(cells: list[Int64], size: int, types: int) -> tuple[Int64, list[Int64], int]:
    """Return the type of each cell, the cells of both sides' spans, renumbered where few occur, and how many."""
    if size <= SPARSE * sum(map(len, cells)):
        return np.tile(np.arange(types), size // max(types, 1)), cells, size
    # Where there are thousands of types, few of them stand in a document.
    found = np.unique(np.concatenate(cells))
    return found % max(types, 1), [np.searchsorted(found, cell) for cell in cells], len(found)


def _largest(gold: Layer, pred: Layer, low: int, high: int) -> int:
    return max(int(np.diff(layer.first[low : high + 1]).max(initial=0)) for layer in (gold, pred))


def _add_packed(sums: list[Sums], cells: list[Int64], decided: Sides, kind: Int64, size: int) -> None:
    """Add the ratios of cells: one number says all of a cell, and few different ones occur."""
    total = np.zeros(size)
    for number, (cell, codes) in enumerate(zip(cells, decided, strict=True)):
        # Twice the credit of a span, and the span itself.
        worth = (CREDIT + (1 << 2 * FIELD)) << (number * FIELD)
        total += np.bincount(cell, worth.astype(np.float64).take(codes), size)
    some = np.flatnonzero(total)
    key = (kind[some] << 4 * FIELD) | total[some].astype(np.int64)
    distinct, times = np.unique(key, return_counts=True)
    numbers = [(distinct >> place * FIELD) & ((1 << FIELD) - 1) for place in range(4)]
    for found, values in zip(sums, ratios_of(*numbers), strict=True):
        found.add(values, distinct >> 4 * FIELD, times)


def _add_counted(
    sums: list[Sums], cells: list[Int64], decided: Sides, weights: list[Any], kind: Int64, size: int
) -> None:
    """Add the ratios of cells from the counts of each."""
    width = len(Decision)
    tables = [
        np.bincount(cell * width + codes, weight, size * width).astype(np.int64).reshape(-1, width)
        for cell, codes, weight in zip(cells, decided, weights, strict=True)
    ]
    some = np.flatnonzero(tables[0].any(axis=1) | tables[1].any(axis=1))
    columns: tuple[Float64, ...] = ratio_columns(tables[0][some], tables[1][some])
    for found, values in zip(sums, columns, strict=True):
        found.add(values, kind[some])
