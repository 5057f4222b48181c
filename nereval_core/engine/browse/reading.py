"""Records of a scored folder as frames, names and sort keys, read from the shards that they are in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from nereval_core.arrays import Int64
from nereval_core.corpus import Layer
from nereval_core.engine.browse.record_places import ListedPlaces, Piece
from nereval_core.engine.browse.spans import Excerpt, ShardDocuments, extract_documents
from nereval_core.engine.record_columns import MappedShard, RecordColumns
from nereval_core.engine.record_index import Classes, DocumentIndex
from nereval_core.records.tables import DECISIONS, Rows, frame, record_ids
from nereval_core.records.text_search import span_texts
from nereval_core.scoring import Counts
from nereval_core.scoring.criteria import Criterion


@dataclass(frozen=True, eq=False)
class _Under:
    """The part of `Scores` that a frame of records needs."""

    rule: Criterion
    sides: tuple[Layer, Layer]

    def criterion(self, name: str) -> Criterion:
        return self.rule

    def layers(self, name: str) -> tuple[Layer, Layer]:
        return self.sides


@dataclass(frozen=True, eq=False)
class ShardRecords:
    """The records of a system under a criterion; `opened` returns those of a shard."""

    rule: Criterion
    each_side: bool
    classes: Classes
    index: DocumentIndex
    opened: Callable[[int], tuple[MappedShard, RecordColumns]]

    def __len__(self) -> int:
        return len(self.classes.first) - 1

    def locate(self, doc: str) -> tuple[int, int]:
        """Return the shard of a document and its number there.

        Raises:
            KeyError: there is none of this id.
        """
        for number in self.index.candidates(doc):
            shard = self.index.shard(number)
            inner = number - int(self.index.first[shard])
            if self.opened(shard)[0].documents.ids[inner] == doc:
                return shard, inner
        raise KeyError(doc)

    def id(self, document: int) -> str:
        shard = self.index.shard(document)
        return self.opened(shard)[0].documents.ids[document - int(self.index.first[shard])]

    def with_records(self, shard: int) -> Int64:
        first = self.opened(shard)[1].first
        return np.flatnonzero(first[1:] != first[:-1])

    def classes_of(self, listed: ListedPlaces) -> NDArray[Any]:
        """Return the class of each record, as numbered for all shards."""
        found = [np.zeros(0, np.int64)]
        for shard, positions in listed.pieces(0, len(listed)):
            of_row = self.classes.of_row[self.classes.first[shard] : self.classes.first[shard + 1]]
            found.append(of_row[self.opened(shard)[1].of_record[positions]])
        return np.concatenate(found)

    def weights(self, listed: ListedPlaces) -> Int64:
        return np.concatenate(
            [
                np.zeros(0, np.int64),
                *(self.opened(shard)[1].weights(positions) for shard, positions in listed.pieces(0, len(listed))),
            ]
        )

    def keys(self, listed: ListedPlaces, order: str) -> NDArray[Any]:
        """Return the sort keys of records' anchors: the rank of their text, or their negative length."""
        part, rows, _ = self.rows(list(listed.pieces(0, len(listed))))
        sides = [list(span_texts(layer)) for layer in (part.gold, part.pred)]
        texts = [
            sides[0][gold] if anchored else sides[1][pred]
            for anchored, gold, pred in zip(rows.anchored.tolist(), rows.gold.tolist(), rows.pred.tolist(), strict=True)
        ]
        if order == "longest":
            return np.array([-len(text) for text in texts], np.int64)
        folded = [text.casefold() for text in texts]
        rank = {text: number for number, text in enumerate(sorted(set(folded)))}
        return np.array([rank[text] for text in folded], np.int64)

    def tallies(self, documents: Int64) -> dict[str, Counts]:
        found: dict[str, Counts] = {}
        width = len(DECISIONS)
        for number in documents.tolist():
            shard = self.index.shard(number)
            read, records = self.opened(shard)
            inner = number - int(self.index.first[shard])
            positions = np.arange(int(records.first[inner]), int(records.first[inner + 1]))
            columns = self._columns(shard, records, positions)
            sides = []
            for spans, own in ((columns.gold, columns.anchored), (columns.pred, ~columns.anchored)):
                there = (spans >= 0) & ((columns.side == 0) | own)
                sums = np.bincount(columns.decision[there], columns.weight[there], minlength=width)
                sides.append(tuple(map(int, sums.tolist())))
            found[read.documents.ids[inner]] = Counts(sides[0], sides[1])
        return found

    def _columns(self, shard: int, records: RecordColumns, positions: NDArray[Any]) -> Rows:
        """Return records of a shard, with its own numbers of spans and documents."""
        gold, pred = records.gold[positions], records.pred[positions]
        anchored = gold >= 0 if records.anchored is None else records.anchored[positions].astype(bool)
        decision = self.classes.of_shard(shard, self.classes.facets.codes["decision"])[records.of_record[positions]]
        side = np.where(anchored, 1, 2) if self.each_side else np.where(pred < 0, 1, np.where(gold < 0, 2, 0))
        docs = records.doc(positions).astype(np.int32)
        weight = records.weights(positions)
        return Rows(gold, pred, anchored, docs, decision.astype(np.uint8), side.astype(np.uint8), weight)

    def rows(self, pieces: Sequence[Piece]) -> tuple[Excerpt, Rows, tuple[Int64, Int64, Int64, Int64]]:
        """Return the documents of records, the records numbered there, and position, document, gold span and
        prediction of each as numbered in the whole."""
        by_shard: dict[int, list[NDArray[Any]]] = {}
        for shard, positions in pieces:
            by_shard.setdefault(shard, []).append(self.opened(shard)[1].doc(positions))
        parts: list[ShardDocuments] = []
        number: dict[int, int] = {}
        for shard, docs in by_shard.items():
            read, records = self.opened(shard)
            number[shard] = len(parts)
            chosen = np.unique(np.concatenate(docs)).astype(np.int64)
            base = int(self.index.first[shard])
            parts.append(ShardDocuments(read.documents, records.gold_layer, records.pred_layer, chosen, base))
        part = extract_documents(parts) if parts else extract_documents([self._nothing()])
        rows: list[Rows] = []
        numbers = []
        for shard, positions in pieces:
            own = self._columns(shard, self.opened(shard)[1], positions)
            place = number[shard]
            docs = np.searchsorted(parts[place].chosen, own.doc) + part.first[place]
            gold = np.where(own.gold < 0, -1, own.gold - part.gold_shift[docs])
            pred = np.where(own.pred < 0, -1, own.pred - part.pred_shift[docs])
            rows.append(replace(own, gold=gold.astype(np.int32), pred=pred.astype(np.int32), doc=docs.astype(np.int32)))
            numbers.append(
                (
                    positions + self.classes.before[shard],
                    part.numbers[docs],
                    np.where(own.gold < 0, -1, own.gold + self.classes.gold[shard]),
                    np.where(own.pred < 0, -1, own.pred + self.classes.pred[shard]),
                )
            )
        if not rows:
            nothing = np.zeros(0, np.int64)
            return part, _no_rows(), (nothing, nothing, nothing, nothing)
        columns = [np.concatenate(column) for column in zip(*map(_fields, rows), strict=True)]
        inside = [np.concatenate(column) for column in zip(*numbers, strict=True)]
        return part, Rows(*columns), (inside[0], inside[1], inside[2], inside[3])

    def _nothing(self) -> ShardDocuments:
        read, records = self.opened(0)
        return ShardDocuments(read.documents, records.gold_layer, records.pred_layer, np.zeros(0, np.int64))

    def frame(self, pieces: Sequence[Piece]) -> pd.DataFrame:
        part, rows, (position, doc, gold, pred) = self.rows(pieces)
        made = frame(_Under(self.rule, (part.gold, part.pred)), self.rule.name, rows)
        numbers = {"doc": doc, "gold": gold, "pred": pred}
        return made.assign(**{name: _small(column) for name, column in numbers.items()}).set_index(pd.Index(position))

    def names(self, pieces: Sequence[Piece]) -> list[tuple[str, str]]:
        part, rows, _ = self.rows(pieces)
        documents = part.gold.documents
        ids = ids_of(part, rows)
        return [(documents.ids[doc], record) for doc, record in zip(rows.doc.tolist(), ids, strict=True)]


def ids_of(part: Excerpt, rows: Rows) -> list[str]:
    ids = np.empty(len(rows), object)
    ids[rows.anchored] = record_ids(part.gold, "g", rows.gold[rows.anchored])
    ids[~rows.anchored] = record_ids(part.pred, "p", rows.pred[~rows.anchored])
    found: list[str] = ids.tolist()
    return found


def starts_of(part: Excerpt, rows: Rows) -> NDArray[Any]:
    """Return the start of each record's anchor."""
    # The last one is that of index -1, no span.
    gold, pred = (np.append(layer.start, 0) for layer in (part.gold, part.pred))
    return np.where(rows.anchored, gold[rows.gold], pred[rows.pred])


def _fields(rows: Rows) -> tuple[NDArray[Any], ...]:
    return rows.gold, rows.pred, rows.anchored, rows.doc, rows.decision, rows.side, rows.weight


def _no_rows() -> Rows:
    whole, byte = np.zeros(0, np.int32), np.zeros(0, np.uint8)
    return Rows(whole, whole, np.zeros(0, bool), whole, byte, byte, np.zeros(0, np.int64))


def _small(numbers: Int64) -> NDArray[Any]:
    return numbers.astype(np.int32) if int(numbers.max(initial=0)) < 1 << 31 else numbers


__all__: Sequence[str] = ("ShardRecords", "ids_of", "starts_of")
