"""The classes of all records part by part, and the places of a query's records: given by class, or listed one by one.

A part is a shard of a scored folder, or a whole corpus in memory. A place is a part and a position in it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from nereval_core.corpus.arrays import Bools, Int32, Int64, edges_of
from nereval_core.ledger.facet_counts import FacetCounts

Piece = tuple[int, NDArray[Any]]
"""A part and the positions of some of its records."""


@dataclass(frozen=True, eq=False)
class PartClasses:
    """The class of each record of a part, and the `records` of each class.

    `stored_order` holds the records sorted by class; where it is None they are sorted when a rare class is listed.
    """

    of_record: NDArray[Any]
    records: Int64
    stored_order: NDArray[Any] | None = None

    @cached_property
    def by_class(self) -> NDArray[Any]:
        if self.stored_order is not None:
            return self.stored_order
        return np.argsort(self.of_record, kind="stable").astype(np.int32)

    @cached_property
    def edges(self) -> Int64:
        return edges_of(self.records)

    def positions(self, has_class: Bools) -> NDArray[Any]:
        """Return the records of some classes, increasing."""
        if int(self.records[has_class].sum()) * 32 > len(self.of_record):
            return np.flatnonzero(has_class[self.of_record]).astype(np.int32)
        parts = [self.by_class[self.edges[code] : self.edges[code + 1]] for code in np.flatnonzero(has_class).tolist()]
        return np.sort(np.concatenate([np.zeros(0, np.int32), *parts]))


@dataclass(frozen=True, eq=False)
class RecordClasses:
    """The classes of all records of a system under a criterion, and those of each part.

    Part p has the rows `first[p]` to `first[p + 1]`, in its own classes' order: `of_row` is the class of each in
    `facets`, and `records` the number of its records in the part. Up to part p there are `documents[p]` documents with
    records, `gold[p]` gold spans and `pred[p]` predictions. `in_part` returns the classes in a part.
    """

    facets: FacetCounts
    first: Int64
    of_row: Int32
    records: Int64
    documents: Int64
    gold: Int64
    pred: Int64
    in_part: Callable[[int], PartClasses]

    def __len__(self) -> int:
        """Return the number of parts."""
        return len(self.first) - 1

    @cached_property
    def part_of_row(self) -> Int32:
        return np.repeat(np.arange(len(self), dtype=np.int32), np.diff(self.first))

    @cached_property
    def before(self) -> Int64:
        """The number of records in the parts before each, shape (parts + 1,)."""
        sums = np.bincount(self.part_of_row, self.records, minlength=len(self)).astype(np.int64)
        return edges_of(sums)

    def row_values(self, part: int, values: NDArray[Any]) -> NDArray[Any]:
        """Return values by class for the classes of a part, in their order there."""
        return values[self.of_row[self.first[part] : self.first[part + 1]]]

    def of_places(self, places: ListedPlaces) -> NDArray[Any]:
        """Return the class of each record, as numbered for all parts."""
        codes = [np.zeros(0, np.int64)]
        for part, positions in places.pieces(0, len(places)):
            of_row = self.of_row[self.first[part] : self.first[part + 1]]
            codes.append(of_row[self.in_part(part).of_record[positions]])
        return np.concatenate(codes)


class RecordPlaces(Protocol):
    """The records that match a query, in their order."""

    def __len__(self) -> int: ...

    def pieces(self, first: int, last: int) -> Iterator[Piece]:
        """Yield the records first to last, end exclusive, in order."""

    def among(self, part: int, low: int, high: int) -> tuple[int, NDArray[Any]]:
        """Return those of a part's records low to high that are among these, and the index of the first of them.

        The records must be in document order.
        """


@dataclass(frozen=True, eq=False)
class PlacesByClass:
    """Records of some classes: group by group, in each part by part; `groups` are masks of classes.

    `ends[g * parts + p]` is the number of records up to part p of group g; `positions` returns the records of a part
    in some classes.
    """

    groups: Sequence[Bools]
    ends: Int64
    parts: int
    positions: Callable[[int, Bools], NDArray[Any]]

    @classmethod
    def of(
        cls,
        classes: RecordClasses,
        has_class: Bools,
        key: NDArray[Any],
        positions: Callable[[int, Bools], NDArray[Any]],
    ) -> PlacesByClass:
        """Group the chosen classes by their keys; in document order all have the same key."""
        values, group = np.unique(key[has_class], return_inverse=True)
        group_of_class = np.full(len(has_class), len(values))
        group_of_class[has_class] = group
        rows = np.flatnonzero(has_class[classes.of_row])
        parts = len(classes)
        cell = group_of_class[classes.of_row[rows]] * parts + classes.part_of_row[rows]
        sums = np.bincount(cell, classes.records[rows], minlength=len(values) * parts).astype(np.int64)
        groups = [group_of_class == number for number in range(len(values))]
        return cls(groups, np.cumsum(sums), parts, positions)

    def __len__(self) -> int:
        return int(self.ends[-1]) if len(self.ends) else 0

    def pieces(self, first: int, last: int) -> Iterator[Piece]:
        last = min(last, len(self))
        cell = int(np.searchsorted(self.ends, first, side="right"))
        while first < last:
            begin = int(self.ends[cell - 1]) if cell else 0
            end = int(self.ends[cell])
            if end > first:
                group, part = divmod(cell, self.parts)
                positions = self.positions(part, self.groups[group])
                yield part, positions[first - begin : min(last, end) - begin]
                first = end
            cell += 1

    def among(self, part: int, low: int, high: int) -> tuple[int, NDArray[Any]]:
        if not self.groups:
            return 0, np.zeros(0, np.int64)
        positions = self.positions(part, self.groups[0])
        first, last = np.searchsorted(positions, (low, high)).tolist()
        before = int(self.ends[part - 1]) if part else 0
        return before + first, positions[first:last]


@dataclass(frozen=True, eq=False)
class ListedPlaces:
    """Records by part and position, shape (records,) each, in their order."""

    part: Int32
    position: NDArray[Any]

    def __len__(self) -> int:
        return len(self.part)

    def take(self, rows: NDArray[Any]) -> ListedPlaces:
        """Return the places at these indices, or where a mask is true."""
        return ListedPlaces(self.part[rows], self.position[rows])

    def pieces(self, first: int, last: int) -> Iterator[Piece]:
        part, position = self.part[first:last], self.position[first:last]
        cuts = np.flatnonzero(np.diff(part)) + 1
        for low, high in zip([0, *cuts.tolist()], [*cuts.tolist(), len(part)], strict=True):
            if low < high:
                yield int(part[low]), position[low:high]

    def among(self, part: int, low: int, high: int) -> tuple[int, NDArray[Any]]:
        begin, end = np.searchsorted(self.part, (part, part + 1)).tolist()
        first, last = (np.searchsorted(self.position[begin:end], (low, high)) + begin).tolist()
        return first, self.position[first:last]


def list_places(pieces: Iterable[Piece]) -> ListedPlaces:
    parts, positions = [np.zeros(0, np.int32)], [np.zeros(0, np.int32)]
    for part, own in pieces:
        parts.append(np.full(len(own), part, np.int32))
        positions.append(own)
    return ListedPlaces(np.concatenate(parts), np.concatenate(positions))


def class_keys(facets: FacetCounts, order: str) -> NDArray[Any] | None:
    """Return the sort key of each class in an order, None where the order is not one of classes."""
    if order == "document":
        return np.zeros(len(facets.records), np.int64)
    if order == "decision":
        return facets.codes["decision"]
    if order in ("gold", "prediction"):
        first, second = ("gold", "pred") if order == "gold" else ("pred", "gold")
        return facets.codes[first].astype(np.int64) * len(facets.names[second]) + facets.codes[second]
    return None
