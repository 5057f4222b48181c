"""The match records of one system under one criterion, counted, listed and searched by queries.

A `Ledger` answers over the parts of a `RecordSource`: a corpus in memory (`corpus_records`) or the shards of a scored
folder (`nereval_core.engine.folder_records`). Records are counted by their classes, and turned into text page by page.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter
from threading import Lock
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from cachetools import LRUCache, cachedmethod
from numpy.typing import NDArray

from nereval_core.corpus import Fragments, Layer
from nereval_core.corpus.arrays import Bools, Int64
from nereval_core.corpus.subset import select_documents, select_spans
from nereval_core.ledger.attributes import find_attribute
from nereval_core.ledger.attributes.own_facts import VERDICT_ATTRIBUTES
from nereval_core.ledger.corpus_records import CorpusRecords
from nereval_core.ledger.facet_counts import FacetCounts
from nereval_core.ledger.record_places import (
    ListedPlaces,
    Piece,
    PlacesByClass,
    RecordClasses,
    RecordPlaces,
    class_keys,
    list_places,
)
from nereval_core.ledger.record_sources import Excerpt, Hits, RecordSource, decision_counts, records_holding
from nereval_core.problems import quoted
from nereval_core.records.match_records import rows
from nereval_core.records.queries import FIELDS, ORDERS, Query, Total, narrowed
from nereval_core.records.tables import DECISIONS
from nereval_core.records.text_search import search_terms, sought_in_ids
from nereval_core.review.attribute import Attribute, Others, Records
from nereval_core.review.standing_verdicts import Moment
from nereval_core.review.verdicts_on_records import AttachedVerdicts, attach_verdicts
from nereval_core.scoring import Counts, Scores, Settings, score_layers

PIECE_RECORDS = 50_000
"""Records that are turned into text at once where all records of a query are wanted."""
ANSWERS, ANSWER_BYTES = 256, 1 << 26
"""Answers that are cached, and their bytes: positions, mostly. A larger answer is cached alone."""
MOST_NAMED = 12
"""Values that are named where another one was asked for."""
Moments = tuple[tuple[bool, Moment | None], ...]
_ANSWERS, _LOCK = attrgetter("_answers"), attrgetter("_lock")


class Tallies(NamedTuple):
    """The counts of some documents by id, and how many there are of their kind in all."""

    counts: dict[str, Counts]
    documents: int


class Near(NamedTuple):
    """The records around a place, as (document id, record id) in document order, and the place among them.

    `at` is the index of the present record in `queue`, halfway between two where it is not among them; `number` is its
    number among all that match, from 1, and 0 where it is not among them.
    """

    queue: list[tuple[str, str]]
    at: float
    number: int


def _answer_bytes(answer: Any) -> int:
    """Return the size of an answer in the cache: its bytes, bounded so that ANSWERS fit and one always does."""
    size = 0
    if isinstance(answer, np.ndarray):
        size = answer.nbytes
    elif isinstance(answer, ListedPlaces | Hits):
        places = answer.places if isinstance(answer, Hits) else answer
        size = places.part.nbytes + places.position.nbytes
    elif isinstance(answer, PlacesByClass):
        size = answer.ends.nbytes
    return min(max(size, ANSWER_BYTES // ANSWERS), ANSWER_BYTES)


@dataclass(frozen=True, eq=False)
class Ledger:
    """The match records of one system under one criterion, in memory or on disk.

    Documents are named by their ids, records stand in document order (document, start, end, gold before prediction).
    A position is the number of a record in this order. Its answers equal filtering the frame of `tables.records`;
    where a scored folder is too large for that, `caveats` says what is left out.
    """

    source: RecordSource
    _attributes: dict[str, tuple[Moment | None, Attribute]] = field(default_factory=dict, repr=False)
    _answers: LRUCache[Any, Any] = field(default_factory=lambda: LRUCache(ANSWER_BYTES, _answer_bytes), repr=False)
    _lock: Any = field(default_factory=Lock, repr=False)

    @property
    def criterion(self) -> str:
        """The criterion's name."""
        return self.source.rule.name

    @property
    def is_in_memory(self) -> bool:
        """Whether records have attributes and verdicts, and all can be looked at: not those of a scored folder."""
        return self.source.about is not None

    @property
    def about(self) -> Records:
        """The records in memory with the data of their attributes and verdicts."""
        assert self.source.about is not None, "records of a scored folder have no attributes"
        return self.source.about

    @property
    def verdicts(self) -> AttachedVerdicts | None:
        """The verdicts that stand on the records; None where there are none, as for those of a scored folder."""
        if not self.is_in_memory or self.about.others is None:
            return None
        attached = attach_verdicts(self.about)
        return attached if attached.verdicts else None

    @property
    def facets(self) -> FacetCounts:
        """The records counted by class, by all facets but the document."""
        return self.source.classes(by_field=True).facets

    @property
    def offered(self) -> tuple[str, ...]:
        """The FACETS of which something is known: period needs a date, noise a gold span that says it."""
        return self.facets.offered

    def unknown_values(self, query: Query) -> tuple[str, ...]:
        """Return in words the values of FIELDS and the attributes that a query asks for and no record can have."""
        sentences = []
        for name in FIELDS:
            value = getattr(query, name)
            values = self.facets.names[name] if value else ()
            if value and value not in values:
                choices = f"choose among {', '.join(values[:MOST_NAMED])}" if values else "this corpus says none"
                sentences.append(f"{name}: {quoted(value)} is not known; {choices}")
        for name, value in query.having if self.is_in_memory else ():
            attribute = self.attribute(name)
            if attribute is None:
                sentences.append(f"has: {quoted(name)} is not known")
            elif value not in attribute.names and len(attribute.names) <= MOST_NAMED:
                choices = ", ".join(attribute.names)
                sentences.append(f"has: {quoted(name)} is never {quoted(value)}; choose among {choices}")
        return tuple(sentences)

    def total(self, query: Query) -> Total:
        """Count the records that match."""
        if query.by_class:
            return self._classes(query).facets.total(query)
        places = self._listed(query)
        return Total(len(places), int(self._weights(places).sum()))

    def facet_counts(self, query: Query, facet: str, most: int | None = None) -> dict[str, int]:
        """Return, for each value of a facet, the weight of the records if the query asked for that value.

        Decisions, words, periods and noise stand in their own order, the others by their counts; zeros are left out.
        `most` is how many values are wanted, those with the highest counts.
        """
        unnarrowed = narrowed(query, facet, None)
        if facet == "doc":
            return self._by_document(unnarrowed, most, self._moments(unnarrowed))
        classes, weight = self._classes(unnarrowed, facet), None
        if not unnarrowed.by_class:
            places = self._listed(Query(doc=unnarrowed.doc, text=unnarrowed.text, having=unnarrowed.having))
            size = len(classes.facets.records)
            weight = np.bincount(classes.of_places(places), self._weights(places), minlength=size).astype(np.int64)
        counts = classes.facets.facet_counts(unnarrowed, facet, weight)
        return dict(list(counts.items())[:most])

    def confusion(self) -> dict[tuple[str, str], int]:
        """Return the weight of the records by gold and predicted type, ABSENT where a side has no span."""
        return self._plain_classes.facets.confusion()

    def page(self, query: Query, order: str = ORDERS[0], first: int = 0, rows: int = 200) -> pd.DataFrame:
        """Return the records first, first + 1, ... of those that match, with the columns of RECORD_COLUMNS."""
        return self._excerpt(self.places(query, order).pieces(first, first + rows)).frame()

    def pieces(self, query: Query, order: str = ORDERS[0]) -> Iterator[pd.DataFrame]:
        """Return all records that match, piece by piece."""
        places = self.places(query, order)
        for low in range(0, len(places), PIECE_RECORDS):
            yield self._excerpt(places.pieces(low, low + PIECE_RECORDS)).frame()

    def frame(self, positions: NDArray[Any]) -> pd.DataFrame:
        """Return the records at some positions with the columns of RECORD_COLUMNS, indexed by position."""
        return self._excerpt(self._at(positions)).frame()

    def first(self, query: Query) -> tuple[str, str] | None:
        """Return document and record id of the first record that matches, None where none does."""
        names = self._excerpt(self.places(query).pieces(0, 1)).names()
        return names[0] if names else None

    def near(self, query: Query, doc: str, record: str = "", start: int = -1, around: int = 60) -> Near:
        """Return the matching records around one of a document, or, where it is not among them, around its start."""
        places = self.places(query)
        part, low, high = self._records_of(doc)
        first, positions = places.among(part, low, high)
        listed = self._excerpt([(part, positions)])
        same = [index for index, (_, name) in enumerate(listed.names()) if name == record]
        at: float = first + (same[0] if same else int(np.searchsorted(listed.starts(), start)) - 0.5)
        begin = max(0, int(at) - around)
        queue = self._excerpt(places.pieces(begin, int(at) + around + 1)).names()
        return Near(queue, at - begin, int(at) + 1 if same else 0)

    def place(self, query: Query, order: str, doc: str, record: str) -> float | None:
        """Return the number of a record among those that match, from 0.

        In document order it is halfway between two where the record does not match. None where it is unknown: there is
        no such record, or it does not match, or so many do that they are not looked through.
        """
        position = self.position(doc, record)
        if position is None:
            return None
        places = self.places(query, order)
        if order == ORDERS[0]:
            ((part, (at,)),) = self._at(np.array([position]))
            number, listed = places.among(part, int(at), int(at) + 1)
            return number if len(listed) else number - 0.5
        if len(places) > self.source.limits.sorted_records:
            return None
        same = np.flatnonzero(self.positions(query, order) == position)
        return int(same[0]) if len(same) else None

    def positions(self, query: Query, order: str = ORDERS[0]) -> NDArray[Any]:
        """Return the positions of the matching records, sorted by `order`."""
        places, before = self.places(query, order), self._plain_classes.before
        parts = [np.zeros(0, np.int32)]
        parts += [own if part == 0 else own + before[part] for part, own in places.pieces(0, len(places))]
        return np.concatenate(parts) if len(parts) != 2 else parts[1]

    def positions_in(self, doc: str) -> NDArray[Any]:
        """Return the positions of all records of a document.

        Raises:
            KeyError: there is no document of this id.
        """
        part, low, high = self._records_of(doc)
        return int(self._plain_classes.before[part]) + np.arange(low, high)

    def position(self, doc: str, record: str) -> int | None:
        """Return the position of a record, None where the document has none with that id."""
        part, low, high = self._records_of(doc)
        names = [name for _, name in self._excerpt([(part, np.arange(low, high))]).names()]
        return int(self._plain_classes.before[part]) + low + names.index(record) if record in names else None

    def name(self, position: int) -> tuple[str, str]:
        """Return document and record id of the record at a position."""
        return self.names(np.array([position]))[0]

    def names(self, positions: NDArray[Any]) -> list[tuple[str, str]]:
        """Return document and record id of the records at some positions."""
        return self._excerpt(self._at(positions)).names()

    def fragments(self, positions: NDArray[Any]) -> list[tuple[Fragments, Fragments]]:
        """Return the fragments of gold span and prediction of the records at some positions, () for no span."""
        return self._excerpt(self._at(positions)).fragments()

    def documents(self, text: str = "", first: int = 0, rows: int = 200) -> Tallies:
        """Return the counts of the documents first, first + 1, ... of those with spans whose ids hold a text.

        Upper and lower case are one; documents stand in their order.
        """
        first_document = self.source.first_document
        if text:
            holding = self._ids_holding(text)
            total, numbers = len(holding), holding[first : first + rows]
        else:
            edges = self._plain_classes.documents
            total, last = int(edges[-1]), min(first + rows, int(edges[-1]))
            of_parts = [np.zeros(0, np.int64)]
            for part in range(int(np.searchsorted(edges, first, side="right")) - 1, len(self._plain_classes)):
                if edges[part] >= last:
                    break
                with_records = self.source.part(part).with_records + first_document[part]
                of_parts.append(with_records[max(0, first - int(edges[part])) : last - int(edges[part])])
            numbers = np.concatenate(of_parts)
        counts: dict[str, Counts] = {}
        for part, own in self._by_part(numbers):
            ids = self.source.part(part).documents.ids
            table = decision_counts(self.source, self._plain_classes, part, own, len(DECISIONS))
            for number, sides in zip(own.tolist(), table.tolist(), strict=True):
                counts[ids[number]] = Counts(*map(tuple, sides))
        return Tallies(counts, total)

    def document(self, doc: str, settings: Settings) -> Scores:
        """Return the scores of one document alone, numbered 0: what its text is read with."""
        return score_layers(*self.source.read_document(*self.source.locate(doc)), settings)

    def orders(self, query: Query) -> tuple[str, ...]:
        """Return the ORDERS in which the records that match can be listed: of very many records not all are."""
        are_few = self.total(query).records <= self.source.limits.sorted_records
        return tuple(order for order in ORDERS if are_few or order not in ("text", "longest"))

    def caveats(self, query: Query) -> tuple[str, ...]:
        """Return in sentences the limits of the answers to a query, where not all records can be looked at."""
        sentences = []
        offered, n_documents = self.source.limits.offered_records, int(self.source.first_document[-1])
        if query.having and not self.is_in_memory:
            sentences.append("What needs all spans at once is not known of a scored folder: no record is found by it.")
        if query.text and not query.doc and (searched := self._hits(query.text).documents) < n_documents:
            sentences.append(
                f"Searching means reading: the first {searched:,} of {n_documents:,} documents were searched, and "
                "counts are of these. Choose a document to search in it."
            )
        if query.doc == "" and self.total(query).records > offered:
            sentences.append(f"Documents are offered of the first {offered:,} records; any other one by its id.")
        return tuple(sentences)

    def spans(self, query: Query, side: Literal["gold", "pred"]) -> Layer:
        """Return the spans of one side in the matching records, over the documents of these records.

        Their types are those that were scored. The records must be in memory.
        """
        matching = self.about.rows.take(self.positions(query))
        layer = self.about.scores.layers(self.criterion)[side == "pred"]
        numbers = getattr(matching, side)
        spans = layer.take(np.unique(numbers[numbers >= 0]))
        documents = np.unique(matching.doc).astype(np.int64)
        return select_spans(spans, documents, select_documents(layer.documents, documents))

    def attribute(self, name: str) -> Attribute | None:
        """Return the values of an attribute by record, None where there is no such attribute."""
        moment = self._moment(name)
        cached = self._attributes.get(name)
        if cached is None or cached[0] != moment:
            attribute = find_attribute(self.about, name) if self.is_in_memory else None
            if attribute is None:
                return None
            cached = self._attributes[name] = (moment, attribute)
        return cached[1]

    def having_counts(self, query: Query, name: str) -> dict[str, int]:
        """Return the number of matching records for each value of an attribute.

        Empty where there is no such attribute; values without records are there with 0.
        """
        attribute = self.attribute(name)
        if attribute is None:
            return {}
        others = tuple(pair for pair in query.having if pair[0] != name)
        positions = self.positions(replace(query, having=others))
        return Attribute(attribute.codes[positions], attribute.names).counts()

    def places(self, query: Query, order: str = ORDERS[0]) -> RecordPlaces:
        """Return the places of the matching records, in one of `orders`."""
        return self._places(query, order, self._moments(query))

    @property
    def _plain_classes(self) -> RecordClasses:
        """The classes by decision and types."""
        return self.source.classes(by_field=False)

    def _classes(self, query: Query, facet: str = "") -> RecordClasses:
        """Return the classes that are needed to match a query and to count a facet."""
        return self.source.classes(facet in FIELDS or any(getattr(query, field) for field in FIELDS))

    def _moments(self, query: Query) -> Moments:
        """Return the versions of the attributes that a query asks for, and whether they are known.

        What is not known of records now may be later, of columns that somebody is yet to give.
        """
        return tuple((self.attribute(name) is not None, self._moment(name)) for name, _ in query.having)

    def _moment(self, name: str) -> Moment | None:
        """Return the version of an attribute's values: the moment of the verdicts where they depend on verdicts."""
        others = self.about.others if self.is_in_memory else None
        return others.reviewed.moment if others is not None and name in VERDICT_ATTRIBUTES else None

    def _excerpt(self, pieces: Iterator[Piece] | Sequence[Piece]) -> Excerpt:
        return Excerpt.of(self.source, self._plain_classes, list(pieces))

    def _at(self, positions: NDArray[Any]) -> list[Piece]:
        before = self._plain_classes.before
        part = np.searchsorted(before[1:], positions, side="right").astype(np.int32)
        places = ListedPlaces(part, positions - before[part])
        return list(places.pieces(0, len(places)))

    def _by_part(self, documents: Int64) -> Iterator[Piece]:
        """Yield the documents of each part, numbered there; the given ones are increasing numbers overall."""
        first = self.source.first_document
        part = np.searchsorted(first, documents, side="right").astype(np.int32) - 1
        return ListedPlaces(part, documents - first[part]).pieces(0, len(documents))

    def _records_of(self, doc: str) -> tuple[int, int, int]:
        """Return the part of a document and its records there, end exclusive.

        Raises:
            KeyError: there is no document of this id.
        """
        part, document = self.source.locate(doc)
        low, high = self.source.part(part).first[document : document + 2].tolist()
        return part, low, high

    def _weights(self, places: ListedPlaces) -> Int64:
        pieces = places.pieces(0, len(places))
        return np.concatenate([np.zeros(0, np.int64), *(self.source.part(part).weights(own) for part, own in pieces)])

    def _listed(self, query: Query) -> ListedPlaces:
        places = self.places(query)
        assert isinstance(places, ListedPlaces)
        return places

    @cachedmethod(_ANSWERS, key=lambda self, *arguments: ("places", *arguments), lock=_LOCK)
    def _places(self, query: Query, order: str, moments: Moments) -> RecordPlaces:
        classes = self._classes(query)
        key = class_keys(classes.facets, order)
        if query.by_class and key is not None:
            return self._of_classes(query, key)
        places = self._matching(query)
        assert key is not None or len(places) <= self.source.limits.sorted_records, "too many records to be sorted so"
        if order == ORDERS[0]:
            return places
        if key is None:
            return self.source.sort(places, order)
        values = key[classes.of_places(places)]
        # Numbers of 16 bits are sorted by their digits, many times as fast.
        return places.take(np.argsort(values.astype(np.min_scalar_type(int(key.max(initial=0)))), kind="stable"))

    def _of_classes(self, query: Query, key: NDArray[Any]) -> PlacesByClass:
        """Return the records that match a query as far as their classes tell, sorted by a key of each class."""
        classes, by_field = self._classes(query), any(getattr(query, field) for field in FIELDS)

        def positions(part: int, has_class: Bools) -> NDArray[Any]:
            return self._positions_of(by_field, part, classes.row_values(part, has_class))

        return PlacesByClass.of(classes, classes.facets.matching(query), key, positions)

    @cachedmethod(
        _ANSWERS, key=lambda self, by_field, part, has_class: (by_field, part, has_class.tobytes()), lock=_LOCK
    )
    def _positions_of(self, by_field: bool, part: int, has_class: Bools) -> NDArray[Any]:
        """Return the records of a part in some of its classes."""
        return self.source.classes(by_field).in_part(part).positions(has_class)

    def _matching(self, query: Query) -> ListedPlaces:
        """Return the matching records in document order."""
        classes = self._classes(query)
        if query.doc or query.text:
            places = self._holding(query.doc, search_terms(query.text))
            places = places.take(classes.facets.matching(query)[classes.of_places(places)])
        else:
            by_class = self._of_classes(query, np.zeros(len(classes.facets.records), np.int64))
            places = list_places(by_class.pieces(0, len(by_class)))
        for name, value in query.having:
            attribute = self.attribute(name)
            if attribute is None:
                return list_places(())
            # Attributes are known of records in memory, which are one part.
            places = places.take(Attribute(attribute.codes[places.position], attribute.names).mask(value))
        return places

    def _holding(self, doc: str, words: Sequence[str]) -> ListedPlaces:
        """Return the records of a document, or of all, that contain all words."""
        if not doc:
            return self._hits(" ".join(words)).places
        try:
            part, document = self.source.locate(doc)
        except KeyError:
            return list_places(())
        positions, has_all = records_holding(words, self.source.part(part), np.array([document], np.int64))
        return list_places([(part, positions[has_all])])

    @cachedmethod(_ANSWERS, key=lambda self, text: ("words", *search_terms(text)), lock=_LOCK)
    def _hits(self, text: str) -> Hits:
        return self.source.search(search_terms(text))

    @cachedmethod(_ANSWERS, key=lambda self, *arguments: ("documents", *arguments), lock=_LOCK)
    def _by_document(self, query: Query, most: int | None, moments: Moments) -> dict[str, int]:
        places, limit = self.places(query), self.source.limits.offered_records
        numbers, counts = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
        for number, positions in places.pieces(0, limit):
            part = self.source.part(number)
            docs = part.documents_of(positions)
            sums = part.counts(docs - docs[0], positions, 0)
            with_records = np.flatnonzero(sums)
            numbers.append(with_records + docs[0] + self.source.first_document[number])
            counts.append(sums[with_records])
        documents, weights = np.concatenate(numbers), np.concatenate(counts)
        if len(places) > limit:
            # Of the last one not all records may have been looked at.
            ((number, (inner,)),) = self._by_part(documents[-1:])
            part = self.source.part(number)
            _, positions = places.among(number, int(part.first[inner]), int(part.first[inner + 1]))
            weights[-1] = int(part.weights(positions).sum())
        if most is not None and len(documents) > most:
            least = np.partition(weights, len(weights) - most)[len(weights) - most]
            documents, weights = documents[weights >= least], weights[weights >= least]
        best = np.lexsort((self.source.rank_ids(documents), -weights))[:most]
        ids = dict(zip(np.sort(documents[best]).tolist(), self._ids(np.sort(documents[best])), strict=True))
        return {ids[doc]: weight for doc, weight in zip(documents[best].tolist(), weights[best].tolist(), strict=True)}

    def _ids(self, documents: Int64) -> list[str]:
        """Return the ids of documents, by increasing numbers."""
        ids: list[str] = []
        for part, numbers in self._by_part(documents):
            of_part = self.source.part(part).documents.ids
            ids += [of_part[number] for number in numbers.tolist()]
        return ids

    @cachedmethod(_ANSWERS, key=lambda self, text: ("ids", text), lock=_LOCK)
    def _ids_holding(self, text: str) -> Int64:
        """Return the documents with records whose ids contain a text; of very many ids the first ones are searched."""
        documents, n_bytes = [np.zeros(0, np.int64)], 0
        for number in range(len(self._plain_classes)):
            part = self.source.part(number)
            ids = sought_in_ids(part.documents)
            holding = np.intersect1d(np.flatnonzero(ids.holding(text)), part.with_records, assume_unique=True)
            documents.append(holding + self.source.first_document[number])
            n_bytes += len(ids.data)
            if n_bytes >= self.source.limits.id_bytes:
                break
        return np.concatenate(documents)


def ledger(scores: Scores, name: str, read: tuple[Layer, Layer], others: Others | None = None) -> Ledger:
    """Return the match records under a criterion; `read` are the layers as they were read."""
    return Ledger(CorpusRecords(Records(scores, name, rows(scores, name), read, others)))


__all__: Sequence[str] = ("Ledger", "Near", "Tallies", "ledger")
