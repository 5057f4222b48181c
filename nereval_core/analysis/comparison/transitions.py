"""From one system to another: what the other made of each gold span and of each prediction, under one criterion.

Gold spans are the same on both sides. Predictions are taken by what they are: document, fragments and type. Of such a
prediction a system may have several copies; those of both systems are paired in the order of their decisions, so that
as many as can be are unchanged, and the ones left over are predicted by one system only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from nereval_core.arrays import Int64
from nereval_core.corpus import Layer, frozen
from nereval_core.scoring import Scores
from nereval_core.scoring.criteria import Decision

NOT_PREDICTED = "not predicted"
GOLD_STATES = ("COR", "INC", "PAR", "MIS")
"""What may become of a gold span, in the order of Decision."""
PRED_STATES = ("COR", "INC", "PAR", "SPU", NOT_PREDICTED)
"""What may become of a prediction: its decision, or another system alone made it."""
TRANSITION_COLUMNS = {"side": "category", "one": "category", "other": "category", "count": "int64"}
RIGHT_COLUMNS = {"right_by": "category", "gold_spans": "int64"}
_STATE = np.array([0, 1, 2, -1, 3], np.int8)
"""The place in PRED_STATES of each decision's code."""
_ROOM = 1 << 60


@dataclass(frozen=True, eq=False)
class Transitions:
    """How many gold spans and predictions went from each state under one system (rows) to each under another.

    `gold` has shape (4, 4), by GOLD_STATES; its sums over either axis are the systems' counts of gold spans. `pred`
    has shape (5, 5), by PRED_STATES; its sums, but those of NOT_PREDICTED, are the systems' counts of predictions.
    """

    gold: Int64
    pred: Int64

    def frame(self) -> pd.DataFrame:
        """Return one row a cell that is not empty: `side` (gold, pred), `one`, `other` (states), `count`."""
        rows = [
            (side, states[one], states[other], int(counts[one, other]))
            for side, states, counts in (("gold", GOLD_STATES, self.gold), ("pred", PRED_STATES, self.pred))
            for one, other in np.argwhere(counts).tolist()
        ]
        states = pd.CategoricalDtype([*GOLD_STATES, *PRED_STATES[3:]])
        sides = pd.CategoricalDtype(["gold", "pred"])
        made = pd.DataFrame(rows, columns=list(TRANSITION_COLUMNS))
        return made.astype({"side": sides, "one": states, "other": states, "count": "int64"})


def comparable(one: Scores, other: Scores, name: str) -> bool:
    """Tell whether two systems can be held against each other under a criterion: it decides over the same gold spans.

    Counted by token it does not: a run of tokens is cut by what each system predicts.
    """
    for scores in (one, other):
        if name not in {criterion.name for criterion in scores.criteria} or scores.criterion(name).unit != "span":
            return False
    return _same_spans(one.layers(name)[0], other.layers(name)[0])


def _same_spans(mine: Layer, theirs: Layer) -> bool:
    """Tell whether two layers hold the same spans, one by one, over the same documents, wherever they were read."""
    if mine is theirs:
        return True
    documents = mine.documents, theirs.documents
    if documents[0] is not documents[1] and (
        documents[0].ids != documents[1].ids or documents[0].digest != documents[1].digest
    ):
        return False
    if len(mine) != len(theirs) or mine.fragments != theirs.fragments:
        return False
    kinds = [np.array(layer.types, object)[layer.type] for layer in (mine, theirs)]
    columns = ((getattr(mine, key), getattr(theirs, key)) for key in ("doc", "start", "end"))
    return all(np.array_equal(*pair) for pair in (*columns, kinds))


def transitions(one: Scores, other: Scores, name: str) -> Transitions:
    """Count what became of gold spans and predictions from one system to another.

    Raises:
        ValueError: the criterion is not scored in both, or counts tokens.
    """
    if not comparable(one, other, name):
        raise ValueError(f"under {name} the two systems cannot be held against each other span by span")
    gold = _table(one.decisions(name)[0], other.decisions(name)[0], len(GOLD_STATES))
    mine, theirs = (_STATE[scores.decisions(name)[1]] for scores in (one, other))
    same = same_predictions(one, other, name)
    absent = len(PRED_STATES) - 1
    there = np.append(theirs, np.int8(absent))[same]
    alone = np.ones(len(theirs), bool)
    alone[same[same >= 0]] = False
    lone = theirs[alone]
    pred = _table(np.concatenate((mine, np.full(len(lone), absent))), np.concatenate((there, lone)), len(PRED_STATES))
    return Transitions(gold, pred)


def _table(rows: NDArray[np.integer], columns: NDArray[np.integer], size: int) -> Int64:
    cells = np.bincount(rows.astype(np.int64) * size + columns, minlength=size * size)
    return frozen(cells.astype(np.int64).reshape(size, size))


def same_predictions(one: Scores, other: Scores, name: str) -> Int64:
    """Return for each prediction of one system the index of the same one of another, -1 where there is none.

    Copies are paired by the order of their decisions (the best first), equal ones by their order in the layer.
    """
    sides = [scores.layers(name)[1] for scores in (one, other)]
    key = _keys(*sides)
    keys = (key[: len(sides[0])], key[len(sides[0]) :])
    ranked = []
    for scores, own in zip((one, other), keys, strict=True):
        # Layers stand nearly in the order of their keys, which a stable sort makes use of.
        ranked.append(np.argsort(own * len(Decision) + scores.decisions(name)[1], kind="stable"))
    mine, theirs = (own[order] for own, order in zip(keys, ranked, strict=True))
    copy = np.arange(len(mine)) - np.searchsorted(mine, mine, side="left")
    place = np.searchsorted(theirs, mine, side="left") + copy
    found = np.full(len(mine), -1, np.int64)
    there = place < np.searchsorted(theirs, mine, side="right")
    found[ranked[0][there]] = ranked[1][place[there]]
    return frozen(found)


def _keys(one: Layer, other: Layer) -> Int64:
    """Number the spans of two layers so that the same document, fragments and type have the same number."""
    types = {kind: code for code, kind in enumerate(sorted({*one.types, *other.types}))}
    broken = {
        parts: code for code, parts in enumerate(sorted({*one.fragments.values(), *other.fragments.values()}), start=1)
    }
    base = one.documents.base
    columns = []
    for layer in (one, other):
        kinds = np.array([types[kind] for kind in layer.types], np.int64)
        parts = np.zeros(len(layer), np.int64)
        for span, fragments in layer.fragments.items():
            parts[span] = broken[fragments]
        kind = kinds[layer.type] if len(layer) else np.zeros(0, np.int64)
        columns.append((base[layer.doc] + layer.start, (layer.end - layer.start).astype(np.int64), kind, parts))
    packed, *rest = (np.concatenate(pair) for pair in zip(*columns, strict=True))
    most = int(base[-1]) + 1
    for column in rest:
        size = int(column.max(initial=0)) + 1
        if most * size >= _ROOM:
            packed = np.unique(packed, return_inverse=True)[1]
            most = int(packed.max(initial=0)) + 1
        packed = packed * size + column
        most *= size
    return packed.astype(np.int64)


def right_names(systems: int) -> tuple[str, ...]:
    """Return the names of how many of some systems may be right: none, 1, 2, ... all."""
    return ("none", *map(str, range(1, systems)), "all") if systems else ("none",)


def right_by(systems: Sequence[Scores], name: str) -> Int64:
    """Count for each gold span the systems that get it right (COR) under a criterion, shape (gold spans,).

    Raises:
        ValueError: the criterion is not scored in all of them, or counts tokens.
    """
    if not all(comparable(systems[0], other, name) for other in systems):
        raise ValueError(f"under {name} the systems cannot be held against each other span by span")
    found = np.zeros(len(systems[0].layers(name)[0]), np.int64)
    for scores in systems:
        found += scores.decisions(name)[0] == Decision.COR
    return frozen(found)


def right_table(systems: Sequence[Scores], name: str) -> pd.DataFrame:
    """Return how many gold spans are right by none, by one, ... by all systems: RIGHT_COLUMNS, a row each."""
    names = right_names(len(systems))
    counts = np.bincount(right_by(systems, name), minlength=len(names))
    return pd.DataFrame({"right_by": pd.Categorical(names, categories=names), "gold_spans": counts.astype(np.int64)})


__all__: Sequence[str] = (
    "GOLD_STATES",
    "NOT_PREDICTED",
    "PRED_STATES",
    "RIGHT_COLUMNS",
    "TRANSITION_COLUMNS",
    "Transitions",
    "comparable",
    "right_by",
    "right_names",
    "right_table",
    "same_predictions",
    "transitions",
)
