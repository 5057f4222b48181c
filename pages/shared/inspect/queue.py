"""The queue: the part of the listed records around the one that is open. No Streamlit in here."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import floor
from typing import Any

import numpy as np
import pandas as pd

from nereval_core.alignment.candidates import shared_characters
from nereval_core.corpus import Fragments
from nereval_core.ledger import Ledger
from nereval_core.problems import name_text
from nereval_core.records.queries import ORDERS, Query
from nereval_core.records.reasons import ALIGNED_ELSEWHERE, type_difference
from nereval_core.records.text_search import AROUND, is_regex, search_terms
from nereval_core.report.marks import SIDES
from nereval_core.report.span_difference import BOTH, Piece, difference_text, span_difference
from nereval_core.review.layer_words import GOLD_AND_PREDICTION, LayerWords
from nereval_core.review.verdicts_on_records import AttachedVerdicts
from nereval_core.review.words import verdict_labels

CHUNK = 30
"""The part that is sent begins and ends at a multiple of it, and seldom changes while records are gone through."""
NEAR = 12
"""Characters around a word of the search that is quoted."""
MOST_ALIGNED = 2_000
"""Records of a document up to which a span's neighbours are looked through."""
QUOTED = 40
"""Characters of a span that an entry quotes beside its own."""


@dataclass(frozen=True, eq=False)
class QueuePart:
    """Records `first`, `first` + 1, ... of `total`; `at` is the number of the open one.

    `at` lies halfway between two numbers where the open record, or the open place, is not listed.
    """

    records: pd.DataFrame
    first: int
    total: int
    at: float

    @cached_property
    def names(self) -> list[tuple[str, str]]:
        """Document and record id of each record."""
        return list(zip(self.records["document"].tolist(), self.records["record"].tolist(), strict=True))

    def near(self, behind: int, ahead: int) -> list[tuple[str, str]]:
        """Return the records around the open one, those ahead first."""
        names, at = self.names, self.at - self.first
        after = names[max(0, floor(at) + 1) :][:ahead]
        before = names[: max(0, int(np.ceil(at)))][-behind:] if behind else []
        return [*after, *reversed(before)]


def queue_part(
    ledger: Ledger, query: Query, order: str, doc: str, record: str, *, start: int = -1, number: int = -1
) -> QueuePart:
    """Return the part of the queue around a record, or around a place in a document.

    `number` is the place in the queue that the record had when it was opened.
    """
    total = ledger.total(query).records
    at = _place(ledger, query, order, doc, record, start, number, total) if doc else 0.0
    first = max(0, (floor(max(at, 0)) // CHUNK - 1) * CHUNK)
    return QueuePart(ledger.page(query, order, first, 3 * CHUNK), first, total, at)


def _place(
    ledger: Ledger, query: Query, order: str, doc: str, record: str, start: int, number: int, total: int
) -> float:
    if record and 0 <= number < total and _is(ledger.page(query, order, number, 1), doc, record):
        return number
    if record:
        place = ledger.place(query, order, doc, record)
        if place is not None:
            return place
    elif order == ORDERS[0]:
        near = ledger.near(query, doc, record, start, 1)
        if near.number:
            return near.number - 1
        step = floor(near.at) + 1
        following = near.queue[step] if step < len(near.queue) else None
        if following is None:
            return total - 0.5
        return ledger.near(query, *following, -1, 1).number - 1.5
    return min(number, total) - 0.5 if number >= 0 else -0.5


def _is(part: pd.DataFrame, doc: str, record: str) -> bool:
    return len(part) == 1 and str(part["document"].iat[0]) == doc and str(part["record"].iat[0]) == record


def entries(
    ledger: Ledger, part: QueuePart, texts: Sequence[str], words: LayerWords = GOLD_AND_PREDICTION, search: str = ""
) -> list[list[Any]]:
    """Return the entries of the queue: document, record, decision, pieces, why, types, verdict, and what is right.

    The pieces are texts with their signs of `span_difference`, the types those of gold and prediction, one where they
    are equal. What is right are the words and types of the spans that a verdict of neither names.
    """
    rows = part.records
    if not len(rows):
        return []
    verdicts: list[str | None] = [None] * len(rows)
    right = [""] * len(rows)
    if (verdicts_of_records := ledger.verdicts) is not None:
        verdicts = verdict_labels(verdicts_of_records, rows.index, words.verdict_words)
        right = [
            _right(verdicts_of_records, record, texts[doc])
            for record, doc in zip(rows.index, rows["doc"].tolist(), strict=True)
        ]
    pieces_of_records = record_pieces(ledger, rows, texts)
    columns = (rows[name].tolist() for name in ("decision", "reason", "gold_type", "pred_type"))
    return [
        [doc, record, decision, pieces, near + why, _types(gold, pred), verdict, after]
        for (doc, record), pieces, near, aligned, verdict, after, decision, reason, gold, pred in zip(
            part.names,
            pieces_of_records,
            _nearby(search, rows, pieces_of_records, texts),
            _alignments(ledger, rows, texts, words),
            verdicts,
            right,
            *columns,
            strict=True,
        )
        for why in [aligned or _why(reason, gold, pred, words)]
    ]


def _nearby(
    search: str, records: pd.DataFrame, pieces_of_records: Sequence[Sequence[Piece]], texts: Sequence[str]
) -> list[str]:
    """Return for each record the first word of a search that is not in its spans, in its text; else ""."""
    nearby = [""] * len(records)
    terms = [] if is_regex(search.strip()) else search_terms(search)
    starts = records["gold_start"].fillna(records["pred_start"]).astype(int).tolist()
    ends = records["gold_end"].fillna(records["pred_end"]).astype(int).tolist()
    documents = records["doc"].tolist() if terms else []
    for place, doc in enumerate(documents):
        spans = "".join(text for text, _ in pieces_of_records[place]).casefold()
        around = texts[doc][max(0, starts[place] - AROUND) : ends[place] + AROUND]
        hits = [(at, len(term)) for term in terms if term not in spans and (at := around.casefold().find(term)) >= 0]
        for at, length in hits[:1]:
            words = around[max(0, at - NEAR) : at + length + NEAR]
            nearby[place] = f"near “{' '.join(words.split())}” · "
    return nearby


def _right(verdicts: AttachedVerdicts, record: int, text: str) -> str:
    """Return the spans that the verdict on a record says are right, in words; "" where it names none, or is stale."""
    stored = verdicts.of(record)
    if stored is None or verdicts.stale[record]:
        return ""
    quotes = ((difference_text(span_difference(text, span.fragments, ())), span.type) for span in stored.verdict.right)
    return ", ".join(f"{quote} {name_text(name)}" for quote, name in quotes)


def record_pieces(ledger: Ledger, records: pd.DataFrame, texts: Sequence[str]) -> list[list[Piece]]:
    """Return the `span_difference` of each record."""
    pieces = []
    documents, pred_texts = records["doc"].tolist(), records["pred_text"].tolist()
    for doc, pred_text, (gold, pred) in zip(
        documents, pred_texts, ledger.fragments(records.index.to_numpy()), strict=True
    ):
        # The words of a prediction that stands nowhere are not in the text.
        is_nowhere = not gold and pred and pred[0][0] == pred[-1][1]
        pieces.append([Piece(str(pred_text), BOTH)] if is_nowhere else span_difference(texts[doc], gold, pred))
    return pieces


def _alignments(ledger: Ledger, records: pd.DataFrame, texts: Sequence[str], words: LayerWords) -> list[str]:
    """Return for each span that others overlap which are aligned elsewhere: the first of these, and with what.

    Empty for other records, and in documents of very many.
    """
    sentences = [""] * len(records)
    reasons, documents = records["reason"].tolist(), records["doc"].tolist()
    places = [place for place, reason in enumerate(reasons) if reason in ALIGNED_ELSEWHERE]
    pairs_of: dict[str, list[tuple[Fragments, Fragments]]] = {}
    own_fragments = ledger.fragments(records.index.to_numpy()[places]) if places else []
    for place, (gold, pred) in zip(places, own_fragments, strict=True):
        doc = str(records["document"].iat[place])
        if doc not in pairs_of:
            positions = ledger.positions_in(doc)
            pairs_of[doc] = ledger.fragments(positions) if len(positions) <= MOST_ALIGNED else []
        sentences[place] = aligned_elsewhere(gold, pred, pairs_of[doc], texts[documents[place]], words)
    return sentences


def aligned_elsewhere(
    gold: Fragments, pred: Fragments, pairs: Iterable[tuple[Fragments, Fragments]], text: str, words: LayerWords
) -> str:
    """Say which span overlaps that of a record with one side, and with what it is aligned; "" where none does.

    `pairs` are the gold spans and predictions of the document's records, a side that is not there empty.
    """
    own, other = (gold, 1) if gold else (pred, 0)
    overlapping = next((pair for pair in pairs if all(pair) and shared_characters(own, pair[other])), None)
    if overlapping is None:
        return ""
    first, second = (_quote(text, overlapping[side]) for side in (other, 1 - other))
    return f"{words.side(SIDES[other])} {first} is aligned with {second}"


def _quote(text: str, fragments: Fragments) -> str:
    """Return the words of a span in quotes, with its fragments apart."""
    words = difference_text(span_difference(text, fragments, ()))
    return f"“{words if len(words) <= QUOTED else f'{words[: QUOTED - 1]}…'}”"


def _why(reason: str, gold: object, pred: object, words: LayerWords) -> str:
    """Return why a record was decided so, without the types, which an entry shows in another way."""
    if isinstance(gold, str) and isinstance(pred, str):
        reason = reason.removesuffix(type_difference(gold, pred)).removesuffix("; ")
    return words.reason(reason, gold, pred)


def _types(gold: object, pred: object) -> list[str]:
    """Return the types of both sides, one where they are equal or one side has no span."""
    return list(dict.fromkeys(name_text(kind) for kind in (gold, pred) if isinstance(kind, str)))
