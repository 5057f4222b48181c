"""The drop-in for seqeval beside seqeval 1.2.2 itself: results, errors and warnings of every function."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import numpy as np
import pytest
import seqeval.metrics as theirs
import seqeval.scheme as their_schemes
from hypothesis import given
from hypothesis import strategies as st
from seqeval.metrics import sequence_labeling

from nereval_core.compat import seqeval
from nereval_core.conventions.seqeval.entities import SCHEMES
from tests.support.draws import draws

LETTERS = ("OBI", "OIE", "OBIES", "OBILU", "OBIESLU.MX")
TYPES = ("PER", "LOC", "B-C", "A-", "", "-")
Sentences = list[list[str]]
Pair = tuple[Sentences, Sentences]
SCORES = ("f1_score", "precision_score", "recall_score")
OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "mode": st.sampled_from([None, "strict"]),
        "scheme": st.sampled_from([None, *SCHEMES]),
        "zero_division": st.sampled_from(["warn", 0, 1]),
        "sample_weight": st.just([1]),
    },
)


@st.composite
def sides(draw: st.DrawFn, *, suffix: bool = False) -> Pair:
    """Draw tags of both sides: legal and odd ones, empty sentences among them."""
    letters = draw(st.sampled_from(LETTERS))
    types = draw(st.sampled_from([TYPES[:2], TYPES]))

    def written(letter: str, kind: str, bare: bool) -> str:
        if letter == "O" or not kind:
            return letter
        parts = (letter, "" if bare and kind == "B-C" else "-", kind)
        return "".join(reversed(parts)) if suffix else "".join(parts)

    tag = st.builds(written, st.sampled_from(letters), st.sampled_from(types), st.booleans())
    pairs = draw(st.lists(st.lists(st.tuples(tag, st.none() | tag), max_size=7), max_size=5))
    gold = [[one for one, _ in sentence] for sentence in pairs]
    return gold, [[other or one for one, other in sentence] for sentence in pairs]


def outcome(function: Callable[..., Any], *arguments: Any, **options: Any) -> tuple[Any, set[tuple[type, str]]]:
    """Return the result, or the kind of error and the text of a ValueError, and all warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = function(*arguments, **options)
        except (TypeError, KeyError, IndexError, ZeroDivisionError, ValueError) as error:
            # The sets of letters in a message have no order, and a letter is not named in one way.
            text = str(error) if str(error).startswith(("Invalid token", "Found", "average", "beta")) else ""
            return (type(error), text), set()
    return result, {(one.category, str(one.message)) for one in caught}


def same(one: Any, other: Any) -> bool:
    """Tell whether results are the same to the last digit, NaN being the same as NaN."""
    if isinstance(other, dict):
        return list(one) == list(other) and all(same(one[key], other[key]) for key in other)
    if isinstance(other, str | list) or (isinstance(other, tuple) and isinstance(other[0], type)):
        return bool(one == other)
    if isinstance(other, tuple):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(np.array_equal(np.asarray(one), np.asarray(other), equal_nan=True))


def check(name: str, *arguments: Any, scheme: str | None = None, **options: Any) -> None:
    ours, reference = getattr(seqeval.metrics, name), getattr(theirs, name, None)
    own = {} if scheme is None else {"scheme": getattr(seqeval.scheme, scheme)}
    of_them = {} if scheme is None else {"scheme": getattr(their_schemes, scheme)}
    (expected, said) = outcome(reference or getattr(sequence_labeling, name), *arguments, **options, **of_them)
    for schemes in (own, of_them):
        found, warned = outcome(ours, *arguments, **options, **schemes)
        assert same(found, expected), (name, found, expected)
        assert warned == said


def test_the_reference_is_that_of_the_convention() -> None:
    assert version("seqeval") == "1.2.2"


@draws(13)
@given(data=st.data(), suffix=st.booleans(), options=OPTIONS, average=st.sampled_from([None, "micro", "macro"]))
def test_scores_are_those_of_seqeval(data: st.DataObject, suffix: bool, options: dict[str, Any], average: Any) -> None:
    gold, pred = data.draw(sides(suffix=suffix))
    for name in SCORES:
        check(name, gold, pred, average=average, suffix=suffix, **options)
        check(name, gold, pred, average="weighted", suffix=suffix, **options)


@draws(13)
@given(data=st.data(), suffix=st.booleans(), options=OPTIONS, text=st.booleans(), digits=st.integers(0, 20))
def test_reports_are_those_of_seqeval(
    data: st.DataObject, suffix: bool, options: dict[str, Any], text: bool, digits: int
) -> None:
    gold, pred = data.draw(sides(suffix=suffix))
    # Without a sentence, the text ends in another error there: ValueError, not TypeError.
    if gold or not text:
        check("classification_report", gold, pred, digits=digits, suffix=suffix, output_dict=not text, **options)


@draws(13)
@given(pair=sides(), suffix=st.booleans())
def test_tokens_and_entities_are_those_of_seqeval(pair: Pair, suffix: bool) -> None:
    gold, pred = pair
    for name in ("accuracy_score", "performance_measure"):
        check(name, gold, pred)
        check(name, [tag for sentence in gold for tag in sentence], [tag for sentence in pred for tag in sentence])
    check("get_entities", gold, suffix=suffix)
    for sentence in pred:
        check("get_entities", sentence, suffix=suffix)


@pytest.mark.parametrize(
    ("gold", "pred", "options"),
    [
        (["B-A"], ["B-A"], {}),
        ([["B-A"]], [["B-A", "O"]], {}),
        ([["B-A"]], [["B-A"], ["O"]], {}),
        ([("B-A",)], [["B-A"]], {}),
        ([[""]], [["O"]], {}),
        ([["B-A"]], [["B-A"]], {"average": "samples"}),
        ([["B-A"]], [["Q-A"]], {"mode": "strict", "scheme": "IOB2"}),
        ([["B-A"]], [["E-A"]], {"mode": "strict", "scheme": "IOB2"}),
    ],
)
def test_what_seqeval_refuses_is_refused(gold: Any, pred: Any, options: dict[str, Any]) -> None:
    for name in SCORES:
        check(name, gold, pred, **options)
    assert isinstance(outcome(seqeval.metrics.f1_score, gold, pred)[0], tuple) == (not options)


def test_a_scheme_that_is_none_is_refused() -> None:
    with pytest.raises(TypeError, match="scheme has to be one of IOB1, "):
        seqeval.metrics.f1_score([["B-A"]], [["B-A"]], mode="strict", scheme=int)
