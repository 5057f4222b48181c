"""What became of spans from one system to another: by hand, against a slow reading, each count to its records."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nereval_core.analysis.crosstab import (
    GOLD_STATES,
    NOT_PREDICTED,
    PRED_STATES,
    RIGHT_COLUMNS,
    are_comparable,
    count_transitions,
    right_count_names,
    right_count_table,
    same_predictions,
)
from nereval_core.api.score import score
from nereval_core.corpus import Documents, Layer
from nereval_core.ledger import Ledger, ledger
from nereval_core.records.queries import Query
from nereval_core.scoring import Counting, Scores, Settings, score_layers
from nereval_core.scoring.criteria import Decision
from nereval_core.writers import write
from tests.support.draws import draws
from tests.support.oracle import Span
from tests.support.spans import CRITERIA_TESTED, documents, make, random_spans, settings

DRAWN = tuple(c for c in CRITERIA_TESTED if c.name in ("strict", "partial", "type", "muc", "near-core"))
NAMES = tuple(criterion.name for criterion in DRAWN)


@dataclass(frozen=True)
class Systems:
    """Several systems over one gold layer, as attributes ask for them."""

    gold: Layer
    layers: tuple[Layer, ...]
    settings: Settings
    kept: dict[str, Scores] = field(default_factory=dict)

    @property
    def systems(self) -> tuple[str, ...]:
        return tuple(layer.name for layer in self.layers)

    def layer(self, system: str) -> Layer:
        return self.layers[self.systems.index(system)]

    def scores(self, system: str | None = None, names: Sequence[str] = ()) -> Scores:
        name = system or self.systems[0]
        if name not in self.kept:
            self.kept[name] = score_layers(self.gold, self.layer(name), self.settings)
        return self.kept[name]

    def ledger(self, system: str, criterion: str) -> Ledger:
        return ledger(self.scores(system), criterion, (self.gold, self.layer(system)), self)


def flat(start: int, end: int, kind: str) -> Span:
    return Span(((start, end),), kind)


def corpus(gold: list[Span], *systems: list[Span], criteria: Settings | None = None) -> Systems:
    over = documents(1)

    def one(name: str, spans: list[Span]) -> Layer:
        return make(name, over, [(0, span) for span in spans])

    layers = tuple(one(name, spans) for name, spans in zip("XYZ", systems, strict=False))
    return Systems(one("gold", gold), layers, criteria or settings("strict", "partial", "type"))


def drawn(seed: int, counting: Counting = "one-to-one", systems: int = 3) -> Systems:
    rng = random.Random(seed)
    over = documents(2)
    sides = [
        make(name, over, [(doc, span) for doc in range(2) for span in random_spans(rng, 6, kinds="AB")])
        for name in ["gold", *"XYZ"[:systems]]
    ]
    return Systems(sides[0], tuple(sides[1:]), Settings(DRAWN, counting=counting))


# gold: 0-2 A, 4-6 A, 8-10 B, 12-14 B
GOLD = [flat(0, 2, "A"), flat(4, 6, "A"), flat(8, 10, "B"), flat(12, 14, "B")]
ONE = [flat(0, 2, "A"), flat(4, 6, "B"), flat(8, 11, "B"), flat(20, 22, "A"), flat(20, 22, "A")]
OTHER = [flat(0, 2, "A"), flat(4, 6, "A"), flat(8, 11, "B"), flat(20, 22, "A"), flat(30, 32, "B")]
WORKED = [
    (
        "strict",
        {("COR", "COR"): 1, ("INC", "COR"): 1, ("INC", "INC"): 1, ("MIS", "MIS"): 1},
        {
            ("COR", "COR"): 1,  # 0-2 A
            ("INC", NOT_PREDICTED): 1,  # 4-6 B is gone
            (NOT_PREDICTED, "COR"): 1,  # and 4-6 A is there instead
            ("INC", "INC"): 1,  # 8-11 B
            ("SPU", "SPU"): 1,  # 20-22 A, of which one had two
            ("SPU", NOT_PREDICTED): 1,
            (NOT_PREDICTED, "SPU"): 1,  # 30-32 B
        },
    ),
    (
        "partial",
        {("COR", "COR"): 2, ("PAR", "PAR"): 1, ("MIS", "MIS"): 1},
        {
            ("COR", "COR"): 1,
            ("COR", NOT_PREDICTED): 1,
            (NOT_PREDICTED, "COR"): 1,
            ("PAR", "PAR"): 1,
            ("SPU", "SPU"): 1,
            ("SPU", NOT_PREDICTED): 1,
            (NOT_PREDICTED, "SPU"): 1,
        },
    ),
]


@pytest.mark.parametrize(("name", "gold", "pred"), WORKED)
def test_worked_by_hand(name: str, gold: dict[tuple[str, str], int], pred: dict[tuple[str, str], int]) -> None:
    here = corpus(GOLD, ONE, OTHER)
    found = count_transitions(here.scores("X"), here.scores("Y"), name)
    cells = {(side, one, other): count for side, one, other, count in found.cells()}
    assert cells == {("gold", *key): n for key, n in gold.items()} | {("pred", *key): n for key, n in pred.items()}
    # Seen from the other side rows and columns change places.
    back = count_transitions(here.scores("Y"), here.scores("X"), name)
    assert np.array_equal(back.gold, found.gold.T) and np.array_equal(back.pred, found.pred.T)


def test_fragments_and_types_tell_predictions_apart() -> None:
    broken, other = Span(((0, 2), (5, 7)), "A"), Span(((0, 3), (5, 7)), "A")
    here = corpus([broken], [broken, other], [flat(0, 7, "A"), broken, Span(broken.fragments, "B")])
    same = same_predictions(here.scores("X"), here.scores("Y"), "strict")
    mine, theirs = here.layers
    assert [(mine.fragments[i], j) for i, j in enumerate(same.tolist())] == [
        (parts, next((k for k, p in theirs.fragments.items() if p == parts and theirs.label(k) == "A"), -1))
        for parts in (mine.fragments[0], mine.fragments[1])
    ]
    assert sorted(same.tolist())[0] == -1 and sorted(same.tolist())[1] >= 0


def slow(one: Scores, other: Scores, name: str) -> Counter[tuple[str, str]]:
    """Pair the copies of each distinct prediction one by one, the best decisions first."""
    found: list[dict[object, list[int]]] = []
    for scores in (one, other):
        layer = scores.layers(name)[1]
        copies: dict[object, list[int]] = {}
        for span in range(len(layer)):
            parts = layer.fragments.get(span) or ((int(layer.start[span]), int(layer.end[span])),)
            key = (int(layer.doc[span]), parts, layer.label(span))
            copies.setdefault(key, []).append(int(scores.decisions(name)[1][span]))
        found.append(copies)
    cells: Counter[tuple[str, str]] = Counter()
    for key in {*found[0], *found[1]}:
        sides = [[Decision(code).name for code in sorted(copies.get(key, []))] for copies in found]
        for place in range(max(map(len, sides))):
            cells[tuple(side[place] if place < len(side) else NOT_PREDICTED for side in sides)] += 1  # type: ignore[index]
    return cells


@draws(8)
@given(st.integers(0, 10**9), st.sampled_from(["one-to-one", "each-side"]))
def test_margins_are_the_counts_of_both_systems(seed: int, counting: Counting) -> None:
    here = drawn(seed, counting, systems=2)
    one, other = here.scores("X"), here.scores("Y")
    for name in NAMES:
        found = count_transitions(one, other, name)
        for scores, axis in ((one, 1), (other, 0)):
            counts = scores.counts(name)
            gold, pred = found.gold.sum(axis=axis), found.pred.sum(axis=axis)
            assert gold.tolist() == list(counts.gold[:4])
            assert pred[:4].tolist() == [*counts.pred[:3], counts.pred[Decision.SPU]]
        assert found.pred[-1, -1] == 0
        cells = {(PRED_STATES[i], PRED_STATES[j]): int(found.pred[i, j]) for i, j in np.argwhere(found.pred).tolist()}
        assert cells == slow(one, other, name)


@draws(8)
@given(st.integers(0, 10**9), st.sampled_from(["one-to-one", "each-side"]))
def test_every_cell_opens_its_records(seed: int, counting: Counting) -> None:
    here = drawn(seed, counting, systems=2)
    for name in ("strict", "partial", "type"):
        found = count_transitions(here.scores("X"), here.scores("Y"), name)
        one, other = here.ledger("X", name), here.ledger("Y", name)
        for i, state in enumerate(GOLD_STATES):
            for j, then in enumerate(GOLD_STATES):
                query = Query(decision=(state,), having=(("by Y", then),))
                assert one.total(query).records == found.gold[i, j]
        for i, state in enumerate(PRED_STATES):
            for j, then in enumerate(PRED_STATES):
                if state == NOT_PREDICTED and then == NOT_PREDICTED:
                    continue
                if state == NOT_PREDICTED:
                    total = other.total(Query(decision=(then,), having=(("predicted-by X", state),)))
                else:
                    total = one.total(Query(decision=(state,), having=(("predicted-by Y", then),)))
                assert total.records == found.pred[i, j], (state, then)


@draws(8)
@given(st.integers(0, 10**9))
def test_who_is_right(seed: int) -> None:
    here = drawn(seed)
    every = [here.scores(system) for system in here.systems]
    for name in ("strict", "type"):
        table = right_count_table(every, name)
        assert dict(table.dtypes) == RIGHT_COLUMNS
        votes = [
            sum(scores.decisions(name)[0][span] == Decision.COR for scores in every) for span in range(len(here.gold))
        ]
        assert table["gold_spans"].tolist() == [votes.count(number) for number in range(4)]
        for system in here.systems:
            one = here.ledger(system, name)
            for label, count in table.itertuples(index=False):
                assert one.total(Query(having=(("right-by", label),))).records == count
        one, moved = here.ledger("X", name), count_transitions(every[0], every[1], name)
        counts = one.having_counts(Query(), "against Y")
        right = moved.gold[0, 0], moved.gold[0, 1:].sum(), moved.gold[1:, 0].sum(), moved.gold[1:, 1:].sum()
        assert tuple(counts.values())[:4] == right
        assert counts["spurious in both"] == moved.pred[3, 3]
        assert counts["spurious in both"] + counts["spurious here only"] == every[0].counts(name).spu
        for value, count in counts.items():
            assert one.total(Query(having=(("against Y", value),))).records == count
        # What is counted beside another filter is what is listed with it.
        asked = Query(decision=("INC", "MIS"), gold=("A",), having=(("right-by", "1"), ("against Y", "both wrong")))
        for value, count in one.having_counts(asked, "against Y").items():
            query = Query(decision=asked.decision, gold=("A",), having=(("right-by", "1"), ("against Y", value)))
            assert one.total(query).records == count


def test_what_cannot_be_compared() -> None:
    here = corpus(GOLD, ONE, OTHER, criteria=settings("strict", "fragment"))
    one, other = here.scores("X"), here.scores("Y")
    assert are_comparable(one, other, "strict")
    for name in ("fragment", "left"):
        assert not are_comparable(one, other, name)
        with pytest.raises(ValueError, match=name):
            count_transitions(one, other, name)
    records = here.ledger("X", "strict")
    for attribute in ("by nobody", "predicted-by ", "against", "right-by now"):
        assert records.attribute(attribute) is None
        assert records.having_counts(Query(), attribute) == {}
    assert here.ledger("X", "fragment").attribute("by Y") is None
    # Alone, without other systems at hand, nothing is known of them.
    alone = ledger(one, "strict", (here.gold, here.layer("X")))
    assert alone.attribute("right-by") is None and alone.attribute("by Y") is None


def test_gold_that_was_read_twice_is_compared_by_content(tmp_path: Path) -> None:
    def scores(name: str, gold: Layer, pred: Layer) -> Scores:
        write(gold, tmp_path / f"{name}-gold.jsonl", format="jsonl")
        write(pred, tmp_path / f"{name}-pred.jsonl", format="jsonl")
        return score(tmp_path / f"{name}-gold.jsonl", tmp_path / f"{name}-pred.jsonl")

    here = corpus(GOLD, ONE, OTHER)
    one, other = scores("one", here.gold, here.layer("X")), scores("other", here.gold, here.layer("Y"))
    found, expected = (
        count_transitions(one, other, "strict"),
        count_transitions(here.scores("X"), here.scores("Y"), "strict"),
    )
    assert (found.gold == expected.gold).all() and (found.pred == expected.pred).all()
    texts = here.gold.documents.texts
    longer = Documents(here.gold.documents.ids, (f"{texts[0]}.",))
    for changed in (
        corpus([*GOLD[:3], flat(12, 14, "A")], ONE).gold,
        corpus([*GOLD[:3], flat(12, 15, "B")], ONE).gold,
        corpus(GOLD[:3], ONE).gold,
        replace(here.gold, documents=longer),
        replace(here.gold, documents=Documents(("another",), tuple(texts))),
    ):
        theirs = scores("changed", changed, replace(here.layer("Y"), documents=changed.documents))
        assert not are_comparable(one, theirs, "strict")


def test_names_of_how_many() -> None:
    assert [right_count_names(n) for n in range(4)] == [
        ("none",),
        ("none", "all"),
        ("none", "1", "all"),
        ("none", "1", "2", "all"),
    ]


def test_nothing_on_either_side() -> None:
    here = corpus([], [], [])
    found = count_transitions(here.scores("X"), here.scores("Y"), "strict")
    assert found.gold.sum() == found.pred.sum() == 0 and not list(found.cells())
    assert right_count_table([here.scores("X")], "strict")["gold_spans"].tolist() == [0, 0]
