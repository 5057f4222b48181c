"""Precision, recall, macro averages and figures of published scorers on Systems, with intervals and tests."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import streamlit as st

from nereval_core.analysis.comparison import Comparison
from nereval_core.analysis.comparison.measures import MEASURES
from nereval_core.analysis.comparison.significance import measure_tables
from nereval_core.analysis.comparison.tables import measure_table
from nereval_core.conventions import conventions
from nereval_core.problems import FormatError
from pages.shared.data import masks
from pages.shared.data.computations import compute
from pages.shared.data.memo import memoized
from pages.shared.data.page_context import PageContext
from pages.shared.systems import rows_by_place, scores_of
from pages.shared.systems import tables as parts
from pages.shared.view import keys
from pages.shared.view.text import show_problems

SCORERS = tuple(name for name, convention in conventions().items() if convention.takes_layers)
"""Published scorers that score what was read already."""
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
