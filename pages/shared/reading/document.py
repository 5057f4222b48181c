"""The document being read: its marks, the record chosen, its card, and the records before and after it.

Pure functions over scores and the frame of match records; no Streamlit in here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil, floor
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from nereval_core.corpus import Layer
from nereval_core.criteria import Decision
from nereval_core.report.highlight import SIDES, Mark, Side, windows, within
from nereval_core.report.marks import marks
from nereval_core.scoring import Scores
from nereval_core.tables import record_ids
from pages.shared.reading.view import look

AROUND = 60
"""How many records before and after the present one are sent along, so that fast keys need not wait."""

COLUMNS: Mapping[Side, str] = {"gold": "gold", "prediction": "pred"}


@dataclass(frozen=True)
class Opened:
    """The document on the page and the place in it: what is shown, what was chosen, and what lies around it.

    `record` is None where none is chosen or the one asked for does not exist (`unknown`). `number` counts the chosen
    record among the `total` that the lists show, from 1; it is 0 where it is not among them.
    """

    document: int
    name: str
    text: str
    marks: list[Mark]
    record: dict[str, Any] | None
    unknown: bool
    window: tuple[int, int]
    part: int
    parts: int
    queue: list[tuple[str, str]]
    at: float
    number: int
    total: int

    @property
    def selected(self) -> str:
        return str(self.record["record"]) if self.record else ""

    def step(self, forward: bool) -> tuple[str, str] | None:
        """Return document and record id of the next or previous record."""
        place = floor(self.at) + 1 if forward else ceil(self.at) - 1
        return self.queue[place] if 0 <= place < len(self.queue) else None


def opened(
    scores: Scores,
    name: str,
    records: pd.DataFrame,
    shown: pd.DataFrame,
    doc: str,
    record: str,
    part: int | None = None,
) -> Opened:
    """Open a document at a record id, or, without a document, the first one that has a record to show.

    `records` are all records under the criterion, `shown` those that j and k go through, both in document order. `part`
    asks for a window of a long text; without it the window of the chosen record opens.
    """
    documents = scores.gold.documents
    first = int(shown["doc"].iloc[0]) if len(shown) else 0
    document = documents.index.get(doc, first)
    rows = document_rows(records, document)
    found = find(rows, scores, name, document, record) if record and doc else None
    every = document_marks(scores, name, document, rows)
    start = start_of(found) if found else 0
    text = documents.texts[document]
    cut = windows(text, sorted(mark.start for mark in every))
    here = next(place for place, (_, high) in enumerate(cut) if start < high or place == len(cut) - 1)
    here = here if part is None else min(part, len(cut) - 1)
    queue, at, number = neighbours(shown, document, start if found else -1, found["record"] if found else "")
    return Opened(
        document,
        documents.ids[document],
        text,
        within(every, *cut[here]),
        found,
        bool(record and not found),
        cut[here],
        here,
        len(cut),
        queue,
        at,
        number,
        len(shown),
    )


def document_rows(records: pd.DataFrame, document: int) -> pd.DataFrame:
    """Return the records of a document; they lie together, since records stand in document order."""
    docs = records["doc"].to_numpy()
    return records.iloc[np.searchsorted(docs, document) : np.searchsorted(docs, document, side="right")]


def document_marks(scores: Scores, name: str, document: int, rows: pd.DataFrame) -> list[Mark]:
    """Return the marks of a document, each with the id of the record it belongs to."""
    ids: dict[tuple[Side, int], str] = {}
    for record, gold, pred in zip(rows["record"], rows["gold"].tolist(), rows["pred"].tolist(), strict=True):
        own, other = (("gold", gold), ("prediction", pred))[:: 1 if record.startswith("g:") else -1]
        ids[own] = record
        # A partner belongs to the pair's record, unless it has one of its own (counting each side for itself).
        ids.setdefault(other, record)
    return marks(scores, name, document, records=ids)


def find(rows: pd.DataFrame, scores: Scores, name: str, document: int, record: str) -> dict[str, Any] | None:
    """Return the record with this id, or the one whose prediction has it: what was spurious may have a partner here."""
    hit = rows[rows["record"] == record]
    if hit.empty and record.startswith("p:"):
        pred = scores.layers(name)[1]
        low, high = int(pred.first[document]), int(pred.first[document + 1])
        ids = record_ids(pred.take(np.arange(low, high)), "p")
        if record in ids:
            hit = rows[rows["pred"] == low + ids.index(record)]
    return None if hit.empty else {str(key): value for key, value in hit.iloc[0].to_dict().items()}


def start_of(record: Mapping[str, Any]) -> int:
    """Return where a record's anchor begins in its document, in code points."""
    return int(record["gold_start"] if record["record"].startswith("g:") else record["pred_start"])


def card(scores: Scores, name: str, record: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the card of a record says: decision, reason, both spans, and every criterion's decision."""
    side: Side = "gold" if record["record"].startswith("g:") else "prediction"
    facts = []
    for other in SIDES:
        layer = scores.layers(name)[SIDES.index(other)]
        span = int(record[COLUMNS[other]])
        facts.append([other, layer.text(span), _detail(layer, span)] if span >= 0 else [other, "", ""])
    return {
        "decision": look(str(record["decision"])),
        "under": f"under {name}",
        "reason": str(record["reason"]),
        "facts": facts,
        "title": f"This {'gold span' if side == 'gold' else 'predicted span'} under every criterion",
        "rows": _every_criterion(scores, name, side, int(record[COLUMNS[side]])),
    }


def _detail(layer: Layer, span: int) -> str:
    parts = layer.fragments.get(span) or ((int(layer.start[span]), int(layer.end[span])),)
    words = [layer.label(span), "characters " + ", ".join(f"{low}–{high}" for low, high in parts)]
    if span in layer.cores:
        low, high = layer.cores[span]
        words.append(f"core {layer.documents.texts[layer.doc[span]][low:high]}")
    if span in layer.alternatives:
        words.append("or characters " + ", ".join(f"{low}–{high}" for low, high in layer.alternatives[span]))
    if span in layer.links:
        words.append("linked to " + ", ".join(layer.links[span]))
    if span in layer.scores:
        words.append(f"confidence {layer.scores[span]:g}")
    return ", ".join(words)


def _every_criterion(scores: Scores, name: str, side: Side, span: int) -> list[dict[str, Any]]:
    place = SIDES.index(side)
    here = scores.layers(name)[place]
    usual = _partner(scores, name, place, span)
    rows = []
    for criterion in scores.criteria:
        row = {"criterion": criterion.name, "sentence": criterion.sentence or criterion.rule(), "partner": ""}
        if criterion.unit != scores.criterion(name).unit:
            said = {"text": f"by {criterion.unit}", "title": f"Counted by {criterion.unit}: no decision over this."}
            rows.append(row | said | {"current": False})
            continue
        # Criteria with type rules of their own number the spans otherwise.
        there = _same_span(here, scores.layers(criterion.name)[place], span)
        if there is None:
            row |= {"text": "left out", "title": "The criterion leaves this type out."}
        else:
            code = Decision(int(scores.decisions(criterion.name)[place][there])).name
            partner = _partner(scores, criterion.name, place, there)
            row |= look(code)
            if partner and (usual is None or partner.read != usual.read):
                row["partner"] = f"with {partner.text}, {partner.label}"
        rows.append(row | {"current": criterion.name == name})
    return rows


class _Partner(NamedTuple):
    """A partner's text and type as scored, and where it was read: the same under criteria that rename its type."""

    text: str
    label: str
    read: int


def _partner(scores: Scores, name: str, place: int, span: int) -> _Partner | None:
    partner = int(scores.partners(name)[place][span])
    if partner < 0:
        return None
    layer = scores.layers(name)[1 - place]
    read = partner if layer.order is None else int(layer.order[partner])
    return _Partner(layer.text(partner), layer.label(partner), read)


def _same_span(one: Layer, other: Layer, span: int) -> int | None:
    if one is other:
        return span
    read = span if one.order is None else int(one.order[span])
    if other.order is None:
        return read if read < len(other) else None
    found = np.flatnonzero(other.order == read)
    return int(found[0]) if len(found) else None


def neighbours(
    found: pd.DataFrame, document: int, start: int, record: str, *, around: int = AROUND
) -> tuple[list[tuple[str, str]], float, int]:
    """Return the records near a place, the place among them, and its number in `found` (from 1, 0 if not among them).

    `found` stands in document order. The place is halfway between two where the record is not among them.
    """
    docs = found["doc"].to_numpy()
    low, high = np.searchsorted(docs, document), np.searchsorted(docs, document, side="right")
    here = found.iloc[low:high]
    same = np.flatnonzero((here["record"] == record).to_numpy())
    if len(same):
        place: float = int(low + same[0])
    else:
        gold = here["record"].str.startswith("g:")
        starts = here["gold_start"].where(gold, here["pred_start"]).to_numpy(np.int64)
        place = int(low) + int(np.searchsorted(starts, start)) - 0.5
    first = max(0, int(place) - around)
    near = found.iloc[first : int(place) + around + 1]
    queue = list(zip(near["document"].astype(str), near["record"], strict=True))
    return queue, place - first, int(place) + 1 if len(same) else 0
