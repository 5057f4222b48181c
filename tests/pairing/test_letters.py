"""Letters: texts reduced to them, differences in words, and intervals projected from one text onto another."""

from __future__ import annotations

import unicodedata

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from nereval_core.pairing import letters
from nereval_core.pairing.letters import (
    FORMS,
    IN_CHARACTER,
    IN_SPACE,
    MOVED,
    SPACING,
    WRITING,
    cause_of_difference,
    letter_key,
    letters_of,
    project_intervals,
    same_letters,
)
from tests.support.layer_strategies import texts

REDUCED = [
    ("plain", "New York", "NewYork", "NewYork"),
    ("white space of all kinds", "a\tb\r\nc\xa0d\u3000e\u2028f", "abcdef", "abcdef"),
    ("a byte-order mark, and what takes no room", "\ufeffa\u200bb\u2060c", "abc", "abc"),
    ("single quotes", "'a‘b’c`d", "'a'b'c'd", "'a‘b’c`d"),
    ("a double quote is two single ones", '"a“b”c«d»', "''a''b''c''d''", '"a“b”c«d»'),
    ("quotes as in newspapers", "``a''", "''a''", "``a''"),
    ("dashes", "a–b—c−d‐e", "a-b-c-d-e", "a–b—c−d‐e"),
    ("composed", "é", "e\u0301", "é"),
    ("decomposed", "e\u0301", "e\u0301", "e\u0301"),
    ("marks in another order", "a\u0301\u0323", "a\u0323\u0301", "a\u0301\u0323"),
    ("marks composed in part", "ạ\u0301á\u0323", "a\u0323\u0301a\u0323\u0301", "ạ\u0301á\u0323"),
    ("syllables", "한", "\u1112\u1161\u11ab", "한"),
    ("astral", "😀 b", "😀b", "😀b"),
    ("a ligature is another letter", "ﬁ", "ﬁ", "ﬁ"),
    ("case is kept", "Aa", "Aa", "Aa"),
    ("nothing but white space", " \n", "", ""),
    ("nothing", "", "", ""),
]


@pytest.mark.parametrize(("text", "written", "spaced"), [row[1:] for row in REDUCED], ids=[row[0] for row in REDUCED])
def test_letters(text: str, written: str, spaced: str) -> None:
    for kinds, expected in ((WRITING, written), (SPACING, spaced)):
        found = letters_of([text], kinds)
        assert "".join(map(chr, found.codes.tolist())) == expected
        assert [found.first.tolist(), found.base.tolist()] == [[0, len(expected)], [0, len(text)]]


# Two texts, and in what alone they differ; None: their letters do.
CAUSES = [
    ("a\r\nb", "a\nb", "line ends (CR LF here, LF there)"),
    ("a\nb", "a\rb", "line ends (LF here, CR there)"),
    ("a\r\nb\n", "a\nb\r\n", "line ends"),
    ("\ufeffa", "a", "a byte-order mark (here)"),
    ("a", "\ufeffa", "a byte-order mark (there)"),
    ("café", "cafe\u0301", "Unicode normal forms (NFC here, NFD there)"),
    ("cafe\u0301", "café", "Unicode normal forms (NFD here, NFC there)"),
    ("a b", "a  b", "white space"),
    ("a b", "a\nb", "white space"),
    ("“a”", '"a"', "quotes or dashes"),
    ("a–b", "a-b", "quotes or dashes"),
    ("\ufeffa\r\n“é”", "a\n\"e\u0301\"", "line ends (CR LF here, LF there), a byte-order mark (here), "
     "Unicode normal forms (NFC here, NFD there) and quotes or dashes"),
    ("“a” b", '"a"  b', "quotes or dashes and white space"),
    ("a b", "a c", None),
    ("a b", "a b c", None),
    ("", "a", None),
]  # fmt: skip


@pytest.mark.parametrize(("here", "there", "found"), CAUSES)
def test_cause(here: str, there: str, found: str | None) -> None:
    assert cause_of_difference(here, there) == found
    assert same_letters([here], [there]).tolist() == [found is not None]


# Two texts, an interval of the first, and where it stands in the second, or why nowhere.
CARRIED = [
    ("New York", "New\r\nYork", (0, 8), (0, 9)),
    ("New York", "New\r\nYork", (4, 8), (5, 9)),
    ("New York", "NewYork", (0, 3), (0, 3)),
    ("New York", "NewYork", (0, 4), IN_SPACE),
    ("New York", "New  York", (3, 8), IN_SPACE),
    ("a New York", "a  New York", (1, 5), IN_SPACE),
    ("a New York ", "a  New York ", (2, 11), (3, 12)),
    ("a b  c", "a\nb  c", (2, 4), (2, 4)),
    ("a b  c", "a\nb  c", (3, 4), (3, 4)),
    ("\ufeffa", "a", (1, 2), (0, 1)),
    ("\ufeffa", "a", (0, 2), IN_SPACE),
    ("“Paris”", "``Paris''", (0, 7), (0, 9)),
    ("“Paris”", "``Paris''", (1, 6), (2, 7)),
    ("``Paris''", "“Paris”", (1, 7), IN_CHARACTER),
    ("``Paris''", "“Paris”", (2, 8), IN_CHARACTER),
    ("café x", "cafe\u0301 x", (0, 4), (0, 5)),
    ("cafe\u0301 x", "café x", (0, 5), (0, 4)),
    ("cafe\u0301 x", "café x", (0, 4), IN_CHARACTER),
    ("cafe\u0301 x", "cafe\u0301  x", (0, 4), (0, 4)),
    ("a\u0301\u0323b", "a\u0323\u0301b", (0, 3), (0, 3)),
    ("a\u0301\u0323b", "a\u0323\u0301b", (0, 2), IN_CHARACTER),
    ("a\u0323\u0301b", "a\u0301\u0323b", (0, 2), IN_CHARACTER),
    ("a\u0301\u0323b", "a\u0323\u0301b", (3, 4), (3, 4)),
    ("😀 b", "😀\tb", (2, 3), (2, 3)),
    (" ", "\n", (0, 1), IN_SPACE),
    (" a", "\na", (0, 2), IN_SPACE),
]


@pytest.mark.parametrize("before", [0, 2])
@pytest.mark.parametrize(("theirs", "ours", "span", "expected"), CARRIED)
def test_project_intervals(
    theirs: str, ours: str, span: tuple[int, int], expected: tuple[int, int] | int, before: int
) -> None:
    """Alone, and after other documents."""
    some = ["“x” ", "y"][:before], ['"x"', "y "][:before]
    edges = (np.array([edge]) for edge in span)
    start, end, why = project_intervals([*some[0], theirs], [*some[1], ours], np.array([before]), *edges)
    assert (why[0] if why[0] else (start[0], end[0])) == expected


def test_documents_are_reduced_block_by_block(monkeypatch: pytest.MonkeyPatch) -> None:
    theirs, ours = ["a b", "c\nd", "", "é f"], ["a  b", "c d", "", "e\u0301 f"]
    edges = np.array([3, 0, 1, 0]), np.array([0, 2, 2, 0]), np.array([1, 3, 3, 3])
    whole = [one.tolist() for one in project_intervals(theirs, ours, *edges)]
    assert whole == [[0, 3, 2, 0], [2, 4, 3, 4], [MOVED] * 4]
    monkeypatch.setattr(letters, "BLOCK_CHARACTERS", 1)
    assert [one.tolist() for one in project_intervals(theirs, ours, *edges)] == whole
    assert same_letters(theirs, [*ours[:2], "x", ours[3]]).tolist() == [True, True, False, True]


FORM = st.sampled_from(["NFC", "NFD"])
WORDS = ["a", "Zoë", "e\u0301", "“", '"', "``", "'", "–", "-", "한", "😀", "(x)", "ﬁ"]
GAPS = ["", " ", "\n", "\r\n", "\t ", "\xa0", "\u200b"]


def spaced(words: list[str], gaps: list[str]) -> str:
    return "".join(word + gap for word, gap in zip(words, gaps, strict=True))


@given(text=texts(), form=FORM)
def test_a_text_aligned_with_itself(text: str, form: str) -> None:
    text = unicodedata.normalize(form, text)  # type: ignore[arg-type]
    edges = np.array([(low, high) for low in range(len(text)) for high in range(low + 1, len(text) + 1)]).reshape(-1, 2)
    start, end, why = project_intervals([text], [text], np.zeros(len(edges), np.int64), *edges.T)
    assert not why.any()
    assert np.array_equal(np.column_stack((start, end)), edges)


@given(
    words=st.lists(st.sampled_from(WORDS) | texts(min_size=1), max_size=6), forms=st.tuples(FORM, FORM), data=st.data()
)
def test_texts_written_otherwise(words: list[str], forms: tuple[str, str], data: st.DataObject) -> None:
    """An interval that begins and ends in letters has one place at most: where these are, with as many before."""
    gaps = [data.draw(st.lists(st.sampled_from(GAPS), min_size=len(words), max_size=len(words))) for _ in forms]
    theirs, ours = (
        unicodedata.normalize(form, spaced(words, own))  # type: ignore[arg-type]
        for form, own in zip(forms, gaps, strict=True)
    )
    swap = data.draw(st.sampled_from(["''", "``", "“", "»"]))
    ours = ours.replace('"', swap)
    # Beside the end of another word a mark joins that.
    assume(letter_key(theirs) == letter_key(ours))
    edges = np.array([(low, high) for low in range(len(theirs)) for high in range(low + 1, len(theirs) + 1)])
    if not len(edges):
        return
    start, end, why = project_intervals([theirs], [ours], np.zeros(len(edges), np.int64), *edges.T)
    before = [len(letter_key(ours[:at])) for at in range(len(ours) + 1)]
    reached = [len(letter_key(theirs[:at])) for at in range(len(theirs) + 1)]
    lone = [bool(letter_key(one)) for one in ours]
    for (low, high), to, reason in zip(
        edges.tolist(), zip(start.tolist(), end.tolist(), strict=True), why, strict=True
    ):
        inside = bool(letter_key(theirs[low])) and bool(letter_key(theirs[high - 1]))
        begins = [at for at in range(len(ours)) if before[at] == reached[low] and lone[at]]
        ends = [at + 1 for at in range(len(ours)) if before[at + 1] == reached[high] and lone[at]]
        if reason == MOVED:
            assert 0 <= to[0] < to[1] <= len(ours)
            assert letter_key(theirs[low:high]) == letter_key(ours[slice(*to)])
            assert before[to[0]] == reached[low]
        if inside:
            assert (reason == MOVED) == bool(begins and ends)
            assert reason != MOVED or to == (begins[0], ends[0])


@given(one=texts(), two=texts())
def test_letters_are_those_of_the_normal_form(one: str, two: str) -> None:
    for text in (one, two):
        plain = unicodedata.normalize("NFD", text)
        assert letter_key(text, frozenset({FORMS})) == plain.encode("utf-32-le")
    assert letter_key(one + "x" + two) == letter_key(one) + letter_key("x") + letter_key(two)
