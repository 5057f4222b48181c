"""Every criterion and published scorer as dots and as a table, and the spans that they decide differently."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pandas as pd
import streamlit as st

from nereval_core.analysis.criteria.convention_differences import (
    CriterionRow,
    comparable_neighbours,
    criteria_rows,
    criteria_table,
)
from nereval_core.conventions import conventions
from nereval_core.conventions.records import OVERALL
from nereval_core.report.figures.criteria import score_dots
from nereval_core.tables.glossary import GLOSSARY
from pages.shared.components.count_table import ChosenCell, count_figure, count_table, ratio_columns
from pages.shared.components.declared_table import formula_box
from pages.shared.components.downloads import Export
from pages.shared.components.navigation import toggle_layout
from pages.shared.components.record_list import open_records
from pages.shared.data import caches
from pages.shared.data.convention_results import figures_table, formula, records_of_count, values_of
from pages.shared.data.page_context import PageContext
from pages.shared.overview import convention
from pages.shared.view.count_tables import RATIOS
from pages.shared.view.queries import overall_query
from pages.shared.view.text import explained, plain

COUNTS = ("COR", "POS", "ACT")
PARTED, CREDIT = "differs", "credit"
SPANS = 60_000
"""Up to so many spans on both sides together the table counts what differs from row to row; beyond, a click does."""


def as_read(page: PageContext) -> PageContext:
    """Return the page's state without merged types and types left out, which no published scorer knows."""
    settings = replace(page.settings, merge=(), leave_out=())
    return replace(page, settings=settings, view=replace(page.view, merge=(), leaveout=()))


def choose_rows(page: PageContext) -> tuple[CriterionRow, ...]:
    """Return the rows of our criteria, with those of published scorers that fit the data if the reader asks for them.

    A scorer stands below the criterion that means the same.
    """
    with st.container(horizontal=True, vertical_alignment="center"):
        published = toggle_layout(
            page,
            "published",
            "Published scorers",
            "Each stands below the criterion that means the same. They know no merged types and leave none out.",
        )
        st.caption("All types as annotated: nothing merged or left out.")
    # Published scorers take many times as long as all criteria together.
    if not published:
        return criteria_rows(caches.scores(page.loaded, page.system, page.settings))
    rows, _ = caches.every_row(page.loaded, page.system, page.settings)
    unfit = _unfit(rows)
    return tuple(row for row in rows if row not in unfit)


def _unfit(rows: Sequence[CriterionRow]) -> tuple[CriterionRow, ...]:
    """Return the rows of published scorers that find nothing where the criterion that means the same finds something.

    Their rules do not fit the data, such as tags of another kind than they expect: a 0 that compares with nothing.
    """
    found = {row.name: row.ratios[2] for row in rows if not row.evaluation}
    return tuple(row for row in rows if row.evaluation and not row.ratios[2] and found.get(row.criterion))


def score_figure(page: PageContext, found: Sequence[CriterionRow]) -> None:
    corpus = page.loaded.corpus
    n = (len(corpus.gold), len(corpus.system(page.system)), len(corpus.documents))
    place = count_figure(score_dots(criteria_table(found), page.system, *n), "dots", (page.view,), file="criteria")
    if place and 0 < int(place[0]) < len(found):
        _parted(page, found, int(place[0]), name="dots")


def all_criteria_table(page: PageContext, found: Sequence[CriterionRow]) -> ChosenCell | None:
    """Show the table; return the cell chosen."""
    whole = criteria_table(found)
    shown = whole.drop(columns=["signature", "kind"])
    corpus = page.loaded.corpus
    if len(corpus.gold) + len(corpus.system(page.system)) <= SPANS:
        sizes = caches.step_sizes(page.loaded, page.system, page.settings, tuple(found))
        for place, column in enumerate((PARTED, CREDIT)):
            numbers = [None if size is None else size[place] for size in sizes]
            shown.insert(4 + place, column, pd.Series(pd.array(numbers, dtype="Int64"), index=shown.index))
    else:
        shown.insert(4, PARTED, "show")
    number = st.column_config.NumberColumn
    return count_table(
        shown,
        "every",
        (page.view,),
        columns={
            "row": st.column_config.TextColumn("criterion or scorer", width=200, pinned=True),
            PARTED: st.column_config.Column(
                "differs from above", width=125, help="Spans that this row and the one above it decide differently."
            ),
            CREDIT: st.column_config.Column(
                "in credit", width=75, help="How many of these earn another credit; the others only bear another name."
            ),
        }
        | ratio_columns(RATIOS, 65, places=4)
        | {code: number(GLOSSARY[code].label, width=110, format="localized", help=explained(code)) for code in COUNTS},
        export=Export(
            whole.rename(columns={"signature": "signature of the row"}), page.signature(), "criteria", key="every"
        ),
        caption="Choose a count to see its records, a ratio to see how it is made, anything else to see which spans "
        "differ from the row above.",
        height=740,
    )


def open_cell(page: PageContext, found: Sequence[CriterionRow], place: int, column: str) -> None:
    """Show the records of a count, the formula of a ratio, or, for any other cell, the spans that differ."""
    row = found[place]
    st.caption(f"Signature of {plain(row.label)}")
    st.code(row.signature, language=None, wrap_lines=True)
    if column in RATIOS:
        _ratio(page, row, column)
    elif column in COUNTS and not row.evaluation:
        query = overall_query(column)
        if query is not None:
            open_records(page, row.name, query, f"{GLOSSARY[column].label} under {plain(row.name)}", name="every")
    elif column in COUNTS:
        figure = conventions()[row.name].ratios.names.get(column)
        if figure is not None:
            records = caches.outcome_records(page.loaded, page.system, row.name, row.evaluation)
            outcome = caches.outcome(page.loaded, page.system, row.name)
            convention.open_scorer_count(page, outcome, records_of_count(records, OVERALL, figure), figure, row.label)
    else:
        _parted(page, found, place, name="every")


def _ratio(page: PageContext, row: CriterionRow, ratio: str) -> None:
    if not row.evaluation:
        formula_box(page, row.name, ratio, page.scores().counts(row.name), None)
        return
    scorer = conventions()[row.name]
    figures = figures_table(caches.outcome(page.loaded, page.system, row.name), row.evaluation)
    made = formula(scorer, row.evaluation, scorer.ratios.names[ratio], values_of(figures.iloc[0]))
    if made:
        st.code(made, language=None, wrap_lines=True)
    st.caption(plain(f"{scorer.ratios.names[ratio]}: as laid down by {scorer.source}.", 400))


def _parted(page: PageContext, found: Sequence[CriterionRow], place: int, *, name: str) -> None:
    pair = comparable_neighbours(found)[place]
    if pair is None:
        st.caption("There is no row of spans above to compare this one with.")
        return
    row, above = pair
    parted = caches.step(page.loaded, page.system, page.settings, row, above)
    said = f"{row.signature} / {above.signature}"
    convention.list_differences(page, parted, said, row.label, above.label, name=f"parted_{name}")


def list_unfit(page: PageContext) -> None:
    """List the published scorers asked for that do not apply or do not fit, each with its needs and the reason."""
    if "published" not in page.view.layout:
        return
    rows, refused = caches.every_row(page.loaded, page.system, page.settings)
    reasons = {
        name: error.problems[0].found + (f" (and {len(error.problems) - 1:,} more)" if error.problems[1:] else "")
        for name, error in refused.items()
    }
    for row in _unfit(rows):
        reasons[row.label] = f"finds no span, though some are correct under {row.criterion}: its rules do not fit"
    if not reasons:
        return
    st.header("Published scorers that do not fit these data")
    needs = [conventions()[name.partition(":")[0]].needs for name in reasons]
    st.dataframe(
        pd.DataFrame({"scorer": list(reasons), "needs": needs, "here": list(reasons.values())}),
        hide_index=True,
        column_config={
            "scorer": st.column_config.TextColumn(width=140),
            "needs": st.column_config.TextColumn(width=330),
        },
    )
