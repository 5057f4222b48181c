"""Where input comes from: a file, a folder, a zip or uploads, all seen as named files of bytes."""

from __future__ import annotations

import codecs
import io
import lzma
import os
import stat
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path, PurePosixPath
from typing import TypeVar

from nereval_core.errors import FormatError, Problem, quoted

Item = TypeVar("Item")

ZIP_FILES = 200_000
"""How many files a zip may hold."""
ZIP_BYTES = 1 << 30
"""How many bytes a zip may hold when expanded."""
ZIP_RATIO = 200
"""How many times its packed size a file of more than a mebibyte may expand to: text seldom reaches 20."""
HEAD_BYTES = 1 << 16
"""How much of a file is looked at to recognise its format."""

COMPANIONS = {".ann": ".txt"}
"""Where a single file is named, the one beside it that belongs to it."""

BROKEN_ZIP = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    EOFError,
    OSError,
    RuntimeError,
    ValueError,
)
"""What Python raises on zips that are damaged or packed in a way it does not know."""

UTF8_BOM = "\ufeff"
# The mark of UTF-32 little endian begins with that of UTF-16, so it is asked for first.
OTHER_BOMS = (
    (codecs.BOM_UTF32_LE, "UTF-32"),
    (codecs.BOM_UTF32_BE, "UTF-32"),
    (codecs.BOM_UTF16_LE, "UTF-16"),
    (codecs.BOM_UTF16_BE, "UTF-16"),
)


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One file: `name` is its path inside the source (with "/"), `shown` what problems call it."""

    name: str
    shown: str
    load: Callable[[int], bytes]
    """Return the first so many bytes, all of them for -1."""

    @property
    def stem(self) -> str:
        """The name without its last suffix, folders kept."""
        return str(PurePosixPath(self.name).with_suffix(""))

    @property
    def suffix(self) -> str:
        return PurePosixPath(self.name).suffix.lower()

    def read(self) -> bytes:
        return self.load(-1)

    def text(self, *, keep_bom: bool = False) -> str:
        """Return the text, line ends untouched; a byte-order mark at the start goes unless `keep_bom`.

        Raises:
            FormatError: not UTF-8, or not readable.
        """
        raw = self.read()
        for mark, encoding in OTHER_BOMS:
            if raw.startswith(mark):
                raise FormatError.single(self.shown, None, f"the file is {encoding}", "save it as UTF-8")
        try:
            text = raw.decode()
        except UnicodeDecodeError as error:
            line = raw.count(b"\n", 0, error.start) + 1
            column = error.start - raw.rfind(b"\n", 0, error.start)
            found = f"byte 0x{raw[error.start]:02X} at position {column} of the line is not UTF-8"
            raise FormatError.single(self.shown, line, found, "save the file as UTF-8") from None
        return text if keep_bom else text.removeprefix(UTF8_BOM)

    def lines(self) -> list[str]:
        """Return the lines without their ends (LF, CRLF); a last line end opens no further line.

        Files that went through two conversions end lines with CR CR LF: that is one line end too. Other separators that
        Unicode knows (U+2028, form feed, …) are text.

        Raises:
            FormatError: as `text`.
        """
        lines = self.text().split("\n")
        if lines[-1] == "":
            lines.pop()
        return [line.rstrip("\r") for line in lines]

    def head(self) -> list[str]:
        """Return the first lines, never failing on their bytes: enough to recognise a format by."""
        raw = self.load(HEAD_BYTES)
        lines = raw.decode(errors="replace").removeprefix(UTF8_BOM).split("\n")
        if len(raw) == HEAD_BYTES and len(lines) > 1:
            lines.pop()
        return [line.rstrip("\r") for line in lines]


@dataclass(frozen=True, slots=True)
class Source:
    """Named files: `name` as the user gave it, `label` short enough to call a system by."""

    name: str
    label: str
    files: tuple[SourceFile, ...]

    @classmethod
    def of_path(cls, path: str | os.PathLike[str], *, within: str | os.PathLike[str] | None = None) -> Source:
        """Return the file, the files of a zip, or all files below a folder in the order of their names.

        Hidden files are passed over. With `within`, nothing outside that folder is reached, by link or otherwise.

        Raises:
            FormatError: no such path, nothing in it, or outside `within`.
        """
        shown = os.fspath(path)
        root = Path(path)
        limit = None if within is None else Path(within).resolve()
        try:
            if limit is not None and not root.resolve().is_relative_to(limit):
                raise FormatError.single(shown, None, "outside the folder being served", "choose a path inside it")
            if not shown or not root.exists():
                raise FormatError.single(shown, None, "no such file or folder", "check the path")
            label = root.resolve().name or shown
            if not root.is_dir():
                if not root.is_file():
                    raise FormatError.single(shown, None, "neither a file nor a folder", "give a file or a folder")
                label = PurePosixPath(label).stem
                if root.suffix.lower() == ".zip":
                    return cls._checked(shown, label, _zipped(shown, root.read_bytes()))
                return cls._checked(shown, label, _file_of_path(root, shown))
        except (OSError, ValueError) as error:
            raise _unreadable(shown, error) from None
        files = []
        for folder, folders, names in os.walk(root, onerror=partial(_walk_error, shown)):
            folders[:] = [name for name in folders if not name.startswith(".")]
            for name in names:
                full = Path(folder, name)
                if name.startswith(".") or not full.is_file():
                    continue
                if limit is not None and not full.resolve().is_relative_to(limit):
                    continue
                inner = full.relative_to(root).as_posix()
                place = os.fspath(full)
                files.append(SourceFile(inner, place, partial(_from_path, full, place)))
        return cls._checked(shown, label, files)

    @classmethod
    def of_uploads(cls, uploads: Iterable[tuple[str, bytes]], *, name: str | None = None) -> Source:
        """Return uploaded files, those of a zip one by one and without the one folder they may all lie in.

        Raises:
            FormatError: nothing uploaded, a name twice, or a zip that is broken or not safe to open.
        """
        files: list[SourceFile] = []
        given: list[str] = []
        for upload, raw in uploads:
            given.append(upload)
            if upload.lower().endswith(".zip"):
                files += _zipped(upload, raw)
            else:
                files.append(SourceFile(upload.replace("\\", "/").lstrip("/"), upload, partial(_from_bytes, raw)))
        shown = name or (given[0] if len(given) == 1 else f"{len(given)} uploaded files")
        return cls._checked(shown, name or (PurePosixPath(given[0]).stem if given else shown), files)

    @classmethod
    def _checked(cls, name: str, label: str, files: Sequence[SourceFile]) -> Source:
        if not files:
            raise FormatError.single(name, None, "no files in it", "give a file or a folder with files in it")
        files = sorted(files, key=lambda file: PurePosixPath(file.name).parts)
        twice = [
            Problem(two.shown, None, f"a second file called {quoted(two.name)}", "give each file its own name")
            for one, two in pairwise(files)
            if one.name == two.name
        ]
        if twice:
            raise FormatError(twice)
        # Annotations beside a text may be empty files: nothing was found there.
        if not any(file.suffix in COMPANIONS or file.load(1) for file in files):
            found = "the file is empty" if len(files) == 1 else f"all {len(files)} files are empty"
            raise FormatError.single(name, None, found, "give files with annotations in them")
        return cls(name, label, tuple(files))

    def pick(self, *suffixes: str) -> tuple[SourceFile, ...]:
        """Return the files with one of these suffixes, or all files where none has one."""
        return tuple(file for file in self.files if file.suffix in suffixes) or self.files


def watched(items: Sequence[Item], progress: Callable[[int, int], None] | None) -> Iterable[Item]:
    """Return the items; as they are taken, `progress` is told how many of how many, a hundred times in all."""
    return items if progress is None else _told(items, progress)


def _told(items: Sequence[Item], progress: Callable[[int, int], None]) -> Iterator[Item]:
    step = max(1, len(items) // 100)
    for number, item in enumerate(items):
        if number % step == 0:
            progress(number, len(items))
        yield item
    progress(len(items), len(items))


def left_out(source: Source, taken: Sequence[SourceFile]) -> list[str]:
    """Return a note that counts the files a reader passed over, or nothing."""
    rest = sorted({file.name for file in source.files} - {file.name for file in taken})
    if not rest:
        return []
    names = ", ".join(rest[:3]) + (", …" if len(rest) > 3 else "")
    return [f"other files, not read: {len(rest)} ({names})"]


def _file_of_path(path: Path, shown: str) -> list[SourceFile]:
    """Return the file and, where there is one, its companion."""
    files = [SourceFile(path.name, shown, partial(_from_path, path, shown))]
    beside = path.with_suffix(COMPANIONS[path.suffix]) if path.suffix in COMPANIONS else path
    if beside != path and beside.is_file() and not beside.is_symlink():
        files.append(SourceFile(beside.name, os.fspath(beside), partial(_from_path, beside, os.fspath(beside))))
    return files


def _from_path(path: Path, shown: str, size: int) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(size)
    except OSError as error:
        raise _unreadable(shown, error) from None


def _from_bytes(raw: bytes, size: int) -> bytes:
    return raw if size < 0 else raw[:size]


def _unreadable(shown: str, error: Exception) -> FormatError:
    reason = getattr(error, "strerror", None) or str(error)
    return FormatError.single(shown, None, f"cannot be read: {reason}", "check the path and its permissions")


def _walk_error(shown: str, error: OSError) -> None:
    raise _unreadable(str(error.filename or shown), error)


def _zipped(shown: str, raw: bytes) -> list[SourceFile]:
    """Return the files of a zip, refusing one that would leave its place or outgrow the machine."""
    try:
        archive = zipfile.ZipFile(io.BytesIO(raw))
        entries = [entry for entry in archive.infolist() if not entry.filename.endswith("/")]
    except BROKEN_ZIP as error:
        raise FormatError.single(shown, None, f"not a readable zip: {error}", "pack it again") from None
    if len(entries) > ZIP_FILES:
        raise FormatError.single(shown, None, f"{len(entries)} files", f"pack at most {ZIP_FILES} files")
    total = sum(entry.file_size for entry in entries)
    if total > ZIP_BYTES:
        found = f"{total} bytes when expanded"
        raise FormatError.single(shown, None, found, f"pack at most {ZIP_BYTES} bytes, or give the folder")
    problems = []
    kept: list[tuple[tuple[str, ...], zipfile.ZipInfo]] = []
    for entry in entries:
        name = entry.filename.replace("\\", "/")
        parts = PurePosixPath(name).parts
        if (
            not parts
            or name.startswith("/")
            or ".." in parts
            or ":" in parts[0]
            or stat.S_ISLNK(entry.external_attr >> 16)
        ):
            problems.append(Problem(shown, None, f"the entry {quoted(name)} leads outside", "pack plain files only"))
        elif entry.flag_bits & 1:
            problems.append(Problem(shown, None, f"the entry {quoted(name)} is encrypted", "pack without a password"))
        elif entry.file_size > max(1 << 20, ZIP_RATIO * entry.compress_size):
            found = f"the entry {quoted(name)} expands from {entry.compress_size} to {entry.file_size} bytes"
            problems.append(Problem(shown, None, found, "give the file unpacked"))
        elif parts[0] != "__MACOSX" and not any(part.startswith(".") for part in parts):
            kept.append((parts, entry))
    if problems:
        raise FormatError(problems)
    tops = {parts[0] for parts, _ in kept}
    inside = 1 if len(tops) == 1 and all(len(parts) > 1 for parts, _ in kept) else 0
    return [
        SourceFile("/".join(parts[inside:]), f"{shown}/{'/'.join(parts)}", partial(_from_zip, archive, entry, shown))
        for parts, entry in kept
    ]


def _from_zip(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, shown: str, size: int) -> bytes:
    try:
        with archive.open(entry) as file:
            return file.read(size)
    except BROKEN_ZIP as error:
        found = f"the entry {quoted(entry.filename)} cannot be unpacked: {error}"
        raise FormatError.single(shown, None, found, "pack it again") from None
