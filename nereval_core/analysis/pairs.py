"""Pairs of a gold span and a prediction that share a character: all there are, and what a criterion says of one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nereval_core.alignment.candidates import Knot, Pairs, bounds, candidate_pairs, tie_up
from nereval_core.alignment.codes import ranges
from nereval_core.alignment.questions import Facts, Question
from nereval_core.arrays import Int64
from nereval_core.corpus import Layer
from nereval_core.problems import FormatError
from nereval_core.scoring import rules_table, spans_of
from nereval_core.scoring.criteria import Criterion

MOST = 20_000_000
"""Pairs that are looked at together: each takes 41 bytes, and somewhat more while they are found."""


def overlapping(gold: Layer, pred: Layer) -> tuple[Pairs, Int64, Int64]:
    """Return every pair that shares a character, and the characters of each gold span and of each prediction.

    `gold` and `pred` of a pair are span indices, `shared` is in code points; characters between fragments do not count.

    Sizes are empty where either side has no spans.

    Raises:
        FormatError: more than MOST pairs.
    """
    if not len(gold) or not len(pred):
        none = np.zeros(0, np.int64)
        alone = Pairs(none, none, none.astype(np.uint8), none, none, none)
        return alone, none, none
    knot = _knot(gold, pred, ())
    low, high, other_low, other_high = bounds(knot)
    many = int((high - low).sum() + (other_high - other_low).sum())
    if many > MOST:
        found = f"{many:,} pairs of overlapping spans"
        raise FormatError.single("spans", None, found, f"look at documents with at most {MOST:,} in all")
    row, other = ranges(low, high)
    column, one = ranges(other_low, other_high)
    pairs = candidate_pairs(knot, np.concatenate((row, one)), np.concatenate((other, column)))
    return pairs, knot.size("gold"), knot.size("pred")


def judged_alone(gold: Layer, pred: Layer, rule: Criterion, g: NDArray[Any], p: NDArray[Any]) -> NDArray[np.uint8]:
    """Return what a criterion decides about pairs that share a character, as Decision, whatever it aligns."""
    if not len(g):
        return np.zeros(0, np.uint8)
    rules = rules_table((rule,))
    pairs = candidate_pairs(_knot(gold, pred, rules.questions), g.astype(np.int64), p.astype(np.int64))
    found: NDArray[np.uint8] = rules.decisions[pairs.code, 0]
    return found


def same_type(gold: Layer, pred: Layer, g: NDArray[Any], p: NDArray[Any]) -> NDArray[np.bool_]:
    """Tell which pairs of spans have one type, shape (pairs,)."""
    place = {kind: code for code, kind in enumerate(gold.types)}
    codes = np.array([place.get(kind, -1) for kind in pred.types], np.int32)
    return np.asarray(codes[pred.type[p]] == gold.type[g])


def _knot(gold: Layer, pred: Layer, questions: tuple[Question, ...]) -> Knot:
    types = tuple(sorted({*gold.types, *pred.types}))
    ours, theirs = spans_of(gold, types), spans_of(pred, types)
    facts = Facts.of(ours, theirs, questions)
    return tie_up(ours, theirs, gold.documents.base, facts, np.arange(len(gold)), np.arange(len(pred)))


__all__: Sequence[str] = ("MOST", "judged_alone", "overlapping", "same_type")
