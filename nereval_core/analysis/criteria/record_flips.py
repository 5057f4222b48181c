"""Find the smallest change of a prediction that flips the decision on a record, by scoring its document again.

A prediction that moves may lose its gold span to another prediction, or take that of a third: what a criterion decides
of the pair does not tell what becomes of the record. Every change that is named here was scored.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from numpy.typing import NDArray

from nereval_core.analysis.criteria.flips import Change, Placed, to_correct, to_wrong
from nereval_core.analysis.criteria.merging import places_after
from nereval_core.arrays import Bools
from nereval_core.corpus import Documents, Layer
from nereval_core.corpus import layer as layer_of
from nereval_core.scoring import Scores, score_layers
from nereval_core.scoring.criteria import Criterion, Decision

NEAR = 6
"""Characters up to which every move is tried."""
FAR = 100
"""Moves of more characters that are tried, the shortest first: those to where a span near by begins or ends, or one
character beside."""
FIRST = 60
"""Changes that are tried at once before all others."""
ANOTHER = "another type"
"""A type that stands for those that no span near by has; a longer name is taken where one has it."""


@dataclass(frozen=True, slots=True)
class Flip:
    """What flips a record: the smallest change, None where none that was tried does, and the types that leave it.

    `kept` are the types that the prediction may take without a flip, its own first; None where a change of the type
    alone is not asked about.
    """

    change: Change | None
    kept: tuple[str, ...] | None = None


def smallest_flips(
    scores: Scores, rules: Sequence[Criterion], pair: tuple[int, int], record: tuple[int, int]
) -> Mapping[str, Flip]:
    """Return by criterion the smallest change of a prediction that makes a record COR, or no longer COR.

    `pair` are a gold span and the prediction that changes, `record` the gold span whose decision is to flip, or -1 and
    the prediction whose is: indices into the layers as read. Tried are all moves of its start and end by NEAR
    characters together, FAR further ones, the gold span's own fragments, each with the prediction's type and the gold
    span's.
    """
    gold, pred = scores.read
    ours, theirs = Placed.of(gold, pair[0]), Placed.of(pred, pair[1])
    side, span = (0, record[0]) if record[0] >= 0 else (1, record[1])
    length = int(gold.documents.lengths[gold.doc[pair[0]]])
    near = [Placed.of(layer, one) for layer in (gold, pred) for one in _around(layer, pred, pair[1])]
    settings = replace(scores.settings, criteria=tuple(rules))

    def correct(changes: Sequence[tuple[Placed, Change]]) -> Mapping[str, Bools]:
        made = _copies(gold, pred, pair[1], [moved for moved, _ in changes])
        rescored = score_layers(*made.layers, settings)
        return {rule.name: _are_correct(rescored, rule.name, side, made.where(side, span)) for rule in rules}

    kinds = list(dict.fromkeys((theirs.kind, ours.kind)))
    other = ANOTHER
    while any(one.kind == other for one in near):
        other += "'"
    kept = list(dict.fromkeys((theirs.kind, ours.kind, *sorted({one.kind for one in near}), other)))
    as_types = correct([(replace(theirs, kind=kind), Change()) for kind in kept])
    was = {name: bool(found[0]) for name, found in as_types.items()}
    changes = sorted(_changes(ours, theirs, rules, near, length, kinds), key=_size)
    flips: dict[str, Change] = {}
    for some in (changes[:FIRST], changes[FIRST:]):
        if not some or len(flips) == len(rules):
            continue
        for name, found in correct(some).items():
            turned = np.flatnonzero(found != was[name])
            if name not in flips and len(turned):
                flips[name] = some[int(turned[0])][1]
    return {
        rule.name: Flip(
            flips.get(rule.name),
            tuple(kind for kind, found in zip(kept, as_types[rule.name].tolist(), strict=True) if found)
            if was[rule.name] and not as_types[rule.name][-1]
            else None,
        )
        for rule in rules
    }


def _changes(
    gold: Placed, pred: Placed, rules: Sequence[Criterion], near: Sequence[Placed], length: int, kinds: Sequence[str]
) -> list[tuple[Placed, Change]]:
    """Return the predictions that are tried, each with its change, none twice."""
    moves = {
        (start, end) for start in range(-NEAR, NEAR + 1) for end in range(abs(start) - NEAR, NEAR + 1 - abs(start))
    }
    for rule in rules:
        for move in (to_correct(rule, gold, pred), to_wrong(rule, gold, pred, length)):
            if move is not None and not move.fragments:
                moves.add((move.start, move.end))
    places = {
        edge + beside
        for one in (gold, pred, *near)
        for part in (*one.parts, *one.alternatives, *([one.core] if one.core else []))
        for edge in part
        for beside in (-1, 0, 1)
    } | {0, length}
    further = sorted(
        {(start - pred.start, end - pred.end) for start, end in product(places, places) if start < end} - moves,
        key=lambda move: (abs(move[0]) + abs(move[1]), move),
    )
    found: list[tuple[Placed, Change]] = []
    for start, end in (*moves, *further[:FAR]):
        moved = _moved(pred, start, end, length)
        if moved is not None:
            found += [(replace(moved, kind=kind), Change(start, end, kind != pred.kind)) for kind in kinds]
    found += [(Placed(gold.parts, kind), Change(retyped=kind != pred.kind, fragments=True)) for kind in kinds]
    return found


def _moved(pred: Placed, start: int, end: int, length: int) -> Placed | None:
    """Return a prediction with its ends moved, None where it would leave the text or lose a fragment."""
    parts = list(pred.parts)
    parts[0] = (parts[0][0] + start, parts[0][1])
    parts[-1] = (parts[-1][0], parts[-1][1] + end)
    if parts[0][0] < 0 or parts[-1][1] > length or any(low >= high for low, high in parts):
        return None
    return Placed(tuple(parts), pred.kind)


def _size(found: tuple[Placed, Change]) -> tuple[int, ...]:
    """Return what changes are sorted by: characters, whether the type changes; of equal ones the end moves."""
    change = found[1]
    return (change.fragments, change.characters, change.retyped, abs(change.start), -change.end, change.start)


def _around(layer: Layer, pred: Layer, span: int) -> list[int]:
    """Return the spans of a layer that lie near a prediction in its document."""
    low, high = layer.first[pred.doc[span] : pred.doc[span] + 2].tolist()
    room = int(pred.end[span] - pred.start[span]) + 2 * NEAR
    there = (layer.start[low:high] < pred.end[span] + room) & (layer.end[low:high] > pred.start[span] - room)
    return [low + at for at in np.flatnonzero(there).tolist()]


@dataclass(frozen=True, eq=False)
class _Copies:
    """Copies of the part of a document that changes can matter to, each with another prediction in place of one.

    `rows` are the spans of both sides in the part, in the order in which they were read.
    """

    layers: tuple[Layer, Layer]
    rows: tuple[list[int], list[int]]

    def where(self, side: int, span: int) -> NDArray[np.int64]:
        """Return the place of a span in each copy, in the order in which the copies were made."""
        size, copies = len(self.rows[side]), len(self.layers[0].documents)
        return self.rows[side].index(span) + size * np.arange(copies)


def _copies(gold: Layer, pred: Layer, span: int, changed: Sequence[Placed]) -> _Copies:
    document = int(pred.doc[span])
    low = min(int(pred.start[span]), *(one.start for one in changed))
    high = max(int(pred.end[span]), *(one.end for one in changed))
    sides = [np.arange(*layer.first[document : document + 2].tolist()) for layer in (gold, pred)]
    while True:
        # Spans that share no character with any of these, by whatever chain, are judged as they were.
        some = [
            rows[(layer.start[rows] < high) & (layer.end[rows] > low)]
            for layer, rows in zip((gold, pred), sides, strict=True)
        ]
        starts, ends = (
            np.concatenate([getattr(layer, key)[rows] for layer, rows in zip((gold, pred), some, strict=True)])
            for key in ("start", "end")
        )
        wider = min(low, int(starts.min())), max(high, int(ends.max()))
        if wider == (low, high):
            break
        low, high = wider
    rows = [_as_read(layer, here.tolist()) for layer, here in zip((gold, pred), some, strict=True)]
    lengths = np.full(len(changed), int(gold.documents.lengths[document]), np.int64)
    names = tuple(map(str, range(len(changed))))
    documents = Documents(names, ("",) * len(changed), sizes=lengths)
    whole = [Placed.of(gold, one) for one in rows[0]]
    own = [Placed.of(pred, one) for one in rows[1]]
    at = rows[1].index(span)
    layers = (
        _layer("gold", documents, [whole] * len(changed)),
        _layer("pred", documents, [[*own[:at], one, *own[at + 1 :]] for one in changed]),
    )
    return _Copies(layers, (rows[0], rows[1]))


def _as_read(layer: Layer, rows: list[int]) -> list[int]:
    return rows if layer.order is None else sorted(rows, key=lambda row: int(layer.order[row]))  # type: ignore[index]


def _layer(name: str, documents: Documents, copies: Iterable[Sequence[Placed]]) -> Layer:
    rows = [(number, one) for number, spans in enumerate(copies) for one in spans]
    return layer_of(
        name,
        documents,
        [number for number, _ in rows],
        [one.start for _, one in rows],
        [one.end for _, one in rows],
        [one.kind for _, one in rows],
        extras={
            "fragments": {at: one.parts for at, (_, one) in enumerate(rows) if len(one.parts) > 1},
            "cores": {at: one.core for at, (_, one) in enumerate(rows) if one.core},
            "alternatives": {at: one.alternatives for at, (_, one) in enumerate(rows) if one.alternatives},
        },
    )


def _are_correct(scores: Scores, name: str, side: int, spans: NDArray[np.int64]) -> Bools:
    """Tell of spans as made whether each is correct; one whose type is left out is not."""
    places = places_after(scores.read[side], scores.layers(name)[side])
    read = scores.read[side]
    made = np.empty(len(read), np.int64)
    made[np.arange(len(read)) if read.order is None else read.order] = places
    at = made[spans]
    found: Bools = (at >= 0) & (scores.decisions(name)[side][at] == Decision.COR)
    return found


__all__: Sequence[str] = ("Flip", "smallest_flips")
