"""The ladder of criteria: its order, parts that add up to the differences of F1, and its sentence."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nereval_core.alignment.candidates import CREDIT
from nereval_core.analysis.criteria.gap import CAUSES, ELSEWHERE, KINDS, ordered_gap
from nereval_core.analysis.criteria.steps import (
    PIECE_COLUMNS,
    comparable_criteria,
    ladder_sentence,
    ladder_steps,
    piece_table,
    step_between,
)
from nereval_core.analysis.sentences import sentence_text
from nereval_core.scoring import Scores, Settings, score_layers
from nereval_core.scoring.criteria import APPLICABLE, CRITERIA
from pages.shared.data.loading import demo_names, load_demo
from tests.analysis.criteria.test_gap import L, R, random_scores, scored, span
from tests.support.draws import draws
from tests.support.spans import settings


def demo_scores(name: str) -> Scores:
    corpus = load_demo(name).corpus
    return score_layers(corpus.gold, corpus.systems[0], settings(*APPLICABLE))


def check_ladder(scores: Scores) -> None:
    """Check that the steps are all criteria in order, and that their parts are the differences and nothing else."""
    steps = ladder_steps(scores)
    assert sorted(step.criterion for step in steps) == sorted(comparable_criteria(scores))
    assert [step.above for step in steps] == ["", *(step.criterion for step in steps[:-1])]
    for step in steps:
        f1 = scores.counts(step.criterion).f1
        assert (step.f1 is None) == (f1 is None)
        assert step.f1 is None or abs(float(step.f1) - float(f1 or 0)) < 1e-12
    for above, step in pairwise(steps):
        credits = [CREDIT[scores.decisions(name)[0]].astype(int) for name in (above.criterion, step.criterion)]
        change = credits[1] - credits[0]
        if step.f1 is None or above.f1 is None:
            assert step.parts == ()
            continue
        assert sum((part.f1 for part in step.parts), Fraction(0)) == step.difference == step.f1 - above.f1 >= 0
        kept, *pieces = step.pieces
        assert kept.effect == "kept" and 0 <= kept.end <= min(above.f1, step.f1)
        assert all(piece.end == following.start for piece, following in pairwise(step.pieces))
        filled = [piece for piece in step.pieces if piece.effect != "lost"]
        assert filled[-1].end == step.f1 and [*filled, *step.pieces[len(filled) :]] == list(step.pieces)
        assert kept.end + sum(piece.end - piece.start for piece in pieces if piece.effect == "lost") == above.f1
        assert step.changed == np.count_nonzero(change)
        for part in step.parts:
            assert (part.f1 > 0) == part.gains and part.spans and part.first == tuple(sorted(part.first))
            assert all((change[gold] > 0) == part.gains and change[gold] for gold in part.first)
        assert len({(part.kind, part.gains) for part in step.parts}) == len(step.parts)


@draws(8)
@given(st.integers(0, 10**6))
def test_the_parts_of_each_step_add_up_to_the_difference_of_f1(seed: int) -> None:
    check_ladder(random_scores(seed))


@pytest.mark.parametrize("name", demo_names())
def test_the_parts_add_up_on_the_demos(name: str) -> None:
    check_ladder(demo_scores(name))


@draws(8)
@given(st.integers(0, 10**6))
def test_a_rule_that_forgives_more_stands_below(seed: int) -> None:
    order = [step.criterion for step in ladder_steps(random_scores(seed))]
    chain = ("strict", "left", "either", "type", "lenient")
    for names in (chain, ("strict", "right", "either"), ("strict", "muc", "partial", "lenient"), ("exact", "partial")):
        assert [name for name in order if name in names] == list(names)


def test_a_step_gains_and_loses_what_was_worked_by_hand() -> None:
    # Under exact the first pair is correct; right takes that back, and forgives the start of the second.
    gold, pred = [span(0, 5), span(6, 9), span(9, 12)], [span(0, 5, kind="B"), span(7, 9), span(9, 12)]
    step = step_between(scored(gold, pred, "exact", "right"), "exact", "right")
    assert [(part.kind, part.gains, part.spans, part.f1, part.first) for part in step.parts] == [
        ("boundaries", True, 1, Fraction(1, 3), (1,)),
        ("types", False, 1, Fraction(-1, 3), (0,)),
    ]
    assert (step.difference, step.changed) == (0, 2)
    third = Fraction(1, 3)
    assert step.pieces == (
        ("", "kept", 0, third),
        ("boundaries", "gained", third, 2 * third),
        ("types", "lost", 2 * third, 1),
    )
    table = piece_table([step])
    assert dict(table.dtypes) == dict(PIECE_COLUMNS)
    assert table["effect"].tolist() == ["kept", "gained", "lost"] and table["criterion"].eq("right").all()


def test_every_cause_is_of_one_kind() -> None:
    assert [cause for causes in KINDS.values() for cause in causes] == list(CAUSES)
    assert L in KINDS["boundaries"] and R in KINDS["boundaries"]
    gap = ordered_gap(demo_scores("newspapers"), "type", "lenient")
    kinds = gap.kinds()
    for number, causes in enumerate(KINDS.values()):
        assert (np.isin(gap.cause, [CAUSES.index(cause) for cause in causes]) == (kinds == number)).all()
    assert (kinds == list(KINDS).index(ELSEWHERE)).any() and ((kinds < 0) == (gap.change == 0)).all()


def test_criteria_of_other_spans_are_no_steps() -> None:
    corpus = load_demo("biology").corpus
    own = replace(CRITERIA["strict"], name="mine", leave_out=("DNA",))
    rules = (*(CRITERIA[name] for name in ("strict", "fragment", "type")), own)
    assert comparable_criteria(score_layers(corpus.gold, corpus.systems[0], Settings(rules))) == ("strict", "type")
    apart = score_layers(corpus.gold, corpus.systems[0], settings("strict", "type", counting="each-side"))
    assert (
        ladder_steps(apart)
        == ()
        == ladder_steps(score_layers(corpus.gold, corpus.systems[0], Settings((CRITERIA["fragment"],))))
    )


def sentence(scores: Scores) -> str:
    steps = ladder_steps(scores)
    names = steps[0].criterion, steps[-1].criterion
    return sentence_text(ladder_sentence(steps, step_between(scores, *names)))


def test_the_sentence_names_the_causes() -> None:
    assert sentence(demo_scores("pharmacology")) == (
        "F1 is 0.717 under strict and 0.869 under lenient. Of the 0.152 in between, 0.124 is due to boundaries, 0.007 "
        "to types and 0.021 to both."
    )
    right = [span(0, 5), span(6, 9)]
    names = ("strict", "type", "lenient")
    assert sentence(scored(right, right, *names)) == "F1 is 1.000 under strict and 1.000 under lenient."
    assert sentence(scored(right, right, "strict")) == "F1 is 1.000 under strict."
    assert sentence(scored([], [], *names)) == ""
    assert sentence(scored([span(0, 5)], [], *names)) == "F1 is 0.000 under strict and 0.000 under lenient."
