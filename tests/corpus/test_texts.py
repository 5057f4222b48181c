"""Texts held as bytes: the same strings, lengths and comparisons as a tuple of them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nereval_core.corpus.texts import BLOCK_BYTES, Texts

STRINGS = st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=8), max_size=6)


@given(STRINGS, STRINGS)
def test_texts_are_like_a_tuple_of_strings(strings: list[str], others: list[str]) -> None:
    texts, plain = Texts.of(strings), tuple(strings)
    assert (len(texts), tuple(texts), texts[:]) == (len(plain), plain, plain)
    assert [texts[number] for number in range(-len(plain), len(plain))] == [*plain, *plain]
    assert texts.lengths.tolist() == list(map(len, plain))
    assert [bytes(texts.raw(number)) for number in range(len(plain))] == [text.encode() for text in plain]
    assert texts[1:-1] == plain[1:-1]
    assert (texts == Texts.of(others)) == (texts == others) == (strings == others)
    assert tuple(texts.take(range(len(plain) - 1, -1, -1))) == plain[::-1]


def test_lengths_count_characters_across_blocks() -> None:
    long = "aé😀" * (BLOCK_BYTES // 4)
    assert Texts.of([long, "", "é", long]).lengths.tolist() == [len(long), 0, 1, len(long)]


def test_what_is_outside_or_no_text_is_refused() -> None:
    with pytest.raises(IndexError):
        Texts.of(["a"])[1]
    with pytest.raises(UnicodeEncodeError):
        Texts.of(["\ud800"])
    with pytest.raises(ValueError, match="read-only"):
        Texts.of(["a"]).data[0] = 0
    assert Texts(np.zeros(0, np.uint8), np.zeros(1, np.int64)) == ()
