"""The shards of a scored folder, mapped when they are used, and its documents as sequences over them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from operator import attrgetter
from threading import Lock
from typing import Any, TypeVar, overload

from cachetools import LRUCache, cachedmethod

from nereval_core.corpus.texts import Texts
from nereval_core.engine.browse.ledger import FolderLedger
from nereval_core.engine.browse.reading import ShardRecords
from nereval_core.engine.record_columns import MappedShard, RecordColumns, map_shard
from nereval_core.engine.record_index import DocumentIndex, ShardKeys, read_classes, read_documents
from nereval_core.problems import FormatError
from nereval_core.scoring import Settings
from nereval_core.store.columns import DamagedError

SHARDS_MAPPED = 48
"""Files of shards that stay mapped: the parts of them that were read count as memory."""
LEDGERS_KEPT = 8
"""Ledgers that are kept, with the answers they gave last: one for each system and criterion."""
REMEDY = "score the shards again into a new folder"
_SHARDS, _LEDGERS, _LOCK = attrgetter("_shards"), attrgetter("_ledgers"), attrgetter("_lock")

Made = TypeVar("Made")


@dataclass(frozen=True, eq=False)
class FolderRecords:
    """The records of a scored folder: `shards` are the keys of each shard's files, `settings` have the criteria.

    All its files must lie in the folder `within`, whatever links there are.
    """

    path: str
    shards: tuple[ShardKeys, ...]
    settings: Settings
    within: str | None = None
    _shards: LRUCache[Any, Any] = field(default_factory=lambda: LRUCache(SHARDS_MAPPED), repr=False)
    _ledgers: LRUCache[Any, FolderLedger] = field(default_factory=lambda: LRUCache(LEDGERS_KEPT), repr=False)
    _lock: Any = field(default_factory=Lock, repr=False)

    @cached_property
    def index(self) -> DocumentIndex:
        return self._checked("index", lambda: read_documents(self.path, self.shards, self.within))

    @cachedmethod(_LEDGERS, lock=_LOCK)
    def ledger(self, system: int, criterion: str) -> FolderLedger:
        """Return the records of a system, by number, under a criterion.

        Raises:
            FormatError: a file is missing or damaged.
        """
        number = [one.name for one in self.settings.criteria].index(criterion)
        classes = self._checked("index", lambda: read_classes(self.path, self.shards, system, number, self.within))
        rule, each = self.settings.criteria[number], self.settings.counting == "each-side"
        return FolderLedger(ShardRecords(rule, each, classes, self.index, partial(self._records, system, criterion)))

    @cachedmethod(_SHARDS, key=lambda self, number, system=0: (number, system), lock=_LOCK)
    def shard(self, number: int, system: int = 0) -> MappedShard:
        """Map a shard under a system.

        Raises:
            FormatError: a file is missing or damaged.
        """
        keys = self.shards[number]
        return self._checked(
            self._shard_name(number),
            lambda: MappedShard.of(
                *(map_shard(self.path, key, self.within) for key in (keys.gold, keys.systems[system]))
            ),
        )

    @cachedmethod(_SHARDS, lock=_LOCK)
    def _records(self, system: int, criterion: str, number: int) -> tuple[MappedShard, RecordColumns]:
        shard = self.shard(number, system)
        return shard, self._checked(self._shard_name(number), lambda: shard.records(criterion))

    def _shard_name(self, number: int) -> str:
        return f"shard {number + 1:,} of {len(self.shards):,}"

    def _checked(self, what: str, make: Callable[[], Made]) -> Made:
        try:
            return make()
        except OSError as error:
            found = f"{what}: {os.path.relpath(error.filename or self.path, self.path)}: {error.strerror}"
        except (DamagedError, KeyError, TypeError, ValueError, IndexError) as error:
            found = f"{what}: damaged: {error}"
        raise FormatError.single(self.path, None, found, REMEDY) from None


@dataclass(frozen=True, eq=False)
class _Column(Sequence[str]):
    """A column of all documents; `texts` returns that of a shard."""

    records: FolderRecords
    texts: Callable[[int], Texts]

    def __len__(self) -> int:
        return len(self.records.index)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[str]: ...
    def __getitem__(self, index: int | slice) -> str | Sequence[str]:
        if isinstance(index, slice):
            return tuple(self[number] for number in range(*index.indices(len(self))))
        if not 0 <= index < len(self):
            raise IndexError(index)
        shard = self.records.index.shard(index)
        return self.texts(shard)[index - int(self.records.index.first[shard])]


@dataclass(frozen=True, eq=False)
class _Numbers(Mapping[str, int]):
    """The number of each document by its id."""

    records: FolderRecords
    ids: Sequence[str]

    def __len__(self) -> int:
        return len(self.records.index)

    def __iter__(self) -> Iterator[str]:
        return iter(self.ids)

    def __getitem__(self, name: str) -> int:
        for number in self.records.index.candidates(name):
            if self.ids[number] == name:
                return number
        raise KeyError(name)

    def __contains__(self, name: object) -> bool:
        try:
            return isinstance(name, str) and self[name] >= 0
        except KeyError:
            return False


@dataclass(frozen=True, eq=False)
class FolderDocuments:
    """The documents of a scored folder, for lists and pages as `corpus.Documents` are; read when they are used."""

    records: FolderRecords

    def __len__(self) -> int:
        return len(self.records.index)

    @property
    def ids(self) -> Sequence[str]:
        return _Column(self.records, lambda shard: self.records.shard(shard).documents.ids)

    @property
    def texts(self) -> Sequence[str]:
        return _Column(self.records, lambda shard: self.records.shard(shard).documents.texts)

    @property
    def index(self) -> Mapping[str, int]:
        return _Numbers(self.records, self.ids)


__all__: Sequence[str] = ("FolderDocuments", "FolderRecords")
