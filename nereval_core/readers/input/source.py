"""Sources of annotations: a file, a folder, a zip, uploads or standard input, all seen as named files of bytes."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from operator import attrgetter
from pathlib import Path, PurePosixPath
from typing import BinaryIO, TypeVar

from nereval_core.problems import FormatError, Problem, quoted
from nereval_core.readers.input.compression import (
    GIVE_UNPACKED,
    MAGIC_BYTES,
    PACKED_MAGIC,
    SUFFIXES,
    files_of_zip,
    open_unpacked,
    unpacked_name,
)
from nereval_core.readers.input.encodings import UTF8_BOM, decode_text, split_lines
from nereval_core.readers.input.heads import Head, foreign_kind
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

Item = TypeVar("Item")

HEADS_KEPT = 64
"""The most heads of files that a source keeps."""

COMPANIONS = {".ann": ".txt"} | {
    f".{one}.{kind}": f".{two}.{kind}"
    for kind in ("parquet", "csv", "tsv")
    for one, two in (("spans", "texts"), ("texts", "spans"))
}
"""The ending of the file that belongs to a single file and lies beside it, by the ending of the latter."""

COMPANIONS_OF_ALL = {".xmi": "TypeSystem.xml"}
"""The name of the file that belongs to all files of an ending beside it."""

LAYER_MARK = "#"
"""The mark between a path and the name of a layer in it: `export.json#ann`."""

NAMED_PARTS = 3
"""The most parts that the name of a layer lists."""

STDIN_PATH = "-"
"""The path that means standard input."""


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
        return self.name[: len(self.name) - len(_suffix(self.name))]

    @property
    def suffix(self) -> str:
        return _suffix(self.name).lower()

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
            with self.stream() as file:
                return file.read(size)
        return raw if size < 0 else raw[:size]

    def stream(self) -> BinaryIO:
        """Return the bytes to be read in pieces; reading on may raise a FormatError too.

        Raises:
            FormatError: not readable.
        """
        return open_unpacked(self.origin, self.shown)

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

    `layer` is the one wanted of several that the files may hold, "" where none is named. `columns` says what their
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
        place = shown = os.fspath(path)
        if shown == STDIN_PATH and within is None:
            file = SourceFile("stdin", STDIN, standard_input())
            heads = {file: file.head()}
            _refuse_foreign("stdin", file, heads[file])
            return cls._checked(STDIN, "stdin", [file], heads=heads)
        root = Path(path)
        limit = None if within is None else os.path.realpath(within)
        try:
            if limit is not None:
                from nereval_core.readers.input.confinement import resolve_inside, shown_path

                shown = shown_path(root, within)
                resolve_inside(root, limit)
            layered = split_layer(place)
            if layered is not None:
                return replace(cls.of_path(layered[0], within=within), layer=layered[1], label=layered[1])
            if not place or not root.exists():
                raise FormatError.single(shown, None, "no such file or folder", "check the path")
            label = root.resolve().name or shown
            if root.is_dir():
                return cls._checked(shown, label, _below(root, shown, limit))
            if not root.is_file():
                raise FormatError.single(shown, None, "neither a file nor a folder", "give a file or a folder")
            label = label_of(label)
            if root.suffix.lower() == ZIP:
                inside, passed = _files_of_zip(shown, OnDisk(place, shown, within=limit).load(-1))
                return cls._checked(shown, label, inside, passed)
            files = _file_of_path(root, shown, limit)
            heads = {files[0]: files[0].head()}
            _refuse_foreign(root.name, files[0], heads[files[0]])
            return cls._checked(shown, label, files, heads=heads)
        except (OSError, ValueError) as error:
            raise unreadable_file(shown, error) from None

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
        found = Source.of_parts(
            [
                replace(self, name=files[0].shown, label=label_of(files[0].name), files=tuple(files), passed=())
                for files in groups.values()
            ]
        )
        return replace(found, name=self.name, label=self.label)

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
        given: list[str] = []
        problems: list[Problem] = []
        for upload, raw in uploads:
            given.append(upload)
            try:
                if upload.lower().endswith(ZIP):
                    inside, others = _files_of_zip(upload, raw)
                    folders.append((upload, inside))
                    passed += others
                else:
                    inner = unpacked_name(upload.replace("\\", "/").lstrip("/"))
                    files.append(SourceFile(inner, upload, InMemory(raw, upload)))
                    _refuse_foreign(upload, files[-1], files[-1].head())
            except FormatError as error:
                problems += error.problems
        if problems:
            raise FormatError(problems)
        names = Counter(name for _, held in folders for name in {file.name for file in held})
        apart = any(count > 1 for count in names.values())
        for upload, held in folders:
            stem = upload.replace("\\", "/").lstrip("/")[: -len(ZIP)]
            files += [replace(file, name=f"{stem}/{file.name}") for file in held] if apart else held
        shown = name or (given[0] if len(given) == 1 else f"{len(given)} uploaded files")
        return cls._checked(shown, name or (label_of(given[0]) if given else shown), files, passed)

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
                Problem(two.shown, None, f"a second file called {quoted(two.name)}", "give each file its own name")
                for one, two in pairwise(files)
                if one.name == two.name
            )
        made = cls(name, label, tuple(files), passed=tuple(passed), heads=heads or {})
        # Annotations beside a text may be empty files: nothing was found there.
        if not any(file.suffix in COMPANIONS or made.head_of(file).raw for file in files):
            found = "the file is empty" if len(files) == 1 else f"all {len(files)} files are empty"
            raise FormatError.single(name, None, found, "give files with annotations in them")
        return made

    def pick(self, *suffixes: str) -> tuple[SourceFile, ...]:
        """Return the files with one of these suffixes, or all files where none has one."""
        found = [file for suffix in dict.fromkeys(suffixes) for file in self.by_suffix.get(suffix, ())]
        return tuple(sorted_by_path(found, attrgetter("name")) if len(suffixes) > 1 else found) or self.files

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
        found: dict[str, list[SourceFile]] = {}
        for file in self.files:
            found.setdefault(file.suffix, []).append(file)
        return {suffix: tuple(files) for suffix, files in found.items()}


def _files_of_zip(shown: str, raw: bytes) -> tuple[list[SourceFile], Sequence[str]]:
    """Return the files of a zip, and the names of those passed over.

    Raises:
        FormatError: as `files_of_zip`.
    """
    inside, passed = files_of_zip(shown, raw)
    return [SourceFile(*file) for file in inside], passed


def _refuse_foreign(name: str, file: SourceFile, head: Head) -> None:
    """Refuse a file that is given by itself and that no reader reads.

    Raises:
        FormatError: an archive of another kind, a workbook, a packed file that cannot be unpacked.
    """
    found = foreign_kind(name, head.raw)
    if found is not None:
        raise FormatError.single(file.shown, None, f"{found[0]}, which is not read", found[1])


def _listed(names: Sequence[str]) -> str:
    shown = names if len(names) <= NAMED_PARTS else (*names[: NAMED_PARTS - 1], f"{len(names) - NAMED_PARTS + 1} more")
    return " + ".join(shown)


def companion_key(name: str, names: Collection[str]) -> str:
    """Return the name of the file that one belongs to, its own where it stands alone."""
    for ending, other in COMPANIONS.items():
        if name.endswith(ending):
            return min(name, name.removesuffix(ending) + other)
    annotations = name.removesuffix(".txt") + ".ann"
    if name.endswith(".txt") and annotations in names:
        return annotations
    return next((one for ending, one in COMPANIONS_OF_ALL.items() if name.endswith((ending, one))), name)


def split_layer(path: str) -> tuple[str, str] | None:
    """Return path and layer of `PATH#LAYER`; None where all of it is a path, or no path stands before a #."""
    if LAYER_MARK not in path or Path(path).exists():
        return None
    cuts = (at for at, char in enumerate(path) if char == LAYER_MARK and at + 1 < len(path))
    return next(((path[:at], path[at + 1 :]) for at in cuts if Path(path[:at]).exists()), None)


def sorted_by_path(items: Iterable[Item], name: Callable[[Item], str]) -> list[Item]:
    """Return items in the order of their paths, folder by folder."""
    found = sorted(items, key=name)
    # Only with folders the order of the letters is another: "/" comes after "-" and ".".
    return sorted(found, key=lambda item: name(item).split("/")) if "/" in "".join(map(name, found)) else found


def with_progress(items: Sequence[Item], progress: Callable[[int, int], None] | None) -> Iterable[Item]:
    """Return the items; `progress` is called about a hundred times with those taken and their total."""
    return items if progress is None else _told(items, progress)


def _told(items: Sequence[Item], progress: Callable[[int, int], None]) -> Iterator[Item]:
    step = max(1, len(items) // 100)
    for number, item in enumerate(items):
        if number % step == 0:
            progress(number, len(items))
        yield item
    progress(len(items), len(items))


def unread_files_note(source: Source, taken: Sequence[SourceFile]) -> list[str]:
    """Return a note that counts the files a reader did not read, or nothing."""
    if len(taken) == len(source.files):
        return []
    rest = sorted({file.name for file in source.files} - {file.name for file in taken})
    return [f"other files, not read: {_counted(rest)}"] if rest else []


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


def label_of(name: str) -> str:
    """Return the name of a file without its ending, or without that of a file with a companion."""
    name = unpacked_name(name)
    ending = next((ending for ending in COMPANIONS if name.endswith(ending)), "")
    return PurePosixPath(name.removesuffix(ending)).name if ending else PurePosixPath(name).stem


def _suffix(name: str) -> str:
    """Return the last suffix with its dot, as pathlib tells it: neither the start of a name nor a dot at its end."""
    dot = name.rfind(".")
    return name[dot:] if name.rfind("/") + 1 < dot < len(name) - 1 else ""


def _below(root: Path, shown: str, limit: str | None) -> list[SourceFile]:
    """Return the files below a folder, without a Path for each: there may be 200,000."""
    from nereval_core.readers.input.confinement import folder_entries, is_inside

    top, shown_top = ("" if name == "." else name.rstrip("/") + "/" for name in (os.fspath(root), shown))
    files: list[SourceFile] = []
    folders = [""]
    while folders:
        folder = folders.pop()
        try:
            entries = folder_entries(top + folder or ".", limit)
        except OSError as error:
            raise unreadable_file(shown_top + folder, error) from None
        for name, kind in entries:
            if name[0] == ".":
                continue
            inner = folder + name
            place = top + inner
            if kind == "folder":
                folders.append(inner + "/")
            elif kind == "file" or (Path(place).is_file() and (limit is None or is_inside(place, limit))):
                name = place if limit is None else shown_top + inner
                files.append(SourceFile(unpacked_name(inner), name, OnDisk(place, name, within=limit)))
    return files


def _file_of_path(path: Path, shown: str, limit: str | None) -> list[SourceFile]:
    """Return the file and, where there is one, its companion."""
    name = unpacked_name(path.name)
    files = [SourceFile(name, shown, OnDisk(os.fspath(path), shown, within=limit))]
    ending = next((ending for ending in COMPANIONS if name.endswith(ending)), "")
    inner = name.removesuffix(ending) + COMPANIONS[ending] if ending else COMPANIONS_OF_ALL.get(_suffix(name), "")
    if inner:
        for packed in ("", *SUFFIXES):
            beside = path.with_name(inner + packed)
            if beside.is_file() and not beside.is_symlink():
                place = os.path.join(os.path.dirname(shown), beside.name)  # noqa: PTH118, PTH120
                files.append(SourceFile(inner, place, OnDisk(os.fspath(beside), place, within=limit)))
                break
    return files
