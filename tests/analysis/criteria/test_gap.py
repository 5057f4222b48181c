"""The gap between two criteria: its parts add up exactly, and each cause is what a pair worked by hand has."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nereval_core.alignment.candidates import CREDIT
from nereval_core.analysis.criteria.gap import CAUSES, ELSEWHERE, GAIN, GAP_COLUMNS, gap
from nereval_core.analysis.crosstab import decision_matrix
from nereval_core.analysis.span_relations import have_same_type, judge_pairs, overlapping_pairs
from nereval_core.api.load import load_corpus
from nereval_core.api.load_options import LoadOptions
from nereval_core.problems import FormatError
from nereval_core.records.tables import DECISIONS
from nereval_core.scoring import Scores, Settings, score_layers
from nereval_core.scoring.criteria import APPLICABLE, CRITERIA, Decision
from nereval_core.scoring.criterion_syntax import criterion_from_parts
from tests.support.draws import draws
from tests.support.oracle import RULES, Span
from tests.support.shared_corpora import SHARED, needs
from tests.support.spans import CRITERIA_TESTED, documents, make, random_spans, settings


def scored(gold: list[Span], pred: list[Span], *names: str) -> Scores:
    over = documents(1)
    return score_layers(
        make("gold", over, [(0, span) for span in gold]),
        make("p", over, [(0, span) for span in pred]),
        settings(*names),
    )


def span(*edges: int, kind: str = "A") -> Span:
    return Span(tuple(zip(edges[::2], edges[1::2], strict=True)), kind)


L, R, BOTH = "left boundary", "right boundary", "boundary and type"
BY_HAND = (
    ([span(0, 5)], [span(1, 5)], "strict", "type", {L: 1}),
    ([span(0, 5)], [span(0, 6)], "strict", "type", {R: 1}),
    ([span(1, 5)], [span(0, 6)], "strict", "type", {"both boundaries": 1}),
    ([span(0, 2, 3, 5)], [span(0, 5)], "strict", "type", {"fragments": 1}),
    ([span(0, 5)], [span(0, 5, kind="B")], "strict", "exact", {"type": 1}),
    ([span(0, 5)], [span(1, 5, kind="B")], "strict", "lenient", {BOTH: 1}),
    # Half a credit for each of two, out of five spans.
    ([span(0, 5), span(6, 9), span(9, 12)], [span(1, 5), span(6, 8)], "exact", "partial", {L: 0.5, R: 0.5}),
    # Right is earned by the one, left by the other: the gap is nil, its parts are not.
    ([span(0, 5), span(6, 9)], [span(1, 5), span(6, 8)], "left", "right", {L: 1, R: -1}),
    # Strictly B fits; leniently A takes it, since both are then paired, and B takes the other.
    ([span(0, 4), span(2, 8)], [span(2, 4), span(3, 8, kind="B")], "strict", "lenient", {L: 1, BOTH: 1}),
    # The second is credited all along; under type the first gets the prediction that it does not need.
    ([span(0, 4), span(3, 8)], [span(3, 8), span(6, 8)], "strict", "type", {"both boundaries": 1}),
    # Of two equal ones the first gives the equal prediction to the second, which it credits under strict too.
    ([span(3, 6), span(3, 6)], [span(2, 5), span(3, 6)], "strict", "type", {ELSEWHERE: 1}),
    # One prediction for two: what the one gains by its pair, the other loses with its partner.
    ([span(0, 6), span(1, 3)], [span(1, 7)], "approximate", "type", {"both boundaries": 1, ELSEWHERE: -1}),
    ([span(0, 5)], [], "strict", "type", {}),
)  # fmt: skip


@pytest.mark.parametrize(("gold", "pred", "strict", "loose", "credit"), BY_HAND)
def test_causes_worked_by_hand(
    gold: list[Span], pred: list[Span], strict: str, loose: str, credit: dict[str, float]
) -> None:
    found = gap(scored(gold, pred, strict, loose), strict, loose)
    spans = len(gold) + len(pred)
    assert (found.strict, found.loose, found.spans) == (strict, loose, spans)
    assert {cause: part for cause, part in found.parts.items() if part} == {
        cause: Fraction(2 * value) / spans for cause, value in credit.items() if value
    }
    table = found.table()
    assert dict(table.dtypes) == dict(GAP_COLUMNS)
    assert dict(zip(table["cause"], table["credit"], strict=True)) == credit


def random_scores(seed: int, rules: tuple[object, ...] = CRITERIA_TESTED[:12]) -> Scores:
    rng = random.Random(seed)
    over = documents(3)
    layers = [
        make(name, over, [(doc, one) for doc in range(3) for one in random_spans(rng, 6)]) for name in ("gold", "p")
    ]
    return score_layers(*layers, Settings(rules))  # type: ignore[arg-type]


@draws(6)
@given(st.integers(0, 10**6))
def test_the_parts_add_up_and_say_what_they_mean(seed: int) -> None:
    scores = random_scores(seed)
    for one, other in random.Random(seed).sample([*permutations([rule.name for rule in scores.criteria], 2)], 8):
        found = gap(scores, one, other)
        strict, loose = (scores.counts(name) for name in (found.strict, found.loose))
        if found.total is None:
            assert strict.f1 is None
            continue
        assert sum(found.parts.values()) == found.total >= 0
        assert strict.f1 is not None and loose.f1 is not None
        assert abs(float(found.total) - (loose.f1 - strict.f1)) < 1e-12
        credits = [CREDIT[scores.decisions(name)[0]] for name in (found.strict, found.loose)]
        assert (found.change == credits[1] - credits[0]).all()
        assert ((found.cause < 0) == (found.change == 0)).all()
        assert (np.array(GAIN)[found.gain()] == np.array(["less", "same", "more"])[np.sign(found.change) + 1]).all()
        gold, pred = scores.layers(loose_name := found.loose)
        for g in np.flatnonzero(found.change).tolist():
            p = int(scores.partners(loose_name)[0][g])
            cause = CAUSES[found.cause[g]]
            if p < 0:
                assert cause == ELSEWHERE
                continue
            kinds = gold.label(g) == pred.label(p)
            moved = [getattr(gold, edge)[g] != getattr(pred, edge)[p] for edge in ("start", "end")]
            parted = any(moved) or gold.fragments.get(g) != pred.fragments.get(p)
            boundary = {(1, 0): "left boundary", (0, 1): "right boundary", (1, 1): "both boundaries"}
            expected = {
                (True, True): boundary.get((moved[0], moved[1]), "fragments"),
                (True, False): "boundary and type",
                (False, False): "type",
            }
            by_rule = CREDIT[judge_pairs(gold, pred, scores.criterion(found.strict), *np.array([[g], [p]]))[0]]
            assert cause == (expected[parted, kinds] if by_rule == credits[0][g] else ELSEWHERE)


@draws(6)
@given(st.integers(0, 10**6))
def test_the_margins_of_the_table_are_the_counts(seed: int) -> None:
    scores = random_scores(seed)
    for one, other in permutations(("strict", "partial", "right", "lenient"), 2):
        table = decision_matrix(scores, one, other)
        assert tuple(table.sum(axis=1))[:4] == scores.counts(one).gold[:4]
        assert table.loc["SPU"].sum() == scores.counts(one).spu
        assert tuple(table.iloc[:4].sum())[:4] == scores.counts(other).gold[:4]


@given(st.integers(0, 10**6))
def test_pairs_are_all_that_share_a_character_and_judged_as_the_rules_say(seed: int) -> None:
    rng = random.Random(seed)
    sides = [random_spans(rng, 7) for _ in range(2)]
    over = documents(1)
    gold, pred = (make(name, over, [(0, one) for one in side]) for name, side in zip("gp", sides, strict=True))
    pairs, gold_size, pred_size = overlapping_pairs(gold, pred)
    spans = [[_span_of(layer, number) for number in range(len(layer))] for layer in (gold, pred)]
    expected = {
        (i, j): len(g.characters & p.characters)
        for i, g in enumerate(spans[0])
        for j, p in enumerate(spans[1])
        if g.characters & p.characters
    }
    found = zip(pairs.gold.tolist(), pairs.pred.tolist(), pairs.shared.tolist(), strict=True)
    assert {(i, j): shared for i, j, shared in found} == expected
    if not expected:
        return
    assert gold_size.tolist() == [len(one.characters) for one in spans[0]]
    assert pred_size.tolist() == [len(one.characters) for one in spans[1]]
    assert have_same_type(gold, pred, pairs.gold, pairs.pred).tolist() == [
        spans[0][i].kind == spans[1][j].kind for i, j in zip(pairs.gold, pairs.pred, strict=True)
    ]
    for rule in CRITERIA_TESTED:
        codes = judge_pairs(gold, pred, rule, pairs.gold, pairs.pred)
        assert [DECISIONS[code] for code in codes] == [
            RULES[rule.name](spans[0][i], spans[1][j]) for i, j in zip(pairs.gold, pairs.pred, strict=True)
        ]


def _span_of(layer: object, number: int) -> Span:
    get = vars(layer)
    parts = get["fragments"].get(number) or ((int(get["start"][number]), int(get["end"][number])),)
    kind = get["types"][int(get["type"][number])]
    return Span(tuple(parts), kind, get["cores"].get(number), tuple(get["alternatives"].get(number, ())))


def test_what_cannot_be_compared_is_refused() -> None:
    own = criterion_from_parts("own", {"merge": {"AB": ["A", "B"]}}, "test")
    over = documents(1)
    layers = [make(name, over, [(0, span(0, 5))]) for name in ("gold", "p")]
    rules = (CRITERIA["strict"], CRITERIA["fragment"], own)
    scores = score_layers(*layers, Settings(rules))
    for name, said in (("fragment", "counts tokens"), ("own", "other types"), ("loose", "choose among strict")):
        with pytest.raises(FormatError, match=said):
            gap(scores, "strict", name)
    with pytest.raises(FormatError, match="each side"):
        gap(score_layers(*layers, Settings(rules, counting="each-side")), "strict", "strict")


@needs("hipe2020")
def test_the_parts_add_up_on_the_runs_of_hipe() -> None:
    folder = SHARED / "hipe2020"
    gold = folder / "gold" / "HIPE-data-v1.3-test-en.tsv"
    runs = sorted((folder / "submissions").glob("team*_en_*.tsv"))
    assert len(runs) == 13
    options = LoadOptions(repair="conlleval", token_text="gold", missing="empty")
    corpus = load_corpus(str(gold), {run.stem: str(run) for run in runs}, options=options).corpus
    for layer in corpus.systems:
        scores = score_layers(corpus.gold, layer, settings(*(name for name in APPLICABLE if name != "fragment")))
        for one, other in combinations([rule.name for rule in scores.criteria], 2):
            found = gap(scores, one, other)
            f1 = [scores.counts(name).f1 for name in (found.strict, found.loose)]
            assert f1[0] is not None and f1[1] is not None and found.total is not None
            assert abs(sum(map(float, found.parts.values())) - (f1[1] - f1[0])) < 1e-12
            assert int((found.cause >= 0).sum()) == int((found.change != 0).sum())
            assert scores.decisions(found.loose)[0].max() <= Decision.MIS
