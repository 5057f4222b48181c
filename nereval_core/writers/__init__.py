"""Write a layer with its documents: one module per format, found by listing this folder.

A writer module is named like its format and has `NAME`, `DESCRIPTION`, `HOLDS`, what of a layer the format has a place
for (see `losses`), and `write(layer, path)`, which gets a layer of no more than that and returns notes on what is
written otherwise than one would think. It may have `unsayable(layer)`, which yields spans that the format cannot say,
with the reason, and `changed(layer)`, which yields in words what else would not be as it is. Where it writes files, not
folders, of which many make one corpus, `SHARD` is how the names of these end. What it writes appears whole or not at
all: see `whole_file` and `whole_folder`; a format of one file may be packed as its name says: see `packed_file`.
"""

from __future__ import annotations

import gzip
import io
import os
import pkgutil
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol, cast

from nereval_core.problems import FormatError
from nereval_core.writers.losses import fitted, losses

if TYPE_CHECKING:
    from nereval_core.corpus import Layer


class Writer(Protocol):
    """What a writer module offers."""

    NAME: str
    DESCRIPTION: str
    HOLDS: frozenset[str]

    def write(self, layer: Layer, path: Path) -> tuple[str, ...]: ...


@cache
def writers() -> Mapping[str, Writer]:
    """Return the writers by name."""
    modules = (import_module(f"{__name__}.{info.name}") for info in pkgutil.iter_modules(__path__))
    return MappingProxyType({module.NAME: cast(Writer, module) for module in modules if hasattr(module, "NAME")})


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

    What the format cannot hold is refused, or, if this may be `lossy`, left out. With `shards`, write a new folder of
    so many files (pairs of them, where the format has two) with as many documents in each, named part-00000 and so on.
    Returns notes that count what was left out. With `escape_formulas`, no spreadsheet runs a cell of CSV as a formula.

    Raises:
        FormatError: unknown format, a place that cannot be written, or what the format cannot hold.
    """
    if format not in writers():
        known = ", ".join(writers())
        raise FormatError.single(
            os.fspath(path), None, f"no writer for the format '{format}'", f"choose one of {known}"
        )
    if escape_formulas and not hasattr(writers()[format], "ESCAPES_FORMULAS"):
        raise FormatError.single(
            os.fspath(path), None, f"no spreadsheet runs formulas of '{format}'", "leave --escape-formulas out"
        )
    if layer.documents.sizes is not None:
        raise FormatError.single(layer.name, None, "spans without texts cannot be written", "give the texts with them")
    writer = writers()[format]
    put: Callable[..., tuple[str, ...]] = writer.write
    if escape_formulas:
        put = partial(put, escape_formulas=True)
    lost = losses(layer, writer)
    refused = None if lossy else lost.refused(layer, Path(path))
    if refused is not None:
        raise refused
    layer = fitted(layer, lost)
    notes = dict.fromkeys(lost.notes())
    if shards is None:
        return (*notes, *put(layer, Path(path)))
    # Where nothing is cut, nothing of it is loaded.
    from nereval_core.corpus.document_runs import sharded

    ending: str | None = getattr(writer, "SHARD", None)
    if ending is None or shards < 1:
        able = ", ".join(name for name, module in writers().items() if hasattr(module, "SHARD"))
        found = f"no shards in the format '{format}'" if ending is None else f"{shards} shards"
        raise FormatError.single(os.fspath(path), None, found, f"write one or more shards as one of {able}")
    with whole_folder(Path(path)) as folder:
        for number, part in enumerate(sharded(layer, shards)):
            notes |= dict.fromkeys(put(part, folder / f"part-{number:05d}{ending}"))
    return tuple(notes)


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """Open a file that takes its place, over an older one, only when the block ends well.

    A link is followed; what is no ordinary file, such as a pipe, is written into.

    Raises:
        FormatError: it cannot be written.
    """
    with _said(path):
        if path.is_dir():
            raise FormatError.single(os.fspath(path), None, "a folder stands there", "name a file")
        if path.exists() and not path.is_file():
            with io.BytesIO() as file:
                yield file
                path.write_bytes(file.getvalue())
            return
        path = path.resolve()
        handle, name = tempfile.mkstemp(prefix=f".{path.name[:40]}.", dir=path.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                yield file
            Path(name).chmod(0o666 & ~_umask())
            Path(name).replace(path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise


@contextmanager
def packed_file(path: Path) -> Iterator[BinaryIO]:
    """Open a file as `whole_file` does; what is written is packed where the name ends in .gz, .zst or .zstd.

    Raises:
        FormatError: it cannot be written.
    """
    suffix = path.suffix.lower()
    with whole_file(path) as file:
        if suffix == ".gz":
            # Neither name nor time goes in: the same data are the same bytes.
            with gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as packed:
                yield cast(BinaryIO, packed)
        elif suffix in (".zst", ".zstd"):
            import pyarrow

            with pyarrow.CompressedOutputStream(pyarrow.PythonFile(_Kept(file), "w"), "zstd") as packed:
                yield packed
        else:
            yield file


class _Kept(io.RawIOBase):
    """Writes into a file that stays open when this is closed."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def writable(self) -> bool:
        return True

    def write(self, raw: Any, /) -> int:
        return self._file.write(raw)


@contextmanager
def whole_folder(path: Path) -> Iterator[Path]:
    """Give a folder to fill that takes its place only when the block ends well; an older one must be empty.

    Raises:
        FormatError: it cannot be written, or something stands there.
    """
    with _said(path):
        if path.exists() and not path.is_dir():
            raise FormatError.single(os.fspath(path), None, "a file stands there", "name a new or empty folder")
        if path.is_dir() and any(path.iterdir()):
            raise FormatError.single(os.fspath(path), None, "the folder is not empty", "name a new or empty folder")
        folder = Path(tempfile.mkdtemp(prefix=f".{path.name[:40]}.", dir=path.parent))
        try:
            yield folder
            folder.chmod(0o777 & ~_umask())
            if path.is_dir():
                path.rmdir()
            folder.replace(path)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise


@contextmanager
def _said(path: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, RuntimeError) as error:
        # Python before 3.13 tells of a loop of links by a RuntimeError.
        if not isinstance(error, OSError) and not path.is_symlink():
            raise
        found = f"cannot be written: {getattr(error, 'strerror', None) or error}"
        raise FormatError.single(os.fspath(path), None, found, "check the folder and its permissions") from None


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
