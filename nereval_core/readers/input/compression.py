"""Files packed by gzip or Zstandard (RFC 1952, RFC 8878), read as what is in them and known by their first bytes."""

from __future__ import annotations

import gzip
import io
from functools import partial
from typing import Any, BinaryIO, Protocol, cast

from nereval_core.problems import FormatError
from nereval_core.readers.input.origins import BROKEN, Origin, expanded_limit

SUFFIXES = (".gz", ".zst", ".zstd")
GZIP = b"\x1f\x8b\x08"
ZSTD = b"\x28\xb5\x2f\xfd"
PACKED_MAGIC = (GZIP, ZSTD)
MAGIC_BYTES = len(ZSTD)
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


def open_unpacked(origin: Origin, shown: str) -> BinaryIO:
    """Return the bytes of a file, unpacked where it is packed, to be read in pieces.

    Reading on raises a FormatError too where the file is damaged, cut short or grows beyond bounds.

    Raises:
        FormatError: not readable.
    """
    raw = origin.open()
    try:
        head = raw.read(MAGIC_BYTES)
        raw.seek(0)
    except BROKEN as error:
        raise origin.refused(error) from None
    if not head.startswith(PACKED_MAGIC):
        return io.BufferedReader(_Watched(cast(_Readable, raw), raw, origin), BLOCK)
    if origin.most == 0:
        raise FormatError.single(shown, None, "a packed file inside a zip", GIVE_UNPACKED)
    try:
        inner: _Readable = gzip.GzipFile(fileobj=raw) if head.startswith(GZIP) else _zstd(raw)
    except BROKEN as error:
        raise _damaged(shown, error) from None
    return io.BufferedReader(_Unpacked(inner, raw, origin, shown), BLOCK)


class _Watched(io.RawIOBase):
    """A stream whose errors name their file."""

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
    """A stream that unpacks, and stops where the file outgrows the bound for its packed size."""

    def __init__(self, inner: _Readable, raw: BinaryIO, origin: Origin, shown: str) -> None:
        super().__init__(inner, raw, origin)
        self._shown = shown
        self._size = origin.size()
        self._most = expanded_limit(origin, self._size)
        self._count = 0

    def readinto(self, buffer: Any, /) -> int | None:
        try:
            got = self._inner.readinto(buffer)
        except BROKEN as error:
            raise _damaged(self._shown, error) from None
        if not self._count and got and bytes(memoryview(buffer)[:MAGIC_BYTES]).startswith(PACKED_MAGIC):
            # There are files that hold themselves.
            raise FormatError.single(self._shown, None, "a packed file inside a packed file", "pack it once")
        self._count += got or 0
        if self._count > self._most:
            found = f"expands from {self._size} bytes to more than {self._most}"
            raise FormatError.single(self._shown, None, found, "give the file unpacked")
        return got

    def close(self) -> None:
        super().close()
        self._raw.close()


def _zstd(raw: BinaryIO) -> _Readable:
    # Heavy, and needed for such files only; Python itself knows Zstandard from 3.14 on.
    import pyarrow

    stream: _Readable = pyarrow.CompressedInputStream(pyarrow.PythonFile(raw, "r"), "zstd")
    return stream


def _damaged(shown: str, error: Exception) -> FormatError:
    return FormatError.single(shown, None, f"cannot be unpacked: {error}", "pack it again")
