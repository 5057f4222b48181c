"""The match records of a shard as Parquet: RECORD_COLUMNS in document order, in row groups, with reproducible bytes.

`doc`, `gold` and `pred` number documents and spans within the shard.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from nereval_core import __version__
from nereval_core.corpus import Layer
from nereval_core.engine.shard_counts import replace_file
from nereval_core.problems import one_line
from nereval_core.records.match_records import Rows, record_ids, rows
from nereval_core.records.reasons import BOUNDARIES, boundaries, reasons
from nereval_core.records.tables import DECISIONS, RECORD_COLUMNS, SIDES, TOKEN_REASONS
from nereval_core.records.text_search import span_texts
from nereval_core.scoring import Scores

ROW_GROUP = 1 << 16
MADE_FROM = b"nereval"
"""The key of the file's metadata that names, as JSON, the source of the records: `key`, `criterion`, `nereval`."""
ENCODED = [name for name, kind in RECORD_COLUMNS.items() if kind == "category"]
"""Columns of few different values, which Parquet stores with a dictionary in each row group."""


def records_path(folder: str, system: str, criterion: str, shard: str) -> Path:
    """Return the path of a shard's records, `SYSTEM/CRITERION/SHARD.parquet`, with names escaped."""
    return Path(folder, folder_name(system), folder_name(criterion), *map(folder_name, f"{shard}.parquet".split("/")))


def folder_name(name: str) -> str:
    """Return a name escaped so that any file system takes it and it cannot lead out of the folder."""
    return quote(name, safe=" +,=@()").replace("~", "%7E") if name.strip(".") else name.replace(".", "%2E")


class Recorder:
    """Writes the records of a shard under several criteria; shared columns are computed once."""

    def __init__(self, scores: Scores) -> None:
        self._scores = scores
        self._sides: list[_Side] = []

    def write(self, criterion: str, path: Path, *, key: str) -> None:
        """Write the records under a criterion, whole or not at all."""
        table = self.table(criterion)
        origin = {"key": key, "criterion": criterion, "nereval": __version__}
        with replace_file(path) as place:
            pq.write_table(
                table.replace_schema_metadata({MADE_FROM: json.dumps(origin).encode()}),
                place,
                row_group_size=ROW_GROUP,
                compression="zstd",
                use_dictionary=ENCODED,
                write_page_checksum=True,
            )

    def table(self, criterion: str) -> pa.Table:
        """Return the frame of `tables.records` as an Arrow table."""
        records = rows(self._scores, criterion)
        gold, pred = (
            self._side(layer, prefix) for layer, prefix in zip(self._scores.layers(criterion), "gp", strict=True)
        )
        anchors = np.where(records.anchored, records.gold, records.pred + np.int64(len(gold.layer)))
        columns = {
            "criterion": _coded(np.zeros(len(records), np.int16), (criterion,)),
            "document": gold.documents.take(pa.array(records.doc)),
            "record": pa.concat_arrays([gold.ids, pred.ids]).take(pa.array(anchors)),
            "side": _coded(records.side, SIDES),
            "decision": _coded(records.decision, DECISIONS),
            **gold.columns("gold", records.gold),
            **pred.columns("pred", records.pred),
            "boundary": _coded(boundaries(gold.layer, pred.layer, records.gold, records.pred), BOUNDARIES),
            "reason": self._reason(criterion, records),
            "weight": pa.array(records.weight, pa.int64()),
            **{name: pa.array(getattr(records, name), pa.int32()) for name in ("doc", "gold", "pred")},
        }
        assert list(columns) == list(RECORD_COLUMNS)
        return pa.table(columns)

    def _reason(self, criterion: str, records: Rows) -> pa.Array:
        if self._scores.criterion(criterion).unit == "token":
            return _coded(np.where(records.pred < 0, 1, np.where(records.gold < 0, 2, 0)), TOKEN_REASONS)
        words = pa.array(reasons(*self._scores.layers(criterion), records.gold, records.pred), pa.string())
        return words.dictionary_encode().cast(pa.dictionary(pa.int32(), pa.string()))

    def _side(self, layer: Layer, prefix: str) -> _Side:
        for side in self._sides:
            if side.layer is layer and side.prefix == prefix:
                return side
        self._sides.append(_Side(layer, prefix))
        return self._sides[-1]


class _Side:
    """The columns of a layer's spans, each computed once."""

    def __init__(self, layer: Layer, prefix: str) -> None:
        self.layer = layer
        self.prefix = prefix

    @cached_property
    def documents(self) -> pa.Array:
        return pa.array(self.layer.documents.ids, pa.string())

    @cached_property
    def ids(self) -> pa.Array:
        return pa.array(record_ids(self.layer, self.prefix), pa.string())

    @cached_property
    def _columns(self) -> Mapping[str, pa.Array]:
        return {
            "start": pa.array(self.layer.start, pa.int32()),
            "end": pa.array(self.layer.end, pa.int32()),
            "type": _coded(self.layer.type, self.layer.types),
            "text": pa.array(span_texts(self.layer), pa.string()),
        }

    def columns(self, side: str, spans: NDArray[np.int32]) -> dict[str, pa.Array]:
        """Return the columns of these spans in records, null for -1."""
        places = pa.array(spans, mask=spans < 0)
        return {f"{side}_{name}": values.take(places) for name, values in self._columns.items()}


def damage_of_records(path: Path, key: str) -> str:
    """Return what is wrong with a file of records made from the entry with this key; "" where it is whole."""
    try:
        with pq.ParquetFile(path, page_checksum_verification=True) as file:
            origin: dict[str, Any] = json.loads((file.schema_arrow.metadata or {}).get(MADE_FROM, b"{}"))
            if origin.get("key") != key:
                return "the records of something else"
            if file.schema_arrow.names != list(RECORD_COLUMNS):
                return "other columns"
            for number in range(file.num_row_groups):
                file.read_row_group(number).validate(full=True)
    except (OSError, ValueError, AttributeError, pa.ArrowException) as error:
        return one_line(getattr(error, "strerror", None) or str(error))
    return ""


def _coded(codes: NDArray[Any], names: tuple[str, ...]) -> pa.Array:
    return pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int16)), pa.array(names, pa.string()))
