"""The places of a query's records: given by their classes, or listed one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from nereval_core.arrays import Int64
from nereval_core.engine.record_index import Classes
from nereval_core.ledger.facet_counts import FacetCounts

Piece = tuple[int, NDArray[Any]]
"""A shard and some of its records, by position."""


class RecordPlaces(Protocol):
    """The records that match a query, in their order."""

    def __len__(self) -> int: ...

    def pieces(self, first: int, last: int) -> Iterator[Piece]:
        """Yield the records first to last, end exclusive, in order."""

    def among(self, shard: int, low: int, high: int) -> tuple[int, NDArray[Any]]:
        """Return those of a shard's records low to high that are among these, and the index of the first of them.

        The records must be in document order.
        """


@dataclass(frozen=True, eq=False)
class PlacesByClass:
    """Records of some classes: group by group, in each shard by shard; `groups` are masks of classes.

    `ends[g * shards + s]` is the number of records up to shard s of group g; `positions` returns the records of a shard
    in some classes.
    """

    groups: Sequence[NDArray[np.bool_]]
    ends: Int64
    shards: int
    positions: Callable[[int, NDArray[np.bool_]], NDArray[Any]]

    @classmethod
    def of(
        cls,
        classes: Classes,
        chosen: NDArray[np.bool_],
        key: NDArray[Any],
        positions: Callable[[int, NDArray[np.bool_]], NDArray[Any]],
    ) -> PlacesByClass:
        """Group the chosen classes by their keys; in document order all have the same key."""
        values, group = np.unique(key[chosen], return_inverse=True)
        number = np.full(len(chosen), len(values))
        number[chosen] = group
        rows = np.flatnonzero(chosen[classes.of_row])
        shards = len(classes.first) - 1
        cell = number[classes.of_row[rows]] * shards + classes.shard[rows]
        sums = np.bincount(cell, classes.records[rows], minlength=len(values) * shards).astype(np.int64)
        return cls([number == value for value in range(len(values))], np.cumsum(sums), shards, positions)

    def __len__(self) -> int:
        return int(self.ends[-1]) if len(self.ends) else 0

    def pieces(self, first: int, last: int) -> Iterator[Piece]:
        last = min(last, len(self))
        cell = int(np.searchsorted(self.ends, first, side="right"))
        while first < last:
            begin = int(self.ends[cell - 1]) if cell else 0
            end = int(self.ends[cell])
            if end > first:
                group, shard = divmod(cell, self.shards)
                found = self.positions(shard, self.groups[group])
                yield shard, found[first - begin : min(last, end) - begin]
                first = end
            cell += 1

    def among(self, shard: int, low: int, high: int) -> tuple[int, NDArray[Any]]:
        if not self.groups:
            return 0, np.zeros(0, np.int64)
        found = self.positions(shard, self.groups[0])
        one, other = np.searchsorted(found, (low, high)).tolist()
        before = int(self.ends[shard - 1]) if shard else 0
        return before + one, found[one:other]


@dataclass(frozen=True, eq=False)
class ListedPlaces:
    """Records by shard and position, shape (records,) each, in their order."""

    shard: NDArray[Any]
    position: NDArray[Any]

    def __len__(self) -> int:
        return len(self.shard)

    def pieces(self, first: int, last: int) -> Iterator[Piece]:
        shard, position = self.shard[first:last], self.position[first:last]
        cuts = np.flatnonzero(np.diff(shard)) + 1
        for one in np.split(np.arange(len(shard)), cuts):
            if len(one):
                yield int(shard[one[0]]), position[one]

    def among(self, shard: int, low: int, high: int) -> tuple[int, NDArray[Any]]:
        begin, end = np.searchsorted(self.shard, (shard, shard + 1)).tolist()
        one, other = (np.searchsorted(self.position[begin:end], (low, high)) + begin).tolist()
        return one, self.position[one:other]


def sort_key(facets: FacetCounts, order: str) -> NDArray[Any] | None:
    """Return the sort key of each class in an order, None where the order is not one of classes."""
    if order == "document":
        return np.zeros(len(facets.records), np.int64)
    if order == "decision":
        return facets.codes["decision"]
    if order in ("gold", "prediction"):
        one, two = ("gold", "pred") if order == "gold" else ("pred", "gold")
        return facets.codes[one].astype(np.int64) * len(facets.names[two]) + facets.codes[two]
    return None


def list_places(pieces: Iterable[Piece]) -> ListedPlaces:
    shards, positions = [np.zeros(0, np.int32)], [np.zeros(0, np.int64)]
    for shard, some in pieces:
        shards.append(np.full(len(some), shard, np.int32))
        positions.append(some.astype(np.int64))
    return ListedPlaces(np.concatenate(shards), np.concatenate(positions))


__all__: Sequence[str] = ("ListedPlaces", "Piece", "PlacesByClass", "RecordPlaces", "list_places", "sort_key")
