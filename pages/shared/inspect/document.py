"""The document being read: its marks, the record chosen, its card, and the records before and after it.

Pure functions over the scores of that document alone and the ledger of all records; no Streamlit in here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from nereval_core.corpus import Fragments, Layer
from nereval_core.problems import name_text
from nereval_core.records.match_records import record_ids
from nereval_core.records.reasons import ALIGNED_ELSEWHERE
from nereval_core.records.tables import records
from nereval_core.report.highlight import windows
from nereval_core.report.marks import SIDES, Mark, Side, marks, within
from nereval_core.report.marks import beside as beside_marks
from nereval_core.review.layer_words import GOLD_AND_PREDICTION, LayerWords
from nereval_core.scoring import Scores
from nereval_core.scoring.criteria import Decision
from pages.shared.components.highlighted_text import look, mark_words
from pages.shared.inspect.queue import aligned_elsewhere

AROUND = 60
"""Records before and after the present one that are sent along, so that fast keys need not wait."""

WINDOW_CHARACTERS, WINDOW_MARKS = 3_000, 250
"""Characters and spans of a window: the browser draws as much again when the record in it changes."""

COLUMNS: Mapping[Side, str] = {"gold": "gold", "prediction": "pred"}


class Beside(NamedTuple):
    """Another system: its name, its scores of the document alone, and its records there."""

    system: str
    scores: Scores
    rows: pd.DataFrame


@dataclass(frozen=True, eq=False)
class ReadDocument:
    """A document scored alone under a criterion: its records, all its marks, and the windows it is read in.

    `others` are other systems, whose predictions are marks of tracks of their own; `words` name the two sides.
    """

    name: str
    criterion: str
    scores: Scores
    rows: pd.DataFrame
    marks: list[Mark]
    windows: list[tuple[int, int]]
    others: tuple[Beside, ...] = ()
    words: LayerWords = GOLD_AND_PREDICTION

    @property
    def text(self) -> str:
        return self.scores.gold.documents.texts[0]

    def find(self, record: str) -> tuple[dict[str, Any] | None, dict[str, Any] | None]:
        """Return the record with an id, and, where only another system has it, that system's record."""
        if not record:
            return None, None
        row = find_record(self.rows, self.scores, self.criterion, record)
        other = None if row is not None else self._find_beside(record)
        return row, None if other is None else other[1]

    def _find_beside(self, record: str) -> tuple[Beside, dict[str, Any]] | None:
        """Return the first of the other systems that has a record, and the record."""
        rows = ((other, find_record(other.rows, other.scores, self.criterion, record)) for other in self.others)
        return next(((other, row) for other, row in rows if row is not None), None)

    def missing_systems(self, gold: int) -> list[str]:
        """Return the other systems that miss a gold span."""
        return [
            other.system for other in self.others if other.scores.decisions(self.criterion)[0][gold] == Decision.MIS
        ]

    def borders(self, part: int) -> tuple[list[tuple[int, int]], list[int]]:
        """Return the tokens of a window as (start, end) and where its sentences start, counted from its start."""
        documents = self.scores.gold.documents
        low, high = self.windows[part]
        tokens, sentences = (
            [] if intervals is None else list(zip(intervals.starts.tolist(), intervals.ends.tolist(), strict=True))
            for intervals in (documents.tokens, documents.sentences)
        )
        inside = [(max(start, low) - low, min(end, high) - low) for start, end in tokens if start < high and end > low]
        return inside, [start - low for start, _ in sentences if low <= start < high]

    def notes(self) -> list[str]:
        """Return the words that predictions have and the text does not."""
        pred = self.scores.layers(self.criterion)[1]
        named = [f"{pred.text(span)} ({pred.label(span)})" for span in np.flatnonzero(pred.unplaced).tolist()]
        return [f"nowhere in it: {', '.join(named)}"] if named else []

    def part_of(self, start: int) -> int:
        """Return the number of the window that holds a place."""
        last = len(self.windows) - 1
        return next(number for number, (_, high) in enumerate(self.windows) if start < high or number == last)

    def error_places(self) -> list[tuple[float, str, str, str]]:
        """Return where the errors are: the share of the text before it, decision, title and record of each."""
        length = max(1, len(self.text))
        return [
            (round(mark.start / length, 5), mark.decision, mark_words(mark, self.text, self.words), mark.record)
            for mark in self.marks
            if mark.decision != "COR" and mark.side in SIDES
        ]

    def marks_in(self, part: int) -> list[Mark]:
        """Return the marks that reach into a window, counted from its start."""
        return within(self.marks, *self.windows[part])

    def place_in(self, part: int, place: tuple[int, int] | None) -> tuple[int, int] | None:
        """Return a stretch of the text as far as it lies in a window, counted from its start; None outside of it."""
        if place is None:
            return None
        low, high = self.windows[part]
        visible = max(place[0], low) - low, min(place[1], high) - low
        return visible if visible[0] < visible[1] else None

    def card(self, record: Mapping[str, Any] | None, other: Mapping[str, Any] | None = None) -> dict[str, Any] | None:
        """Return what the card of a record says, None without one; `other` is a record of the other system alone."""
        if record:
            card = record_card_data(self.scores, self.criterion, record, self.words)
            for system in self.others:
                card["facts"].append(_fact_beside(system, self.criterion, record, self.scores, self.words))
            return card
        if other and (beside := self._find_beside(str(other["record"]))) is not None:
            card = record_card_data(beside[0].scores, self.criterion, other, self.words)
            return card | {"under": f"{card['under']}, by {beside[0].system} alone"}
        return None


def read_document(
    reading: Callable[[str], Scores],
    criterion: str,
    name: str,
    others: Mapping[str, Callable[[str], Scores]] = MappingProxyType({}),
    words: LayerWords = GOLD_AND_PREDICTION,
) -> ReadDocument:
    """Read a document from its scores; `others` are other systems by name, with what gives their scores."""
    scores = reading(name)
    rows = records(scores, criterion)
    all_marks = document_marks(scores, criterion, rows)
    read_others = []
    for system, other_reading in others.items():
        other_scores = other_reading(name)
        other = Beside(system, other_scores, records(other_scores, criterion))
        read_others.append(other)
        all_marks = [*all_marks, *_marks_beside(other, criterion, rows, scores)]
    bounds = sorted((mark.start, mark.end) for mark in all_marks)
    cut = windows(
        scores.gold.documents.texts[0],
        [start for start, _ in bounds],
        ends=[end for _, end in bounds],
        characters=WINDOW_CHARACTERS,
        marks=WINDOW_MARKS,
    )
    return ReadDocument(name, criterion, scores, rows, all_marks, cut, tuple(read_others), words)


def document_rows(records: pd.DataFrame, document: int) -> pd.DataFrame:
    """Return the records of a document; they lie together, since records stand in document order."""
    docs = records["doc"].to_numpy()
    return records.iloc[np.searchsorted(docs, document) : np.searchsorted(docs, document, side="right")]


def document_marks(scores: Scores, name: str, rows: pd.DataFrame) -> list[Mark]:
    """Return the marks of a document scored alone, each with the id of the record it belongs to."""
    ids: dict[tuple[Side, int], str] = {}
    for record, gold, pred in zip(rows["record"], rows["gold"].tolist(), rows["pred"].tolist(), strict=True):
        sides: list[tuple[Side, int]] = [("gold", gold), ("prediction", pred)]
        own, other = sides if record.startswith("g:") else reversed(sides)
        ids[own] = record
        # A partner belongs to the pair's record, unless it has one of its own (counting each side for itself).
        ids.setdefault(other, record)
    return marks(scores, name, 0, records=ids)


def _marks_beside(beside: Beside, name: str, rows: pd.DataFrame, scores: Scores) -> list[Mark]:
    """Return the marks of the other system, each with the record of ours it belongs to where there is one."""
    mine: dict[str, str] = {}
    own = record_ids(scores.layers(name)[1], "p")
    for record, pred in zip(rows["record"], rows["pred"].tolist(), strict=True):
        if pred >= 0:
            mine[own[pred]] = record
    ids: dict[tuple[Side, int], str] = {}
    for record, pred in zip(beside.rows["record"], beside.rows["pred"].tolist(), strict=True):
        if pred >= 0:
            ids["prediction", pred] = record if record.startswith("g:") else mine.get(record, record)
    return beside_marks(beside.scores, name, 0, beside.system, records=ids)


def find_record(rows: pd.DataFrame, scores: Scores, name: str, record: str) -> dict[str, Any] | None:
    """Return the record with this id, or the one whose prediction has it: what was spurious may have a partner here."""
    ids = rows["record"].tolist()
    place = ids.index(record) if record in ids else None
    if place is None and record.startswith("p:"):
        ids = record_ids(scores.layers(name)[1], "p")
        # A prediction with a partner is in the partner's record.
        place = rows["pred"].tolist().index(ids.index(record)) if record in ids else None
    if place is None:
        return None
    # Column by column: a row made into a dict by pandas took a third of the page's time.
    values = ((str(column), rows[column].array[place]) for column in rows.columns)
    return {
        column: None if value is pd.NA else value.item() if isinstance(value, np.generic) else value
        for column, value in values
    }


def start_of(record: Mapping[str, Any]) -> int:
    """Return where a record's anchor begins in its document, in code points."""
    return int(record["gold_start"] if record["record"].startswith("g:") else record["pred_start"])


def _fact_beside(beside: Beside, name: str, record: Mapping[str, Any], scores: Scores, words: LayerWords) -> list[str]:
    """Return what another system makes of a record's gold span, or of a prediction without one."""
    gold, pred = int(record["gold"]), int(record["pred"])
    layer = beside.scores.layers(name)[1]
    if gold >= 0:
        span = int(beside.scores.partners(name)[0][gold])
        code = Decision(int(beside.scores.decisions(name)[0][gold])).name
    else:
        ids = record_ids(layer, "p")
        own_id = record_ids(scores.layers(name)[1], "p")[pred]
        if own_id not in ids:
            return [name_text(beside.system), "", "does not have it" if words.by_name else "does not predict it"]
        span = ids.index(own_id)
        code = Decision(int(beside.scores.decisions(name)[1][span])).name
    decision = replace(words, other=name_text(beside.system)).label(code)
    return (
        [name_text(beside.system), layer.text(span), f"{decision}, {_detail(layer, span)}"]
        if span >= 0
        else [name_text(beside.system), "", decision]
    )


def record_card_data(
    scores: Scores, name: str, record: Mapping[str, Any], words: LayerWords = GOLD_AND_PREDICTION
) -> dict[str, Any]:
    """Return what the card of a record says: decision, reason, both spans, and every criterion's decision."""
    side: Side = "gold" if record["record"].startswith("g:") else "prediction"
    facts = []
    for other in SIDES:
        layer = scores.layers(name)[SIDES.index(other)]
        span = int(record[COLUMNS[other]])
        facts.append([words.side(other), *((layer.text(span), _detail(layer, span)) if span >= 0 else ("", ""))])
    return {
        "decision": look(str(record["decision"]), words),
        "under": f"under {name}",
        "reason": _reason(scores, name, record, words),
        "facts": facts,
        "title": f"This {words.of_side('span', side)} under every criterion",
        "rows": _every_criterion(scores, name, side, int(record[COLUMNS[side]]), words),
    }


def _reason(scores: Scores, name: str, record: Mapping[str, Any], words: LayerWords) -> str:
    """Return why a record was decided so, as its entry in the queue says it."""
    reason = str(record["reason"])
    if reason in ALIGNED_ELSEWHERE:
        gold, pred = scores.layers(name)
        doc = int(record["doc"])
        spans = range(int(gold.first[doc]), int(gold.first[doc + 1]))
        partners = scores.partners(name)[0][spans.start : spans.stop].tolist()
        pairs = (
            (_fragments(gold, span), _fragments(pred, partner)) for span, partner in zip(spans, partners, strict=True)
        )
        own = [_fragments(layer, int(record[side])) for layer, side in ((gold, "gold"), (pred, "pred"))]
        if sentence := aligned_elsewhere(own[0], own[1], pairs, gold.documents.texts[doc], words):
            return sentence
    return words.reason(reason, record["gold_type"], record["pred_type"])


def _fragments(layer: Layer, span: int) -> Fragments:
    """Return the fragments of a span, none for -1."""
    if span < 0:
        return ()
    return layer.fragments.get(span) or ((int(layer.start[span]), int(layer.end[span])),)


def _detail(layer: Layer, span: int) -> str:
    parts = _fragments(layer, span)
    words = [name_text(layer.label(span)), "characters " + ", ".join(f"{low}–{high}" for low, high in parts)]
    if span in layer.cores:
        low, high = layer.cores[span]
        words.append(f"core {layer.documents.texts[layer.doc[span]][low:high]}")
    if span in layer.alternatives:
        words.append("or characters " + ", ".join(f"{low}–{high}" for low, high in layer.alternatives[span]))
    if span in layer.links:
        words.append("linked to " + ", ".join(map(name_text, layer.links[span])))
    if span in layer.scores:
        words.append(f"confidence {layer.scores[span]:g}")
    return ", ".join(words)


def _every_criterion(scores: Scores, name: str, side: Side, span: int, words: LayerWords) -> list[dict[str, Any]]:
    place = SIDES.index(side)
    page = scores.layers(name)[place]
    usual = _partner(scores, name, place, span)
    rows = []
    for criterion in scores.criteria:
        row = {"criterion": criterion.name, "sentence": criterion.sentence or criterion.rule(), "partner": ""}
        if criterion.unit != scores.criterion(name).unit:
            label = {"text": f"by {criterion.unit}", "title": f"Counted by {criterion.unit}: no decision over this."}
            rows.append(row | label | {"current": False})
            continue
        # Criteria with type rules of their own number the spans otherwise.
        same_span = _same_span(page, scores.layers(criterion.name)[place], span)
        if same_span is None:
            row |= {"text": "left out", "title": "The criterion leaves this type out."}
        else:
            code = Decision(int(scores.decisions(criterion.name)[place][same_span])).name
            partner = _partner(scores, criterion.name, place, same_span)
            row |= look(code, words)
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


def _same_span(layer: Layer, other: Layer, span: int) -> int | None:
    if layer is other:
        return span
    read = span if layer.order is None else int(layer.order[span])
    if other.order is None:
        return read if read < len(other) else None
    positions = np.flatnonzero(other.order == read)
    return int(positions[0]) if len(positions) else None


def neighbours(
    listed: pd.DataFrame, document: int, start: int, record: str, *, around: int = AROUND
) -> tuple[list[tuple[str, str]], float, int]:
    """Return the records near a place, the place among them, and its number in `found` (from 1, 0 if not among them).

    `found` stands in document order. The place is halfway between two where the record is not among them.
    """
    docs = listed["doc"].to_numpy()
    low, high = np.searchsorted(docs, document), np.searchsorted(docs, document, side="right")
    page = listed.iloc[low:high]
    same = np.flatnonzero((page["record"] == record).to_numpy())
    if len(same):
        place: float = int(low + same[0])
    else:
        gold = page["record"].str.startswith("g:")
        starts = page["gold_start"].where(gold, page["pred_start"]).to_numpy(np.int64)
        place = int(low) + int(np.searchsorted(starts, start)) - 0.5
    first = max(0, int(place) - around)
    near = listed.iloc[first : int(place) + around + 1]
    queue = list(zip(near["document"].astype(str), near["record"], strict=True))
    return queue, place - first, int(place) + 1 if len(same) else 0
