"""The drop-in for nervaluate beside nervaluate 1.2.1 itself: results, indices, reports and errors of the Evaluator."""

from __future__ import annotations

import csv
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

import nervaluate
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nereval_core.compat.nervaluate import Evaluator
from tests.support.draws import draws
from tests.support.nervaluate_corpora import SCHEMAS, Drawn, corpora, entities

KINDS = ("A", "B", "C")
SPANS = st.lists(
    st.builds(
        lambda start, length, kind: {"label": kind, "start": start, "end": start + length},
        st.integers(-2, 9),
        st.integers(0, 4),
        st.sampled_from(KINDS),
    ),
    max_size=6,
)
DOCUMENTS = st.lists(st.tuples(SPANS, SPANS), max_size=4)
TAGS = st.sampled_from([list(KINDS), ["A"], ["C", "A", "Z"], []])
TAG = st.sampled_from(["O", "O", "B-A", "I-A", "B-B", "I-B", "B-", "I-"])
SENTENCES = st.lists(st.lists(st.tuples(TAG, TAG), min_size=1, max_size=8), min_size=1, max_size=4)


def plain(results: dict[str, Any]) -> dict[str, Any]:
    """Return results as dictionaries alone."""
    return {
        key: plain(value) if isinstance(value, dict) else asdict(value)  # type: ignore[call-overload]
        for key, value in results.items()
    }


def error_of(make: Any) -> tuple[type, str] | Any:
    try:
        return make()
    except (ValueError, IndexError) as error:
        unordered = ("required keys", "must be one of")
        return type(error), "" if any(words in str(error) for words in unordered) else str(error)


def check(*arguments: Any, **options: Any) -> None:
    """Hold everything that the Evaluator says against nervaluate's."""
    made = [error_of(lambda one=one: one(*arguments, **options)) for one in (Evaluator, nervaluate.Evaluator)]
    ours, theirs = made
    if isinstance(theirs, tuple):
        assert ours == theirs
        return
    assert plain(ours.evaluate()) == plain(theirs.evaluate())
    for digits in (2, 5):
        assert ours.summary_report(digits=digits) == theirs.summary_report(digits=digits)
    assert ours.results_to_csv() == theirs.results_to_csv()
    for schema in SCHEMAS:
        assert ours.summary_report("entities", schema) == theirs.summary_report("entities", schema)
        # The order of types is by chance there.
        one, two = (side.results_to_csv("entities", schema).splitlines() for side in made)
        assert one[0] == two[0] and sorted(one) == sorted(two)
        for colours in {False, schema == "strict"}:
            for mode in ("overall", "entities"):
                one, two = (
                    error_of(lambda side=side: side.summary_report_indices(mode, schema, colours))  # noqa: B023
                    if theirs.true
                    else ""
                    for side in made
                )
                heading = "\nEntity Type" if not colours else "\n\x1b[1mEntity Type"
                if mode == "entities" and isinstance(one, str) and isinstance(two, str):
                    one, two = (sorted(text.split(heading)) for text in (one, two))
                assert one == two


def test_the_reference_is_that_of_the_convention() -> None:
    assert version("nervaluate") == "1.2.1"


@draws(13)
@given(documents=DOCUMENTS, tags=TAGS, minimum=st.sampled_from([1.0, 34.5, 50, 100.0]))
def test_dicts_score_as_in_nervaluate(documents: list[Any], tags: list[str], minimum: float) -> None:
    gold, pred = ([document[side] for document in documents] for side in (0, 1))
    check(gold, pred, tags, loader="dict", min_overlap_percentage=minimum)


@draws(13)
@given(sentences=SENTENCES, tags=st.sampled_from([["A", "B"], ["B", ""]]))
def test_tags_and_conll_score_as_in_nervaluate(sentences: list[Any], tags: list[str]) -> None:
    gold, pred = ([[pair[side] for pair in sentence] for sentence in sentences] for side in (0, 1))
    check(gold, pred, tags)
    check(gold, pred, tags=tags, loader="list")
    texts = ["\n\n".join("\n".join(f"w\t{tag}" for tag in one) for one in side) for side in (gold, pred)]
    check(*texts, tags)
    check(*texts, tags=tags, loader="conll")


@pytest.mark.parametrize("drawn", list(corpora())[::8], ids=lambda drawn: f"room-{drawn.room}")
def test_large_corpora_score_as_in_nervaluate(drawn: Drawn) -> None:
    gold, pred = ([entities(document[side]) for document in drawn.documents] for side in (0, 1))
    check(gold, pred, list(drawn.tags), loader="dict", min_overlap_percentage=drawn.minimum)


@pytest.mark.parametrize(
    ("gold", "pred", "options"),
    [
        ([], [], {}),
        (5, 5, {}),
        ([], [], {"loader": "list"}),
        ([], [], {"loader": "other"}),
        ([["O"]], [["O"], ["O"]], {}),
        ([["O"]], [["O", "O"]], {}),
        ([["X-A"]], [["O"]], {}),
        ([["B-A", "X-B"]], [["O", "O"]], {}),
        ([["B-A", "XXA"]], [["O", "O"]], {}),
        ([["O", 5]], [["O", "O"]], {}),
        (["O"], ["O"], {"loader": "list"}),
        ("O", "O", {}),
        ("a\tB-A\n\n\n\nb\tB-A", "a\tB-A\n\n\n\nb\tO", {}),
        ("a\tB-A\n \nb\tI-A\n", "a\tB-A\n \nb\tO\n", {}),
        ("", "", {}),
        ({}, {}, {"loader": "conll"}),
        ({}, {}, {"loader": "dict"}),
        ([{}], [{}], {"loader": "dict"}),
        ([[5]], [[5]], {"loader": "dict"}),
        ([[{"label": 5, "start": 0, "end": 1}]], [[]], {}),
        ([[{"label": "A", "start": 0.5, "end": 1}]], [[]], {}),
        ([[{"label": "A", "start": 0}]], [[]], {}),
        ([["O"]], [["O"]], {"min_overlap_percentage": 0.5}),
        ([["O"]], [["O"]], {"min_overlap_percentage": 101}),
    ],
)
def test_odd_and_bad_input_is_treated_as_in_nervaluate(gold: Any, pred: Any, options: dict[str, Any]) -> None:
    check(gold, pred, ["A"], **options)


def test_unknown_modes_are_refused_and_files_written(tmp_path: Path) -> None:
    evaluator = Evaluator([["B-A", "O"]], [["B-A", "B-A"]], ["A"])
    for call in (evaluator.summary_report, evaluator.results_to_csv, evaluator.summary_report_indices):
        with pytest.raises(ValueError, match="Invalid mode"):
            call("all")
        with pytest.raises(ValueError, match="Invalid scenario"):
            call("entities", "type")
    place = tmp_path / "results.csv"
    assert evaluator.results_to_csv("entities", "exact", str(place)) is None
    with place.open(newline="") as rows:
        assert next(csv.DictReader(rows))["Spurious"] == "1"


def test_an_entity_that_ends_before_it_starts_is_refused() -> None:
    with pytest.raises(ValueError, match="ends before it starts"):
        Evaluator([[{"label": "A", "start": 3, "end": 1}]], [[]], ["A"]).evaluate()
