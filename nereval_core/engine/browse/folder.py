"""The shards of a scored folder, mapped as they are asked for; a few stay mapped."""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from threading import Lock
from typing import Any

from nereval_core.engine.browse.index import Classes, DocumentIndex, Keys, read_classes, read_documents
from nereval_core.engine.browse.ledger import FolderLedger
from nereval_core.engine.browse.reading import Shards
from nereval_core.engine.browse.shard import RecordColumns, Shard, mapped, place
from nereval_core.problems import FormatError
from nereval_core.scoring import Settings
from nereval_core.store.columns import DamagedError

MAPPED = 48
"""How many files of shards stay mapped: what was looked at in them counts as memory."""
LEDGERS = 8
"""How many systems and criteria are kept with what was asked of them last."""
AGAIN = "score the shards again into a new folder"


@dataclass(frozen=True, eq=False)
class Records:
    """The records of a scored folder: `shards` name the files of each, `settings` the criteria in their order."""

    path: str
    shards: tuple[Keys, ...]
    settings: Settings
    _files: OrderedDict[str, Any] = field(default_factory=OrderedDict, repr=False)
    _ledgers: OrderedDict[tuple[int, str], FolderLedger] = field(default_factory=OrderedDict, repr=False)
    _lock: Any = field(default_factory=Lock, repr=False)

    @cached_property
    def index(self) -> DocumentIndex:
        found: DocumentIndex = self._checked("index", lambda: read_documents(self.path))
        return found

    def ledger(self, system: int, criterion: str) -> FolderLedger:
        """Return the records of a system, by number, under a criterion.

        Raises:
            FormatError: a file is missing or damaged.
        """
        key = (system, criterion)
        with self._lock:
            if key in self._ledgers:
                self._ledgers.move_to_end(key)
                return self._ledgers[key]
        made = self._ledger(system, criterion)
        with self._lock:
            made = self._ledgers.setdefault(key, made)
            while len(self._ledgers) > LEDGERS:
                self._ledgers.popitem(last=False)
        return made

    def _ledger(self, system: int, criterion: str) -> FolderLedger:
        number = [one.name for one in self.settings.criteria].index(criterion)
        classes: Classes = self._checked("index", lambda: read_classes(self.path, system, number))
        rule, each = self.settings.criteria[number], self.settings.counting == "each-side"
        return FolderLedger(Shards(rule, each, classes, self.index, partial(self._records, system, criterion)))

    def shard(self, number: int, system: int = 0) -> Shard:
        """Map a shard under a system.

        Raises:
            FormatError: a file is missing or damaged.
        """
        keys = self.shards[number]
        made: Shard = self._keep(
            f"{number} {system}",
            lambda: Shard.of(*(mapped(place(self.path, key)) for key in (keys.gold, keys.systems[system]))),
        )
        return made

    def _records(self, system: int, criterion: str, number: int) -> tuple[Shard, RecordColumns]:
        shard = self.shard(number, system)
        records: RecordColumns = self._keep(f"{number} {system} {criterion}", lambda: shard.records(criterion))
        return shard, records

    def _keep(self, key: str, make: Callable[[], Any]) -> Any:
        with self._lock:
            if key in self._files:
                self._files.move_to_end(key)
                return self._files[key]
        made = self._checked(f"shard {int(key.split()[0]) + 1:,} of {len(self.shards):,}", make)
        with self._lock:
            self._files[key] = made
            while len(self._files) > MAPPED:
                self._files.popitem(last=False)
        return made

    def _checked(self, what: str, make: Callable[[], Any]) -> Any:
        try:
            return make()
        except OSError as error:
            found = f"{what}: {os.path.relpath(error.filename or self.path, self.path)}: {error.strerror}"
        except (DamagedError, KeyError, TypeError, ValueError, IndexError) as error:
            found = f"{what}: damaged: {error}"
        raise FormatError.single(self.path, None, found, AGAIN) from None


__all__: Sequence[str] = ("Records",)
