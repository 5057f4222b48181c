"""Where a published scorer and ours part: every span that differs is listed once, with the rule that did it."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from nereval_core.analysis.criteria.convention_differences import (
    ABSENT,
    DIFFERENCE_COLUMNS,
    GROUP_COLUMNS,
    SPAN_COLUMNS,
    count_by_quirk,
    differences,
    differing_decisions,
    span_decisions,
    twin_criterion,
)
from nereval_core.conventions import Outcome, conventions, option_values
from nereval_core.conventions.records import OVERALL
from nereval_core.corpus import Documents, Intervals, Layer, layer
from nereval_core.records.tables import records
from nereval_core.scoring import Scores, score_layers
from nereval_core.scoring.count_tables import TEXT_DTYPE
from tests.support.spans import documents, make, random_spans, settings

WORDS, DOCUMENTS = 14, 60


def flat(seed: int) -> tuple[Layer, Layer]:
    """Draw spans of tokens that do not overlap, on both sides of documents with tokens."""
    rng = random.Random(seed)
    text = " ".join(["word"] * WORDS)
    tokens = Intervals.of([[(5 * number, 5 * number + 4) for number in range(WORDS)]] * DOCUMENTS)
    over = Documents(tuple(f"d{number}" for number in range(DOCUMENTS)), (text,) * DOCUMENTS, tokens)

    def side(name: str) -> Layer:
        found = []
        for doc in range(DOCUMENTS):
            place = rng.randrange(3)
            while place < WORDS:
                last = min(WORDS - 1, place + rng.randrange(3))
                found.append((doc, 5 * place, 5 * last + 4, rng.choice("ABC")))
                place = last + 1 + rng.randrange(3)
        return layer(name, over, *([row[column] for row in found] for column in range(4)))  # type: ignore[arg-type]

    return side("gold"), side("pred")


def nested(seed: int) -> tuple[Layer, Layer]:
    """Draw spans that nest, cross, repeat and have gaps."""
    rng, over = random.Random(seed), documents(DOCUMENTS)
    gold, pred = (
        make(name, over, [(doc, span) for doc in range(DOCUMENTS) for span in random_spans(rng, 7)])
        for name in ("gold", "pred")
    )
    return gold, pred


SIDES = {"gold": "g", "pred": "p"}


def decided(found: pd.DataFrame) -> dict[str, Counter[tuple[Any, ...]]]:
    """Return, by side, how many spans of one place and type got which decisions: another reading of the records."""
    table: dict[str, Counter[tuple[Any, ...]]] = {}
    for side in SIDES:
        units: dict[int, set[str]] = defaultdict(set)
        places = {}
        for row in found.to_dict("records"):
            if row[side] >= 0:
                units[row[side]].add(row["decision"])
                places[row[side]] = (row["doc"], row[f"{side}_start"], row[f"{side}_end"], row[f"{side}_type"])
        table[side] = Counter((*places[unit], "+".join(sorted(names))) for unit, names in units.items())
    return table


def outcome_of(name: str, gold: Layer, pred: Layer) -> Outcome:
    convention = conventions()[name]
    return convention.of_layers(gold, pred, option_values(convention, {}))


def overall(outcome: Outcome, evaluation: str) -> pd.DataFrame:
    found = outcome.records(evaluation)
    return found[(found["scope"] == OVERALL).to_numpy()]


CASES = (
    ("conlleval", flat),
    ("hipe-2020", flat),
    ("hipe-2022", flat),
    ("nervaluate-1.2.1", nested),
    ("nervaluate-0.3.1", nested),
)


@pytest.mark.parametrize(("name", "drawn"), CASES, ids=[name for name, _ in CASES])
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.nightly) for seed in range(1, 20))])
def test_every_span_that_differs_is_listed_and_grouped(name: str, drawn: Any, seed: int) -> None:
    gold, pred = drawn(seed)
    outcome = outcome_of(name, gold, pred)
    known = [(one, rule) for one in outcome.evaluations if (rule := twin_criterion(conventions()[name], one))]
    assert known
    for evaluation, rule in known:
        scores = score_layers(gold, pred, settings(rule))
        found = differences(outcome, evaluation, scores, rule)
        assert dict(found.dtypes) == dict(DIFFERENCE_COLUMNS)
        groups = count_by_quirk(found)
        assert tuple(groups.columns) == GROUP_COLUMNS
        assert groups["count"].sum() == len(found)
        theirs, ours = decided(overall(outcome, evaluation)), decided(records(scores, rule))
        for side in SIDES:
            here = found[(found["side"] == side).to_numpy()]
            for column, mine, other in (("theirs", theirs[side], ours[side]), ("ours", ours[side], theirs[side])):
                has = here[(here[column] != ABSENT).to_numpy()]
                listed = Counter(zip(*(has[name] for name in ("doc", "start", "end", "type", column)), strict=True))
                # At least the spans whose decision the other does not have at that place; of equal spans, which may
                # stand in another order, perhaps more.
                assert listed >= mine - other
                places = Counter(key[:4] for key in mine.elements())
                assert all(listed[key] == (mine - other)[key] for key in mine if places[key[:4]] == 1)
        assert (found["theirs"] != found["ours"].astype(TEXT_DTYPE)).all()
        assert (found["quirk"].str.len() > 0).all() and (found["our_reason"].str.len() > 0).all()


def test_where_all_is_found_nothing_differs() -> None:
    for name, drawn in CASES:
        gold = drawn(1)[0]
        gold = gold.take(np.setdiff1d(np.arange(len(gold)), gold.duplicates))
        outcome = outcome_of(name, gold, gold.renamed("pred"))
        for evaluation in outcome.evaluations:
            if rule := twin_criterion(conventions()[name], evaluation):
                found = differences(outcome, evaluation, score_layers(gold, gold, settings(rule)), rule)
                assert found.empty and count_by_quirk(found).empty


def scores_of(gold: list[tuple[int, int, str]], pred: list[tuple[int, int, str]], name: str = "strict") -> Scores:
    over = Documents(("d",), ("one two three four five",))
    sides = (
        layer(side, over, [0] * len(rows), *([row[column] for row in rows] for column in range(3)))  # type: ignore[arg-type]
        for side, rows in (("gold", gold), ("pred", pred))
    )
    return score_layers(*sides, settings(name))


def table_of(scores: Scores, name: str = "strict") -> pd.DataFrame:
    found = span_decisions(records(scores, name), why="reason")
    assert dict(found.dtypes) == dict(SPAN_COLUMNS)
    return found


def test_the_case_of_a_type_is_no_difference() -> None:
    one, two = (table_of(scores_of([(0, 3, kind)], [(0, 3, kind)])) for kind in ("pers", "PERS"))
    assert differing_decisions(one, two).empty


def test_a_scorer_of_one_type_only_is_compared_by_place() -> None:
    one, two = table_of(scores_of([(0, 3, "GENE")], [])), table_of(scores_of([(0, 3, "DNA"), (4, 7, "RNA")], []))
    assert differing_decisions(one, two)[["start", "theirs"]].to_numpy().tolist() == [[4, ABSENT]]


def test_a_span_that_one_of_the_two_lacks_is_listed() -> None:
    one, two = table_of(scores_of([(0, 3, "A"), (4, 7, "A")], [])), table_of(scores_of([(0, 3, "A")], [(8, 13, "B")]))
    rows = differing_decisions(one, two)[["side", "start", "theirs", "ours", "moves"]].to_numpy().tolist()
    assert rows == [["gold", 4, "MIS", ABSENT, True], ["pred", 8, ABSENT, "SPU", True]]


def test_duplicates_are_told_apart_by_their_number() -> None:
    twice = [(0, 3, "A"), (0, 3, "A")]
    one, two = table_of(scores_of(twice, twice)), table_of(scores_of(twice, [(0, 3, "A")]))
    found = differing_decisions(one, two)
    assert found[["side", "theirs", "ours"]].to_numpy().tolist() == [["gold", "COR", "MIS"], ["pred", "COR", ABSENT]]


@pytest.mark.parametrize(
    ("twins", "evaluation", "expected"),
    [
        ({"ent_type": "type"}, "NE-COARSE-LIT/ent_type", "type"),
        ({"": "strict"}, "anything", "strict"),
        ({"a/b": "exact", "b": "type"}, "a/b", "exact"),
        ({"strict": "strict"}, "fuzzy", None),
    ],
)
def test_the_twin_of_an_evaluation(twins: dict[str, str], evaluation: str, expected: str | None) -> None:
    assert twin_criterion(replace(conventions()["conlleval"], twins=twins), evaluation) == expected
