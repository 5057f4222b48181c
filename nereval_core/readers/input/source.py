"""Sources of annotations: a file, a folder, a zip, uploads or standard input, all seen as named files of bytes."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from operator import attrgetter
from pathlib import Path
from typing import BinaryIO, TypeVar

from nereval_core.problems import FormatError, Problem, ProblemList, quoted
from nereval_core.readers.input.compression import (
    GIVE_UNPACKED,
    MAGIC_BYTES,
    PACKED_MAGIC,
    SUFFIXES,
    files_of_zip,
    open_unpacked,
    open_whole,
    unpacked_name,
)
from nereval_core.readers.input.file_text import UTF8_BOM, Head, decode_text, foreign_kind, split_lines
from nereval_core.readers.input.origins import (
    STDIN,
    ZIP,
    InMemory,
    InZip,
    OnDisk,
    Origin,
    standard_input,
    unreadable_file,
)
from nereval_core.readers.input.paths import (
    COMPANIONS,
    STDIN_PATH,
    WORKBOOKS,
    companion_key,
    file_with_companion,
    files_below,
    label_of,
    split_layer,
    suffix_of,
)

Item = TypeVar("Item")

LITERAL = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:[A-Za-z_]\w*\s*=\s*)?(?:[\[(]\s*){0,3}(?:\{\s*'|\(\s*['\"])")
"""The beginning of Python's dicts and tuples, perhaps in lists and behind a name: they are read as JSON."""
ZIP_MAGIC = b"PK\3\4"
HEADS_KEPT = 64
"""The most heads of files that a source keeps."""

NAMED_PARTS = 3
"""The most parts that the name of a layer lists."""


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One file: `name` is its path inside the source (with "/"), `shown` what problems call it.

    Files packed by gzip or Zstandard are read as what is in them, and named without the suffix that says so.
    """

    name: str
    shown: str
    origin: Origin

    @property
    def stem(self) -> str:
        """The name without its last suffix, folders kept."""
        return self.name[: len(self.name) - len(suffix_of(self.name))]

    @property
    def suffix(self) -> str:
        return suffix_of(self.name).lower()

    @property
    def is_sheet(self) -> bool:
        """Whether it is a sheet of a workbook: its lines are rows of CSV, its problems stand at rows of the sheet."""
        return self.name.endswith(".csv") and self.shown.lower().endswith(WORKBOOKS)

    @property
    def on_disk(self) -> bool:
        """Whether it is a file on disk, so that another process can read it too: no upload, and not in a zip."""
        return isinstance(self.origin, OnDisk)

    def read(self) -> bytes:
        """Return all bytes.

        Raises:
            FormatError: not readable.
        """
        raw = self.origin.load(-1)
        return self.load(-1) if raw.startswith(PACKED_MAGIC) else raw

    def load(self, size: int) -> bytes:
        """Return the first so many bytes, all of them for -1.

        Raises:
            FormatError: not readable.
        """
        # What is packed by its name is unpacked at once, and anything else once more if its first bytes say so.
        packed = self.shown.lower().endswith(SUFFIXES)
        raw = b"" if packed else self.origin.load(size if size < 0 else max(size, MAGIC_BYTES))
        if packed or raw.startswith(PACKED_MAGIC):
            # A few bytes are looked at where reading all would be too much for the process.
            with self.stream() if size < 0 else open_unpacked(self.origin, self.shown) as file:
                return file.read(size)
        return raw if size < 0 else raw[:size]

    def stream(self) -> BinaryIO:
        """Return the bytes to be read in pieces; reading on may raise a FormatError too.

        Raises:
            FormatError: not readable.
        """
        return open_whole(self.origin, self.shown)

    def text(self, *, keep_bom: bool = False) -> str:
        """Return the text, line ends untouched; a byte-order mark at the start goes unless `keep_bom`.

        Raises:
            FormatError: not UTF-8, or not readable.
        """
        text = decode_text(self.read(), self.shown)
        return text if keep_bom else text.removeprefix(UTF8_BOM)

    def lines(self) -> list[str]:
        """Return the lines without their ends (LF, CRLF); a last line end opens no further line.

        Files that went through two conversions end lines with CR CR LF: that is one line end too. Other separators that
        Unicode knows (U+2028, form feed, …) are text.

        Raises:
            FormatError: as `text`.
        """
        return split_lines(self.text())

    def head(self) -> Head:
        """Return the first bytes, to be read when they are asked for: of a source's file, `Source.head_of` keeps them.

        Asking may raise a FormatError: not readable.
        """
        return Head(self.load)


@dataclass(frozen=True)
class Source:
    """Named files: `name` as the user gave it, `label` short enough to call a system by.

    `layer` names one of several that the files may hold, "" for none. `columns` says what their
    columns hold, as in `ReadOptions`. `passed` are the files of a zip that were passed over, as they do not end as
    annotations do. Where several places make up one layer, `parts` are these, and `files` those of all of them.
    `heads` are the heads of files that were looked at last.
    """

    name: str
    label: str
    files: tuple[SourceFile, ...]
    layer: str = ""
    passed: tuple[str, ...] = ()
    columns: Mapping[str, int | str] | None = field(default=None, hash=False)
    parts: tuple[Source, ...] = ()
    heads: dict[SourceFile, Head] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def of_path(cls, path: str | os.PathLike[str], *, within: str | os.PathLike[str] | None = None) -> Source:
        """Return the file, the files of a zip, or all files below a folder in the order of their names.

        Hidden files are passed over. "-" is standard input. `PATH#LAYER` names one of several layers in a file. With
        `within`, nothing outside that folder is reached, by link or otherwise, now or when its files are read, and
        nothing but files and folders; problems name files by their way from it.

        Raises:
            FormatError: no such path, nothing in it, or outside `within`.
        """
        place = source = os.fspath(path)
        if source == STDIN_PATH and within is None:
            file = SourceFile("stdin", STDIN, standard_input())
            heads = {file: file.head()}
            _refuse_foreign("stdin", file, heads[file])
            return cls._checked(STDIN, "stdin", [file], heads=heads)
        root = Path(path)
        limit = None if within is None else os.path.realpath(within)
        try:
            if limit is not None:
                from nereval_core.readers.input.confinement import resolve_inside, shown_path

                source = shown_path(root, within)
                resolve_inside(root, limit)
            layered = split_layer(place)
            if layered is not None:
                return replace(cls.of_path(layered[0], within=within), layer=layered[1], label=layered[1])
            if not place or not root.exists():
                raise FormatError.single(source, None, "no such file or folder", "check the path")
            label = root.resolve().name or source
            if root.is_dir():
                below = [SourceFile(*file) for file in files_below(root, source, limit)]
                return cls._checked(source, label, [part for file in below for part in _sheets(file) or [file]])
            if not root.is_file():
                raise FormatError.single(source, None, "neither a file nor a folder", "give a file or a folder")
            label = label_of(label)
            if root.suffix.lower() == ZIP:
                inside, passed = _files_of_zip(source, OnDisk(place, source, within=limit).load(-1))
                return cls._checked(source, label, inside, passed)
            files = [SourceFile(*file) for file in file_with_companion(root, source, limit)]
            if sheets := _sheets(files[0]):
                return cls._checked(source, label, sheets)
            heads = {files[0]: files[0].head()}
            _refuse_foreign(root.name, files[0], heads[files[0]])
            return cls._checked(source, label, files, heads=heads)
        except (OSError, ValueError) as error:
            raise unreadable_file(source, error) from None

    @classmethod
    def of_parts(cls, parts: Sequence[Source]) -> Source:
        """Return several sources as the parts of one layer; a single one as it is.

        Raises:
            FormatError: none is given.
        """
        if not parts:
            raise FormatError.single("parts", None, "no file or folder is given", "give one or more")
        if len(parts) == 1:
            return parts[0]
        files = tuple(file for part in parts for file in part.files)
        name, label = (_listed([getattr(part, key) for part in parts]) for key in ("name", "label"))
        return cls(name, label, files, parts=tuple(parts))

    def apart(self) -> Source:
        """Return the source with each file as a part of one layer; files that belong together are one part."""
        names = {file.name for file in self.files}
        groups: dict[str, list[SourceFile]] = {}
        for file in self.files:
            groups.setdefault(companion_key(file.name, names), []).append(file)
        parts = Source.of_parts(
            [
                replace(self, name=files[0].shown, label=label_of(files[0].name), files=tuple(files), passed=())
                for files in groups.values()
            ]
        )
        return replace(parts, name=self.name, label=self.label)

    def folders(self) -> tuple[str, ...]:
        """Return the folders that are layers of the same documents; none where the files are one layer.

        That is so where every file lies in one of several folders, and each folder has files of the same names.
        """
        names: dict[str, set[str]] = {}
        for file in self.files:
            folder, _, rest = file.name.partition("/")
            names.setdefault(folder if rest else "", set()).add(rest)
        alike = len(names) > 1 and "" not in names and set.intersection(*names.values())
        return tuple(names) if alike else ()

    def sheets(self) -> tuple[str, ...]:
        """Return the sheets of a workbook that has several; one of them is read at a time."""
        if not any(file.is_sheet and "/" in file.name for file in self.files):
            return ()
        return tuple(dict.fromkeys(file.name.partition("/")[0] for file in self.files if file.is_sheet))

    def in_folder(self, folder: str) -> Source:
        """Return the source with the files of one of its folders alone, named as inside it."""
        start = f"{folder}/"
        files = [replace(file, name=file.name[len(start) :]) for file in self.files if file.name.startswith(start)]
        return self._checked(f"{self.name}/{folder}", folder, files)

    @classmethod
    def of_uploads(cls, uploads: Iterable[tuple[str, bytes]], *, name: str | None = None) -> Source:
        """Return uploaded files, those of a zip one by one and without the one folder they may all lie in.

        Where two zips have files of one name, each is a folder.

        Raises:
            FormatError: nothing uploaded, a name twice, or a zip that is broken or not safe to open.
        """
        files: list[SourceFile] = []
        folders: list[tuple[str, list[SourceFile]]] = []
        passed: list[str] = []
        uploaded: list[str] = []
        problems = ProblemList()
        for upload, raw in uploads:
            uploaded.append(upload)
            try:
                if upload.lower().endswith(ZIP):
                    inside, others = _files_of_zip(upload, raw)
                    folders.append((upload, inside))
                    passed += others
                else:
                    inner = unpacked_name(upload.replace("\\", "/").lstrip("/"))
                    file = SourceFile(inner, upload, InMemory(raw, upload))
                    if sheets := _sheets(file):
                        files += sheets
                        continue
                    files.append(file)
                    _refuse_foreign(upload, file, file.head())
            except FormatError as error:
                problems += error.problems
        if problems:
            raise FormatError(problems)
        names = Counter(name for _, inside in folders for name in {file.name for file in inside})
        apart = any(count > 1 for count in names.values())
        for upload, inside in folders:
            stem = upload.replace("\\", "/").lstrip("/")[: -len(ZIP)]
            files += [replace(file, name=f"{stem}/{file.name}") for file in inside] if apart else inside
        source = name or (uploaded[0] if len(uploaded) == 1 else f"{len(uploaded)} uploaded files")
        return cls._checked(source, name or (label_of(uploaded[0]) if uploaded else source), files, passed)

    @classmethod
    def _checked(
        cls,
        name: str,
        label: str,
        files: Sequence[SourceFile],
        passed: Sequence[str] = (),
        heads: dict[SourceFile, Head] | None = None,
    ) -> Source:
        if not files:
            raise FormatError.single(name, None, "no files in it", "give a file or a folder with files in it")
        files = sorted_by_path(files, attrgetter("name"))
        if len({file.name for file in files}) < len(files):
            raise FormatError(
                Problem(
                    second.shown,
                    None,
                    f"a second file called {quoted(second.name)}",
                    "give each file its own name, or zip each folder",
                )
                for first, second in pairwise(files)
                if first.name == second.name
            )
        if len(files) == 1 and LITERAL.match(files[0].head().raw if heads is None else heads[files[0]].raw):
            # A file alone holds annotations; beside others it may be a text.
            from nereval_core.readers.shared.python_literals import json_of_literals

            raw = json_of_literals(files[0].read())
            files, heads = [replace(files[0], origin=InMemory(raw, files[0].shown))], None
        source = cls(name, label, tuple(files), passed=tuple(passed), heads=heads or {})
        # Annotations beside a text may be empty files: nothing was found there.
        if not any(file.suffix in COMPANIONS or source.head_of(file).raw for file in files):
            finding = "the file is empty" if len(files) == 1 else f"all {len(files)} files are empty"
            raise FormatError.single(name, None, finding, "give files with annotations in them")
        return source

    def pick(self, *suffixes: str) -> tuple[SourceFile, ...]:
        """Return the files with one of these suffixes, or all files where none has one."""
        files = [file for suffix in dict.fromkeys(suffixes) for file in self.by_suffix.get(suffix, ())]
        return tuple(sorted_by_path(files, attrgetter("name")) if len(suffixes) > 1 else files) or self.files

    def head(self, *suffixes: str) -> Head:
        """Return the head of the first file that `pick` returns."""
        return self.head_of(self.pick(*suffixes)[0])

    def head_of(self, file: SourceFile) -> Head:
        """Return the head of one of the files, the same for all that ask."""
        head = self.heads.get(file)
        if head is None:
            if len(self.heads) == HEADS_KEPT:
                self.heads.clear()
            head = self.heads[file] = file.head()
        return head

    @cached_property
    def by_suffix(self) -> Mapping[str, tuple[SourceFile, ...]]:
        """The files by their suffix, in the order of their names."""
        by_suffix: dict[str, list[SourceFile]] = {}
        for file in self.files:
            by_suffix.setdefault(file.suffix, []).append(file)
        return {suffix: tuple(files) for suffix, files in by_suffix.items()}


def _files_of_zip(source: str, raw: bytes) -> tuple[list[SourceFile], Sequence[str]]:
    """Return the files of a zip, and the names of those passed over.

    Raises:
        FormatError: as `files_of_zip`.
    """
    inside, passed = files_of_zip(source, raw)
    return [SourceFile(*file) for file in inside], passed


def _sheets(file: SourceFile) -> list[SourceFile]:
    """Return the sheets of a workbook as files, those of several each in a folder of its name; else nothing.

    Raises:
        FormatError: as `Workbook.sheets`.
    """
    if file.suffix not in WORKBOOKS or not file.origin.load(MAGIC_BYTES).startswith(ZIP_MAGIC):
        return []
    # Few files are workbooks.
    from nereval_core.readers.input.workbook import Workbook

    sheets = Workbook(file.origin, file.shown).sheets()
    name = f"{file.stem}.csv"
    return [SourceFile(f"{each.name}/{name}" if len(sheets) > 1 else name, file.shown, each) for each in sheets]


def _refuse_foreign(name: str, file: SourceFile, head: Head) -> None:
    """Refuse a file that is given by itself and that no reader reads.

    Raises:
        FormatError: an archive of another kind, a workbook, a packed file that cannot be unpacked.
    """
    foreign = foreign_kind(name, head.raw)
    if foreign is not None:
        kind, remedy = foreign
        raise FormatError.single(file.shown, None, f"{kind}, which is not read", remedy)


def _listed(names: Sequence[str]) -> str:
    if len(names) > NAMED_PARTS:
        names = [*names[: NAMED_PARTS - 1], f"{len(names) - NAMED_PARTS + 1} more"]
    return " + ".join(names)


def sorted_by_path(items: Iterable[Item], name: Callable[[Item], str]) -> list[Item]:
    """Return items in the order of their paths, folder by folder."""
    by_name = sorted(items, key=name)
    # Only with folders the order of the letters is another: "/" comes after "-" and ".".
    return sorted(by_name, key=lambda item: name(item).split("/")) if "/" in "".join(map(name, by_name)) else by_name


def with_progress(items: Sequence[Item], progress: Callable[[int, int], None] | None) -> Iterable[Item]:
    """Return the items; `progress` is called about a hundred times with their number so far and in all."""
    return items if progress is None else _report_progress(items, progress)


def _report_progress(items: Sequence[Item], progress: Callable[[int, int], None]) -> Iterator[Item]:
    step = max(1, len(items) // 100)
    for number, item in enumerate(items):
        if number % step == 0:
            progress(number, len(items))
        yield item
    progress(len(items), len(items))


def unread_files_note(source: Source, files_read: Sequence[SourceFile]) -> list[str]:
    """Return a note that counts the files a reader did not read, or nothing."""
    if len(files_read) == len(source.files):
        return []
    others = sorted({file.name for file in source.files} - {file.name for file in files_read})
    return [f"other files, not read: {_counted(others)}"] if others else []


def zips_in_zip(source: Source) -> list[Problem]:
    """Return a problem for each zip within a zip, which few formats read."""
    return [
        Problem(file.shown, None, "a packed file inside a zip", GIVE_UNPACKED)
        for file in source.by_suffix.get(ZIP, ())
        if isinstance(file.origin, InZip)
    ]


def skipped_files_note(source: Source) -> list[str]:
    """Return a note that counts the files of other kinds in a zip, or nothing."""
    return [f"files of other kinds in the zip, not read: {_counted(source.passed)}"] if source.passed else []


def _counted(names: Sequence[str]) -> str:
    return f"{len(names)} ({', '.join(names[:3])}{', …' if len(names) > 3 else ''})"
