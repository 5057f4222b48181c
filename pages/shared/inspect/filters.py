"""The bar of the Inspect page: search, decisions, filters with live counts, order, and progress of the review.

One filter compares with another system: who is right about the gold span, and what both predict wrongly.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any
from urllib.parse import unquote

import streamlit as st

from nereval_core.analysis.crosstab import are_comparable
from nereval_core.ledger import Ledger
from nereval_core.ledger.attributes.comparisons import (
    AGAINST,
    BOTH_RIGHT,
    BOTH_WRONG,
    ONLY_OTHER,
    ONLY_THIS,
    SPURIOUS_HERE,
)
from nereval_core.records.queries import ABSENT, FIELDS, ORDERS, Query, in_documents, narrowed
from nereval_core.records.text_search import regex_problem
from nereval_core.report.colours import LOOKS
from nereval_core.tables.glossary import DECISIONS
from pages.shared.components import navigation
from pages.shared.components.tables import records_export
from pages.shared.data import reviewer
from pages.shared.data.page_context import PageContext
from pages.shared.inspect.workbench import Open
from pages.shared.present import lobby
from pages.shared.verdicts import dialogs
from pages.shared.verdicts import list as verdicts_list
from pages.shared.verdicts.case import case_of, reason_unoffered
from pages.shared.view import View, keys, state
from pages.shared.view.queries import ERRORS, query_of, search_of, view_of
from pages.shared.view.text import capitalised, level_said, plain

LABELS = {
    "gold": "",
    "pred": "",
    "boundary": "Boundaries",
    "words": "Words",
    "period": "Period",
    "noise": "Noise (LED) of gold",
    "doc": "Document",
}
"""Labels of the facets; the types of the two sides are labelled with the names of the layers."""
SEARCH, FACET, ORDER = 160, 170, 145
"""Pixels."""
IN_DOCUMENTS = "in "
"""The beginning of an attribute of records that lie in some documents, see `in_documents`."""
HELP = {
    "period": "The decade of the document's date.",
    "noise": "How noisy the gold span is: the edit distance of the OCR's text from the right one, by its length.",
}
VALUES = 1_000
"""Values of a facet that are offered, those with most records first."""
ORDER_WORDS = {
    "document": "document order",
    "text": "text",
    "decision": "decision",
    "longest": "longest first",
}


def draw_bar(page: PageContext) -> None:
    """Draw search, decisions, filters, order and the progress of the review in one row."""
    st.text_input(
        "Search",
        placeholder="Words or /regex/",
        help="In spans, 60 characters around them, and ids of documents. Between slashes: a regular expression. Key: /",
        label_visibility="collapsed",
        width=SEARCH,
        **state.mirror("q", page.query().text, _take_text),
    )
    _decisions(page)
    _filters(page)
    order = state.mirror("order", page.view.order, lambda word: state.put(replace(state.view(), order=word)))
    st.selectbox("Order", ORDERS, format_func=partial(_order, page), width=ORDER, label_visibility="collapsed", **order)
    _more(page)
    verdicts_list.draw_progress(page)


def show_search_problems(page: PageContext) -> None:
    """Say in a line each what is asked for and cannot be found: below the box, which keeps what was typed."""
    query = page.query()
    problem = regex_problem(query.text)
    lines = [f"{query.text} is not a regular expression: {problem}"] if problem else []
    for line in (*lines, *page.ledger().unknown_values(query)):
        st.caption(f":red[:material/error: {plain(line, 300)}]")


def _decisions(page: PageContext) -> None:
    query = page.query()
    counts = page.ledger().facet_counts(query, "decision", VALUES)
    st.pills(
        "Decision",
        [code for code in DECISIONS if code in counts or code in page.view.decision],
        format_func=lambda code: f"{LOOKS[code].glyph} {counts.get(code, 0):,}",
        help=None,
        label_visibility="collapsed",
        **_mirror("decision", page.view.decision[0] if len(page.view.decision) == 1 else None),
    )


def _filters(page: PageContext) -> None:
    """Offer all other facets in one popover, whose label says how many are used."""
    ledger, query = page.ledger(), page.query()
    used = [facet for facet in LABELS if _chosen(page, facet)]
    more = [name for name, _ in query.having if name in verdicts_list.FACETS or name.startswith(WORD)]
    number = len(used) + len(more)
    label = f"Filters {number}" if number else "Filters"
    with st.popover(label, key=f"{keys.WIDGET}filters", on_change="rerun") as box:
        if not box.open:
            return
        with st.container(horizontal=True, width=560):
            for facet in LABELS:
                if facet in ledger.offered or facet in used:
                    counts = _counts(page, facet)
                    _facet(
                        page,
                        facet,
                        counts,
                        _chosen(page, facet),
                        free=facet == "doc" and not ledger.is_in_memory,
                    )
            verdicts_list.verdict_facets(page, FACET)
        choose_other_system(page)
        st.caption(plain(" · ".join(map(page.words.with_glyph, DECISIONS)), 300))


def _counts(page: PageContext, facet: str) -> dict[str, int]:
    query = page.query()
    if facet == "doc":
        query = replace(query, having=tuple(pair for pair in query.having if not pair[0].startswith(IN_DOCUMENTS)))
    return page.ledger().facet_counts(query, facet, VALUES)


def _more(page: PageContext) -> None:
    """Offer what is seldom needed: classes of errors, one verdict for all, the export, and how verdicts are given."""
    with st.popover("More", key=f"{keys.WIDGET}more", on_change="rerun") as box:
        if not box.open:
            return
        if not reason_unoffered(page):
            verdicts_list.offer_batch(page)
            advance = st.session_state.get(keys.GO_ON, True)
            widget = state.mirror("on", advance, state.keep(keys.GO_ON), prefix=keys.VERDICT)
            st.toggle("Auto-advance", help="Open the next record after a verdict.", **widget)
            reviewer.show_reviewer()
        lobby.draw_playlist(page)


def draw_record_menu(page: PageContext, opened: Open, order: str) -> None:
    """Offer what else there is: the records as files, others of the open one's form, the history of its verdicts."""
    lobby.show_playlist_problems()
    reviewer.remember_reviewer()
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if opened.queue.total:
            records_export(page, page.by, page.query(), order, name="errors").draw()
        if not reason_unoffered(page) and opened.record:
            _record(page, opened)
        navigation.link_to("Guide", "What the decisions and criteria mean", page.view)


def _record(page: PageContext, opened: Open) -> None:
    position = page.ledger().position(opened.doc, opened.record)
    if position is None:
        return
    case = case_of(page, position)
    verdicts_list.offer_same_form(page, position)
    if case.version:
        label = f"History · {case.version:,}"
        with st.popover(label, key=case.widget("past"), type="tertiary", on_change="rerun") as box:
            if box.open:
                dialogs.draw_history(case)


def _take_text(text: str) -> None:
    """Take the search text over; what else the search holds (boundaries, words, ...) stays unless it says otherwise."""
    typed = query_of(View(q=text))
    before = query_of(state.view())
    fields = {name: getattr(typed, name) or getattr(before, name) for name in FIELDS}
    state.update(q=search_of(replace(typed, **fields, having=typed.having or before.having)))


def _chosen(page: PageContext, facet: str) -> str | None:
    if facet == "doc":
        listed = [name for name, _ in page.query().having if name.startswith(IN_DOCUMENTS)]
        return unquote(listed[0].removeprefix(IN_DOCUMENTS)) if listed else page.query().doc or None
    value = getattr(page.query(), facet)
    if isinstance(value, tuple):
        return value[0] if len(value) == 1 else None
    return value or None


def _facet(page: PageContext, facet: str, counts: dict[str, int], selected: str | None, *, free: bool = False) -> None:
    """Offer the values of a facet; `free`: others may be typed."""
    options = list(counts)
    if selected is not None and selected not in options:
        options.append(selected)
    label = LABELS[facet]
    if not label:
        label = capitalised(page.words.of_side("type", facet))
    st.selectbox(
        plain(label),
        options,
        # Only so can a choice be taken back.
        index=None,
        format_func=lambda value: f"{_named(page, facet, value)} · {counts.get(value, 0):,}",
        **_mirror(facet, selected),
        placeholder="any",
        help=HELP.get(facet),
        width=FACET,
        accept_new_options=free,
    )


def _order(page: PageContext, word: str) -> str:
    return ORDER_WORDS.get(word) or page.words.of_side("type", word)


def _named(page: PageContext, facet: str, value: str) -> str:
    if facet == "noise":
        return level_said(value)
    if value != ABSENT:
        return value
    return f"no span, {page.words.label('SPU' if facet == 'gold' else 'MIS')}"


def _mirror(facet: str, value: str | None) -> dict[str, Any]:
    return state.mirror(f"facet-{facet}", value, partial(_narrow, facet))


def _narrow(facet: str, value: str | None) -> None:
    """Narrow the view down to the value chosen, or, with none, no longer by this facet."""
    view = state.view()
    if facet == "decision":
        state.update(decision=() if value is None else (value,))
    elif facet in ("gold", "pred"):
        state.update(**{facet: () if value is None else (value,)})
    elif facet == "doc":
        query = query_of(view)
        rest = tuple(pair for pair in query.having if not pair[0].startswith(IN_DOCUMENTS))
        listed = (*rest, in_documents([value])) if value else rest
        state.update(doc="", record="", q=search_of(replace(query, having=listed)))
    else:
        state.update(q=view_of(view, narrowed(query_of(view), facet, value)).q)


WORD = "against "
RIGHT = (BOTH_RIGHT, ONLY_THIS)
"""Values of correct records; records with any other value are in lists by default."""


def choose_other_system(page: PageContext) -> None:
    """Offer the records by who is right, this system or another one; nothing where there is no other."""
    rest = [name for name in page.systems if name != page.system]
    ledger = page.ledger()
    if not rest or not ledger.is_in_memory:
        return
    query = page.query()
    active = next(((name, value) for name, value in query.having if name.startswith(WORD)), None)
    named = active[0].removeprefix(WORD) if active else page.beside
    other = named if named in rest else rest[0]
    system = state.mirror("against_system", other, _take_system)
    st.selectbox(f"{plain(page.system)} and", rest, width=240, **system)
    if not are_comparable(page.scores(), page.scores(other), page.by):
        st.caption(f"{plain(page.by)} counts tokens: choose a matching criterion that counts spans.")
        return
    counts = value_counts(ledger, query, other)
    who = active[1] if active and active[0] == WORD + other else None
    st.pills(
        "Gold spans, and predictions without one",
        AGAINST,
        format_func=lambda value: f"{_words(value, page.system, other)} · {counts[value]:,}",
        **state.mirror("against", who, lambda value: state.put(with_against(state.view(), other, value))),
    )


def _words(value: str, system: str, other: str) -> str:
    """Name the systems, as Markdown."""
    named = {
        ONLY_THIS: f"only {system} right",
        ONLY_OTHER: f"only {other} right",
        SPURIOUS_HERE: f"spurious in {system} only",
    }
    return plain(named.get(value, value))


def value_counts(ledger: Ledger, query: Query, other: str) -> dict[str, int]:
    """Return how many records are listed once a value of AGAINST is chosen, with the decisions that it comes with."""
    right, wrong = (
        ledger.having_counts(replace(query, decision=_decisions_with(query, value)), WORD + other)
        for value in (BOTH_RIGHT, BOTH_WRONG)
    )
    return {value: (right if value in RIGHT else wrong)[value] for value in AGAINST}


def _decisions_with(query: Query, value: str) -> tuple[str, ...]:
    """Return the decisions asked for, changed where none of them could have the value."""
    if value in RIGHT:
        return query.decision if "COR" in query.decision else ("COR",)
    return query.decision if set(query.decision) - {"COR"} else ERRORS


def with_against(view: View, other: str, value: str | None) -> View:
    """Return the view that lists the records with a value of AGAINST; None takes it back."""
    query = query_of(view)
    remaining = tuple(pair for pair in query.having if not pair[0].startswith(WORD))
    if value is None:
        decision = ERRORS if query.decision == ("COR",) else query.decision
        return replace(view_of(view, replace(query, having=remaining, decision=decision)), beside=other)
    narrowed_query = replace(query, having=(*remaining, (WORD + other, value)), decision=_decisions_with(query, value))
    return replace(view_of(view, narrowed_query), beside=other)


def _take_system(other: str) -> None:
    view = state.view()
    before = next((value for name, value in query_of(view).having if name.startswith(WORD)), None)
    state.put(with_against(view, other, before) if before else replace(view, beside=other))
