"""The match records of a corpus in memory: one part, whose classes are counted when they are needed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from operator import attrgetter
from threading import Lock
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from cachetools import LRUCache, cachedmethod
from numpy.typing import NDArray

from nereval_core.analysis.slices.decades_and_noise import NOISE, UNDATED, UNKNOWN, document_decades, span_noise
from nereval_core.corpus import Documents, Layer
from nereval_core.corpus.arrays import Bools, Int32, Int64, edges_of, frozen
from nereval_core.corpus.subset import single_document
from nereval_core.ledger.facet_counts import FacetCounts
from nereval_core.ledger.record_places import ListedPlaces, PartClasses, RecordClasses, list_places
from nereval_core.ledger.record_sources import Hits, LayerColumns, Limits, RecordPart
from nereval_core.records.match_records import Rows
from nereval_core.records.queries import ABSENT, FIELDS, MANY_WORDS, NO_GOLD, word_class
from nereval_core.records.reasons import BOUNDARIES, boundaries
from nereval_core.records.tables import DECISIONS
from nereval_core.records.text_search import Sought, having_term, ids_having_term, sought_in, words_of
from nereval_core.review.attribute import Records
from nereval_core.scoring.criteria import Criterion

WORDS_CACHED = 6
"""Words, and orders of all records, that are cached for the next run of a page."""
_SEARCHES, _LOCK = attrgetter("_searches"), attrgetter("_lock")
_DECADES: WeakKeyDictionary[Documents, tuple[tuple[str, ...], Int32]] = WeakKeyDictionary()
_NOISE: WeakKeyDictionary[Layer, NDArray[np.int8]] = WeakKeyDictionary()


@dataclass(frozen=True, eq=False)
class CorpusRecords:
    """The records of one system under one criterion, in memory: a `RecordSource` of one part.

    Classes by all facets are counted when one of FIELDS is needed: most pages ask for decisions and types only.
    """

    about: Records
    _searches: LRUCache[Any, Any] = field(default_factory=lambda: LRUCache(WORDS_CACHED), repr=False)
    _lock: Any = field(default_factory=Lock, repr=False)

    @property
    def rule(self) -> Criterion:
        return self.about.scores.criterion(self.about.criterion)

    @property
    def each_side(self) -> bool:
        return self.about.scores.settings.counting == "each-side"

    @property
    def limits(self) -> Limits:
        return Limits()

    @property
    def first_document(self) -> Int64:
        return np.array([0, len(self._documents)])

    def part(self, number: int) -> RecordPart:
        return self._part

    def classes(self, by_field: bool) -> RecordClasses:
        return (self._by_field if by_field else self._by_sides)[0]

    def locate(self, doc: str) -> tuple[int, int]:
        return 0, self._documents.index[doc]

    def search(self, words: Sequence[str]) -> Hits:
        has_all = np.ones(len(self.about.rows), bool)
        for word in words:
            has_all &= self._has_word(word)
        return Hits(list_places([(0, np.flatnonzero(has_all).astype(np.int32))]), len(self._documents))

    def sort(self, places: ListedPlaces, order: str) -> ListedPlaces:
        # The whole order is made once; what matches is picked out of it.
        is_listed = np.zeros(len(self.about.rows), bool)
        is_listed[places.position] = True
        in_order = self._order(order)
        return ListedPlaces(places.part, in_order[is_listed[in_order]])

    def rank_ids(self, documents: Int64) -> NDArray[Any]:
        return self._id_ranks[documents]

    def read_document(self, part: int, document: int) -> tuple[Layer, Layer]:
        gold, pred = (single_document(layer, document) for layer in self.about.read)
        return gold, replace(pred, documents=gold.documents)

    @property
    def _documents(self) -> Documents:
        return self._layers[0].documents

    @cached_property
    def _layers(self) -> tuple[Layer, Layer]:
        return self.about.scores.layers(self.about.criterion)

    @cached_property
    def _part(self) -> RecordPart:
        rows, (gold, pred) = self.about.rows, self._layers
        n_records = np.bincount(rows.doc, minlength=len(self._documents))
        first = edges_of(n_records)
        anchored = None if np.array_equal(rows.anchored, rows.gold >= 0) else rows.anchored
        weight = rows.weight if (rows.weight != 1).any() else None
        sides = LayerColumns.of(gold), LayerColumns.of(pred)
        return RecordPart(self._documents, sides, rows.gold, rows.pred, first, anchored, weight, rows.doc)

    @cached_property
    def _by_field(self) -> tuple[RecordClasses, PartClasses]:
        return self._count(FIELDS)

    @cached_property
    def _by_sides(self) -> tuple[RecordClasses, PartClasses]:
        return self._count(())

    def _count(self, fields: Collection[str]) -> tuple[RecordClasses, PartClasses]:
        """Count by decision, types and some of FIELDS; the others have no values.

        The classes of the part are returned too, so that they are measured with all else that is held.
        """
        rows, (gold, pred) = self.about.rows, self._layers
        names: dict[str, tuple[str, ...]] = {"decision": DECISIONS, **dict.fromkeys(FIELDS, ())}
        codes: dict[str, NDArray[Any]] = {"decision": rows.decision}
        for facet, layer, spans in (("gold", gold, rows.gold), ("pred", pred, rows.pred)):
            names[facet] = (*layer.types, ABSENT)
            codes[facet] = np.append(layer.type, np.array(len(layer.types), layer.type.dtype))[spans]
        for facet in fields:
            names[facet], codes[facet] = _FACETS[facet](gold, pred, rows)
        facets, of_record = FacetCounts.of(names, codes, rows.weight)
        in_part = PartClasses(of_record, facets.records)
        n_classes, n_documents = len(facets.records), len(self._part.with_records)
        first, documents, n_gold, n_pred = (
            np.array([0, total]) for total in (n_classes, n_documents, len(gold), len(pred))
        )
        of_row = np.arange(n_classes, dtype=np.int32)
        classes = RecordClasses(facets, first, of_row, facets.records, documents, n_gold, n_pred, lambda _: in_part)
        return classes, in_part

    @cachedmethod(_SEARCHES, key=lambda self, word: ("word", word), lock=_LOCK)
    def _has_word(self, word: str) -> Bools:
        rows = self.about.rows
        has_word = ids_having_term(self._documents, word)[rows.doc]
        for layer, spans in zip(self._layers, (rows.gold, rows.pred), strict=True):
            # The last one is that of index -1, no span.
            has_word |= np.append(having_term(layer, word), False)[spans]
        return has_word

    @cachedmethod(_SEARCHES, key=lambda self, order: ("order", order), lock=_LOCK)
    def _order(self, order: str) -> Int32:
        if order == "text":
            gold, pred = map(sought_in, self._layers)
            key = _text_ranks(gold, pred, self.about.rows)
        else:
            key = -self.about.rows.of_spans(*map(_lengths, self._layers))
        # Numbers of 16 bits are sorted by their digits, many times as fast.
        least, most = int(key.min(initial=0)), int(key.max(initial=0))
        return np.argsort((key - least).astype(np.min_scalar_type(most - least)), kind="stable").astype(np.int32)

    @cached_property
    def _id_ranks(self) -> Int64:
        """The rank of each document's id."""
        ids = self._documents.ids
        ranks = np.empty(len(ids), np.int64)
        ranks[sorted(range(len(ids)), key=ids.__getitem__)] = np.arange(len(ids))
        return frozen(ranks)


Coded = tuple[tuple[str, ...], NDArray[Any]]
"""The values of a facet, none where it is unknown, and the index of each record's value."""


def _boundary(gold: Layer, pred: Layer, rows: Rows) -> Coded:
    return BOUNDARIES, boundaries(gold, pred, rows.gold, rows.pred)


def _words(gold: Layer, pred: Layer, rows: Rows) -> Coded:
    names = tuple(word_class(number) for number in range(1, MANY_WORDS + 1))
    return names, rows.of_spans(words_of(gold), words_of(pred)) - 1


def _period(gold: Layer, pred: Layer, rows: Rows) -> Coded:
    names, decade = _decades(gold.documents)
    return names, decade[rows.doc]


def _noise(gold: Layer, pred: Layer, rows: Rows) -> Coded:
    if gold not in _NOISE:
        _NOISE[gold] = span_noise(gold)
    noise = _NOISE[gold]
    is_known = bool((noise != NOISE.index(UNKNOWN)).any())
    return (*NOISE, NO_GOLD) if is_known else (), np.append(noise, len(NOISE)).astype(np.int8)[rows.gold]


_FACETS: Mapping[str, Callable[[Layer, Layer, Rows], Coded]] = {
    "boundary": _boundary,
    "words": _words,
    "period": _period,
    "noise": _noise,
}


def _decades(documents: Documents) -> tuple[tuple[str, ...], Int32]:
    """Return the decades of documents in order, none where no date is known, and the index of each document's."""
    if documents not in _DECADES:
        if documents.meta is None:
            _DECADES[documents] = ((), frozen(np.zeros(len(documents), np.int32)))
        else:
            decades = document_decades(documents)
            names = tuple(sorted(set(decades), key=lambda name: (name == UNDATED, name)))
            code = {name: number for number, name in enumerate(names)}
            codes = np.fromiter((code[name] for name in decades), np.int32, len(decades))
            _DECADES[documents] = (() if set(names) <= {UNDATED} else names, frozen(codes))
    return _DECADES[documents]


def _text_ranks(gold: Sought, pred: Sought, rows: Rows) -> Int64:
    """Return the rank of each record's anchor text among the texts of both sides."""
    offsets = np.concatenate((gold.offsets, pred.offsets[1:] + gold.offsets[-1]))
    ranks = Sought(np.concatenate((gold.data, pred.data)), offsets).ranks()
    n_gold = len(gold.offsets) - 1
    return rows.of_spans(ranks[:n_gold], ranks[n_gold:])


def _lengths(layer: Layer) -> Int64:
    """Return the characters of each span, fragments being joined by a blank."""
    lengths = (layer.end - layer.start).astype(np.int64)
    for span, parts in layer.fragments.items():
        lengths[span] = sum(high - low for low, high in parts) + len(parts) - 1
    return lengths
