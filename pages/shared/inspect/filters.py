"""The bar of the Inspect page: search, decisions, order and progress of the review; and below the text what else there
is.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from nereval_core.records.queries import FIELDS, ORDERS
from nereval_core.records.text_search import regex_problem
from nereval_core.report.colours import LOOKS
from nereval_core.tables.glossary import DECISIONS
from pages.shared.components import links, navigation, sentence
from pages.shared.components.tables import records_export
from pages.shared.data import reviewer
from pages.shared.data.page_context import PageContext
from pages.shared.inspect.facets import narrow
from pages.shared.inspect.workbench import Open
from pages.shared.present import lobby
from pages.shared.verdicts import dialogs
from pages.shared.verdicts import list as verdicts_list
from pages.shared.verdicts.case import case_of, given_verdicts, reason_unoffered
from pages.shared.view import View, keys, state
from pages.shared.view.queries import query_of, search_of
from pages.shared.view.text import plain

SEARCH, ORDER = 200, 145
"""Pixels."""
VALUES = len(DECISIONS)
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
        **state.mirror("q", _refused_text(page.view) or page.query().text, _take_text),
    )
    _decisions(page)
    order = state.mirror("order", page.view.order, lambda word: state.put(replace(state.view(), order=word)))
    st.selectbox("Order", ORDERS, format_func=partial(_order, page), width=ORDER, label_visibility="collapsed", **order)
    verdicts_list.draw_progress(page)


def show_search_problems(page: PageContext) -> None:
    """Say in a line each what is asked for and cannot be found: below the box, which keeps what was typed."""
    query = page.query()
    text = _refused_text(page.view)
    problem = regex_problem(text)
    lines = [f"{text} is not a regular expression: {problem}"] if problem else []
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


def draw_record_menu(page: PageContext, opened: Open, order: str) -> None:
    """Offer what else there is: the records as files, others of the open one's form, the history of its verdicts."""
    lobby.show_playlist_problems()
    reviewer.remember_reviewer()
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="record_menu"):
        if opened.queue.total:
            records_export(page, page.by, page.query(), order, name="errors").draw()
        if not reason_unoffered(page):
            verdicts_list.offer_batch(page)
            if opened.record:
                _record(page, opened)
            advance = st.session_state.get(keys.GO_ON, True)
            widget = state.mirror("on", advance, state.keep(keys.GO_ON), prefix=keys.VERDICT)
            st.toggle("Auto-advance", help="Open the next record without a verdict after each one.", **widget)
            if reviewer.reviewer_name():
                # Without a name the first verdict asks for it.
                reviewer.show_reviewer()
        if (view := lobby.draw_playlist(page)) is not None:
            navigation.link_to("Present", ":primary[Order, comment and present →]", view)


def say_errors(page: PageContext) -> None:
    """Say which kind of record is most frequent in the list, and lead to the meaning of the decisions."""
    parts = sentence.errors(page)
    guide = links.Link("What the decisions and criteria mean", "Guide", page.view)
    links.mount_sentence([*parts, *([" · "] if parts else []), guide], "sentence-errors")


def _record(page: PageContext, opened: Open) -> None:
    position = page.ledger().position(opened.doc, opened.record)
    if position is None:
        return
    case = case_of(page, position)
    verdicts_list.offer_same_form(page, position)
    if n_given := len(given_verdicts(page, case)):
        label = f"History · {n_given:,}"
        with st.popover(label, key=case.widget("past"), type="tertiary", on_change="rerun") as box:
            if box.open:
                dialogs.draw_history(page, case)


def _take_text(text: str) -> None:
    """Take the search text over; what else the search holds (boundaries, words, ...) stays unless it says otherwise."""
    typed = query_of(View(q=text))
    st.session_state.pop(keys.REFUSED_SEARCH, None)
    if regex_problem(typed.text):
        # It finds nothing: the list stays as it was until the expression is one.
        st.session_state[keys.REFUSED_SEARCH] = typed.text, state.view().q
        return
    before = query_of(state.view())
    fields = {name: getattr(typed, name) or getattr(before, name) for name in FIELDS}
    state.update(q=search_of(replace(typed, **fields, having=typed.having or before.having)))


def _refused_text(view: View) -> str:
    """Return what was typed last and is not a regular expression, "" once another search narrows the list."""
    text, q = st.session_state.get(keys.REFUSED_SEARCH, ("", ""))
    return str(text) if q == view.q else ""


def _order(page: PageContext, word: str) -> str:
    return ORDER_WORDS.get(word) or page.words.of_side("type", word)


def _mirror(facet: str, value: str | None) -> dict[str, Any]:
    return state.mirror(f"facet-{facet}", value, partial(narrow, facet))
