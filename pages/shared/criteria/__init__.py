"""The parts of the Criteria page: every criterion and published scorer as dots and as a table, and what parts them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from nereval_core.analysis.criteria.all_criteria_table import Row, steps, table
from nereval_core.conventions import conventions
from nereval_core.conventions.outcome import OVERALL
from nereval_core.glossary import GLOSSARY
from nereval_core.problems import FormatError
from nereval_core.report.figures import score_dots
from pages.shared import overview
from pages.shared.components.downloads import export, figure_config
from pages.shared.components.record_list import opened, selected_cell, table_key
from pages.shared.components.terms import explained
from pages.shared.data import caches
from pages.shared.data.convention_results import figures_table, formula, made_of, values_of
from pages.shared.overview import convention
from pages.shared.view import keys
from pages.shared.view.count_tables import RATIOS
from pages.shared.view.plain_text import plain
from pages.shared.view.queries import overall_query

if TYPE_CHECKING:
    from pages.shared.frame import Here

COUNTS = ("COR", "POS", "ACT")
PARTED, CREDIT = "differs", "credit"
SPANS = 60_000
"""Up to so many spans on both sides together the table counts what differs from row to row; beyond, a click does."""


def as_read(here: Here) -> Here:
    """Return the page's state without merged types and types left out, which no published scorer knows."""
    settings = replace(here.settings, merge=(), leave_out=())
    return replace(here, settings=settings, view=replace(here.view, merge=(), leaveout=()))


def rows(here: Here) -> tuple[tuple[Row, ...], Mapping[str, FormatError]]:
    """Return the rows, and the scorers that do not apply with what is in their way."""
    return caches.every_row(here.loaded, here.system, here.settings)


def dots(here: Here, found: Sequence[Row]) -> None:
    corpus = here.loaded.corpus
    n = (len(corpus.gold), len(corpus.system(here.system)), len(corpus.documents))
    event = st.plotly_chart(
        score_dots(table(found), here.system, *n),
        key=table_key(f"{keys.TABLE}dots", here.view),
        on_select="rerun",
        selection_mode="points",
        config=figure_config("criteria"),
    )
    points = event["selection"]["points"] if event else []
    place = points[0].get("customdata") if points else None
    if place and 0 < int(place[0]) < len(found):
        _parted(here, found, int(place[0]), name="dots")


def overview_table(here: Here, found: Sequence[Row]) -> tuple[int, str] | None:
    """Show the table; return row and column of the cell chosen."""
    whole = table(found)
    shown = whole.drop(columns=["signature", "kind"])
    corpus = here.loaded.corpus
    if len(corpus.gold) + len(corpus.system(here.system)) <= SPANS:
        sizes = caches.step_sizes(here.loaded, here.system, here.settings, tuple(found))
        for place, column in enumerate((PARTED, CREDIT)):
            numbers = [None if size is None else size[place] for size in sizes]
            shown.insert(4 + place, column, pd.array(numbers, dtype="Int64"))
    else:
        shown.insert(4, PARTED, "show")
    number = st.column_config.NumberColumn
    event = st.dataframe(
        shown,
        key=table_key(f"{keys.TABLE}every", here.view),
        on_select="rerun",
        selection_mode="single-cell",
        hide_index=True,
        placeholder="–",
        height=min(35 * (len(shown) + 1) + 3, 740),
        column_config={
            "row": st.column_config.TextColumn("criterion or scorer", width=200, pinned=True),
            PARTED: st.column_config.Column(
                "differs from above", width=125, help="Spans that this row and the one above it decide differently."
            ),
            CREDIT: st.column_config.Column(
                "in credit", width=75, help="How many of these earn another credit; the others only bear another name."
            ),
        }
        | {code: number(code, width=65, format="%.4f", help=explained(code)) for code in RATIOS}
        | {code: number(GLOSSARY[code].label, width=110, format="localized", help=explained(code)) for code in COUNTS},
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        everything = whole.rename(columns={"signature": "signature of the row"})
        export(everything, here.signature(), name="criteria", key="every")
        st.caption(
            "Choose a count to see its records, a ratio to see how it is made, anything else to see which spans differ "
            "from the row above."
        )
    return selected_cell(event, len(found), tuple(shown.columns))


def opened_cell(here: Here, found: Sequence[Row], place: int, column: str) -> None:
    """Show what stands behind a cell: records of a count, formula of a ratio, else the spans that differ."""
    row = found[place]
    st.caption(f"Signature of {plain(row.label)}")
    st.code(row.signature, language=None, wrap_lines=True)
    if column in RATIOS:
        _ratio(here, row, column)
    elif column in COUNTS and not row.evaluation:
        query = overall_query(column)
        if query is not None:
            opened(here, row.name, query, f"{GLOSSARY[column].label} under {plain(row.name)}", name="every")
    elif column in COUNTS:
        figure = conventions()[row.name].names.get(column)
        if figure is not None:
            records = caches.outcome_records(here.loaded, here.system, row.name, row.evaluation)
            outcome = caches.outcome(here.loaded, here.system, row.name)
            convention.count_opened(here, outcome, made_of(records, OVERALL, figure), figure, row.label)
    else:
        _parted(here, found, place, name="every")


def _ratio(here: Here, row: Row, ratio: str) -> None:
    if not row.evaluation:
        overview.formula_box(here, row.name, ratio, here.scores().counts(row.name), None)
        return
    scorer = conventions()[row.name]
    figures = figures_table(caches.outcome(here.loaded, here.system, row.name), row.evaluation)
    made = formula(scorer, row.evaluation, scorer.names[ratio], values_of(figures.iloc[0]))
    if made:
        st.code(made, language=None, wrap_lines=True)
    st.caption(plain(f"{scorer.names[ratio]}: as laid down by {scorer.source}.", 400))


def _parted(here: Here, found: Sequence[Row], place: int, *, name: str) -> None:
    pair = steps(found)[place]
    if pair is None:
        st.caption("There is no row of spans above to compare this one with.")
        return
    row, above = pair
    parted = caches.step(here.loaded, here.system, here.settings, row, above)
    said = f"{row.signature} / {above.signature}"
    convention.differences(here, parted, said, row.label, above.label, name=f"parted_{name}")


def not_applying(refused: Mapping[str, FormatError]) -> None:
    """List the published scorers that do not apply, with what they need and what is in their way here."""
    if not refused:
        return
    st.subheader("Published scorers that do not apply here")
    st.dataframe(
        pd.DataFrame(
            {
                "scorer": list(refused),
                "needs": [conventions()[name].needs for name in refused],
                "here": [
                    error.problems[0].found + (f" (and {len(error.problems) - 1:,} more)" if error.problems[1:] else "")
                    for error in refused.values()
                ],
            }
        ),
        hide_index=True,
        column_config={
            "scorer": st.column_config.TextColumn(width=140),
            "needs": st.column_config.TextColumn(width=330),
        },
    )
