"""The records of a scored folder: shards are mapped when they are used, and searched within a budget.

There is no index of words: a search reads texts, one shard after the other.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from operator import attrgetter
from threading import Lock
from typing import Any, TypeVar, overload

import numpy as np
from cachetools import LRUCache, cachedmethod
from numpy.typing import NDArray

from nereval_core.corpus import Documents, Layer
from nereval_core.corpus.arrays import Int64
from nereval_core.corpus.subset import select_documents
from nereval_core.corpus.texts import Texts
from nereval_core.engine.record_columns import MappedShard, map_shard
from nereval_core.engine.record_index import DocumentIndex, ShardKeys, read_classes, read_documents
from nereval_core.ledger import Ledger
from nereval_core.ledger.record_places import ListedPlaces, PartClasses, RecordClasses, list_places
from nereval_core.ledger.record_sources import Excerpt, Hits, Limits, RecordPart, join_columns, records_holding
from nereval_core.problems import FormatError
from nereval_core.records.text_search import is_regex
from nereval_core.scoring import Settings
from nereval_core.scoring.criteria import Criterion
from nereval_core.store.columns import DamagedError

SHARDS_MAPPED = 48
"""Files of shards that stay mapped: the parts of them that were read count as memory."""
LEDGERS = 8
"""Ledgers that are cached, with the answers they gave last: one for each system and criterion."""
SORTED_RECORDS = 2_000
"""The longest list that is sorted by text or length, for which its records must be read."""
OFFERED_RECORDS = 50_000
"""The number of first records whose documents are offered as a facet."""
BLOCK_BYTES = 1 << 20
"""Bytes of text that are searched at once."""
SEARCHED_BYTES, SEARCHED_RECORDS = 1 << 28, 100_000
"""The budget of a search, about a second: bytes of text, and records of the documents that have the words."""
REMEDY = "score the shards again into a new folder"
_SHARDS, _LEDGERS, _LOCK = attrgetter("_shards"), attrgetter("_ledgers"), attrgetter("_lock")

Value = TypeVar("Value")


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
    _ledgers: LRUCache[Any, Ledger] = field(default_factory=lambda: LRUCache(LEDGERS), repr=False)
    _lock: Any = field(default_factory=Lock, repr=False)

    @cached_property
    def index(self) -> DocumentIndex:
        return self._checked("index", lambda: read_documents(self.path, self.shards, self.within))

    @cachedmethod(_LEDGERS, lock=_LOCK)
    def ledger(self, system: int, criterion: str) -> Ledger:
        """Return the records of a system, by number, under a criterion.

        Raises:
            FormatError: a file is missing or damaged.
        """
        number = [rule.name for rule in self.settings.criteria].index(criterion)
        classes = self._checked(
            "index",
            lambda: read_classes(
                self.path,
                self.shards,
                system,
                number,
                lambda shard: self.records(system, criterion, shard)[1],
                self.within,
            ),
        )
        return Ledger(SystemRecords(self, system, self.settings.criteria[number], self.index, classes))

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
    def records(self, system: int, criterion: str, number: int) -> tuple[RecordPart, PartClasses]:
        """Return the records of a shard, and the class of each.

        Raises:
            FormatError: a file is missing or damaged.
        """
        shard = self.shard(number, system)
        return self._checked(self._shard_name(number), lambda: shard.records(criterion))

    def _shard_name(self, number: int) -> str:
        return f"shard {number + 1:,} of {len(self.shards):,}"

    def _checked(self, what: str, read: Callable[[], Value]) -> Value:
        try:
            return read()
        except OSError as error:
            finding = f"{what}: {os.path.relpath(error.filename or self.path, self.path)}: {error.strerror}"
        except (DamagedError, KeyError, TypeError, ValueError, IndexError) as error:
            finding = f"{what}: damaged: {error}"
        raise FormatError.single(self.path, None, finding, REMEDY) from None


@dataclass(frozen=True, eq=False)
class SystemRecords:
    """The records of one system of a scored folder under one criterion: a `RecordSource` with a part for each shard."""

    folder: FolderRecords
    system: int
    rule: Criterion
    index: DocumentIndex
    by_class: RecordClasses

    @property
    def each_side(self) -> bool:
        return self.folder.settings.counting == "each-side"

    @property
    def about(self) -> None:
        return None

    @property
    def limits(self) -> Limits:
        return Limits(SORTED_RECORDS, OFFERED_RECORDS, SEARCHED_BYTES // 16)

    @property
    def first_document(self) -> Int64:
        return self.index.first

    def classes(self, by_field: bool) -> RecordClasses:
        return self.by_class

    def part(self, number: int) -> RecordPart:
        return self.folder.records(self.system, self.rule.name, number)[0]

    def locate(self, doc: str) -> tuple[int, int]:
        for document in self.index.candidates(doc):
            shard, inner = self.index.locate(document)
            if self.part(shard).documents.ids[inner] == doc:
                return shard, inner
        raise KeyError(doc)

    def rank_ids(self, documents: Int64) -> NDArray[Any]:
        places = map(self.index.locate, documents.tolist())
        ids = [self.part(shard).documents.ids[inner] for shard, inner in places]
        return _ranks(ids)

    def read_document(self, part: int, document: int) -> tuple[Layer, Layer]:
        shard, numbers = self.folder.shard(part, self.system), np.array([document], np.int64)
        over = select_documents(shard.documents, numbers)
        gold, pred = (join_columns([(layer, numbers)], over)[0] for layer in shard.read)
        return gold, pred

    def sort(self, places: ListedPlaces, order: str) -> ListedPlaces:
        texts = Excerpt.of(self, self.by_class, list(places.pieces(0, len(places)))).texts()
        keys = [-len(text) for text in texts] if order == "longest" else _ranks([text.casefold() for text in texts])
        return places.take(np.argsort(keys, kind="stable"))

    def search(self, words: Sequence[str]) -> Hits:
        pieces: list[tuple[int, NDArray[Any]]] = []
        n_bytes = n_records = n_documents = 0
        for number in range(len(self.by_class)):
            part = self.part(number)
            for low, high in _blocks(part.documents.texts):
                if n_bytes >= SEARCHED_BYTES or n_records >= SEARCHED_RECORDS:
                    return Hits(list_places(pieces), n_documents)
                documents = _documents_holding(words, part.documents, low, high)
                if len(documents):
                    positions, has_all = records_holding(words, part, documents)
                    n_records += len(positions)
                    pieces.append((number, positions[has_all]))
                n_documents += high - low
                offsets = _packed(part.documents.texts).offsets
                n_bytes += int(offsets[high] - offsets[low])
        return Hits(list_places(pieces), n_documents)


def _ranks(texts: Sequence[str]) -> NDArray[Any]:
    rank = {text: number for number, text in enumerate(sorted(set(texts)))}
    return np.fromiter((rank[text] for text in texts), np.int64, len(texts))


def _packed(texts: Sequence[str]) -> Texts:
    assert isinstance(texts, Texts), "texts of shards are mapped"
    return texts


def _blocks(column: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield runs of documents, end exclusive, of about BLOCK_BYTES."""
    texts, low = _packed(column), 0
    while low < len(texts):
        end = int(texts.offsets[low]) + BLOCK_BYTES
        high = max(low + 1, int(np.searchsorted(texts.offsets, end, side="right")) - 1)
        yield low, min(high, len(texts))
        low = high


def _documents_holding(words: Sequence[str], documents: Documents, low: int, high: int) -> Int64:
    """Return the documents whose texts or ids contain each word: only their records can contain all.

    Of a regular expression all are returned.
    """
    if any(map(is_regex, words)):
        return np.arange(low, high)
    texts, ids = (_whole(_packed(column), low, high) for column in (documents.texts, documents.ids))
    if not all(word in texts or word in ids for word in words):
        return np.zeros(0, np.int64)
    holding = []
    for number in range(low, high):
        text, name = documents.texts[number].casefold(), documents.ids[number].casefold()
        if all(word in text or word in name for word in words):
            holding.append(number)
    return np.array(holding, np.int64)


def _whole(texts: Texts, low: int, high: int) -> str:
    return str(texts.data[int(texts.offsets[low]) : int(texts.offsets[high])].data, "utf-8").casefold()


@dataclass(frozen=True, eq=False)
class _Column(Sequence[str]):
    """A column of all documents; `texts` returns that of a shard."""

    records: FolderRecords
    texts: Callable[[int], Sequence[str]]

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
        shard, inner = self.records.index.locate(index)
        return self.texts(shard)[inner]


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
