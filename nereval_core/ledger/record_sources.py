"""Sources of a ledger's records, part by part, and excerpts: a few documents as a corpus of their own.

A corpus in memory is one part, a scored folder has a part for each shard. Only the documents of an excerpt are read.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from sys import maxsize
from typing import Any, Protocol

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from nereval_core.alignment.codes import ranges
from nereval_core.corpus import SPAN_KEYS, Documents, Fragments, Layer
from nereval_core.corpus.arrays import Array, Bools, Int32, Int64, narrow_integers
from nereval_core.corpus.concatenation import join_documents
from nereval_core.corpus.subset import select_documents
from nereval_core.ledger.record_places import ListedPlaces, Piece, RecordClasses
from nereval_core.records.match_records import Rows, record_ids
from nereval_core.records.tables import frame
from nereval_core.records.text_search import having_term, ids_having_term, span_texts
from nereval_core.review.attribute import Records
from nereval_core.scoring.criteria import Criterion
from nereval_core.store.columns import SparseValues


@dataclass(frozen=True, eq=False)
class LayerColumns:
    """The spans of a part's layer: those of document d are `first[d]` to `first[d + 1]`; `extras` are by SPAN_KEYS."""

    name: str
    first: NDArray[Any]
    start: Int32
    end: Int32
    type: NDArray[Any]
    types: tuple[str, ...]
    extras: Mapping[str, Mapping[int, Any]]

    @classmethod
    def of(cls, layer: Layer) -> LayerColumns:
        extras = {key: getattr(layer, key) for key in SPAN_KEYS}
        return cls(layer.name, layer.first, layer.start, layer.end, layer.type, layer.types, extras)


@dataclass(frozen=True, eq=False)
class RecordPart:
    """The records of a part under a criterion, in document order, with its documents and its layers as scored.

    `gold` and `pred` number spans of the part (-1: none), `first` is the number of each document's first record, shape
    (documents + 1,). `anchored` is None where each record with a gold span is named by it, `weight` where each record
    counts as 1, and `doc`, the number of each record's document, where it is looked up in `first`.
    """

    documents: Documents
    layers: tuple[LayerColumns, LayerColumns]
    gold: Int32
    pred: Int32
    first: NDArray[Any]
    anchored: Array | None = None
    weight: Int64 | None = None
    doc: Int32 | None = None

    def documents_of(self, positions: NDArray[Any]) -> NDArray[Any]:
        """Return the number of each record's document in the part."""
        return np.searchsorted(self.first, positions, side="right") - 1 if self.doc is None else self.doc[positions]

    def weights(self, positions: NDArray[Any]) -> Int64:
        return np.ones(len(positions), np.int64) if self.weight is None else self.weight[positions]

    def counts(self, numbers: NDArray[Any], positions: NDArray[Any], size: int) -> Int64:
        """Return the sums of the weights of records by a number of each, shape (size,)."""
        weight = None if self.weight is None else self.weight[positions]
        # Sums of whole numbers far below 2 to the power of 53.
        return np.bincount(numbers, weight, minlength=size).astype(np.int64)

    @property
    def with_records(self) -> Int64:
        """The documents that have records."""
        return np.flatnonzero(self.first[1:] != self.first[:-1])


@dataclass(frozen=True)
class Limits:
    """The longest list that is sorted by text or length, the records whose documents are offered as a facet, and the
    bytes of document ids that are searched."""

    sorted_records: int = maxsize
    offered_records: int = maxsize
    id_bytes: int = maxsize


class RecordSource(Protocol):
    """The records of one system under one criterion, part by part.

    Document d of part p has the number `first_document[p] + d` overall.
    """

    @property
    def rule(self) -> Criterion:
        """The criterion."""

    @property
    def each_side(self) -> bool:
        """Whether each side is counted for itself."""

    @property
    def about(self) -> Records | None:
        """The scores and layers from which attributes are made; None where they are not in memory."""

    @property
    def limits(self) -> Limits: ...

    @property
    def first_document(self) -> Int64: ...

    def classes(self, by_field: bool) -> RecordClasses:
        """Return the classes by decision and types, and with `by_field` by all other facets too."""

    def part(self, number: int) -> RecordPart: ...

    def locate(self, doc: str) -> tuple[int, int]:
        """Return the part of a document and its number there.

        Raises:
            KeyError: there is none of this id.
        """

    def search(self, words: Sequence[str]) -> Hits:
        """Return the records whose gold text, predicted text and document id together contain all words."""

    def sort(self, places: ListedPlaces, order: str) -> ListedPlaces:
        """Return places in document order sorted by the order `text` or `longest`."""

    def rank_ids(self, documents: Int64) -> NDArray[Any]:
        """Return numbers that sort documents, numbered overall, by their ids."""

    def read_document(self, part: int, document: int) -> tuple[Layer, Layer]:
        """Return gold and prediction of one document alone, numbered 0, as they were read."""


@dataclass(frozen=True, eq=False)
class Hits:
    """Records that contain all words; the first `documents` documents were searched."""

    places: ListedPlaces
    documents: int


@dataclass(frozen=True, eq=False)
class Excerpt:
    """Some records, numbered among the documents that they are in, which are a corpus of their own.

    `position`, `doc`, `gold` and `pred` are the numbers of record, document and spans in the whole.
    """

    rule: Criterion
    sides: tuple[Layer, Layer]
    rows: Rows
    position: Int64
    doc: Int64
    gold: Int64
    pred: Int64

    @classmethod
    def of(cls, source: RecordSource, classes: RecordClasses, pieces: Sequence[Piece]) -> Excerpt:
        """Return the records of pieces, which have the documents of each part in one run."""
        documents_of_part: dict[int, list[NDArray[Any]]] = {}
        for number, positions in pieces:
            documents_of_part.setdefault(number, []).append(source.part(number).documents_of(positions))
        selected = {number: np.unique(np.concatenate(docs)) for number, docs in documents_of_part.items()}
        if not selected:
            selected = {0: np.zeros(0, np.int64)}
        parts = [(source.part(number), numbers.astype(np.int64)) for number, numbers in selected.items()]
        documents = join_selected(parts)
        sides, shifts = zip(*(_join_layers(parts, side, documents) for side in (0, 1)), strict=True)
        sizes = np.array([len(numbers) for _, numbers in parts])
        first_of_part = dict(zip(selected, (np.cumsum(sizes) - sizes).tolist(), strict=True))
        columns: list[tuple[NDArray[Any], ...]] = []
        for number, positions in pieces:
            own = _rows(source, classes, number, positions)
            doc = np.searchsorted(selected[number], own.doc) + first_of_part[number]
            spans = [
                (np.where(numbers < 0, -1, numbers - shift[doc]), np.where(numbers < 0, -1, numbers + before[number]))
                for numbers, shift, before in (
                    (own.gold, shifts[0], classes.gold),
                    (own.pred, shifts[1], classes.pred),
                )
            ]
            columns.append(
                (
                    *(spans[0][0].astype(np.int32), spans[1][0].astype(np.int32), own.anchored, doc.astype(np.int32)),
                    *(own.decision, own.side, own.weight, positions + classes.before[number]),
                    *(own.doc + source.first_document[number], spans[0][1], spans[1][1]),
                )
            )
        if not columns:
            columns = [(*_NO_ROWS, *[np.zeros(0, np.int64)] * 4)]
        whole = [np.concatenate(column) for column in zip(*columns, strict=True)]
        return cls(source.rule, (sides[0], sides[1]), Rows(*whole[:7]), *whole[7:])

    def criterion(self, name: str) -> Criterion:
        return self.rule

    def layers(self, name: str) -> tuple[Layer, Layer]:
        return self.sides

    def frame(self) -> pd.DataFrame:
        """Return the records with the columns of RECORD_COLUMNS, indexed by position in the whole."""
        table = frame(
            self,
            self.rule.name,
            self.rows,
            (narrow_integers(self.doc), narrow_integers(self.gold), narrow_integers(self.pred)),
        )
        table.index = pd.Index(self.position)
        return table

    def names(self) -> list[tuple[str, str]]:
        """Return document and record id of each record."""
        gold, pred = self.sides
        anchored = self.rows.anchored
        ids = np.empty(len(self.rows), object)
        ids[anchored] = record_ids(gold, "g", self.rows.gold[anchored])
        ids[~anchored] = record_ids(pred, "p", self.rows.pred[~anchored])
        documents = gold.documents.ids
        return [(documents[doc], record) for doc, record in zip(self.rows.doc.tolist(), ids.tolist(), strict=True)]

    def starts(self) -> NDArray[Any]:
        """Return the start of each record's anchor."""
        # The last one is that of index -1, no span.
        gold, pred = (np.append(layer.start, 0) for layer in self.sides)
        return np.where(self.rows.anchored, gold[self.rows.gold], pred[self.rows.pred])

    def fragments(self) -> list[tuple[Fragments, Fragments]]:
        """Return the fragments of gold span and prediction of each record, () for no span."""
        sides = [
            [() if span < 0 else layer.parts(span) for span in spans.tolist()]
            for layer, spans in zip(self.sides, (self.rows.gold, self.rows.pred), strict=True)
        ]
        return list(zip(*sides, strict=True))

    def texts(self) -> list[str]:
        """Return the text of each record's anchor."""
        gold, pred = (np.array([*span_texts(layer), ""], object) for layer in self.sides)
        texts: list[str] = np.where(self.rows.anchored, gold[self.rows.gold], pred[self.rows.pred]).tolist()
        return texts


_NO_ROWS = (
    *(np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros(0, bool), np.zeros(0, np.int32)),
    *(np.zeros(0, np.uint8), np.zeros(0, np.uint8), np.zeros(0, np.int64)),
)


def _rows(source: RecordSource, classes: RecordClasses, number: int, positions: NDArray[Any]) -> Rows:
    """Return records of a part, with its own numbers of spans and documents."""
    part = source.part(number)
    gold, pred = part.gold[positions], part.pred[positions]
    anchored = gold >= 0 if part.anchored is None else part.anchored[positions].astype(bool)
    decision = classes.row_values(number, classes.facets.codes["decision"])
    of_record = classes.in_part(number).of_record[positions]
    side = np.where(anchored, 1, 2) if source.each_side else np.where(pred < 0, 1, np.where(gold < 0, 2, 0))
    docs, weight = part.documents_of(positions), part.weights(positions)
    return Rows(gold, pred, anchored, docs, decision[of_record].astype(np.uint8), side.astype(np.uint8), weight)


def decision_counts(source: RecordSource, classes: RecordClasses, number: int, documents: Int64, width: int) -> Int64:
    """Return the counts of documents of a part by decision, shape (documents, 2, width): gold, then prediction."""
    first = source.part(number).first
    owner, positions = ranges(first[documents].astype(np.int64), first[documents + 1].astype(np.int64))
    rows = _rows(source, classes, number, positions)
    sides = []
    for spans, is_own in ((rows.gold, rows.anchored), (rows.pred, ~rows.anchored)):
        is_counted = (spans >= 0) & ((rows.side == 0) | is_own)
        key = owner[is_counted] * width + rows.decision[is_counted]
        sums = np.bincount(key, rows.weight[is_counted], minlength=width * len(documents))
        sides.append(sums.astype(np.int64).reshape(-1, width))
    return np.stack(sides, axis=1)


def records_holding(words: Iterable[str], part: RecordPart, documents: Int64) -> tuple[Int64, Bools]:
    """Return the records of some documents of a part, and which of them contain all words."""
    over = join_selected([(part, documents)])
    owner, positions = ranges(part.first[documents].astype(np.int64), part.first[documents + 1].astype(np.int64))
    sides = []
    for side, numbers in enumerate((part.gold[positions], part.pred[positions])):
        layer, shift = _join_layers([(part, documents)], side, over)
        sides.append((layer, np.where(numbers < 0, -1, numbers - shift[owner])))
    has_all = np.ones(len(positions), bool)
    for word in words:
        has_word = ids_having_term(over, word)[owner]
        for layer, spans in sides:
            # The last one is that of index -1, no span.
            has_word |= np.append(having_term(layer, word), False)[spans]
        has_all &= has_word
    return positions, has_all


Selection = tuple[RecordPart, Int64]
"""A part and some of its documents, by increasing numbers."""


def join_selected(selections: Sequence[Selection]) -> Documents:
    """Return the selected documents of all parts, one part after the other."""
    documents = [select_documents(part.documents, numbers) for part, numbers in selections]
    return documents[0] if len(documents) == 1 else join_documents(documents)


def _join_layers(selections: Sequence[Selection], side: int, over: Documents) -> tuple[Layer, Int64]:
    """Return one side of the selected documents as scored, and by document the shift of its spans' numbers."""
    return join_columns([(part.layers[side], numbers) for part, numbers in selections], over)


def join_columns(selections: Sequence[tuple[LayerColumns, Int64]], over: Documents) -> tuple[Layer, Int64]:
    """Return the spans of some documents of each layer, and by document the shift of its spans' numbers."""
    types = tuple(sorted({kind for columns, _ in selections for kind in columns.types}))
    code = {kind: number for number, kind in enumerate(types)}
    docs, starts, ends, kinds, shifts = [], [], [], [], []
    extras: dict[str, Any] = {key: {} for key in SPAN_KEYS}
    n_documents = n_spans = 0
    for columns, documents in selections:
        low, high = columns.first[documents].astype(np.int64), columns.first[documents + 1].astype(np.int64)
        owner, spans = ranges(low, high)
        docs.append(owner + n_documents)
        starts.append(columns.start[spans])
        ends.append(columns.end[spans])
        kinds.append(np.array([code[kind] for kind in columns.types], np.int16)[columns.type[spans]])
        shift = low - (np.cumsum(high - low) - (high - low) + n_spans)
        shifts.append(shift)
        for key, values in columns.extras.items():
            if values:
                for begin, end, change in zip(low.tolist(), high.tolist(), shift.tolist(), strict=True):
                    extras[key].update((span - change, value) for span, value in _within(values, begin, end))
        n_documents, n_spans = n_documents + len(documents), n_spans + len(spans)
    layer = Layer(
        selections[0][0].name,
        over,
        np.concatenate(docs).astype(np.int32),
        np.concatenate(starts),
        np.concatenate(ends),
        np.concatenate(kinds),
        types,
        None,
        **extras,
    )
    return layer, np.concatenate(shifts)


def _within(values: Mapping[int, Any], low: int, high: int) -> Iterable[tuple[int, Any]]:
    if isinstance(values, SparseValues):
        return values.within(low, high)
    return ((span, values[span]) for span in range(low, high) if span in values)
