"""The rendering holds the text exactly, ends for every input, and shows each span where it is."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from nereval_core.report.colours import CONTRAST, LOOKS, PAGE, TYPE_HUES, Colour, contrast, type_colours
from nereval_core.report.highlight import (
    _RULE,
    LANES,
    STYLE,
    document_html,
    label_overhang,
    lanes,
    paragraphs,
    plain_text,
    segments,
    windows,
)
from nereval_core.report.marks import SIDES, Mark, within
from nereval_core.tables.glossary import DECISIONS, GLOSSARY
from tests.support.draws import draws

HOSTILE = [
    *(
        "<",
        ">",
        "&",
        '"',
        "'",
        "&amp;",
        "&#0;",
        "&lt",
        "</div>",
        "<script>alert(1)</script>",
        "<!--",
        "-->",
        "<![CDATA[",
    ),
    *("</style>", "<img src=x onerror=alert(1)>", "<pre>\n", "{}", "%s", "{0}", "\\", "`", "javascript:"),
    *("\0", "\r", "\n", "\r\n", "\n\n", "\t", "\v", "\f", "\x1b", "\x7f", "\x80", "\x85", "\x9f", "\ufeff", "\ufffd"),
    *("\u200b", "\u200d", "\u00ad", "\u202a", "\u202e", "\u2066", "\u2069", "\u2028", "\u2029", "\ufdd0", "\uffff"),
    *("e\u0301", "\u0301", "مرحبا", "שלום", "👩‍👩‍👧", "𝔘", "\U0010ffff", " ", "  ", "Aspirin", "a"),
]
TEXTS = st.lists(st.sampled_from(HOSTILE) | st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30).map(
    "".join
)
TYPES = st.sampled_from(["Drug", "<b>", '" onclick="x', "\0", "نوع", "a&b"])


def mark(low: int, high: int, side: str = "gold", type: str = "Drug", decision: str = "COR", index: int = 0) -> Mark:
    return Mark(side, index, ((low, high),), type, decision)


@st.composite
def marked(draw: st.DrawFn) -> tuple[str, list[Mark]]:
    text = draw(TEXTS)
    edge = st.integers(0, len(text))
    found = []
    for index in range(draw(st.integers(0, 12))):
        edges = sorted(draw(st.sets(edge, min_size=2, max_size=6)))
        pairs = tuple(zip(edges[::2], edges[1::2], strict=False))
        found.append(
            Mark(draw(st.sampled_from(SIDES)), index, pairs, draw(TYPES), draw(st.sampled_from(DECISIONS)), f"r{index}")
        )
    return text, found


@given(marked(), st.integers(1, 4))
def test_segments_are_the_text_and_strokes_are_the_marks(case: tuple[str, list[Mark]], limit: int) -> None:
    text, marks = case
    placed = segments(text, marks, limit=limit)
    assert "".join(segment.text for segment in placed) == text
    assert all(segment.text for segment in placed)
    rows = lanes(marks, limit=limit)
    covered: dict[int, set[int]] = {number: set() for number, lane in enumerate(rows) if lane is not None}
    edges = {number: [0, 0] for number in covered}
    for segment in placed:
        assert len({(marks[stroke.mark].side, stroke.lane) for stroke in segment.strokes}) == len(segment.strokes)
        for stroke in segment.strokes:
            assert rows[stroke.mark] == stroke.lane
            edges[stroke.mark][0] += stroke.starts
            edges[stroke.mark][1] += stroke.ends
            if not stroke.gap:
                covered[stroke.mark].update(range(segment.start, segment.start + len(segment.text)))
    for number, found in covered.items():
        assert found == {place for low, high in marks[number].fragments for place in range(low, high)}
        assert edges[number] == [1, 1]


@given(marked())
def test_html_gives_the_text_back(case: tuple[str, list[Mark]]) -> None:
    text, marks = case
    assert plain_text(document_html(text, marks)) == text
    assert plain_text(document_html(text, marks, colour_by="type", style=False)) == text


@example(("a\rb\r\nc", []))
@given(marked())
def test_no_carriage_return_stands_bare_where_a_browser_would_change_it(case: tuple[str, list[Mark]]) -> None:
    text, marks = case
    html = document_html(text, marks, style=False)
    assert "\r" not in html
    assert html.count("&#13;") >= text.count("\r")


@given(marked())
def test_html_holds_no_tag_but_ours(case: tuple[str, list[Mark]]) -> None:
    text, marks = case
    html = document_html(text, marks, style=False)
    assert html.count("<") == html.count("<div ") + html.count("<span ") + html.count("</div>") + html.count("</span>")
    assert html.count("<div ") == html.count("</div>") == 1
    assert html.count("<span ") == html.count("</span>")


@pytest.mark.parametrize(
    ("gold", "line_height"),
    [
        ([(0, 7)], "2.80"),
        ([(0, 7), (40, 44)], "2.80"),
        ([(0, 7), (9, 18)], "3.90"),
        ([(0, 7), (8, 11), (12, 15)], "5.00"),
        ([(number, number + 1) for number in range(30)], f"{1.7 + 1.1 * 1:.2f}"),
    ],
    ids=["one", "far apart", "a long label beside another", "two of them", "too many for a lane each"],
)
def test_a_label_longer_than_its_span_gets_a_lane_of_its_own(gold: list[tuple[int, int]], line_height: str) -> None:
    html = document_html("x" * 60, [mark(low, high, type="NORMALIZABLES") for low, high in gold])
    assert f"line-height:{line_height}" in html
    assert html.count('data-label="✓ NORMALIZABLES"') == len(gold)


def test_each_line_is_as_high_as_its_own_lanes() -> None:
    """Three nested spans at the beginning make no room around a span far from them."""
    spans = [(0, 9), (2, 8), (4, 6), (70, 80)]
    html = document_html("x " * 50, [mark(low, high, type="A") for low, high in spans])
    heights = re.findall('class="nvh-line" style="line-height:([0-9.]+)em', html)
    assert max(heights) == "5.00" and heights[-1] == "2.80"
    assert re.search('class="nvh-text" dir="auto" style="line-height:1.7em;', html)


def test_labels_stand_by_the_first_character_alone() -> None:
    """A longer piece may go over several lines, as "NF-AT" does."""
    html = document_html("NF-AT e\u0301t", [mark(0, 5), mark(6, 9)])
    assert re.findall("</span>([^<]+)</span>([^<]+)</span>", html) == [("N", "F-AT"), ("e\u0301", "t")]


@given(marked())
def test_lanes_are_disjoint_and_free_of_input_order(case: tuple[str, list[Mark]]) -> None:
    _, marks = case
    rows = lanes(marks)
    for i, one in enumerate(marks):
        for j in range(i):
            if rows[i] == rows[j] and marks[j].side == one.side:
                assert one.end <= marks[j].start or marks[j].end <= one.start
    backwards = lanes(marks[::-1])[::-1]
    assert sorted(zip((m.fragments for m in marks), rows)) == sorted(zip((m.fragments for m in marks), backwards))  # noqa: B905


CASES = [
    ("alone", [(0, 5)], [0]),
    ("side by side", [(0, 5), (5, 9)], [0, 0]),
    ("nested: the inner one is nearer to the text", [(0, 9), (2, 5)], [1, 0]),
    ("crossing", [(0, 5), (3, 8)], [0, 1]),
    ("twice the same", [(0, 5), (0, 5)], [0, 1]),
    ("three deep", [(0, 9), (1, 8), (2, 7)], [2, 1, 0]),
]


@pytest.mark.parametrize(("name", "spans", "expected"), CASES, ids=[case[0] for case in CASES])
def test_lanes_of_known_cases(name: str, spans: list[tuple[int, int]], expected: list[int]) -> None:
    assert lanes([mark(*span) for span in spans]) == expected


def test_sides_do_not_share_lanes() -> None:
    assert lanes([mark(0, 5), mark(0, 5, "prediction")]) == [0, 0]


def test_a_discontinuous_span_keeps_its_gap_free() -> None:
    split = Mark("gold", 0, ((0, 2), (7, 9)), "Drug", "COR")
    assert lanes([split, mark(3, 5)]) == [1, 0]
    strokes = [segment.strokes for segment in segments("0123456789", [split])]
    assert [[stroke.gap for stroke in row] for row in strokes] == [[False], [True], [False], []]


@pytest.mark.parametrize(
    "spans",
    [
        [(0, 1000)] * 10_000,
        [(i, 1000 - i) for i in range(500)] * 20,
        [(i % 990, i % 990 + 10) for i in range(10_000)],
    ],
    ids=["ten thousand the same", "five hundred deep", "a staircase"],
)
def test_thousands_of_spans_end(spans: list[tuple[int, int]]) -> None:
    text = "x" * 1000
    marks = [mark(low, high, SIDES[i % 2], index=i) for i, (low, high) in enumerate(spans)]
    placed = segments(text, marks)
    assert "".join(segment.text for segment in placed) == text
    assert max(len(segment.strokes) for segment in placed) <= 2 * LANES
    assert plain_text(document_html(text, marks)) == text


def test_the_selected_record_is_drawn_however_deep_it_lies() -> None:
    marks = [Mark("gold", i, ((0, 9),), "Drug", "COR", f"r{i}") for i in range(100)]
    assert lanes(marks)[99] is None
    assert lanes(marks, first="r99")[99] == 0
    assert lanes(marks, first="r3") == lanes(marks)


@given(TEXTS, st.integers(1, 40), st.integers(1, 5), st.data())
def test_windows_and_paragraphs_are_the_text(text: str, size: int, most: int, data: st.DataObject) -> None:
    starts = sorted(data.draw(st.lists(st.integers(0, len(text) - 1), max_size=30)))
    for cut in (windows(text, starts, characters=size, marks=most), paragraphs(text)):
        assert "".join(text[low:high] for low, high in cut) == text
        assert all(low < high for low, high in cut)
    assert all(high - low <= size for low, high in windows(text, starts, characters=size, marks=most))


def test_windows_break_at_paragraphs_and_hold_few_marks() -> None:
    text = ("word " * 20 + "\n") * 2000
    cut = windows(text, range(0, len(text), 10))
    assert all(text[high - 1] == "\n" for _, high in cut)
    assert max(high - low for low, high in cut) <= 15_000
    assert windows("", []) == [(0, 0)]


@pytest.mark.parametrize(
    ("text", "spans", "bounds"),
    [
        ("word\n" * 4, [(2, 11)], [(0, 15), (15, 20)]),
        ("One two. Three four five", [], [(0, 9), (9, 24)]),
        ("One two. Three four five", [(0, 12)], [(0, 15), (15, 24)]),
        ("One two. Three four five", [(0, 12), (2, 4), (15, 19)], [(0, 15), (15, 24)]),
        ("word " * 4, [(0, 20)], [(0, 15), (15, 20)]),
    ],
    ids=["lines", "sentences", "a span over a sentence", "nested spans", "a span over everything"],
)
def test_windows_end_within_a_span_only_where_they_must(
    text: str, spans: list[tuple[int, int]], bounds: list[tuple[int, int]]
) -> None:
    starts, ends = [low for low, _ in spans], [high for _, high in spans]
    assert windows(text, starts, ends=ends, characters=19) == bounds


def test_within_clips_and_counts_from_the_window() -> None:
    marks = [mark(0, 5), Mark("gold", 1, ((2, 12), (20, 25)), "Drug", "COR"), mark(30, 40)]
    assert [(m.index, m.fragments) for m in within(marks, 10, 30)] == [(1, ((0, 2), (10, 15)))]


def test_what_is_read_aloud() -> None:
    text = "Give Aspirin\nnow"
    assert mark(5, 12, decision="MIS").words(text) == "gold span Aspirin, type Drug, missed (MIS)"
    assert mark(5, 16, "prediction", "ORG", "SPU").words(text) == (
        "predicted span Aspirin now, type ORG, spurious (SPU)"
    )


def test_every_decision_has_glyph_word_and_colour() -> None:
    assert tuple(LOOKS) == DECISIONS
    assert len({look.glyph for look in LOOKS.values()}) == len({look.colour for look in LOOKS.values()}) == 5
    assert all(look.word == GLOSSARY[code].name for code, look in LOOKS.items())


BODY_TEXT = ("#31333f", "#edebe8")


@pytest.mark.parametrize("hue", [*(look.colour.hue for look in LOOKS.values()), *TYPE_HUES])
def test_colours_read_in_both_themes(hue: str) -> None:
    colour = Colour.of(hue)
    for ink, fill, page, body in zip(colour.ink, colour.fill, PAGE, BODY_TEXT, strict=True):
        assert min(contrast(ink, back) for back in (fill, *page)) >= CONTRAST
        assert contrast(body, fill) >= CONTRAST


def test_contrast_is_the_one_of_the_standard() -> None:
    assert contrast("#ffffff", "#000000") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


def test_type_colours_follow_the_sorted_types() -> None:
    found = type_colours(["b", "a", "b"])
    assert [found[name].hue for name in ("a", "b")] == list(TYPE_HUES[:2])
    assert type_colours(["b", "a"], ["A", "b"]) == {**found, "A": Colour.of(TYPE_HUES[2])}
    assert len(type_colours(map(str, range(100)))) == 100


@pytest.mark.parametrize(
    ("text", "span", "kind", "overhang"),
    [
        ("p53 binds", (0, 3), "Protein", 7),
        ("p53 binds", (0, 9), "Protein", 1),
        ("p53 binds the next protein of all", (0, 33), "Protein", 7),
        ("p53 binds", (0, 9), "P", 0),
    ],
    ids=["short", "kept on one line", "goes over several lines", "shorter than its span"],
)
def test_margins_are_as_wide_as_a_label_reaches_beyond_its_span(
    text: str, span: tuple[int, int], kind: str, overhang: int
) -> None:
    marks = [mark(*span, type=kind)]
    assert label_overhang(text, marks) == overhang
    assert f"padding-inline-end:min({0.55 * overhang:.1f}em,30%)" in document_html(text, marks)


def test_further_lines_of_a_span_begin_with_dots() -> None:
    long, short = (str(document_html("one two " * 9, [mark(0, end)], style=False)) for end in (60, 3))
    assert long.count("radial-gradient") == 3 and "radial-gradient" not in short


def test_the_background_of_a_label_stays_clear_of_the_rule() -> None:
    """Rounded to pixels, it hid half of the rule under the label, on screen and in print."""
    size = float(re.search("font-size:([.0-9]+)em", STYLE)[1])  # type: ignore[index]
    clear = [size * float(em) for em in re.findall("padding-block-(?:end|start):([.0-9]+)em", STYLE)]
    assert len(clear) == 2 and min(clear) > 1.3 * _RULE


def test_a_browser_gives_the_text_back(browser: Any) -> None:
    read = """html => {
        const page = new DOMParser().parseFromString("<!doctype html>" + html, "text/html");
        page.querySelectorAll("[data-char]").forEach(e => { e.textContent = String.fromCodePoint(e.dataset.char) });
        return page.querySelector(".nvh-text").textContent;
    }"""

    page = browser.new_page()

    @draws(20)
    @given(marked())
    def holds(case: tuple[str, list[Mark]]) -> None:
        text, marks = case
        assert page.evaluate(read, str(document_html(text, marks))) == text

    holds()
    page.close()


def test_a_type_does_not_show_as_another() -> None:
    """What turns the direction of writing is written out in a label; in the text it stands as it is."""
    html = document_html("a\u202eb", [Mark("gold", 0, ((0, 1),), "X\u202etcerroc", "COR")])
    assert 'data-label="✓ X\\u202etcerroc"' in html and "a\u202eb" in plain_text(html)


def test_short_spans_and_all_that_overlap_them_stay_on_one_line() -> None:
    text = "Both the Bank of Peru and the Central Reserve Bank of the Republic of Peru, Lima"
    bank, part = mark(9, 21), mark(9, 13, side="prediction")
    long, word = mark(30, 74), mark(76, 80)
    html = str(document_html(text, [bank, part, long, word], style=False))
    whole, _, rest = html.partition('<span class="nvh-whole">')[2].partition(" and the ")
    assert plain_text(whole) == "Bank of Peru" and plain_text(html) == text and "nvh-whole" not in rest
