"""The match records of a corpus in memory, as columns of numbers: counted by class, turned into text page by page.

`MemoryLedger` implements `nereval_core.records.queries.Ledger`; its answers equal filtering the frame of
`tables.records`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from operator import attrgetter
from threading import Lock
from typing import Any, Literal
from weakref import WeakKeyDictionary

import numpy as np
import pandas as pd
from cachetools import LRUCache, cachedmethod
from numpy.typing import NDArray

from nereval_core.analysis.slices.decades_and_noise import NOISE, UNDATED, UNKNOWN, document_decades, span_noise
from nereval_core.arrays import Int32, Int64
from nereval_core.corpus import SPAN_KEYS, Documents, Intervals, Layer, frozen
from nereval_core.corpus.subset import select_documents, select_spans
from nereval_core.ledger.attributes import find_attribute
from nereval_core.ledger.attributes.verdicts import VERDICT_ATTRIBUTES
from nereval_core.ledger.facet_counts import FacetCounts
from nereval_core.records.queries import (
    ABSENT,
    FIELDS,
    MANY_WORDS,
    NO_GOLD,
    ORDERS,
    Near,
    Query,
    Tallies,
    Total,
    narrowed,
    word_class,
)
from nereval_core.records.reasons import BOUNDARIES, boundaries
from nereval_core.records.tables import DECISIONS, Rows, frame, record_ids, rows
from nereval_core.records.text_search import sought_in, sought_in_ids, words_of
from nereval_core.review.attribute import Attribute, Others, Records
from nereval_core.review.standing_verdicts import Moment
from nereval_core.scoring import Counts, Scores, Settings, score_layers

PIECE_RECORDS = 50_000
"""Records that are turned into text at once where all records of a query are wanted."""
ANSWERS_KEPT = 6
"""Answers (positions of a query, an order, the records with a word) kept for the next run of a page."""
_ANSWERS, _LOCK = attrgetter("_answers"), attrgetter("_lock")
_DECADES: WeakKeyDictionary[Documents, tuple[tuple[str, ...], Int32]] = WeakKeyDictionary()
_NOISE: WeakKeyDictionary[Layer, NDArray[np.int8]] = WeakKeyDictionary()


Classes = tuple[FacetCounts, NDArray[Any]]
"""Records counted by class, and the class of each."""


@dataclass(frozen=True, eq=False)
class MemoryLedger:
    """The records under one criterion: `rows` in document order, `facets` by class, `of_record` the class of each.

    `read` are the layers as they were read, before type rules; `others` gives attributes the scores they need. Classes
    by all facets are counted when one of FIELDS is asked for: most pages ask for decisions and types only.
    """

    read: tuple[Layer, Layer]
    scores: Scores
    criterion: str
    rows: Rows
    others: Others | None = None
    _attributes: dict[str, tuple[Moment | None, Attribute]] = field(default_factory=dict, repr=False)
    _answers: LRUCache[Any, Any] = field(default_factory=lambda: LRUCache(ANSWERS_KEPT), repr=False)
    _lock: Any = field(default_factory=Lock, repr=False)

    @property
    def facets(self) -> FacetCounts:
        return self._by_all[0]

    @property
    def of_record(self) -> NDArray[Any]:
        return self._by_all[1]

    @cached_property
    def _by_all(self) -> Classes:
        return self._classes(FIELDS)

    @cached_property
    def _by_sides(self) -> Classes:
        return self._classes(())

    def _for(self, query: Query, facet: str = "") -> Classes:
        """Return the classes needed to match a query and to count a facet: all facets or the two sides only."""
        return self._by_all if facet in FIELDS or any(getattr(query, field) for field in FIELDS) else self._by_sides

    def _classes(self, more: Collection[str]) -> Classes:
        """Count by decision, types and the facets of `more`; the other facets have no values."""
        rows = self.rows
        gold, pred = self.scores.layers(self.criterion)
        names: dict[str, tuple[str, ...]] = {"decision": DECISIONS, **dict.fromkeys(FIELDS, ())}
        codes: dict[str, NDArray[Any]] = {"decision": rows.decision}
        for facet, layer, spans in (("gold", gold, rows.gold), ("pred", pred, rows.pred)):
            names[facet] = (*layer.types, ABSENT)
            codes[facet] = np.append(layer.type, np.array(len(layer.types), layer.type.dtype))[spans]
        for facet in more:
            names[facet], codes[facet] = _FACETS[facet](gold, pred, rows)
        return FacetCounts.of(names, codes, rows.weight)

    @property
    def counts_all_documents(self) -> bool:
        return True

    @property
    def offered(self) -> tuple[str, ...]:
        return self.facets.offered

    @cached_property
    def by_document(self) -> Int64:
        """Index of each document's first record, shape (documents + 1,)."""
        return np.searchsorted(self.rows.doc, np.arange(len(self._documents) + 1)).astype(np.int64)

    def total(self, query: Query) -> Total:
        if query.by_class:
            return self._for(query)[0].total(query)
        found = self.positions(query)
        return Total(len(found), int(self.rows.weight[found].sum()))

    def facet_counts(self, query: Query, facet: str, most: int | None = None) -> dict[str, int]:
        asked = narrowed(query, facet, None)
        if facet == "doc":
            return self._by_document(asked, most)
        facets, of_record = self._for(asked, facet)
        weight = None
        if not asked.by_class:
            found = self.positions(Query(doc=asked.doc, text=asked.text, having=asked.having))
            size = len(facets.records)
            weight = np.bincount(of_record[found], self.rows.weight[found], minlength=size).astype(np.int64)
        counts = facets.facet_counts(asked, facet, weight)
        return dict(list(counts.items())[:most]) if most is not None else counts

    def confusion(self) -> dict[tuple[str, str], int]:
        return self._by_sides[0].confusion()

    def page(self, query: Query, order: str = ORDERS[0], first: int = 0, rows: int = 200) -> pd.DataFrame:
        return self.frame(self.positions(query, order)[first : first + rows])

    def pieces(self, query: Query, order: str = ORDERS[0]) -> Iterator[pd.DataFrame]:
        found = self.positions(query, order)
        for low in range(0, len(found), PIECE_RECORDS):
            yield self.frame(found[low : low + PIECE_RECORDS])

    def spans(self, query: Query, side: Literal["gold", "pred"]) -> Layer:
        """Return the spans of one side in the matching records, over the documents of these records.

        Their types are those that were scored.
        """
        found = self.rows.take(self.positions(query))
        layer = self.scores.layers(self.criterion)[side == "pred"]
        numbers = getattr(found, side)
        some = layer.take(np.unique(numbers[numbers >= 0]))
        documents = np.unique(found.doc).astype(np.int64)
        return select_spans(some, documents, select_documents(layer.documents, documents))

    def frame(self, positions: NDArray[Any]) -> pd.DataFrame:
        """Return the records at some positions with the columns of RECORD_COLUMNS, indexed by position."""
        return frame(self.scores, self.criterion, self.rows.take(positions)).set_index(pd.Index(positions))

    def positions(self, query: Query, order: str = ORDERS[0]) -> Int32:
        """Return the positions of the matching records in document order, sorted by `order`."""
        if any(self.attribute(name) is None for name, _ in query.having):
            # What is not known of records now may be later, of columns that somebody is yet to give.
            return frozen(np.zeros(0, np.int32))
        return self._positions(query, order, tuple(self._moment(name) for name, _ in query.having))

    def first(self, query: Query) -> tuple[str, str] | None:
        found = self.positions(query)[:1]
        return self._names(found)[0] if len(found) else None

    def near(self, query: Query, doc: str, record: str = "", start: int = -1, around: int = 60) -> Near:
        found = self.positions(query)
        document = self._documents.index[doc]
        edges = self.by_document[document : document + 2]
        low, high = np.searchsorted(found, edges).tolist()
        here = found[low:high]
        same = [place for place, (_, name) in enumerate(self._names(here)) if name == record]
        place: float = low + (same[0] if same else int(np.searchsorted(self._starts(here), start)) - 0.5)
        begin = max(0, int(place) - around)
        queue = self._names(found[begin : int(place) + around + 1])
        return Near(queue, place - begin, int(place) + 1 if same else 0)

    def position(self, doc: str, record: str) -> int | None:
        """Return the position of a record in document order, None where there is none with that id."""
        document = self._documents.index[doc]
        low, high = self.by_document[document : document + 2].tolist()
        names = [name for _, name in self._names(np.arange(low, high))]
        return low + names.index(record) if record in names else None

    def name(self, position: int) -> tuple[str, str]:
        """Return document and record id of the record at a position."""
        return self._names(np.array([position]))[0]

    def documents(self, text: str = "", first: int = 0, rows: int = 200) -> Tallies:
        table = self._tallies
        some = np.flatnonzero(table.any(axis=(1, 2)))
        if text:
            some = some[sought_in_ids(self._documents).holding(text)[some]]
        ids = self._documents.ids
        counts = {
            ids[number]: Counts(*map(tuple, table[number].tolist())) for number in some[first : first + rows].tolist()
        }
        return Tallies(counts, len(some))

    @cached_property
    def _tallies(self) -> Int64:
        """Count by document, side (gold, prediction) and decision, shape (documents, 2, decisions)."""
        width = len(DECISIONS)
        sides = []
        for spans in (self.rows.gold, self.rows.pred):
            there = (spans >= 0) & ((self.rows.side == 0) | (self.rows.anchored == (spans is self.rows.gold)))
            key = self.rows.doc[there].astype(np.int64) * width + self.rows.decision[there]
            sums = np.bincount(key, self.rows.weight[there], minlength=width * len(self._documents))
            sides.append(sums.astype(np.int64).reshape(-1, width))
        return frozen(np.stack(sides, axis=1))

    def attribute(self, name: str) -> Attribute | None:
        """Return the values of an attribute by record, None where there is no such attribute."""
        now = self._moment(name)
        kept = self._attributes.get(name)
        if kept is None or kept[0] != now:
            found = find_attribute(self.about, name)
            if found is None:
                return None
            kept = self._attributes[name] = (now, found)
        return kept[1]

    @property
    def about(self) -> Records:
        """The records with everything that attributes are computed from."""
        return Records(self.scores, self.criterion, self.rows, self.read, self.others)

    def _moment(self, name: str) -> Moment | None:
        """Return the version of an attribute's values: the moment of the verdicts where they depend on verdicts."""
        return self.others.reviewed.moment if self.others is not None and name in VERDICT_ATTRIBUTES else None

    def having_counts(self, query: Query, name: str) -> dict[str, int]:
        """Return the number of matching records for each value of an attribute.

        Empty where there is no such attribute; values without records are there with 0.
        """
        known = self.attribute(name)
        if known is None:
            return {}
        rest = tuple(pair for pair in query.having if pair[0] != name)
        found = self.positions(replace(query, having=rest))
        return Attribute(known.codes[found], known.names).counts()

    def orders(self, query: Query) -> tuple[str, ...]:
        return ORDERS

    def said(self, query: Query) -> tuple[str, ...]:
        return ()

    def document(self, doc: str, settings: Settings) -> Scores:
        number = self._documents.index[doc]
        gold, pred = (single_document(layer, number) for layer in self.read)
        return score_layers(gold, replace(pred, documents=gold.documents), settings)

    @property
    def _documents(self) -> Documents:
        return self.scores.layers(self.criterion)[0].documents

    @cachedmethod(_ANSWERS, key=lambda self, *asked: ("positions", *asked), lock=_LOCK)
    def _positions(self, query: Query, order: str, moments: tuple[int, ...]) -> Int32:
        low, high = 0, len(self.rows)
        if query.doc:
            number = self._documents.index.get(query.doc)
            low, high = (0, 0) if number is None else self.by_document[number : number + 2].tolist()
        facets, of_record = self._for(query)
        mask = facets.chosen(query)[of_record[low:high]] if low < high else np.zeros(0, bool)
        for word in query.text.casefold().split():
            mask &= self._holding(word)[low:high]
        for name, value in query.having:
            known = self.attribute(name)
            assert known is not None, "there are no positions by what is not known"
            mask &= known.mask(value)[low:high]
        if order == ORDERS[0]:
            return frozen((np.flatnonzero(mask) + low).astype(np.int32))
        # The whole order is made once; what matches is picked out of it.
        every = self._order(order)
        if low or high < len(self.rows):
            inside = (every >= low) & (every < high)
            every = every[inside]
        return frozen(every[mask[every - low]])

    @cachedmethod(_ANSWERS, key=lambda self, order: ("order", order), lock=_LOCK)
    def _order(self, order: str) -> Int32:
        facets, of_record = self._by_sides
        codes, names = facets.codes, facets.names
        key: NDArray[Any]
        if order == "text":
            sides = [sought_in(layer) for layer in self.scores.layers(self.criterion)]
            key = _ranks(sides[0], sides[1], self.rows)
        elif order == "longest":
            key = -self._lengths()
        elif order == "decision":
            key = codes["decision"][of_record]
        else:
            one, two = ("gold", "pred") if order == "gold" else ("pred", "gold")
            by_class = codes[one].astype(np.int64) * len(names[two]) + codes[two]
            key = np.unique(by_class, return_inverse=True)[1][of_record]
        # A key of 16 bits is sorted by its digits, many times as fast.
        small = np.min_scalar_type(int(key.max(initial=0) - key.min(initial=0)))
        return np.argsort((key - key.min(initial=0)).astype(small), kind="stable").astype(np.int32)

    def _lengths(self) -> Int64:
        """Return the characters of each record's anchor."""
        columns = []
        for layer in self.scores.layers(self.criterion):
            length = (layer.end - layer.start).astype(np.int64)
            for span, parts in layer.fragments.items():
                length[span] = sum(high - low for low, high in parts) + len(parts) - 1
            columns.append(length)
        return self.rows.of_spans(columns[0], columns[1])

    def _starts(self, positions: NDArray[Any]) -> NDArray[Any]:
        gold, pred = self.scores.layers(self.criterion)
        return self.rows.take(positions).of_spans(gold.start, pred.start)

    @cachedmethod(_ANSWERS, key=lambda self, word: ("word", word), lock=_LOCK)
    def _holding(self, word: str) -> NDArray[np.bool_]:
        mask = sought_in_ids(self._documents).holding(word)[self.rows.doc]
        for layer, spans in zip(self.scores.layers(self.criterion), (self.rows.gold, self.rows.pred), strict=True):
            # The last one is that of index -1, no span.
            mask |= np.append(sought_in(layer).holding(word), False)[spans]
        return mask

    def _by_document(self, query: Query, most: int | None) -> dict[str, int]:
        found = self.positions(query)
        weight = self.rows.weight[found] if self._weighs else None
        sums = np.bincount(self.rows.doc[found], weight, minlength=len(self._documents)).astype(np.int64)
        there = np.flatnonzero(sums)
        if most is not None and len(there) > most:
            least = np.partition(sums[there], len(there) - most)[len(there) - most]
            there = there[sums[there] >= least]
        ranked = there[np.lexsort((self._id_ranks[there], -sums[there]))][:most]
        ids = self._documents.ids
        return {ids[number]: count for number, count in zip(ranked.tolist(), sums[ranked].tolist(), strict=True)}

    @cached_property
    def _weighs(self) -> bool:
        """Whether a record may count as more than one."""
        return bool((self.rows.weight != 1).any())

    @cached_property
    def _id_ranks(self) -> Int64:
        """The rank of each document's id."""
        ids = self._documents.ids
        ranks = np.empty(len(ids), np.int64)
        ranks[sorted(range(len(ids)), key=ids.__getitem__)] = np.arange(len(ids))
        return frozen(ranks)

    def _names(self, positions: NDArray[Any]) -> list[tuple[str, str]]:
        """Return document and record id of the records at some positions."""
        gold, pred = self.scores.layers(self.criterion)
        some = self.rows.take(positions)
        ids = np.empty(len(some), object)
        ids[some.anchored] = record_ids(gold, "g", some.gold[some.anchored])
        ids[~some.anchored] = record_ids(pred, "p", some.pred[~some.anchored])
        documents = self._documents.ids
        return [(documents[doc], record) for doc, record in zip(some.doc.tolist(), ids.tolist(), strict=True)]


def ledger(scores: Scores, name: str, read: tuple[Layer, Layer], others: Others | None = None) -> MemoryLedger:
    """Return the match records under a criterion; `read` are the layers as they were read."""
    return MemoryLedger(read, scores, name, rows(scores, name), others)


def single_document(layer: Layer, number: int) -> Layer:
    """Return the layer of one document alone, numbered 0; its spans keep their order.

    Its arrays are copies: a document that is kept does not keep the whole corpus, and its file, in memory.
    """
    documents = layer.documents
    low, high = layer.first[number : number + 2].tolist()
    meta = None if documents.meta is None else (documents.meta[number],)
    tokens, sentences = (of and _intervals_of(of, number) for of in (documents.tokens, documents.sentences))
    one = Documents((documents.ids[number],), (documents.texts[number],), tokens, sentences, meta, documents.named)
    extras: dict[str, Any] = {}
    for key in SPAN_KEYS:
        known = getattr(layer, key)
        extras[key] = {span - low: known[span] for span in range(low, high) if span in known} if known else {}
    return Layer(
        layer.name,
        one,
        np.zeros(high - low, np.int32),
        layer.start[low:high].copy(),
        layer.end[low:high].copy(),
        layer.type[low:high].copy(),
        layer.types,
        None if layer.order is None else layer.order[low:high].copy(),
        **extras,
    )


def _intervals_of(every: Intervals, number: int) -> Intervals:
    one = every.between(number, number + 1)
    return Intervals(one.first, frozen(one.starts.copy()), frozen(one.ends.copy()))


Coded = tuple[tuple[str, ...], NDArray[Any]]
"""The values of a facet, none where it is unknown, and the index of each record's value."""


def _boundary(gold: Layer, pred: Layer, found: Rows) -> Coded:
    return BOUNDARIES, boundaries(gold, pred, found.gold, found.pred)


def _words(gold: Layer, pred: Layer, found: Rows) -> Coded:
    names = tuple(word_class(number) for number in range(1, MANY_WORDS + 1))
    return names, found.of_spans(words_of(gold), words_of(pred)) - 1


def _period(gold: Layer, pred: Layer, found: Rows) -> Coded:
    names, decade = _decades(gold.documents)
    return names, decade[found.doc]


def _noise(gold: Layer, pred: Layer, found: Rows) -> Coded:
    noise = _noise_of(gold)
    known = bool((noise != NOISE.index(UNKNOWN)).any())
    return (*NOISE, NO_GOLD) if known else (), np.append(noise, len(NOISE)).astype(np.int8)[found.gold]


_FACETS: Mapping[str, Callable[[Layer, Layer, Rows], Coded]] = {
    "boundary": _boundary,
    "words": _words,
    "period": _period,
    "noise": _noise,
}


def _ranks(gold: Any, pred: Any, found: Rows) -> Int64:
    """Return the rank of each record's anchor text among the texts of both sides."""
    both = type(gold)(
        np.concatenate((gold.data, pred.data)), np.concatenate((gold.offsets, pred.offsets[1:] + gold.offsets[-1]))
    ).ranks()
    return found.of_spans(both[: len(gold.offsets) - 1], both[len(gold.offsets) - 1 :])


def _decades(documents: Documents) -> tuple[tuple[str, ...], Int32]:
    """Return the decades of documents in order, none where no date is known, and the index of each document's."""
    if documents not in _DECADES:
        if documents.meta is None:
            _DECADES[documents] = ((), frozen(np.zeros(len(documents), np.int32)))
        else:
            found = document_decades(documents)
            names = tuple(sorted(set(found), key=lambda name: (name == UNDATED, name)))
            number = {name: code for code, name in enumerate(names)}
            codes = np.fromiter((number[name] for name in found), np.int32, len(found))
            _DECADES[documents] = (() if set(names) <= {UNDATED} else names, frozen(codes))
    return _DECADES[documents]


def _noise_of(layer: Layer) -> NDArray[np.int8]:
    if layer not in _NOISE:
        _NOISE[layer] = span_noise(layer)
    return _NOISE[layer]


__all__: Sequence[str] = ("MemoryLedger", "ledger", "single_document")
