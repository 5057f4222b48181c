"""The match records of a scored folder: counted by their classes, read shard by shard where they are looked at.

`FolderLedger` answers what `nereval_core.records.queries.Ledger` asks, as `MemoryLedger` does over the whole corpus.
What would need all records is answered for a part, and `said` says so: a search goes as far as its budget, documents
are offered from the first records only; and only short lists are sorted by text or length.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from nereval_core.arrays import Int64
from nereval_core.engine.browse.reading import Shards, ids_of, starts_of
from nereval_core.engine.browse.record_places import ByClass, Found, Listed, listed, sort_key
from nereval_core.engine.browse.search import BYTES, Hits, ids_holding, records_holding, search
from nereval_core.engine.browse.spans import Part, excerpt
from nereval_core.records.queries import ORDERS, Near, Query, Tallies, Total, narrowed
from nereval_core.scoring import Scores, Settings, score_layers

SORTED = 2_000
"""The longest list that is sorted by what only its records tell: text and length."""
OFFERED = 50_000
"""Documents are offered as a facet that are among the first so many records."""
PIECE = 50_000
_KEPT, _BYTES = 256, 1 << 26
"""How many answers are kept, and bytes of them: positions in shards, mostly."""

Answer = TypeVar("Answer")


@dataclass(frozen=True, eq=False)
class FolderLedger:
    """The match records of one system under one criterion, wherever they lie."""

    read: Shards
    _kept: OrderedDict[Any, Any] = field(default_factory=OrderedDict, repr=False)
    _lock: Any = field(default_factory=Lock, repr=False)

    @property
    def criterion(self) -> str:
        return self.read.rule.name

    @property
    def offered(self) -> tuple[str, ...]:
        return self.read.classes.cube.offered

    def total(self, query: Query) -> Total:
        if query.by_class:
            return self.read.classes.cube.total(query)
        found = self.found(query)
        assert isinstance(found, Listed)
        return Total(len(found), int(self.read.weights(found).sum()))

    def facet_counts(self, query: Query, facet: str, most: int | None = None) -> dict[str, int]:
        asked, cube = narrowed(query, facet, None), self.read.classes.cube
        if facet == "doc":
            return self._keep(("documents", asked, most), lambda: self._by_document(asked, most))
        weight = None
        if not asked.by_class:
            found = self.found(Query(doc=asked.doc, text=asked.text, having=asked.having))
            assert isinstance(found, Listed)
            size = len(cube.records)
            weight = np.bincount(self.read.classes_of(found), self.read.weights(found), minlength=size).astype(np.int64)
        counts = cube.facet_counts(asked, facet, weight)
        return dict(list(counts.items())[:most])

    def confusion(self) -> dict[tuple[str, str], int]:
        return self.read.classes.cube.confusion()

    def orders(self, query: Query) -> tuple[str, ...]:
        """Return the orders in which the records that match can be listed."""
        some = self.total(query).records <= SORTED
        return tuple(order for order in ORDERS if some or order not in ("text", "longest"))

    def said(self, query: Query) -> tuple[str, ...]:
        """Say in words what is less than it seems in the answers to a query."""
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
        if query.doc == "" and self.total(query).records > OFFERED:
            words.append(f"Documents are offered of the first {OFFERED:,} records; any other one by its id.")
        return tuple(words)

    def page(self, query: Query, order: str = ORDERS[0], first: int = 0, rows: int = 200) -> pd.DataFrame:
        return self.read.frame(list(self.found(query, order).pieces(first, first + rows)))

    def pieces(self, query: Query, order: str = ORDERS[0]) -> Iterator[pd.DataFrame]:
        found = self.found(query, order)
        for low in range(0, len(found), PIECE):
            yield self.read.frame(list(found.pieces(low, low + PIECE)))

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
        part = excerpt([Part(read.documents, read.gold, read.pred, np.array([document], np.int64))])
        return score_layers(part.gold, part.pred, settings)

    def found(self, query: Query, order: str = ORDERS[0]) -> Found:
        """Return where the records that match are, in an order that `orders` names."""
        made: Found = self._keep(("found", query, order), lambda: self._found(query, order))
        return made

    def _found(self, query: Query, order: str) -> Found:
        key = sort_key(self.read.classes.cube, order)
        if query.by_class:
            chosen = self.read.classes.cube.chosen(query)
            plain = key if key is not None else np.zeros(len(chosen), np.int64)
            found = ByClass.of(self.read.classes, chosen, plain, self._positions)
            if key is not None:
                return found
            every = listed(found.pieces(0, len(found)) if len(found) <= SORTED else ())
        else:
            every = self._among(query)
        assert key is not None or len(every) <= SORTED, "too many records to be sorted so"
        if order == ORDERS[0]:
            return every
        values = key[self.read.classes_of(every)] if key is not None else self.read.keys(every, order)
        place = np.argsort(values, kind="stable")
        return Listed(every.shard[place], every.position[place])

    def _among(self, query: Query) -> Listed:
        """Return the records of a document, or those that hold words, that match a query, in document order."""
        words = query.text.casefold().split()
        if query.having:
            return listed(())
        if query.doc:
            try:
                shard, document = self.read.locate(query.doc)
            except KeyError:
                return listed(())
            read, records = self.read.opened(shard)
            positions = np.arange(int(records.first[document]), int(records.first[document + 1]))
            if words and len(positions):
                positions = positions[records_holding(words, read, records, np.array([document], np.int64))[1]]
            every = listed([(shard, positions)])
        else:
            hits = self._hits(query.text)
            every = Listed(hits.shard, hits.position)
        mask = self.read.classes.cube.chosen(query)[self.read.classes_of(every)]
        return Listed(every.shard[mask], every.position[mask])

    def _hits(self, text: str) -> Hits:
        words = tuple(text.casefold().split())
        hits: Hits = self._keep(("words", words), lambda: search(words, len(self.read), self.read.opened))
        return hits

    def _positions(self, shard: int, chosen: NDArray[np.bool_]) -> NDArray[Any]:
        own = self.read.classes.of_shard(shard, chosen)
        found: NDArray[Any] = self._keep(
            ("positions", shard, own.tobytes()), lambda: self.read.opened(shard)[1].of_classes(own)
        )
        return found

    def _by_document(self, query: Query, most: int | None) -> dict[str, int]:
        found = self.found(query)
        sums: dict[int, int] = {}
        for shard, positions in found.pieces(0, OFFERED):
            records = self.read.opened(shard)[1]
            docs = records.doc(positions)
            counts = np.bincount(docs - docs[0], records.weights(positions)).astype(np.int64)
            there = np.flatnonzero(counts)
            numbers = there + docs[0] + self.read.index.first[shard]
            sums |= dict(zip(numbers.tolist(), counts[there].tolist(), strict=True))
        if len(found) > OFFERED:
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

    def _holding(self, text: str) -> Int64:
        """Return the documents with records whose ids hold a text; of very many ids the first ones are looked at."""

        def look() -> Int64:
            found, size = [np.zeros(0, np.int64)], 0
            for shard in range(len(self.read)):
                documents = self.read.opened(shard)[0].documents
                some = np.intersect1d(ids_holding(text, documents), self.read.with_records(shard))
                found.append(some + self.read.index.first[shard])
                size += len(documents.ids.data)
                if size >= BYTES // 16:
                    break
            return np.concatenate(found)

        made: Int64 = self._keep(("ids", text), look)
        return made

    def _keep(self, key: Any, make: Callable[[], Answer]) -> Answer:
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                kept: Answer = self._kept[key]
                return kept
        made = make()
        with self._lock:
            self._kept[key] = made
            while len(self._kept) > _KEPT or (len(self._kept) > 1 and sum(map(_bytes, self._kept.values())) > _BYTES):
                self._kept.popitem(last=False)
        return made


def _bytes(answer: Any) -> int:
    """Return the bytes of an answer's arrays."""
    if isinstance(answer, np.ndarray):
        return answer.nbytes
    if isinstance(answer, Listed | Hits):
        return answer.shard.nbytes + answer.position.nbytes
    return answer.ends.nbytes if isinstance(answer, ByClass) else 0


__all__: Sequence[str] = ("FolderLedger",)
