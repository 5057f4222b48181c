"""Records held against another system, on Inspect: who is right about the gold span, and what both predict wrongly."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from nereval_core.analysis.crosstab import are_comparable
from nereval_core.ledger import MemoryLedger
from nereval_core.ledger.attributes.systems import AGAINST, BOTH_RIGHT, BOTH_WRONG, ONLY_OTHER, ONLY_THIS, SPURIOUS_HERE
from nereval_core.records.queries import Query
from pages.shared.data.page_context import PageContext
from pages.shared.view import View, state
from pages.shared.view.queries import ERRORS, query_of, view_of
from pages.shared.view.text import plain

WORD = "against "
RIGHT = (BOTH_RIGHT, ONLY_THIS)
"""Values of correct records; records with any other value are in lists by default."""


def choose_other_system(page: PageContext) -> None:
    """Offer the records by who is right, this system or another one; nothing where there is no other."""
    rest = [name for name in page.systems if name != page.system]
    ledger = page.ledger()
    if not rest or not isinstance(ledger, MemoryLedger):
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


def _words(value: str, one: str, other: str) -> str:
    """Name the systems, as Markdown."""
    named = {
        ONLY_THIS: f"only {one} right",
        ONLY_OTHER: f"only {other} right",
        SPURIOUS_HERE: f"spurious in {one} only",
    }
    return plain(named.get(value, value))


def value_counts(ledger: MemoryLedger, query: Query, other: str) -> dict[str, int]:
    """Return how many records are listed once a value of AGAINST is chosen, with the decisions that it comes with."""
    right, wrong = (
        ledger.having_counts(replace(query, decision=_decisions(query, value)), WORD + other)
        for value in (BOTH_RIGHT, BOTH_WRONG)
    )
    return {value: (right if value in RIGHT else wrong)[value] for value in AGAINST}


def _decisions(query: Query, value: str) -> tuple[str, ...]:
    """Return the decisions asked for, changed where none of them could have the value."""
    if value in RIGHT:
        return query.decision if "COR" in query.decision else ("COR",)
    return query.decision if set(query.decision) - {"COR"} else ERRORS


def with_against(view: View, other: str, value: str | None) -> View:
    """Return the view that lists the records with a value of AGAINST; None takes it back."""
    query = query_of(view)
    rest = tuple(pair for pair in query.having if not pair[0].startswith(WORD))
    if value is None:
        decision = ERRORS if query.decision == ("COR",) else query.decision
        return replace(view_of(view, replace(query, having=rest, decision=decision)), beside=other)
    asked = replace(query, having=(*rest, (WORD + other, value)), decision=_decisions(query, value))
    return replace(view_of(view, asked), beside=other)


def _take_system(other: str) -> None:
    view = state.view()
    before = next((value for name, value in query_of(view).having if name.startswith(WORD)), None)
    state.put(with_against(view, other, before) if before else replace(view, beside=other))
