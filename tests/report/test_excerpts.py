"""Excerpts for slides: at sentences, at words, and no span is lost however long it is."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nereval_core.corpus import Intervals
from nereval_core.report import excerpts
from nereval_core.report.excerpts import CUT, cut_around
from nereval_core.report.marks import Mark
from tests.report.test_highlight import marked

TEXT = (
    "It began in spring. Ann, e.g. Ann Lee, took 5 mg of aspirin (Bayer). She slept! Nobody knew why.\n\nThen Bob came."
)


def mark(text: str, quote: str, *more: str) -> Mark:
    parts = tuple((text.index(one), text.index(one) + len(one)) for one in (quote, *more))
    return Mark("gold", 0, parts, "Drug", "MIS")


@pytest.mark.parametrize(
    ("most", "expected"),
    [
        (200, TEXT),
        (99, "It began in spring. Ann, e.g. Ann Lee, took 5 mg of aspirin (Bayer). She slept! Nobody knew why.\n\n"),
        (60, "Ann, e.g. Ann Lee, took 5 mg of aspirin (Bayer). She slept! "),
        (50, "Ann, e.g. Ann Lee, took 5 mg of aspirin (Bayer). "),
        (30, f"{CUT} took 5 mg of aspirin (Bayer). "),
        (20, f"{CUT} mg of aspirin {CUT}"),
        (14, f"{CUT} of aspirin {CUT}"),
        (7, f"{CUT} aspirin {CUT}"),
    ],
)
def test_sentences_then_words(most: int, expected: str) -> None:
    found, (moved,) = cut_around(TEXT, [mark(TEXT, "aspirin")], most)
    assert found == expected
    assert found[moved.start : moved.end] == "aspirin"


def test_sentences_of_the_document_are_taken_for_those_of_the_text() -> None:
    text = "one two\nthree four\nfive six"
    found, _ = cut_around(text, [mark(text, "three")], 11, [(0, 7), (8, 18), (19, 27)])
    assert found == "three four\n"


def test_a_long_span_keeps_its_beginning_and_its_end() -> None:
    text = "Ann said: " + "word " * 2_000 + "and left. Bob stayed."
    found, (long, short) = cut_around(text, [mark(text, text[10:-12]), mark(text, "left")], 120)
    assert len(found) <= 160
    assert found.startswith("Ann said: word") and found.endswith("left. Bob stayed.")
    assert found[long.start : long.end].startswith("word ") and found[long.start : long.end].endswith("and left.")
    assert found[short.start : short.end] == "left" and f" {CUT} " in found


def test_fragments_far_apart_stay_apart() -> None:
    text = "left " + "x " * 500 + "and " + "y " * 500 + "right arm"
    found, (moved,) = cut_around(text, [mark(text, "left", "arm")], 100)
    assert [found[low:high] for low, high in moved.fragments] == ["left", "arm"]
    assert len(found) < 160


@given(marked(), st.integers(1, 60))
def test_no_mark_is_lost_and_words_are_as_they_were(case: tuple[str, list[Mark]], most: int) -> None:
    text, marks = case
    if not marks:
        return
    found, moved = cut_around(text, marks, most)
    assert len(moved) == len(marks)
    for before, after in zip(marks, moved, strict=True):
        assert after.fragments and all(low < high for low, high in after.fragments)
        assert all(one[1] <= two[0] for one, two in pairwise(after.fragments))
        assert found[after.start] == text[before.start] and found[after.end - 1] == text[before.end - 1]


PIECES = st.sampled_from(["word ", "a. ", "e.g. ", "End.  ", "so!\n\n", "\n \n", "  ", '."  ', "Ann ", "…", "，", "\n"])


@given(st.lists(PIECES, min_size=1, max_size=80).map("".join), st.data())
def test_what_lies_far_from_a_span_has_no_part_in_its_excerpt(text: str, data: st.DataObject) -> None:
    """Sentences are looked for near the marks alone: the excerpt is the one that the whole text gives."""
    low = data.draw(st.integers(0, len(text) - 1))
    high = data.draw(st.integers(low + 1, min(len(text), low + 12)))
    most = data.draw(st.integers(high - low, 30))
    span = Mark("gold", 0, ((low, high),), "Drug", "MIS")
    sentences = [(match.start(), match.end()) for match in re.finditer(r"\S+(?:\s\S+)?", text)]
    stored = Intervals.of([[], sentences])
    near = stored.near(1, low - most, high + most)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(excerpts, "_window", lambda text, low, high: (0, len(text)))
        of_whole_text = cut_around(text, [span], most), cut_around(text, [span], most, sentences)
    assert (cut_around(text, [span], most), cut_around(text, [span], most, near)) == of_whole_text


def test_neighbours_come_after_the_marks_and_none_is_cut() -> None:
    drug, dose, outside = mark(TEXT, "aspirin"), mark(TEXT, "5 mg of aspirin"), mark(TEXT, "Bob")
    text, marks = cut_around(TEXT, [drug], 20, neighbours=[outside, dose])
    assert text == f"{CUT} 5 mg of aspirin {CUT}"
    assert [text[one.start : one.end] for one in marks] == ["aspirin", "5 mg of aspirin"]


@pytest.mark.parametrize(
    ("most", "neighbour", "expected"),
    [
        (20, "5 mg of", f"{CUT} aspirin {CUT}"),
        (50, "(Bayer). She", f"{CUT} Ann Lee, took 5 mg of aspirin (Bayer). She slept! "),
        (30, "(Bayer). She slept", f"{CUT} 5 mg of aspirin {CUT}"),
    ],
)
def test_no_excerpt_begins_or_ends_within_a_neighbour(most: int, neighbour: str, expected: str) -> None:
    text, _ = cut_around(TEXT, [mark(TEXT, "aspirin")], most, neighbours=[mark(TEXT, neighbour)])
    assert text == expected


def test_a_sentence_does_not_end_within_a_span() -> None:
    """On HIPE-2020 a slide began with "States," under the decision on a span of seven words."""
    text = "THOMAS JEFFERSON, President of the Unit.! States, wrote it. He left."
    text_around, marks = cut_around(
        text, [mark(text, ".! States")], 60, neighbours=[mark(text, "THOMAS JEFFERSON, President of the Unit.! States")]
    )
    assert text_around.startswith("THOMAS") and marks[1].start == 0
    text_around, _ = cut_around(
        text, [mark(text, "wrote")], 20, neighbours=[mark(text, "THOMAS JEFFERSON, President of the Unit.! States")]
    )
    assert text_around == f"{CUT} wrote it. "


def test_a_neighbour_that_is_cut_goes_on_over_the_cut() -> None:
    long = mark(TEXT, TEXT[: TEXT.index("Then")])
    text, marks = cut_around(TEXT, [mark(TEXT, "aspirin")], 20, neighbours=[long])
    assert text == f"{CUT} mg of aspirin {CUT}" and (marks[1].start, marks[1].end) == (0, len(text))


def test_a_neighbour_of_which_a_part_is_left_out_reaches_the_cut() -> None:
    text, marks = cut_around(TEXT, [mark(TEXT, "aspirin")], 20, neighbours=[mark(TEXT, "of", "Nobody", "Bob")])
    assert text == f"{CUT} mg of aspirin {CUT}"
    assert [text[start:end] for start, end in marks[1].fragments] == ["of", f" {CUT}"]


@given(marked(), st.integers(1, 40), st.integers(0, 3))
def test_every_neighbour_is_whole_or_reaches_a_cut(case: tuple[str, list[Mark]], most: int, own: int) -> None:
    text, marks = case
    if not marks or CUT in text:
        return
    own_mark = marks[own % len(marks)]
    excerpt, moved = cut_around(text, [own_mark], most, neighbours=marks)
    whole = {tuple(text[start:end] for start, end in mark.fragments) for mark in marks}
    for mark in moved[1:]:
        assert all(0 <= start < end <= len(excerpt) for start, end in mark.fragments)
        assert all(before[1] <= after[0] for before, after in pairwise(mark.fragments))
        words = tuple(excerpt[start:end] for start, end in mark.fragments)
        assert words in whole or any(CUT in part for part in words)
