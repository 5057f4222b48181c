"""Text search in the shards, one after the other, within a budget: there is no index of words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nereval_core.alignment.codes import ranges
from nereval_core.arrays import Int64
from nereval_core.corpus.texts import Texts
from nereval_core.engine.browse.spans import DocumentColumns, ShardDocuments, extract_documents
from nereval_core.engine.record_columns import MappedShard, RecordColumns
from nereval_core.records.text_search import Sought, span_texts

BLOCK_BYTES = 1 << 20
"""Bytes of text that are searched at once."""
SEARCHED_BYTES, SEARCHED_RECORDS = 1 << 28, 100_000
"""The budget of a search, about a second: bytes of text, and records of the documents found."""


@dataclass(frozen=True, eq=False)
class Hits:
    """Records that contain all words, by shard and position; the first `documents` documents were searched."""

    shard: NDArray[np.int32]
    position: Int64
    documents: int


def search(words: Sequence[str], shards: int, opened: Callable[[int], tuple[MappedShard, RecordColumns]]) -> Hits:
    """Return the records whose gold text, predicted text and document id together contain all words."""
    where: list[NDArray[np.int32]] = [np.zeros(0, np.int32)]
    positions: list[NDArray[np.int64]] = [np.zeros(0, np.int64)]
    size = records = documents = 0
    for number in range(shards):
        shard, found = opened(number)
        for low, high in _blocks(shard.documents.texts):
            if size >= SEARCHED_BYTES or records >= SEARCHED_RECORDS:
                return Hits(np.concatenate(where), np.concatenate(positions), documents)
            chosen = _documents(words, shard.documents, low, high)
            if len(chosen):
                every, holding = records_holding(words, shard, found, chosen)
                records += len(every)
                positions.append(every[holding])
                where.append(np.full(len(positions[-1]), number, np.int32))
            documents += high - low
            size += int(shard.documents.texts.offsets[high] - shard.documents.texts.offsets[low])
    return Hits(np.concatenate(where), np.concatenate(positions), documents)


def records_holding(
    words: Sequence[str], shard: MappedShard, records: RecordColumns, chosen: Int64
) -> tuple[Int64, NDArray[np.bool_]]:
    """Return the records of some documents, and which of them contain all words."""
    part = extract_documents([ShardDocuments(shard.documents, records.gold_layer, records.pred_layer, chosen)])
    owner, positions = ranges(records.first[chosen].astype(np.int64), records.first[chosen + 1].astype(np.int64))
    ids = Sought.of(part.gold.documents.ids)
    sides = []
    for layer, spans, shift in (
        (part.gold, records.gold[positions], part.gold_shift),
        (part.pred, records.pred[positions], part.pred_shift),
    ):
        sides.append((Sought.of(span_texts(layer)), np.where(spans < 0, -1, spans - shift[owner])))
    mask = np.ones(len(positions), bool)
    for word in words:
        found = ids.holding(word)[owner]
        for texts, spans in sides:
            # The last one is that of index -1, no span.
            found |= np.append(texts.holding(word), False)[spans]
        mask &= found
    return positions, mask


def ids_holding(text: str, documents: DocumentColumns) -> Int64:
    """Return the documents whose ids contain a text, ignoring case."""
    return np.flatnonzero(Sought.of(documents.ids).holding(text)).astype(np.int64)


def _blocks(texts: Texts) -> Iterator[tuple[int, int]]:
    """Yield runs of documents, end exclusive, of about BLOCK bytes."""
    low = 0
    while low < len(texts):
        end = int(texts.offsets[low]) + BLOCK_BYTES
        high = max(low + 1, int(np.searchsorted(texts.offsets, end, side="right")) - 1)
        yield low, min(high, len(texts))
        low = high


def _documents(words: Sequence[str], documents: DocumentColumns, low: int, high: int) -> Int64:
    """Return the documents whose texts or ids contain each word: only their records can contain all."""
    texts, ids = (_whole(column, low, high) for column in (documents.texts, documents.ids))
    if not all(word in texts or word in ids for word in words):
        return np.zeros(0, np.int64)
    found = []
    for number in range(low, high):
        text, name = documents.texts[number].casefold(), documents.ids[number].casefold()
        if all(word in text or word in name for word in words):
            found.append(number)
    return np.array(found, np.int64)


def _whole(texts: Texts, low: int, high: int) -> str:
    return str(texts.data[int(texts.offsets[low]) : int(texts.offsets[high])].data, "utf-8").casefold()


__all__: Sequence[str] = ("Hits", "ids_holding", "records_holding", "search")
