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


def test_neighbours_come_after_the_marks_and_are_clipped_to_the_excerpt() -> None:
    drug, ann, outside = mark(TEXT, "aspirin"), mark(TEXT, "5 mg of aspirin (Bayer)"), mark(TEXT, "Bob")
    text, marks = cut_around(TEXT, [drug], 20, neighbours=[outside, ann])
    assert [text[one.start : one.end] for one in marks] == ["aspirin", "mg of aspirin"]
