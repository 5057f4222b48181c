"""Write a layer with its documents.

A module of this folder has the writers of a format, or of a family of formats, as `WRITERS`; it is found by listing the
folder. Files and folders appear whole or not at all: see `whole_file` and `whole_folder`; a format of one file may be
compressed as its name says: see `packed_file`.
"""

from __future__ import annotations

import gzip
import io
import os
import pkgutil
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from nereval_core.problems import FormatError, Problem, quoted
from nereval_core.readers.input.temporaries import TemporaryFolder, replaced_file, replaced_folder

if TYPE_CHECKING:
    from nereval_core.corpus import Layer
    from nereval_core.writers.writer import Writer

FORMULA_STARTS = ("=", "+", "-", "@", "＝", "＋", "－", "＠", "\t", "\r", "\n")
"""Characters that a spreadsheet may take for the beginning of a formula."""
ZIP_TIME = (1980, 1, 1, 0, 0, 0)
"""The time of the files in a zip: without their own, the same layer gives the same bytes."""


@cache
def writers() -> Mapping[str, Writer]:
    """Return the writers by name."""
    modules = (import_module(f"{__name__}.{info.name}") for info in pkgutil.iter_modules(__path__))
    instances: list[Writer] = [writer for module in modules for writer in getattr(module, "WRITERS", ())]
    return MappingProxyType({writer.name: writer for writer in sorted(instances, key=lambda writer: writer.name)})


def writer_of(format: str) -> Writer:
    """Return the writer of a format.

    Raises:
        FormatError: there is none.
    """
    if format not in writers():
        finding = f"no writer for the format {quoted(format)}"
        raise FormatError.single("--to", None, finding, f"choose among {', '.join(writers())}")
    return writers()[format]


def write(
    layer: Layer,
    path: str | os.PathLike[str],
    *,
    format: str,
    shards: int | None = None,
    lossy: bool = False,
    escape_formulas: bool = False,
) -> tuple[str, ...]:
    """Write the layer and its documents in the given format, whole or not at all.

    Parts of the layer that the format cannot hold are refused, or, with `lossy`, left out; the notes that are returned
    count them. With `shards`, write a new folder of that many files (or pairs of files, where the format has two) named
    part-00000 and so on, with equal numbers of documents. With `escape_formulas`, no spreadsheet runs a cell of CSV as
    a formula.

    Raises:
        FormatError: unknown format, a place that cannot be written, or a layer that the format cannot hold.
    """
    writer = writer_of(format).escaping_formulas() if escape_formulas else writer_of(format)
    if writer is None:
        raise FormatError.single(
            os.fspath(path), None, f"no spreadsheet runs formulas of '{format}'", "leave --escape-formulas out"
        )
    if layer.documents.sizes is not None:
        raise FormatError.single(layer.name, None, "spans without texts cannot be written", "give the texts with them")
    # Only layers are written in formats that cannot hold all of them; results are written too.
    from nereval_core.writers.writer import find_losses, remove_losses

    lost = find_losses(layer, writer)
    refusal = None if lossy else lost.refusal(layer, Path(path))
    if refusal is not None:
        raise refusal
    layer = remove_losses(layer, lost)
    notes = dict.fromkeys(lost.notes())
    if shards is None:
        return (*notes, *writer.write(layer, Path(path)))
    # Imported here, as most commands split nothing.
    from nereval_core.corpus.subset import split_layer

    if writer.shard is None or shards < 1:
        able = ", ".join(name for name, other in writers().items() if other.shard is not None)
        finding = f"no shards in the format '{format}'" if writer.shard is None else f"{shards} shards"
        raise FormatError.single(os.fspath(path), None, finding, f"write one or more shards as one of {able}")
    with whole_folder(Path(path)) as folder:
        for number, part in enumerate(split_layer(layer, shards)):
            notes |= dict.fromkeys(writer.write(part, folder / f"part-{number:05d}{writer.shard}"))
    return tuple(notes)


def pack_layer(layer: Layer, format: str, name: str, *, lossy: bool = False) -> tuple[str, bytes, tuple[str, ...]]:
    """Return a layer as a download: its file name, its bytes, and the writer's notes; several files become a zip.

    Raises:
        FormatError: the format cannot hold the layer, and losses are not allowed.
    """
    with TemporaryFolder() as folder:
        place = Path(folder) / f"{name}{writers()[format].shard or f'.{format}'}"
        try:
            notes = write(layer, place, format=format, lossy=lossy)
        except FormatError as error:
            # The problems are the layer's: the name of our temporary file would tell nothing.
            raise FormatError(
                Problem(
                    name if problem.source == os.fspath(place) else problem.source,
                    problem.line,
                    problem.found,
                    problem.remedy,
                )
                for problem in error.problems
            ) from None
        top = place if place.is_dir() else Path(folder)
        files = sorted(path for path in top.rglob("*") if path.is_file())
        if files == [place]:
            return place.name, place.read_bytes(), notes
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w") as archive:
            for path in files:
                entry = zipfile.ZipInfo(path.relative_to(top).as_posix(), ZIP_TIME)
                archive.writestr(entry, path.read_bytes(), zipfile.ZIP_DEFLATED)
        return f"{name}.zip", file.getvalue(), notes


def escape_formula(text: str) -> str:
    """Return a cell that no spreadsheet runs as a formula: an apostrophe is put before text that begins like one."""
    # Most cells begin with a letter or a digit.
    if text[:1].isalnum():
        return text
    return f"'{text}" if text.startswith(FORMULA_STARTS) or text.lstrip().startswith(FORMULA_STARTS) else text


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """Open a file that appears, or replaces an older one, only when the block ends without an error.

    A link is followed; a pipe or another special file is written into.

    Raises:
        FormatError: it cannot be written.
    """
    with _write_errors(path):
        if path.is_dir():
            raise FormatError.single(os.fspath(path), None, "a folder stands there", "name a file")
        if path.exists() and not path.is_file():
            with io.BytesIO() as file:
                yield file
                path.write_bytes(file.getvalue())
            return
        with replaced_file(path.resolve()) as place, place.open("wb") as file:
            yield file


@contextmanager
def packed_file(path: Path) -> Iterator[BinaryIO]:
    """Open a file as `whole_file` does; it is compressed where its name ends in .gz, .zst or .zstd.

    Raises:
        FormatError: it cannot be written.
    """
    suffix = path.suffix.lower()
    with whole_file(path) as file:
        if suffix == ".gz":
            # Without name and time, the same data are the same bytes.
            with gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as packed:
                yield cast(BinaryIO, packed)
        elif suffix in (".zst", ".zstd"):
            import pyarrow

            with pyarrow.CompressedOutputStream(pyarrow.PythonFile(_OpenFile(file), "w"), "zstd") as packed:
                yield packed
        else:
            yield file


class _OpenFile(io.RawIOBase):
    """Writes into a file that stays open when this object is closed."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def writable(self) -> bool:
        return True

    def write(self, raw: Any, /) -> int:
        return self._file.write(raw)


@contextmanager
def whole_folder(path: Path) -> Iterator[Path]:
    """Give a folder to fill, which appears only when the block ends without an error; an older one must be empty.

    Raises:
        FormatError: it cannot be written, or a file or a filled folder has this name.
    """
    with _write_errors(path):
        if path.exists() and not path.is_dir():
            raise FormatError.single(os.fspath(path), None, "a file stands there", "name a new or empty folder")
        if path.is_dir() and any(path.iterdir()):
            raise FormatError.single(os.fspath(path), None, "the folder is not empty", "name a new or empty folder")
        with replaced_folder(path) as folder:
            yield folder


@contextmanager
def _write_errors(path: Path) -> Iterator[None]:
    """Turn errors of the file system into a FormatError."""
    try:
        yield
    except (OSError, RuntimeError) as error:
        # Python before 3.13 raises a RuntimeError for a loop of links.
        if not isinstance(error, OSError) and not path.is_symlink():
            raise
        finding = f"cannot be written: {getattr(error, 'strerror', None) or error}"
        raise FormatError.single(os.fspath(path), None, finding, "check the folder and its permissions") from None
