"""Columns of Parquet files: opened, checked and converted to arrays. Rows count from 0 here.

What a file takes in memory is bounded first: a few kilobytes may say one value a billion times.
"""

from __future__ import annotations

import mmap
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nereval_core.corpus import Intervals, frozen
from nereval_core.corpus.arrays import Int64
from nereval_core.corpus.texts import Texts
from nereval_core.problems import FormatError, quoted
from nereval_core.readers.input.origins import EXPANSION_RATIO, MOST_EXPANDED_BYTES
from nereval_core.readers.input.source import SourceFile
from nereval_core.readers.shared.strict_json import RefusedError, loads

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
    most = max(HELD_BYTES, EXPANSION_RATIO * size)
    first = ParquetFile(place)
    schema = first.schema_arrow
    names = [name for name in schema.names if columns is None or name in columns]
    leaves = [first.schema.column(number) for number in range(len(first.schema))]
    strings = [leaf.path for leaf in leaves if leaf.physical_type == "BYTE_ARRAY" and _top(leaf.path) in names]
    opened = ParquetFile(place, metadata=first.metadata, read_dictionary=strings)
    n_bytes = _claimed(opened, schema, names, value)
    batches = []
    for group in range(opened.num_row_groups) if n_bytes <= most else ():
        metadata = opened.metadata.row_group(group)
        rows = max(1, metadata.num_rows * BATCH_BYTES // max(BATCH_BYTES, metadata.total_byte_size))
        for batch in opened.iter_batches(rows, row_groups=[group], columns=names):
            n_bytes += COPIES * sum(_spelt(batch[name]) for name in names if name not in coded)
            if n_bytes > most:
                break
            plain = [batch[name] if name in coded else _plain(batch[name]) for name in names]
            batches.append(pa.record_batch(plain, names))
    if n_bytes > most:
        finding = f"takes more than {most} bytes of memory, and has {size}"
        raise FormatError.single(file.shown, None, finding, "write its documents into several files")
    if not batches:
        return opened.read(names)
    return pa.Table.from_batches(batches).replace_schema_metadata(schema.metadata)


def _claimed(opened: ParquetFile, schema: pa.Schema, names: Sequence[str], value: int) -> int:
    """Return the bytes of memory that a table takes by what a file says of its groups of rows.

    The number of values in lists stands in the metadata of a column, for which pyarrow ends the process where that is
    damaged. Scanning the lists finds such damage, page by page.
    """
    lists = [name for name in names if any(map(_is_list, _types(schema.field(name).type)))]
    if lists:
        opened.scan_contents(lists)
    metadata, n_bytes = opened.metadata, 0
    leaves = [number for number in range(len(opened.schema)) if _top(opened.schema.column(number).path) in lists]
    for group in map(metadata.row_group, range(metadata.num_row_groups)):
        values = sum(abs(group.column(column).num_values) for column in leaves)
        n_bytes += value * (abs(group.num_rows) * len(names) + values) + COPIES * abs(group.total_byte_size)
    return n_bytes


def _top(path: str) -> str:
    return path.partition(".")[0]


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


if TYPE_CHECKING:
    import pyarrow as pa

MAGIC = b"PAR1"
STRING, INTEGER, NUMBER, STRINGS, PAIR, PAIRS = (
    "strings",
    "integers",
    "numbers",
    "lists of strings",
    "structs of the integers start and end",
    "lists of structs of the integers start and end",
)
FARTHEST_OFFSET = 2**40
"""Offsets beyond this are cut: they lie outside any text and are refused as such."""

Complain = Callable[[int | None, str, str], None]
"""Reports a problem: row (None: the whole file), finding and remedy."""


def table(
    file: SourceFile, columns: Mapping[str, str], required: Collection[str], coded: Collection[str], complain: Complain
) -> pa.Table | None:
    """Return the columns of a file, those `coded` as dictionaries; None, and why, where they are not what they must be.

    `columns` says of each column that there may be what it holds.
    """
    import pyarrow as pa
    from pyarrow import parquet

    try:
        with open_parquet(file) as place:
            faults = list(_columns(parquet.ParquetFile(place).schema_arrow, columns, required))
            loaded: Any = None
            if not faults:
                loaded = read_within_bounds(file, place, coded=list(coded))
    except FormatError as error:
        for problem in error.problems:
            complain(problem.line, problem.found, problem.remedy)
        return None
    except (pa.ArrowException, OSError, ValueError, NotImplementedError) as error:
        reason = str(error).partition("\n")[0] or type(error).__name__
        complain(
            None, f"cannot be read as Parquet: {reason}", "write it again, or copy it again where it was cut short"
        )
        return None
    for name, column in zip(loaded.column_names, loaded.columns, strict=True) if loaded is not None else ():
        try:
            column.validate(full=True)
        except pa.ArrowException as error:
            # Strings need not be UTF-8 for Parquet.
            faults.append((f"the column {name} is damaged: {error}", "write it again, strings in UTF-8"))
    for finding, remedy in faults:
        complain(None, finding, remedy)
    return None if faults else loaded


def open_parquet(file: SourceFile) -> pa.NativeFile:
    """Return the bytes of a file, mapped into memory where they lie on disk as they are."""
    import pyarrow as pa

    if file.on_disk:
        with file.origin.open() as raw:
            # A compressed file has to be expanded whole.
            if raw.read(len(MAGIC)) == MAGIC:
                return pa.BufferReader(pa.py_buffer(mmap.mmap(raw.fileno(), 0, access=mmap.ACCESS_READ)))
    return pa.BufferReader(file.read())


def _columns(schema: pa.Schema, columns: Mapping[str, str], required: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with the columns of a file, and the remedy."""
    if missing := [name for name in required if name not in schema.names]:
        yield f"no column {' and no column '.join(missing)}", f"give the columns {', '.join(required)}"
    if unknown := [name for name in schema.names if name not in columns]:
        names = ", ".join(map(quoted, unknown))
        yield f"the unknown column{'s' if len(unknown) > 1 else ''} {names}", f"known are {', '.join(columns)}"
    for name in columns:
        count = schema.names.count(name)
        if count > 1:
            yield f"{count} columns {name}", "keep one of them"
        elif count and not _fits(schema.field(name).type, columns[name]):
            yield f"the column {name} holds {schema.field(name).type}", f"write {columns[name]}"


def _fits(type: pa.DataType, kind: str) -> bool:
    from pyarrow import types

    if kind in (STRINGS, PAIRS):
        inner = STRING if kind == STRINGS else PAIR
        return (types.is_list(type) or types.is_large_list(type)) and _fits(type.value_type, inner)
    if kind == PAIR:
        names = sorted(field.name for field in type) if types.is_struct(type) else []
        return names == ["end", "start"] and all(types.is_integer(field.type) for field in type)
    if kind == STRING:
        if types.is_dictionary(type):
            type = type.value_type
        return any(of_kind(type) for of_kind in (types.is_string, types.is_large_string, types.is_string_view))
    return bool(types.is_integer(type) or (kind == NUMBER and types.is_floating(type)))


def present(column: pa.ChunkedArray) -> NDArray[np.bool_]:
    """Return which rows have a value."""
    if not column.null_count:
        return np.ones(len(column), np.bool_)
    is_present: NDArray[np.bool_] = column.is_valid().to_numpy()
    return is_present


def integers(column: pa.ChunkedArray) -> Int64:
    """Return whole numbers, 0 for null."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if column.null_count:
        column = pc.fill_null(column, pa.scalar(0, column.type))
    numbers = column.to_numpy()
    if numbers.dtype == np.uint64:
        numbers = np.minimum(numbers, np.uint64(FARTHEST_OFFSET))
    # Even a greatest integer takes a difference without running over.
    clipped: Int64 = (
        np.clip(numbers.astype(np.int64), -FARTHEST_OFFSET, FARTHEST_OFFSET)
        if numbers.dtype.itemsize == 8
        else numbers.astype(np.int64)
    )
    return clipped


def codes(column: pa.ChunkedArray) -> Iterator[tuple[pa.Array, Int64]]:
    """Yield the different strings of each piece of a column and by row its index, -1 for null."""
    import pyarrow as pa
    from pyarrow import types

    for chunk in column.chunks:
        if types.is_dictionary(chunk.type) and chunk.dictionary.null_count:
            chunk = chunk.dictionary_decode()
        coded = chunk if types.is_dictionary(chunk.type) else chunk.dictionary_encode()
        indices = coded.indices.fill_null(-1) if coded.null_count else coded.indices
        yield coded.dictionary.cast(pa.string()), indices.to_numpy(zero_copy_only=False).astype(np.int64)


def texts(column: pa.ChunkedArray) -> Texts:
    """Return strings as their bytes, those of a column in one piece not copied; empty for null."""
    import pyarrow as pa
    from pyarrow import types

    if not (types.is_string(column.type) or types.is_large_string(column.type)):
        column = column.cast(pa.large_string())
    pieces = []
    for chunk in column.chunks:
        width = np.int32 if types.is_string(chunk.type) else np.int64
        _, places, data = chunk.buffers()
        offsets = np.zeros(1, np.int64)
        if len(chunk):
            offsets = np.frombuffer(places, width)[chunk.offset : chunk.offset + len(chunk) + 1].astype(np.int64)
        raw = np.zeros(0, np.uint8) if data is None else np.frombuffer(data, np.uint8)
        pieces.append(Texts(raw[int(offsets[0]) : int(offsets[-1])], offsets - offsets[0]))
    return join_texts(pieces)


def join_texts(pieces: list[Texts]) -> Texts:
    """Return texts in one row."""
    if len(pieces) == 1:
        return pieces[0]
    sizes = [np.diff(piece.offsets) for piece in pieces]
    offsets = np.concatenate((np.zeros(1, np.int64), np.cumsum(np.concatenate([np.zeros(0, np.int64), *sizes]))))
    return Texts(np.concatenate([np.zeros(0, np.uint8), *(piece.data for piece in pieces)]), offsets)


def intervals(column: pa.ChunkedArray, name: str, complain: Complain) -> Intervals:
    """Return the pairs of each row, none for null; complain of those that lack a number."""
    import pyarrow.compute as pc

    sizes = integers(pc.list_value_length(column))
    first = np.concatenate((np.zeros(1, np.int64), np.cumsum(sizes)))
    inner = pc.list_flatten(column)
    edges = [pc.struct_field(inner, [key]) for key in ("start", "end")]
    lacking = ~np.logical_and(*map(present, edges))
    for row in np.unique(np.searchsorted(first, np.flatnonzero(lacking), side="right") - 1).tolist():
        complain(row, f"a pair of {name} without a start or an end", "give both, code points of the document")
    most = np.iinfo(np.int32).max
    starts, ends = (frozen(np.clip(integers(edge), -1, most).astype(np.int32)) for edge in edges)
    return Intervals(frozen(first), starts, ends)


def values(column: pa.ChunkedArray, kind: str, name: str, complain: Complain) -> dict[int, Any]:
    """Return what rows carry, by row: strings, numbers, a pair, or tuples of strings or pairs that are not empty."""
    import pyarrow.compute as pc

    rows = np.flatnonzero(present(column))
    if kind == PAIRS:
        stored = intervals(column, name, complain)
        rows = np.flatnonzero(np.diff(stored.first))
        return {row: tuple(stored.of_document(row)) for row in rows.tolist()}
    if kind == PAIR:
        edges = [pc.struct_field(column, [key]) for key in ("start", "end")]
        for row in rows[~np.logical_and(*map(present, edges))[rows]].tolist():
            complain(row, f"a {name} without a start or an end", "give both, code points of the document")
        starts, ends = (integers(edge)[rows].tolist() for edge in edges)
        return dict(zip(rows.tolist(), zip(starts, ends, strict=True), strict=True))
    stored = column if len(rows) == len(column) else column.filter(column.is_valid())
    if kind == NUMBER:
        return dict(zip(rows.tolist(), map(float, stored.to_pylist()), strict=True))
    if kind == STRING:
        return dict(zip(rows.tolist(), stored.to_pylist(), strict=True))
    links = dict(zip(rows.tolist(), map(tuple, stored.to_pylist()), strict=True))
    for row, row_links in links.items():
        if None in row_links:
            complain(row, f"a null in {name}", "leave it out of the list")
    return {row: tuple(link for link in row_links if link is not None) for row, row_links in links.items() if row_links}


def meta(texts: Mapping[int, str], complain: Complain) -> dict[int, Mapping[str, Any]]:
    """Return the objects that rows hold as JSON, those not empty."""
    objects: dict[int, Mapping[str, Any]] = {}
    for row, text in texts.items():
        try:
            value = loads(text)
        except RefusedError as error:
            complain(row, f"meta is not JSON that can be kept: {error.args[0]}", "write an object as JSON, or nothing")
            continue
        if not isinstance(value, dict):
            complain(row, "meta is not a JSON object", "write an object as JSON, or nothing")
        elif value:
            objects[row] = value
    return objects
