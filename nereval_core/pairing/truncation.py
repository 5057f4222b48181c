"""Predictions cut off at a maximal length: the tokens at the end of sentences that they lack, taken as outside.

A model with a limit of tokens answers the beginning of a long sentence only. Where a predicted sentence is the
beginning of gold's and ends with one of its tokens, it is given gold's text: its spans stay where they are in their
sentence. Sentences that a document lacks at its end are cut off too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from nereval_core.corpus import Documents, Intervals
from nereval_core.corpus.arrays import frozen
from nereval_core.corpus.tokens import tokens_of
from nereval_core.readers import Reading

Bounds = tuple[int, int]


class Completed(NamedTuple):
    """A prediction with gold's text where it was cut off, and how many sentences and tokens were added."""

    pred: Reading
    sentences: int = 0
    tokens: int = 0


class _Cut(NamedTuple):
    """Sentences of a predicted document, how far each moves in gold's text, and what of gold is missing."""

    moved: list[tuple[int, int, int]]
    sentences: int
    tokens: int


def complete_truncated(gold: Reading, pred: Reading, *, by_order: bool) -> Completed:
    """Return the prediction with gold's text in the documents that are cut off, paired by id or by order."""
    ours, theirs, layer = gold.documents, pred.documents, pred.layer
    if theirs is ours or ours.sizes is not None or layer.fragments or layer.cores or layer.alternatives:
        return Completed(pred)
    tokens = tokens_of(ours)
    cuts: dict[int, tuple[int, _Cut]] = {}
    for number, other in _pairs(ours, theirs, by_order):
        if theirs.texts[number] != ours.texts[other]:
            ends = [end for _, end in tokens.of_document(other)]
            if cut := _cut(
                _sentences(ours, other), _sentences(theirs, number), ours.texts[other], theirs.texts[number], ends
            ):
                cuts[number] = other, cut
    if not cuts:
        return Completed(pred)
    start, end = layer.start.copy(), layer.end.copy()
    bounds = np.searchsorted(layer.doc, np.arange(len(theirs) + 1))
    for number, (_, cut) in cuts.items():
        spans = slice(int(bounds[number]), int(bounds[number + 1]))
        own_start, own_end = layer.start[spans], layer.end[spans]
        for low, high, by in cut.moved:
            start[spans][(own_start >= low) & (own_start < high)] += by
            end[spans][(own_end > low) & (own_end <= high)] += by
    documents = _with_texts(theirs, ours, {number: other for number, (other, _) in cuts.items()}, tokens)
    completed = replace(layer, documents=documents, start=frozen(start), end=frozen(end))
    sentences, missing = (sum(values) for values in zip(*(cut[1:] for _, cut in cuts.values()), strict=True))
    return Completed(replace(pred, documents=documents, layer=completed), sentences, missing)


def _pairs(ours: Documents, theirs: Documents, by_order: bool) -> Iterator[Bounds]:
    """Yield the numbers of predicted documents and of gold's that belong together."""
    if ours.named and theirs.named and not by_order:
        gold_of_id = ours.index
        yield from ((number, gold_of_id[name]) for number, name in enumerate(theirs.ids) if name in gold_of_id)
    elif len(theirs) <= len(ours):
        yield from zip(range(len(theirs)), range(len(theirs)), strict=True)


def _sentences(documents: Documents, number: int) -> list[Bounds]:
    if documents.sentences is None:
        return [(0, len(documents.texts[number]))]
    return documents.sentences.of_document(number)


def _cut(ours: list[Bounds], theirs: list[Bounds], text: str, own: str, ends: list[int]) -> _Cut | None:
    """Return how the sentences of a predicted document begin those of gold's document, None where one does not."""
    if not theirs or len(theirs) > len(ours):
        return None
    moved = []
    sentences = tokens = 0
    token_ends = set(ends)
    for place, (low, high) in enumerate(ours):
        reach = low
        if place < len(theirs):
            first, last = theirs[place]
            reach = low + last - first
            if own[first:last] != text[low:reach] or reach not in token_ends:
                return None
            moved.append((first, last, low - first))
        missing = sum(reach < end <= high for end in ends)
        tokens += missing
        sentences += missing > 0
    return _Cut(moved, sentences, tokens)


def _with_texts(theirs: Documents, ours: Documents, others: dict[int, int], tokens: Intervals) -> Documents:
    """Return predicted documents with the text and the tokens of gold's documents where `others` names one."""
    texts = tuple(ours.texts[others[number]] if number in others else text for number, text in enumerate(theirs.texts))
    if theirs.tokens is None:
        return replace(theirs, texts=texts, sentences=None)
    rows = [
        tokens.of_document(others[number]) if number in others else theirs.tokens.of_document(number)
        for number in range(len(theirs))
    ]
    flat = np.array([bounds for row in rows for bounds in row], np.int32).reshape(-1, 2)
    first = np.concatenate((np.zeros(1, np.int64), np.cumsum([len(row) for row in rows], dtype=np.int64)))
    own = Intervals(frozen(first), frozen(flat[:, 0].copy()), frozen(flat[:, 1].copy()))
    return replace(theirs, texts=texts, tokens=own, sentences=None)
