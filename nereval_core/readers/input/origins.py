"""Origins of the bytes of a file: a disk, memory, a zip, standard input."""

from __future__ import annotations

import io
import lzma
import os
import shutil
import struct
import sys
import zipfile
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, BinaryIO, ClassVar, Protocol

from nereval_core.problems import FormatError, Problem, quoted

STDIN = "<stdin>"
"""The name of standard input in problems."""
ZIP = ".zip"
"""The ending of archives that are read like a folder."""
MOST_EXPANDED_BYTES = 1 << 30
"""The most bytes to which a packed file or a zip may expand."""
EXPANSION_RATIO = 200
"""The most times its packed size to which a file, a zip or an entry of one may expand beyond FREE_BYTES.

Text seldom reaches 20."""
FREE_BYTES = 64 << 20
"""Bytes to which a file, a zip or an entry of one may expand whatever its packed size.

Files that are not packed may be larger; those that we write shrink more than EXPANSION_RATIO times where documents are
alike."""
UNPACKED = "NEREVAL_UNPACKED_GB"
"""The variable of the environment that replaces these bounds."""

BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    EOFError,
    MemoryError,
    OSError,
    RuntimeError,
    ValueError,
)
"""Errors of Python on packed files that are damaged or packed in an unknown way."""


class Origin(Protocol):
    """Bytes as they are stored: `most` is 0 where nothing packed may be within them."""

    @property
    def most(self) -> int: ...

    def size(self) -> int:
        """Return the number of bytes as stored."""

    def load(self, size: int) -> bytes:
        """Return the first so many bytes, all of them for -1.

        Raises:
            FormatError: not readable.
        """

    def open(self) -> BinaryIO:
        """Return the bytes to be read from the first on, without a buffer.

        Raises:
            FormatError: not readable.
        """

    def refused(self, error: Exception) -> FormatError:
        """Return the problem for an error in reading on."""


def expanded_limit(size: int) -> int:
    """Return the most bytes to which `size` packed bytes may expand.

    Raises:
        FormatError: UNPACKED is no number.
    """
    words = os.environ.get(UNPACKED, "")
    if not words:
        return max(FREE_BYTES, min(EXPANSION_RATIO * size, MOST_EXPANDED_BYTES))
    try:
        return int(float(words) * 1e9)
    except (ValueError, OverflowError):
        raise FormatError.single(UNPACKED, None, f"{quoted(words)} is no number of GB", "give one such as 4") from None


def expands_too_far(source: str, what: str, size: int, expanded: str) -> Problem:
    """Return the problem of a file that expands beyond its limit; `expanded` is to how many bytes."""
    remedy = f"give it unpacked or in parts, or allow more: {UNPACKED}=4 (GB)"
    return Problem(source, None, f"{what}expands from {size:,} to {expanded} bytes", remedy)


@dataclass(eq=False, slots=True)
class OnDisk:
    """A file of the file system, called `source` in problems.

    `within` is the folder that it must lie in whenever it is opened; `owner` lives as long as the file is needed.
    """

    path: str
    source: str
    within: str | None = field(default=None, kw_only=True)
    owner: object = field(default=None, kw_only=True)
    most: ClassVar[int] = MOST_EXPANDED_BYTES

    def __getstate__(self) -> tuple[None, dict[str, Any]]:
        # The process that it is sent to need not keep what this one keeps.
        return None, {"path": self.path, "source": self.source, "within": self.within, "owner": None}

    def size(self) -> int:
        try:
            if self.within is None:
                return Path(self.path).stat().st_size
            with self.open() as file:
                return os.fstat(file.fileno()).st_size
        except (OSError, ValueError) as error:
            raise self.refused(error) from None

    def load(self, size: int) -> bytes:
        # The plain calls take half the time of open() and read(), which counts where there are 100,000 files.
        try:
            handle = self._descriptor()
            try:
                n_bytes = os.fstat(handle).st_size + 1 if size < 0 else size
                raw = os.read(handle, n_bytes)
                if len(raw) == n_bytes - (size < 0) or not raw:
                    return raw
                with os.fdopen(os.dup(handle), "rb") as file:
                    return raw + file.read(-1 if size < 0 else size - len(raw))
            finally:
                os.close(handle)
        except (OSError, ValueError) as error:
            raise self.refused(error) from None

    def open(self) -> BinaryIO:
        try:
            if self.within is None:
                return Path(self.path).open("rb", buffering=0)
            # Most files are opened wherever they lie.
            from nereval_core.readers.input.confinement import open_file

            return open_file(self.path, self.within)
        except (OSError, ValueError) as error:
            raise self.refused(error) from None

    def _descriptor(self) -> int:
        if self.within is None:
            return os.open(self.path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
        from nereval_core.readers.input.confinement import open_descriptor

        return open_descriptor(self.path, self.within)

    def refused(self, error: Exception) -> FormatError:
        return unreadable_file(self.source, error)


@dataclass(eq=False, slots=True)
class InMemory:
    """Uploaded bytes."""

    raw: bytes = field(repr=False)
    source: str
    most: ClassVar[int] = MOST_EXPANDED_BYTES

    def size(self) -> int:
        return len(self.raw)

    def load(self, size: int) -> bytes:
        return self.raw if size < 0 else self.raw[:size]

    def open(self) -> BinaryIO:
        return io.BytesIO(self.raw)

    def refused(self, error: Exception) -> FormatError:
        return unreadable_file(self.source, error)


@dataclass(eq=False, slots=True)
class InZip:
    """An entry of a zip, which is called `source` in problems."""

    archive: zipfile.ZipFile
    entry: zipfile.ZipInfo
    source: str
    # A zip is judged by what it says of its entries, which says nothing of what is packed within them.
    most: ClassVar[int] = 0

    def size(self) -> int:
        return self.entry.file_size

    def load(self, size: int) -> bytes:
        # To read all there is would unpack what the entry does not own up to.
        whole = self.entry.file_size
        n_bytes = whole if size < 0 else min(size, whole)
        try:
            with self.archive.open(self.entry) as file:
                raw = file.read(n_bytes)
                if len(raw) < n_bytes:
                    raise EOFError(f"it has {len(raw)} bytes and says {whole}")
                return raw
        except BROKEN as error:
            raise self.refused(error) from None

    def open(self) -> BinaryIO:
        try:
            return self.archive.open(self.entry)  # type: ignore[return-value]
        except BROKEN as error:
            raise self.refused(error) from None

    def refused(self, error: Exception) -> FormatError:
        return _not_unpacked(self.source, self.entry, error)


@dataclass(eq=False, slots=True)
class InInnerZip:
    """An entry of a zip in a zip or folder, opened for each reading; that zip is called `source` in problems."""

    outer: Origin
    entry: zipfile.ZipInfo
    source: str
    most: ClassVar[int] = 0

    def size(self) -> int:
        return self.entry.file_size

    def load(self, size: int) -> bytes:
        raw = io.BytesIO(self.outer.load(-1))
        try:
            archive = zipfile.ZipFile(raw)
        except BROKEN as error:
            raise self.refused(error) from None
        return InZip(archive, self.entry, self.source).load(size)

    def open(self) -> BinaryIO:
        return io.BytesIO(self.load(-1))

    def refused(self, error: Exception) -> FormatError:
        return _not_unpacked(self.source, self.entry, error)


def _not_unpacked(source: str, entry: zipfile.ZipInfo, error: Exception) -> FormatError:
    finding = f"the entry {quoted(entry.filename)} cannot be unpacked: {error}"
    return FormatError.single(source, None, finding, "pack it again")


_SPOOLED: list[tuple[Any, OnDisk]] = []


def standard_input() -> OnDisk:
    """Return standard input, kept in a temporary file to be read again, as where one file has both columns.

    Raises:
        FormatError: it is closed, or cannot be kept.
    """
    # Most commands read none.
    from nereval_core.readers.input.temporaries import TemporaryFolder

    stream: IO[bytes] | None = getattr(sys.stdin, "buffer", None)
    if stream is None:
        raise FormatError.single(STDIN, None, "standard input is closed", "name a file")
    if not _SPOOLED or _SPOOLED[0][0] is not stream:
        try:
            # It is removed when nothing needs it any more, at the latest at the end of the process.
            folder = TemporaryFolder()
            place = Path(folder.name, "stdin")
            with place.open("xb") as file:
                shutil.copyfileobj(stream, file, 1 << 20)
        except (OSError, ValueError) as error:
            raise unreadable_file(STDIN, error) from None
        _SPOOLED[:] = [(stream, OnDisk(str(place), STDIN, owner=folder))]
    return _SPOOLED[0][1]


def unreadable_file(source: str, error: Exception) -> FormatError:
    """Return the problem of a file or folder that cannot be read."""
    reason = getattr(error, "strerror", None) or str(error)
    return FormatError.single(source, None, f"cannot be read: {reason}", "check the path and its permissions")
