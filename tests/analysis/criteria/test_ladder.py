"""The ladder of a record: candidate pairs, what each criterion makes of them, and the smallest change that flips it."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nereval_core.analysis.criteria.flips import (
    CriterionSpan,
    PredictionChange,
    change_in_words,
    decide_pair,
    smallest_breaking_move,
    smallest_correction,
)
from nereval_core.analysis.criteria.ladder import (
    LADDER_COLUMNS,
    LEFT_OUT,
    NOTHING,
    ladder,
    ladder_pairs,
    smallest_flips,
)
from nereval_core.records.match_records import record_ids, rows
from nereval_core.records.tables import DECISIONS
from nereval_core.scoring import Settings, score_layers
from nereval_core.scoring.criteria import CRITERIA, Decision
from nereval_core.scoring.criterion_syntax import criteria_from_toml
from tests.support.draws import draws
from tests.support.oracle import COR, RULES, Span
from tests.support.spans import CRITERIA_TESTED, documents, make, random_spans, settings

ROOM = 12
GROUP, DRUG = "Group", "Drug"


def placed(*edges: int, kind: str = DRUG) -> CriterionSpan:
    return CriterionSpan(tuple(zip(edges[::2], edges[1::2], strict=True)), kind)


WORDS = (
    ("strict", placed(3, 8), placed(3, 9), "move the end 1 character left"),
    ("strict", placed(3, 8), placed(1, 9), "move the start 2 characters right and the end 1 character left"),
    ("strict", placed(3, 8), placed(3, 8, kind=GROUP), "type Drug instead of Group"),
    ("strict", placed(3, 8), placed(4, 8, kind=GROUP), "move the start 1 character left; type Drug instead of Group"),
    ("exact", placed(3, 8), placed(4, 8, kind=GROUP), "move the start 1 character left"),
    ("strict", placed(1, 3, 4, 8), placed(1, 8), "take the gold span's fragments 1-3, 4-8"),
    ("right", placed(3, 8), placed(1, 9), "move the end 1 character left"),
    ("either", placed(3, 8), placed(1, 9), "move the end 1 character left"),
    ("approximate", placed(3, 8), placed(5, 12), "move the start 2 characters left"),
    ("type", placed(3, 8), placed(5, 12, kind=GROUP), "type Drug instead of Group"),
    ("half-union", placed(0, 8), placed(0, 3), "move the end 1 character right"),
    ("half-union", placed(0, 4), placed(0, 10), "move the end 2 characters left"),
    ("core", CriterionSpan(((0, 9),), DRUG, (5, 9)), placed(5, 8), "move the end 1 character right"),
    ("alternatives", CriterionSpan(((0, 9),), DRUG, None, ((5, 9),)), placed(6, 9), "move the start 1 character left"),
)  # fmt: skip


@pytest.mark.parametrize(("name", "gold", "pred", "words"), WORDS)
def test_the_smallest_change_in_words(name: str, gold: CriterionSpan, pred: CriterionSpan, words: str) -> None:
    rule = next(rule for rule in CRITERIA_TESTED if rule.name == name)
    assert change_in_words(smallest_correction(rule, gold, pred), gold, pred) == words


def test_what_breaks_a_correct_pair() -> None:
    gold = placed(3, 8)
    for name, pred, change in (
        ("strict", placed(3, 8), PredictionChange(end=1)),
        ("left", placed(3, 9), PredictionChange(start=-1)),
        ("type", placed(6, 9), PredictionChange(start=2)),
        ("type", placed(4, 5), PredictionChange(start=-2, end=-2)),
        ("lenient", placed(0, ROOM), PredictionChange(start=8)),
        ("type", placed(1, 5), PredictionChange(end=-2)),
    ):
        assert smallest_breaking_move(CRITERIA[name], gold, pred, ROOM) == change


def reached(pred: Span, start: int, end: int, kind: str) -> Span | None:
    """Return a prediction with other outer ends, None where a fragment would be empty."""
    parts = list(pred.fragments)
    parts[0] = (start, parts[0][1])
    parts[-1] = (parts[-1][0], end)
    return None if any(low >= high for low, high in parts) else Span(tuple(parts), kind)


def every_move(pred: Span, kind: str) -> Iterator[tuple[int, Span]]:
    """Yield every prediction with other outer ends in a short text, with the characters that they move by."""
    for start in range(ROOM + 1):
        for end in range(ROOM + 1):
            found = reached(pred, start, end, kind)
            if found is not None:
                yield abs(start - pred.start) + abs(end - pred.end), found


@draws(8)
@given(st.integers(0, 10**6))
def test_no_smaller_change_flips_a_decision(seed: int) -> None:
    """Held to all starts and ends there are, and to the rules as the oracle writes them out."""
    rng = random.Random(seed)
    gold = pred = Span(((0, 1),), "A")
    while gold == pred or not gold.characters & pred.characters:
        gold, pred = ((*random_spans(rng, 1, room=ROOM), gold)[0] for _ in range(2))
    pred = replace(pred, core=None, alternatives=())
    ours = CriterionSpan(gold.fragments, gold.kind, gold.core, gold.alternatives)
    theirs = CriterionSpan(pred.fragments, pred.kind)
    for rule in CRITERIA_TESTED:
        assert decide_pair(rule, ours, theirs).name == RULES[rule.name](gold, pred)
        wanted = RULES[rule.name](gold, pred) != COR
        kind = gold.kind if wanted and rule.same_type else pred.kind

        def correct(moved: Span, name: str = rule.name) -> bool:
            return bool(gold.characters & moved.characters) and RULES[name](gold, moved) == COR

        costs = [cost for cost, moved in every_move(pred, kind) if correct(moved) == wanted]
        change = smallest_correction(rule, ours, theirs) if wanted else smallest_breaking_move(rule, ours, theirs, ROOM)
        if not costs:
            assert change is None or change.fragments
            continue
        assert change is not None and not change.fragments and change.characters == min(costs)
        assert change.retyped == (wanted and rule.same_type and gold.kind != pred.kind)
        moved = reached(pred, pred.start + change.start, pred.end + change.end, kind)
        assert moved is not None and correct(moved) == wanted


@draws(3)
@given(st.integers(0, 10**6))
def test_the_ladder_of_every_record(seed: int) -> None:
    rng = random.Random(seed)
    sides = [random_spans(rng, 4) for _ in range(2)]
    over = documents(1)
    gold, pred = (make(name, over, [(0, one) for one in side]) for name, side in zip("gp", sides, strict=True))
    scores = score_layers(gold, pred, settings("strict", "partial", "right", "type", "fragment"))
    found = rows(scores, "type")
    for g, p in zip(found.gold.tolist(), found.pred.tolist(), strict=True):
        pairs = ladder_pairs(gold, pred, g, p)
        spans = [(CriterionSpan.of(gold, one), CriterionSpan.of(pred, other)) for one, other in pairs]
        assert all(set(_characters(one)) & set(_characters(other)) for one, other in spans)
        table = ladder(scores, "type", g, p)
        assert dict(table.dtypes) == dict(LADDER_COLUMNS)
        assert list(zip(table["gold"], table["pred"], strict=True))[::4] == list(pairs)
        for row in table.itertuples():
            partners = scores.partners(row.criterion)
            assert row.aligned == (partners[0][row.gold] == row.pred) == (row.partner == "each other")
            if row.aligned:
                assert row.decision == DECISIONS[scores.decisions(row.criterion)[0][row.gold]]
            assert row.change
        if p >= 0 and g >= 0:
            assert pairs[0] == (g, p)


def test_another_prediction_that_takes_over_is_no_flip() -> None:
    over = documents(1)
    gold = make("gold", over, [(0, Span(((8, 14),), "B")), (0, Span(((18, 19),), "A"))])
    pred = make(
        "p", over, [(0, Span(((low, high),), kind)) for low, high, kind in ((8, 14, "B"), (18, 19, "A"), (18, 20, "A"))]
    )
    scores = score_layers(gold, pred, settings("strict", "type"))
    changes = ladder(scores, "type", 1, 1).set_index(["pred_record", "criterion"])["change"]
    assert changes["p:18-19:A", "type"] == changes["p:18-20:A", "type"] == NOTHING
    assert changes["p:18-19:A", "strict"] == "move the end 1 character right, or any type but A"
    assert changes["p:18-20:A", "strict"] == NOTHING
    # A prediction that is alone with its gold span flips it by leaving it.
    alone = ladder(scores, "type", 0, 0).set_index("criterion")["change"]
    assert alone["type"] == "move the start 1 character left and the end 6 characters left, or any type but B"


@draws(6)
@given(st.integers(0, 10**6))
def test_a_change_flips_its_record_and_no_smaller_one_does(seed: int) -> None:
    """Held to scoring the document again with every other start and end of the prediction within a few characters."""
    rng = random.Random(seed)
    room, rules = 9, settings("strict", "right", "partial", "type", "muc", "approximate")
    sides = [random_spans(rng, 4, room=room, kinds="AB") for _ in range(2)]
    over = documents(1, length=1)
    layers = [make(name, over, [(0, one) for one in side]) for name, side in zip("gp", sides, strict=True)]
    scores = score_layers(*layers, rules)
    # Where each span of a sorted layer stands as it was drawn: equal spans are taken in this order.
    drawn = [list(range(len(one))) if one.order is None else one.order.tolist() for one in layers]
    found = rows(scores, "type")
    for g, p in zip(found.gold.tolist(), found.pred.tolist(), strict=True):
        side, record = (0, g) if g >= 0 else (1, p)
        for one, other in ladder_pairs(*layers, g, p)[:2]:
            mine = sides[1][drawn[1][other]]
            kinds = sorted({sides[0][drawn[0][one]].kind, mine.kind})
            moves = [(start, end, kind) for start in range(11) for end in range(start + 1, 12) for kind in kinds]
            moved = [(*move, again) for move in moves if (again := reached(mine, *move)) is not None]
            many = documents(len(moved) + 1, length=1)
            again = score_layers(
                make("g", many, [(doc, span) for doc in range(len(moved) + 1) for span in sides[0]]),
                make("p", many, [
                    (doc, with_it if at == drawn[1][other] else span)
                    for doc, (*_, with_it) in enumerate([*moved, (mine,)])
                    for at, span in enumerate(sides[1])
                ]),
                rules,
            )  # fmt: skip
            read = again.read[side].order
            place = np.argsort(np.arange(len(again.read[side])) if read is None else read)
            own = place[drawn[side][record] + len(sides[side]) * np.arange(len(moved) + 1)]
            flips = smallest_flips(scores, scores.criteria, (one, other), (g, p))
            for rule in scores.criteria:
                right = again.decisions(rule.name)[side][own] == Decision.COR
                costs = {
                    (start, end, kind): (abs(start - mine.start) + abs(end - mine.end), kind != mine.kind)
                    for (start, end, kind, _), now in zip(moved, right[:-1], strict=True)
                    if now != right[-1]
                }
                change = flips[rule.name].change
                if change is None or change.fragments:
                    assert not costs
                    continue
                kind = next((kind for kind in kinds if kind != mine.kind), mine.kind) if change.retyped else mine.kind
                move = (mine.start + change.start, mine.end + change.end, kind)
                assert (change.characters, change.retyped) <= min(costs.values(), default=(99, True))
                assert move in costs or max(move[:2]) > 11


def _characters(one: CriterionSpan) -> Iterator[int]:
    return (place for low, high in one.parts for place in range(low, high))


def test_partners_are_named_and_spans_left_out_are_told() -> None:
    over = documents(1)
    gold = make("gold", over, [(0, Span(((0, 8),), "DNA")), (0, Span(((9, 12),), "protein"))])
    pred = make("p", over, [(0, Span(((0, 4),), "DNA")), (0, Span(((5, 10),), "DNA"))])
    own = criteria_from_toml('[criterion.own]\nleave_out = ["protein"]\n[criterion.one]\nmerge = {x = ["DNA"]}', "t")
    scores = score_layers(gold, pred, Settings((CRITERIA["type"], CRITERIA["strict"], *own)))
    table = ladder(scores, "type", 0, 0).set_index(["pair", "criterion"])
    assert record_ids(pred, "p") == ["p:0-4:DNA", "p:5-10:DNA"]
    assert table.loc[(0, "type"), "partner"] == "each other"
    assert table.loc[(1, "type"), "partner"] == "the gold span takes p:0-4:DNA; the prediction takes g:9-12:protein"
    assert table.loc[(0, "strict"), "change"] == "move the end 4 characters right"
    told = ladder(scores, "type", 1, -1).set_index("criterion")
    assert told.loc["own", "decision"] == LEFT_OUT and told.loc["type", "decision"] == "INC"
    assert told.loc["type", "change"] == "type protein instead of DNA"
