"""Files of columns that are memory-mapped, so that nothing is read before it is used.

From its beginning: MARK, the columns in a row (each begins at a multiple of ALIGNED), the directory (JSON), and at the
very end the directory's length and CRC-32 and MARK again. A truncated file lacks its end, and a changed byte of a
column changes its CRC-32: neither file is opened. Numbers are little-endian.
"""

from __future__ import annotations

import json
import math
import mmap
import struct
import sys
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from nereval_core.arrays import Array
from nereval_core.readers.input.confinement import open_file

MARK = b"nereval columns 1\n"
TAIL = struct.Struct(f"<QI{len(MARK)}s")
ALIGNED = 64
PIECE_BYTES = 1 << 20
"""Bytes checked at a time."""
TYPES = ("|u1", "<i2", "<i4", "<i8", "<f8")
"""The possible types of columns; a directory that names another is damaged."""


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
