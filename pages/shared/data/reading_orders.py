"""Orders to read a corpus: plain data, so that another process can take them. No Streamlit in here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from nereval_core.api.load_options import LoadOptions
from nereval_core.problems import FormatError
from nereval_core.readers import Source
from nereval_core.readers.input.compression import PACKED_MAGIC
from nereval_core.readers.parquet.columns import MAGIC as PARQUET
from nereval_core.store import Store
from pages.shared.data.loading import GOLD, served_sources

SMALL = 1 << 20
"""Bytes that are read faster than a process starts."""
UNPACKED = frozenset({".zip", ".gz", ".zst", ".zstd", ".parquet", ".spacy"})
"""Endings of files that are larger than they look."""
PACKED = (*PACKED_MAGIC, PARQUET)
"""First bytes of such files, whatever their names."""


@dataclass(frozen=True)
class Selection:
    """Selection from files that hold more: the layer, "" where there is one, and the contents of a table's columns.

    Files read `apart` are the parts of one layer. Where `folder` is true, the layer is a folder of the files.
    """

    layer: str = ""
    columns: Mapping[str, int | str] | None = None
    apart: bool = False
    folder: bool = False

    def of(self, source: Source | FormatError) -> Source | FormatError:
        if isinstance(source, FormatError) or self == Selection():
            return source
        if self.apart:
            return source.apart()
        if self.folder:
            return source.in_folder(self.layer)
        columns = self.columns or source.columns
        return replace(source, layer=self.layer or source.layer, label=self.layer or source.label, columns=columns)


Opened = tuple[str, Source | FormatError, dict[str, Source | FormatError]]
Upload = tuple[str, bytes]


@dataclass(frozen=True)
class Part:
    """Uploaded files of which a layer is read, alone or with other parts, and the selection from them."""

    files: Sequence[Upload]
    selection: Selection = field(default_factory=Selection)


@dataclass(frozen=True)
class Uploaded:
    """Files as they were uploaded: the parts of each layer by its name, those of gold by `gold`.

    Where all layers are annotators', `first_annotator` is the name of the one in gold's place.
    """

    title: str
    layers: Mapping[str, Sequence[Part]]
    options: LoadOptions = field(default_factory=LoadOptions)
    first_annotator: str = ""

    @property
    def small(self) -> bool:
        files = [file for parts in self.layers.values() for part in parts for file in part.files]
        packed = any(_unpacked(name) or raw.startswith(PACKED) for name, raw in files)
        return sum(len(raw) for _, raw in files) < SMALL and not packed

    def opened(self) -> Opened:
        """Return title, gold and systems as `load` takes them."""
        # One upload may be gold and several systems: it is opened, fingerprinted and stored once.
        all_parts = [part for parts in self.layers.values() for part in parts]
        opened = {id(part.files): _source(part.files) for part in all_parts}
        systems = {
            name: _joined([part.selection.of(opened[id(part.files)]) for part in parts])
            for name, parts in self.layers.items()
        }
        gold = systems.pop(GOLD)
        if not systems and self.options.pred_column is not None:
            systems["prediction"] = gold
        return self.title, gold, systems


@dataclass(frozen=True)
class Served:
    """Files or folders in the served one; names are paths from `folder`, which is one from `root`.

    `#` and a layer may stand behind a name. `columns` says, by name, what the columns of a table hold; the files of the
    folders named in `apart` are each read by themselves.
    """

    root: Path
    folder: str
    gold: str
    systems: Sequence[str]
    options: LoadOptions = field(default_factory=LoadOptions)
    columns: Mapping[str, Mapping[str, int | str]] = field(default_factory=dict)
    apart: frozenset[str] = frozenset()
    first_annotator: str = ""

    @property
    def title(self) -> str:
        return Path(self.folder, self.gold).as_posix()

    @property
    def small(self) -> bool:
        paths = [self.root / self.folder / name for name in (self.gold, *self.systems)]
        try:
            plain = all(path.is_file() and not _unpacked(path.name) for path in paths)
            return plain and sum(path.stat().st_size for path in paths) < SMALL
        except OSError:
            return False

    def opened(self) -> Opened:
        """Return title, gold and systems as `load` takes them."""
        return served_sources(self.root, self.folder, self.gold, self.systems, columns=self.columns, apart=self.apart)


@dataclass(frozen=True)
class Again:
    """An order to read a corpus again with other options: from its `sources`, or in another process from the store."""

    title: str
    key: str
    store: Store | None
    sources: Mapping[str, Source] | None
    options: LoadOptions
    first_annotator: str = ""

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "sources": None}

    @property
    def small(self) -> bool:
        files = [file for source in (self.sources or {}).values() for file in source.files]
        packed = any(_unpacked(file.shown) for file in files)
        return self.store is None or not self.key or (sum(file.origin.size() for file in files) < SMALL and not packed)

    def opened(self) -> Opened:
        """Return title, gold and systems as `load` takes them.

        Raises:
            FormatError: what was read is no longer stored.
        """
        sources = self.sources
        if sources is None:
            stored = self.store.of_input(self.key) if self.store is not None else None
            if stored is None:
                raise FormatError.single(self.title, None, "its files are no longer stored", "read them again")
            sources = stored.sources
        return self.title, sources["gold"], {name: source for name, source in sources.items() if name != "gold"}


Order = Uploaded | Served | Again


def _unpacked(name: str) -> bool:
    return Path(name).suffix.lower() in UNPACKED


def _source(files: Sequence[Upload]) -> Source | FormatError:
    try:
        return Source.of_uploads(files)
    except FormatError as error:
        return error


def _joined(parts: Sequence[Source | FormatError]) -> Source | FormatError:
    """Return the parts of a layer as one source, or the problems of those that cannot be opened."""
    problems = [problem for part in parts if isinstance(part, FormatError) for problem in part.problems]
    sources = [part for part in parts if isinstance(part, Source)]
    return FormatError(problems) if problems else Source.of_parts(sources)
