"""Slides as HTML: hostile words are text, what is long is cut, and each decision has its glyph and word."""

from __future__ import annotations

from dataclasses import replace

import pytest

from nereval_core.glossary import DECISIONS
from nereval_core.report.colours import LOOKS
from nereval_core.report.marks import Mark
from nereval_core.report.slides import Slide, Text, from_word, gone_html, shortened, slide_html, title_html, to_word

HOSTILE = "</section><script>alert(1)</script><img src=x onerror=alert(1)>"
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
        title_html(HOSTILE, [parts], HOSTILE, HOSTILE),
        gone_html(HOSTILE, HOSTILE, HOSTILE, HOSTILE, (HOSTILE, HOSTILE, HOSTILE), HOSTILE),
        slide_html(replace(SLIDE, gold=parts, text=Text(HOSTILE, [MARK], types=[HOSTILE]))),
    ):
        assert "&lt;script&gt;" in shown and "<script" not in shown and "<img" not in shown


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
        ("one two three", "… three", "one two …", "one two…"),
    ],
)
def test_words_are_cut_at_words(words: str, before: str, after: str, short: str) -> None:
    assert (from_word(words, 9), to_word(words, 9)) == (before, after)
    assert shortened(words, 9) == short
