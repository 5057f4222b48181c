"""What somebody asked to be read: plain data, so that another process can be told. No Streamlit in here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from nereval_core.errors import FormatError
from nereval_core.library import LoadOptions
from nereval_core.readers import Source
from pages.shared.loading import served_sources

SMALL = 1 << 20
"""Bytes that are read faster than a process starts."""
UNPACKED = frozenset({".zip", ".gz", ".zst", ".zstd", ".parquet", ".spacy"})
"""Endings of files that are larger than they look."""

Opened = tuple[str, Source | FormatError, dict[str, Source | FormatError]]
Upload = tuple[str, bytes]


@dataclass(frozen=True)
class Uploaded:
    """Files as they were uploaded, for gold and for each system; no system means: it is in the files of gold."""

    title: str
    gold: Sequence[Upload]
    systems: Mapping[str, Sequence[Upload]]
    options: LoadOptions = field(default_factory=LoadOptions)

    @property
    def small(self) -> bool:
        files = [file for files in (self.gold, *self.systems.values()) for file in files]
        return sum(len(raw) for _, raw in files) < SMALL and not any(_unpacked(name) for name, _ in files)

    def opened(self) -> Opened:
        """Return title, gold and systems as `load` takes them."""
        gold = _source(self.gold)
        systems = {name: _source(files) for name, files in self.systems.items()}
        if not systems and self.options.pred_column is not None:
            systems["prediction"] = gold
        return self.title, gold, systems


@dataclass(frozen=True)
class Served:
    """Files or folders in the served one; names are paths from `folder`, which is one from `root`."""

    root: Path
    folder: str
    gold: str
    systems: Sequence[str]
    options: LoadOptions = field(default_factory=LoadOptions)

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
        return served_sources(self.root, self.folder, self.gold, self.systems)


Order = Uploaded | Served


def _unpacked(name: str) -> bool:
    return Path(name).suffix.lower() in UNPACKED


def _source(files: Sequence[Upload]) -> Source | FormatError:
    try:
        return Source.of_uploads(files)
    except FormatError as error:
        return error
