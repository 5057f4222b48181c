"""The files of a stored corpus, compressed: published scorers read them later in their own way."""

from __future__ import annotations

import hashlib
import io
import json
import zlib
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache
from itertools import accumulate
from typing import Any, BinaryIO, cast

from nereval_core.problems import FormatError
from nereval_core.readers.input.origins import BROKEN
from nereval_core.readers.input.source import Source, SourceFile, with_progress
from nereval_core.store.columns import Columns, ColumnWriter

BLOCK_BYTES = 4 << 20
"""Bytes compressed together: small files share a block, a large file has several."""
LEVEL = 1
PIECE_BYTES = 1 << 20
"""Bytes of a file held at a time."""
BLOCKS, INDEX = "sources.blocks", "sources.index"


class ChangedError(Exception):
    """A file has changed since it was read."""


def fingerprints(
    sources: Mapping[str, Source], progress: Callable[[int, int], None] = lambda done, total: None
) -> tuple[bytes, ...]:
    """Return the SHA-256 of each file, in the order of the sources and their files.

    `progress` is called with the files done and their total.

    Raises:
        FormatError: a file that cannot be read.
    """
    files = tuple(_files(_distinct(sources)[0]))
    digests = []
    for file in with_progress(files, progress):
        sha = hashlib.sha256()
        for piece in _pieces(file):
            sha.update(piece)
        digests.append(sha.digest())
    return tuple(digests)


def input_key(sources: Mapping[str, Source], prints: Sequence[bytes], facts: str) -> str:
    """Return the SHA-256 (hex) of a reading's input: names and contents of files, and other facts."""
    distinct, names = _distinct(sources)
    labels = [[source.name, source.label, len(source.files)] for source in distinct]
    files = [[file.name, file.shown, mark.hex()] for file, mark in zip(_files(distinct), prints, strict=True)]
    return hashlib.sha256(json.dumps([facts, names, labels, files, _selections(sources)]).encode()).hexdigest()


def _selections(sources: Mapping[str, Source]) -> dict[str, dict[str, Any]]:
    """Return by name the selection of layer, columns and parts of the sources that have one."""
    return {
        name: _selection(source) for name, source in sources.items() if source.layer or source.columns or source.parts
    }


def _selection(source: Source) -> dict[str, Any]:
    """Return the selection of a source as JSON; for a source in parts, also that of each part."""
    selection = {"label": source.label, "layer": source.layer, "columns": source.columns and dict(source.columns)}
    parts = [[part.name, len(part.files), _selection(part)] for part in source.parts]
    return {**selection, "parts": parts} if parts else selection


def _with_selection(source: Source, selection: Mapping[str, Any]) -> Source:
    """Return a stored source with the selection with which it was read."""
    parts, at = [], 0
    for name, count, own in selection.get("parts", ()):
        parts.append(_with_selection(Source(name, own["label"], source.files[at : at + count]), own))
        at += count
    return replace(source, **{**selection, "parts": tuple(parts)})


def write_sources(
    writer: ColumnWriter, sources: Mapping[str, Source], prints: Sequence[bytes], tick: Callable[[], None]
) -> None:
    """Write the files of the sources, each once.

    Raises:
        ChangedError: the content of a file does not match its fingerprint.
        FormatError: a file that cannot be read.
    """
    distinct, names = _distinct(sources)
    sizes: list[int] = []
    blocks: list[list[int]] = []
    writer.pieces(BLOCKS, _packed(distinct, prints, sizes, blocks, tick))
    remaining_sizes = iter(sizes)
    rows = [
        [
            source.name,
            source.label,
            [[file.name, file.shown, next(remaining_sizes), file.origin.most] for file in source.files],
        ]
        for source in distinct
    ]
    index = {"names": names, "wanted": _selections(sources), "sources": rows, "blocks": blocks}
    writer.pieces(INDEX, [zlib.compress(json.dumps(index).encode(), 1)])


def _packed(
    distinct: Sequence[Source],
    prints: Sequence[bytes],
    sizes: list[int],
    blocks: list[list[int]],
    tick: Callable[[], None],
) -> Iterator[bytes]:
    import pyarrow as pa

    codec = pa.Codec("zstd", compression_level=LEVEL)
    buffer = bytearray()

    def packed() -> bytes:
        tick()
        raw = bytes(buffer)
        block: bytes = codec.compress(raw, asbytes=True)
        blocks.append([len(block), len(raw), zlib.crc32(block)])
        buffer.clear()
        return block

    for file, mark in zip(_files(distinct), prints, strict=True):
        sha, size = hashlib.sha256(), 0
        for piece in _pieces(file):
            sha.update(piece)
            size += len(piece)
            raw = memoryview(piece)
            while len(raw):
                room = BLOCK_BYTES - len(buffer)
                buffer += raw[:room]
                raw = raw[room:]
                if len(buffer) == BLOCK_BYTES:
                    yield packed()
        if sha.digest() != mark:
            raise ChangedError(file.shown)
        sizes.append(size)
    if buffer:
        yield packed()


def _distinct(sources: Mapping[str, Source]) -> tuple[list[Source], dict[str, int]]:
    """Return the distinct sources, and the index of each name's source: gold and a prediction may share one file.

    Sources of the same files differ only in their selection.
    """
    places: dict[int, int] = {}
    distinct: list[Source] = []
    for source in sources.values():
        if places.setdefault(id(source.files), len(distinct)) == len(distinct):
            distinct.append(source)
    return distinct, {name: places[id(source.files)] for name, source in sources.items()}


def _files(distinct: Sequence[Source]) -> Iterator[SourceFile]:
    return (file for source in distinct for file in source.files)


def _pieces(file: SourceFile) -> Iterator[bytes]:
    """Yield the bytes of a file as they are stored: packed files stay packed.

    Raises:
        FormatError: it cannot be read.
    """
    origin = file.origin
    if origin.size() <= PIECE_BYTES:
        yield origin.load(-1)
        return
    try:
        with origin.open() as raw:
            while piece := raw.read(PIECE_BYTES):
                yield piece
    except BROKEN as error:
        raise origin.refused(error) from None


class StoredOrigin:
    """A file of an entry: the bytes from low to high in the concatenation of its files, which `part` unpacks."""

    __slots__ = ("_high", "_low", "_part", "most")

    def __init__(self, part: Callable[[int, int], bytes], low: int, high: int, most: int) -> None:
        self._part, self._low, self._high = part, low, high
        self.most = most

    def size(self) -> int:
        return self._high - self._low

    def load(self, size: int) -> bytes:
        return self.between(0, self.size() if size < 0 else size)

    def between(self, low: int, high: int) -> bytes:
        return self._part(self._low + low, min(self._high, self._low + high))

    def open(self) -> BinaryIO:
        return cast(BinaryIO, _Opened(self))

    def refused(self, error: Exception) -> FormatError:
        return _damaged()


def _damaged() -> FormatError:
    remedy = "clear the stored corpora and read the files again"
    return FormatError.single("stored corpus", None, "the stored copy of its files is damaged", remedy)


class _Opened(io.RawIOBase):
    """The bytes of a stored file, read in pieces."""

    def __init__(self, origin: StoredOrigin) -> None:
        self._origin, self._at = origin, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        self._at = offset + (0, self._at, self._origin.size())[whence]
        return self._at

    def tell(self) -> int:
        return self._at

    def readinto(self, buffer: Any, /) -> int:
        raw = self._origin.between(self._at, self._at + len(buffer))
        buffer[: len(raw)] = raw
        self._at += len(raw)
        return len(raw)


class StoredSources(Mapping[str, Source]):
    """Sources by name whose files are unpacked and checked when they are read."""

    def __init__(self, columns: Columns) -> None:
        self._blocks, self._packed_index = columns[BLOCKS], columns[INDEX]

    @cached_property
    def _index(self) -> dict[str, Any]:
        index: dict[str, Any] = json.loads(zlib.decompress(self._packed_index.tobytes()))
        return index

    @cached_property
    def _sources(self) -> tuple[Source, ...]:
        blocks = self._index["blocks"]
        packed = [0, *accumulate(row[0] for row in blocks)]
        plain = [0, *accumulate(row[1] for row in blocks)]

        # Small files are read in the order in which they lie in a block.
        @lru_cache(maxsize=2)
        def block(number: int) -> bytes:
            import pyarrow as pa

            raw = self._blocks[packed[number] : packed[number + 1]]
            if zlib.crc32(raw.data) != blocks[number][2]:
                raise _damaged()
            raw_block: bytes = pa.Codec("zstd").decompress(raw.data, blocks[number][1], asbytes=True)
            return raw_block

        def part(low: int, high: int) -> bytes:
            parts = []
            while low < high:
                number = bisect_right(plain, low) - 1
                parts.append(block(number)[low - plain[number] : high - plain[number]])
                low += len(parts[-1])
            return b"".join(parts)

        sources, at = [], 0
        for name, label, rows in self._index["sources"]:
            files = []
            for inner, path, size, most in rows:
                files.append(SourceFile(inner, path, StoredOrigin(part, at, at + size, most)))
                at += size
            sources.append(Source(name, label, tuple(files)))
        return tuple(sources)

    def __getitem__(self, name: str) -> Source:
        place: int = self._index["names"][name]
        source = self._sources[place]
        selection = self._index.get("wanted", {}).get(name)
        return _with_selection(source, selection) if selection else source

    def __iter__(self) -> Iterator[str]:
        return iter(self._index["names"])

    def __len__(self) -> int:
        return len(self._index["names"])
