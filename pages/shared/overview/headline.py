"""The four numbers that come first: F1, precision and recall with their intervals, and the number of errors."""

from __future__ import annotations

import numpy as np
import streamlit as st

from nereval_core.analysis.comparison.measures import SystemResamples, count_units
from nereval_core.analysis.resampling_units import ResamplingPlan
from nereval_core.report.method_terms import INTERVAL
from pages.shared.components import navigation
from pages.shared.components.declared_table import formula_box
from pages.shared.components.export_menu import method_notes
from pages.shared.data.memo import memoized
from pages.shared.data.page_context import PageContext
from pages.shared.systems.tables import plan_of, units_of
from pages.shared.view import keys
from pages.shared.view.count_tables import RATIOS, number
from pages.shared.view.queries import query_of
from pages.shared.view.text import as_markdown, explained

MOST_DOCUMENTS = 2_000
"""Documents up to which intervals are computed with the page: for more, Systems has them."""


def draw_headline(page: PageContext) -> None:
    """Draw the numbers of the system under the chosen criterion; each opens its formula or its records."""
    counts, intervals = page.scores().counts(page.by), _intervals_of(page)
    columns = st.columns(4, gap="small")
    for place, (ratio, name) in enumerate(RATIOS.items()):
        with columns[(1, 2, 0)[place]], st.container(border=True, gap=None, key=f"headline_{name}"):
            st.metric(_label(page, ratio), number(getattr(counts, name)), help=explained(ratio, words=page.words))
            low, high = intervals[place] if intervals else (np.nan, np.nan)
            label = "formula" if np.isnan(low) else f"95% interval {low:.3f} to {high:.3f}"
            with st.popover(label, type="tertiary", key=f"{keys.LIST}formula-{ratio}", on_change="rerun") as popover:
                # Links take as long as a table, so they are drawn for whoever looks.
                if popover.open:
                    formula_box(page, page.by, ratio, counts, None)
                    if not np.isnan(low):
                        st.markdown(method_notes(INTERVAL))
    with columns[3], st.container(border=True, gap=None, key="headline_errors"):
        errors = page.ledger().total(query_of(page.view.cleared()))
        if page.words.annotators:
            st.metric("Disagreements", f"{errors.records:,}", help="All records but those on which the two agree.")
        else:
            st.metric("Errors", f"{errors.records:,}", help="All records but the correct ones.")
        label = ":primary[inspect them →]"
        navigation.link_to("Inspect", label, page.view.cleared())


def _label(page: PageContext, ratio: str) -> str:
    label = as_markdown(page.words).label(ratio)
    return label[:1].upper() + label[1:]


def _intervals_of(page: PageContext) -> list[tuple[float, float]]:
    """Return the 95% intervals of precision, recall and F1; none where they would take long, or cannot be computed."""
    if page.loaded.folder is not None or len(page.loaded.corpus.documents) > MOST_DOCUMENTS:
        return []
    return _intervals(page, plan_of(page))


@memoized()
def _intervals(page: PageContext, plan: ResamplingPlan) -> list[tuple[float, float]]:
    resampled = SystemResamples(count_units({page.system: page.scores()}, [page.by], units_of(page)), plan)
    estimates = resampled.estimate_ratios(0)
    return list(zip(estimates.low[0].tolist(), estimates.high[0].tolist(), strict=True))
