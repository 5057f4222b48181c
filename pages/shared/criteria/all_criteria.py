"""The numbers behind the ladder: every criterion and published scorer in a table that unfolds, each cell opening."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from nereval_core.analysis.criteria.convention_differences import (
    CriterionRow,
    criteria_rows,
    criteria_table,
    order_rows,
)
from nereval_core.analysis.criteria.gap import KINDS
from nereval_core.analysis.criteria.steps import Step, piece_table
from nereval_core.analysis.criteria.tables import all_criteria_table
from nereval_core.conventions import conventions
from nereval_core.conventions.records import OVERALL
from nereval_core.records.queries import overall_query
from nereval_core.report.figures.criteria import ladder_bars
from nereval_core.tables import RATIO_KEYS
from nereval_core.tables.glossary import GLOSSARY
from pages.shared.components.downloads import Export, with_system
from pages.shared.components.tables import ChosenCell, formula_box, open_records, show_table, table_export
from pages.shared.criteria.ladder import listed_under, steps_of
from pages.shared.data import caches
from pages.shared.data.convention_results import counts_of, figures_table, formula, records_of_count, values_of
from pages.shared.data.page_context import PageContext
from pages.shared.overview import published_scorer
from pages.shared.view.text import named, plain

COUNTS = ("COR", "POS", "ACT")
SPANS = 300_000
"""Spans on both sides together up to which what is counted by token stands beside the ladder: it takes longest."""


def as_read(page: PageContext) -> PageContext:
    """Return the page's state without merged types and types left out, which no published scorer knows."""
    settings = replace(page.settings, merge=(), leave_out=())
    return replace(page, settings=settings, view=replace(page.view, merge=(), leaveout=()))


def rows_of(page: PageContext, *, by_token: bool) -> tuple[CriterionRow, ...]:
    """Return the rows of our criteria in the order of the ladder, then those that are no steps."""
    tokens = [rule.name for rule in page.settings.criteria if rule.unit == "token"] if by_token else []
    rows = {row.name: row for row in criteria_rows(page.scores(names=tokens))}
    order = [step.criterion for step in steps_of(page)]
    return tuple(rows[name] for name in (*order, *(name for name in rows if name not in order)))


def are_few(page: PageContext) -> bool:
    """Tell whether there are so few spans that counting tokens takes no time."""
    return len(page.loaded.corpus.gold) + len(page.loaded.corpus.system(page.system)) <= SPANS


def show_numbers(page: PageContext, ours: Sequence[CriterionRow], scorers: Sequence[CriterionRow]) -> None:
    """Show the table; a count opens its records, a ratio its formula."""
    if not are_few(page):
        ours = rows_of(page, by_token=True)
    rows = order_rows(ours, scorers)
    steps = {step.criterion: step for step in steps_of(page)}
    table = all_criteria_table(rows, steps)
    cell = show_table(
        page,
        table,
        signature=page.signature(),
        data=_data(page, rows),
        file="criteria",
        choose=table.keys,
        figure=partial(_figure, page, rows),
        caption="Choose a number to see its records or how it is made, the name of a published scorer to see which "
        "spans it decides otherwise.",
        height=740,
    )
    if cell is not None:
        _open(page, rows[cell.row], cell, steps)


def numbers_export(page: PageContext, ours: Sequence[CriterionRow], scorers: Sequence[CriterionRow]) -> Export:
    """Return the table as files, which can be had as the figure too."""
    rows = order_rows(ours, scorers)
    table = all_criteria_table(rows, {step.criterion: step for step in steps_of(page)})
    figure = partial(_figure, page, rows)
    return table_export(table, page.signature(), data=_data(page, rows), file="criteria", figure=figure)


def _data(page: PageContext, rows: Sequence[CriterionRow]) -> pd.DataFrame:
    return with_system(criteria_table(rows).rename(columns={"signature": "signature of the row"}), page.system)


def _figure(page: PageContext, rows: Sequence[CriterionRow]) -> go.Figure:
    corpus = page.loaded.corpus
    n = (len(corpus.gold), len(corpus.system(page.system)), len(corpus.documents))
    return ladder_bars(piece_table(steps_of(page)), criteria_table(rows), page.system, n)


def _open(page: PageContext, row: CriterionRow, cell: ChosenCell, steps: Mapping[str, Step]) -> None:
    """Show what stands behind a cell: records of ours or of a published scorer, a formula, or where the two part."""
    column = cell.column
    st.caption(f"Signature of {plain(row.label)}")
    st.code(row.signature, language=None, wrap_lines=True)
    ratio = next((ratio for ratio, key in RATIO_KEYS.items() if key == column), "")
    if ratio:
        _open_ratio(page, row, ratio)
    elif row.evaluation and column in COUNTS:
        _open_scorer_count(page, row, column)
    elif row.evaluation:
        _differences_from_ours(page, row)
    elif column in COUNTS:
        query = overall_query(column)
        if query is not None:
            open_records(page, row.name, query, f"{GLOSSARY[column].label} under {named(row.name)}", name="every")
    elif (step := steps.get(row.name)) is not None and step.above:
        _open_step(page, step, column)
    else:
        st.caption("There is no step above to compare this one with.")


def _open_step(page: PageContext, step: Step, column: str) -> None:
    """Show the records that earn another credit than under the step above, those of a column where it has some."""
    queries = {kind: step.kind_query(kind) for kind in KINDS}
    queries |= {"gain": step.gain_query(True), "lose": step.gain_query(False)}
    words = {"gain": "that gain", "lose": "that lose"}.get(column, column if column in KINDS else "all")
    title = f"{named(step.above)} to {named(step.criterion)}, {words}"
    open_records(page, listed_under(page, step), queries.get(column, step.query()), title, name="every")


def _open_scorer_count(page: PageContext, row: CriterionRow, code: str) -> None:
    figure = conventions()[row.name].ratios.names.get(code)
    if figure is None:
        return
    outcome = caches.outcome(page.loaded, page.system, row.name)
    if (OVERALL, figure) not in counts_of(outcome, row.evaluation):
        st.caption(f"{plain(figure)} of {plain(row.label)} is not made of records.")
        return
    records = caches.outcome_records(page.loaded, page.system, row.name, row.evaluation)
    of_count = records_of_count(records, OVERALL, figure)
    published_scorer.open_scorer_count(page, outcome, of_count, figure, row.label)


def _open_ratio(page: PageContext, row: CriterionRow, ratio: str) -> None:
    if not row.evaluation:
        formula_box(page, row.name, ratio, page.scores(names=[row.name]).counts(row.name))
        return
    scorer = conventions()[row.name]
    figures = figures_table(caches.outcome(page.loaded, page.system, row.name), row.evaluation)
    calculation = formula(scorer, row.evaluation, scorer.ratios.names[ratio], values_of(figures.iloc[0]))
    if calculation:
        st.code(calculation, language=None, wrap_lines=True)
    st.caption(plain(f"{scorer.ratios.names[ratio]}: as laid down by {scorer.source}.", 400))


def _differences_from_ours(page: PageContext, row: CriterionRow) -> None:
    if row.criterion not in page.criteria:
        st.caption(f"{plain(row.criterion)}, which means the same, does not apply here.")
        return
    differing = caches.differing(page.loaded, page.system, row.name, row.evaluation, row.criterion)
    signed = f"{row.signature} / {page.signature(row.criterion)}"
    published_scorer.list_differences(page, differing, signed, row.label, row.criterion, name="parted")
