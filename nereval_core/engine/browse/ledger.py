"""The match records of a scored folder: counted by their classes, and read shard by shard when they are shown.

`FolderLedger` implements `nereval_core.records.queries.Ledger`, as `MemoryLedger` does in memory. Questions that would
need all records are answered for a part of them, and `said` says so: a search ends with its budget, and documents are
offered from the first records only. Only short lists are sorted by text or length.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from threading import Lock
from typing import Any

import numpy as np
import pandas as pd
from cachetools import LRUCache, cachedmethod
from numpy.typing import NDArray

from nereval_core.arrays import Int64
from nereval_core.engine.browse.reading import ShardRecords, ids_of, starts_of
from nereval_core.engine.browse.record_places import ListedPlaces, PlacesByClass, RecordPlaces, list_places, sort_key
from nereval_core.engine.browse.search import SEARCHED_BYTES, Hits, ids_holding, records_holding, search
from nereval_core.engine.browse.spans import ShardDocuments, extract_documents
from nereval_core.records.queries import ORDERS, Near, Query, Tallies, Total, narrowed
from nereval_core.scoring import Scores, Settings, score_layers

SORTED_RECORDS = 2_000
"""The longest list that is sorted by text or length, for which its records must be read."""
OFFERED_RECORDS = 50_000
"""The number of first records whose documents are offered as a facet."""
PIECE_RECORDS = 50_000
ANSWERS_KEPT, ANSWER_BYTES_KEPT = 256, 1 << 26
"""Answers that are kept, and their bytes: positions in shards, mostly. A larger answer is kept alone."""
_ANSWERS, _LOCK = attrgetter("_answers"), attrgetter("_lock")


def _size(answer: Any) -> int:
    """Return the size of an answer in the cache: its bytes, bounded so that ANSWERS_KEPT fit and one always does."""
    size = 0
    if isinstance(answer, np.ndarray):
        size = answer.nbytes
    elif isinstance(answer, ListedPlaces | Hits):
        size = answer.shard.nbytes + answer.position.nbytes
    elif isinstance(answer, PlacesByClass):
        size = answer.ends.nbytes
    return min(max(size, ANSWER_BYTES_KEPT // ANSWERS_KEPT), ANSWER_BYTES_KEPT)


@dataclass(frozen=True, eq=False)
class FolderLedger:
    """The match records of one system under one criterion, in all shards."""

    read: ShardRecords
    _answers: LRUCache[Any, Any] = field(default_factory=lambda: LRUCache(ANSWER_BYTES_KEPT, _size), repr=False)
    _lock: Any = field(default_factory=Lock, repr=False)

    @property
    def criterion(self) -> str:
        return self.read.rule.name

    @property
    def counts_all_documents(self) -> bool:
        return False

    @property
    def offered(self) -> tuple[str, ...]:
        return self.read.classes.facets.offered

    def total(self, query: Query) -> Total:
        if query.by_class:
            return self.read.classes.facets.total(query)
        found = self.found(query)
        assert isinstance(found, ListedPlaces)
        return Total(len(found), int(self.read.weights(found).sum()))

    def facet_counts(self, query: Query, facet: str, most: int | None = None) -> dict[str, int]:
        asked, facets = narrowed(query, facet, None), self.read.classes.facets
        if facet == "doc":
            return self._by_document(asked, most)
        weight = None
        if not asked.by_class:
            found = self.found(Query(doc=asked.doc, text=asked.text, having=asked.having))
            assert isinstance(found, ListedPlaces)
            size = len(facets.records)
            weight = np.bincount(self.read.classes_of(found), self.read.weights(found), minlength=size).astype(np.int64)
        counts = facets.facet_counts(asked, facet, weight)
        return dict(list(counts.items())[:most])

    def confusion(self) -> dict[tuple[str, str], int]:
        return self.read.classes.facets.confusion()

    def orders(self, query: Query) -> tuple[str, ...]:
        """Return the orders in which the matching records can be listed."""
        some = self.total(query).records <= SORTED_RECORDS
        return tuple(order for order in ORDERS if some or order not in ("text", "longest"))

    def said(self, query: Query) -> tuple[str, ...]:
        """Return sentences on the limits of the answers to a query."""
        words = []
        if query.having:
            words.append("What needs all spans at once is not known of a scored folder: no record is found by it.")
        if query.text and not query.doc:
            searched = self._hits(query.text).documents
            if searched < len(self.read.index):
                every = len(self.read.index)
                words.append(
                    f"Searching means reading: the first {searched:,} of {every:,} documents were searched, and counts "
                    "are of these. Choose a document to search in it."
                )
        if query.doc == "" and self.total(query).records > OFFERED_RECORDS:
            words.append(f"Documents are offered of the first {OFFERED_RECORDS:,} records; any other one by its id.")
        return tuple(words)

    def page(self, query: Query, order: str = ORDERS[0], first: int = 0, rows: int = 200) -> pd.DataFrame:
        return self.read.frame(list(self.found(query, order).pieces(first, first + rows)))

    def pieces(self, query: Query, order: str = ORDERS[0]) -> Iterator[pd.DataFrame]:
        found = self.found(query, order)
        for low in range(0, len(found), PIECE_RECORDS):
            yield self.read.frame(list(found.pieces(low, low + PIECE_RECORDS)))

    def first(self, query: Query) -> tuple[str, str] | None:
        found = list(self.found(query).pieces(0, 1))
        return self.read.names(found)[0] if found else None

    def near(self, query: Query, doc: str, record: str = "", start: int = -1, around: int = 60) -> Near:
        found = self.found(query)
        shard, document = self.read.locate(doc)
        records = self.read.opened(shard)[1]
        low, here = found.among(shard, int(records.first[document]), int(records.first[document + 1]))
        part, rows, _ = self.read.rows([(shard, here)])
        same = [place for place, name in enumerate(ids_of(part, rows)) if name == record]
        place: float = low + (same[0] if same else int(np.searchsorted(starts_of(part, rows), start)) - 0.5)
        begin = max(0, int(place) - around)
        queue = self.read.names(list(found.pieces(begin, int(place) + around + 1)))
        return Near(queue, place - begin, int(place) + 1 if same else 0)

    def documents(self, text: str = "", first: int = 0, rows: int = 200) -> Tallies:
        if text:
            wanted = self._holding(text)
            number, chosen = len(wanted), wanted[first : first + rows]
        else:
            edges = self.read.classes.documents
            number, last = int(edges[-1]), min(first + rows, int(edges[-1]))
            parts = [np.zeros(0, np.int64)]
            for shard in range(int(np.searchsorted(edges, first, side="right")) - 1, len(self.read)):
                if edges[shard] >= last:
                    break
                some = self.read.with_records(shard) + self.read.index.first[shard]
                parts.append(some[max(0, first - int(edges[shard])) : last - int(edges[shard])])
            chosen = np.concatenate(parts)
        return Tallies(self.read.tallies(chosen), number)

    def document(self, doc: str, settings: Settings) -> Scores:
        shard, document = self.read.locate(doc)
        read = self.read.opened(shard)[0]
        part = extract_documents([ShardDocuments(read.documents, read.gold, read.pred, np.array([document], np.int64))])
        return score_layers(part.gold, part.pred, settings)

    def found(self, query: Query, order: str = ORDERS[0]) -> RecordPlaces:
        """Return the places of the matching records, in one of `orders`."""
        return self._found(query, order)

    @cachedmethod(_ANSWERS, key=lambda self, *asked: ("found", *asked), lock=_LOCK)
    def _found(self, query: Query, order: str) -> RecordPlaces:
        key = sort_key(self.read.classes.facets, order)
        if query.by_class:
            chosen = self.read.classes.facets.chosen(query)
            plain = key if key is not None else np.zeros(len(chosen), np.int64)
            found = PlacesByClass.of(self.read.classes, chosen, plain, self._positions)
            if key is not None:
                return found
            every = list_places(found.pieces(0, len(found)) if len(found) <= SORTED_RECORDS else ())
        else:
            every = self._among(query)
        assert key is not None or len(every) <= SORTED_RECORDS, "too many records to be sorted so"
        if order == ORDERS[0]:
            return every
        values = key[self.read.classes_of(every)] if key is not None else self.read.keys(every, order)
        place = np.argsort(values, kind="stable")
        return ListedPlaces(every.shard[place], every.position[place])

    def _among(self, query: Query) -> ListedPlaces:
        """Return the matching records of a document, or those that contain the words, in document order."""
        words = query.text.casefold().split()
        if query.having:
            return list_places(())
        if query.doc:
            try:
                shard, document = self.read.locate(query.doc)
            except KeyError:
                return list_places(())
            read, records = self.read.opened(shard)
            positions = np.arange(int(records.first[document]), int(records.first[document + 1]))
            if words and len(positions):
                positions = positions[records_holding(words, read, records, np.array([document], np.int64))[1]]
            every = list_places([(shard, positions)])
        else:
            hits = self._hits(query.text)
            every = ListedPlaces(hits.shard, hits.position)
        mask = self.read.classes.facets.chosen(query)[self.read.classes_of(every)]
        return ListedPlaces(every.shard[mask], every.position[mask])

    @cachedmethod(_ANSWERS, key=lambda self, text: ("words", *text.casefold().split()), lock=_LOCK)
    def _hits(self, text: str) -> Hits:
        return search(text.casefold().split(), len(self.read), self.read.opened)

    def _positions(self, shard: int, chosen: NDArray[np.bool_]) -> NDArray[Any]:
        return self._positions_of(shard, self.read.classes.of_shard(shard, chosen))

    @cachedmethod(_ANSWERS, key=lambda self, shard, own: ("positions", shard, own.tobytes()), lock=_LOCK)
    def _positions_of(self, shard: int, own: NDArray[np.bool_]) -> NDArray[Any]:
        return self.read.opened(shard)[1].of_classes(own)

    @cachedmethod(_ANSWERS, key=lambda self, *asked: ("documents", *asked), lock=_LOCK)
    def _by_document(self, query: Query, most: int | None) -> dict[str, int]:
        found = self.found(query)
        sums: dict[int, int] = {}
        for shard, positions in found.pieces(0, OFFERED_RECORDS):
            records = self.read.opened(shard)[1]
            docs = records.doc(positions)
            counts = np.bincount(docs - docs[0], records.weights(positions)).astype(np.int64)
            there = np.flatnonzero(counts)
            numbers = there + docs[0] + self.read.index.first[shard]
            sums |= dict(zip(numbers.tolist(), counts[there].tolist(), strict=True))
        if len(found) > OFFERED_RECORDS:
            # Of the last one not all records may have been seen.
            last = next(reversed(sums))
            shard = self.read.index.shard(last)
            records, inner = self.read.opened(shard)[1], last - int(self.read.index.first[shard])
            _, here = found.among(shard, int(records.first[inner]), int(records.first[inner + 1]))
            sums[last] = int(records.weights(here).sum())
        values = np.array(list(sums.values()), np.int64)
        if most is not None and len(values) > most:
            least = int(np.partition(values, len(values) - most)[len(values) - most])
            sums = {number: count for number, count in sums.items() if count >= least}
        named = [(-count, self.read.id(number)) for number, count in sums.items()]
        return {name: -count for count, name in sorted(named)[:most]}

    @cachedmethod(_ANSWERS, key=lambda self, text: ("ids", text), lock=_LOCK)
    def _holding(self, text: str) -> Int64:
        """Return the documents with records whose ids contain a text; of very many ids the first ones are searched."""
        found, size = [np.zeros(0, np.int64)], 0
        for shard in range(len(self.read)):
            documents = self.read.opened(shard)[0].documents
            some = np.intersect1d(ids_holding(text, documents), self.read.with_records(shard))
            found.append(some + self.read.index.first[shard])
            size += len(documents.ids.data)
            if size >= SEARCHED_BYTES // 16:
                break
        return np.concatenate(found)


__all__: Sequence[str] = ("FolderLedger",)
