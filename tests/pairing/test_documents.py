"""Texts and tokens compared as arrays: what comparing them one by one finds, whatever the blocks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nereval_core.corpus import Documents, Intervals, Layer
from nereval_core.corpus.intervals import SpacedIntervals
from nereval_core.corpus.texts import Texts
from nereval_core.pairing import Paired, documents, pair
from nereval_core.pairing.documents import same_texts, same_tokens
from nereval_core.problems import FormatError
from nereval_core.readers import Reading
from tests.support.layer_strategies import content
from tests.support.layer_strategies import layers as drawn_layers

TEXTS = st.lists(st.sampled_from(["", "a", "ab", "ba", "é", "e\u0301", "abcé"]), max_size=8)
BLOCKS = st.sampled_from([1, 3, 1 << 20])


@given(ours=TEXTS, changes=st.lists(st.tuples(st.integers(0, 7), st.sampled_from(["", "b", "ba"]))), data=st.data())
def test_texts_as_bytes_and_one_by_one(ours: list[str], changes: list[tuple[int, str]], data: st.DataObject) -> None:
    turn = data.draw(st.permutations(range(len(ours)))) if data.draw(st.booleans()) else list(range(len(ours)))
    to = np.array(turn[: data.draw(st.integers(0, len(ours)))], np.int64)
    theirs = [ours[there] for there in to.tolist()]
    for place, text in changes:
        if place < len(theirs):
            theirs[place] = text
    expected = [text == ours[there] for text, there in zip(theirs, to.tolist(), strict=True)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(documents, "BLOCK_ROWS", data.draw(BLOCKS))
        for one in (tuple(ours), Texts.of(ours)):
            for other in (tuple(theirs), Texts.of(theirs)):
                assert same_texts(one, other, to).tolist() == expected


CUTS = st.lists(st.sampled_from([(), ((0, 1),), ((0, 1), (1, 2)), ((0, 2),), ((1, 2),)]), max_size=6)


@given(ours=CUTS, changes=st.lists(st.tuples(st.integers(0, 5), st.sampled_from([(), ((0, 1),)]))), data=st.data())
def test_tokens_as_arrays_and_one_by_one(
    ours: list[tuple[tuple[int, int], ...]], changes: list[tuple[int, tuple[tuple[int, int], ...]]], data: st.DataObject
) -> None:
    to = np.array(data.draw(st.permutations(range(len(ours)))), np.int64)
    theirs = [ours[there] for there in to.tolist()]
    for place, cut in changes:
        if place < len(theirs):
            theirs[place] = cut
    pairs = zip(theirs, to.tolist(), strict=True)
    expected = all(not cut or not ours[there] or cut == ours[there] for cut, there in pairs)
    sides = [
        Documents(tuple(map(str, range(len(cuts)))), ("ab",) * len(cuts), Intervals.of(cuts)) for cuts in (ours, theirs)
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(documents, "BLOCK_ROWS", data.draw(BLOCKS))
        assert bool(same_tokens(sides[0], sides[1], to).all()) == expected
    assert same_tokens(replace(sides[0], tokens=None), sides[1], to).all()


def test_tokens_known_by_their_sizes_alone() -> None:
    first, sizes = np.array([0, 2, 2, 3]), np.array([2, 3, 4], np.uint8)
    spaced = SpacedIntervals(first, sizes)
    others = (SpacedIntervals(first, sizes), SpacedIntervals(first, sizes + np.uint8(1)))
    assert [spaced.same(other) for other in others] == [True, False]
    assert spaced._places is None, "comparing sizes computes no places"
    plain = [Intervals(one.first, one.starts, one.ends) for one in others]
    assert [spaced.same(other) for other in plain] == [other.same(spaced) for other in plain] == [True, False]
    assert not spaced.same(SpacedIntervals(np.array([0, 1, 2, 3]), sizes))


def paired(gold: Layer, pred: Layer) -> Paired | tuple[object, ...]:
    try:
        return pair(*(Reading(layer.documents, layer, "drawn", source=layer.name) for layer in (gold, pred)))
    except FormatError as error:
        return error.problems


@given(gold=drawn_layers(), data=st.data())
def test_pairing_does_not_depend_on_how_texts_are_held(gold: Layer, data: st.DataObject) -> None:
    """Documents in another order, some with another text or without tokens."""
    turn = data.draw(st.permutations(range(len(gold.documents))))
    own = gold.documents
    texts = [own.texts[number] for number in turn]
    if texts and data.draw(st.booleans()):
        texts[data.draw(st.integers(0, len(texts) - 1))] += data.draw(st.sampled_from(["", "x", " "]))
    cuts = None if own.tokens is None else Intervals.of([own.tokens.of_document(number) for number in turn])
    theirs = Documents(
        tuple(own.ids[number] for number in turn), tuple(texts), data.draw(st.sampled_from([cuts, None]))
    )
    none = np.zeros(0, np.int32)
    empty = Layer("pred", theirs, none, none, none, none.astype(np.int16), ())
    found = []
    for held in (tuple, Texts.of):
        documents = replace(own, texts=held(own.texts))
        others = replace(theirs, texts=held(theirs.texts))
        one = paired(replace(gold, documents=documents), replace(empty, documents=others))
        found.append((content(one.layer), one.notes, one.marks) if isinstance(one, Paired) else one)
    if isinstance(found[0][0], dict):
        for one in found:
            assert isinstance(one[0], dict)
            one[0]["texts"] = tuple(one[0]["texts"])
    assert found[0] == found[1]
