"""Parts of the Consistency page: the choice of layer and question, and the table of findings."""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

import pandas as pd
import streamlit as st

from nereval_core.analysis.consistency import Consistency
from nereval_core.analysis.consistency import consistency as ask
from nereval_core.analysis.consistency.indexed_layer import LetterCase
from nereval_core.analysis.consistency.kinds import KINDS
from nereval_core.scoring.criteria import TypeRules
from nereval_core.scoring.type_merging import apply_rules
from pages.shared.components.count_table import ROWS, count_table, first_row
from pages.shared.components.downloads import Export
from pages.shared.data import reference_layer
from pages.shared.data.computations import compute
from pages.shared.data.loading import Loaded
from pages.shared.data.memo import memoized
from pages.shared.data.page_context import PageContext
from pages.shared.view import QUESTIONS, keys, state
from pages.shared.view.text import plain

FIRST, *_REST = KINDS
assert tuple(_REST) == QUESTIONS
NAMED = 60
"""Characters of the name of the layer."""
CASES: tuple[LetterCase, ...] = get_args(LetterCase)
CASES_SAID = {"differs": "Matter where annotated differently", "ignore": "Are one form", "keep": "Are two forms"}
_SHARE = "Of the places that stand for one way or another, the share of the most frequent way."
CALLED = {"types": "form", "not-everywhere": "form", "edges": "word", "nesting": "text", "odd-ends": "what"}
"""Heading of the first column of a table, by kind; "form" for all others."""


def inspect_layer(page: PageContext) -> Consistency:
    """Return the findings about the layer in gold's place, compared with all systems, under the types as scored."""
    rules = page.settings.rules_for(page.criterion)
    case = st.session_state.get(keys.CONSISTENCY_CASE, CASES[0])
    return _consistency(page.loaded, repr(rules), case, rules)


@memoized("Looking for what a careful reader would question …")
def _consistency(loaded: Loaded, written_rules: str, case: LetterCase, _rules: TypeRules) -> Consistency:
    corpus = loaded.corpus
    gold, *systems = (apply_rules(layer, _rules) for layer in (corpus.gold, *corpus.systems))
    # Masked texts say so in the signature of themselves.
    original = loaded.original or loaded
    marks = tuple(f"{name}: {mark}" for name, marks in original.marks.items() for mark in marks)
    return replace(compute(loaded, "Consistency", ask, gold, systems, case=case), marks=marks)


def choose_layer(page: PageContext) -> None:
    """Ask for the layer that is questioned, and whether capitals matter."""
    layer = page.view.reference or reference_layer.gold_name(page.loaded)
    with st.popover(plain(f"Layer: {layer}", NAMED), key=f"{keys.WIDGET}consistency_menu", width="content"):
        st.selectbox(
            "Layer",
            list(reference_layer.layers(page.loaded)),
            **reference_layer.mirror("consistency_layer", page.view, page.loaded),
            help="The layer that is questioned; the reference of the context bar. All others are compared with it.",
        )
        case = st.session_state.get(keys.CONSISTENCY_CASE, CASES[0])
        st.segmented_control(
            "Capitals and small letters",
            list(CASES),
            **state.mirror("consistency_case", case, state.keep(keys.CONSISTENCY_CASE)),
            format_func=CASES_SAID.__getitem__,
            required=True,
            help="Whether `GAS` and `gas` are one form: two where annotated differently, always one, or always two.",
        )


def choose_question(page: PageContext, found: Consistency) -> str:
    """Ask for the question, at first one that found something; return the name of the kind."""
    # The link has no word for the first question: whoever chose it is not led on from it.
    asked = st.session_state.get(keys.CONSISTENCY_ASKED) == found.signature
    some = next((name for name, rows in found.found.items() if len(rows)), FIRST)
    kind = page.view.question or (FIRST if asked else some)

    def take(name: str) -> None:
        st.session_state[keys.CONSISTENCY_ASKED] = found.signature
        state.put(replace(state.view(), question="" if name == FIRST else name))

    # Pills stand in several rows where there is little room; nothing is out of sight.
    st.pills(
        "Question",
        list(found.found),
        format_func=lambda name: f"{KINDS[name].title} · {len(found.found[name]):,}",
        **state.mirror("consistency_kind", kind, take),
        required=True,
        label_visibility="collapsed",
    )
    return kind


def sentence(found: Consistency, kind: str) -> str:
    return plain(found.sentence(kind), 400)


def list_findings(page: PageContext, found: Consistency, kind: str) -> tuple[int, str] | None:
    """Show the table of findings; return the number of the chosen one and the column of the cell, None without one."""
    every = len(found.found[kind])
    skipped = "".join(f" {line}." for line in (*found.found[kind].skipped, *found.skipped()))
    said = f"{KINDS[kind].question} {KINDS[kind].counted}{skipped}"
    if not every:
        st.caption(plain(said, 600))
        return None
    first = first_row(every, f"consistency_{kind}", page.view, "findings")
    part = found.table(kind, first + ROWS)[first:].reset_index(drop=True)
    shown = _shown(part, kind)
    column = st.column_config
    cell = count_table(
        shown,
        f"consistency_{kind}",
        (page.view, first, found.signature),
        columns={
            shown.columns[0]: column.TextColumn(shown.columns[0], width=250),
            "where": column.TextColumn("where", width=170),
            "how": column.TextColumn("how", width=430, help="How often each way."),
            "places": column.NumberColumn("places", width=75, format="localized", help="All places, of all ways."),
            "share": column.NumberColumn("share", width=65, format="percent", help=_SHARE),
            "settles": column.NumberColumn("settles", width=75, format="localized", help=KINDS[kind].counted),
        },
        export=Export(lambda: [found.table(kind)], found.signature, f"consistency-{kind}", key=kind, rows=every),
        caption=plain(f"{said} Choose a row to see all its places in their texts.", 800),
        height=390,
    )
    return None if cell is None else (first + cell[0], cell[1])


def _shown(part: pd.DataFrame, kind: str) -> pd.DataFrame:
    """Return the columns that the page shows; edge, type and share only where some finding has them."""
    some = [name for name in ("where", "share") if part[name].astype("bool").any() and part[name].notna().any()]
    columns = [
        name for name in ("what", "where", "settles", "places", "share", "how") if name in some or name in _ALWAYS
    ]
    return part[columns].rename(columns={"what": CALLED.get(kind, "form")})


_ALWAYS = ("what", "settles", "places", "how")
