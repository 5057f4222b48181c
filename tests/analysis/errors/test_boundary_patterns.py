"""Patterns of wrong boundaries, and attributes by which every count of the error classes opens its records."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nereval_core.analysis.errors.boundary_patterns import (
    CHANGES,
    EDGES,
    PATTERN_COLUMNS,
    find_patterns,
    name_difference,
    pattern_table,
)
from nereval_core.analysis.errors.error_classes import CLASSES, class_ends, class_table, class_types, classify_errors
from nereval_core.corpus import Documents, layer
from nereval_core.ledger import Ledger, ledger
from nereval_core.records.queries import Query
from nereval_core.scoring import Scores, Settings, score_layers
from nereval_core.scoring.criteria import CRITERIA
from nereval_core.scoring.examples import Example, decide
from pages.shared.data.loading import load_demo
from pages.shared.view import View
from pages.shared.view.link import read_link, write_link
from pages.shared.view.queries import query_of, view_of
from tests.records.test_queries import CASES, LEFT_OUT, MERGES
from tests.support.layer_strategies import texts

KINDS = [
    ("|the |cat", "determiner"),
    ("|l'|hôpital", "determiner"),
    ("|l’|hôpital", "determiner"),
    ("|Die |Stadt", "determiner"),
    ("|of the |city", "preposition + determiner"),
    ("|von der |Stadt", "preposition + determiner"),
    ("|d'|Alembert", "preposition"),
    ("|Dr. |Who", "title"),
    ("|Dr |Who", "title"),
    ("|M. |Thiers", "title"),
    ("vitamin |M|", "“M”"),
    ("|Doña |Ana", "title"),
    ("|große |Stadt", "adjective"),
    ("cats| and| dogs", "conjunction"),
    ("cat|, the|", "punctuation + determiner"),
    ("cat|.|", "punctuation"),
    ("cat|”|", "quotation mark"),
    ("cat|+|", "symbol"),
    ("cat| 12|", "number"),
    ("cat| 12 |", "number"),
    ("cat| (feline)|", "parenthesis"),
    ("cat|)|", "parenthesis"),
    ("cat|\n |", "white space"),
    ("kin|ase|", "part of a word"),
    ("k|in|ase", "part of a word"),
    ("猫|科|動物", "“科”"),
    ("cat|\tfood  bowl|", "“food bowl”"),
    ("the |Liverpool and |Leeds", "“Liverpool and”"),
    ("and |the of and Dr |Who", "“the of and Dr”"),
    ("x|\0|y", "symbol"),
    ("x|a\0b|.", "part of a word"),
    ("x |a\0b| y", "“a\\x00b”"),
    ("a |" + "long " * 20 + "|b", "“" + ("long " * 20)[:39] + "…”"),
]


@pytest.mark.parametrize(("text", "expected"), KINDS)
def test_kinds_by_hand(text: str, expected: str) -> None:
    before, between, after = text.split("|")
    assert name_difference(before + between + after, len(before), len(before) + len(between)) == expected


CHANGED = [
    ("the [cat|X] sat.", "[the cat|X] sat.", [("left", "takes in determiner")]),
    ("[the cat|X] sat.", "the [cat|X] sat.", [("left", "leaves out determiner")]),
    ("the [cat|X] sat.", "the [cat sat|X].", [("right", "takes in “sat”")]),
    ("the [cat sat|X].", "the [cat|X] sat.", [("right", "leaves out “sat”")]),
    ("[the cat|X].", "the [cat.|X]", [("left", "leaves out determiner"), ("right", "takes in punctuation")]),
    ("the [cat|X] sat.", "[the cat|Y] sat.", []),
    ("the [cat|X] sat.", "[the|X] [cat|Y] sat.", []),
    ("[the cat|X], [the dog|X].", "the [cat|X], the [dog|X].", [("left", "leaves out determiner")] * 2),
]


@pytest.mark.parametrize(("gold", "prediction", "expected"), CHANGED)
def test_what_is_left_out_and_taken_in(gold: str, prediction: str, expected: list[tuple[str, str]]) -> None:
    table = pattern_table(decide(Example("", gold, prediction)))
    assert dict(table.dtypes) == dict(PATTERN_COLUMNS)
    rows = [row for row in table.itertuples(index=False) for _ in range(row.records)]
    assert [(row.end, row.pattern) for row in rows] == expected


@given(texts(min_size=1), st.data())
def test_any_two_places_have_a_kind_in_one_line(text: str, data: st.DataObject) -> None:
    low = data.draw(st.integers(0, len(text) - 1))
    kind = name_difference(text, low, data.draw(st.integers(low + 1, len(text))))
    assert kind and kind.isprintable() and kind == " ".join(kind.split())


def test_without_texts_there_are_no_patterns() -> None:
    bare = Documents(("d",), ("",), sizes=np.array([20]))
    gold, pred = (layer(name, bare, [0], [0], [end], ["X"]) for name, end in (("gold", 5), ("pred", 9)))
    scores = score_layers(gold, pred)
    assert classify_errors(scores).counts()[CLASSES.index("boundary only")] == 1
    assert not len(pattern_table(scores))


@cache
def scored(name: str, system: str, merged: bool) -> Scores:
    names = ("strict", "type", "partial", "fragment")
    criteria = tuple(CRITERIA[criterion] for criterion in names)
    settings = Settings(criteria, MERGES[name], (LEFT_OUT[name],)) if merged else Settings(criteria)
    corpus = load_demo(name).corpus
    return score_layers(corpus.gold, corpus.system(system), settings)


def listed(records: Ledger, *having: tuple[str, str]) -> int:
    """Return how many records a count lists, opened as a link does: through the view and its address."""
    view, notices = read_link(write_link(view_of(View(), Query(having=having))))
    assert not notices
    found = records.total(query_of(view)).records
    assert found == len(records.positions(query_of(view)))
    return found


@pytest.mark.parametrize(("name", "system", "merged"), CASES)
def test_every_count_opens_its_records(name: str, system: str, merged: bool) -> None:
    scores = scored(name, system, merged)
    records = ledger(scores, "strict", scores.read)
    for row in class_table(scores).itertuples():
        assert listed(records, ("class", row[1])) == row.records
    cells = class_types(scores)
    assert set(cells["class"]) == {row[1] for row in class_table(scores).itertuples() if row.records}
    for row in cells.itertuples():
        assert listed(records, ("class", row[1]), ("type", row.type)) == row.records
    for row in class_ends(scores).itertuples():
        assert listed(records, ("class", row[1]), ("ends", row.ends)) == row.records
    for row in pattern_table(scores).itertuples():
        assert listed(records, (f"pattern {row.end}", row.pattern)) == row.records
        assert listed(records, (f"pattern {row.end}", row.pattern), ("class", "boundary only")) == row.records


@pytest.mark.parametrize("criterion", ["type", "partial"])
def test_classes_are_strict_under_any_criterion(criterion: str) -> None:
    scores = scored("biology", "perceptron", False)
    found = classify_errors(scores)
    records = ledger(scores, criterion, scores.read)
    classes = records.attribute("class")
    assert classes is not None and classes.names == CLASSES
    for place in range(len(records.about.rows)):
        g, p = int(records.about.rows.gold[place]), int(records.about.rows.pred[place])
        assert classes.codes[place] == (found.gold[g] if g >= 0 else found.pred[p])


def test_criteria_with_types_of_their_own_have_classes_too() -> None:
    own = CRITERIA["type"].__class__(
        name="own", boundaries="overlap", same_type=True, merge=(("DNA", "acid"), ("RNA", "acid")), leave_out=("cell",)
    )
    corpus = load_demo("biology").corpus
    scores = score_layers(corpus.gold, corpus.system("perceptron"), Settings((CRITERIA["strict"], own)))
    records, strict = ledger(scores, "own", scores.read), ledger(scores, "strict", scores.read)
    one, other = records.attribute("class"), strict.attribute("class")
    assert one is not None and other is not None

    def golds(of: Ledger, codes: np.ndarray) -> dict[tuple[int, int, int], int]:
        there = np.flatnonzero(of.about.rows.gold >= 0)
        layer = of.about.scores.layers(of.criterion)[0]
        spans = of.about.rows.gold[there]
        keys = zip(layer.doc[spans].tolist(), layer.start[spans].tolist(), layer.end[spans].tolist(), strict=True)
        return dict(zip(keys, codes[there].tolist(), strict=True))

    mine, theirs = golds(records, one.codes), golds(strict, other.codes)
    assert mine and all(theirs[key] == code for key, code in mine.items())


def test_what_has_no_classes_has_no_attribute() -> None:
    scores = scored("biology", "rules", False)
    tokens = ledger(scores, "fragment", scores.read)
    assert tokens.attribute("class") is None and tokens.total(Query(having=(("class", "missed"),))).records == 0
    strict = ledger(scores, "strict", scores.read)
    for name in ("class left", "ends left", "pattern", "pattern top", "type x"):
        assert strict.attribute(name) is None
    lacking = score_layers(*scores.read, Settings((CRITERIA["type"],)))
    assert ledger(lacking, "type", scores.read).attribute("class") is None
    found = find_patterns(scores)
    assert all(name.startswith(CHANGES) for name in found.names) and set(found.gold) == set(EDGES)
