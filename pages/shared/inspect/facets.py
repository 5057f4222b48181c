"""The facets of the records: their values with counts, in a column beside the queue or, where it is narrow, unfolded.

One facet compares with another system: who is right about the gold span, and what both predict wrongly. It takes
longer, and is counted once it is asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
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
from nereval_core.problems import capitalised, name_text
from nereval_core.records.queries import ABSENT, Query, in_documents, narrowed
from nereval_core.review.standing_verdicts import Moment
from pages.shared.components.component_events import EVENTS, Event, acknowledged, apply_events
from pages.shared.components.highlighted_text import DRAWING
from pages.shared.data import verdict_store
from pages.shared.data.memo import memoized
from pages.shared.data.page_context import PageContext
from pages.shared.server.component_files import component
from pages.shared.verdicts import list as verdicts_list
from pages.shared.view import View, keys, state
from pages.shared.view.queries import ERRORS, query_of, search_of, view_of
from pages.shared.view.text import level_said

_HERE = Path(__file__).parent
KEY = f"{keys.WIDGET}facets"
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
HELP = {
    "period": "The decade of the document's date.",
    "noise": "How noisy the gold span is: the edit distance of the OCR's text from the right one, by its length.",
}
NAMES = ("gold", "pred", "doc")
"""Facets whose values are names of the data."""
VALUES = 200
"""Values of a facet that are offered, those with most records first."""
IN_DOCUMENTS = "in "
"""The beginning of an attribute of records that lie in some documents, see `in_documents`."""
AGAINST_FACET = "against"
_AGAINST_WORD = "against "
RIGHT = (BOTH_RIGHT, ONLY_THIS)
"""Values of correct records; records with any other value are in lists by default."""
_mount = component(
    "nereval_facets",
    css=(_HERE / "facets.css").read_text(encoding="utf-8"),
    js=DRAWING + EVENTS + (_HERE / "facets.js").read_text(encoding="utf-8"),
)


def draw_facets(page: PageContext) -> None:
    """Show the facets."""
    _mount(data=facets_data(page), key=KEY, on_out_change=partial(_take_event, page))


def apply_event(page: PageContext) -> bool:
    """Narrow the view down as the reader has chosen; return whether there was anything to do."""
    return apply_events(KEY, partial(_apply, page))


def _take_event(page: PageContext) -> None:
    apply_event(page)


def _apply(page: PageContext, _: Event, event: Event) -> None:
    facet, value = str(event["facet"]), None if event["value"] is None else str(event["value"])
    if event["act"] == "compare":
        st.session_state[keys.COMPARED] = page.loaded.id
        if value is not None:
            _take_system(value)
    elif facet == AGAINST_FACET:
        state.put(with_against(state.view(), _other(page), value))
    elif facet in verdicts_list.FACETS:
        verdicts_list.narrow(facet, value)
    elif facet in LABELS or facet == "decision":
        narrow(facet, value)


def facets_data(page: PageContext) -> dict[str, Any]:
    """Return all that the component is sent."""
    now = verdict_store.now().moment
    facets = [*_facets(page, page.query(), now), *verdicts_list.verdict_facets(page)]
    compared = _compared(page)
    if compared is not None:
        facets.append(compared)
    return {**acknowledged(KEY), "facets": facets, "chosen": sum(facet["on"] is not None for facet in facets)}


@memoized()
def _facets(page: PageContext, query: Query, moment: Moment) -> list[dict[str, Any]]:
    """Return the facets of a query; what it asks for may depend on the verdicts of a moment."""
    ledger = page.ledger()
    facets = []
    for facet in LABELS:
        on = _chosen(query, facet)
        if facet not in ledger.offered and on is None:
            continue
        counts = _counts(ledger, query, facet)
        values = [*counts, *([on] if on is not None and on not in counts else [])]
        facets.append(
            {
                "name": facet,
                "label": LABELS[facet] or capitalised(page.words.of_side("type", facet)),
                "help": HELP.get(facet, ""),
                "values": [[value, _named(page, facet, value), counts.get(value, 0)] for value in values],
                "on": on,
                # Of a scored folder not all documents are offered: others may be typed.
                "free": facet == "doc" and not ledger.is_in_memory,
            }
        )
    return facets


def _counts(ledger: Ledger, query: Query, facet: str) -> dict[str, int]:
    if facet == "doc":
        query = replace(query, having=tuple(pair for pair in query.having if not pair[0].startswith(IN_DOCUMENTS)))
    return ledger.facet_counts(query, facet, VALUES)


def _chosen(query: Query, facet: str) -> str | None:
    if facet == "doc":
        listed = [name for name, _ in query.having if name.startswith(IN_DOCUMENTS)]
        return unquote(listed[0].removeprefix(IN_DOCUMENTS)) if listed else query.doc or None
    value = getattr(query, facet)
    if isinstance(value, tuple):
        return value[0] if len(value) == 1 else None
    return value or None


def _named(page: PageContext, facet: str, value: str) -> str:
    if facet == "noise":
        return level_said(value)
    if value != ABSENT:
        return name_text(value) if facet in NAMES else value
    return f"no span, {page.words.label('SPU' if facet == 'gold' else 'MIS')}"


def narrow(facet: str, value: str | None) -> None:
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


def _other(page: PageContext) -> str:
    """Return the system that the chosen one is held against: of the query, the view, or the first other one."""
    others = [name for name in page.systems if name != page.system]
    active = _active(page.query())
    named = active[0].removeprefix(_AGAINST_WORD) if active else page.beside
    return named if named in others else next(iter(others), "")


def _active(query: Query) -> tuple[str, str] | None:
    return next((pair for pair in query.having if pair[0].startswith(_AGAINST_WORD)), None)


def _compared(page: PageContext) -> dict[str, Any] | None:
    """Return the facet of who is right, this system or another one; None where there is no other."""
    others = [name for name in page.systems if name != page.system]
    ledger, query = page.ledger(), page.query()
    if not others or not ledger.is_in_memory:
        return None
    other, active = _other(page), _active(query)
    facet: dict[str, Any] = {
        "name": AGAINST_FACET,
        "label": f"{name_text(page.system)} and {name_text(other)}",
        "help": page.words.by_names("Gold spans, and predictions without one."),
        "values": [],
        "on": active[1] if active else None,
        "free": False,
        "systems": others,
        "system": other,
        "counted": False,
        "note": "",
    }
    if page.criterion.unit == "token" or not are_comparable(page.scores(), page.scores(other), page.by):
        return facet | {"note": f"{page.by} counts tokens: choose a matching criterion that counts spans."}
    if active is None and st.session_state.get(keys.COMPARED) != page.loaded.id:
        return facet
    counts = _against_counts(page, other, query, verdict_store.now().moment)
    values = [[value, _words(value, page.system, other), counts[value]] for value in AGAINST]
    return facet | {"values": values, "counted": True}


@memoized()
def _against_counts(page: PageContext, other: str, query: Query, moment: Moment) -> Mapping[str, int]:
    return value_counts(page.ledger(), query, other)


def _words(value: str, system: str, other: str) -> str:
    named = {
        ONLY_THIS: f"only {name_text(system)} right",
        ONLY_OTHER: f"only {name_text(other)} right",
        SPURIOUS_HERE: f"spurious in {name_text(system)} only",
    }
    return named.get(value, value)


def value_counts(ledger: Ledger, query: Query, other: str) -> dict[str, int]:
    """Return how many records are listed once a value of AGAINST is chosen, with the decisions that it comes with."""
    right, wrong = (
        ledger.having_counts(replace(query, decision=_decisions_with(query, value)), _AGAINST_WORD + other)
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
    remaining = tuple(pair for pair in query.having if not pair[0].startswith(_AGAINST_WORD))
    if value is None:
        decision = ERRORS if query.decision == ("COR",) else query.decision
        return replace(view_of(view, replace(query, having=remaining, decision=decision)), beside=other)
    having = (*remaining, (_AGAINST_WORD + other, value))
    return replace(view_of(view, replace(query, having=having, decision=_decisions_with(query, value))), beside=other)


def _take_system(other: str) -> None:
    view = state.view()
    active = _active(query_of(view))
    state.put(with_against(view, other, active[1]) if active else replace(view, beside=other))
