"""What offsets count, found by the quotes: every way to count, what no quote decides, and why none may fit."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from nereval_core.problems import FormatError, quoted_apart
from nereval_core.readers.shared.offset_units import (
    ALL_OFFSETS,
    ConvertedSpans,
    CountedSpans,
    Offsets,
    Unit,
    code_points,
    convert_offsets,
    offsets_in_unit,
    parse_offsets,
    width_of,
)
from tests.support.draws import draws
from tests.support.layer_strategies import texts

Row = tuple[int, int, int, str | None]
"""Number of the text, start, end, quote."""


def marked(rows: Sequence[Row]) -> CountedSpans:
    columns = [np.array([row[at] for row in rows], np.int64) for at in range(3)]
    quotes = {span: row[3] for span, row in enumerate(rows) if row[3] is not None}
    return CountedSpans(*columns, quotes, lambda span: ("x.json", span + 1))


def found(
    rows: Sequence[Row],
    texts: Sequence[str],
    *,
    expected: Offsets = ALL_OFFSETS[0],
    given: Offsets | None = None,
    fixed: bool = True,
) -> ConvertedSpans:
    return code_points(marked(rows), texts, expected=expected, stated=given, fixed=fixed)


def counted(text: str, start: int, end: int, counting: Offsets) -> tuple[int, int]:
    """Count by encoding what stands before: the definition of the units."""
    encodings = {"code points": ("utf-32-le", 4), "UTF-16 units": ("utf-16-le", 2), "UTF-8 bytes": ("utf-8", 1)}
    encoding, size = encodings[counting.unit]
    low, high = (len(text[:at].encode(encoding)) // size + counting.base for at in (start, end))
    return low, high - counting.inclusive


TEXT = "Ä 😀 Berlin und Zürich, 👩‍⚕️ Genf."
PLACES = [(TEXT.index(word), TEXT.index(word) + len(word)) for word in ("Ä", "Berlin", "Zürich", "Genf")]


@pytest.mark.parametrize("expected", [Offsets(), Offsets("UTF-16 units")], ids=str)
@pytest.mark.parametrize("counting", ALL_OFFSETS, ids=str)
def test_quotes_tell_every_way_to_count(counting: Offsets, expected: Offsets) -> None:
    rows = [(0, *counted(TEXT, *place, counting), TEXT[slice(*place)]) for place in PLACES]
    taken = found(rows, [TEXT], expected=expected)
    assert taken.counting == counting
    assert list(zip(taken.start.tolist(), taken.end.tolist(), strict=True)) == PLACES
    assert taken.note == f"offsets in {counting}: 4 of 4 quotes match"


@draws(67)
@given(st.lists(texts(min_size=1), min_size=1, max_size=4), st.sampled_from(ALL_OFFSETS), st.data())
def test_offsets_of_any_text_lead_back_to_its_places(drawn: list[str], counting: Offsets, data: st.DataObject) -> None:
    places = []
    for number, text in enumerate(drawn):
        for _ in range(data.draw(st.integers(0, 3))):
            start = data.draw(st.integers(0, len(text) - 1))
            places.append((number, start, data.draw(st.integers(start + 1, len(text)))))
    # The last character of an inclusive span is named by its first unit.
    rows: list[Row] = []
    for number, start, end in places:
        low, high = counted(drawn[number], start, end, counting._replace(inclusive=False))
        rows.append((number, low, high - counting.inclusive, None))
    start, end = convert_offsets(marked(rows), drawn, counting)
    assert list(zip((row[0] for row in rows), start.tolist(), end.tolist(), strict=True)) == places


@pytest.mark.parametrize(
    ("start", "end", "counting"),
    [
        (0, 0, Offsets()),
        (2, 1, Offsets()),
        (-1, 2, Offsets()),
        (0, 6, Offsets()),
        (0, 5, Offsets(inclusive=True)),
        (0, 2, Offsets(base=1)),
        (0, 2**40, Offsets()),
        (0, 2, Offsets("UTF-16 units")),
        (2, 3, Offsets("UTF-16 units")),
        (1, 4, Offsets("UTF-8 bytes")),
        (0, 9, Offsets("UTF-8 bytes")),
        (0, 2**40, Offsets("UTF-8 bytes")),
    ],
)
def test_what_is_no_place_in_the_text_has_none(start: int, end: int, counting: Offsets) -> None:
    low, high = convert_offsets(marked([(0, start, end, None)]), ["a😀bcd"], counting)
    assert (low.tolist(), high.tolist()) == ([-1], [-1])


@pytest.mark.parametrize("unit", ["UTF-16 units", "UTF-8 bytes"])
def test_edges_are_the_widths_of_what_stands_before(unit: Unit) -> None:
    """The characters are the first and last of each width."""
    text = "a\x7f\x80\u07ff\u0800\ud7ff\ue000\uffff\U00010000\U0010ffffz"
    found = offsets_in_unit(text, unit)
    assert found is not None
    assert found.tolist() == [width_of(text[:place], unit) for place in range(len(text) + 1)]


def test_units_of_a_text_are_its_edges_where_they_differ_from_code_points() -> None:
    assert offsets_in_unit("abc", "UTF-8 bytes") is None
    assert offsets_in_unit("äbc", "UTF-16 units") is None
    assert offsets_in_unit("😀", "code points") is None
    for unit, expected in (("UTF-16 units", [0, 1, 3, 4]), ("UTF-8 bytes", [0, 2, 6, 7])):
        known = offsets_in_unit("ä😀b", unit)  # type: ignore[arg-type]
        assert known is not None and known.tolist() == expected


def test_without_quotes_the_way_taken_is_said_where_it_matters() -> None:
    utf16 = Offsets("UTF-16 units")
    assert found([(0, 0, 1, None)], ["äb"], expected=utf16).note == ""
    note = "offsets taken as UTF-16 units, end exclusive: no quotes to test them by"
    assert found([(0, 0, 1, None)], ["b😀"], expected=utf16).note == note
    note = "offsets taken as code points, end exclusive: no quotes to test them by"
    assert found([(0, 0, 1, None)], ["ab"], fixed=False).note == note
    assert found([(0, 0, 1, None)], ["b😀"], expected=utf16, given=Offsets()).note == note
    assert found([], ["b😀"], fixed=False).note == ""


def test_the_formats_own_way_is_taken_where_another_fits_too() -> None:
    # "a" stands at 0 and at 1: from 0 and from 1 are both right by the quote.
    assert found([(0, 1, 2, "a")], ["aa"]).counting == Offsets()


def test_two_other_ways_that_differ_are_not_chosen_between() -> None:
    with pytest.raises(FormatError) as caught:
        found([(0, 1, 1, "a"), (0, 2, 2, "a")], ["aaaa"], expected=Offsets("UTF-8 bytes"))
    assert str(caught.value) == (
        "x.json: the quotes fit offsets in code points, end inclusive and in code points, end inclusive, first at 1; "
        "say which: --offsets code-points,inclusive|code-points,inclusive,from-1"
    )


def test_what_is_given_is_the_only_way_tried() -> None:
    rows: list[Row] = [(0, 0, 2, "abc")]
    assert found(rows, ["abcd"]).counting == Offsets(inclusive=True)
    assert found(rows, ["abcd"], given=Offsets(inclusive=True)).counting == Offsets(inclusive=True)
    with pytest.raises(FormatError) as caught:
        found(rows, ["abcd"], given=Offsets())
    assert caught.value.lines() == [
        "x.json: the quotes do not fit offsets in code points, end exclusive: 0 of 1 match; mend the offsets or the "
        "quotes, or check that the text is the one annotated",
        "x.json:1: 'abc' at 0 to 2, where the text has 'ab'; mend the offsets or the quote",
    ]


def test_where_nothing_fits_the_best_guess_and_five_mismatches_are_told() -> None:
    text = "one two three four five six seven eight nine"
    words = text.split()
    rows: list[Row] = [(0, text.index(word), text.index(word) + len(word), word) for word in words]
    rows[2:] = [(0, start, end, f"{quote}!") for _, start, end, quote in rows[2:]]
    rows[3] = (0, 90, 94, "four!")
    with pytest.raises(FormatError) as caught:
        found(rows, [text])
    lines = caught.value.lines()
    assert lines[0].startswith(
        "x.json: the quotes fit no way to count offsets; best is code points, end exclusive: 2 of 9 match; mend the"
    )
    rest = "(and 3 more like it, to line 7); mend the offsets or the quote"
    assert lines[1] == f"x.json:3: 'three!' at 8 to 13, where the text has 'three' {rest}"
    assert lines[2] == "x.json:4: 'four!' at 90 to 94, which is not a place in the text; mend the offsets or the quote"
    assert lines[3:] == ["6 problems in all"]


BYTES = Offsets("UTF-8 bytes", 1, True)
NFC, NFD = (partial(unicodedata.normalize, form) for form in ("NFC", "NFD"))
WORDS = ("one", "two", "three", "four")
CAUSES: list[tuple[str, Callable[[str], str], Offsets, str]] = [
    # (what stands between words, how the text was changed, …)
    ("ää\r\n", lambda text: text.replace("\r\n", "\n"), BYTES, "line ends are CR LF in the text and LF where"),
    ("ä\n", lambda text: text.replace("\n", "\r\n"), BYTES, "line ends are LF in the text and CR LF where"),
    ("ä", lambda text: text[1:], BYTES, "the text begins with a byte-order mark that was not counted"),
    ("ä", lambda text: "\ufeff" + text, BYTES, "a byte-order mark was counted that the text does not begin with"),
    (NFD(" é "), NFC, Offsets(), "the text is decomposed (NFD) and was composed (NFC)"),
    (NFC(" é "), NFD, BYTES, "the text is composed (NFC) and was decomposed (NFD)"),
]


@pytest.mark.parametrize(("between", "change", "counting", "said"), CAUSES, ids=[row[3] for row in CAUSES])
def test_the_cause_is_named(between: str, change: Callable[[str], str], counting: Offsets, said: str) -> None:
    text = ("\ufeff" if "not counted" in said else "") + between.join(WORDS)
    annotated = change(text)
    places = [(annotated.index(word), annotated.index(word) + len(word)) for word in WORDS]
    rows = [(0, *counted(annotated, *place, counting), annotated[slice(*place)]) for place in places]
    with pytest.raises(FormatError) as caught:
        found(rows, [text])
    line = caught.value.lines()[0]
    assert f"; mend the text: {said}" in line
    assert f"(offsets in {counting})" in line


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("code-points", Offsets()),
        ("utf-16", Offsets("UTF-16 units")),
        ("UTF-8, inclusive", Offsets("UTF-8 bytes", 0, True)),
        ("utf-16,from-1", Offsets("UTF-16 units", 1)),
        ("utf-16,from-1,inclusive", Offsets("UTF-16 units", 1, True)),
    ],
)
def test_offsets_in_words(words: str, expected: Offsets) -> None:
    assert parse_offsets(words) == expected


@pytest.mark.parametrize("words", ["", "utf16", "inclusive", "utf-8,exclusive", "utf-8,"])
def test_offsets_in_no_words_we_know(words: str) -> None:
    with pytest.raises(
        FormatError, match=r"^--offsets: '.*' is not a way to count; write code-points, utf-16, utf-8, and"
    ):
        parse_offsets(words)


EDGES = [
    # (spans: start, end, quote; ways to count that are tried, None for all; what is said, None where it is refused)
    ("trailing blanks", [(0, 3, "Ann  "), (4, 7, "Bob"), (8, 9, "x")], None, "3 of 3 quotes match, 1 of them but for"),
    ("leading blanks", [(0, 3, "\tAnn"), (4, 7, "Bob"), (8, 9, "x")], None, "3 of 3 quotes match, 1 of them but for"),
    ("blanks in the text", [(0, 4, "Ann"), (4, 7, "Bob"), (8, 9, "x")], None, "3 of 3 quotes match, 1 of them but"),
    ("every quote", [(0, 3, "Ann  "), (4, 7, "Bob  ")], Offsets(), "2 of 2 quotes match, 2 of them but for blanks at"),
    ("every quote, and nobody says how to count", [(0, 3, "Ann  "), (4, 7, "Bob  ")], None, None),
    ("as many in each of two ways", [(0, 3, "Ann "), (4, 7, "Bob")], None, None),
    ("another quote", [(0, 3, "Ann  "), (4, 7, "Bub"), (8, 9, "x")], None, None),
    ("blanks within", [(0, 7, "Ann  Bob"), (8, 9, "x")], None, None),
    ("out of the text", [(0, 3, "Ann  "), (4, 7, "Bob"), (8, 99, "x")], None, None),
]


@pytest.mark.parametrize(("rows", "given", "said"), [row[1:] for row in EDGES], ids=[row[0] for row in EDGES])
def test_blanks_at_the_edges_of_quotes_are_forgiven_and_counted(
    rows: list[tuple[int, int, str]], given: Offsets | None, said: str | None
) -> None:
    places: list[Row] = [(0, *row) for row in rows]
    if said is None:
        with pytest.raises(FormatError):
            found(places, ["Ann Bob x"], given=given)
    else:
        taken = found(places, ["Ann Bob x"], given=given)
        assert (taken.counting, taken.start.tolist(), taken.end.tolist()) == (
            Offsets(),
            *([row[at] for row in rows] for at in (0, 1)),
        )
        assert said in taken.note


APART = [
    # (two texts, as they are shown)
    (("abc", "abd"), ("'abc'", "'abd'")),
    (("Ann ", "Ann"), ("'Ann␣'", "'Ann'")),
    (("a b", "a  b"), ("'a␣b'", "'a␣␣b'")),
    (("a\xa0b", "a b"), (r"'a\xa0b'", "'a␣b'")),
    (("x" * 60 + "a", "x" * 60 + "b"), (f"'…{'x' * 20}a'", f"'…{'x' * 20}b'")),
    (("x" * 60, "x" * 60 + "b"), (f"'…{'x' * 20}'", f"'…{'x' * 20}b'")),
    (("x" * 38 + "a" * 9, "x" * 38 + "b" * 9), (f"'{'x' * 38}a…'", f"'{'x' * 38}b…'")),
]


@pytest.mark.parametrize(("two", "shown"), APART)
def test_texts_that_differ_are_shown_where_they_do(two: tuple[str, str], shown: tuple[str, str]) -> None:
    assert quoted_apart(*two) == shown


@draws(20)
@example("", "␣ ", " ␣", "")
@given(st.text(), st.text(max_size=3), st.text(max_size=3), st.text(max_size=50))
def test_texts_that_differ_are_never_shown_alike(before: str, one: str, other: str, after: str) -> None:
    """A text of more than the limit, too, and of whatever characters: escapes count for nothing."""
    if one + after != other + after:
        assert len(set(quoted_apart(before * 9 + one + after, before * 9 + other + after))) == 2


def test_mismatches_show_where_a_long_quote_differs() -> None:
    text = "word " * 12 + "end"
    with pytest.raises(FormatError, match=r"'…word word word word  end' at 0 to 63, where the text has '…"):
        found([(0, 0, 63, text.replace("end", " end"))], [text.replace("end", "fin")], given=Offsets())
