"""The kernel of published scorers: rows of sets as a slow rule decides them, and ratios as their formulas say."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nereval_core.conventions.outcome import RatioNames
from nereval_core.conventions.records import (
    COR,
    IGN,
    MATCHED,
    MIS,
    REPEATED,
    SPU,
    UNMATCHED,
    Evaluation,
    MatchRows,
    SharedTypes,
)

OTHER_REASON = 5
Side = list[tuple[int, bool]]
"""The key of each unit, and whether the scorer passes over it."""
SIDES = st.lists(st.tuples(st.integers(0, 4), st.booleans()), max_size=8)


def rows_by_hand(gold: Side, pred: Side) -> list[tuple[int, int, int, int]]:
    firsts: list[dict[int, int]] = [{}, {}]
    for side, first in zip((gold, pred), firsts, strict=True):
        for number, (key, ignored) in enumerate(side):
            if not ignored:
                first.setdefault(key, number)
    rows = []
    for side, own, other, alone in ((gold, firsts[0], firsts[1], MIS), (pred, firsts[1], firsts[0], SPU)):
        for number, (key, ignored) in enumerate(side):
            units = (number, -1) if alone == MIS else (-1, number)
            if ignored:
                rows.append((*units, IGN, OTHER_REASON))
            elif own[key] != number:
                rows.append((*units, IGN, REPEATED))
            elif key not in other:
                rows.append((*units, alone, UNMATCHED))
            elif alone == MIS:
                rows.append((number, other[key], COR, MATCHED))
    return rows


@given(SIDES, SIDES)
def test_sets_are_matched_key_by_key(gold: Side, pred: Side) -> None:
    keys = [np.array([key for key, _ in side], np.int64) for side in (gold, pred)]
    ignored = [np.array([OTHER_REASON if out else -1 for _, out in side], np.int64) for side in (gold, pred)]
    rows = MatchRows.of_sets(*keys, *ignored)
    columns = (rows.gold, rows.pred, rows.decision, rows.reason)
    assert list(zip(*(column.tolist() for column in columns), strict=True)) == rows_by_hand(gold, pred)
    types = tuple("abcde")
    by_type = rows.decisions_by_type(SharedTypes(types, *keys))
    for code, name in enumerate(types):
        own = [
            decision for g, p, decision, _ in rows_by_hand(gold, pred) if (keys[0][g] if g >= 0 else keys[1][p]) == code
        ]
        counts = tuple(own.count(decision) for decision in range(IGN))
        assert by_type.get(name, (0,) * IGN) == counts


def test_counters_add_up_decisions_by_scope() -> None:
    evaluation = Evaluation(reasons=(), counters={"right": (COR,), "gold": (COR, MIS)})
    scopes = evaluation.scopes({"PER": (1, 0, 0, 2, 3), "overall": (4, 0, 0, 0, 0)})
    assert scopes == {
        "overall": {"right": 5, "gold": 7},
        "PER": {"right": 1, "gold": 3},
        "overall (type)": {"right": 4, "gold": 4},
    }


NAMES = (
    RatioNames(precision="P", recall="R", f1="F", correct="right", gold="gold", pred="found"),
    RatioNames(precision="P", recall="R", f1="F", correct="right", gold="gold", pred="found", percent=True),
    RatioNames(precision="P", recall="R", f1="F", correct="right", fp="wrong", fn="lost"),
)


@pytest.mark.parametrize("ratios", NAMES)
def test_ratios_are_what_their_formulas_say(ratios: RatioNames) -> None:
    counts = {"right": 3, "gold": 7, "found": 5, "wrong": 2, "lost": 4}
    values = ratios.of(counts)
    for name, formula in ratios.formulas.items():
        numbers = re.sub(r"[A-Za-z]+", lambda part: repr({**counts, **values}[part[0]]), formula.replace("×", "*"))
        assert values[name] == pytest.approx(eval(numbers))
    assert values["F"] == pytest.approx(50.0 if ratios.percent else 0.5)
    assert ratios.of(dict.fromkeys(counts, 0)) == {"P": 0.0, "R": 0.0, "F": 0.0}
