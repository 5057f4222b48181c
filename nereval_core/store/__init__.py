"""The store of corpora on disk, as columns: a corpus that was read once opens again by its digest or by its files.

An entry is one file, `DIGEST-KEY.columns`: the corpus's digest, and the key of the input it was read from (contents and
names of the files, options, version). It is written under another name and renamed, so that several processes may
write at the same time; a damaged entry is removed when it is found. To make room, the entries unused longest are
removed first. What users remark on a corpus (another name, how far they are) stands beside its entry, in `KEY.remarks`.
"""

from __future__ import annotations

import errno
import json
import logging
import os
import re
import time
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Lock
from typing import Any, BinaryIO

from nereval_core import __version__
from nereval_core.corpus import Corpus
from nereval_core.problems import FormatError
from nereval_core.readers.input.source import Source
from nereval_core.readers.input.temporaries import (
    foreign_place,
    is_own_file,
    private_folder,
    read_own_file,
    remove_abandoned,
    replaced_file,
)
from nereval_core.store.columns import ColumnWriter, DamagedError, map_columns
from nereval_core.store.corpora import read_corpus, write_corpus
from nereval_core.store.sources import BLOCKS, ChangedError, StoredSources, fingerprints, input_key, write_sources

__all__ = [
    "ChangedError",
    "Entry",
    "EntryAccount",
    "Store",
    "StoredCorpus",
    "TooLargeError",
    "fingerprints",
    "input_key",
    "read_remarks",
    "work_folder",
]

FORMAT = 3
"""The version of entries; it changes with their content and with the definition of digests."""
FOLDER, BYTES = "NEREVAL_CACHE", "NEREVAL_CACHE_BYTES"
LIMIT = 4_000_000_000
HOUR = 3_600
FOREIGN = f"make it this account's and chmod 0700, or name another folder as {FOLDER}"
"""The remedy for a store that others may change."""
SUFFIX, REMARKS = ".columns", ".remarks"
REMARK_KINDS = {"name": str, "decided": int, "records": int, "link": str, "verdicts": str, "key": str}
"""The remarks that there may be, and the types of their values."""
CHECKSUM = "checksum"
"""The key of the CRC-32 of remarks."""
ENTRY = re.compile(r"([0-9a-f]{64})-([0-9a-f]{64})" + re.escape(SUFFIX))
_LOG = logging.getLogger("nereval")
_REMARKING = Lock()
"""Held while remarks are read and written: sessions of a server remark on one corpus at the same time."""


@dataclass(frozen=True, eq=False)
class StoredCorpus:
    """The content of an entry: a corpus, the account of its reading (JSON), and the files it was read from."""

    corpus: Corpus
    account: Mapping[str, Any]
    sources: Mapping[str, Source]
    key: str


@dataclass(frozen=True)
class Entry:
    """A file of the store; `used` is the time when it was last opened, in seconds since 1970."""

    path: Path
    digest: str
    key: str
    bytes: int
    used: float


@dataclass(frozen=True)
class EntryAccount:
    """The content of an entry in words: the name of the corpus, and the names of its layers, gold first.

    `owner` is who brought it, "" where nobody is named.
    `decided` of `records` in the list that was reviewed last have a verdict in the store named `verdicts`; `link` leads
    to that list. Where nobody has reviewed anything they are 0 and "". `f1` is the best of the systems as they
    were read, None where it is not stored or not defined.
    """

    name: str
    layers: tuple[str, ...]
    decided: int = 0
    records: int = 0
    link: str = ""
    verdicts: str = ""
    owner: str = ""
    f1: float | None = None


class TooLargeError(Exception):
    """An entry that is larger than the limit of the store."""


@dataclass(frozen=True)
class Store:
    """A folder of entries that together take at most `limit` bytes."""

    folder: Path
    limit: int = LIMIT

    @classmethod
    def of_environment(cls, environment: Mapping[str, str] = os.environ) -> Store | None:
        """Return the store that NEREVAL_CACHE and NEREVAL_CACHE_BYTES name, None where the former is empty.

        Raises:
            FormatError: its folder is another account's, or all may write to it.
        """
        folder = environment.get(FOLDER, str(_caches(environment) / "nereval"))
        if not folder:
            return None
        size = environment.get(BYTES, "")
        if size and not size.isdecimal():
            _LOG.warning("%s=%s is not a number of bytes: %d taken", BYTES, size, LIMIT)
        store = cls(Path(folder).expanduser(), int(size) if size.isdecimal() else LIMIT)
        if reason := foreign_place(store.folder):
            finding = f"corpora are not stored in this folder: {reason}"
            raise FormatError.single(str(store.folder), None, finding, FOREIGN)
        return store

    def entries(self, prefix: str = "") -> tuple[Entry, ...]:
        """Return the entries whose digest begins so, the last used first; none where the folder cannot be read."""
        entries = []
        for path, size, used in _listed(self.folder, prefix):
            if match := ENTRY.fullmatch(path.name):
                entries.append(Entry(path, match[1], match[2], size, used))
        return tuple(sorted(entries, key=lambda entry: -entry.used))

    def account(self, entry: Entry) -> EntryAccount | None:
        """Return what an entry holds without reading it; None where it is damaged, gone or of another version."""
        try:
            about = map_columns(entry.path, checked_bytes=0).about
            if (about["format"], about["version"]) != (FORMAT, __version__):
                return None
            first = about["said"].get("first_annotator")
            layers = tuple(row["name"] for row in about["said"]["layers"])
            remarks = self.remarks(entry.key)
            return EntryAccount(
                remarks.get("name", about["corpus"]["name"]),
                (first, *layers[1:]) if first else layers,
                remarks.get("decided", 0),
                remarks.get("records", 0),
                remarks.get("link", ""),
                remarks.get("verdicts", ""),
                about["said"].get("owner", ""),
                max((f1 for f1 in about["said"].get("f1", {}).values() if f1 is not None), default=None),
            )
        except (DamagedError, KeyError, TypeError, ValueError, OSError):
            return None

    def remarks(self, key: str) -> Mapping[str, Any]:
        """Return what users remarked on the corpus of an input: `name`, `decided`, `records`, `link` and `verdicts`.

        On a server that several people use it says too by which `key` others open it.
        """
        try:
            remarks = read_remarks(self._remarks(key))
        except (OSError, ValueError):
            return {}
        return {key: value for key, value in remarks.items() if isinstance(value, REMARK_KINDS.get(key, ()))}

    def remark(self, input_key: str, /, **changes: str | int) -> None:
        """Add to the remarks on the corpus of an input.

        Raises:
            OSError: the folder cannot be written to.
        """
        path = self._remarks(input_key)
        with _REMARKING, replaced_file(path, private=True) as place:
            remarks = {**self.remarks(input_key), **changes}
            place.write_text(json.dumps({**remarks, CHECKSUM: _checksum(path, remarks)}), encoding="utf-8")

    def _entry(self, digest: str, key: str) -> Path:
        return self.folder / f"{digest}-{key}{SUFFIX}"

    def _remarks(self, key: str) -> Path:
        return self.folder / f"{key}{REMARKS}"

    def remove(self, entry: Entry) -> None:
        """Remove an entry; where its corpus is open it stays so."""
        _remove(entry.path)
        _remove(self._remarks(entry.key))

    def unused(self, seconds: float) -> tuple[Entry, ...]:
        """Return the entries that were not opened for so long."""
        return tuple(entry for entry in self.entries() if entry.used < time.time() - seconds)

    def of_digest(self, prefix: str, is_wanted: Callable[[Entry], bool] = lambda entry: True) -> StoredCorpus | None:
        """Return the corpus whose digest has this prefix, of the `wanted` ones; None where there is none or several."""
        entries = [*filter(is_wanted, self.entries(prefix))] if prefix else []
        return self._first(entries) if len({entry.digest for entry in entries}) == 1 else None

    def of_input(self, key: str) -> StoredCorpus | None:
        """Return the corpus that was read from an input, None where it is not stored."""
        return self._first([entry for entry in self.entries() if entry.key == key])

    def _first(self, entries: Sequence[Entry]) -> StoredCorpus | None:
        return next((stored for entry in entries if (stored := self._open(entry)) is not None), None)

    def _open(self, entry: Entry) -> StoredCorpus | None:
        try:
            columns = map_columns(entry.path, unchecked=(BLOCKS,))
            about = columns.about
            if (about["format"], about["version"]) != (FORMAT, __version__):
                return None
            if (about["corpus"]["digest"], about["key"]) != (entry.digest, entry.key):
                raise DamagedError("another corpus than its name says")
            corpus = read_corpus(columns, about["corpus"])
            corpus = replace(corpus, name=self.remarks(entry.key).get("name", corpus.name))
            stored = StoredCorpus(corpus, about["said"], StoredSources(columns), entry.key)
        except (DamagedError, KeyError, TypeError, ValueError) as error:
            _LOG.warning("stored corpus %s is damaged and goes: %s", entry.path.name, error)
            _remove(entry.path)
            return None
        except OSError as error:
            _LOG.info("stored corpus %s cannot be opened: %s", entry.path.name, error)
            return None
        with suppress(OSError):
            os.utime(entry.path)
        return stored

    def mark_used(self, digest: str, key: str) -> None:
        """Keep that an entry is in use, where it was not opened for an hour."""
        path = self._entry(digest, key)
        with suppress(OSError):
            if path.stat().st_mtime < time.time() - HOUR:
                os.utime(path)

    def put(self, stored: StoredCorpus, prints: Sequence[bytes], *, tick: Callable[[], None] = lambda: None) -> None:
        """Write an entry, whole or not at all, and make room for it.

        `prints` are the fingerprints of the files as they were read. `tick` is called now and then and may end the
        writing by raising.

        Raises:
            ChangedError: a file is no longer as it was.
            TooLargeError: it would not fit into the store.
            OSError: the folder cannot be written to or others may change it, or the disk is full.
            FormatError: a file can no longer be read.
        """
        private_folder(self.folder)
        if reason := foreign_place(self.folder):
            raise PermissionError(errno.EPERM, reason, str(self.folder))
        with replaced_file(self._entry(stored.corpus.digest, stored.key), private=True) as place:
            with place.open("wb", buffering=1 << 20) as file:
                self._write(file, stored, prints, tick)
            tick()
        self._make_room(stored.key)

    def _write(self, file: BinaryIO, stored: StoredCorpus, prints: Sequence[bytes], tick: Callable[[], None]) -> None:
        writer = ColumnWriter(file)

        def ticked() -> None:
            tick()
            if writer.written > self.limit:
                raise TooLargeError(f"more than the {self.limit:,} bytes that the store may take")

        corpus = write_corpus(writer, stored.corpus)
        ticked()
        write_sources(writer, stored.sources, prints, ticked)
        ticked()
        writer.finish(
            {
                "format": FORMAT,
                "version": __version__,
                "key": stored.key,
                "corpus": corpus,
                "said": dict(stored.account),
            }
        )

    def _make_room(self, key: str) -> None:
        total = 0
        for entry in self.entries():
            total += entry.bytes
            if total > self.limit and entry.key != key:
                _remove(entry.path)
                total -= entry.bytes
        self._remove_lone_remarks()
        remove_abandoned(self.folder)

    def _remove_lone_remarks(self) -> None:
        """Remove the remarks on corpora that are no longer stored."""
        # Listed before the entries: what others store meanwhile is remarked on after it is stored.
        remarks = [path for path, _, _ in _listed(self.folder) if path.name.endswith(REMARKS)]
        stored = {entry.key for entry in self.entries()}
        for path in remarks:
            if path.name.removesuffix(REMARKS) not in stored:
                _remove(path)

    def clear(self) -> None:
        """Remove all entries; open corpora stay open."""
        for entry in self.entries():
            _remove(entry.path)
        self._remove_lone_remarks()


def read_remarks(path: Path) -> Mapping[str, Any]:
    """Return the remarks on a corpus; those of earlier versions have no checksum.

    Raises:
        OSError: they cannot be read.
        ValueError: they are not as they were written.
    """
    try:
        remarks = json.loads(read_own_file(path))
    except RecursionError as error:
        raise ValueError(str(error)) from None
    if not isinstance(remarks, dict):
        raise ValueError("no remarks")
    checksum = remarks.pop(CHECKSUM, None)
    if checksum != _checksum(path, remarks) if checksum is not None else not remarks.keys() <= REMARK_KINDS.keys():
        raise ValueError("not as they were written")
    return remarks


def _checksum(path: Path, remarks: Mapping[str, Any]) -> int:
    return zlib.crc32(json.dumps([path.name, remarks], sort_keys=True).encode())


def work_folder(environment: Mapping[str, str] = os.environ) -> Path:
    """Return the folder for the counts of jobs that name none."""
    return _caches(environment).expanduser() / "nereval-shards"


def _caches(environment: Mapping[str, str]) -> Path:
    return Path(environment.get("XDG_CACHE_HOME") or "~/.cache")


def _listed(folder: Path, prefix: str = "") -> Iterator[tuple[Path, int, float]]:
    """Yield path, size and time of the files whose names begin so; what vanishes, or is not ours, is skipped."""
    try:
        rows = [row for row in os.scandir(folder) if row.name.startswith(prefix)]
    except OSError:
        return
    for row in rows:
        with suppress(OSError):
            status = row.stat(follow_symlinks=False)
            if is_own_file(status):
                yield Path(row.path), status.st_size, status.st_mtime


def _remove(path: Path) -> None:
    with suppress(OSError):
        path.unlink()
