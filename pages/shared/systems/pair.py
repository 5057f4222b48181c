"""Two systems: their difference, the transitions from one to the other, and gold spans by how many are right."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pandas as pd
import streamlit as st

from nereval_core.analysis.comparison import Comparison
from nereval_core.analysis.crosstab import (
    ALL,
    NOT_PREDICTED,
    STATES,
    TITLES,
    Transitions,
    are_comparable,
    count_transitions,
    right_count_table,
    transition_sentence,
    transition_table,
)
from nereval_core.analysis.multiple_tests import are_significant
from nereval_core.analysis.resampling_units import ResamplingPlan
from nereval_core.analysis.sentences import holm_in_words
from nereval_core.ledger.attributes.comparisons import BOTH_RIGHT, BOTH_WRONG, ONLY_OTHER, ONLY_THIS
from nereval_core.problems import name_text
from nereval_core.records.queries import Query
from nereval_core.report.figures.comparison import difference_dots, right_bars
from nereval_core.report.references import HOLM, INTERVAL, RANDOMIZATION
from nereval_core.scoring.criteria import CRITERIA
from nereval_core.tables import p_value_sentence, signed
from pages.shared.components import sentence
from pages.shared.components.downloads import Export, count_figure, show_figure, table_key
from pages.shared.components.export_menu import method_notes
from pages.shared.components.tables import formula_box, open_records, show_table
from pages.shared.data.memo import memoized
from pages.shared.data.page_context import PageContext
from pages.shared.view import keys, state
from pages.shared.view.text import named, plain


def draw_pair(page: PageContext, comparison: Comparison, other: str) -> None:
    """Show F1 of another system less that of the chosen one, under each criterion, and the spans behind it."""
    rows = comparison.differences[comparison.differences["system"].eq(other)].reset_index(drop=True)
    row = rows[rows["criterion"].eq(page.by)].iloc[0]
    st.header("A and B")
    with st.container(horizontal=True, vertical_alignment="center"):
        ask_other(page, comparison, other)
        _offer_formula(page, comparison, other)
    _say_difference(page, comparison, row)
    figure = difference_dots(rows, page.system, other)
    show_figure(figure, "difference", (page.view,), file="difference", names=page.systems)
    _list_gold_spans(page, other, better=other if row["difference"] > 0 else page.system)


def other_system(page: PageContext, comparison: Comparison) -> str:
    """Return the system that the chosen one is compared with, by default the best of the others; "" without one."""
    if page.beside in comparison.scores:
        return page.beside
    rows = comparison.intervals[comparison.intervals["criterion"].eq(page.by)]
    others = rows[rows["system"].ne(page.system)].sort_values("f1", ascending=False, kind="stable")
    return str(others["system"].iat[0]) if len(others) else ""


def ask_other(page: PageContext, comparison: Comparison, other: str) -> None:
    """Ask for the second system, which is kept in the link; the first is that of the context bar."""
    rest = [name for name in comparison.scores if name != page.system]
    st.markdown(f"**A** {named(page.system)}, **B**", width="content")
    st.selectbox(
        "B, the system that A is compared with",
        rest,
        format_func=name_text,
        label_visibility="collapsed",
        width=320,
        **state.mirror("beside", other, state.take_beside),
    )


def _say_difference(page: PageContext, comparison: Comparison, row: pd.Series[Any]) -> None:
    if pd.isna(row["difference"]):
        st.markdown("No F1 of both to compare.")
    else:
        st.markdown(plain(difference_words(row, comparison.plan), 600))


def _offer_formula(page: PageContext, comparison: Comparison, other: str) -> None:
    """Show on a click how the two F1 that are compared are made."""
    with st.popover("How?", type="tertiary", key=f"{keys.LIST}difference", on_change="rerun") as popover:
        if popover.open:
            for system in (page.system, other):
                formula_box(page, page.by, "F1", comparison.scores[system].counts(page.by), None, system=system)
            st.markdown(method_notes(INTERVAL, RANDOMIZATION, HOLM))


def difference_words(row: pd.Series[Any], plan: ResamplingPlan) -> str:
    """Return F1 of a system less that of the baseline with interval and p, and whether that is significant.

    `row` has DIFFERENCE_COLUMNS.
    """
    system, baseline, gap = str(row["system"]), str(row["baseline"]), float(row["difference"])
    sentence = f"F1 of {system} less F1 of {baseline}: {signed(gap)}"
    if pd.isna(row["low"]):
        return f"{sentence}. {row['why']}"
    sentence += f" [{signed(row['low'])}, {signed(row['high'])}], {p_value_sentence(row['p'], plan.resamples)}"
    # The corrected p decides: without it, an interval beside 0 and a small p seem to contradict the sentence.
    if row["p_holm"] > row["p"]:
        over = holm_in_words(f"{row['tests']} pairs")
        sentence += f", {p_value_sentence(row['p_holm'], plan.resamples, row['p'])} {over}"
    if not are_significant(row.to_frame().T, plan.level).iloc[0]:
        return f"{sentence}: no significant difference."
    return f"{sentence}: {system if gap > 0 else baseline} is significantly better."


def _list_gold_spans(page: PageContext, other: str, better: str) -> None:
    """List the gold spans that one of the two, both or neither gets right; at first what the better alone has right."""
    if page.by in CRITERIA and CRITERIA[page.by].unit == "token":
        st.caption(f"{plain(page.by)} counts tokens: choose a matching criterion that counts spans to see them listed.")
        return
    labels = {
        ONLY_THIS: f"only {named(page.system)} right",
        ONLY_OTHER: f"only {named(other)} right",
        BOTH_RIGHT: "both right",
        BOTH_WRONG: "neither right",
    }
    ledger = page.ledger()
    # Every decision: what both get right is correct.
    queries = {value: Query(having=((f"against {other}", value),)) for value in labels}
    numbers = {value: ledger.total(query).records for value, query in queries.items()}
    value = st.segmented_control(
        page.words.by_names("Gold spans by which of the two is right"),
        list(labels),
        default=ONLY_OTHER if better == other else ONLY_THIS,
        format_func=lambda value: f"{labels[value]}: {numbers[value]:,}",
        required=True,
        label_visibility="collapsed",
        key=table_key(f"{keys.LIST}pair_right", page.view),
    )
    context = replace(page, view=replace(page.view, system=page.system, beside=other))
    title = f"Gold spans, {labels[str(value)]}"
    open_records(context, page.by, queries[str(value)], title, name="pair")


HOW = {
    "gold": "Every gold span, by what becomes of it in each system.",
    "pred": "Predictions are the same where document, boundaries and type are; several copies count as several.",
}


def draw_transitions(page: PageContext, other: str) -> None:
    """Show the transitions from the chosen system to another, and gold spans by the number of systems right."""
    st.header(f"Fixed, broken, changed, under {plain(page.by)}")
    if not are_comparable(page.scores(), page.scores(other), page.by):
        st.caption(
            f"{plain(page.by)} counts tokens: choose a matching criterion that counts spans to compare span by span."
        )
        return
    transitions = _transitions(page, other)
    sentence.draw(page, transition_sentence(transitions, page.system, other), "transitions")
    for place, side in zip(st.columns(2), STATES, strict=True):
        with place:
            cell = _matrix(page, transitions, other, side)
        if cell is not None:
            _opened(page, other, side, *cell)
    _right(page)


@memoized("Comparing span by span …")
def _transitions(page: PageContext, other: str) -> Transitions:
    return count_transitions(page.scores(), page.scores(other), page.by)


def _matrix(page: PageContext, transitions: Transitions, other: str, side: str) -> tuple[str, str] | None:
    """Show one matrix; return the states of the cell chosen."""
    states = (*STATES[side], ALL)
    title = f"{TITLES[side]}: {name_text(page.system)} down, {name_text(other)} across"
    st.markdown(f"**{plain(title)}**")
    table = transition_table(title, getattr(transitions, side), STATES[side])
    cell = show_table(
        page,
        replace(table, name=f"moved-{side}"),
        signature=f"{page.signature()} / {other}",
        file=f"{side}-transitions",
        choose=states,
        facts=(page.view, other),
        caption=HOW[side],
        height=None,
    )
    return None if cell is None else (states[cell.row], cell.column)


def cell_queries(baseline: str, other: str, side: str, state: str, then: str) -> tuple[str, Query] | None:
    """Return the system whose records a cell or margin counts, and the query; None for the corner without records."""
    name = "by" if side == "gold" else "predicted-by"
    whole = tuple(code for code in STATES[side] if code != NOT_PREDICTED)
    if NOT_PREDICTED in (state, then) and {state, then} <= {NOT_PREDICTED, ALL} and state != ALL:
        # Spans that only the other system predicts.
        return (other, Query(decision=whole, having=((f"{name} {baseline}", NOT_PREDICTED),))) if then == ALL else None
    if state == NOT_PREDICTED or (state == ALL and then not in (ALL, NOT_PREDICTED)):
        having = ((f"{name} {baseline}", NOT_PREDICTED),) if state == NOT_PREDICTED else ()
        return other, Query(decision=(then,), having=having)
    decision = whole if state == ALL else (state,)
    return baseline, Query(decision=decision, having=() if then == ALL else ((f"{name} {other}", then),))


def _opened(page: PageContext, other: str, side: str, state: str, then: str) -> None:
    if state == then == ALL and side == "pred":
        st.caption("Choose a margin or a cell: these are the records of two systems.")
        return
    of_cell = cell_queries(page.system, other, side, state, then)
    if of_cell is None:
        st.caption("What neither system predicts is not a record.")
        return
    system, query = of_cell
    context = page if system == page.system else page.of(system)
    title = f"{TITLES[side]}, {plain(state)} in {named(page.system)}, {plain(then)} in {named(other)}"
    open_records(context, page.by, query, title, name=f"moved_{side}")


def _right(page: PageContext) -> None:
    """Draw gold spans by how many systems get them right; a bar opens them."""
    table, figure = _right_by(page)
    spans = plain(page.words.by_names("Gold spans"))
    st.header(f"{spans} by how many systems get them right, under {plain(page.by)}")
    bar = count_figure(figure, "right", (page.view,), file="right-by")
    with st.container(horizontal=True, vertical_alignment="center"):
        names = table["right_by"].astype(str).tolist()
        Export(table, page.signature(), "right-by", key="right", figure=lambda: figure).draw()
        key = f"{keys.LIST}right_by"
        picked = st.pills("Right by", names, key=key, label_visibility="collapsed", help=None)
        st.caption("Choose a bar, or a number here, to see these spans.")
    label = str(bar[0]) if bar else picked
    if label in names:
        who = {"none": "no system gets", "1": "one system gets", "all": "all systems get"}
        title = f"Gold spans that {who.get(label, f'{label} systems get')} right"
        open_records(page, page.by, Query(having=(("right-by", label),)), title, name="right")


@memoized("Counting who gets what right …")
def _right_by(page: PageContext) -> tuple[pd.DataFrame, Any]:
    scores = [page.scores(system) for system in page.systems]
    table = right_count_table(scores, page.by)
    return table, right_bars(table, page.by, len(page.systems), scores[0].documents)
