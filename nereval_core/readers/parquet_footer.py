"""What the footer of a Parquet file says of its columns, read by ourselves.

pyarrow ends the process where what it is asked for of a damaged footer cannot be told. The footer is Thrift in its
compact protocol. See "Parquet: Metadata" and "Thrift compact protocol encoding".
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import pyarrow as pa

DEEPEST = 32
TAIL = 8
"""Bytes behind the footer: its length and the magic ones."""
# Numbers of fields in FileMetaData, RowGroup, ColumnChunk and ColumnMetaData.
GROUPS, COLUMNS, META = 4, 1, 3
PATH, VALUES, UNPACKED, DICTIONARY = 3, 5, 6, 11
TRUE, FALSE, BYTE, DOUBLE, BINARY, LIST, SET, MAP, STRUCT = 1, 2, 3, 7, 8, 9, 10, 11, 12
INTEGERS = (4, 5, 6)


class Chunk(NamedTuple):
    """A column of a group of rows: its outermost name, its values, and their bytes when unpacked."""

    name: str
    values: int
    unpacked: int
    coded: bool


def chunks(place: pa.NativeFile) -> Iterator[Chunk]:
    """Yield the columns of all groups of rows.

    Raises:
        ValueError: the footer is damaged.
    """
    size = place.size()
    place.seek(max(0, size - TAIL))
    length = int.from_bytes(place.read(4), "little")
    place.seek(max(0, size - TAIL - length))
    try:
        footer = _Reader(place.read(length)).struct()
        for group in footer.get(GROUPS, ()):
            for column in group[COLUMNS]:
                known = column[META]
                name = known[PATH][0].decode()
                yield Chunk(name, abs(known[VALUES]), abs(known[UNPACKED]), known.get(DICTIONARY) is not None)
    except (LookupError, TypeError, AttributeError, UnicodeDecodeError, RecursionError) as error:
        raise ValueError("the footer is damaged") from error
    finally:
        place.seek(0)


class _Reader:
    """Reads values one after another."""

    def __init__(self, raw: bytes) -> None:
        self._raw = raw
        self._at = 0
        self._depth = 0

    def struct(self) -> dict[int, Any]:
        """Return the fields of a struct by their numbers."""
        self._depth += 1
        if self._depth > DEEPEST:
            raise ValueError("the footer is nested too deeply")
        fields: dict[int, Any] = {}
        number = 0
        while head := self._byte():
            number = number + (head >> 4) if head >> 4 else self._signed()
            kind = head & 15
            fields[number] = kind == TRUE if kind in (TRUE, FALSE) else self._value(kind)
        self._depth -= 1
        return fields

    def _value(self, kind: int) -> Any:
        if kind in INTEGERS:
            return self._signed()
        if kind == BINARY:
            return self._bytes(self._unsigned())
        if kind in (TRUE, FALSE, BYTE):
            return self._byte()
        if kind == DOUBLE:
            return self._bytes(8)
        if kind in (LIST, SET):
            head = self._byte()
            count = head >> 4 if head >> 4 < 15 else self._unsigned()
            return [self._value(head & 15) for _ in range(count)]
        if kind == MAP:
            count = self._unsigned()
            kinds = self._byte() if count else 0
            return [(self._value(kinds >> 4), self._value(kinds & 15)) for _ in range(count)]
        if kind == STRUCT:
            return self.struct()
        raise ValueError(f"a value of the kind {kind} in the footer")

    def _byte(self) -> int:
        self._at += 1
        return self._raw[self._at - 1]

    def _bytes(self, count: int) -> bytes:
        self._at += count
        if self._at > len(self._raw):
            raise IndexError(self._at)
        return self._raw[self._at - count : self._at]

    def _unsigned(self) -> int:
        value = shift = 0
        while (byte := self._byte()) & 0x80:
            value |= (byte & 0x7F) << shift
            shift += 7
            if shift > 63:
                raise ValueError("a number of more than 64 bits in the footer")
        return value | byte << shift

    def _signed(self) -> int:
        value = self._unsigned()
        return value >> 1 ^ -(value & 1)
