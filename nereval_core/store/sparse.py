"""Properties of only some spans (links, ids, fragments, ...) as columns, looked up without an object for each span."""

from __future__ import annotations

import json
from collections.abc import Callable, ItemsView, Iterator, Mapping, Sequence, ValuesView
from itertools import pairwise
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from nereval_core.arrays import Array, Int64
from nereval_core.corpus.texts import Texts
from nereval_core.store.columns import Columns, ColumnWriter

Value = TypeVar("Value")

SINGLE_LOOKUPS = 2_000
"""Single lookups after which all values are put into a dictionary, which is faster than searching."""


class SparseValues(Mapping[int, Value], Generic[Value]):
    """A mapping from spans to values that stay in columns until they are used.

    `spans` are increasing; `values_at(low, high)` returns the values of `spans[low:high]`.
    """

    def __init__(self, spans: NDArray[np.int32], values_at: Callable[[int, int], list[Value]]) -> None:
        self._spans = spans
        self._values_at = values_at
        self._lookups = 0
        self._dictionary: dict[int, Value] | None = None

    def _whole(self) -> dict[int, Value]:
        if self._dictionary is None:
            self._dictionary = dict(zip(self._spans.tolist(), self._values_at(0, len(self._spans)), strict=True))
        return self._dictionary

    def __len__(self) -> int:
        return len(self._spans)

    def __iter__(self) -> Iterator[int]:
        return iter(self._spans.tolist())

    def __getitem__(self, span: int) -> Value:
        if self._dictionary is not None or self._lookups >= SINGLE_LOOKUPS:
            return self._whole()[span]
        self._lookups += 1
        place = int(self._spans.searchsorted(span))
        if place == len(self._spans) or self._spans[place] != span:
            raise KeyError(span)
        return self._values_at(place, place + 1)[0]

    def within(self, low: int, high: int) -> Iterator[tuple[int, Value]]:
        """Yield the spans from low to high, end exclusive, that have a value, with it."""
        first, last = self._spans.searchsorted((low, high)).tolist()
        if first < last:
            yield from zip(self._spans[first:last].tolist(), self._values_at(first, last), strict=True)

    def items(self) -> ItemsView[int, Value]:
        return self._whole().items()

    def values(self) -> ValuesView[Value]:
        return self._whole().values()


def write_texts(writer: ColumnWriter, name: str, texts: Texts) -> None:
    writer.add(f"{name}.data", texts.data)
    writer.add(f"{name}.offsets", texts.offsets)


def read_texts(columns: Columns, name: str, lengths: Int64 | None = None) -> Texts:
    return Texts(columns[f"{name}.data"], columns[f"{name}.offsets"], lengths)


def write_extra(writer: ColumnWriter, name: str, kind: str, extra: Mapping[int, Any]) -> None:
    """Write a mapping of a layer, `kind` being its key in `corpus.SPAN_KEYS`; an empty mapping is left out."""
    if not extra:
        return
    spans = sorted(extra)
    values = [extra[span] for span in spans]
    writer.add(f"{name}.spans", np.array(spans, np.int32))
    if kind in ("fragments", "alternatives"):
        writer.add(f"{name}.first", _firsts(values))
        writer.add(f"{name}.edges", np.array([edges for value in values for edges in value], np.int32).reshape(-1, 2))
    elif kind == "cores":
        writer.add(f"{name}.edges", np.array(values, np.int32).reshape(-1, 2))
    elif kind == "scores":
        writer.add(f"{name}.values", np.array(values, np.float64))
    elif kind == "links":
        writer.add(f"{name}.first", _firsts(values))
        write_texts(writer, name, Texts.of(link for value in values for link in value))
    elif kind == "ids":
        write_texts(writer, name, Texts.of(values))
    else:
        assert kind == "meta"
        write_texts(writer, name, Texts.of(json.dumps(dict(value)) for value in values))


def read_extra(columns: Columns, name: str, kind: str) -> Mapping[int, Any]:
    """Return the mapping that `write_extra` wrote, over its columns.

    Raises:
        DamagedError: a column is missing.
    """
    if f"{name}.spans" not in columns.arrays:
        return {}
    return SparseValues(columns[f"{name}.spans"], _reader(columns, name, kind))


def _reader(columns: Columns, name: str, kind: str) -> Callable[[int, int], list[Any]]:
    if kind == "scores":
        numbers = columns[f"{name}.values"]
        return lambda low, high: numbers[low:high].tolist()
    if kind == "cores":
        cores = columns[f"{name}.edges"]
        return lambda low, high: list(map(tuple, cores[low:high].tolist()))
    if kind in ("fragments", "alternatives"):
        first, edges = columns[f"{name}.first"], columns[f"{name}.edges"]

        def parts(low: int, high: int) -> list[Any]:
            cuts = first[low : high + 1]
            rows = list(map(tuple, edges[cuts[0] : cuts[-1]].tolist()))
            return _cut(rows, cuts)

        return parts
    texts = read_texts(columns, name)
    if kind == "links":
        first_link = columns[f"{name}.first"]

        def links(low: int, high: int) -> list[Any]:
            cuts = first_link[low : high + 1]
            return _cut(_strings(texts, int(cuts[0]), int(cuts[-1])), cuts)

        return links
    if kind == "ids":
        return lambda low, high: _strings(texts, low, high)
    return lambda low, high: [json.loads(text) for text in _strings(texts, low, high)]


def _firsts(values: Sequence[Sequence[Any]]) -> Array:
    return np.concatenate((np.zeros(1, np.int64), np.cumsum([len(value) for value in values], dtype=np.int64)))


def _cut(rows: list[Any], cuts: Array) -> list[Any]:
    return [tuple(rows[low:high]) for low, high in pairwise((cuts - cuts[0]).tolist())]


def _strings(texts: Texts, low: int, high: int) -> list[str]:
    return list(texts.between(low, high))
