"""The parts of the Consistency page: which layer, which question, and what was found."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, get_args

import pandas as pd
import streamlit as st

from nereval_core.analysis.consistency import Consistency
from nereval_core.analysis.consistency import consistency as ask
from nereval_core.analysis.consistency.kinds import KINDS
from nereval_core.analysis.consistency.letter_case import Case
from nereval_core.scoring import TypeRules, apply_rules
from pages.shared.components.downloads import export
from pages.shared.components.record_list import ROWS, first_row, selected_cell, steady_key
from pages.shared.data import reference_layer
from pages.shared.data.loading import GOLD
from pages.shared.view import CONSISTENCY_VIEWS, keys, state
from pages.shared.view.plain_text import plain

if TYPE_CHECKING:
    from pages.shared.frame import Here

LAYER, KIND = f"{keys.WIDGET}consistency_layer", f"{keys.WIDGET}consistency_kind"
FIRST, *_REST = KINDS
assert tuple(_REST) == CONSISTENCY_VIEWS
CASE = f"{keys.WIDGET}consistency_case"
CASES: tuple[Case, ...] = get_args(Case)
CASES_SAID = {"differs": "Matter where annotated differently", "ignore": "Are one form", "keep": "Are two forms"}
_SHARE = "Of the places that stand for one way or another, the share of the most frequent way."
CALLED = {"types": "form", "not-everywhere": "form", "edges": "word", "nesting": "text", "odd-ends": "what"}
"""What the first column of a table is called; where it is not said, a form."""


def asked(here: Here) -> Consistency:
    """Ask the layer in gold's place all there is to ask, held against all systems, under the types as scored."""
    rules = here.settings.rules_for(here.criterion)
    case = st.session_state.get(keys.CONSISTENCY_CASE, CASES[0])
    key = repr((here.loaded.number, here.loaded.reference, rules, case))
    return _asked(here.loaded.corpus.digest, key, here, rules, case)


@st.cache_resource(max_entries=4, show_spinner="Looking for what a careful reader would question …")
def _asked(digest: str, key: str, _here: Here, _rules: TypeRules, _case: Case) -> Consistency:
    corpus = _here.loaded.corpus
    gold, *systems = (apply_rules(layer, _rules) for layer in (corpus.gold, *corpus.systems))
    # Masked texts say so in the signature of themselves.
    known = _here.loaded.original or _here.loaded
    marks = tuple(f"{name}: {mark}" for name, some in known.marks.items() for mark in some)
    return replace(ask(gold, systems, case=_case), marks=marks)


def choices(here: Here, found: Consistency) -> str:
    """Ask for the layer and the question; return the name of the kind."""
    st.session_state[LAYER] = here.view.reference
    st.selectbox(
        "Layer",
        list(reference_layer.layers(here.loaded)),
        key=LAYER,
        format_func=lambda name: name or GOLD,
        on_change=lambda: state.put(reference_layer.moved(here.view, here.loaded, st.session_state[LAYER])),
        help="The layer that is questioned; the same as Taken as gold. All others are held against it.",
        width=280,
    )
    st.session_state[CASE] = found.given.case
    st.segmented_control(
        "Capitals and small letters",
        list(CASES),
        key=CASE,
        format_func=CASES_SAID.__getitem__,
        on_change=_took_case,
        required=True,
        help="Whether `GAS` and `gas` are one form: two where annotated differently, always one, or always two.",
    )
    kind = next((word for word in here.view.sort if word in found.found), FIRST)
    st.session_state[KIND] = kind
    # Pills stand in several rows where there is little room; nothing is out of sight.
    st.pills(
        "Question",
        list(found.found),
        format_func=lambda name: f"{KINDS[name].title} · {len(found.found[name]):,}",
        key=KIND,
        on_change=_took,
        required=True,
        label_visibility="collapsed",
    )
    for line in found.skipped():
        st.caption(plain(line))
    return kind


def _took_case() -> None:
    st.session_state[keys.CONSISTENCY_CASE] = st.session_state[CASE]


def _took() -> None:
    view, name = state.view(), st.session_state[KIND]
    for word in CONSISTENCY_VIEWS:
        view = view.with_sort(word, False)
    state.put(view if name == FIRST else view.with_sort(name))


def sentence(found: Consistency, kind: str) -> str:
    return plain(found.sentence(kind), 400)


def findings(here: Here, found: Consistency, kind: str) -> tuple[int, str] | None:
    """Show what was found; return the number of the finding chosen and the column of the cell, None without one."""
    every = len(found.found[kind])
    skipped = "".join(f" {line}." for line in found.found[kind].skipped)
    st.caption(plain(f"{KINDS[kind].question} {KINDS[kind].counted}{skipped}", 600))
    if not every:
        return None
    first = first_row(every, f"consistency_{kind}", here.view, "findings")
    part = found.table(kind, first + ROWS)[first:].reset_index(drop=True)
    shown = _shown(part, kind)
    column = st.column_config
    event = st.dataframe(
        shown,
        key=steady_key(f"{keys.TABLE}consistency_{kind}", here.view, first, found.signature),
        on_select="rerun",
        selection_mode="single-cell",
        hide_index=True,
        height=min(35 * (len(shown) + 1) + 3, 390),
        column_config={
            shown.columns[0]: column.TextColumn(shown.columns[0], width=250),
            "where": column.TextColumn("where", width=170),
            "how": column.TextColumn("how", width=430, help="How often each way."),
            "places": column.NumberColumn("places", width=75, format="localized", help="All places, of all ways."),
            "share": column.NumberColumn("share", width=65, format="percent", help=_SHARE),
            "settles": column.NumberColumn("settles", width=75, format="localized", help=KINDS[kind].counted),
        },
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        export(lambda: [found.table(kind)], found.signature, name=f"consistency-{kind}", key=kind, rows=every)
        st.caption("Choose a row to see all its places in their texts.")
    cell = selected_cell(event, len(part), list(shown.columns))
    return None if cell is None else (first + cell[0], cell[1])


def _shown(part: pd.DataFrame, kind: str) -> pd.DataFrame:
    """Return the columns that the page shows; which edge of which type only where that is said."""
    some = [name for name in ("where", "share") if part[name].astype("bool").any() and part[name].notna().any()]
    columns = [
        name for name in ("what", "where", "settles", "places", "share", "how") if name in some or name in _ALWAYS
    ]
    return part[columns].rename(columns={"what": CALLED.get(kind, "form")})


_ALWAYS = ("what", "settles", "places", "how")
