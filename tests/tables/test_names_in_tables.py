"""Names of the data in tables, labels and figures: none turns the writing around, or is taken for a sign."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain

import pytest

import nereval_core as nereval
from nereval_core.problems import capitalised, name_text, shortened_name
from nereval_core.report.figures.scores import type_dots
from nereval_core.report.marks import marks
from nereval_core.report.score_tables import confusion_cells, confusion_grid, type_table
from nereval_core.report.scored_system import ScoredSystem
from nereval_core.tables import Column, Table
from nereval_core.tables.rendering import as_html, as_latex, as_markdown
from nereval_core.tables.terminal import as_screen
from pages.shared.components.highlighted_text import text_data
from pages.shared.view.text import named, plain

TURNED = "\u202ecod\u202c"
TYPES = (TURNED, "-", ",", " PER", "PER", "x\ny")
TEXT = "one two three four five six"
SPANS = [(0, 3), (4, 7), (8, 13), (14, 18), (19, 23), (24, 27)]


@pytest.fixture(scope="module")
def scores() -> ScoredSystem:
    gold = [(*span, kind) for span, kind in zip(SPANS, TYPES, strict=True)]
    pred = [(*span, kind) for span, kind in zip(SPANS, (*TYPES[1:], TYPES[0]), strict=True)]
    return nereval.score([gold], [pred], criteria=["strict"], texts=[TEXT])


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("PER", "PER"),
        ("organisation.ent", "organisation.ent"),
        ("人", "人"),
        ("-", "'-'"),
        (",", "','"),
        (" PER", "' PER'"),
        (TURNED, "\\u202ecod\\u202c"),
        ("\u200f", "\\u200f"),
        ("x\ny", "x\\ny"),
        ("", ""),
    ],
)
def test_a_name_is_what_it_looks_like(name: str, text: str) -> None:
    assert name_text(name) == text


def test_no_table_has_active_characters_of_names(scores: ScoredSystem) -> None:
    types = type_table("by type", {"a": scores, TURNED: scores}, "strict")
    grid = confusion_grid(f"of {TURNED}", confusion_cells(scores, "strict"), scores.types, "strict", (TURNED,))
    for render in (as_markdown, as_latex, as_html, as_screen):
        text = render([types, grid])
        assert "\u202e" not in text and "u202ecod" in text
    assert {row[0] for row in types.texts()} == {"\\u202ecod\\u202c", "'-'", "','", "' PER'", "PER", "x\\ny"}
    assert "'-'" in grid.headings and "-" in grid.keys
    assert types.to_frame()["type"].tolist()[0] in TYPES, "programs read names as they are"


def test_texts_of_the_corpus_stay_as_they_are_on_pages() -> None:
    columns = (Column("type", kind="name"), Column("text", kind="text"), Column("before", kind="before"))
    assert Table("t", columns, (("a\u200cb",) * 3,)).texts() == [["a\\u200cb", "a\u200cb", "a\u200cb"]]


def test_labels_of_spans_show_the_name_and_keep_the_type(scores: ScoredSystem) -> None:
    data = text_data(TEXT, marks(scores, "strict", 0), colour_by="type", types=TYPES)
    drawn = {mark["type"]: mark["name"] for mark in data["marks"]}
    assert drawn == {kind: name_text(kind) for kind in TYPES}
    titles = chain((mark["title"] for mark in data["marks"]), (chip["text"] for chip in data["legend"]))
    assert not any("\u202e" in title for title in titles)


def test_reasons_and_figures_have_escapes(scores: ScoredSystem) -> None:
    shown = nereval.show(scores)
    assert "\u202e" not in shown.html and "\u202e" not in shown.text
    figure = type_dots({TURNED: scores.by_type("strict")}, list(TYPES), "strict")
    assert "\u202e" not in str(replace(scores).confusion().plot().to_json()) + str(figure.layout) + str(figure.data)


@pytest.mark.parametrize(
    ("text", "markdown"),
    [(TURNED, "\\\\u202ecod\\\\u202c"), ("a\nb\x00c", "a b c"), ("می\u200cرود", "می\u200cرود")],
)
def test_markdown_of_pages_shows_what_steers_the_writing(text: str, markdown: str) -> None:
    assert plain(text) == markdown


def test_long_names_are_cut_where_they_do_not_tell_one_another_apart() -> None:
    runs = [f"team10_bundle_of_the_second_round_run_{number}" for number in (1, 2)]
    first, second = (named(run, 20) for run in runs)
    assert first != second and first.endswith("1") and second.endswith("2")
    assert first.startswith("team") and len(shortened_name(runs[0], 20)) == 20 and named(runs[0]) == plain(runs[0])


def test_names_begin_as_they_are_and_sentences_with_a_capital() -> None:
    assert capitalised("rules does not have it", ("rules",)) == "rules does not have it"
    assert capitalised("rulesets differ", ("rules", "")) == "Rulesets differ"
