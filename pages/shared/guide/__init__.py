"""The Guide: entries of its terms, each with its anchor; the six cases, the five decisions, and the playground."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import streamlit as st
from markupsafe import Markup
from streamlit.delta_generator import DeltaGenerator

from nereval_core.problems import FormatError, capitalised
from nereval_core.report.colours import LOOKS
from nereval_core.report.highlight import STYLE, document_html
from nereval_core.report.marks import SIDES, marks
from nereval_core.report.references import METHODS, works
from nereval_core.report.score_tables import criterion_table
from nereval_core.review.verdicts import KINDS
from nereval_core.review.words import MEANING
from nereval_core.scoring import Scores, examples
from nereval_core.scoring import examples as scoring_examples
from nereval_core.scoring.criteria import CRITERIA, SCHEMAS, Decision
from nereval_core.scoring.examples import CASES, DECISION_EXAMPLES, FIVE_DECISIONS, SIX_CASES, Example, decide
from nereval_core.tables import Cell, Column, Table, cell_text
from nereval_core.tables.glossary import DECISIONS, ERROR_CLASSES, GLOSSARY
from pages.shared.components.highlighted_text import show_text, text_data
from pages.shared.components.tables import draw_rows
from pages.shared.server.component_files import component
from pages.shared.view import keys, state
from pages.shared.view.text import show_problems

EXAMPLES = {
    example.title: example
    for example in (DECISION_EXAMPLES["PAR"], *DECISION_EXAMPLES.values(), SIX_CASES, FIVE_DECISIONS)
}
FIVE = "muc"
"""The criterion that gives all five decisions."""
EXAMPLE = f"{keys.LIST}example"
"""The example being edited: its widgets lose it on a page switch, this keeps it."""
CHOICE = f"{keys.WIDGET}example_choice"
LINES = 90
"""Pixels of the height of a text."""
LONGEST = 5_000
"""Characters of an example; longer texts belong in a corpus."""


def edit_example() -> Example:
    """Draw the two marked texts and return them as an example."""
    example: Example = st.session_state.setdefault(EXAMPLE, next(iter(EXAMPLES.values())))
    gold, prediction, start = st.columns([3, 3, 2])
    start.selectbox("Start from", list(EXAMPLES), key=CHOICE, on_change=_start)
    gold.text_area("Text with gold spans", max_chars=LONGEST, height=LINES, **_side("gold", example.gold))
    prediction.text_area(
        "Text with predicted spans", max_chars=LONGEST, height=LINES, **_side("prediction", example.prediction)
    )
    return example


def _side(side: str, text: str) -> dict[str, Any]:
    def take(typed: str) -> None:
        st.session_state[EXAMPLE] = replace(st.session_state[EXAMPLE], title="", sentence="", **{side: typed})

    return state.mirror(f"example_{side}", text, take)


def _start() -> None:
    st.session_state[EXAMPLE] = EXAMPLES[st.session_state[CHOICE]]


def example_html(example: Example, name: str, *, style: bool = True) -> Markup:
    """Return an example's text with the decisions of a criterion, with its style sheet if that is not there yet."""
    scores = decide(example)
    return document_html(scores.gold.documents.texts[0], marks(scores, name, 0), style=style)


def example_counts(scores: Scores, names: Sequence[str]) -> Table:
    """Return the scores of an example under some criteria."""
    return criterion_table("", {"example": scores}, names)


def cases_html(scores: Scores, names: Sequence[str]) -> Markup:
    """Return a table of the six cases: a row each with its words and its decision under each criterion, and F1 last."""
    cell = Markup('<td style="background:light-dark({},{});color:light-dark({},{})">{} {}</td>')
    rows = []
    for words, text, codes in case_decisions(scores, names):
        cells = (
            cell.format(*LOOKS[code].colour.fill, *LOOKS[code].colour.ink, LOOKS[code].glyph, code) for code in codes
        )
        quote = Markup('<th scope="row">{} <span>{}</span></th>').format(words, text)
        rows.append(Markup("<tr>{}{}</tr>").format(quote, Markup("").join(cells)))
    heads = Markup("").join(map(Markup('<th scope="col">{}</th>').format, names))
    f1 = Markup("").join(Markup("<td>{}</td>").format(cell_text(scores.counts(name).f1, "ratio", 3)) for name in names)
    return Markup(
        '{}<table class="nvc-cases"><thead><tr><th scope="col">case</th>{}</tr></thead><tbody>{}</tbody>'
        '<tfoot><tr><th scope="row">F1</th>{}</tr></tfoot></table>'
    ).format(_CASES_STYLE, heads, Markup("").join(rows), f1)


def case_decisions(scores: Scores, names: Sequence[str]) -> list[tuple[str, str, tuple[str, ...]]]:
    """Return the six cases in order: the words of each, its text, and its decision under each criterion.

    Every gold span is a case, and the prediction that no criterion aligns is the last.
    """
    gold, pred = scores.gold, scores.pred
    lone = next(span for span in range(len(pred)) if scores.partners("lenient")[1][span] < 0)
    cases = [(0, gold, span) for span in range(len(gold))] + [(1, pred, lone)]
    return [
        (
            words,
            layer.text(span),
            tuple(Decision(int(scores.decisions(name)[side][span])).name for name in names),
        )
        for words, (side, layer, span) in zip(CASES, cases, strict=True)
    ]


def span_decisions(scores: Scores) -> Table:
    """Return one row a span, gold spans first, and one column a criterion: `− MIS`.

    What is counted by token decides over no spans and has no column.
    """
    criteria = [criterion for criterion in scores.criteria if criterion.unit == "span"]
    rows: list[tuple[Cell, ...]] = []
    for place, (side, layer) in enumerate(zip(SIDES, (scores.gold, scores.pred), strict=True)):
        for span in range(len(layer)):
            codes = [Decision(int(scores.decisions(criterion.name)[place][span])).name for criterion in criteria]
            quote = f"{side}: {' '.join(layer.text(span).split())} ({layer.label(span)})"
            rows.append((quote, *(f"{LOOKS[code].glyph} {code}" for code in codes)))
    columns = (
        Column(criterion.name, criterion.name, "text", meaning=criterion.sentence.rstrip(".")) for criterion in criteria
    )
    return Table("", (Column("span", kind="name"), *columns), tuple(rows))


SECTIONS = {
    "Six cases": "six-cases",
    "All five at once": "five-at-once",
    "Try it": "try-it",
    "The five decisions": "decisions",
    "Matching criteria": "criteria",
    "Readings of SemEval-2013": "semeval-2013",
    "Error classes": "error-classes",
    "Verdicts": "verdicts",
    "Abbreviations": "abbreviations",
    "Methods": "methods",
}
ROWS, TABLE = 4, 177
"""Rows up to which a table is shown whole, and the pixels of a longer one: as many rows and the head."""
HOW = (
    "Write spans as `[Aspirin tablet|Drug]`; they may nest. `\\[`, `\\]` and `\\|` stand for the characters "
    "themselves. Inside a gold span `[p53|=core]` is its core and `[p53 gene|=alternative]` another way to mark it."
)


def worked_examples() -> None:
    """Draw the six cases with their decisions, and beside them an example with all five under one criterion."""
    six, five = scoring_examples.SIX_CASES, scoring_examples.FIVE_DECISIONS
    cases, at_once = st.columns(2)
    names = (*SCHEMAS, FIVE)
    text = Markup("{}{}").format(example_html(six, "strict"), cases_html(scoring_examples.decide(six), names))
    _worked(cases, six, "six-cases", text)
    folded = Markup("<details><summary>Show the text under muc</summary>{}</details>").format(example_html(five, FIVE))
    _worked(at_once, five, "five-at-once", folded)
    with at_once:
        draw_rows(example_counts(scoring_examples.decide(five), names))


def _worked(place: DeltaGenerator, example: Example, anchor: str, text: Markup) -> None:
    """Draw an example: its title, its sentence, and its text as HTML."""
    place.header(example.title, anchor=anchor)
    place.write(example.sentence)
    place.html(text)


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
        with place:
            draw_rows(table, height=TABLE, whole_rows=ROWS)


_HERE = Path(__file__).parent
_mount = component(
    "nereval_guide_anchor",
    js=(_HERE / "anchor.js").read_text(encoding="utf-8"),
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
        *("Readings of SemEval-2013", "semeval-2013"),
        "The schemas strict, exact, partial and type are those of SemEval-2013. Scorers that have them differ in which "
        "gold span a prediction meets. Example: gold has *beta blockers* (Group) and *aspirin* (Drug), and *blockers "
        "or aspirin* (Drug) is predicted.",
        list(_readings()),
    )
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


def _readings() -> Iterator[Entry]:
    example = scoring_examples.PAIRING
    for name, (title, sentence, code) in scoring_examples.READINGS.items():
        look = f"In the example under type: {LOOKS[code].glyph} {code}." if code else ""
        text = example_html(example, "type", style=False) if name == "ours" else ""
        yield Entry(f"reading-{name}", title, sentence, look, text, example.sentence)


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
        yield Entry(term.anchor.replace("term", "method", 1), capitalised(term.name), term.sentence, cited)


def _link_of(key: str) -> Markup:
    """Return the reference of a work, a link where its address is known."""
    work = works()[key]
    link = Markup('<a href="{}" title="{}">{}</a>') if work.url else Markup('<cite title="{1}">{2}</cite>')
    return link.format(work.url, work.reference, work.citation)


_CASES_STYLE = Markup(
    "<style>"
    ".nvc-cases{border-collapse:separate;border-spacing:2px;font-size:.875rem;margin-top:.6rem;width:100%}"
    ".nvc-cases :is(th,td){border:0;padding:.18rem .3rem;text-align:center;border-radius:.2rem;white-space:nowrap}"
    ".nvc-cases th{font-weight:600}"
    ".nvc-cases :is(tbody th,tfoot th,th:first-child){text-align:start;white-space:normal;padding-inline-start:0}"
    ".nvc-cases th span{font-weight:400;color:light-dark(#565c69,#b5b1a6)}"
    "@media(max-width:1100px){.nvc-cases{font-size:.75rem}.nvc-cases :is(th,td){padding-inline:.15rem}}"
    "</style>"
)
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
