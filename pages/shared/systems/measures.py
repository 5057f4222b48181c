"""Measures beside F1, and means over several runs of a system."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pandas as pd
import streamlit as st

from nereval_core.analysis.comparison import Comparison
from nereval_core.analysis.comparison.measures import MEASURES
from nereval_core.analysis.comparison.runs import RunComparison, compare_runs, group_runs, name_runs, suggest_runs
from nereval_core.analysis.comparison.significance import measure_tables
from nereval_core.analysis.comparison.tables import baseline_table, measure_table, run_table
from nereval_core.problems import FormatError, name_text
from pages.shared.components.downloads import table_key
from pages.shared.data import masks
from pages.shared.data.computations import compute, resample
from pages.shared.data.memo import memoized
from pages.shared.data.page_context import PageContext
from pages.shared.systems import rows_by_place, scores_of
from pages.shared.systems import tables as parts
from pages.shared.systems.ranking import SCORERS
from pages.shared.view import keys
from pages.shared.view.text import show_problems

SCORERS_HELP = "Their precision, recall and F1 join the table, under their own rules and over types as they were read."
BY_TYPE_HELP = "Also the measures of each type, besides those of all types together."


@memoized("Resampling each measure …")
def _tables(
    page: PageContext, comparison: Comparison, by_type: bool, scorers: tuple[str, ...]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    return compute(
        page.loaded,
        "Resampling measures",
        measure_tables,
        scores_of(comparison),
        [page.by],
        MEASURES,
        page.system,
        comparison.plan,
        comparison.units,
        by_type=by_type,
        scorers=scorers,
    )


def measures(page: PageContext, comparison: Comparison) -> None:
    """Show on a click the measures with intervals and, of several systems, their tests."""
    title = "Precision, recall, macro averages and published scorers"
    with st.expander(title, key=f"{keys.LIST}measures", on_change="rerun") as opened:
        if not opened.open:
            return
        scorers = st.multiselect("Published scorers", SCORERS, key=f"{keys.WIDGET}scorers", help=SCORERS_HELP)
        by_type = st.toggle("Each type", key=f"{keys.WIDGET}measures_by_type", help=BY_TYPE_HELP)
        applicable, refused = [], []
        for name in scorers:
            try:
                _tables(page, comparison, by_type, (name,))
            except FormatError as error:
                refused += [masks.mask_message(str(problem)) for problem in error.problems]
            else:
                applicable.append(name)
        if refused:
            show_problems(refused)
        _draw(page, comparison, *_tables(page, comparison, by_type, tuple(applicable)), title)


def _draw(page: PageContext, comparison: Comparison, values: pd.DataFrame, apart: pd.DataFrame, title: str) -> None:
    rows = rows_by_place(values, comparison, page.by)
    measured = replace(comparison, measures=values, measure_differences=apart)
    table = measure_table(measured, f"{title} under {page.by}", rows, apart, measured.measure_family)
    parts.comparison_table(page, comparison.scores, table, rows)


HELP = "Trained again from other seeds, say. Those whose names differ in their last number only are suggested."


def draw_runs(page: PageContext, comparison: Comparison) -> None:
    """Ask on a click which systems are runs of one, and show means over runs with intervals and tests."""
    with st.expander("Several runs of a system", key=f"{keys.LIST}runs", on_change="rerun") as opened:
        if not opened.open:
            return
        runs_of_system = _chosen(page, tuple(comparison.scores))
        if not runs_of_system:
            st.caption("Choose two systems or more that are runs of one: their mean is then compared.")
            return
        compared = _compared(page, comparison, tuple(runs_of_system.items()))
        _mean_table(page, comparison, compared)
        parts.show_warnings(compared.notes, page.systems)


def _chosen(page: PageContext, systems: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Ask for the runs of one system after the other; a system is called by what its runs' names share."""
    runs_of_system: dict[str, tuple[str, ...]] = {}
    free, suggested = list(systems), suggest_runs(systems)
    with st.container(horizontal=True, gap="medium"):
        while len(free) > 1:
            number = len(runs_of_system)
            runs = st.multiselect(
                "Runs of another system" if number else "Runs of one system",
                free,
                format_func=name_text,
                default=[
                    suggestion
                    for suggestion in (suggested[number] if number < len(suggested) else ())
                    if suggestion in free
                ],
                key=table_key(f"{keys.WIDGET}runs_{number}", page.view.corpus, tuple(free)),
                placeholder="systems",
                help=HELP,
                width=420,
            )
            if len(runs) < 2:
                break
            runs_of_system[name_runs(runs, [*systems, *runs_of_system])] = tuple(runs)
            free = [name for name in free if name not in runs]
    return runs_of_system


@memoized()
def _compared(
    page: PageContext, comparison: Comparison, runs_of_system: tuple[tuple[str, tuple[str, ...]], ...]
) -> RunComparison:
    systems = group_runs(comparison.scores, dict(runs_of_system))
    baseline = next(system for system, runs in systems.items() if page.system in runs)
    return resample(comparison.resamples([page.by]), "Resampling runs", compare_runs, systems, baseline)


def _mean_table(page: PageContext, comparison: Comparison, compared: RunComparison) -> None:
    baseline = f"{compared.baseline}, of {', '.join(compared.systems[compared.baseline])}"
    units = comparison.units.plural
    method = f"Intervals and tests are over {units} and runs together; differences of mean F1 are to {baseline}."
    means = run_table(comparison, compared, page.by)
    parts.comparison_table(page, comparison.scores, means, compared.means, caption=method, method=method)
    if len(compared.differences):
        tests = replace(comparison, runs=compared).run_family
        table = baseline_table(comparison, compared.differences, tests, page.by, runs=True)
        parts.comparison_table(
            page, comparison.scores, replace(table, name="run-differences"), compared.differences, method=method
        )
