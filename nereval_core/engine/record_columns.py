"""The column files of one shard: its documents and gold spans, and for each system its predictions and match records.

    DIR/columns/KEY.columns  a shard's documents and gold spans, or its predictions and records by criterion

Records are in document order. For the criterion of number n there are `n.gold` and `n.pred` (span numbers, -1: none),
`n.class` (see `ledger.facet_counts.FacetCounts`), `n.by_class` (the records sorted by class), `n.first` (the number of
each document's first record), where they are needed `n.anchored` and `n.weight`, and the classes: their codes by facet,
`n.records` and `n.classweight`. Layers under a criterion's own type rules, and token runs, are `n.0` and `n.1`.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from nereval_core import __version__
from nereval_core.corpus import Documents, Intervals, Layer
from nereval_core.corpus.arrays import narrow_integers
from nereval_core.corpus.texts import Texts
from nereval_core.engine.shard_counts import replace_file
from nereval_core.ledger import ledger
from nereval_core.ledger.facet_counts import COUNTED, FacetCounts
from nereval_core.ledger.record_places import PartClasses
from nereval_core.ledger.record_sources import LayerColumns, RecordPart
from nereval_core.scoring import Scores
from nereval_core.store.columns import (
    Columns,
    ColumnWriter,
    DamagedError,
    map_columns,
    read_extra,
    read_texts,
    write_extra,
    write_texts,
)

FORM = 1
"""The version of the columns."""
FOLDER, SUFFIX = "columns", ".columns"
CHECKED_BYTES = 16 << 20
"""The largest file that is checked when it is mapped, which takes about ten milliseconds; `doctor` checks all."""
EXTRA_KEYS = ("fragments", "links", "cores", "alternatives", "scores")
"""The optional properties of spans that pages show; ids and metadata of spans stay in the shards."""
TOKEN_PARTS = ("first", "starts", "ends")


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
    """Return the number by which the document of an id is looked up: 64 bits of its SHA-256."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "little", signed=True)


def write_gold(folder: str | os.PathLike[str], key: str, gold: Layer) -> None:
    """Write the documents and gold spans of a shard, as they were read; sentences and metadata stay in the shard."""
    about: dict[str, Any] = {"key": key}
    documents = gold.documents
    with writing_columns(column_file(folder, key), about) as writer:
        write_texts(writer, "ids", Texts.of(documents.ids))
        texts = documents.texts
        write_texts(writer, "texts", texts if isinstance(texts, Texts) else Texts.of(texts))
        if documents.tokens is not None:
            for part in TOKEN_PARTS:
                writer.add(f"tokens.{part}", getattr(documents.tokens, part))
        if documents.sizes is not None:
            writer.add("sizes", documents.sizes)
        writer.add("numbers", np.fromiter(map(document_number, documents.ids), np.int64, len(documents)))
        about["gold"] = _write_layer(writer, "gold", gold)


def write_system(folder: str | os.PathLike[str], key: str, gold: Layer, pred: Layer, scores: Scores) -> None:
    """Write the predictions of a shard, as they were read, and their records under every criterion of the scores."""
    about: dict[str, Any] = {"key": key, "criteria": {}}
    with writing_columns(column_file(folder, key), about) as writer:
        about["pred"] = _write_layer(writer, "pred", pred)
        for number, criterion in enumerate(scores.criteria):
            about["criteria"][criterion.name] = _write_records(writer, number, criterion.name, gold, pred, scores)


def _write_layer(writer: ColumnWriter, name: str, layer: Layer) -> dict[str, Any]:
    """Write the columns of a layer; return its other parts as JSON."""
    writer.add(f"{name}.first", narrow_integers(layer.first))
    writer.add(f"{name}.start", layer.start)
    writer.add(f"{name}.end", layer.end)
    writer.add(f"{name}.type", layer.type.astype(np.uint8) if len(layer.types) <= 256 else layer.type)
    for kind in EXTRA_KEYS:
        write_extra(writer, f"{name}.{kind}", kind, getattr(layer, kind))
    return {"name": layer.name, "types": layer.types}


def _write_records(
    writer: ColumnWriter, number: int, name: str, gold: Layer, pred: Layer, scores: Scores
) -> dict[str, Any]:
    source = ledger(scores, name, (gold, pred)).source
    part, classes = source.part(0), source.classes(by_field=True)
    facets, in_part = classes.facets, classes.in_part(0)
    about: dict[str, Any] = {"number": number, "names": facets.names, "layers": [None, None]}
    for side, (scored, read) in enumerate(zip(scores.layers(name), (gold, pred), strict=True)):
        if scored is not read:
            about["layers"][side] = _write_layer(writer, f"{number}.{side}", scored)
    writer.add(f"{number}.gold", part.gold)
    writer.add(f"{number}.pred", part.pred)
    n_classes = len(facets.records)
    smallest = np.uint8 if n_classes <= 1 << 8 else np.int16 if n_classes <= 1 << 15 else np.int32
    writer.add(f"{number}.class", in_part.of_record.astype(smallest))
    writer.add(f"{number}.by_class", narrow_integers(in_part.by_class))
    writer.add(f"{number}.first", narrow_integers(part.first))
    if part.anchored is not None:
        writer.add(f"{number}.anchored", part.anchored.view(np.uint8))
    if part.weight is not None:
        writer.add(f"{number}.weight", part.weight)
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


def record_sizes(gold: Columns, pred: Columns, criterion: str) -> tuple[int, int, int]:
    """Return the numbers of a shard's documents with records, and of its gold spans and predictions as scored."""
    about = pred.about["criteria"][criterion]
    number = about["number"]
    first = pred[f"{number}.first"]
    n_spans = [
        int((read if scored is None else pred[f"{number}.{side}.first"])[-1])
        for side, (read, scored) in enumerate(
            zip((gold["gold.first"], pred["pred.first"]), about["layers"], strict=True)
        )
    ]
    return int(np.count_nonzero(first[1:] != first[:-1])), n_spans[0], n_spans[1]


@dataclass(frozen=True, eq=False)
class MappedShard:
    """A shard under one system, mapped: its documents, and gold and predictions as they were read."""

    documents: Documents
    read: tuple[LayerColumns, LayerColumns]
    _columns: Columns

    @classmethod
    def of(cls, gold: Columns, system: Columns) -> MappedShard:
        """Return the shard of two files.

        Raises:
            DamagedError: a column is missing, or the files have different documents.
        """
        tokens = None
        if "tokens.first" in gold.arrays:
            tokens = Intervals(*(gold[f"tokens.{part}"] for part in TOKEN_PARTS))
        ids, texts, sizes = read_texts(gold, "ids"), read_texts(gold, "texts"), gold.arrays.get("sizes")
        documents = Documents(ids, texts, tokens, sizes=sizes)
        read = _layer(gold, "gold", gold.about["gold"]), _layer(system, "pred", system.about["pred"])
        if not all(len(layer.first) == len(documents) + 1 for layer in read):
            raise DamagedError("gold and prediction have not the same documents")
        return cls(documents, read, system)

    def records(self, criterion: str) -> tuple[RecordPart, PartClasses]:
        """Return the records under a criterion, and the class of each.

        Raises:
            DamagedError: a column is missing, or columns differ in length.
        """
        about: Mapping[str, Any] = self._columns.about["criteria"][criterion]
        number, extra = about["number"], self._columns.arrays.get
        gold_layer, pred_layer = (
            read if scored is None else _layer(self._columns, f"{number}.{side}", scored)
            for side, (scored, read) in enumerate(zip(about["layers"], self.read, strict=True))
        )
        gold, pred, of_record, by_class, first, records = (
            self._columns[f"{number}.{name}"] for name in ("gold", "pred", "class", "by_class", "first", "records")
        )
        if not len(gold) == len(pred) == len(of_record) == len(by_class) == int(first[-1]):
            raise DamagedError("the columns of the records differ in length")
        anchored, weight = extra(f"{number}.anchored"), extra(f"{number}.weight")
        part = RecordPart(self.documents, (gold_layer, pred_layer), gold, pred, first, anchored, weight)
        return part, PartClasses(of_record, records, by_class)


def _layer(columns: Columns, name: str, about: Mapping[str, Any]) -> LayerColumns:
    first, start, end, kinds = (columns[f"{name}.{part}"] for part in ("first", "start", "end", "type"))
    if not len(start) == len(end) == len(kinds) == int(first[-1]):
        raise DamagedError(f"the columns of layer {name} differ in length")
    extras = {key: read_extra(columns, f"{name}.{key}", key) for key in EXTRA_KEYS}
    return LayerColumns(about["name"], first, start, end, kinds, tuple(about["types"]), extras)
