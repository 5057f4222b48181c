"""Parquet, for large corpora: the spans in one file, a row each, their texts in one beside it; lossless.

`NAME.spans.parquet` has the columns document, start, end and type, and those of id, links, fragments, core,
alternatives, score and meta that some span has; `NAME.texts.parquet` has document and text, and those of tokens,
sentences and meta that some document has. `readers/parquet` describes their contents.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from nereval_core.corpus import Documents, Intervals, Layer
from nereval_core.corpus.arrays import Int64
from nereval_core.corpus.texts import Texts
from nereval_core.problems import FormatError
from nereval_core.readers.parquet import SPANS, SUFFIX, TEXTS
from nereval_core.writers import whole_file, whole_folder
from nereval_core.writers.writer import EVERYTHING, Writer

if TYPE_CHECKING:
    import pyarrow as pa


GROUP_SPANS = 1 << 17
GROUP_CHARACTERS = 1 << 24
GROUP_DOCUMENTS = 1 << 16
"""Limits of a row group; a document is never cut, even if it alone exceeds them."""


class ParquetWriter(Writer):
    """NAME.spans.parquet and NAME.texts.parquet, whichever of the two is named, or a folder with one such pair.

    Spans stand by document, in the order in which they were read. The bytes depend on the layer alone (and on the
    version of pyarrow).
    """

    name = "parquet"
    description = "Parquet spans and texts, a pair of files or a folder of them: for large corpora, lossless"
    holds = EVERYTHING
    shard = SPANS

    def write(self, layer: Layer, path: Path) -> tuple[str, ...]:
        ending = next((ending for ending in (SPANS, TEXTS) if path.name.endswith(ending)), None)
        if ending is not None:
            name = path.name.removesuffix(ending)
            with whole_file(path.with_name(name + SPANS)) as spans, whole_file(path.with_name(name + TEXTS)) as texts:
                _write(layer, spans, texts)
            return ()
        if path.suffix == SUFFIX:
            remedy = f"name a folder, or a file that ends in {SPANS}"
            raise FormatError.single(os.fspath(path), None, "texts and spans are two files", remedy)
        with whole_folder(path) as folder:
            return self.write(layer, folder / f"part-00000{SPANS}")


def _write(layer: Layer, spans: BinaryIO, texts: BinaryIO) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    pair = pa.struct([("start", pa.int32()), ("end", pa.int32())])
    of_spans: dict[str, Any] = {"document": pa.string(), "start": pa.int32(), "end": pa.int32(), "type": pa.string()}
    more: dict[str, tuple[Any, Mapping[int, Any]]] = {
        "id": (pa.string(), layer.ids),
        "links": (pa.list_(pa.string()), layer.links),
        "fragments": (pa.list_(pair), layer.fragments),
        "core": (pair, layer.cores),
        "alternatives": (pa.list_(pair), layer.alternatives),
        "score": (pa.float64(), layer.scores),
        "meta": (pa.string(), layer.meta),
    }
    more = {key: (kind, values) for key, (kind, values) in more.items() if values}
    of_spans |= {key: kind for key, (kind, _) in more.items()}
    documents = layer.documents
    of_texts: dict[str, Any] = {"document": pa.string(), "text": pa.string()}
    beside = {"tokens": documents.tokens, "sentences": documents.sentences}
    of_texts |= {key: pa.list_(pair) for key, value in beside.items() if value is not None}
    of_texts |= {} if documents.meta is None else {"meta": pa.string()}
    ids = pa.array(documents.ids, pa.string())
    types = pa.array(layer.types, pa.string())
    order = _order(layer)

    def rows_of_spans(low: int, high: int) -> dict[str, Any]:
        rows = order[layer.first[low] : layer.first[high]]
        columns: dict[str, Any] = {
            "document": ids.take(pa.array(layer.doc[rows])),
            "start": pa.array(layer.start[rows]),
            "end": pa.array(layer.end[rows]),
            "type": types.take(pa.array(layer.type[rows])),
        }
        for key, (kind, values) in more.items():
            columns[key] = pa.array(_values(key, values, rows), kind)
        return columns

    def rows_of_texts(low: int, high: int) -> dict[str, Any]:
        columns: dict[str, Any] = {"document": ids.slice(low, high - low), "text": _texts(documents, low, high)}
        for key, intervals in beside.items():
            if intervals is not None:
                columns[key] = _intervals(intervals, low, high, pair)
        if documents.meta is not None:
            columns["meta"] = pa.array([_json(value) if value else None for value in documents.meta[low:high]])
        return columns

    groups = list(pairwise(_cuts(layer)))
    for file, kinds, rows in ((spans, of_spans, rows_of_spans), (texts, of_texts, rows_of_texts)):
        schema = pa.schema(list(kinds.items()))
        # Offsets seldom repeat: only names are worth a dictionary.
        named = [name for name in ("document", "type", "links.list.element") if name.partition(".")[0] in kinds]
        with parquet.ParquetWriter(
            file, schema, compression="zstd", use_dictionary=named if file is spans else False, write_page_index=False
        ) as writer:
            for low, high in groups:
                table = pa.table(rows(low, high), schema)
                if len(table):
                    writer.write_table(table, row_group_size=len(table))


def _order(layer: Layer) -> Int64:
    """Return the spans by document, those of each in the order in which they were read."""
    if layer.order is None:
        return np.arange(len(layer))
    return np.lexsort((layer.order, layer.doc)).astype(np.int64)


def _cuts(layer: Layer) -> Iterator[int]:
    """Yield the first document of each row group, and last the number of documents."""
    base, first, count = layer.documents.base, layer.first, len(layer.documents)
    at = 0
    while at < count:
        yield at
        far = min(
            int(np.searchsorted(base, base[at] + GROUP_CHARACTERS, side="right")) - 1,
            int(np.searchsorted(first, first[at] + GROUP_SPANS, side="right")) - 1,
            at + GROUP_DOCUMENTS,
        )
        at = max(at + 1, far)
    yield count


def _values(key: str, values: Mapping[int, Any], rows: Int64) -> Sequence[Any]:
    """Return the values of these spans in one column, None where a span has none."""
    column = map(values.get, rows.tolist())
    if key == "core":
        return [None if value is None else _pair(value) for value in column]
    if key in ("fragments", "alternatives"):
        return [None if value is None else list(map(_pair, value)) for value in column]
    return [None if value is None else _json(value) for value in column] if key == "meta" else list(column)


def _pair(edges: Sequence[int]) -> dict[str, int]:
    return {"start": int(edges[0]), "end": int(edges[1])}


def _json(value: Mapping[str, Any]) -> str:
    return json.dumps(dict(value), ensure_ascii=False, separators=(", ", ": "), allow_nan=False)


def _texts(documents: Documents, low: int, high: int) -> pa.Array:
    import pyarrow as pa

    if not isinstance(documents.texts, Texts):
        return pa.array(documents.texts[low:high], pa.string())
    texts = documents.texts.between(low, high)
    buffers = [None, pa.py_buffer(texts.offsets.astype(np.int32)), pa.py_buffer(texts.data)]
    return pa.Array.from_buffers(pa.string(), high - low, buffers)


def _intervals(intervals: Intervals, low: int, high: int, pair: pa.DataType) -> pa.Array:
    import pyarrow as pa

    intervals = intervals.between(low, high)
    values = pa.StructArray.from_arrays([pa.array(intervals.starts), pa.array(intervals.ends)], fields=list(pair))
    return pa.ListArray.from_arrays(pa.array(intervals.first.astype(np.int32)), values)


WRITERS = (ParquetWriter(),)
