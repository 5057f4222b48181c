"""The difference of two spans: what is taken in or left out, with fragments, white space and long texts."""

from __future__ import annotations

import pytest

from nereval_core.report.span_difference import MOST_OF_PIECE, Fragments, difference_text, span_difference

TEXT = "in the United\n States of the left and right ventricle"
CASES: list[tuple[Fragments, Fragments, str]] = [
    (((7, 21),), ((3, 21),), "[the] United States"),
    (((3, 21),), ((7, 21),), "~the~ United States"),
    (((7, 21),), ((7, 13),), "United ~States~"),
    (((7, 21),), ((3, 13),), "[the] United ~States~"),
    (((7, 21),), ((7, 21),), "United States"),
    (((7, 21),), (), "United States"),
    ((), ((3, 6),), "the"),
    (((29, 33), (44, 53)), ((29, 53),), "left [and right] ventricle"),
    (((29, 33), (44, 53)), (), "left … ventricle"),
    (((29, 33), (34, 37)), (), "left and"),
    (((3, 6),), ((29, 33),), "~the~ … [left]"),
    ((), (), ""),
]


@pytest.mark.parametrize(("gold", "pred", "words"), CASES)
def test_the_difference_in_words(gold: Fragments, pred: Fragments, words: str) -> None:
    pieces = span_difference(TEXT, gold, pred)
    assert difference_text(pieces) == words
    assert all(piece.text and "\n" not in piece.text for piece in pieces)


def test_long_text_is_cut_in_its_middle() -> None:
    (piece,) = span_difference("x" * 500 + " end", ((0, 504),), ())
    assert len(piece.text) <= MOST_OF_PIECE + 3 and piece.text.endswith("end") and "…" in piece.text
