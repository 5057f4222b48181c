"""Documents and layers of a shard as columns in a file, and the extraction of a few documents from several shards.

Only the extracted documents are read: the columns are mapped, and texts are decoded document by document.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nereval_core.alignment.codes import ranges
from nereval_core.arrays import Int64
from nereval_core.corpus import Documents, Intervals, Layer
from nereval_core.corpus.texts import Texts
from nereval_core.store.columns import Columns, ColumnWriter, DamagedError
from nereval_core.store.sparse import SparseValues, read_extra, read_texts, write_extra, write_texts

EXTRA_KEYS = ("fragments", "links", "cores", "alternatives", "scores")
"""The optional properties of spans that pages show; ids and metadata of spans stay in the shards."""


def write_documents(writer: ColumnWriter, documents: Documents) -> None:
    """Write ids, texts and tokens; sentences and metadata stay in the shards."""
    write_texts(writer, "ids", Texts.of(documents.ids))
    texts = documents.texts
    write_texts(writer, "texts", texts if isinstance(texts, Texts) else Texts.of(texts))
    if documents.tokens is not None:
        for part in ("first", "starts", "ends"):
            writer.add(f"tokens.{part}", getattr(documents.tokens, part))


def write_layer(writer: ColumnWriter, name: str, layer: Layer) -> dict[str, Any]:
    """Write the columns of a layer; return its other parts as JSON."""
    writer.add(f"{name}.first", narrow_integers(layer.first))
    writer.add(f"{name}.start", layer.start)
    writer.add(f"{name}.end", layer.end)
    codes = layer.type
    writer.add(f"{name}.type", codes.astype(np.uint8) if len(layer.types) <= 256 else codes)
    for kind in EXTRA_KEYS:
        write_extra(writer, f"{name}.{kind}", kind, getattr(layer, kind))
    return {"name": layer.name, "types": layer.types}


@dataclass(frozen=True, eq=False)
class DocumentColumns:
    """The documents of a shard, mapped."""

    ids: Texts
    texts: Texts
    tokens: Intervals | None

    @classmethod
    def of(cls, columns: Columns) -> DocumentColumns:
        tokens = None
        if "tokens.first" in columns.arrays:
            tokens = Intervals(*(columns[f"tokens.{part}"] for part in ("first", "starts", "ends")))
        return cls(read_texts(columns, "ids"), read_texts(columns, "texts"), tokens)

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(frozen=True, eq=False)
class LayerColumns:
    """The spans of a shard's layer, mapped: those of document d are `first[d]` to `first[d + 1]`."""

    name: str
    first: NDArray[Any]
    start: NDArray[np.int32]
    end: NDArray[np.int32]
    type: NDArray[Any]
    types: tuple[str, ...]
    extras: Mapping[str, Mapping[int, Any]]

    @classmethod
    def of(cls, columns: Columns, name: str, about: Mapping[str, Any]) -> LayerColumns:
        first, start, end, kinds = (columns[f"{name}.{part}"] for part in ("first", "start", "end", "type"))
        if not len(start) == len(end) == len(kinds) == int(first[-1]):
            raise DamagedError(f"the columns of layer {name} differ in length")
        extras = {kind: read_extra(columns, f"{name}.{kind}", kind) for kind in EXTRA_KEYS}
        return cls(about["name"], first, start, end, kinds, tuple(about["types"]), extras)


@dataclass(frozen=True, eq=False)
class ShardDocuments:
    """Some documents (increasing numbers) of a shard, with its layers; `base` is the overall number of its first."""

    documents: DocumentColumns
    gold: LayerColumns
    pred: LayerColumns
    chosen: Int64
    base: int = 0


@dataclass(frozen=True, eq=False)
class Excerpt:
    """Documents of several shards, one after the other, as a corpus of their own.

    `first` is the number of each shard's first document in it. `gold_shift` and `pred_shift` are, by document, the
    difference of a span's number in its shard and here; `numbers` are the documents' numbers overall.
    """

    gold: Layer
    pred: Layer
    first: Int64
    gold_shift: Int64
    pred_shift: Int64
    numbers: Int64


def extract_documents(parts: Sequence[ShardDocuments]) -> Excerpt:
    """Return the documents of several shards as a corpus of their own."""
    sizes = np.array([len(part.chosen) for part in parts], np.int64)
    first = np.cumsum(sizes) - sizes
    ids = [part.documents.ids[number] for part in parts for number in part.chosen.tolist()]
    texts = [part.documents.texts.take(part.chosen.tolist()) for part in parts]
    over = Documents(tuple(ids), _joined(texts), _tokens(parts))
    gold, gold_shift = _layer([(part.gold, part.chosen) for part in parts], over)
    pred, pred_shift = _layer([(part.pred, part.chosen) for part in parts], over)
    numbers = np.concatenate([part.chosen + part.base for part in parts])
    return Excerpt(gold, pred, first, gold_shift, pred_shift, numbers)


def _joined(texts: Sequence[Texts]) -> Texts:
    if len(texts) == 1:
        return texts[0]
    sizes = np.concatenate([np.diff(one.offsets) for one in texts])
    offsets = np.concatenate((np.zeros(1, np.int64), np.cumsum(sizes)))
    return Texts(np.concatenate([one.data for one in texts]), offsets)


def _tokens(parts: Sequence[ShardDocuments]) -> Intervals | None:
    if all(part.documents.tokens is None for part in parts):
        return None
    sizes, starts, ends = [], [], []
    for part in parts:
        tokens = part.documents.tokens
        if tokens is None:
            sizes.append(np.zeros(len(part.chosen), np.int64))
            continue
        low, high = tokens.first[part.chosen], tokens.first[part.chosen + 1]
        rows = ranges(low, high)[1]
        sizes.append(high - low)
        starts.append(tokens.starts[rows])
        ends.append(tokens.ends[rows])
    first = np.concatenate((np.zeros(1, np.int64), np.cumsum(np.concatenate(sizes))))
    return Intervals(first, np.concatenate(starts), np.concatenate(ends))


def _layer(sides: Sequence[tuple[LayerColumns, Int64]], over: Documents) -> tuple[Layer, Int64]:
    """Return the spans of the chosen documents as a layer, and by document the shift of its spans' numbers."""
    types = tuple(sorted({kind for columns, _ in sides for kind in columns.types}))
    code = {kind: number for number, kind in enumerate(types)}
    docs, starts, ends, kinds, shifts = [], [], [], [], []
    extras: dict[str, Any] = {kind: {} for kind in EXTRA_KEYS}
    documents = spans = 0
    for columns, chosen in sides:
        low, high = columns.first[chosen].astype(np.int64), columns.first[chosen + 1].astype(np.int64)
        owner, rows = ranges(low, high)
        docs.append(owner + documents)
        starts.append(columns.start[rows])
        ends.append(columns.end[rows])
        kinds.append(np.array([code[kind] for kind in columns.types], np.int16)[columns.type[rows]])
        begins = np.cumsum(high - low) - (high - low) + spans
        shifts.append(low - begins)
        for kind, known in columns.extras.items():
            if isinstance(known, SparseValues):
                for one, other, begin in zip(low.tolist(), high.tolist(), begins.tolist(), strict=True):
                    extras[kind].update((span - one + begin, value) for span, value in known.within(one, other))
        documents, spans = documents + len(chosen), spans + len(rows)
    made = Layer(
        sides[0][0].name,
        over,
        np.concatenate(docs).astype(np.int32),
        np.concatenate(starts),
        np.concatenate(ends),
        np.concatenate(kinds),
        types,
        None,
        **extras,
    )
    return made, np.concatenate(shifts)


def narrow_integers(numbers: NDArray[Any]) -> NDArray[Any]:
    """Return non-negative integers in 32 bits where they fit."""
    return numbers.astype(np.int32) if int(numbers.max(initial=0)) < 1 << 31 else numbers.astype(np.int64)


__all__: Sequence[str] = (
    "DocumentColumns",
    "Excerpt",
    "LayerColumns",
    "ShardDocuments",
    "extract_documents",
    "narrow_integers",
    "write_documents",
    "write_layer",
)
