"""The match records of a corpus in memory, as columns of numbers: counted by class, made into text page by page.

`MemoryLedger` answers what `nereval_core.records.queries.Ledger` asks, equal to filtering the frame of
`tables.records`.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from threading import Lock
from typing import Any, Literal
from weakref import WeakKeyDictionary

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from nereval_core.analysis.periods import UNDATED, decades_of
from nereval_core.analysis.slices.hipe_slices import NOISE, UNKNOWN, noise_of
from nereval_core.arrays import Int32, Int64
from nereval_core.corpus import SPAN_KEYS, Documents, Intervals, Layer, frozen
from nereval_core.corpus.subset import documents_of, layer_of
from nereval_core.ledger.attributes import find
from nereval_core.ledger.attributes.verdicts import CHANGING
from nereval_core.ledger.facet_counts import Cube
from nereval_core.records.attribute import Attribute, Others, Records
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
from nereval_core.records.tables import BOUNDARIES, DECISIONS, Rows, boundaries, frame, record_ids, rows
from nereval_core.records.text_search import sought_in, sought_in_ids, words_of
from nereval_core.scoring import Counts, Scores, Settings, score_layers

PIECE = 50_000
"""Records that are made into text at once where all of a query are wanted."""
_KEPT = 6
"""How many queries' positions and words' hits are kept: the next run of a page asks for the same."""
_DECADES: WeakKeyDictionary[Documents, tuple[tuple[str, ...], Int32]] = WeakKeyDictionary()
_NOISE: WeakKeyDictionary[Layer, NDArray[np.int8]] = WeakKeyDictionary()


Classes = tuple[Cube, NDArray[Any]]
"""Records counted by class, and the class of each."""


@dataclass(frozen=True, eq=False)
class MemoryLedger:
    """The records under one criterion: `rows` in document order, `cube` by class, `of_record` the class of each.

    `read` are the layers as they were read, before type rules; `others` gives attributes the scores they need. Classes
    by all facets are made when one of FIELDS is asked for: most pages ask for decisions and types alone.
    """

    read: tuple[Layer, Layer]
    scores: Scores
    criterion: str
    rows: Rows
    others: Others | None = None
    _attributes: dict[str, tuple[int, Attribute]] = field(default_factory=dict, repr=False)
    _kept: OrderedDict[Any, Any] = field(default_factory=OrderedDict, repr=False)
    _lock: Any = field(default_factory=Lock, repr=False)

    @property
    def cube(self) -> Cube:
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
        """Return the classes that tell which records match a query, and that a facet is counted by."""
        return self._by_all if facet in FIELDS or any(getattr(query, field) for field in FIELDS) else self._by_sides

    def _classes(self, more: Collection[str]) -> Classes:
        """Count by decision, types and the facets of `more`, of which the others are as though nothing were known."""
        rows = self.rows
        gold, pred = self.scores.layers(self.criterion)
        names: dict[str, tuple[str, ...]] = {"decision": DECISIONS, **dict.fromkeys(FIELDS, ())}
        codes: dict[str, NDArray[Any]] = {"decision": rows.decision}
        for facet, layer, spans in (("gold", gold, rows.gold), ("pred", pred, rows.pred)):
            names[facet] = (*layer.types, ABSENT)
            codes[facet] = np.append(layer.type, np.array(len(layer.types), layer.type.dtype))[spans]
        for facet in more:
            names[facet], codes[facet] = _FACETS[facet](gold, pred, rows)
        return Cube.of(names, codes, rows.weight)

    @property
    def offered(self) -> tuple[str, ...]:
        return self.cube.offered

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
        cube, of_record = self._for(asked, facet)
        weight = None
        if not asked.by_class:
            found = self.positions(Query(doc=asked.doc, text=asked.text, having=asked.having))
            size = len(cube.records)
            weight = np.bincount(of_record[found], self.rows.weight[found], minlength=size).astype(np.int64)
        counts = cube.facet_counts(asked, facet, weight)
        return dict(list(counts.items())[:most]) if most is not None else counts

    def confusion(self) -> dict[tuple[str, str], int]:
        return self._by_sides[0].confusion()

    def page(self, query: Query, order: str = ORDERS[0], first: int = 0, rows: int = 200) -> pd.DataFrame:
        return self.frame(self.positions(query, order)[first : first + rows])

    def pieces(self, query: Query, order: str = ORDERS[0]) -> Iterator[pd.DataFrame]:
        found = self.positions(query, order)
        for low in range(0, len(found), PIECE):
            yield self.frame(found[low : low + PIECE])

    def spans(self, query: Query, side: Literal["gold", "pred"]) -> Layer:
        """Return the spans of one side in the records that match, over the documents that these records lie in.

        Their types are those that were scored.
        """
        found = self.rows.take(self.positions(query))
        layer = self.scores.layers(self.criterion)[side == "pred"]
        numbers = getattr(found, side)
        some = layer.take(np.unique(numbers[numbers >= 0]))
        documents = np.unique(found.doc).astype(np.int64)
        return layer_of(some, documents, documents_of(layer.documents, documents))

    def frame(self, positions: NDArray[Any]) -> pd.DataFrame:
        """Return the records at some positions with the columns of RECORD_COLUMNS, indexed by position."""
        return frame(self.scores, self.criterion, self.rows.take(positions)).set_index(pd.Index(positions))

    def positions(self, query: Query, order: str = ORDERS[0]) -> Int32:
        """Return where the records that match stand in document order, sorted as asked."""
        if any(self.attribute(name) is None for name, _ in query.having):
            # What is not known of records now may be later, of columns that somebody is yet to give.
            return frozen(np.zeros(0, np.int32))
        now = tuple(self._moment(name) for name, _ in query.having)
        found: Int32 = self._keep(("positions", query, order, now), lambda: self._positions(query, order))
        return found

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
        """Return where a record stands in document order, None where there is none of that id."""
        document = self._documents.index[doc]
        low, high = self.by_document[document : document + 2].tolist()
        names = [name for _, name in self._names(np.arange(low, high))]
        return low + names.index(record) if record in names else None

    def name(self, position: int) -> tuple[str, str]:
        """Return document and record id of the record at a place."""
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
        """Return what an attribute says of each record, None where there is none of that name."""
        now = self._moment(name)
        kept = self._attributes.get(name)
        if kept is None or kept[0] != now:
            found = find(self.about, name)
            if found is None:
                return None
            kept = self._attributes[name] = (now, found)
        return kept[1]

    @property
    def about(self) -> Records:
        """The records with all that their attributes are found with."""
        return Records(self.scores, self.criterion, self.rows, self.read, self.others)

    def _moment(self, name: str) -> int:
        """Return what tells the values of an attribute from those it had before: the last verdict, where it matters."""
        return self.others.reviewed.number if self.others is not None and name in CHANGING else 0

    def having_counts(self, query: Query, name: str) -> dict[str, int]:
        """Return, for each value of an attribute, how many records there would be if it were the one asked for.

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
        gold, pred = (alone(layer, number) for layer in self.read)
        return score_layers(gold, replace(pred, documents=gold.documents), settings)

    @property
    def _documents(self) -> Documents:
        return self.scores.layers(self.criterion)[0].documents

    def _positions(self, query: Query, order: str) -> Int32:
        low, high = 0, len(self.rows)
        if query.doc:
            number = self._documents.index.get(query.doc)
            low, high = (0, 0) if number is None else self.by_document[number : number + 2].tolist()
        cube, of_record = self._for(query)
        mask = cube.chosen(query)[of_record[low:high]] if low < high else np.zeros(0, bool)
        for word in query.text.casefold().split():
            mask &= self._holding(word)[low:high]
        for name, value in query.having:
            known = self.attribute(name)
            assert known is not None, "there are no positions by what is not known"
            mask &= known.mask(value)[low:high]
        if order == ORDERS[0]:
            return frozen((np.flatnonzero(mask) + low).astype(np.int32))
        # The whole order is made once; what matches is picked out of it.
        every = self._keep(("order", order), lambda: self._order(order))
        if low or high < len(self.rows):
            inside = (every >= low) & (every < high)
            every = every[inside]
        return frozen(every[mask[every - low]])

    def _order(self, order: str) -> Int32:
        cube, of_record = self._by_sides
        codes, names = cube.codes, cube.names
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

    def _holding(self, word: str) -> NDArray[np.bool_]:
        found: NDArray[np.bool_] = self._keep(("word", word), lambda: self._look_for(word))
        return found

    def _look_for(self, word: str) -> NDArray[np.bool_]:
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
        """Whether a record may count for more than one."""
        return bool((self.rows.weight != 1).any())

    @cached_property
    def _id_ranks(self) -> Int64:
        """The place of each document among all by their ids."""
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

    def _keep(self, key: Any, make: Any) -> Any:
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        made = make()
        with self._lock:
            self._kept[key] = made
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        return made


def ledger(scores: Scores, name: str, read: tuple[Layer, Layer], others: Others | None = None) -> MemoryLedger:
    """Return the match records under a criterion, counted by class; `read` are the layers that were scored."""
    return MemoryLedger(read, scores, name, rows(scores, name), others)


def alone(layer: Layer, number: int) -> Layer:
    """Return the layer of one document alone, numbered 0; its spans keep their order."""
    documents = layer.documents
    low, high = layer.first[number : number + 2].tolist()
    meta = None if documents.meta is None else (documents.meta[number],)
    pieces = (_piece(documents.tokens, number), _piece(documents.sentences, number))
    one = Documents((documents.ids[number],), (documents.texts[number],), *pieces, meta, documents.named)
    extras: dict[str, Any] = {}
    for key in SPAN_KEYS:
        known = getattr(layer, key)
        extras[key] = {span - low: known[span] for span in range(low, high) if span in known} if known else {}
    return Layer(
        layer.name,
        one,
        np.zeros(high - low, np.int32),
        layer.start[low:high],
        layer.end[low:high],
        layer.type[low:high],
        layer.types,
        None if layer.order is None else layer.order[low:high],
        **extras,
    )


def _piece(intervals: Intervals | None, number: int) -> Intervals | None:
    if intervals is None:
        return None
    low, high = intervals.first[number : number + 2].tolist()
    return Intervals(np.array([0, high - low], np.int64), intervals.starts[low:high], intervals.ends[low:high])


Coded = tuple[tuple[str, ...], NDArray[Any]]
"""The values of a facet, none where nothing is known of it, and which of them each record has."""


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
    """Return the place of each record's anchor in the order of the texts of both sides together."""
    both = type(gold)(
        np.concatenate((gold.data, pred.data)), np.concatenate((gold.offsets, pred.offsets[1:] + gold.offsets[-1]))
    ).ranks()
    return found.of_spans(both[: len(gold.offsets) - 1], both[len(gold.offsets) - 1 :])


def _decades(documents: Documents) -> tuple[tuple[str, ...], Int32]:
    """Return the decades of documents in order, none where no date is known, and the number of each document's."""
    if documents not in _DECADES:
        if documents.meta is None:
            _DECADES[documents] = ((), frozen(np.zeros(len(documents), np.int32)))
        else:
            found = decades_of(documents)
            names = tuple(sorted(set(found), key=lambda name: (name == UNDATED, name)))
            number = {name: code for code, name in enumerate(names)}
            codes = np.fromiter((number[name] for name in found), np.int32, len(found))
            _DECADES[documents] = (() if set(names) <= {UNDATED} else names, frozen(codes))
    return _DECADES[documents]


def _noise_of(layer: Layer) -> NDArray[np.int8]:
    if layer not in _NOISE:
        _NOISE[layer] = noise_of(layer)
    return _NOISE[layer]


__all__: Sequence[str] = ("MemoryLedger", "alone", "ledger")
