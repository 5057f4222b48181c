"""Slides as HTML: hostile words are text, what is long is cut, and each decision has its glyph and word."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from nereval_core.report.colours import LOOKS
from nereval_core.report.highlight import plain_text
from nereval_core.report.marks import Mark
from nereval_core.report.slides import (
    Bar,
    Pattern,
    Slide,
    Text,
    bars_html,
    from_word,
    gone_html,
    map_html,
    shortened,
    slide_html,
    title_html,
    to_word,
)
from nereval_core.tables.glossary import DECISIONS

HOSTILE = "</section><script>alert(1)</script><img src=x onerror=alert(1)>"
TABLE = {key: [HOSTILE] for key in ("sides", "rows", "columns")} | {"texts": [[HOSTILE]], "shades": [[1.0]]}
MARK = Mark("gold", 0, ((4, 11),), "Drug", "MIS")
SLIDE = Slide(
    "Monday",
    "3 of 12",
    "rules · strict · d1",
    Text("Ann aspirin took.", [MARK]),
    "MIS",
    "none",
    ("aspirin", "Drug"),
    None,
)


def test_a_slide_says_decision_sides_place_and_legend() -> None:
    shown = slide_html(SLIDE)
    assert all(words in shown for words in ("Monday", "3 of 12", "rules · strict · d1", "− missed (MIS)", "no span"))
    assert all(f"{LOOKS[code].glyph} {LOOKS[code].label}" in shown for code in DECISIONS)


@pytest.mark.parametrize("field", ["heading", "place", "under", "reason", "verdict", "note", "comment"])
def test_hostile_words_are_text(field: str) -> None:
    shown = slide_html(replace(SLIDE, **{field: HOSTILE, **({"verdict": "x"} if field == "note" else {})}))
    assert "&lt;script&gt;" in shown and "<script" not in shown and "<img" not in shown


def test_hostile_words_are_text_on_the_other_slides() -> None:
    parts = (HOSTILE, HOSTILE)
    for shown in (
        title_html(HOSTILE, [parts], HOSTILE),
        bars_html(HOSTILE, HOSTILE, HOSTILE, [Bar(HOSTILE, HOSTILE, HOSTILE, {"COR": 1})], HOSTILE),
        map_html(HOSTILE, HOSTILE, HOSTILE, TABLE, HOSTILE),
        gone_html(HOSTILE, HOSTILE, HOSTILE, HOSTILE, (HOSTILE, HOSTILE, HOSTILE), HOSTILE),
        slide_html(replace(SLIDE, gold=parts, text=Text(HOSTILE, [MARK], types=[HOSTILE]))),
    ):
        assert "&lt;script&gt;" in shown and "<script" not in shown and "<img" not in shown


@pytest.mark.parametrize(("words", "size"), [(3, 2.0), (40, 1.2), (100, 1.0), (1_000, 1.0)])
def test_letters_are_as_large_as_the_sentence_lets_them(words: int, size: float) -> None:
    text = "Ann aspirin" + " took" * words + ". He did not."
    shown = slide_html(replace(SLIDE, text=Text(text, [MARK])))
    assert f"font-size:{size}em" in shown


def test_dots_in_the_text_are_no_cut() -> None:
    text = "Ann aspirin took … she said. He did not."
    assert "font-size:2.0em" in slide_html(replace(SLIDE, text=Text(text, [MARK])))


def test_lines_end_where_the_longest_label_fits() -> None:
    """On a slide of 4:3 a label of a span at the right margin was cut: letters are smaller than with short names."""
    short, long = (
        slide_html(replace(SLIDE, text=Text("Ann aspirin" + " took" * 18 + ".", [replace(MARK, type=kind)])))
        for kind in ("Drug", "NORMALIZABLES_AND_MORE")
    )
    sizes = [float(re.search("font-size:([0-9.]+)em", html)[1]) for html in (short, long)]  # type: ignore[index]
    margins = [float(re.search(r"padding-inline-end:min\(([0-9.]+)em", html)[1]) for html in (short, long)]  # type: ignore[index]
    assert margins[0] < 1 < 8 < margins[1] and sizes[0] >= sizes[1]


BAR = Bar("strict", "0.812", "[0.710, 0.902]", {"COR": 1_234, "INC": 0, "SPU": 5})


def test_bars_and_cells_show_their_counts() -> None:
    bars = bars_html("Monday", "rules", "Decisions", [BAR], "n = 3 gold spans")
    assert (
        all(
            words in bars
            for words in ("strict", "0.812", "[0.710, 0.902]", "n = 3 gold spans", "✓ 1,234", "flex:1234 1 0", "+ 5")
        )
        and "≠ 0" not in bars
    )
    table = {"sides": ["gold", "predicted"], "rows": ["A"], "columns": ["A", "missed"], "texts": [["", "7"]]}
    shown = map_html("Monday", "rules", "Types", table | {"shades": [[None, 0.75]]}, "2 more are left out.")
    assert "gold → predicted" in shown and "2 more are left out." in shown
    assert '<td class="nvs-cell nvs-full" style="--nvs-shade:0.75">7</td>' in shown


def test_what_is_long_is_cut() -> None:
    text = "Ann aspirin " + "took it again. " * 1_000
    shown = slide_html(replace(SLIDE, text=Text(text, [MARK]), comment="word " * 1_000, note="x" * 10_000, verdict="v"))
    assert 5 < shown.count("took it again") < 25
    assert 10 < shown.count("word ") < 60 and shown.count("xxxxx") < 60


@pytest.mark.parametrize(
    ("words", "before", "after", "short"),
    [
        ("one two", "one two", "one two", "one two"),
        (" one\n two ", "one two ", " one two", "one two"),
        ("one two three", "… two three", "one two …", "one two…"),
    ],
)
def test_words_are_cut_at_words(words: str, before: str, after: str, short: str) -> None:
    assert (from_word(words, 9), to_word(words, 9)) == (before, after)
    assert shortened(words, 9) == short


NEIGHBOURS = [Mark(side, 1, ((0, 3),), "Person", "COR") for side in ("gold", "prediction")]


def test_neighbouring_spans_are_drawn_without_a_background() -> None:
    text = Text("Ann aspirin took.", [MARK], neighbours=NEIGHBOURS)
    shown, alone = (slide_html(replace(SLIDE, text=part)) for part in (text, SLIDE.text))
    assert shown.count("✓ Person") == shown.count("nvh-neighbour") == 2 and "Person" not in alone
    assert shown.count("--nvh-fill") == 1, "only the record's own label has a background"


def test_the_gap_of_a_discontinuous_neighbour_is_dashed() -> None:
    apart = Mark("prediction", 1, ((0, 3), (12, 16)), "Drug", "SPU")
    shown, whole = (
        slide_html(replace(SLIDE, text=Text("Ann aspirin took.", [MARK], neighbours=[neighbour])))
        for neighbour in (apart, replace(apart, fragments=((0, 16),)))
    )
    assert shown.count("repeating-linear-gradient") == 3 and "repeating-linear-gradient" not in whole


def test_neighbours_outside_of_the_excerpt_are_left_out() -> None:
    text = "Ann aspirin took. " + "He did not. " * 200 + "Bob."
    far = Mark("gold", 2, ((text.index("Bob"), len(text) - 1),), "Far", "MIS")
    shown = slide_html(replace(SLIDE, text=Text(text, [MARK], neighbours=[*NEIGHBOURS, far])))
    assert "✓ Person" in shown and "Far" not in shown


def test_a_text_full_of_spans_still_fits() -> None:
    words = "aspirin " * 60
    marks = [Mark("gold", at, ((8 * at, 8 * at + 7),), "NORMALIZABLES", "MIS") for at in range(60)]
    dense, bare = (
        plain_text(slide_html(replace(SLIDE, text=Text(words, marks[:1], neighbours=others))))
        for others in (marks[1:], ())
    )
    assert 3 <= dense.count("aspirin") < bare.count("aspirin")


def test_a_pattern_stands_above_its_example() -> None:
    shown = slide_html(replace(SLIDE, pattern=Pattern("Misses Drug after <b>", "3 of 5")))
    assert shown.index("Misses Drug after &lt;b&gt;") < shown.index("3 of 5") < shown.index("aspirin")


def test_names_of_types_stand_whole_and_upright_where_there_are_many() -> None:
    columns = [f"NO_NORMALIZABLES_{number}" for number in range(9)]
    table = {"sides": ["a", "b"], "rows": ["A"], "columns": columns, "texts": [[""] * 9], "shades": [[None] * 9]}
    shown = map_html("Monday", "rules", "Types", table)
    assert "NO_<wbr>NORMALIZABLES_<wbr>8" in shown and 'class="nvs-upright"' in shown
    level = {key: value[:2] if key == "columns" else value for key, value in table.items()}
    assert 'class="nvs-upright"' not in map_html("", "", "", level | {"texts": [["", ""]], "shades": [[None, None]]})
