"""Macro averages: means of ratios over types or documents, from sums that are exact and rounded once."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nereval_core.alignment.candidates import CREDIT
from nereval_core.alignment.codes import Decision
from nereval_core.corpus import Layer
from nereval_core.corpus.arrays import Float64, Int64, UInt8
from nereval_core.scoring.counts import RATIOS, Counts, DocumentCounts, ratio_columns, ratios_of

Sides = tuple[UInt8, UInt8]
Weights = tuple[Int64, Int64]

LIMB_BITS = 30
"""Bits of a ratio that are summed together: sums of 2 to the power of 23 of them are whole numbers in float64."""
LIMBS = 3
MOST_SUMMED = 1 << 22
"""Values that are summed at once: fewer than float64 has room for."""
BLOCK_SPANS = 1 << 17
"""Spans whose documents are looked at together."""
CELLS_PER_SPAN = 4
"""Cells a span, of documents and types, beyond which only those that occur are held."""
FIELD_BITS = 12
"""Bits for each of the four numbers that make a cell's ratios, where they are packed into one."""
PACKED_TYPES = 1 << 14
"""Types that fit beside them."""


@dataclass(frozen=True, slots=True)
class Average:
    """A macro average: the mean over the `n` members where the ratio is defined, `undefined` left out.

    The sum is exact and rounded once, so that it depends neither on the order of the members nor on how they are
    spread over the parts of a corpus.
    """

    value: float | None
    n: int
    undefined: int

    @classmethod
    def of(cls, values: Iterable[float | None]) -> Average:
        everything = list(values)
        defined = [value for value in everything if value is not None]
        mean = math.fsum(defined) / len(defined) if defined else None
        return cls(mean, len(defined), len(everything) - len(defined))


class Sums:
    """Sums of values from 0 to 1 by group, exact until they are asked for and then rounded once, as `math.fsum` does.

    `n` and `undefined` (groups,) count the values that are numbers and those that are NaN.
    """

    def __init__(self, groups: int) -> None:
        self.n, self.undefined = np.zeros(groups, np.int64), np.zeros(groups, np.int64)
        self._limbs = [[0] * groups for _ in range(LIMBS)]
        self._odd: dict[int, list[float]] = {}

    def add(self, values: Float64, group: NDArray[Any] | None = None, times: Int64 | None = None) -> None:
        """Add values to their groups, or all to the first, each as often as `times` says."""
        for low in range(0, len(values), MOST_SUMMED):
            part = slice(low, low + MOST_SUMMED)
            self._add(
                values[part],
                np.zeros(len(values[part]), np.int8) if group is None else group[part],
                None if times is None else times[part],
            )

    def mean(self, group: int = 0) -> float | None:
        """Return the mean of a group, None where it has no values."""
        # Fractions become the nearest float, halves even.
        return float(self.exact(group)) / int(self.n[group]) if self.n[group] else None

    def exact(self, group: int = 0) -> Fraction:
        """Return the sum of a group, which adds up with that of other values as it is."""
        total = 0
        for limb in self._limbs:
            total = (total << LIMB_BITS) + limb[group]
        return Fraction(total, 1 << LIMB_BITS * LIMBS) + sum(map(Fraction, self._odd.get(group, ())))

    def _add(self, values: Float64, group: NDArray[Any], times: Int64 | None) -> None:
        groups = len(self.n)
        absent = np.isnan(values)
        if absent.any():
            self.undefined += _counted(group[absent], None if times is None else times[absent], groups)
            values, group = values[~absent], group[~absent]
            times = None if times is None else times[~absent]
        self.n += _counted(group, times, groups)
        assert times is None or int(times.sum()) <= MOST_SUMMED
        limbs = []
        rest = values
        for _ in range(LIMBS):
            rest = np.ldexp(rest, LIMB_BITS)
            limb = np.floor(rest)
            rest = rest - limb
            limbs.append(limb)
        odd = np.flatnonzero(rest)
        for place in odd.tolist():
            repeated = 1 if times is None else int(times[place])
            self._odd.setdefault(int(group[place]), []).extend([float(values[place])] * repeated)
        for total, limb in zip(self._limbs, limbs, strict=True):
            limb[odd] = 0
            sums = np.bincount(group, limb if times is None else limb * times, groups)
            for place in np.flatnonzero(sums).tolist():
                total[place] += int(sums[place])


def _counted(group: NDArray[Any], times: Int64 | None, groups: int) -> Int64:
    return np.bincount(group, times, groups).astype(np.int64)


def averages_of(rows: Iterable[Counts]) -> dict[str, Average]:
    """Return the averages of precision, recall and F1."""
    everything = list(rows)
    return {name: Average.of(getattr(row, name) for row in everything) for name in RATIOS}


def averages_by_document(counts: DocumentCounts) -> dict[str, Average]:
    """Return the averages of precision, recall and F1 over the documents that have counts."""
    averages = {}
    for name, values in zip(RATIOS, counts.ratios, strict=True):
        sums = Sums(1)
        sums.add(values)
        averages[name] = Average(sums.mean(), int(sums.n[0]), int(sums.undefined[0]))
    return averages


def sums_by_type(
    gold: Layer, pred: Layer, decisions: Mapping[str, Sides], weights: Weights | None, types: tuple[str, ...]
) -> dict[str, list[Sums]]:
    """Return, by criterion, the sums of each of RATIOS by type over the documents that have spans of it on either side.

    `decisions` are those of gold spans and predictions by criterion, `weights` how much each counts, None for 1;
    `types` are sorted and hold those of both layers.
    """
    sums = {name: [Sums(len(types)) for _ in RATIOS] for name in decisions}
    codes = [layer.type_codes(types) for layer in (gold, pred)]
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
        packed = weights is None and len(types) < PACKED_TYPES and _largest(gold, pred, low, high) < 1 << FIELD_BITS - 1
        for name, decided in decisions.items():
            decisions_of_block = (decided[0][parts[0]], decided[1][parts[1]])
            if packed:
                _add_packed(sums[name], cells, decisions_of_block, kind, size)
            else:
                own = [None, None] if weights is None else [weights[0][parts[0]], weights[1][parts[1]]]
                _add_counted(sums[name], cells, decisions_of_block, own, kind, size)
    return sums


def averages_by_type(sums: Sequence[Sums], types: tuple[str, ...]) -> dict[str, dict[str, Average]]:
    """Return the averages of each type that some document has spans of."""
    return {
        kind: {
            name: Average(ratio_sums.mean(code), int(ratio_sums.n[code]), int(ratio_sums.undefined[code]))
            for name, ratio_sums in zip(RATIOS, sums, strict=True)
        }
        for code, kind in enumerate(types)
        if sums[0].n[code] + sums[0].undefined[code]
    }


def _blocks(spans: Int64) -> Iterator[tuple[int, int]]:
    """Yield ranges of documents; `spans` (documents + 1,) counts the spans before each."""
    low = 0
    while low < len(spans) - 1:
        high = max(low + 1, int(np.searchsorted(spans, spans[low] + BLOCK_SPANS, side="right")) - 1)
        yield low, high
        low = high


def _distinct(cells: list[Int64], size: int, types: int) -> tuple[Int64, list[Int64], int]:
    """Return the type of each cell, the cells of both sides' spans, renumbered where few occur, and how many."""
    if size <= CELLS_PER_SPAN * sum(map(len, cells)):
        return np.tile(np.arange(types), size // max(types, 1)), cells, size
    # Where there are thousands of types, few of them stand in a document.
    distinct = np.unique(np.concatenate(cells))
    return distinct % max(types, 1), [np.searchsorted(distinct, cell) for cell in cells], len(distinct)


def _largest(gold: Layer, pred: Layer, low: int, high: int) -> int:
    return max(int(np.diff(layer.first[low : high + 1]).max(initial=0)) for layer in (gold, pred))


def _add_packed(sums: list[Sums], cells: list[Int64], decided: Sides, kind: Int64, size: int) -> None:
    """Add the ratios of cells: one number says all of a cell, and few different ones occur."""
    total = np.zeros(size)
    for number, (cell, codes) in enumerate(zip(cells, decided, strict=True)):
        # Twice the credit of a span, and the span itself.
        worth = (CREDIT + (1 << 2 * FIELD_BITS)) << (number * FIELD_BITS)
        total += np.bincount(cell, worth.astype(np.float64).take(codes), size)
    filled_cells = np.flatnonzero(total)
    key = (kind[filled_cells] << 4 * FIELD_BITS) | total[filled_cells].astype(np.int64)
    distinct, times = np.unique(key, return_counts=True)
    numbers = [(distinct >> place * FIELD_BITS) & ((1 << FIELD_BITS) - 1) for place in range(4)]
    for ratio_sums, values in zip(sums, ratios_of(*numbers), strict=True):
        ratio_sums.add(values, distinct >> 4 * FIELD_BITS, times)


def _add_counted(
    sums: list[Sums], cells: list[Int64], decided: Sides, weights: list[Any], kind: Int64, size: int
) -> None:
    """Add the ratios of cells from the counts of each."""
    width = len(Decision)
    tables = [
        np.bincount(cell * width + codes, weight, size * width).astype(np.int64).reshape(-1, width)
        for cell, codes, weight in zip(cells, decided, weights, strict=True)
    ]
    filled_cells = np.flatnonzero(tables[0].any(axis=1) | tables[1].any(axis=1))
    columns: tuple[Float64, ...] = ratio_columns(tables[0][filled_cells], tables[1][filled_cells])
    for ratio_sums, values in zip(sums, columns, strict=True):
        ratio_sums.add(values, kind[filled_cells])
