"""Bounds on what a Parquet file takes in memory: a few kilobytes may say one value a billion times."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from nereval_core.problems import FormatError
from nereval_core.readers.input.origins import EXPANSION_RATIO, EXPANSION_RATIO_ON_DISK, MOST_EXPANDED_BYTES
from nereval_core.readers.input.source import SourceFile

if TYPE_CHECKING:
    import pyarrow as pa
    from pyarrow.parquet import ParquetFile

HELD_BYTES = MOST_EXPANDED_BYTES
"""Bytes of memory that the table of any file may take: ten million spans. Columns often shrink a thousand times."""
COPIES = 3
"""Memory of a table while it is read, in multiples of the bytes of its strings."""
BATCH_BYTES = 1 << 30
"""Bytes of strings read at once at most, where a file says their size: Arrow's arrays hold no more than twice that."""


def read_within_bounds(
    file: SourceFile,
    place: pa.NativeFile,
    columns: Sequence[str] | None = None,
    *,
    coded: Sequence[str] = (),
    value: int = 24,
) -> pa.Table:
    """Return these columns of a file, all where none are named, those `coded` as dictionaries.

    `place` holds its bytes, `value` is how many bytes a value takes besides those that it is. All strings are read as
    dictionaries, so that a string that stands in many rows is held once; before they are spelt out, they are counted.

    Raises:
        FormatError: the table takes more memory than a file of this size may.
        ValueError: a part of the file is damaged, or as pyarrow.
    """
    import pyarrow as pa
    from pyarrow.parquet import ParquetFile

    size = getattr(getattr(file.origin, "entry", None), "compress_size", file.origin.size())
    most = max(HELD_BYTES, (EXPANSION_RATIO_ON_DISK if file.origin.most is None else EXPANSION_RATIO) * size)
    first = ParquetFile(place)
    schema = first.schema_arrow
    names = [name for name in schema.names if columns is None or name in columns]
    leaves = [first.schema.column(number) for number in range(len(first.schema))]
    strings = [leaf.path for leaf in leaves if leaf.physical_type == "BYTE_ARRAY" and _top(leaf.path) in names]
    opened = ParquetFile(place, metadata=first.metadata, read_dictionary=strings)
    taken = _claimed(opened, schema, names, value)
    batches = []
    for group in range(opened.num_row_groups) if taken <= most else ():
        known = opened.metadata.row_group(group)
        rows = max(1, known.num_rows * BATCH_BYTES // max(BATCH_BYTES, known.total_byte_size))
        for batch in opened.iter_batches(rows, row_groups=[group], columns=names):
            taken += COPIES * sum(_spelt(batch[name]) for name in names if name not in coded)
            if taken > most:
                break
            plain = [batch[name] if name in coded else _plain(batch[name]) for name in names]
            batches.append(pa.record_batch(plain, names))
    if taken > most:
        found = f"takes more than {most} bytes of memory, and has {size}"
        raise FormatError.single(file.shown, None, found, "write its documents into several files")
    if not batches:
        return opened.read(names)
    return pa.Table.from_batches(batches).replace_schema_metadata(schema.metadata)


def _claimed(opened: ParquetFile, schema: pa.Schema, names: Sequence[str], value: int) -> int:
    """Return the bytes of memory that a table takes by what a file says of its groups of rows.

    How many values lists have stands in what is said of a column, for which pyarrow ends the process where that is
    damaged. Scanning the lists finds such damage, page by page.
    """
    lists = [name for name in names if _has_lists(schema.field(name).type)]
    if lists:
        opened.scan_contents(lists)
    metadata, found = opened.metadata, 0
    leaves = [number for number in range(len(opened.schema)) if _top(opened.schema.column(number).path) in lists]
    for group in map(metadata.row_group, range(metadata.num_row_groups)):
        values = sum(abs(group.column(column).num_values) for column in leaves)
        found += value * (abs(group.num_rows) * len(names) + values) + COPIES * abs(group.total_byte_size)
    return found


def _top(path: str) -> str:
    return path.partition(".")[0]


def _has_lists(type: pa.DataType) -> bool:
    return any(map(_is_list, _types(type)))


def _is_list(type: pa.DataType) -> bool:
    from pyarrow import types

    return bool(types.is_list(type) or types.is_large_list(type))


def _types(type: pa.DataType) -> Iterator[pa.DataType]:
    """Yield a type and those nested in it."""
    yield type
    for number in range(type.num_fields):
        yield from _types(type.field(number).type)


def _spelt(column: pa.Array) -> int:
    """Return how many bytes the strings of dictionaries take where each stands in its row."""
    import pyarrow.compute as pc
    from pyarrow import types

    if _is_list(column.type):
        return _spelt(column.flatten())
    if not types.is_dictionary(column.type) or types.is_primitive(column.type.value_type):
        return 0
    return pc.sum(pc.binary_length(column.dictionary).take(column.indices)).as_py() or 0


def _plain(column: pa.Array) -> pa.Array:
    """Return a column with the strings of dictionaries spelt out."""
    import pyarrow as pa
    from pyarrow import types

    if types.is_dictionary(column.type) and not types.is_primitive(column.type.value_type):
        # There may be more than two gigabytes of them.
        return column.dictionary.cast(pa.large_string()).take(column.indices)
    if _is_list(column.type) and types.is_dictionary(column.type.value_type):
        kind = pa.large_list if types.is_large_list(column.type) else pa.list_
        return column.cast(kind(column.type.value_type.value_type))
    return column
