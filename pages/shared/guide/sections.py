"""The six cases, the five decisions and the playground of the Guide."""

from __future__ import annotations

import streamlit as st
from markupsafe import Markup
from streamlit.delta_generator import DeltaGenerator

from nereval_core.problems import FormatError
from nereval_core.report.marks import marks
from nereval_core.scoring import examples as scoring_examples
from nereval_core.scoring.criteria import SCHEMAS
from nereval_core.scoring.examples import Example
from pages.shared.components.highlighted_text import show_text, text_data
from pages.shared.guide.examples import (
    edit_example,
    example_columns,
    example_counts,
    example_html,
    span_decisions,
)
from pages.shared.view import keys
from pages.shared.view.text import show_problems

SECTIONS = {
    "Six cases": "six-cases",
    "All five at once": "five-at-once",
    "Try it": "try-it",
    "The five decisions": "decisions",
    "Matching criteria": "criteria",
    "Error classes": "error-classes",
    "Verdicts": "verdicts",
    "Abbreviations": "abbreviations",
    "Methods": "methods",
}
TABLE = 177
"""Pixels of a table: four rows and the head."""
HOW = (
    "Write spans as `[Aspirin tablet|Drug]`; they may nest. `\\[`, `\\]` and `\\|` stand for the characters "
    "themselves. Inside a gold span `[p53|=core]` is its core and `[p53 gene|=alternative]` another way to mark it."
)


def worked_examples() -> None:
    """Draw the six cases, and beside them an example with all five decisions under one criterion."""
    six, five = scoring_examples.SIX_CASES, scoring_examples.FIVE_DECISIONS
    six_column, five_column = st.columns(2)
    _worked(six_column, six, "six-cases", SCHEMAS, example_html(six, "strict"))
    folded = Markup("<details><summary>Show the text under muc</summary>{}</details>").format(example_html(five, "muc"))
    _worked(five_column, five, "five-at-once", (*SCHEMAS, "muc"), folded)


def _worked(place: DeltaGenerator, example: Example, anchor: str, names: tuple[str, ...], text: Markup) -> None:
    """Draw an example: its text as HTML, and its counts under some criteria."""
    place.header(example.title, anchor=anchor)
    place.write(example.sentence)
    place.html(text)
    table = example_counts(scoring_examples.decide(example), names)
    place.dataframe(table, column_config=example_columns(table), width="stretch")


def try_it() -> None:
    st.header("Try it", anchor="try-it")
    st.caption(HOW)
    example = edit_example()
    try:
        scores = scoring_examples.decide(example)
    except FormatError as error:
        show_problems(error.lines())
        return
    names = [criterion.name for criterion in scores.criteria]
    name = str(
        st.segmented_control(
            "Decisions in the text under", names, default="strict", required=True, label_visibility="collapsed"
        )
    )
    text = scores.gold.documents.texts[0]
    show_text(text_data(text, marks(scores, name, 0), clickable=False), key=f"{keys.WIDGET}example")
    spans, counts = span_decisions(scores), example_counts(scores, names)
    for place, table in zip(st.columns(2), (spans, counts), strict=True):
        place.dataframe(table, column_config=example_columns(table), width="stretch", height=TABLE)
