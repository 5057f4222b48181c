"""The parts of the Inspect page: search, order and facets with live counts."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import pandas as pd
import streamlit as st

from nereval_core.glossary import DECISIONS, decision_label
from nereval_core.records.queries import ABSENT, ORDERS
from nereval_core.report.colours import LOOKS
from pages.shared.components.record_list import record_card
from pages.shared.present import stars
from pages.shared.verdicts import list as verdicts_list
from pages.shared.view import View, state
from pages.shared.view.queries import FIELDS, narrowed, query_of, search_of, view_of
from pages.shared.view.text import explained, level_said

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
"""Values of a facet that are offered, those with most records first."""
ORDER_WORDS = {
    "document": "document order",
    "text": "text",
    "gold": "gold type",
    "prediction": "predicted type",
    "decision": "decision",
    "longest": "longest first",
}


def error_card(here: Here, criterion: str, record: pd.Series) -> None:
    """Show the record chosen in its text, its star, and what is decided of it."""
    record_card(here, criterion, record)
    stars.draw_star(here, str(record["document"]), str(record["record"]))
    verdicts_list.list_below(here, record)


def search_and_order(here: Here) -> None:
    """Ask for words and for an order, side by side."""
    placeholder = "words of a span, or a document id"
    st.text_input("Search", placeholder=placeholder, **state.mirror("q", here.query().text, _take_text))
    order = state.mirror("order", here.view.ordered_by(), lambda word: state.put(state.view().with_sort(word)))
    st.selectbox("Order", ORDERS, format_func=ORDER_WORDS.__getitem__, width=ORDER, **order)


def _take_text(text: str) -> None:
    """Take the search text over; what else the search holds (boundaries, words, ...) stays unless it says otherwise."""
    typed = query_of(View(q=text))
    before = query_of(state.view())
    kept = {name: getattr(typed, name) or getattr(before, name) for name in FIELDS}
    state.update(q=search_of(replace(typed, **kept, having=typed.having or before.having)))


def choose_facets(here: Here) -> None:
    """Offer each facet's values with the number of records there would be; choosing one shows exactly these."""
    ledger, query = here.ledger(), here.query()
    shown = [facet for facet in LABELS if facet in ledger.offered or _chosen(here, facet)]
    counts = {facet: ledger.facet_counts(query, facet, VALUES) for facet in ("decision", *shown)}
    st.pills(
        "Decision",
        [code for code in DECISIONS if code in counts["decision"] or code in here.view.decision],
        format_func=lambda code: f"{LOOKS[code].glyph} {decision_label(code)} · {counts['decision'].get(code, 0):,}",
        help=explained(*DECISIONS),
        **_mirror("decision", here.view.decision[0] if len(here.view.decision) == 1 else None),
    )
    with st.container(horizontal=True):
        for facet in shown:
            _facet(facet, counts[facet], _chosen(here, facet), free=facet == "doc" and here.loaded.folder is not None)
        verdicts_list.verdict_facets(here, FACET)
    for sentence in ledger.said(query):
        st.caption(sentence)


def _chosen(here: Here, facet: str) -> str | None:
    value = getattr(here.query(), facet)
    if isinstance(value, tuple):
        return value[0] if len(value) == 1 else None
    return value or None


def _facet(facet: str, counts: dict[str, int], chosen: str | None, *, free: bool = False) -> None:
    """Offer the values of a facet; `free`: others may be typed."""
    options = list(counts)
    if chosen is not None and chosen not in options:
        options.append(chosen)
    st.selectbox(
        LABELS[facet],
        options,
        # Only so can a choice be taken back.
        index=None,
        format_func=lambda value: f"{_named(facet, value)} · {counts.get(value, 0):,}",
        **_mirror(facet, chosen),
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
        state.update(doc=value or "")
    else:
        state.update(q=view_of(view, narrowed(query_of(view), facet, value)).q)
