"""Views of slices: decades under our criteria, and periods and noise as the CLEF-HIPE scorer has them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pandas as pd
import streamlit as st

from nereval_core.analysis.slices.decades_and_noise import UNDATED, fill_decades, hipe_ranges, hipe_slice_table
from nereval_core.conventions import Outcome, conventions
from nereval_core.conventions.records import OVERALL
from nereval_core.problems import FormatError
from nereval_core.report.figures.slices import slice_lines
from nereval_core.report.signature import signature
from nereval_core.tables.glossary import GLOSSARY
from pages.shared.components.count_table import count_columns, count_table, ratio_columns, show_figure
from pages.shared.components.downloads import Export
from pages.shared.components.record_list import open_records
from pages.shared.data import caches, masks
from pages.shared.data.convention_results import Options, records_of_count
from pages.shared.data.page_context import PageContext
from pages.shared.overview import convention
from pages.shared.view import keys
from pages.shared.view.count_tables import COUNTS, RATIOS, formula
from pages.shared.view.queries import overall_query
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
    made, counts, periods = caches.decades(page.loaded, page.system, page.settings, name)
    if set(periods) <= {UNDATED}:
        st.info(DATES)
        return
    table = made.rename(columns={long: short for short, long in RATIOS.items()})
    drawn = fill_decades(table).rename(columns={"period": "slice", "POS": "n"})
    documents = f"; {sum(periods.values()):,} documents" + (
        f", {periods[UNDATED]:,} undated" if UNDATED in periods else ""
    )
    figure = slice_lines(drawn, f"{page.system} by decade, criterion {name}", "decade", documents)
    show_figure(figure, "decades_figure", (page.view,), file="decades")
    shown = table[["period", "documents", *RATIOS, *COUNTS]]
    cell = count_table(
        shown,
        "decades",
        (page.view,),
        columns={"period": st.column_config.TextColumn("decade", width=75, pinned=True)} | _columns(),
        choose=(*RATIOS, *COUNTS),
        export=Export(shown, signature(scores, name), "decades"),
        caption="Choose a count to see its records, a ratio to see its formula.",
        height=500,
    )
    if cell is None:
        return
    period, column = str(shown["period"].iat[cell[0]]), cell[1]
    query = overall_query(column)
    if query is None:
        st.code(formula(column, counts[period]).text, language=None, wrap_lines=True)
        return
    title = f"{GLOSSARY[column].label}, {plain(period)}, under {plain(name)}"
    open_records(page, name, replace(query, period=period), title, name="decades")


def _columns() -> dict[str, Any]:
    documents = st.column_config.NumberColumn("documents", width=90, format="localized")
    return {"documents": documents} | ratio_columns(RATIOS, 60) | count_columns(COUNTS, 62)


def draw_hipe(page: PageContext) -> None:
    """Show the slices of the CLEF-HIPE scorer, by period and by noise: figures, tables and its printout."""
    formats = {row.name: row.format for row in page.loaded.layers}
    if {formats["gold"], formats[page.system]} != {FORMAT}:
        st.info(NOISE)
        return
    left, right = st.columns(2)
    scorer = str(left.selectbox("Scorer", SCORERS, key=f"{keys.WIDGET}slice_scorer"))
    schema = str(
        right.selectbox("Regime", list(SCHEMAS), format_func=SCHEMAS.__getitem__, key=f"{keys.WIDGET}slice_schema")
    )
    try:
        periods, levels = hipe_ranges(page.loaded.sources["gold"])
        asked = (("time-period", periods), ("noise-level", levels))
        options: Options = tuple((name, values) for name, values in asked if values)
        outcome = caches.outcome(page.loaded, page.system, scorer, options)
    except FormatError as error:
        show_problems([masks.mask_message(line) for line in error.lines()])
        return
    st.caption(plain(f"{conventions()[scorer].source}. A token without a noise level stays in every level.", 300))
    table = hipe_slice_table(outcome)
    column = str(table["column"].iat[0])
    table = table[((table["schema"] == schema) & (table["column"] == column)).to_numpy()]
    for name, kept, axis, lacking in (
        ("period", table["level"].eq("LED-ALL") & table["period"].ne("TIME-ALL"), "period", "No document has a date."),
        ("level", table["period"].eq("TIME-ALL") & table["level"].ne("LED-ALL"), "noise (LED)", "No token has a LED."),
    ):
        if kept.any():
            _slices(page, outcome, options, table[kept.to_numpy()], name, axis, column, schema)
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
    names = {"precision": "P", "recall": "R", "f1": "F1", "macro_f1": "F1 macro", "gold": "possible", "pred": "actual"}
    shown = rows.assign(slice=[slice_words(str(value)) for value in rows[name]]).rename(columns=names)
    drawn = shown.rename(columns={"possible": "n"})
    # The scorer's 0 for nothing possible is not a score.
    drawn.loc[(drawn["n"] == 0).to_numpy(), ["P", "R", "F1"]] = float("nan")
    title = f"{page.system} by {axis}, {outcome.convention} {SCHEMAS[schema]}"
    figure = slice_lines(drawn, title, axis, f"; column {column}")
    facts = (page.view, outcome.convention, schema)
    show_figure(figure, f"slices_{name}_figure", facts, file=f"slices-{name}")
    counts = ("possible", "actual")
    ratios = ("P", "R", "F1", "F1 macro")
    shown = shown[["slice", *ratios, *counts]].reset_index(drop=True)
    number = st.column_config.NumberColumn
    cell = count_table(
        shown,
        f"slices_{name}",
        facts,
        columns={"slice": st.column_config.TextColumn(axis, width=110, pinned=True)}
        | {code: number(code, width=72, format="%.3f") for code in ratios}
        | {code: number(code, width=72, format="localized") for code in counts},
        choose=counts,
        export=Export(shown, outcome.signature, f"slices-{name}", key=f"slices_{name}"),
        caption="Micro averages, and the mean F1 over documents. Choose a count to see its records.",
        height=600,
    )
    if cell is not None:
        row = rows.iloc[cell[0]]
        evaluation = "/".join((column, str(row["period"]), str(row["level"]), schema))
        records = caches.outcome_records(page.loaded, page.system, outcome.convention, evaluation, options)
        of = f"{outcome.convention}, {slice_words(str(row[name]))}"
        convention.open_scorer_count(page, outcome, records_of_count(records, OVERALL, cell[1]), cell[1], of)


def slice_words(name: str) -> str:
    """Return the scorer's name of a slice as words: TIME-1790-1800 as 1790–1799, LED-0.0-0.1 as 0.0–0.1."""
    _, *ends = name.split("-")
    if len(ends) != 2:
        return "all"
    low, high = ends
    return f"{low}–{int(high) - 1}" if name.startswith("TIME") else level_said(f"{low}-{high}")
