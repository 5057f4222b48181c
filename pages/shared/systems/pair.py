"""Two systems on the Systems page: which is better and by how much, and the gold spans that tell them apart."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pandas as pd
import streamlit as st

from nereval_core.analysis.comparison import Comparison
from nereval_core.analysis.multiple_tests import are_significant
from nereval_core.analysis.resampling_units import ResamplingPlan
from nereval_core.ledger.attributes.comparisons import BOTH_RIGHT, BOTH_WRONG, ONLY_OTHER, ONLY_THIS
from nereval_core.records.queries import Query
from nereval_core.report.figures.comparison import difference_dots
from nereval_core.report.method_terms import HOLM, INTERVAL, RANDOMIZATION
from nereval_core.scoring.criteria import CRITERIA
from nereval_core.tables import p_value_sentence, signed
from pages.shared.components import navigation
from pages.shared.components.export_menu import method_notes
from pages.shared.components.figures import show_figure
from pages.shared.components.tables import formula_box
from pages.shared.data import caches
from pages.shared.data.page_context import PageContext
from pages.shared.view import keys, state
from pages.shared.view.queries import view_of
from pages.shared.view.text import plain


def draw_pair(page: PageContext, comparison: Comparison, other: str) -> None:
    """Show the difference of the chosen system from another one, under each criterion, and the spans behind it."""
    rows = comparison.differences[comparison.differences["system"].eq(other)].reset_index(drop=True)
    row = rows[rows["criterion"].eq(page.by)].iloc[0]
    with st.container(horizontal=True, vertical_alignment="center"):
        _ask_other(page, other)
        _say_difference(page, comparison, row)
        _offer_formula(page, comparison, other)
    show_figure(difference_dots(rows, page.system, other), "difference", (page.view,), file="difference")
    _link_counts(page, other)


def other_system(page: PageContext) -> str:
    """Return the system that the chosen one is compared with, "" where there is none."""
    return page.beside or next((name for name in page.systems if name != page.system), "")


def _ask_other(page: PageContext, other: str) -> None:
    """Ask for the second system, which is kept in the link; the first is that of the context bar."""
    rest = [name for name in page.systems if name != page.system]
    st.markdown(f"**{plain(page.system)}** vs", width="content")
    st.selectbox(
        "Compare with",
        rest,
        label_visibility="collapsed",
        width=180,
        **state.mirror("beside", other, state.take_beside),
    )


def _say_difference(page: PageContext, comparison: Comparison, row: pd.Series[Any]) -> None:
    if pd.isna(row["difference"]):
        st.markdown("No F1 of both to compare.", width="content")
    else:
        st.markdown(plain(difference_words(row, page.system, comparison.plan), 400), width="content")


def _offer_formula(page: PageContext, comparison: Comparison, other: str) -> None:
    """Show on a click how the two F1 that are compared are made."""
    with st.popover("How?", type="tertiary", key=f"{keys.LIST}difference", on_change="rerun") as popover:
        if popover.open:
            for system in (page.system, other):
                formula_box(page, page.by, "F1", comparison.scores[system].counts(page.by), None, system=system)
            st.markdown(method_notes(INTERVAL, RANDOMIZATION, HOLM))


def difference_words(row: pd.Series[Any], system: str, plan: ResamplingPlan) -> str:
    """Return F1 of the system less that of another one with interval and p, and whether that is significant.

    `row` has DIFFERENCE_COLUMNS: there the other system is compared with this one, so that signs change.
    """
    other, gap = str(row["system"]), -float(row["difference"])
    sentence = f"{signed(gap)} F1"
    if pd.isna(row["low"]):
        return f"{sentence}. {row['why']}"
    sentence += f" [{signed(-row['high'])}, {signed(-row['low'])}], {p_value_sentence(row['p'], plan.resamples)}"
    # The corrected p decides: without it, an interval beside 0 and a small p seem to contradict the sentence.
    sentence += f", {p_value_sentence(row['p_holm'])} after Holm's correction: " if row["p_holm"] > row["p"] else ": "
    if not are_significant(row.to_frame().T, plan.level).iloc[0]:
        return f"{sentence}no significant difference."
    return f"{sentence}{system if gap > 0 else other} is significantly better."


def _link_counts(page: PageContext, other: str) -> None:
    """Link the gold spans that one of the two, both or neither gets right to their list in Inspect."""
    if page.by in CRITERIA and CRITERIA[page.by].unit == "token":
        st.caption(f"{plain(page.by)} counts tokens: choose a matching criterion that counts spans to see them listed.")
        return
    ledger = caches.ledger(page.loaded, page.system, page.settings, page.by)
    parts = (
        (f"only {plain(page.system)} right", ONLY_THIS),
        (f"only {plain(other)} right", ONLY_OTHER),
        ("both right", BOTH_RIGHT),
        ("neither right", BOTH_WRONG),
    )
    view = replace(page.view, criterion=page.by, system=page.system, beside=other)
    with st.container(horizontal=True, gap="medium"):
        for label, value in parts:
            # Every decision: what both get right is correct.
            query = Query(having=((f"against {other}", value),))
            number = ledger.total(query).records
            navigation.link_to("Inspect", f"{label}: :primary[**{number:,}** →]", view_of(view, query))
