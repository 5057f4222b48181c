"""Cores and alternatives: worked examples after the definitions of Tsai et al. 2006 and of BioCreative."""

from __future__ import annotations

import pytest

from nereval_core.corpus import Documents
from nereval_core.report.signature import signature
from nereval_core.scoring import Scores, score_layers
from nereval_core.scoring.criteria import Decision
from tests.support.oracle import Span
from tests.support.spans import make, settings

TEXT = Documents(("d",), ("activated human p53 protein in cells",))
CORE = Span(((10, 27),), "protein", core=(16, 19))
NAMES = ("strict", "left", "right", "either", "approximate", "core", "type")


def score(gold: Span, pred: list[Span], *names: str) -> Scores:
    sides = (make("gold", TEXT, [(0, gold)]), make("pred", TEXT, [(0, span) for span in pred]))
    return score_layers(*sides, settings(*names))


def decided(scores: Scores, name: str) -> str:
    (code,) = scores.decisions(name)[0].tolist()
    return Decision(code).name


# Gold is `human p53 protein` with the core `p53`. Which of the criteria hold for what was predicted, and how many of
# its tokens are right, missing and too many.
TSAI = [
    ((10, 27), "strict left right either approximate core type", (3, 0, 0)),
    ((16, 27), "right either approximate core type", (2, 1, 0)),
    ((10, 15), "left either approximate type", (1, 2, 0)),
    ((16, 19), "approximate core type", (1, 2, 0)),
    ((0, 19), "core type", (2, 1, 1)),
    ((20, 36), "type", (1, 2, 2)),
    ((0, 36), "approximate core type", (3, 0, 3)),
    ((17, 27), "right either approximate type", (2, 1, 0)),
]


@pytest.mark.parametrize(("bounds", "correct", "tokens"), TSAI)
def test_worked_table_of_boundary_rules(bounds: tuple[int, int], correct: str, tokens: tuple[int, int, int]) -> None:
    scores = score(CORE, [Span((bounds,), "protein")], *NAMES, "fragment")
    assert [name for name in NAMES if decided(scores, name) == "COR"] == correct.split()
    assert {decided(scores, name) for name in NAMES} <= {"COR", "INC"}
    counts = scores.counts("fragment")
    assert (counts.cor, counts.mis, counts.spu) == tokens


@pytest.mark.parametrize("name", ["core", "alternatives"])
def test_another_type_is_incorrect(name: str) -> None:
    gold = Span(((10, 27),), "protein", (16, 19), ((16, 27),))
    assert decided(score(gold, [Span(((16, 27),), "DNA")], name), name) == "INC"
    assert decided(score(gold, [Span(((16, 27),), "protein")], name), name) == "COR"


OTHERS = ((16, 27), (16, 19), (31, 36))
ALTERNATIVES = [
    (((10, 27),), "COR"),
    (((16, 27),), "COR"),
    (((16, 19),), "COR"),
    (((10, 19),), "INC"),
    # Discontinuous: the hull is that of an alternative, the fragments are not.
    (((16, 19), (20, 27)), "INC"),
    # An alternative that shares no character with the gold span makes no pair.
    (((31, 36),), "MIS"),
]


@pytest.mark.parametrize(("fragments", "decision"), ALTERNATIVES)
def test_alternatives(fragments: tuple[tuple[int, int], ...], decision: str) -> None:
    gold = Span(((10, 27),), "protein", alternatives=OTHERS)
    assert decided(score(gold, [Span(fragments, "protein")], "alternatives"), "alternatives") == decision


def test_alternatives_among_tangled_spans() -> None:
    """Two acceptable predictions of one gold span: one is correct, the other spurious."""
    gold = Span(((10, 27),), "protein", alternatives=OTHERS)
    pred = [Span(((16, 19),), "protein"), Span(((16, 27),), "protein"), Span(((10, 15),), "protein")]
    counts = score(gold, pred, "alternatives", "core").counts("alternatives")
    assert (counts.cor, counts.spu) == (1, 2)


def test_a_span_without_a_core_is_its_own_and_the_signature_says_how_many() -> None:
    over = Documents(("d",), (TEXT.texts[0] * 2,))
    gold = make("gold", over, [(0, CORE), (0, Span(((46, 51),), "protein"))])
    pred = make("pred", over, [(0, Span(((10, 27),), "protein")), (0, Span(((45, 60),), "protein"))])
    scores = score_layers(gold, pred, settings("core", "strict"))
    assert scores.counts("core").cor == 2
    assert "| gold spans without a core, each its own: 1 of 2 |" in signature(scores, "core")
    assert "without a core" not in signature(scores, "strict")


def test_a_core_between_fragments_is_covered_by_the_hull() -> None:
    """As containment is that of the outer hull: what is equal to a gold span covers its core."""
    gold = Span(((10, 15), (20, 27)), "protein", core=(16, 19))
    assert decided(score(gold, [Span(((10, 15), (20, 27)), "protein")], "core"), "core") == "COR"
