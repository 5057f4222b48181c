"""Parts of the Systems page: systems with intervals, differences from the chosen one, ranks, all pairs."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from typing import Any

import pandas as pd
import streamlit as st

from nereval_core.analysis.comparison import Comparison, compare_scores, headline
from nereval_core.analysis.comparison.significance import by_type_tables, difference_table
from nereval_core.analysis.comparison.tables import (
    baseline_table,
    order_table,
    pair_table,
    power_table,
    rank_table,
    score_table,
    tau_table,
)
from nereval_core.analysis.resampling_units import ResamplingPlan
from nereval_core.report.figures.comparison import leaderboard as leaderboard_figure
from nereval_core.report.references import (
    FALSE_DISCOVERY,
    HOLM,
    INTERVAL,
    LEAST_DIFFERENCE,
    RANDOMIZATION,
    SEVERAL_RUNS,
)
from nereval_core.scoring import Counts, Scores
from nereval_core.scoring.criteria import SCHEMAS
from pages.shared.components import navigation, sentence
from pages.shared.components.downloads import count_figure
from pages.shared.components.export_menu import explain_methods
from pages.shared.components.tables import formula_box
from pages.shared.data.computations import compute
from pages.shared.data.memo import key_of, memoized
from pages.shared.data.page_context import PageContext
from pages.shared.systems import tables as parts
from pages.shared.systems.tables import interval_words, plan_of, test_words, units_of
from pages.shared.view import keys
from pages.shared.view.text import capitalised, plain


def shown_criteria(page: PageContext, everything: bool) -> tuple[str, ...]:
    """Return the criteria that are compared: the schemas and the chosen one, or all; the chosen one first."""
    few = dict.fromkeys((*SCHEMAS, page.by))
    names = [name for name in page.criteria if everything or name in few]
    return (page.by, *(name for name in names if name != page.by))


def comparison_of(page: PageContext, names: tuple[str, ...]) -> Comparison:
    """Compare all systems with the one chosen under some criteria."""
    return _comparison(page, names, plan_of(page))


@key_of.register
def _(comparison: Comparison) -> Hashable:
    # It is an argument beside the page that it is of.
    return comparison.plan


def scores_of(comparison: Comparison) -> dict[str, Scores]:
    """Return the scores that were compared: on pages they are of layers in memory."""
    return {name: scores for name, scores in comparison.scores.items() if isinstance(scores, Scores)}


@memoized("Resampling …")
def _comparison(page: PageContext, names: tuple[str, ...], plan: ResamplingPlan) -> Comparison:
    systems = (page.system, *(name for name in page.systems if name != page.system))
    scored = {name: page.scores(name, names) for name in systems}
    units = units_of(page)
    return compute(
        page.loaded,
        "Resampling",
        compare_scores,
        scored,
        names=names,
        baseline=page.system,
        plan=plan,
        units=units,
        pairwise=False,
    )


@memoized("Resampling, by type …")
def _by_type(page: PageContext, comparison: Comparison) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    scores = scores_of(comparison)
    return compute(
        page.loaded,
        "Resampling, by type",
        by_type_tables,
        scores,
        page.by,
        comparison.plan,
        page.system,
        comparison.units,
    )


@memoized("Comparing each system with each …")
def _pairs(page: PageContext, comparison: Comparison) -> pd.DataFrame:
    return compute(page.loaded, "Comparing each with each", _differences, comparison, page.by)


def _differences(comparison: Comparison, criterion: str) -> pd.DataFrame:
    return difference_table(comparison.resamples([criterion]))


def say_comparison(page: PageContext, comparison: Comparison) -> None:
    """Say in sentences what the tables show."""
    if len(page.systems) == 1:
        st.info("There is one system only: upload another prediction of the same gold at Start to compare the two.")
    opening = headline(comparison.intervals, comparison.plan, comparison.units)
    lines = comparison.words
    if opening is not None:
        view = replace(page.view, system=opening.system)
        with st.container(horizontal=True, gap=None, key="sentence-best"):
            st.markdown(sentence.run_on(capitalised(opening.before, page.systems)), width="content")
            navigation.link_to("Overview", f":primary[{opening.f1}]", view)
            st.markdown(sentence.run_on(f"{opening.after}."), width="content")
        lines = lines[1:]
    for line in lines:
        st.markdown(plain(f"{capitalised(line, page.systems)}.", 1_000))
    parts.show_warnings(comparison.warnings)
    parts.choose_units(page)
    several = len(page.systems) > 1
    explain_methods(
        INTERVAL, *((RANDOMIZATION, HOLM, FALSE_DISCOVERY, LEAST_DIFFERENCE, SEVERAL_RUNS) if several else ())
    )


def scores_by_criterion(page: PageContext, comparison: Comparison) -> None:
    """Show F1 of each system under each criterion; a cell opens its formula, interval and difference."""
    level = comparison.plan.level
    ordered = rows_by_place(comparison.intervals, comparison, page.by)
    plan, units = comparison.plan, comparison.units
    table = score_table("F1 by matching criterion", ordered, comparison.differences, comparison.leads, level)
    cell = parts.comparison_table(
        page,
        comparison.scores,
        table,
        comparison.intervals,
        choose=table.keys[1:],
        caption=f"{interval_words(plan, units)}. {test_words(plan, units)}; the baseline is {page.system}, the system "
        "of the context bar.",
        figure=lambda: _leaderboard(page, comparison),
    )
    if cell is not None:
        _open_score(page, comparison, cell.column, str(table.rows[cell.row][0]), "scores")


def _open_score(page: PageContext, comparison: Comparison, criterion: str, system: str, place: str) -> None:
    row, difference = (
        _row(table, criterion=criterion, system=system) for table in (comparison.intervals, comparison.differences)
    )
    assert row is not None, "every system has a score under every criterion"
    parts.score_box(page, criterion, system, comparison.scores[system].counts(criterion), row, difference, place=place)


def leaderboard(page: PageContext, comparison: Comparison) -> None:
    """Draw F1 of all systems under the chosen criterion, the best on top."""
    point = count_figure(_leaderboard(page, comparison), "leaderboard", (page.view,), file="leaderboard")
    if point and str(point[0]) in comparison.scores:
        _open_score(page, comparison, page.by, str(point[0]), "leaderboard")


@memoized()
def _leaderboard(page: PageContext, comparison: Comparison) -> Any:
    rows = comparison.intervals[comparison.intervals["criterion"] == page.by]
    words = f"{comparison.plan.level:.0%} intervals, {comparison.plan.resamples:,} resamples"
    return leaderboard_figure(rows, page.system, words, (comparison.units.singular, comparison.units.plural))


def baseline_differences(page: PageContext, comparison: Comparison) -> None:
    """Show each system's difference to the baseline under the chosen criterion with interval and p."""
    rows = rows_by_place(comparison.differences[comparison.differences["criterion"] == page.by], comparison, page.by)
    table = baseline_table(comparison, rows, comparison.family, page.by)
    cell = parts.comparison_table(page, comparison.scores, table, rows, choose=table.keys)
    if cell is not None:
        _open_score(page, comparison, page.by, str(table.rows[cell.row][0]), "differences")


def power(page: PageContext, comparison: Comparison) -> None:
    """Show on a click what differences this corpus can show, and how many units one point of F1 needs."""
    with st.expander("What can this corpus show?", key=f"{keys.LIST}power", on_change="rerun") as opened:
        if opened.open:
            rows = rows_by_place(comparison.power[comparison.power["criterion"] == page.by], comparison, page.by)
            parts.comparison_table(page, comparison.scores, power_table(comparison, rows, page.by), rows)


def by_type(page: PageContext, comparison: Comparison) -> None:
    """Show F1 by type of each system under the chosen criterion; of very many documents when asked to."""
    key, is_slow = f"{keys.WIDGET}compare_types", len(page.loaded.corpus.documents) > parts.MANY
    if is_slow and not st.toggle("Compare by type", key=key, help="Of so many documents it takes a while."):
        return
    name = page.by
    intervals, against, leads = _by_type(page, comparison)
    if intervals.empty:
        st.caption("There are no spans.")
        return
    intervals = rows_by_place(intervals, comparison, name)
    table = score_table(f"F1 by type under {name}", intervals, against, leads, comparison.plan.level, "type")
    caption = "Holm's correction is over the systems, within each type. Choose a cell to see how it is made."
    cell = parts.comparison_table(page, comparison.scores, table, intervals, choose=table.keys[1:], caption=caption)
    if cell is None:
        return
    system, kind = str(table.rows[cell.row][0]), cell.column
    row, difference = (_row(each, type=kind, system=system) for each in (intervals, against))
    assert row is not None, "every system has a row for every type"
    counts = comparison.scores[system].by_type(name).get(kind, Counts())
    parts.score_box(page, name, system, counts, row, difference, place="types")


def order_of_systems(page: PageContext, comparison: Comparison) -> None:
    """Show the place of each system under each criterion, and how surely the best is the best."""
    table = order_table(comparison, page.by)
    parts.comparison_table(page, comparison.scores, table, table.to_frame())
    places = rank_table(rows_by_place(comparison.intervals, comparison, page.by))
    parts.comparison_table(page, comparison.scores, places, places.to_frame())
    if len(comparison.taus) > 1 and len(page.systems) > 2:
        with st.expander("Kendall's tau between all criteria", key=f"{keys.LIST}taus", on_change="rerun") as opened:
            if opened.open:
                parts.comparison_table(page, comparison.scores, tau_table(comparison.taus), comparison.taus)


def pairwise_differences(page: PageContext, comparison: Comparison) -> None:
    """Show the difference of each two systems; a cell says its interval and p."""
    rows = _pairs(page, comparison)
    table = pair_table(rows, list(page.systems), comparison.plan.level, page.by)
    caption = f"F1 of the row's system less that of the column's. {table.notes[0]}."
    cell = parts.comparison_table(page, comparison.scores, table, rows, choose=table.keys[1:], caption=caption)
    if cell is None:
        return
    row_system, column_system = str(table.rows[cell.row][0]), cell.column
    both = rows[rows["system"].isin([row_system, column_system]) & rows["baseline"].isin([row_system, column_system])]
    if row_system == column_system or both.empty:
        return
    with st.container(border=True):
        parts.say_difference(page, page.by, both.iloc[0], place="pairs")
        for system in (row_system, column_system):
            formula_box(page, page.by, "F1", comparison.scores[system].counts(page.by), None, system=system)


def rows_by_place(table: pd.DataFrame, comparison: Comparison, criterion: str) -> pd.DataFrame:
    """Return rows with the best system under a criterion first; within a system they stay in their order."""
    rows = comparison.intervals[comparison.intervals["criterion"] == criterion]
    order = rows.sort_values("f1", ascending=False, kind="stable", na_position="last")["system"].tolist()
    return table.sort_values("system", key=lambda names: names.map(order.index), kind="stable")


def _row(table: pd.DataFrame, **values: str) -> pd.Series[Any] | None:
    """Return the first row with these values, None where there is none."""
    for name, value in values.items():
        table = table[(table[name] == value).to_numpy()]
    return table.iloc[0] if len(table) else None
