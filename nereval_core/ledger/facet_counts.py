"""Match records counted by class: records with the same values of all facets but text and document are one class.

There are few classes even where there are many records, so that counting by facets looks at classes only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nereval_core.analysis.slices.decades_and_noise import UNDATED, UNKNOWN
from nereval_core.corpus import frozen
from nereval_core.corpus.arrays import Bools, Int32, Int64
from nereval_core.records.queries import ABSENT, FACETS, NO_GOLD, Query, Total, narrowed

COUNTED = tuple(facet for facet in FACETS if facet != "doc")
"""The facets that make a class."""
IN_ORDER = ("decision", "words", "period", "noise")
"""Facets whose values have a natural order."""
_TABLE = 1 << 22
"""Largest number of cells of a table that counts codes; beyond it, codes are sorted."""


@dataclass(frozen=True, eq=False)
class FacetCounts:
    """The classes of match records: `codes` by facet, shape (classes,), are indices into the facet's `names`.

    An unknown facet has no names. `records` and `weight` (int64) are summed by class.
    """

    names: Mapping[str, tuple[str, ...]]
    codes: Mapping[str, Int32]
    records: Int64
    weight: Int64

    @classmethod
    def of(
        cls, names: Mapping[str, tuple[str, ...]], codes: Mapping[str, NDArray[Any]], weight: Int64
    ) -> tuple[FacetCounts, NDArray[Any]]:
        """Count records by class; return also the class of each, in the smallest type that holds it."""
        place, classes = classes_of([(codes[facet], len(names[facet])) for facet in COUNTED if names[facet]])
        count = len(classes)
        by_facet = iter(classes.T)
        columns = {facet: next(by_facet) if names[facet] else np.zeros(count, np.int64) for facet in COUNTED}
        facets = cls(
            dict(names),
            {facet: frozen(column.astype(np.int32)) for facet, column in columns.items()},
            frozen(np.bincount(place, minlength=count)),
            # Sums of whole numbers far below 2 to the power of 53.
            frozen(np.bincount(place, weight, minlength=count).astype(np.int64)),
        )
        return facets, frozen(place.astype(np.min_scalar_type(max(0, count - 1))))

    @classmethod
    def merged(cls, parts: Sequence[FacetCounts]) -> tuple[FacetCounts, NDArray[Any]]:
        """Return the counts of all records of several counts, whose names may differ, and the class there of each
        class of theirs, in order."""
        names = {facet: _union(facet, [facets.names[facet] for facets in parts]) for facet in COUNTED}
        codes = {}
        for facet in COUNTED:
            number = {name: code for code, name in enumerate(names[facet])}
            codes[facet] = np.concatenate(
                [np.zeros(0, np.int64), *(facets._codes_among(facet, number) for facets in parts if names[facet])]
            )
        records, weight = (
            np.concatenate([np.zeros(0, np.int64), *(getattr(facets, column) for facets in parts)])
            for column in ("records", "weight")
        )
        counts, place = cls.of(names, codes, weight)
        counted = np.bincount(place, records, minlength=len(counts.records)).astype(np.int64)
        return replace(counts, records=frozen(counted)), place

    def _codes_among(self, facet: str, number: Mapping[str, int]) -> Int64:
        """Return the codes of a facet by class, renumbered by `number`, which has all names."""
        if self.names[facet]:
            return np.array([number[name] for name in self.names[facet]], np.int64)[self.codes[facet]]
        if facet == "period":
            return np.full(len(self.records), number[UNDATED], np.int64)
        absent = self.codes["gold"] == self.names["gold"].index(ABSENT)
        return np.where(absent, number[NO_GOLD], number[UNKNOWN])

    @property
    def offered(self) -> tuple[str, ...]:
        return tuple(facet for facet in FACETS if facet == "doc" or self.names[facet])

    def matching(self, query: Query) -> Bools:
        """Return which classes match a query, apart from its document and text."""
        mask = np.ones(len(self.records), bool)
        for facet in COUNTED:
            values = getattr(query, facet)
            if values:
                mask &= self._has(facet, (values,) if isinstance(values, str) else values)
        if query.types:
            mask &= self._has("gold", query.types) | self._has("pred", query.types)
        return mask

    def total(self, query: Query) -> Total:
        mask = self.matching(query)
        return Total(int(self.records[mask].sum()), int(self.weight[mask].sum()))

    def facet_counts(self, query: Query, facet: str, weight: Int64 | None = None) -> dict[str, int]:
        """Count by one of the COUNTED facets, with another `weight` by class if given."""
        if not self.names[facet]:
            return {}
        mask = self.matching(narrowed(query, facet, None))
        own = self.weight if weight is None else weight
        sums = np.bincount(self.codes[facet][mask], own[mask], minlength=len(self.names[facet]))
        counts = {name: int(n) for name, n in zip(self.names[facet], sums.tolist(), strict=True) if n}
        if facet in IN_ORDER:
            return counts
        return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))

    def confusion(self) -> dict[tuple[str, str], int]:
        gold, pred = self.names["gold"], self.names["pred"]
        cell = self.codes["gold"].astype(np.int64) * len(pred) + self.codes["pred"]
        cells, place = np.unique(cell, return_inverse=True)
        sums = np.bincount(place, self.weight, minlength=len(cells))
        return {
            (gold[cell // len(pred)], pred[cell % len(pred)]): int(n)
            for cell, n in zip(cells.tolist(), sums.tolist(), strict=True)
        }

    def _has(self, facet: str, values: Sequence[str]) -> Bools:
        names = self.names[facet]
        if not names:
            return np.zeros(len(self.records), bool)
        is_value: Bools = np.array([name in values for name in names])
        return np.asarray(is_value[self.codes[facet]])


def classes_of(columns: Sequence[tuple[NDArray[Any], int]]) -> tuple[Int64, Int64]:
    """Number the distinct rows of columns of codes, each given with its number of codes.

    Returns the number of each row and the distinct rows, shape (classes, columns), in ascending order.
    """
    length = len(columns[0][0]) if columns else 0
    place, classes, size = np.zeros(length, np.int64), np.zeros((min(1, length), 0), np.int64), 1
    for codes, width in columns:
        place = place * width + codes
        size *= max(1, width)
        if size <= _TABLE:
            is_used = np.bincount(place, minlength=size) > 0
            used = np.flatnonzero(is_used)
            number = np.cumsum(is_used) - 1
            place = number[place]
        else:
            used, place = np.unique(place, return_inverse=True)
        classes = np.column_stack((classes[used // width], used % width))
        size = len(used)
    return place, classes


def _union(facet: str, names: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """Return the values of a facet in several counts, the value for unknown last."""
    stated = [part_names for part_names in names if part_names]
    if facet in ("gold", "pred", "period"):
        nothing = UNDATED if facet == "period" else ABSENT
        values = {name for part_names in stated for name in part_names}
        values |= {nothing} if stated and len(stated) < len(names) else set()
        return tuple(sorted(values, key=lambda name: (name == nothing, name)))
    return stated[0] if stated else ()
