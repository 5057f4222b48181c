"""The index over all shards: the classes of their records, and the shard of each document."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nereval_core.arrays import Int64
from nereval_core.engine.browse.spans import narrow_integers
from nereval_core.engine.record_columns import document_number, map_file, map_shard, read_facets, writing_columns
from nereval_core.ledger.facet_counts import COUNTED, FacetCounts
from nereval_core.store.columns import Columns, DamagedError

FOLDER, DOCUMENTS = "index", "documents"


@dataclass(frozen=True, slots=True)
class ShardKeys:
    """The keys of one shard's files: that of its documents and gold, and those of the systems in order."""

    gold: str
    systems: tuple[str, ...]

    def __iter__(self) -> Iterator[str]:
        yield self.gold
        yield from self.systems


@dataclass(frozen=True, eq=False)
class Classes:
    """The classes of all records of a system under a criterion, and those of each shard.

    Shard s has the rows `first[s]` to `first[s + 1]`, in its own classes' order: `of_row` is the class of each in
    `facets`, `records` and `weight` are the shard's numbers of it. Up to shard s there are `documents[s]` documents
    with records, `gold[s]` gold spans and `pred[s]` predictions.
    """

    facets: FacetCounts
    first: Int64
    of_row: NDArray[np.int32]
    records: Int64
    weight: Int64
    documents: Int64
    gold: Int64
    pred: Int64

    @cached_property
    def shard(self) -> NDArray[np.int32]:
        """The shard of each row."""
        return np.repeat(np.arange(len(self.first) - 1, dtype=np.int32), np.diff(self.first))

    @cached_property
    def before(self) -> Int64:
        """The number of records in the shards before each, shape (shards + 1,)."""
        sums = np.bincount(self.shard, self.records, minlength=len(self.first) - 1).astype(np.int64)
        return np.concatenate((np.zeros(1, np.int64), np.cumsum(sums)))

    def of_shard(self, shard: int, chosen: NDArray[Any]) -> NDArray[Any]:
        """Return values by class for the classes of a shard, in their order there."""
        return chosen[self.of_row[self.first[shard] : self.first[shard + 1]]]


@dataclass(frozen=True, eq=False)
class DocumentIndex:
    """The places of documents: shard s has those numbered `first[s]` to `first[s + 1]`, from 0 through all shards."""

    first: Int64
    _numbers: Int64
    _documents: NDArray[Any]

    def __len__(self) -> int:
        return int(self.first[-1])

    def shard(self, document: int) -> int:
        return int(np.searchsorted(self.first, document, side="right")) - 1

    def candidates(self, name: str) -> list[int]:
        """Return the documents that may have an id: nearly always one or none."""
        number = document_number(name)
        low = int(np.searchsorted(self._numbers, number))
        high = int(np.searchsorted(self._numbers, number, side="right"))
        found: list[int] = self._documents[low:high].tolist()
        return found


def write_index(folder: str | os.PathLike[str], shards: Sequence[ShardKeys], criteria: Sequence[str]) -> None:
    """Write the index of all shards, from the files of each.

    Raises:
        DamagedError: one of them is.
    """
    gold = [map_shard(folder, shard.gold) for shard in shards]
    with writing_columns(_place(folder, DOCUMENTS), {"of": _index_key(shards, DOCUMENTS)}) as writer:
        numbers = np.concatenate([np.zeros(0, np.int64), *(columns["numbers"] for columns in gold)])
        order = np.argsort(numbers, kind="stable")
        writer.add("numbers", numbers[order])
        writer.add("documents", narrow_integers(order))
        writer.add("first", _starts(len(columns["numbers"]) for columns in gold))
    for system in range(len(shards[0].systems)):
        preds = [map_shard(folder, shard.systems[system]) for shard in shards]
        for number, criterion in enumerate(criteria):
            name = f"{system}.{number}"
            _write_classes(_place(folder, name), _index_key(shards, name), gold, preds, criterion)


def index_files(folder: str | os.PathLike[str], systems: int, criteria: int) -> list[Path]:
    """Return the paths of an index's files: that of the documents, and one for each system and criterion."""
    numbers = [f"{system}.{criterion}" for system in range(systems) for criterion in range(criteria)]
    return [_place(folder, name) for name in (DOCUMENTS, *numbers)]


def _write_classes(path: Path, key: str, gold: Sequence[Columns], preds: Sequence[Columns], criterion: str) -> None:
    counts_of_parts = [read_facets(columns, criterion) for columns in preds]
    whole, classes = FacetCounts.gathered(counts_of_parts)
    with writing_columns(path, {"of": key, "names": whole.names, "criterion": criterion}) as writer:
        for facet in COUNTED:
            writer.add(f"{facet}.code", whole.codes[facet])
        writer.add("records", whole.records)
        writer.add("weight", whole.weight)
        writer.add("first", _starts(len(facets.records) for facets in counts_of_parts))
        writer.add("rows.class", classes.astype(np.int32))
        writer.add(
            "rows.records", np.concatenate([np.zeros(0, np.int64), *(facets.records for facets in counts_of_parts)])
        )
        writer.add(
            "rows.weight", np.concatenate([np.zeros(0, np.int64), *(facets.weight for facets in counts_of_parts)])
        )
        sizes = [_sizes(one, other, criterion) for one, other in zip(gold, preds, strict=True)]
        for name, column in zip(("documents", "gold", "pred"), zip(*sizes, strict=True), strict=True):
            writer.add(name, _starts(column))


def _sizes(gold: Columns, pred: Columns, criterion: str) -> tuple[int, int, int]:
    """Return the numbers of a shard's documents with records, and of its gold spans and predictions as scored."""
    about = pred.about["criteria"][criterion]
    number = about["number"]
    first = pred[f"{number}.first"]
    spans = []
    for side, read in enumerate((gold["gold.first"], pred["pred.first"])):
        own = read if about["layers"][side] is None else pred[f"{number}.{side}.first"]
        spans.append(int(own[-1]))
    return int(np.count_nonzero(first[1:] != first[:-1])), spans[0], spans[1]


def read_documents(
    folder: str | os.PathLike[str], shards: Sequence[ShardKeys], within: str | None = None
) -> DocumentIndex:
    """Return the index of the documents of shards.

    Raises:
        FormatError: the file lies outside of `within`.
        DamagedError, OSError: the file is missing or damaged.
    """
    columns = map_index(folder, shards, DOCUMENTS, within)
    return DocumentIndex(np.array(columns["first"]), columns["numbers"], columns["documents"])


def read_classes(
    folder: str | os.PathLike[str],
    shards: Sequence[ShardKeys],
    system: int,
    criterion: int,
    within: str | None = None,
) -> Classes:
    """Return the classes of a system's records under a criterion, both by number.

    Raises:
        FormatError: the file lies outside of `within`.
        DamagedError, OSError: the file is missing or damaged.
    """
    columns = map_index(folder, shards, f"{system}.{criterion}", within)
    # They are few, and looked at again and again.
    of = {name: np.array(column) for name, column in columns.arrays.items()}
    facets = FacetCounts(
        {facet: tuple(names) for facet, names in columns.about["names"].items()},
        {facet: of[f"{facet}.code"] for facet in COUNTED},
        of["records"],
        of["weight"],
    )
    rows = of["rows.class"], of["rows.records"], of["rows.weight"]
    return Classes(facets, of["first"], *rows, of["documents"], of["gold"], of["pred"])


def map_index(
    folder: str | os.PathLike[str],
    shards: Sequence[ShardKeys],
    name: str,
    within: str | None = None,
    *,
    checked: bool = False,
) -> Columns:
    """Map a file of the index, by its name without ending, as `map_file`; it must be that of the shards."""
    columns, key = map_file(_place(folder, name), within, checked=checked), _index_key(shards, name)
    # Those of earlier versions do not say of what they are, nor do the files of shards.
    wanted = {"first", "numbers" if name == DOCUMENTS else "rows.class"}
    if columns.about.get("of", key) != key or not wanted <= columns.arrays.keys():
        raise DamagedError("the index of something else")
    return columns


def _index_key(shards: Sequence[ShardKeys], name: str) -> str:
    """Return a digest of the keys of the shards and the name of a file of their index."""
    return hashlib.sha256(json.dumps([name, *map(list, shards)]).encode()).hexdigest()


def _place(folder: str | os.PathLike[str], name: str) -> Path:
    return Path(folder, FOLDER, f"{name}.columns")


def _starts(sizes: Iterable[int]) -> Int64:
    return np.concatenate((np.zeros(1, np.int64), np.cumsum(np.array(list(sizes), np.int64))))


__all__: Sequence[str] = (
    *(
        "Classes",
        "DocumentIndex",
        "ShardKeys",
        "index_files",
        "map_index",
        "read_classes",
        "read_documents",
        "write_index",
    ),
)
