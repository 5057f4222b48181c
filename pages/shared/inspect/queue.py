"""The queue: the part of the listed records around the one that is open. No Streamlit in here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import floor
from typing import Any

import numpy as np
import pandas as pd

from nereval_core.ledger import Ledger
from nereval_core.records.queries import ORDERS, Query
from nereval_core.review.words import verdict_labels
from pages.shared.view.layer_words import GOLD_AND_PREDICTION, LayerWords
from pages.shared.view.queries import context

CHUNK = 30
"""The part that is sent begins and ends at a multiple of it, and seldom changes while records are gone through."""
SPAN_CHARACTERS = 120
"""Characters of a span in an entry of the queue."""


@dataclass(frozen=True, eq=False)
class QueuePart:
    """Records `first`, `first` + 1, ... of `total`; `at` is the number of the open one.

    `at` lies halfway between two numbers where the open record, or the open place, is not listed.
    """

    records: pd.DataFrame
    first: int
    total: int
    at: float

    @property
    def names(self) -> list[tuple[str, str]]:
        """Document and record id of each record."""
        return list(zip(self.records["document"].astype(str), self.records["record"], strict=True))

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
    ledger: Ledger, part: QueuePart, texts: Sequence[str], words: LayerWords = GOLD_AND_PREDICTION
) -> list[list[Any]]:
    """Return the entries of the queue: document, record, decision, span, why, types, verdict."""
    rows = part.records
    if not len(rows):
        return []
    spans = [text[:SPAN_CHARACTERS] for _, text, _ in context(rows, texts, 0)]
    verdicts: list[str | None] = [None] * len(rows)
    if (verdicts_of_records := ledger.verdicts) is not None:
        verdicts = verdict_labels(verdicts_of_records, rows.index, words.verdict_words)
    columns = (rows[name].astype(object).tolist() for name in ("decision", "reason", "gold_type", "pred_type"))
    return [
        [doc, record, decision, span, words.reason(reason, gold, pred), _types(gold, pred), verdict]
        for (doc, record), span, verdict, decision, reason, gold, pred in zip(
            part.names, spans, verdicts, *columns, strict=True
        )
    ]


def _types(gold: object, pred: object) -> str:
    names = [kind for kind in (gold, pred) if isinstance(kind, str)]
    return " → ".join(dict.fromkeys(names))
