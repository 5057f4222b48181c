"""Sections of the Guide, from the six cases to the abbreviations."""

from __future__ import annotations

import streamlit as st

from nereval_core.glossary import DECISIONS, ERROR_CLASSES, GLOSSARY
from nereval_core.problems import FormatError
from nereval_core.report.colours import LOOKS
from nereval_core.report.marks import marks
from nereval_core.scoring import examples as scoring_examples
from nereval_core.scoring.criteria import CRITERIA, SCHEMAS
from pages.shared.components.highlighted_text import show_text, text_data
from pages.shared.guide.examples import (
    edit_example,
    example_columns,
    example_counts,
    example_html,
    span_decisions,
    verdict_meanings,
)
from pages.shared.view import keys
from pages.shared.view.text import show_problems

SECTIONS = {
    "Six cases": "six-cases",
    "The five decisions": "decisions",
    "Try it": "try-it",
    "Matching criteria": "criteria",
    "Error classes": "error-classes",
    "Verdicts": "verdicts",
    "Abbreviations": "abbreviations",
}
HOW = (
    "Write spans as `[Aspirin tablet|Drug]`; they may nest. `\\[`, `\\]` and `\\|` stand for the characters "
    "themselves. Inside a gold span `[p53|=core]` is its core and `[p53 gene|=alternative]` another way to mark it."
)


def six_cases() -> None:
    st.header(scoring_examples.SIX_CASES.title, anchor="six-cases")
    st.write(scoring_examples.SIX_CASES.sentence)
    st.html(example_html(scoring_examples.SIX_CASES, "strict"))
    table = example_counts(scoring_examples.decide(scoring_examples.SIX_CASES), SCHEMAS)
    st.dataframe(table, column_config=example_columns(table), width="stretch")


def decisions() -> None:
    st.header("The five decisions", anchor="decisions")
    for code in DECISIONS:
        example, name = scoring_examples.DECISION_EXAMPLES[code], scoring_examples.SHOWN_UNDER[code]
        st.header(f"{LOOKS[code].glyph} {LOOKS[code].label}", anchor=GLOSSARY[code].anchor)
        said, shown = st.columns(2)
        said.write(GLOSSARY[code].sentence)
        said.caption(f"{example.title}. {example.sentence} Shown under {name}.")
        shown.html(example_html(example, name))


def try_it() -> None:
    st.header("Try it", anchor="try-it")
    st.write(HOW)
    example = edit_example()
    try:
        scores = scoring_examples.decide(example)
    except FormatError as error:
        show_problems(error.lines())
        return
    names = [criterion.name for criterion in scores.criteria]
    name = str(st.segmented_control("Decisions in the text under", names, default="strict", required=True))
    text = scores.gold.documents.texts[0]
    show_text(text_data(text, marks(scores, name, 0), clickable=False), key=f"{keys.WIDGET}example")
    spans = span_decisions(scores)
    st.dataframe(spans, column_config=example_columns(spans), width="stretch")
    table = example_counts(scores, names)
    st.dataframe(table, column_config=example_columns(table), width="stretch")


def criteria() -> None:
    st.header("Matching criteria", anchor="criteria")
    for name in CRITERIA:
        example = scoring_examples.CRITERION_EXAMPLES[name]
        st.header(name, anchor=f"criterion-{name}")
        said, shown = st.columns(2)
        said.write(CRITERIA[name].sentence)
        needs = f" It needs {CRITERIA[name].needs}." if CRITERIA[name].needs else ""
        said.caption(f"{CRITERIA[name].source}. {example.sentence}{needs}")
        shown.html(example_html(example, name))


def error_classes() -> None:
    st.header("Error classes", anchor="error-classes")
    st.write(
        "Every record that is not correct under strict has the first of these classes that applies. What a class costs "
        "is found by mending it in the predictions and scoring these anew; with all mended they are gold."
    )
    for code in ERROR_CLASSES:
        st.header(code, anchor=GLOSSARY[code].anchor)
        said, shown = st.columns(2)
        said.write(GLOSSARY[code].sentence)
        shown.html(example_html(scoring_examples.CLASS_EXAMPLES[code], "strict"))


def verdicts() -> None:
    st.header("Verdicts", anchor="verdicts")
    st.write(
        "Who is right about a record? On Inspect a key or a button says it, and the next record comes. "
        "`u` takes back your own last verdict, `j` and `k` go to the next and the previous record; no key does "
        "anything while you type."
    )
    st.table(verdict_meanings())


def abbreviations() -> None:
    st.header("Abbreviations", anchor="abbreviations")
    for code, term in GLOSSARY.items():
        if code not in (*DECISIONS, *ERROR_CLASSES):
            st.header(term.label, anchor=term.anchor)
            st.write(term.sentence + (f" {term.code} = {term.formula}" if term.formula else ""))
