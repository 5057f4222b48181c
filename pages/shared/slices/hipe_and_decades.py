"""Views of slices: decades under our criteria, and periods and noise as the CLEF-HIPE scorer has them."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from nereval_core.analysis.slices.decades_and_noise import UNDATED, hipe_ranges, hipe_slice_table
from nereval_core.analysis.slices.tables import hipe_table, period_table
from nereval_core.conventions import Outcome, conventions
from nereval_core.conventions.records import OVERALL
from nereval_core.problems import FormatError, name_text
from nereval_core.report.figures.slices import slice_points
from nereval_core.report.signature import signature
from nereval_core.tables import RATIO_KEYS
from pages.shared.components.downloads import show_figure
from pages.shared.components.tables import show_table
from pages.shared.data import caches, masks
from pages.shared.data.convention_results import Options, records_of_count
from pages.shared.data.page_context import PageContext
from pages.shared.overview import published_scorer
from pages.shared.slices import systems_by_slice
from pages.shared.systems import ranked_systems
from pages.shared.view import keys
from pages.shared.view.text import level_said, plain, show_problems

FORMAT = "hipe"
SCORERS = ("hipe-2022", "hipe-2020-july")
SCHEMAS = {"strict": "strict", "ent_type": "fuzzy (ent_type)", "exact": "exact", "partial": "partial"}
DATES = (
    'Slices by period need dates: `"meta": {"date": "1798-01-20"}` in a document of JSONL, or `# date = 1798-01-20` '
    "above a document of HIPE files. No document of this corpus has one."
)
NOISE = (
    "These slices need files in the format of CLEF-HIPE for gold and system: dates stand above the documents there, "
    "and the column MISC says how noisy a token is, as `LED0.12`. This corpus was read from other files."
)


def draw_decades(page: PageContext) -> None:
    """Show P, R, F1 and counts by decade, as a figure and a table; a count opens its records."""
    scores, name = page.scores(), page.by
    frame, counts, periods = caches.decades(page.loaded, page.system, page.settings, name)
    if set(periods) <= {UNDATED}:
        st.info(DATES)
        return
    undated = f", {periods[UNDATED]:,} undated" if UNDATED in periods else ""
    st.caption(f"{sum(periods.values()):,} documents{undated}.")
    title = f"{name_text(page.system)} by decade, criterion {name}"
    systems_by_slice.draw_systems(page, ranked_systems(page), "period")
    show_table(
        page,
        period_table(title, frame, counts, name),
        signature=signature(scores, name),
        caption="Choose a count to see its records, a ratio to see its formula.",
        height=500,
    )


_SHORT = {key: ratio for ratio, key in RATIO_KEYS.items()}


def draw_hipe(page: PageContext) -> None:
    """Show the slices of the CLEF-HIPE scorer, by period and by noise: figures, tables and its printout."""
    formats = {row.name: row.format for row in page.loaded.layers}
    if {formats["gold"], formats[page.system]} != {FORMAT}:
        st.info(NOISE)
        return
    scorer_column, schema_column = st.columns(2)
    scorer = str(scorer_column.selectbox("Scorer", SCORERS, key=f"{keys.WIDGET}slice_scorer"))
    schema = str(
        schema_column.selectbox(
            "Regime", list(SCHEMAS), format_func=SCHEMAS.__getitem__, key=f"{keys.WIDGET}slice_schema"
        )
    )
    try:
        periods, levels = hipe_ranges(page.loaded.sources["gold"])
        ranges = (("time-period", periods), ("noise-level", levels))
        options: Options = tuple((name, values) for name, values in ranges if values)
        outcome = caches.outcome(page.loaded, page.system, scorer, options)
    except FormatError as error:
        show_problems([masks.mask_message(line) for line in error.lines()])
        return
    st.caption(plain(f"{conventions()[scorer].source}. A token without a noise level stays in every level.", 300))
    table = hipe_slice_table(outcome)
    column = str(table["column"].iat[0])
    table = table[((table["schema"] == schema) & (table["column"] == column)).to_numpy()]
    for name, is_of_axis, axis, lacking in (
        ("period", table["level"].eq("LED-ALL") & table["period"].ne("TIME-ALL"), "period", "No document has a date."),
        ("level", table["period"].eq("TIME-ALL") & table["level"].ne("LED-ALL"), "noise (LED)", "No token has a LED."),
    ):
        if is_of_axis.any():
            _slices(page, outcome, options, table[is_of_axis.to_numpy()], name, axis, column, schema)
        else:
            st.caption(lacking)
    with st.expander("The whole table as the scorer prints it"):
        printed = conventions()[scorer].forms["tsv"](outcome)
        st.download_button("TSV", printed, file_name=f"{scorer}-slices.tsv", on_click="ignore", key="slices_tsv")
        st.code(printed[:PRINTED], language=None)
        if len(printed) > PRINTED:
            st.caption("Only its beginning; the file has the whole.")
    st.code(outcome.signature, language=None, wrap_lines=True)


PRINTED = 6_000
"""Characters of the scorer's printout that are shown."""


def _slices(
    page: PageContext,
    outcome: Outcome,
    options: Options,
    rows: pd.DataFrame,
    name: str,
    axis: str,
    column: str,
    schema: str,
) -> None:
    rows = rows.sort_values(["first_year", "least_noise"], kind="stable")
    rows = rows.assign(slice=[slice_words(str(value)) for value in rows[name]])
    plotted = rows.rename(columns={"gold": "n"} | _SHORT)
    # The scorer's 0 for nothing possible is not a score.
    plotted.loc[(plotted["n"] == 0).to_numpy(), list(RATIO_KEYS)] = float("nan")
    title = f"{name_text(page.system)} by {axis}, {outcome.convention} {SCHEMAS[schema]}"
    figure = slice_points(plotted, title, axis, f"; column {column}")
    facts = (page.view, outcome.convention, schema)
    show_figure(figure, f"slices_{name}_figure", facts, file=f"slices-{name}")
    cell = show_table(
        page,
        hipe_table(title, rows, axis, f"slices-{name}"),
        signature=outcome.signature,
        choose=("gold", "pred"),
        facts=facts,
        caption="Micro averages, and the mean F1 over documents. Choose a count to see its records.",
        height=600,
    )
    if cell is not None:
        row, figure_name = rows.iloc[cell.row], "possible" if cell.column == "gold" else "actual"
        evaluation = "/".join((column, str(row["period"]), str(row["level"]), schema))
        records = caches.outcome_records(page.loaded, page.system, outcome.convention, evaluation, options)
        of = f"{outcome.convention}, {slice_words(str(row[name]))}"
        of_count = records_of_count(records, OVERALL, figure_name)
        published_scorer.open_scorer_count(page, outcome, of_count, figure_name, of)


def slice_words(name: str) -> str:
    """Return the scorer's name of a slice as words: TIME-1790-1800 as 1790–1799, LED-0.0-0.1 as 0.0–0.1."""
    _, *ends = name.split("-")
    if len(ends) != 2:
        return "all"
    low, high = ends
    return f"{low}–{int(high) - 1}" if name.startswith("TIME") else level_said(f"{low}-{high}")
