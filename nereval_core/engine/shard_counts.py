"""The counts of shards on disk, each under the digest of its sources: `KEY.npz`, written whole or not at all.

An entry holds the columns of `tally.Columns`, `tally`, the JSON of a `Tally` as UTF-8 bytes, and `about`, likewise: its
`key` and the names of its `columns`. Nothing in it is ever unpickled; each array has a checksum (that of the zip), so
that a damaged entry is noticed and computed again.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import tokenize
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nereval_core import __version__
from nereval_core.engine.tally import Columns, Tally
from nereval_core.problems import FormatError
from nereval_core.readers.input import origins
from nereval_core.readers.input.confinement import open_file
from nereval_core.readers.input.temporaries import replaced_file
from nereval_core.scoring import Settings
from nereval_core.scoring.criteria import Criterion

ENTRY_FORM = 3
"""The version of entries, part of their keys; it changes with their content."""
BROKEN = (*origins.BROKEN, LookupError, TypeError, AttributeError, SyntaxError, tokenize.TokenError)
"""The exceptions that reading a damaged entry raises."""

TALLY, ABOUT = "tally", "about"
"""The arrays of an entry that are JSON."""


class FolderError(FormatError):
    """A folder that takes no more, as on a full disk: the job ends, since no other shard can be stored there."""


def settings_digest(settings: Settings, **reading: str) -> str:
    """Return the digest (hex) of the settings and the program's version."""
    row = {
        "form": ENTRY_FORM,
        "nereval": __version__,
        "criteria": [_described(criterion) for criterion in settings.criteria],
        "merge": settings.merge,
        "leave_out": settings.leave_out,
        "counting": settings.counting,
        "reading": reading,
    }
    return hashlib.sha256(json.dumps(row, sort_keys=True).encode()).hexdigest()


def key_of(settings: str, gold: Sequence[str], pred: Sequence[str]) -> str:
    """Return the name of an entry, from the digests of the settings and of the files of both sides."""
    return hashlib.sha256(json.dumps([settings, list(gold), list(pred)]).encode()).hexdigest()


def file_digest(path: str) -> str:
    """Return the SHA-256 (hex) of a file's bytes."""
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@dataclass(frozen=True, slots=True)
class CountsStore:
    """A folder of entries, which must lie in the folder `within`."""

    folder: str
    within: str | None = None

    def path(self, key: str) -> Path:
        return Path(self.folder, f"{key}.npz")

    def put(self, key: str, tally: Tally, columns: Columns) -> None:
        """Write an entry, whole or not at all."""
        texts = {TALLY: tally.as_json(), ABOUT: {"key": key, "columns": sorted(columns)}}
        arrays = {name: np.frombuffer(json.dumps(row).encode(), np.uint8) for name, row in texts.items()}
        file = io.BytesIO()
        np.savez(file, allow_pickle=False, **arrays, **columns)
        with replace_file(self.path(key)) as place:
            place.write_bytes(file.getbuffer())

    def get(self, key: str) -> Tally | None:
        """Return an entry's tally after checking the whole entry, None where it is missing or damaged."""
        try:
            with zipfile.ZipFile(self.path(key)) as packed:
                names = {name.removesuffix(".npy") for name in packed.namelist()}
                if packed.testzip() is not None:
                    return None
            entry = self._read(key, TALLY, ABOUT)
            return Tally.of_json(_json(entry[TALLY])) if names >= {*_json(entry[ABOUT])["columns"]} else None
        except BROKEN:
            return None

    def column(self, key: str, name: str) -> NDArray[Any]:
        """Read one column of an entry.

        Raises:
            FormatError: the entry is missing or damaged.
        """
        return self.columns(key, name)[name]

    def columns(self, key: str, *names: str) -> Columns:
        """Read columns of an entry.

        Raises:
            FormatError: as `column`.
        """
        try:
            return self._read(key, *names)
        except BROKEN as error:
            finding = f"an entry of the counts of shards cannot be read: {error}"
            raise FormatError.single(self.folder, None, finding, "score again: it is made anew") from None

    def _read(self, key: str, *names: str) -> Columns:
        with open_file(self.path(key), self.within) as file, np.load(file, allow_pickle=False) as entry:
            # Those of earlier versions do not say whose they are.
            if ABOUT in entry and _json(entry[ABOUT])["key"] != key:
                raise ValueError("it is another entry than its name says")
            return {name: entry[name] for name in names}


def _json(array: NDArray[np.uint8]) -> Any:
    return json.loads(array.tobytes())


@contextmanager
def replace_file(path: Path) -> Iterator[Path]:
    """Yield a path to write to, which then replaces the given one; in a private folder the file is private too.

    Raises:
        FolderError: the folder takes no more.
    """
    place = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with replaced_file(path, private=not path.parent.stat().st_mode & 0o077) as place:
            yield place
    except OSError as error:
        if error.filename not in (None, str(place), str(path), str(path.parent)):
            # Of a file that was read meanwhile.
            raise
        finding = f"cannot be written into: {os.strerror(error.errno) if error.errno else error}"
        remedy = "mend that and score again: shards that were scored are kept"
        raise FolderError.single(str(path.parent), None, finding, remedy) from None


def _described(criterion: Criterion) -> Mapping[str, str]:
    return {rule.name: repr(getattr(criterion, rule.name)) for rule in fields(criterion)}
