"""The parts of the Errors page: search, order and facets with live counts."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from nereval_core.glossary import DECISIONS, decision_label
from nereval_core.report.colours import LOOKS
from pages.shared.components.record_list import record_card
from pages.shared.components.terms import explained, level_said
from pages.shared.present import stars
from pages.shared.verdicts import list as verdicts_list
from pages.shared.view import ABSENT, ORDERS, View, keys, state
from pages.shared.view.queries import FIELDS, narrowed, query_of, search_of, view_of

if TYPE_CHECKING:
    from pages.shared.frame import Here

LABELS = {
    "gold": "Gold type",
    "pred": "Predicted type",
    "boundary": "Boundaries",
    "words": "Words",
    "period": "Period",
    "noise": "Noise (LED) of gold",
    "doc": "Document",
}
FACET = 160
"""Pixels: two facets stand beside one another on a telephone, six on a wide screen."""
ORDER = 180
"""Pixels: the longest order and an arrow."""
HELP = {
    "period": "The decade of the document's date.",
    "noise": "How noisy the gold span is: the edit distance of the OCR's text from the right one, by its length.",
}
VALUES = 1_000
"""How many values of a facet are offered, those with most records first."""
ORDER_WORDS = {
    "document": "document order",
    "text": "text",
    "gold": "gold type",
    "prediction": "predicted type",
    "decision": "decision",
    "longest": "longest first",
}


def card(here: Here, criterion: str, record: pd.Series) -> None:
    """Show the record chosen in its text, its star, and what is decided of it."""
    record_card(here, criterion, record)
    stars.star(here, str(record["document"]), str(record["record"]))
    verdicts_list.below(here, record)


def search(here: Here) -> None:
    """Ask for words and for an order, side by side."""
    key = keys.WIDGET + "q"
    st.session_state[key] = here.query().text
    st.text_input("Search", key=key, placeholder="words of a span, or a document id", on_change=_took_text)
    key = keys.WIDGET + "order"
    st.session_state[key] = here.view.ordered_by()
    st.selectbox("Order", ORDERS, key=key, format_func=ORDER_WORDS.__getitem__, on_change=_took_order, width=ORDER)


def _took_text() -> None:
    """Take the search text over; what else the search holds (boundaries, words, ...) stays unless it says otherwise."""
    typed = query_of(View(q=st.session_state[keys.WIDGET + "q"]))
    before = query_of(state.view())
    kept = {name: getattr(typed, name) or getattr(before, name) for name in FIELDS}
    state.update(q=search_of(replace(typed, **kept, having=typed.having or before.having)))


def _took_order() -> None:
    state.put(state.view().with_sort(st.session_state[keys.WIDGET + "order"]))


def facets(here: Here) -> None:
    """Offer each facet's values with the number of records there would be; choosing one shows exactly these."""
    ledger, query = here.ledger(), here.query()
    shown = [facet for facet in LABELS if facet in ledger.offered or _chosen(here, facet)]
    counts = {facet: ledger.facet_counts(query, facet, VALUES) for facet in ("decision", *shown)}
    key = keys.WIDGET + "facet-decision"
    st.session_state[key] = here.view.decision[0] if len(here.view.decision) == 1 else None
    st.pills(
        "Decision",
        [code for code in DECISIONS if code in counts["decision"] or code in here.view.decision],
        format_func=lambda code: f"{LOOKS[code].glyph} {decision_label(code)} · {counts['decision'].get(code, 0):,}",
        key=key,
        on_change=_took,
        args=("decision",),
        help=explained(*DECISIONS),
    )
    with st.container(horizontal=True):
        for facet in shown:
            _facet(facet, counts[facet], _chosen(here, facet), free=facet == "doc" and here.loaded.folder is not None)
        verdicts_list.facets(here, FACET)
    for sentence in ledger.said(query):
        st.caption(sentence)


def _chosen(here: Here, facet: str) -> str | None:
    value = getattr(here.query(), facet)
    if isinstance(value, tuple):
        return value[0] if len(value) == 1 else None
    return value or None


def _facet(facet: str, counts: dict[str, int], chosen: str | None, *, free: bool = False) -> None:
    """Offer the values of a facet; `free`: others may be typed."""
    key = f"{keys.WIDGET}facet-{facet}"
    options = list(counts)
    if chosen is not None and chosen not in options:
        options.append(chosen)
    st.session_state[key] = chosen
    st.selectbox(
        LABELS[facet],
        options,
        # Only so can a choice be taken back.
        index=None,
        format_func=lambda value: f"{_named(facet, value)} · {counts.get(value, 0):,}",
        key=key,
        on_change=_took,
        args=(facet,),
        placeholder="any",
        help=HELP.get(facet),
        width=FACET,
        accept_new_options=free,
    )


def _named(facet: str, value: str) -> str:
    if facet == "noise":
        return level_said(value)
    if value != ABSENT:
        return value
    return f"no span, {decision_label('SPU' if facet == 'gold' else 'MIS')}"


def _took(facet: str) -> None:
    """Narrow the view down to the value chosen, or, with none, no longer by this facet."""
    view = state.view()
    value = st.session_state[f"{keys.WIDGET}facet-{facet}"]
    if facet == "decision":
        state.update(decision=() if value is None else (value,))
    elif facet in ("gold", "pred"):
        state.update(**{facet: () if value is None else (value,)})
    elif facet == "doc":
        state.update(doc=value or "")
    else:
        state.update(q=view_of(view, narrowed(query_of(view), facet, value)).q)
