"""Parquet that holds what a file of its size can honestly hold: a few kilobytes may say one value a billion times."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from nereval_core.errors import FormatError
from nereval_core.readers.origins import RATIO
from nereval_core.readers.parquet_footer import chunks
from nereval_core.readers.source import SourceFile

if TYPE_CHECKING:
    import pyarrow as pa

SMALL = 1 << 28
"""Bytes that any file may take when read: a million spans and more."""
TIMES = 3
"""How many times the bytes of its strings a table takes until it is read."""
ROWS = 1 << 16
"""Rows read at once where the sizes of strings are not known beforehand."""


def within_bounds(
    file: SourceFile,
    place: pa.NativeFile,
    columns: Sequence[str] | None = None,
    *,
    coded: Sequence[str] = (),
    value: int = 24,
) -> pa.Table:
    """Return these columns of a file, all where none are named, those `coded` as dictionaries.

    `place` holds its bytes, `value` is how many bytes a value takes besides those that it is.

    Raises:
        FormatError: it says that it holds, or holds, more than RATIO times its size, and more than SMALL bytes.
        ValueError: the footer is damaged, or as pyarrow.
    """
    import pyarrow as pa
    from pyarrow.parquet import ParquetFile

    size = getattr(getattr(file.origin, "entry", None), "compress_size", file.origin.size())
    most = max(SMALL, RATIO * size)
    known = [chunk for chunk in chunks(place) if columns is None or chunk.name in columns]
    plain = sum(value * chunk.values + TIMES * chunk.unpacked for chunk in known)
    if plain > most:
        raise _swollen(file, size, most)
    opened = ParquetFile(place, read_dictionary=list(coded))
    # A string of a dictionary may stand in every row.
    repeated = [chunk for chunk in known if chunk.coded]
    if plain + TIMES * sum(chunk.values * chunk.unpacked for chunk in repeated) <= most:
        return opened.read(columns)
    longest = max(1, sum(chunk.unpacked for chunk in repeated))
    batches, taken = [], 0
    for batch in opened.iter_batches(min(ROWS, max(1, most // longest)), columns=columns):
        taken += TIMES * (batch.get_total_buffer_size() + sum(map(_beyond, batch.columns)))
        if taken > most:
            raise _swollen(file, size, most)
        batches.append(batch)
    return pa.Table.from_batches(batches, batches[0].schema) if batches else opened.read(columns)


def _beyond(column: pa.Array) -> int:
    """Return how many bytes more the strings of dictionaries take where each stands in its row."""
    import pyarrow.compute as pc
    from pyarrow import types

    if types.is_list(column.type) or types.is_large_list(column.type):
        return _beyond(column.flatten())
    if not types.is_dictionary(column.type) or types.is_primitive(column.type.value_type):
        return 0
    return pc.sum(pc.binary_length(column.dictionary).take(column.indices)).as_py() or 0


def _swollen(file: SourceFile, size: int, most: int) -> FormatError:
    found = f"expands from {size} bytes to more than {most}"
    return FormatError.single(file.shown, None, found, "write its documents into several files")
