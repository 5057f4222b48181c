"""Entries of the Guide: one a decision, criterion, class of errors, verdict and abbreviation, each with its anchor."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import streamlit as st
from markupsafe import Markup

from nereval_core.report.colours import LOOKS
from nereval_core.report.highlight import STYLE
from nereval_core.report.method_terms import METHODS
from nereval_core.report.references import works
from nereval_core.review.verdicts import KINDS
from nereval_core.review.words import MEANING
from nereval_core.scoring import examples
from nereval_core.scoring.criteria import CRITERIA
from nereval_core.tables.glossary import DECISIONS, ERROR_CLASSES, GLOSSARY
from pages.shared.guide.examples import example_html

_HERE = Path(__file__).parent
_mount = st.components.v2.component(
    "nereval_guide_anchor", js=(_HERE / "anchor.js").read_text(encoding="utf-8"), isolate_styles=False
)


@dataclass(frozen=True)
class Entry:
    """A term with its anchor and one sentence; `more` is its source or formula.

    `example` is the HTML of a text with decisions, `caption` a sentence about it.
    """

    anchor: str
    title: str
    sentence: str
    more: str = ""
    example: str = ""
    caption: str = ""


def draw_entries() -> None:
    """Draw all entries in columns, and go to the one that the address names."""
    for title, anchor, sentence, entries in _sections():
        st.header(title, anchor=anchor)
        if sentence:
            st.caption(sentence)
        html = entries_html(entries)
        # Who looks for a method comes by a link, which unfolds them.
        folded = Markup("<details><summary>Show all {}</summary>{}</details>").format(len(entries), html)
        st.html(folded if anchor == "methods" else html)
    _mount(key="guide_anchor")


def entries_html(entries: Iterable[Entry]) -> Markup:
    """Return entries as HTML; examples are folded."""
    return Markup('{}{}<div class="nvg">{}</div>').format(_STYLE, STYLE, Markup("").join(map(_entry_html, entries)))


def _entry_html(entry: Entry) -> Markup:
    example = Markup("<details><summary>Example</summary><p>{}</p>{}</details>").format(entry.caption, entry.example)
    return Markup('<section id="{}"><h3>{}</h3><p>{} <span>{}</span></p>{}</section>').format(
        entry.anchor, entry.title, entry.sentence, entry.more, example if entry.example else ""
    )


def _sections() -> Iterator[tuple[str, str, str, list[Entry]]]:
    yield "The five decisions", "decisions", "", list(_decisions())
    yield "Matching criteria", "criteria", "", list(_criteria())
    yield (
        *("Error classes", "error-classes"),
        "Every record that is not correct under strict has the first of these classes that applies. The cost of a "
        "class is found by mending it in the predictions and scoring these anew; with all mended they are gold.",
        list(_classes()),
    )
    yield (
        *("Verdicts", "verdicts"),
        "Who is right about a record? On Inspect a key or a button says it, and the next record comes. `u` takes "
        "back your own last verdict, `j` and `k` go to the next and the previous record.",
        list(_verdicts()),
    )
    yield "Abbreviations", "abbreviations", "", list(_abbreviations())
    yield (
        *("Methods", "methods"),
        "Intervals, tests, coefficients of agreement and calibration errors, with the works that they are from.",
        list(_methods()),
    )


def _decisions() -> Iterator[Entry]:
    for code in DECISIONS:
        example, name = examples.DECISION_EXAMPLES[code], examples.SHOWN_UNDER[code]
        caption = f"{example.title}. {example.sentence} Shown under {name}."
        term = GLOSSARY[code]
        title = f"{LOOKS[code].glyph} {LOOKS[code].label}"
        yield Entry(term.anchor, title, term.sentence, "", example_html(example, name, style=False), caption)


def _criteria() -> Iterator[Entry]:
    for name, criterion in CRITERIA.items():
        example = examples.CRITERION_EXAMPLES[name]
        needs = f" Needs {criterion.needs}." if criterion.needs else ""
        source = f"{criterion.source}.{needs}".replace("`", "")
        text = example_html(example, name, style=False)
        yield Entry(f"criterion-{name}", name, criterion.sentence, source, text, example.sentence)


def _classes() -> Iterator[Entry]:
    for code in ERROR_CLASSES:
        example = examples.CLASS_EXAMPLES[code]
        text = example_html(example, "strict", style=False)
        yield Entry(GLOSSARY[code].anchor, code, GLOSSARY[code].sentence, "", text, example.sentence)


def _verdicts() -> Iterator[Entry]:
    for key, (kind, words) in enumerate(KINDS.items(), start=1):
        effects = f"On a gold span: {MEANING['gold'][kind]} On a prediction without gold: {MEANING['pred'][kind]}"
        yield Entry(f"verdict-{kind}", f"{key} {words}", effects)


def _abbreviations() -> Iterator[Entry]:
    for code, term in GLOSSARY.items():
        if code not in (*DECISIONS, *ERROR_CLASSES):
            formula = f"{term.code} = {term.formula}" if term.formula else ""
            yield Entry(term.anchor, term.label, term.sentence, formula)


def _methods() -> Iterator[Entry]:
    for term in METHODS.values():
        cited = Markup("; ").join(map(_link_of, term.sources))
        yield Entry(
            term.anchor.replace("term", "method", 1), f"{term.name[:1].upper()}{term.name[1:]}", term.sentence, cited
        )


def _link_of(key: str) -> Markup:
    """Return the reference of a work, a link where its address is known."""
    work = works()[key]
    link = Markup('<a href="{}" title="{}">{}</a>') if work.url else Markup('<cite title="{1}">{2}</cite>')
    return link.format(work.url, work.reference, work.citation)


_STYLE = Markup(
    "<style>"
    ".nvg{columns:3 19rem;column-gap:2rem;font-size:.875rem;line-height:1.35}"
    ".nvg section{break-inside:avoid;position:relative;padding:.1rem 0 .4rem;scroll-margin-top:4.5rem}"
    ".nvg section.nvg-found{outline:2px solid currentColor;outline-offset:.3rem;border-radius:.2rem}"
    ".nvg h3{font-size:.95rem;font-weight:600;margin:0;padding:0 5rem 0 0}"
    ".nvg p{margin:0;font-size:inherit}.nvg p span{color:light-dark(#565c69,#b5b1a6)}"
    ".nvg summary{position:absolute;top:.1rem;right:0;cursor:pointer;text-decoration:underline;"
    "text-underline-offset:.2em}"
    ".nvg details .nvh-text{font-size:.875rem}"
    "</style>"
)
