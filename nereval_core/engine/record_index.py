"""The index over all shards: the classes of their records, and the shard of each document.

DIR/index/SYSTEM.CRITERION.columns  the classes of all records, and how many of each every shard has (by number)
DIR/index/documents.columns         in which shard each document is
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nereval_core.corpus.arrays import Int64, edges_of, narrow_integers
from nereval_core.engine.record_columns import (
    document_number,
    map_file,
    map_shard,
    read_facets,
    record_sizes,
    writing_columns,
)
from nereval_core.ledger.facet_counts import COUNTED, FacetCounts
from nereval_core.ledger.record_places import PartClasses, RecordClasses
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
class DocumentIndex:
    """The places of documents: shard s has those numbered `first[s]` to `first[s + 1]`, from 0 through all shards."""

    first: Int64
    _numbers: Int64
    _documents: NDArray[Any]

    def __len__(self) -> int:
        return int(self.first[-1])

    def locate(self, document: int) -> tuple[int, int]:
        """Return the shard of a document and its number there."""
        shard = int(np.searchsorted(self.first, document, side="right")) - 1
        return shard, document - int(self.first[shard])

    def candidates(self, name: str) -> list[int]:
        """Return the documents that may have an id: nearly always one or none."""
        number = document_number(name)
        low, high = (int(np.searchsorted(self._numbers, number, side=side)) for side in ("left", "right"))
        documents: list[int] = self._documents[low:high].tolist()
        return documents


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
        writer.add("first", edges_of([len(columns["numbers"]) for columns in gold]))
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
    parts = [read_facets(columns, criterion) for columns in preds]
    whole, class_of_row = FacetCounts.merged(parts)
    sizes = np.array([record_sizes(*sides, criterion) for sides in zip(gold, preds, strict=True)], np.int64)
    with writing_columns(path, {"of": key, "names": whole.names, "criterion": criterion}) as writer:
        for facet in COUNTED:
            writer.add(f"{facet}.code", whole.codes[facet])
        writer.add("records", whole.records)
        writer.add("weight", whole.weight)
        writer.add("first", edges_of([len(facets.records) for facets in parts]))
        writer.add("rows.class", class_of_row.astype(np.int32))
        writer.add("rows.records", np.concatenate([np.zeros(0, np.int64), *(facets.records for facets in parts)]))
        for name, column in zip(("documents", "gold", "pred"), sizes.reshape(-1, 3).T, strict=True):
            writer.add(name, edges_of(column))


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
    in_part: Callable[[int], PartClasses],
    within: str | None = None,
) -> RecordClasses:
    """Return the classes of a system's records under a criterion, both by number; `in_part` returns a shard's.

    Raises:
        FormatError: the file lies outside of `within`.
        DamagedError, OSError: the file is missing or damaged.
    """
    columns = map_index(folder, shards, f"{system}.{criterion}", within)
    # They are few, and looked at again and again.
    array = {name: np.array(column) for name, column in columns.arrays.items()}
    facets = FacetCounts(
        {facet: tuple(names) for facet, names in columns.about["names"].items()},
        {facet: array[f"{facet}.code"] for facet in COUNTED},
        array["records"],
        array["weight"],
    )
    rows = array["first"], array["rows.class"], array["rows.records"]
    return RecordClasses(facets, *rows, array["documents"], array["gold"], array["pred"], in_part)


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
    required = {"first", "numbers" if name == DOCUMENTS else "rows.class"}
    if columns.about.get("of", key) != key or not required <= columns.arrays.keys():
        raise DamagedError("the index of something else")
    return columns


def _index_key(shards: Sequence[ShardKeys], name: str) -> str:
    """Return a digest of the keys of the shards and the name of a file of their index."""
    return hashlib.sha256(json.dumps([name, *map(list, shards)]).encode()).hexdigest()


def _place(folder: str | os.PathLike[str], name: str) -> Path:
    return Path(folder, FOLDER, f"{name}.columns")
