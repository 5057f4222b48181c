"""The criterion ladder of a match record: each criterion's decision on each candidate pair, and the smallest flip.

A flip is the smallest change of a prediction that flips the decision on the record. A prediction that moves may lose
its gold span to another prediction, or take that of a third. So the decision on the pair alone does not determine that
on the record: its document is scored again, and every change given here was scored.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from nereval_core.alignment.candidates import shared_characters
from nereval_core.analysis.criteria.flips import (
    CriterionSpan,
    PredictionChange,
    change_in_words,
    decide_pair,
    smallest_breaking_move,
    smallest_correction,
)
from nereval_core.analysis.span_relations import corresponding_spans
from nereval_core.corpus import Documents, Layer
from nereval_core.corpus import layer as layer_of
from nereval_core.corpus.arrays import Bools
from nereval_core.records.match_records import record_ids
from nereval_core.scoring import Scores, score_layers
from nereval_core.scoring.count_tables import TEXT_DTYPE, Columns, typed_table
from nereval_core.scoring.criteria import Criterion, Decision

NEAR_CHARACTERS = 6
"""All moves of start and end by so many characters together are tried."""
FAR_MOVES = 100
"""Longer moves tried, the shortest first: those to an edge of a nearby span, or to one character beside it."""
FIRST_CHANGES = 60
"""Changes scored together before all others."""
ANOTHER_TYPE = "another type"
"""Stands for all types that no nearby span has; the name is lengthened if a span has it."""
LEFT_OUT = "left out"
NOTHING = "no change of this prediction flips the record"
LADDER_COLUMNS: Columns = {
    **dict.fromkeys(("pair", "gold", "pred"), "int64"),
    **dict.fromkeys(("gold_record", "pred_record", "criterion", "decision"), TEXT_DTYPE),
    "aligned": "bool",
    "partner": TEXT_DTYPE,
    "change": TEXT_DTYPE,
}
"""Columns of `ladder` and their dtypes. `gold` and `pred` are span indices in the layers of the record. `decision` is
that on the pair, whether or not the criterion aligns it (`aligned`); `partner` names the spans that the two are aligned
with. `change` is the smallest change of the pair's prediction that flips the decision on the record when its document
is scored again, or the statement that there is none."""


@dataclass(frozen=True, slots=True)
class RecordFlip:
    """The flip of a record: the smallest change, None where no change that was tried flips it, and the types that do
    not.

    `harmless_types` are the types that the prediction may have without a flip, its own first; None where a type that no
    nearby span has does not flip the record.
    """

    change: PredictionChange | None
    harmless_types: tuple[str, ...] | None = None


def smallest_flips(
    scores: Scores, rules: Sequence[Criterion], pair: tuple[int, int], record: tuple[int, int]
) -> Mapping[str, RecordFlip]:
    """Return by criterion the smallest change of a prediction that makes a record COR, or no longer COR.

    `pair` are a gold span and the prediction that changes. `record` is the gold span whose decision should flip, or -1
    and the prediction whose decision should. All are indices into the layers as read. The changes tried are all moves
    of start and end by NEAR_CHARACTERS together, FAR_MOVES further ones, and the gold span's own fragments, each with
    the type of either span.
    """
    gold, pred = scores.read
    ours, theirs = CriterionSpan.of(gold, pair[0]), CriterionSpan.of(pred, pair[1])
    side, span = (0, record[0]) if record[0] >= 0 else (1, record[1])
    length = int(gold.documents.lengths[gold.doc[pair[0]]])
    near = [
        CriterionSpan.of(layer, near_span)
        for layer in (gold, pred)
        for near_span in _spans_nearby(layer, pred, pair[1])
    ]
    settings = replace(scores.settings, criteria=tuple(rules))

    def correct(changes: Sequence[tuple[CriterionSpan, PredictionChange]]) -> Mapping[str, Bools]:
        copies = _copy_document(gold, pred, pair[1], [moved for moved, _ in changes])
        rescored = score_layers(*copies.layers, settings)
        return {rule.name: _are_correct(rescored, rule.name, side, copies.where(side, span)) for rule in rules}

    kinds = list(dict.fromkeys((theirs.kind, ours.kind)))
    other = ANOTHER_TYPE
    while any(near_span.kind == other for near_span in near):
        other += "'"
    kinds_tried = list(dict.fromkeys((theirs.kind, ours.kind, *sorted({near_span.kind for near_span in near}), other)))
    as_types = correct([(replace(theirs, kind=kind), PredictionChange()) for kind in kinds_tried])
    was = {name: bool(is_correct[0]) for name, is_correct in as_types.items()}
    changes = sorted(_changes(ours, theirs, rules, near, length, kinds), key=_change_order)
    flips: dict[str, PredictionChange] = {}
    for batch in (changes[:FIRST_CHANGES], changes[FIRST_CHANGES:]):
        if not batch or len(flips) == len(rules):
            continue
        for name, is_correct in correct(batch).items():
            turned = np.flatnonzero(is_correct != was[name])
            if name not in flips and len(turned):
                flips[name] = batch[int(turned[0])][1]
    return {
        rule.name: RecordFlip(
            flips.get(rule.name),
            tuple(
                kind for kind, is_correct in zip(kinds_tried, as_types[rule.name].tolist(), strict=True) if is_correct
            )
            if was[rule.name] and not as_types[rule.name][-1]
            else None,
        )
        for rule in rules
    }


def _changes(
    gold: CriterionSpan,
    pred: CriterionSpan,
    rules: Sequence[Criterion],
    near: Sequence[CriterionSpan],
    length: int,
    kinds: Sequence[str],
) -> list[tuple[CriterionSpan, PredictionChange]]:
    """Return the distinct predictions to try, each with its change."""
    moves = {
        (start, end)
        for start in range(-NEAR_CHARACTERS, NEAR_CHARACTERS + 1)
        for end in range(abs(start) - NEAR_CHARACTERS, NEAR_CHARACTERS + 1 - abs(start))
    }
    for rule in rules:
        for move in (smallest_correction(rule, gold, pred), smallest_breaking_move(rule, gold, pred, length)):
            if move is not None and not move.fragments:
                moves.add((move.start, move.end))
    places = {
        edge + beside
        for span in (gold, pred, *near)
        for part in (*span.parts, *span.alternatives, *([span.core] if span.core else []))
        for edge in part
        for beside in (-1, 0, 1)
    } | {0, length}
    further = sorted(
        {(start - pred.start, end - pred.end) for start, end in product(places, places) if start < end} - moves,
        key=lambda move: (abs(move[0]) + abs(move[1]), move),
    )
    changes: list[tuple[CriterionSpan, PredictionChange]] = []
    for start, end in (*moves, *further[:FAR_MOVES]):
        moved = _move_ends(pred, start, end, length)
        if moved is not None:
            changes += [(replace(moved, kind=kind), PredictionChange(start, end, kind != pred.kind)) for kind in kinds]
    changes += [
        (CriterionSpan(gold.parts, kind), PredictionChange(retyped=kind != pred.kind, fragments=True)) for kind in kinds
    ]
    return changes


def _move_ends(pred: CriterionSpan, start: int, end: int, length: int) -> CriterionSpan | None:
    """Return a prediction with its ends moved, None if it would leave the text or lose a fragment."""
    parts = list(pred.parts)
    parts[0] = (parts[0][0] + start, parts[0][1])
    parts[-1] = (parts[-1][0], parts[-1][1] + end)
    if parts[0][0] < 0 or parts[-1][1] > length or any(low >= high for low, high in parts):
        return None
    return CriterionSpan(tuple(parts), pred.kind)


def _change_order(moved: tuple[CriterionSpan, PredictionChange]) -> tuple[int, ...]:
    """Return the sort key of a change: characters moved, then change of type; moves of the end come first."""
    change = moved[1]
    return (change.fragments, change.characters, change.retyped, abs(change.start), -change.end, change.start)


def _spans_nearby(layer: Layer, pred: Layer, span: int) -> list[int]:
    """Return the spans of a layer near a prediction in its document."""
    low, high = layer.first[pred.doc[span] : pred.doc[span] + 2].tolist()
    room = int(pred.end[span] - pred.start[span]) + 2 * NEAR_CHARACTERS
    is_near = (layer.start[low:high] < pred.end[span] + room) & (layer.end[low:high] > pred.start[span] - room)
    return [low + at for at in np.flatnonzero(is_near).tolist()]


@dataclass(frozen=True, eq=False)
class _Copies:
    """Copies of the part of a document that changes can affect, each with a changed prediction in place of one.

    `rows` are the spans of both sides in that part, in the order of reading.
    """

    layers: tuple[Layer, Layer]
    rows: tuple[list[int], list[int]]

    def where(self, side: int, span: int) -> NDArray[np.int64]:
        """Return the index of a span in each copy, in the order of the copies."""
        size, copies = len(self.rows[side]), len(self.layers[0].documents)
        return self.rows[side].index(span) + size * np.arange(copies)


def _copy_document(gold: Layer, pred: Layer, span: int, changed: Sequence[CriterionSpan]) -> _Copies:
    document = int(pred.doc[span])
    low = min(int(pred.start[span]), *(each_span.start for each_span in changed))
    high = max(int(pred.end[span]), *(each_span.end for each_span in changed))
    sides = [np.arange(*layer.first[document : document + 2].tolist()) for layer in (gold, pred)]
    while True:
        # Spans that no chain of overlapping spans connects with these keep their decisions.
        connected = [
            rows[(layer.start[rows] < high) & (layer.end[rows] > low)]
            for layer, rows in zip((gold, pred), sides, strict=True)
        ]
        starts, ends = (
            np.concatenate([getattr(layer, key)[rows] for layer, rows in zip((gold, pred), connected, strict=True)])
            for key in ("start", "end")
        )
        wider = min(low, int(starts.min())), max(high, int(ends.max()))
        if wider == (low, high):
            break
        low, high = wider
    rows = [_in_reading_order(layer, here.tolist()) for layer, here in zip((gold, pred), connected, strict=True)]
    lengths = np.full(len(changed), int(gold.documents.lengths[document]), np.int64)
    names = tuple(map(str, range(len(changed))))
    documents = Documents(names, ("",) * len(changed), sizes=lengths)
    whole = [CriterionSpan.of(gold, each_span) for each_span in rows[0]]
    own = [CriterionSpan.of(pred, each_span) for each_span in rows[1]]
    at = rows[1].index(span)
    layers = (
        _layer_of_copies("gold", documents, [whole] * len(changed)),
        _layer_of_copies("pred", documents, [[*own[:at], each_span, *own[at + 1 :]] for each_span in changed]),
    )
    return _Copies(layers, (rows[0], rows[1]))


def _in_reading_order(layer: Layer, rows: list[int]) -> list[int]:
    order = layer.order
    return rows if order is None else sorted(rows, key=lambda row: int(order[row]))


def _layer_of_copies(name: str, documents: Documents, copies: Iterable[Sequence[CriterionSpan]]) -> Layer:
    rows = [(number, span) for number, spans in enumerate(copies) for span in spans]
    return layer_of(
        name,
        documents,
        [number for number, _ in rows],
        [span.start for _, span in rows],
        [span.end for _, span in rows],
        [span.kind for _, span in rows],
        extras={
            "fragments": {at: span.parts for at, (_, span) in enumerate(rows) if len(span.parts) > 1},
            "cores": {at: span.core for at, (_, span) in enumerate(rows) if span.core},
            "alternatives": {at: span.alternatives for at, (_, span) in enumerate(rows) if span.alternatives},
        },
    )


def _are_correct(scores: Scores, name: str, side: int, spans: NDArray[np.int64]) -> Bools:
    """Tell which spans, numbered in the order of reading, are correct; a span of a type left out is not."""
    places = corresponding_spans(scores.read[side], scores.layers(name)[side])
    read = scores.read[side]
    place_in_order = np.empty(len(read), np.int64)
    place_in_order[np.arange(len(read)) if read.order is None else read.order] = places
    at = place_in_order[spans]
    is_correct: Bools = (at >= 0) & (scores.decisions(name)[side][at] == Decision.COR)
    return is_correct


def ladder(scores: Scores, name: str, gold: int, pred: int) -> pd.DataFrame:
    """Return a row for each candidate pair and criterion, pairs in order of position: LADDER_COLUMNS.

    `gold` and `pred` are the spans of a match record under the criterion `name`, -1 where it has none. Each makes a
    candidate pair with every span of the other side that it shares a character with. Criteria that count tokens have
    no rows.
    """
    layers = scores.layers(name)
    read = [corresponding_spans(layer, own) for layer, own in zip(layers, scores.read, strict=True)]
    record = (int(read[0][gold]), -1) if gold >= 0 else (-1, int(read[1][pred]))
    rules = [criterion for criterion in scores.criteria if criterion.unit == "span"]
    rows = []
    for pair, (g, p) in enumerate(ladder_pairs(*layers, gold, pred)):
        ids = (_record_id(layers[0], "g", g), _record_id(layers[1], "p", p))
        head = (pair, g, p, *ids)
        flips = smallest_flips(scores, rules, (int(read[0][g]), int(read[1][p])), record)
        rows += [(*head, rule.name, *_ladder_row(scores, rule, layers, g, p, flips[rule.name])) for rule in rules]
    return typed_table(rows, LADDER_COLUMNS)


def ladder_pairs(gold: Layer, pred: Layer, g: int, p: int) -> tuple[tuple[int, int], ...]:
    """Return the overlapping pairs that contain the gold span `g` or the prediction `p` (-1: none), in order."""
    pairs = {(g, pred_span) for pred_span in _overlapping_spans(gold, g, pred)} | {
        (gold_span, p) for gold_span in _overlapping_spans(pred, p, gold)
    }
    return tuple(sorted(pairs, key=lambda pair: (pair[0] != g, pair[1] != p, pair)))


def _overlapping_spans(layer: Layer, span: int, other: Layer) -> list[int]:
    if span < 0:
        return []
    low, high = other.first[layer.doc[span] : layer.doc[span] + 2].tolist()
    hulls = (other.start[low:high] < layer.end[span]) & (other.end[low:high] > layer.start[span])
    own = layer.parts(span)
    return [i for i in (np.flatnonzero(hulls) + low).tolist() if shared_characters(own, other.parts(i))]


def _ladder_row(
    scores: Scores, rule: Criterion, layers: tuple[Layer, Layer], gold_span: int, pred_span: int, flip: RecordFlip
) -> tuple[str, bool, str, str]:
    """Return the columns `decision`, `aligned`, `partner` and `change` of a pair under a criterion."""
    own = scores.layers(rule.name)
    g, p = (
        int(corresponding_spans(mine, layer)[span])
        for mine, span, layer in zip(layers, (gold_span, pred_span), own, strict=True)
    )
    if g < 0 or p < 0:
        return LEFT_OUT, False, "", ""
    gold, pred = CriterionSpan.of(own[0], g), CriterionSpan.of(own[1], p)
    decision = decide_pair(rule, gold, pred)
    partners = scores.partners(rule.name)
    mine, theirs = int(partners[0][g]), int(partners[1][p])
    if mine == p:
        partner = "each other"
    else:
        ways = ((own[1], "p", mine, "the gold span"), (own[0], "g", theirs, "the prediction"))
        partner = "; ".join(
            f"{what} stays alone" if mate < 0 else f"{what} takes {_record_id(layer, prefix, mate)}"
            for layer, prefix, mate, what in ways
        )
    return decision.name, mine == p, partner, _flip_in_words(flip, gold, pred)


def _flip_in_words(flip: RecordFlip, gold: CriterionSpan, pred: CriterionSpan) -> str:
    """Return the flip of a record in words."""
    ways = [] if flip.change is None else [change_in_words(flip.change, gold, pred)]
    if flip.harmless_types is not None:
        ways.append(f"any type but {' or '.join(flip.harmless_types)}")
    return ", or ".join(ways) or NOTHING


def _record_id(layer: Layer, prefix: str, span: int) -> str:
    return record_ids(layer, prefix, np.array([span]))[0]
