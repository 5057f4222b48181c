"""Relations between spans of layers: keys of equal spans, spans under other type rules, overlaps of hulls."""

from __future__ import annotations

import random
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nereval_core.analysis import span_relations
from nereval_core.analysis.span_relations import (
    carry_over,
    corresponding_spans,
    have_same_type,
    overlap_counts,
    span_keys,
)
from nereval_core.corpus import Layer
from nereval_core.scoring.criteria import TypeRules
from nereval_core.scoring.type_merging import apply_rules
from tests.support.spans import documents, make, random_spans


def drawn(seed: int, layers: int = 3, docs: int = 2) -> list[Layer]:
    """Draw layers over the same documents whose spans often repeat one another."""
    rng = random.Random(seed)
    over = documents(docs)
    every = [(doc, span) for doc in range(docs) for span in random_spans(rng, 6, room=6, kinds="AB", more=0)]
    return [make(f"layer-{number}", over, [one for one in every if rng.random() < 0.7]) for number in range(layers)]


def identity(layer: Layer, span: int) -> tuple[object, ...]:
    return int(layer.doc[span]), layer.parts(span), layer.label(span)


@pytest.mark.parametrize("below", [span_relations._KEYS_BELOW, 1])
@given(seed=st.integers(0, 10**6))
def test_keys_are_equal_where_spans_are(below: int, seed: int) -> None:
    """However large the numbers are that are packed into a key, and in the order of spans."""
    layers = drawn(seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(span_relations, "_KEYS_BELOW", below)
        found = span_keys(layers)
    keys: dict[object, set[int]] = {}
    for layer, mine in zip(layers, found, strict=True):
        assert mine.tolist() == sorted(mine.tolist()) and len(mine) == len(layer)
        for span, key in enumerate(mine.tolist()):
            keys.setdefault(identity(layer, span), set()).add(key)
    assert all(len(each) == 1 for each in keys.values())
    assert len({key for each in keys.values() for key in each}) == len(keys)
    starts = sorted(keys, key=lambda one: min(keys[one]))
    assert all(one[0] <= two[0] for one, two in pairwise(starts))  # type: ignore[index]


@given(st.integers(0, 10**6))
def test_spans_and_codes_are_carried_over_by_the_order_of_reading(seed: int) -> None:
    gold = drawn(seed, layers=1)[0]
    merged = apply_rules(gold, TypeRules({"B": "A"}, ()))
    left = apply_rules(gold, TypeRules({}, ("B",)))
    assert (corresponding_spans(gold, gold) == np.arange(len(gold))).all()
    for other in (merged, left):
        there = corresponding_spans(other, gold)
        assert [(int(gold.doc[span]), gold.parts(span)) for span in there.tolist()] == [
            (int(other.doc[span]), other.parts(span)) for span in range(len(other))
        ]
        back = corresponding_spans(gold, other)
        assert back[there].tolist() == list(range(len(other)))
        assert (back < 0).sum() == len(gold) - len(other)
        assert (carry_over(gold.start, gold, other) == other.start).all()
    kept = [gold.label(span) == "A" for span in range(len(gold))]
    back = carry_over(np.zeros(len(left), np.int8), left, gold)
    assert back.dtype == np.int8 and back.tolist() == [0 if one else -1 for one in kept]


@given(st.integers(0, 10**6))
def test_types_and_overlaps_of_hulls_are_those_of_every_pair(seed: int) -> None:
    one, other = drawn(seed, layers=2)
    overlaps = overlap_counts(one, other).tolist()
    for g in range(len(one)):
        near = [p for p in range(len(other)) if one.doc[g] == other.doc[p]]
        assert overlaps[g] == sum(one.start[g] < other.end[p] and other.start[p] < one.end[g] for p in near)
        same = have_same_type(one, other, np.full(len(other), g), np.arange(len(other)))
        assert same.tolist() == [one.label(g) == other.label(p) for p in range(len(other))]
