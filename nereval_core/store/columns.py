"""Files of columns that are memory-mapped, so that nothing is read before it is used.

From its beginning: MARK, the columns in a row (each begins at a multiple of ALIGNED), the directory (JSON), and at the
very end the directory's length and CRC-32 and MARK again. A truncated file lacks its end, and a changed byte of a
column changes its CRC-32: neither file is opened. Numbers are little-endian. Texts, and properties of only some spans
(links, ids, fragments, ...), are columns too, looked up without an object for each span.
"""

from __future__ import annotations

import json
import math
import mmap
import struct
import sys
import zlib
from collections.abc import Callable, ItemsView, Iterable, Iterator, Mapping, ValuesView
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, BinaryIO, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from nereval_core.corpus.arrays import Array, Int64, edges_of
from nereval_core.corpus.texts import Texts
from nereval_core.readers.input.confinement import open_file

MARK = b"nereval columns 1\n"
TAIL = struct.Struct(f"<QI{len(MARK)}s")
ALIGNED = 64
PIECE_BYTES = 1 << 20
"""Bytes checked at a time."""
TYPES = ("|u1", "<i2", "<i4", "<i8", "<f8")
"""The possible types of columns; a directory that names another is damaged."""
SINGLE_LOOKUPS = 2_000
"""Single lookups after which all values are put into a dictionary, which is faster than searching."""
Value = TypeVar("Value")


class DamagedError(Exception):
    """A file that is not a whole file of columns."""


class ColumnWriter:
    """Writes columns one after the other: `add`, ..., then `finish`; an unfinished file cannot be opened."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._at = file.write(MARK)
        self._rows: dict[str, list[Any]] = {}

    @property
    def written(self) -> int:
        """Bytes written so far."""
        return self._at

    def add(self, name: str, column: Array) -> None:
        """Write an array of one of TYPES, any shape."""
        column = np.ascontiguousarray(column)
        column = column.astype(column.dtype.newbyteorder("<"), copy=False)
        self._begin(name, column.dtype.str, list(column.shape))
        if column.size:
            self.more(name, column.reshape(-1).view(np.uint8).data)

    def pieces(self, name: str, pieces: Iterable[bytes]) -> None:
        """Write a column of bytes that are given in pieces."""
        self._begin(name, "|u1", [0])
        for piece in pieces:
            self.more(name, memoryview(piece))
            self._rows[name][1][0] += len(piece)

    def _begin(self, name: str, dtype: str, shape: list[int]) -> None:
        assert dtype in TYPES and name not in self._rows
        self._at += self._file.write(b"\0" * (-self._at % ALIGNED))
        self._rows[name] = [dtype, shape, self._at, 0, 0]

    def more(self, name: str, raw: memoryview) -> None:
        row = self._rows[name]
        self._at += self._file.write(raw)
        row[3], row[4] = row[3] + len(raw), zlib.crc32(raw, row[4])

    def finish(self, about: Mapping[str, Any]) -> None:
        """Write the directory, with facts `about` the columns (JSON)."""
        directory = json.dumps({"about": about, "columns": self._rows}).encode()
        self._file.write(directory + TAIL.pack(len(directory), zlib.crc32(directory), MARK))


@dataclass(frozen=True, eq=False)
class Columns:
    """An open file: read-only arrays over the mapped file, and facts `about` them."""

    about: Mapping[str, Any]
    arrays: Mapping[str, Array]

    def __getitem__(self, name: str) -> Array:
        try:
            return self.arrays[name]
        except KeyError:
            raise DamagedError(f"no column {name}") from None


def map_columns(
    path: Path, *, unchecked: Iterable[str] = (), checked_bytes: int = sys.maxsize, within: str | None = None
) -> Columns:
    """Map a file of columns after checking all its bytes, except those of the columns `unchecked`.

    Of a file of more than `checked_bytes` only size and directory are checked: a truncated file is detected, a changed
    byte is not. The file may be removed while it is mapped, as by a cache that makes room. With `within`, it must lie
    in that folder.

    Raises:
        DamagedError: the file is truncated, changed or of another form.
        FormatError: it lies outside.
        OSError: it cannot be read.
    """
    with open_file(path, within) as file:
        size = file.seek(0, 2)
        if size < len(MARK) + TAIL.size:
            raise DamagedError("too short")
        file.seek(size - TAIL.size)
        length, crc, mark = TAIL.unpack(file.read(TAIL.size))
        if mark != MARK or length > size - TAIL.size - len(MARK):
            raise DamagedError("no end")
        file.seek(size - TAIL.size - length)
        raw = file.read(length)
        if zlib.crc32(raw) != crc:
            raise DamagedError("another directory than was written")
        directory = json.loads(raw)
        rows: dict[str, list[Any]] = directory["columns"]
        skipped = frozenset(unchecked)
        for name, (dtype, shape, at, length, crc) in rows.items():
            _check_row(name, dtype, shape, at, length, size)
            if size <= checked_bytes and name not in skipped and _crc(file, at, length) != crc:
                raise DamagedError(f"column {name} is not as it was written")
        view = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    arrays = {name: _array(view, dtype, shape, at) for name, (dtype, shape, at, _, _) in rows.items()}
    return Columns(directory["about"], arrays)


def _check_row(name: str, dtype: str, shape: list[int], at: int, length: int, size: int) -> None:
    if dtype not in TYPES or at % ALIGNED or at + length > size:
        raise DamagedError(f"column {name} lies outside")
    if math.prod(shape) * np.dtype(dtype).itemsize != length:
        raise DamagedError(f"column {name} has another size")


def _crc(file: BinaryIO, at: int, length: int) -> int:
    """Return the CRC-32 of a part of the file, read rather than mapped: mapped pages count as memory."""
    file.seek(at)
    crc, buffer = 0, bytearray(min(PIECE_BYTES, length))
    while length:
        piece = memoryview(buffer)[: min(length, len(buffer))]
        read = file.readinto(piece)  # type: ignore[attr-defined]
        if not read:
            raise DamagedError("cut short")
        crc, length = zlib.crc32(piece[:read], crc), length - read
    return crc


def _array(view: mmap.mmap, dtype: str, shape: list[int], at: int) -> Array:
    count = math.prod(shape)
    flat = np.frombuffer(view, dtype, count, at) if count else np.zeros(0, dtype)
    flat.setflags(write=False)
    return flat.reshape(shape)


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
        writer.add(f"{name}.first", edges_of([len(value) for value in values]))
        writer.add(f"{name}.edges", np.array([edges for value in values for edges in value], np.int32).reshape(-1, 2))
    elif kind == "cores":
        writer.add(f"{name}.edges", np.array(values, np.int32).reshape(-1, 2))
    elif kind == "scores":
        writer.add(f"{name}.values", np.array(values, np.float64))
    elif kind == "links":
        writer.add(f"{name}.first", edges_of([len(value) for value in values]))
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


def _cut(rows: list[Any], cuts: Array) -> list[Any]:
    return [tuple(rows[low:high]) for low, high in pairwise((cuts - cuts[0]).tolist())]


def _strings(texts: Texts, low: int, high: int) -> list[str]:
    return list(texts.between(low, high))
