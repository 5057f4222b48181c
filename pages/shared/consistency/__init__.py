"""Consistency of one layer on Annotators: the choice of layer and question, the findings, and their places."""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

import streamlit as st

from nereval_core.analysis.consistency import Consistency
from nereval_core.analysis.consistency import consistency as find_inconsistencies
from nereval_core.analysis.consistency.indexed_layer import LetterCase
from nereval_core.analysis.consistency.kinds import KINDS
from nereval_core.analysis.consistency.tables import finding_table
from nereval_core.scoring.criteria import TypeRules
from nereval_core.scoring.type_merging import apply_rules
from pages.shared.components.tables import ROWS, first_row, show_table
from pages.shared.consistency.places import list_places
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
CASE_LABELS = {"differs": "Matter where annotated differently", "ignore": "Are one form", "keep": "Are two forms"}


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
    return replace(compute(loaded, "Consistency", find_inconsistencies, gold, systems, case=case), marks=marks)


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
            format_func=CASE_LABELS.__getitem__,
            required=True,
            help="Whether `GAS` and `gas` are one form: two where annotated differently, always one, or always two.",
        )


def choose_question(page: PageContext, consistency: Consistency) -> str:
    """Ask for the question, at first one that found something; return the name of the kind."""
    # The link has no word for the first question: whoever chose it is not led on from it.
    is_answered = st.session_state.get(keys.CONSISTENCY_ASKED) == consistency.signature
    first_with_findings = next((name for name, rows in consistency.found.items() if len(rows)), FIRST)
    kind = page.view.question or (FIRST if is_answered else first_with_findings)

    def take(name: str) -> None:
        st.session_state[keys.CONSISTENCY_ASKED] = consistency.signature
        state.put(replace(state.view(), question="" if name == FIRST else name))

    # Pills stand in several rows where there is little room; nothing is out of sight.
    st.pills(
        "Question",
        list(consistency.found),
        format_func=lambda name: f"{KINDS[name].title} · {len(consistency.found[name]):,}",
        **state.mirror("consistency_kind", kind, take),
        required=True,
        label_visibility="collapsed",
    )
    return kind


def draw_consistency(page: PageContext) -> None:
    """Draw what a careful reader would question within one layer; a finding opens its places."""
    consistency = inspect_layer(page)
    kind = choose_question(page, consistency)
    st.markdown(f"## {plain(consistency.sentence(kind), 400)}")
    cell = list_findings(page, consistency, kind)
    if cell is not None:
        list_places(page, consistency, kind, *cell)


def list_findings(page: PageContext, consistency: Consistency, kind: str) -> tuple[int, str] | None:
    """Show the table of findings; return the number of the chosen one and the column of the cell, None without one."""
    n_findings = len(consistency.found[kind])
    skipped = "".join(f" {line}." for line in (*consistency.found[kind].skipped, *consistency.skipped()))
    question = f"{KINDS[kind].question} {KINDS[kind].counted}{skipped}"
    if not n_findings:
        st.caption(plain(question, 600))
        return None
    first = first_row(n_findings, f"consistency_{kind}", page.view, "findings")
    table = finding_table(consistency, kind, consistency.table(kind, first + ROWS)[first:])
    cell = show_table(
        page,
        table,
        signature=consistency.signature,
        data=lambda: [consistency.table(kind)],
        rows=n_findings,
        choose=table.keys,
        facts=(page.view, first, consistency.signature),
        caption=f"{question} Choose a row to see all its places in their texts.",
        height=390,
    )
    return None if cell is None else (first + cell.row, cell.column)
