"""Packed files, within bounds, as they may come from anywhere: gzip, Zstandard and zip.

Files packed by gzip or Zstandard (RFC 1952, RFC 8878) are read as what is in them and known by their first bytes. The
files of a zip are read one by one; archives in it are refused.
"""

from __future__ import annotations

import gzip
import io
import stat
import zipfile
from collections.abc import Sequence
from functools import partial
from pathlib import PurePosixPath
from typing import Any, BinaryIO, NamedTuple, Protocol, cast

from nereval_core.problems import FormatError, Problem, quoted
from nereval_core.readers.input.origins import (
    BROKEN,
    MOST_EXPANDED_BYTES,
    ZIP,
    InInnerZip,
    InZip,
    Origin,
    expanded_limit,
    expands_too_far,
)

SUFFIXES = (".gz", ".zst", ".zstd")
GZIP = b"\x1f\x8b\x08"
ZSTD = b"\x28\xb5\x2f\xfd"
PACKED_MAGIC = (GZIP, ZSTD)
MAGIC_BYTES = len(ZSTD)
HEADER_BYTES = 18
"""The most bytes of the header of a frame of Zstandard."""
GIVE_UNPACKED = "put it into the zip as it is, or give it alone"
"""The remedy for a packed file inside a zip."""
BLOCK = 1 << 20
"""The bytes that are read at once."""


def share_of_bytes_read(stream: BinaryIO, origin: Origin) -> float:
    """Return the share of a file, as it is stored, that was read by a stream from `open_unpacked`: from 0 to 1."""
    size = origin.size()
    return min(1.0, stream.raw.stored() / size) if size else 1.0  # type: ignore[attr-defined]


class _Readable(Protocol):
    def readinto(self, buffer: Any, /) -> int | None: ...
    def close(self) -> None: ...


def unpacked_name(name: str) -> str:
    """Return the name without the suffix of a packed file."""
    if name.lower().endswith(SUFFIXES):
        base = name[: name.rindex(".")]
        # A file called no more than ".gz" keeps its name.
        return base if base and base[-1] != "/" else name
    return name


def open_unpacked(origin: Origin, source: str) -> BinaryIO:
    """Return the bytes of a file, unpacked where it is packed, to be read in pieces.

    Reading on raises a FormatError too where the file is damaged, cut short or grows beyond bounds.

    Raises:
        FormatError: not readable.
    """
    raw = origin.open()
    try:
        head = raw.read(HEADER_BYTES)
        raw.seek(0)
    except BROKEN as error:
        raise origin.refused(error) from None
    if not head.startswith(PACKED_MAGIC):
        return io.BufferedReader(_Watched(cast(_Readable, raw), raw, origin), BLOCK)
    if origin.most == 0:
        raise FormatError.single(source, None, "a packed file inside a zip", GIVE_UNPACKED)
    try:
        inner: _Readable = gzip.GzipFile(fileobj=raw) if head.startswith(GZIP) else _zstd(raw)
        stated = _gzip_size(raw, origin.size()) if head.startswith(GZIP) else _zstd_size(head)
    except BROKEN as error:
        raise _damaged(source, error) from None
    return io.BufferedReader(_Unpacked(inner, raw, origin, source, stated), BLOCK)


def open_whole(origin: Origin, source: str) -> BinaryIO:
    """Return the bytes as `open_unpacked` does, where all of them are read: what states too large a size is refused.

    Raises:
        FormatError: not readable, or beyond bounds by what it states.
    """
    stream = open_unpacked(origin, source)
    if stream.raw.is_stated_too_large:  # type: ignore[attr-defined]
        # It is refused before anybody keeps what it expands to; or it is damaged: a file of gzip that was cut short may
        # end in any number.
        while stream.read(BLOCK):
            pass
    return stream


def _gzip_size(raw: BinaryIO, size: int) -> int:
    """Return the size of the content, modulo 4 GiB, that a file of gzip states at its end (ISIZE, RFC 1952)."""
    raw.seek(max(0, size - 4))
    stated = int.from_bytes(raw.read(4), "little")
    raw.seek(0)
    return stated


def _zstd_size(head: bytes) -> int:
    """Return the size that the first frame states for itself (RFC 8878, 3.1.1.1), 0 where it states none."""
    descriptor = int.from_bytes(head[MAGIC_BYTES : MAGIC_BYTES + 1], "little")
    is_single = descriptor >> 5 & 1
    width = (is_single, 2, 4, 8)[descriptor >> 6]
    # A window, unless the frame is a single segment, and the number of a dictionary stand before it.
    begin = MAGIC_BYTES + 1 + (1 - is_single) + (0, 1, 2, 4)[descriptor & 3]
    return int.from_bytes(head[begin : begin + width], "little") + (256 if width == 2 else 0)


class _Watched(io.RawIOBase):
    """A stream whose errors name their file."""

    is_stated_too_large = False

    def __init__(self, inner: _Readable, raw: BinaryIO, origin: Origin) -> None:
        self._inner = inner
        self._raw = raw
        self._origin = origin

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int | None:
        try:
            return self._inner.readinto(buffer)
        except BROKEN as error:
            raise self._origin.refused(error) from None

    def readall(self) -> bytes:
        # Python would read pieces of 8 kB, which takes a third longer where a file expands to much more.
        return b"".join(iter(partial(self.read, BLOCK), b""))

    def stored(self) -> int:
        """Return the number of stored bytes that were read."""
        return self._raw.tell()

    def close(self) -> None:
        self._inner.close()
        super().close()


class _Unpacked(_Watched):
    """A stream that unpacks, and stops where the file outgrows the bound for its packed size.

    `stated` is the size of the content by what the file says of it.
    """

    def __init__(self, inner: _Readable, raw: BinaryIO, origin: Origin, source: str, stated: int) -> None:
        super().__init__(inner, raw, origin)
        self._source = source
        self._size = origin.size()
        self._most = expanded_limit(self._size)
        self.is_stated_too_large = stated > self._most
        self._count = 0

    def readinto(self, buffer: Any, /) -> int | None:
        try:
            got = self._inner.readinto(buffer)
        except BROKEN as error:
            raise _damaged(self._source, error) from None
        if not self._count and got and bytes(memoryview(buffer)[:MAGIC_BYTES]).startswith(PACKED_MAGIC):
            # There are files that hold themselves.
            raise FormatError.single(self._source, None, "a packed file inside a packed file", "pack it once")
        self._count += got or 0
        if self._count > self._most:
            raise FormatError([expands_too_far(self._source, "", self._size, f"more than {self._most:,}")])
        return got

    def close(self) -> None:
        super().close()
        self._raw.close()


def _zstd(raw: BinaryIO) -> _Readable:
    # Heavy, and needed for such files only; Python itself knows Zstandard from 3.14 on.
    import pyarrow

    stream: _Readable = pyarrow.CompressedInputStream(pyarrow.PythonFile(raw, "r"), "zstd")
    return stream


def _damaged(source: str, error: Exception) -> FormatError:
    return FormatError.single(source, None, f"cannot be unpacked: {error}", "pack it again")


ZIP_FILES = 200_000
"""The most files of a zip."""
INNER_FILES = 1_000
"""The most files of a zip within a zip, which is opened anew for each: tools pack the files of a document so."""
DIRECTORY_ENTRY = b"PK\1\2"
"""The bytes with which each entry of a zip's directory begins."""
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""The ways of packing that are read: Python unpacks others without a bound on the size of a piece."""
ENCRYPTED = 1
"""The bit of an entry's flags that says it needs a password."""

ANNOTATION_SUFFIXES = frozenset(
    {
        *(".json", ".jsonl", ".ndjson", ".csv", ".tsv", ".tab", ".txt", ".ann", ".parquet", ".toml"),
        *(".conll", ".conllu", ".conllup", ".iob", ".iob1", ".iob2", ".bio", ".bioes", ".bilou", ".dat"),
        *(".testa", ".testb", ".train", ".dev", ".test", ".in", ".eval", ".out"),
        *(".pubtator", ".spacy", ".xml", ".xmi", ".bioc", ".labels", ".sgm", ".sgml", ".slashtags", ".tagged", ".tags"),
        *(
            ".manifest",
            ".bdocjs",
            ".jsonld",
            ".con",
            ".entries",
            ".ast",
            ".pipe",
            ".text",
            ".a1",
            ".a2",
            ".ttl",
            ".nt",
            ".n3",
            ".nif",
            ".gate",
            ".tei",
            ".yml",
            ".yaml",
        ),
        "",
    }
)
"""Endings of annotations, and of the texts and lists that belong to them; other files of a zip are passed over."""
REFUSED_SUFFIXES = (*SUFFIXES, ".7z", ".rar", ".tar", ".tgz", ".bz2", ".xz")
"""Endings of archives that are refused within a zip; zips are too, but for formats whose exports have them."""

Entry = tuple[tuple[str, ...], zipfile.ZipInfo]
"""The parts of a name, and the entry called so."""


class Zipped(NamedTuple):
    """The files of a zip: name, name in problems and bytes of each; and the names of those passed over."""

    files: Sequence[tuple[str, str, InZip]]
    passed: Sequence[str]


def files_of_zip(source: str, raw: bytes) -> Zipped:
    """Return the files of a zip that end as annotations do, without the one folder they may all lie in.

    Nothing is unpacked before it is read. Hidden files are passed over without a word.

    Raises:
        FormatError: broken, or not safe: it would leave its place or outgrow the machine; no file that may be read.
    """
    archive, entries = _directory(source, raw, len(raw), REFUSED_SUFFIXES)
    tops = {parts[0] for parts, _ in entries}
    inside = 1 if len(tops) == 1 and all(len(parts) > 1 for parts, _ in entries) else 0
    annotations = [
        (parts, entry)
        for parts, entry in entries
        if PurePosixPath(parts[-1]).suffix.lower() in (*ANNOTATION_SUFFIXES, ZIP)
    ]
    if entries and not annotations:
        endings = sorted({PurePosixPath(parts[-1]).suffix for parts, _ in entries})
        finding = f"no file in it ends as annotations do, but {', '.join(map(quoted, endings[:5]))}"
        raise FormatError.single(
            source, None, finding, f"let them end in one of {', '.join(sorted(ANNOTATION_SUFFIXES - {''}))}"
        )
    names = {parts for parts, _ in annotations}
    return Zipped(
        [
            ("/".join(parts[inside:]), f"{source}/{'/'.join(parts)}", InZip(archive, entry, source))
            for parts, entry in annotations
        ],
        ["/".join(parts[inside:]) for parts, _ in entries if parts not in names],
    )


def files_of_package(source: str, origin: Origin) -> dict[str, InZip]:
    """Return the files of a zip that is one document, such as a workbook, by their paths.

    Raises:
        FormatError: broken, or not safe, as in `files_of_zip`.
    """
    raw = origin.load(-1)
    archive, entries = _directory(source, raw, len(raw), ())
    return {"/".join(parts): InZip(archive, entry, source) for parts, entry in entries}


def files_of_inner_zip(source: str, origin: Origin) -> list[tuple[str, str, InInnerZip]]:
    """Return the files of a zip that itself lies in a zip or folder, as `files_of_zip`, a folder around them kept.

    Nothing of it stays in memory: it is opened for each file anew. What it expands to is bounded by what it takes
    where it lies, so that two packings do not multiply. A zip within it is refused.

    Raises:
        FormatError: as `files_of_zip`.
    """
    if origin.size() > MOST_EXPANDED_BYTES:
        raise FormatError.single(source, None, f"{origin.size()} bytes", f"pack at most {MOST_EXPANDED_BYTES} bytes")
    stored = origin.entry.compress_size if isinstance(origin, InZip) else origin.size()
    _, entries = _directory(source, origin.load(-1), stored, (*REFUSED_SUFFIXES, ZIP))
    if len(entries) > INNER_FILES:
        raise _too_many(source, len(entries), INNER_FILES)
    return [
        ("/".join(parts), f"{source}/{'/'.join(parts)}", InInnerZip(origin, entry, source)) for parts, entry in entries
    ]


def _directory(
    source: str, raw: bytes, stored: int, nested: tuple[str, ...]
) -> tuple[zipfile.ZipFile, Sequence[Entry]]:
    """Return a zip, opened, and its files but for hidden ones; `stored` is how many bytes it takes where it lies.

    Raises:
        FormatError: broken, or not safe; archives in it that end as `nested` do.
    """
    # The list of entries alone may take gigabytes.
    claimed = raw.count(DIRECTORY_ENTRY)
    if claimed > 2 * ZIP_FILES:
        raise _too_many(source, claimed, ZIP_FILES)
    try:
        archive = zipfile.ZipFile(io.BytesIO(raw))
        entries = [entry for entry in archive.infolist() if not entry.filename.endswith("/")]
    except BROKEN as error:
        raise FormatError.single(source, None, f"not a readable zip: {error}", "pack it again") from None
    if len(entries) > ZIP_FILES:
        raise _too_many(source, len(entries), ZIP_FILES)
    total = sum(entry.file_size for entry in entries)
    problems = [*_overlapping(source, entries, len(raw))]
    sound: list[Entry] = []
    for entry in entries:
        parts = PurePosixPath(entry.filename.replace("\\", "/")).parts
        refused = _refused(source, entry, parts)
        if refused is not None:
            problems.append(refused)
        elif parts[0] != "__MACOSX" and not any(part.startswith(".") for part in parts):
            sound.append((parts, entry))
    if not problems and total > expanded_limit(stored):
        problems.append(expands_too_far(source, "", stored, f"{total:,}"))
    problems += [
        Problem(f"{source}/{'/'.join(parts)}", None, "a packed file inside a zip", GIVE_UNPACKED)
        for parts, _ in sound
        if parts[-1].lower().endswith(nested)
    ]
    if problems:
        raise FormatError(problems)
    return archive, sound


def _refused(source: str, entry: zipfile.ZipInfo, parts: Sequence[str]) -> Problem | None:
    """Return the problem of an entry that is refused, None for a sound one."""
    name = entry.filename.replace("\\", "/")
    called = f"the entry {quoted(name)}"
    mode = stat.S_IFMT(entry.external_attr >> 16)
    outside = not parts or name.startswith("/") or ".." in parts or ":" in parts[0] or mode == stat.S_IFLNK
    if outside:
        return Problem(source, None, f"{called} leads outside", "pack plain files only")
    if mode not in (0, stat.S_IFREG):
        return Problem(source, None, f"{called} is not a file", "pack plain files only")
    if entry.flag_bits & ENCRYPTED:
        return Problem(source, None, f"{called} is encrypted", "pack without a password")
    if entry.compress_type not in METHODS:
        method = zipfile.compressor_names.get(entry.compress_type, f"method {entry.compress_type}")  # type: ignore[attr-defined]
        return Problem(
            source, None, f"{called} is packed by {method}", "pack it by deflate, as zip does unless told otherwise"
        )
    if entry.file_size > expanded_limit(entry.compress_size):
        return expands_too_far(source, f"{called} ", entry.compress_size, f"{entry.file_size:,}")
    return None


def _overlapping(source: str, entries: Sequence[zipfile.ZipInfo], size: int) -> list[Problem]:
    """Return a problem where entries share their packed bytes: a few of these then make any number of files."""
    ordered = sorted(entries, key=lambda entry: entry.header_offset)
    follow = [*(entry.header_offset for entry in ordered[1:]), size]
    # Each lies behind a header of thirty bytes and its name.
    clash = next(
        (
            entry
            for entry, low in zip(ordered, follow, strict=False)
            if entry.header_offset + 30 + entry.compress_size > low
        ),
        None,
    )
    if clash is None:
        return []
    finding = f"the entry {quoted(clash.filename)} reaches into the next or beyond the end"
    return [Problem(source, None, finding, "pack it again")]


def _too_many(source: str, count: int, most: int) -> FormatError:
    return FormatError.single(source, None, f"{count} files", f"pack at most {most} files")
