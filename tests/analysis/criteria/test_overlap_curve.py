"""The overlap curve: every step is what scoring with the criterion composed of it gives, and nothing lies between."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nereval_core.analysis.criteria.overlap_curve import CURVE_COLUMNS, SHARES, criterion_at, overlap_curve, step_at
from nereval_core.corpus import Layer
from nereval_core.scoring import Settings, score_layers
from nereval_core.scoring.criteria import CRITERIA, Criterion, Share
from nereval_core.scoring.criterion_syntax import criterion_from_parts, criterion_to_toml
from tests.support.draws import draws
from tests.support.oracle import Span
from tests.support.spans import documents, make, random_spans


def layers(*sides: list[Span]) -> tuple[Layer, Layer]:
    over = documents(1)
    gold, pred = (make(name, over, [(0, one) for one in side]) for name, side in zip("gp", sides, strict=True))
    return gold, pred


def span(low: int, high: int, kind: str = "A") -> Span:
    return Span(((low, high),), kind)


BY_HAND: tuple[tuple[list[Span], list[Span], Share, list[tuple[str, int]]], ...] = (
    ([span(0, 4)], [span(0, 4)], "union", [("1/1", 1)]),
    ([span(0, 4)], [span(2, 6)], "union", [("1/1", 0), ("1/3", 1)]),
    ([span(0, 4)], [span(2, 6)], "gold", [("1/1", 0), ("1/2", 1)]),
    ([span(0, 4)], [span(1, 4)], "prediction", [("1/1", 1)]),
    ([span(0, 4)], [span(0, 4, "B")], "union", [("1/1", 0)]),
    ([span(0, 4)], [], "union", [("1/1", 0)]),
    # The first pair is better for either; only at a third can both be had, by handing the prediction on.
    ([span(0, 6), span(4, 10)], [span(2, 8), span(4, 9)], "union", [("1/1", 0), ("5/6", 1), ("1/2", 2)]),
)


@pytest.mark.parametrize(("gold", "pred", "share", "steps"), BY_HAND)
def test_steps_worked_by_hand(gold: list[Span], pred: list[Span], share: Share, steps: list[tuple[str, int]]) -> None:
    table = overlap_curve(*layers(gold, pred), share)
    assert dict(table.dtypes) == dict(CURVE_COLUMNS)
    rows = zip(table["numerator"], table["denominator"], table["COR"], strict=True)
    assert [(f"{top}/{below}", correct) for top, below, correct in rows] == steps


@draws(6)
@given(st.integers(0, 10**6), st.sampled_from(list(SHARES)), st.booleans())
def test_every_step_is_what_scoring_gives(seed: int, share: Share, same: bool) -> None:
    rng = random.Random(seed)
    over = documents(4)
    gold, pred = (make(name, over, [(doc, one) for doc in range(4) for one in random_spans(rng, 7)]) for name in "gp")
    table = overlap_curve(gold, pred, share, same_type=same)
    least = [Fraction(top, below) for top, below in zip(table["numerator"], table["denominator"], strict=True)]
    assert least[0] == 1 and least == sorted(least, reverse=True) and list(map(float, least)) == list(table["minimum"])
    assert table["COR"].is_monotonic_increasing and table["COR"].iloc[1:].is_unique
    asked = dict.fromkeys([*least, *((a + b) / 2 for a, b in pairwise(least)), least[-1] / 2])
    for minimum in asked:
        row = step_at(table, minimum)
        assert least[row] >= minimum and (row + 1 == len(least) or least[row + 1] < minimum)
        rule = Criterion(name="x", boundaries="overlap", same_type=same, minimum=minimum, share=share)
        counts = score_layers(gold, pred, Settings((rule,))).counts("x")
        assert counts.cor == table["COR"].iat[row]
        for name in ("precision", "recall", "f1"):
            assert getattr(counts, name) == (pytest.approx(table[name].iat[row]) if len(gold) + len(pred) else None)


def test_the_named_criteria_are_points_of_it() -> None:
    rng = random.Random(3)
    over = documents(30)
    gold, pred = (make(name, over, [(doc, one) for doc in range(30) for one in random_spans(rng, 5)]) for name in "gp")
    scores = score_layers(gold, pred, Settings(tuple(CRITERIA[name] for name in ("type", "lenient"))))
    for name, same in (("type", True), ("lenient", False)):
        for share in SHARES:
            table = overlap_curve(gold, pred, share, same_type=same)
            assert table["f1"].iloc[step_at(table, 0)] == pytest.approx(scores.counts(name).f1)


def test_a_step_is_a_criterion_that_can_be_saved() -> None:
    table = overlap_curve(*layers([span(0, 4)], [span(2, 6)]))
    rule = criterion_at(table, 1, "union", same_type=False)
    assert (rule.name, rule.minimum, rule.same_type) == ("union-1-3-any-type", Fraction(1, 3), False)
    parts = {"boundaries": "overlap", "types": "any", "minimum": "1/3", "share": "union"}
    assert criterion_to_toml(rule) == criterion_to_toml(criterion_from_parts(rule.name, parts, "test"))


def test_a_long_knot_is_followed_to_its_end() -> None:
    """The last pair takes a gold span from its prediction, which takes the next one's, and so on to the last."""
    size = 300
    over = documents(1, size + 3)
    gold = make("g", over, [(0, span(10 * i, 10 * i + 9)) for i in range(size + 1)])
    pred = make("p", over, [(0, span(0, 1)), *((0, span(10 * i + 4, 10 * i + 14)) for i in range(size))])
    table = overlap_curve(gold, pred)
    assert list(table["COR"]) == [0, size, size + 1] and table["minimum"].iloc[-1] == pytest.approx(1 / 9)
