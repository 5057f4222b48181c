"""The files of one shard: its documents and gold spans, and for each system its predictions and match records.

Records are in document order. For the criterion of number n there are `n.gold` and `n.pred` (span numbers, -1: none),
`n.class` (see `ledger.facet_counts.FacetCounts`), `n.by_class` (the records sorted by class), `n.first` (the number of
each document's first record), where they are needed `n.anchored` and `n.weight`, and the classes: their codes by facet,
`n.records` and `n.classweight`. Layers under a criterion's own type rules, and token runs, are `n.0` and `n.1`.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nereval_core import __version__
from nereval_core.corpus import Layer
from nereval_core.engine.browse.spans import (
    DocumentColumns,
    LayerColumns,
    narrow_integers,
    write_documents,
    write_layer,
)
from nereval_core.engine.shard_counts import replace_file
from nereval_core.ledger import ledger
from nereval_core.ledger.facet_counts import COUNTED, FacetCounts
from nereval_core.scoring import Scores
from nereval_core.store.columns import Columns, ColumnWriter, DamagedError, map_columns

FORM = 1
"""The version of the columns."""
FOLDER, SUFFIX = "columns", ".columns"
CHECKED_BYTES = 16 << 20
"""The largest file that is checked when it is mapped, which takes about ten milliseconds; `doctor` checks all."""


def column_file(folder: str | os.PathLike[str], key: str) -> Path:
    """Return the path of a key's file."""
    return Path(folder, FOLDER, f"{key}{SUFFIX}")


@contextmanager
def writing_columns(path: Path, about: dict[str, Any]) -> Iterator[ColumnWriter]:
    """Yield a writer of columns to a file that appears once it is complete; `about` is read at the end."""
    with replace_file(path) as place, place.open("wb", buffering=1 << 20) as file:
        writer = ColumnWriter(file)
        yield writer
        writer.finish(about | {"form": FORM, "nereval": __version__})


def map_file(path: Path, within: str | None = None, *, checked: bool = False) -> Columns:
    """Map a file of columns, in the folder `within` only.

    All its bytes are checked if it has at most CHECKED_BYTES, or must be `checked`; else only its completeness is.

    Raises:
        DamagedError: the file is truncated or of another form; or changed, where it is checked.
        FormatError: it lies outside.
        OSError: it cannot be read.
    """
    columns = map_columns(path, checked_bytes=sys.maxsize if checked else CHECKED_BYTES, within=within)
    if columns.about.get("form") != FORM:
        raise DamagedError("another form")
    return columns


def map_shard(folder: str | os.PathLike[str], key: str, within: str | None = None, *, checked: bool = False) -> Columns:
    """Map the columns of a key, as `map_file`; they must be those of the key."""
    columns = map_file(column_file(folder, key), within, checked=checked)
    if columns.about.get("key") != key:
        raise DamagedError("the columns of something else")
    return columns


def is_whole(folder: str | os.PathLike[str], key: str) -> bool:
    """Return whether the file of a key exists, and is as it was written."""
    try:
        map_shard(folder, key, checked=True)
    except (DamagedError, OSError, LookupError, TypeError, ValueError, AttributeError):
        return False
    return True


def document_number(name: str) -> int:
    """Return a hash of 64 bits of a document id, by which its document is looked up."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "little", signed=True)


def write_gold(folder: str | os.PathLike[str], key: str, gold: Layer) -> None:
    """Write the documents and gold spans of a shard, as they were read."""
    about: dict[str, Any] = {"key": key}
    with writing_columns(column_file(folder, key), about) as writer:
        write_documents(writer, gold.documents)
        numbers = (document_number(name) for name in gold.documents.ids)
        writer.add("numbers", np.fromiter(numbers, np.int64, len(gold.documents)))
        about["gold"] = write_layer(writer, "gold", gold)


def write_system(folder: str | os.PathLike[str], key: str, gold: Layer, pred: Layer, scores: Scores) -> None:
    """Write the predictions of a shard, as they were read, and their records under every criterion of the scores."""
    about: dict[str, Any] = {"key": key, "criteria": {}}
    with writing_columns(column_file(folder, key), about) as writer:
        about["pred"] = write_layer(writer, "pred", pred)
        for number, criterion in enumerate(scores.criteria):
            about["criteria"][criterion.name] = _write_records(writer, number, criterion.name, gold, pred, scores)


def _write_records(
    writer: ColumnWriter, number: int, name: str, gold: Layer, pred: Layer, scores: Scores
) -> dict[str, Any]:
    found = ledger(scores, name, (gold, pred))
    rows, facets = found.rows, found.facets
    about: dict[str, Any] = {"number": number, "names": facets.names, "layers": [None, None]}
    for side, (own, read) in enumerate(zip(scores.layers(name), (gold, pred), strict=True)):
        if own is not read:
            about["layers"][side] = write_layer(writer, f"{number}.{side}", own)
    writer.add(f"{number}.gold", rows.gold)
    writer.add(f"{number}.pred", rows.pred)
    classes = len(facets.records)
    smallest = np.uint8 if classes <= 1 << 8 else np.int16 if classes <= 1 << 15 else np.int32
    writer.add(f"{number}.class", found.of_record.astype(smallest))
    writer.add(f"{number}.by_class", narrow_integers(np.argsort(found.of_record, kind="stable")))
    writer.add(f"{number}.first", narrow_integers(found.by_document))
    if not np.array_equal(rows.anchored, rows.gold >= 0):
        writer.add(f"{number}.anchored", rows.anchored.view(np.uint8))
    if (rows.weight != 1).any():
        writer.add(f"{number}.weight", rows.weight)
    for facet in COUNTED:
        writer.add(f"{number}.{facet}.code", facets.codes[facet])
    writer.add(f"{number}.records", facets.records)
    writer.add(f"{number}.classweight", facets.weight)
    return about


def read_facets(columns: Columns, criterion: str) -> FacetCounts:
    """Return the classes of the records under a criterion."""
    about = columns.about["criteria"][criterion]
    number = about["number"]
    return FacetCounts(
        {facet: tuple(names) for facet, names in about["names"].items()},
        {facet: columns[f"{number}.{facet}.code"] for facet in COUNTED},
        columns[f"{number}.records"],
        columns[f"{number}.classweight"],
    )


@dataclass(frozen=True, eq=False)
class RecordColumns:
    """The records of a shard under a criterion, mapped; `gold_layer` and `pred_layer` are the layers as scored."""

    gold: NDArray[np.int32]
    pred: NDArray[np.int32]
    of_record: NDArray[Any]
    by_class: NDArray[Any]
    first: NDArray[Any]
    anchored: NDArray[np.uint8] | None
    weight: NDArray[np.int64] | None
    edges: NDArray[np.int64]
    gold_layer: LayerColumns
    pred_layer: LayerColumns

    def __len__(self) -> int:
        return len(self.gold)

    def doc(self, positions: NDArray[Any]) -> NDArray[np.int64]:
        """Return the number of each record's document in the shard."""
        return np.searchsorted(self.first, positions, side="right") - 1

    def weights(self, positions: NDArray[Any]) -> NDArray[np.int64]:
        """Return the weights of records."""
        return np.ones(len(positions), np.int64) if self.weight is None else self.weight[positions]

    def of_classes(self, chosen: NDArray[np.bool_]) -> NDArray[Any]:
        """Return the records of some classes, increasing."""
        if chosen.all():
            return np.arange(len(self), dtype=self.by_class.dtype)
        parts = [self.by_class[self.edges[one] : self.edges[one + 1]] for one in np.flatnonzero(chosen).tolist()]
        found = np.concatenate([np.zeros(0, self.by_class.dtype), *parts])
        if len(found) < len(self) // 32:
            return np.sort(found)
        mask = np.zeros(len(self), bool)
        mask[found] = True
        return np.flatnonzero(mask).astype(self.by_class.dtype)


@dataclass(frozen=True, eq=False)
class MappedShard:
    """A shard under one system, mapped."""

    documents: DocumentColumns
    gold: LayerColumns
    pred: LayerColumns
    _columns: Columns

    @classmethod
    def of(cls, gold: Columns, system: Columns) -> MappedShard:
        """Return the shard of two files.

        Raises:
            DamagedError: a column is missing, or the files have different documents.
        """
        shard = cls(
            DocumentColumns.of(gold),
            LayerColumns.of(gold, "gold", gold.about["gold"]),
            LayerColumns.of(system, "pred", system.about["pred"]),
            system,
        )
        if not len(shard.gold.first) == len(shard.pred.first) == len(shard.documents) + 1:
            raise DamagedError("gold and prediction have not the same documents")
        return shard

    def records(self, criterion: str) -> RecordColumns:
        about: Mapping[str, Any] = self._columns.about["criteria"][criterion]
        number, get = about["number"], self._columns.arrays.get
        gold, pred = (
            read if own is None else LayerColumns.of(self._columns, f"{number}.{side}", own)
            for side, (own, read) in enumerate(zip(about["layers"], (self.gold, self.pred), strict=True))
        )
        columns = [self._columns[f"{number}.{name}"] for name in ("gold", "pred", "class", "by_class", "first")]
        if not len(columns[0]) == len(columns[1]) == len(columns[2]) == len(columns[3]) == int(columns[4][-1]):
            raise DamagedError("the columns of the records differ in length")
        edges = np.concatenate((np.zeros(1, np.int64), np.cumsum(self._columns[f"{number}.records"])))
        extra = get(f"{number}.anchored"), get(f"{number}.weight")
        return RecordColumns(columns[0], columns[1], columns[2], columns[3], columns[4], *extra, edges, gold, pred)


__all__: Sequence[str] = (
    "MappedShard",
    "RecordColumns",
    "column_file",
    "is_whole",
    "map_file",
    "map_shard",
    "read_facets",
    "write_gold",
    "write_system",
    "writing_columns",
)
