"""Every criterion and published scorer as dots and as a table, and the spans that they decide differently."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from nereval_core.analysis.criteria.convention_differences import (
    CriterionRow,
    comparable_neighbours,
    criteria_rows,
    criteria_table,
)
from nereval_core.analysis.criteria.tables import all_criteria_table
from nereval_core.conventions import conventions
from nereval_core.conventions.records import OVERALL
from nereval_core.records.queries import overall_query
from nereval_core.report.figures.criteria import score_dots
from nereval_core.tables import RATIO_KEYS, Column, Table
from nereval_core.tables.glossary import GLOSSARY
from pages.shared.components.downloads import count_figure
from pages.shared.components.navigation import toggle_layout
from pages.shared.components.tables import formula_box, open_records, show_table
from pages.shared.data import caches
from pages.shared.data.convention_results import figures_table, formula, records_of_count, values_of
from pages.shared.data.page_context import PageContext
from pages.shared.overview import published_scorer
from pages.shared.view.text import named, plain

COUNTS = ("COR", "POS", "ACT")
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
    f1_of_criterion = {row.name: row.ratios[2] for row in rows if not row.evaluation}
    return tuple(row for row in rows if row.evaluation and not row.ratios[2] and f1_of_criterion.get(row.criterion))


def score_figure(page: PageContext, rows: Sequence[CriterionRow]) -> None:
    corpus = page.loaded.corpus
    n = (len(corpus.gold), len(corpus.system(page.system)), len(corpus.documents))
    place = count_figure(score_dots(criteria_table(rows), page.system, *n), "dots", (page.view,), file="criteria")
    if place and 0 < int(place[0]) < len(rows):
        _differences_from_above(page, rows, int(place[0]), name="dots")


def show_rows(page: PageContext, rows: Sequence[CriterionRow]) -> None:
    """Show the table: a count opens its records, a ratio its formula, any other cell the spans that differ."""
    corpus, steps = page.loaded.corpus, None
    if len(corpus.gold) + len(corpus.system(page.system)) <= SPANS:
        steps = caches.step_sizes(page.loaded, page.system, page.settings, tuple(rows))
    table = all_criteria_table(rows, steps)
    cell = show_table(
        page,
        table,
        signature=page.signature(),
        data=criteria_table(rows).rename(columns={"signature": "signature of the row"}),
        file="criteria",
        choose=table.keys,
        caption="Choose a count to see its records, a ratio to see how it is made, anything else to see which spans "
        "differ from the row above.",
        height=740,
    )
    if cell is None:
        return
    row, column = rows[cell.row], cell.column
    st.caption(f"Signature of {plain(row.label)}")
    st.code(row.signature, language=None, wrap_lines=True)
    ratio = next((ratio for ratio, key in RATIO_KEYS.items() if key == column), "")
    if ratio:
        _open_ratio(page, row, ratio)
    elif column not in COUNTS:
        _differences_from_above(page, rows, cell.row, name="every")
    elif row.evaluation:
        _open_scorer_count(page, row, column)
    elif (query := overall_query(column)) is not None:
        open_records(page, row.name, query, f"{GLOSSARY[column].label} under {named(row.name)}", name="every")


def _open_scorer_count(page: PageContext, row: CriterionRow, code: str) -> None:
    figure = conventions()[row.name].ratios.names.get(code)
    if figure is not None:
        records = caches.outcome_records(page.loaded, page.system, row.name, row.evaluation)
        outcome = caches.outcome(page.loaded, page.system, row.name)
        of_count = records_of_count(records, OVERALL, figure)
        published_scorer.open_scorer_count(page, outcome, of_count, figure, row.label)


def _open_ratio(page: PageContext, row: CriterionRow, ratio: str) -> None:
    if not row.evaluation:
        formula_box(page, row.name, ratio, page.scores().counts(row.name))
        return
    scorer = conventions()[row.name]
    figures = figures_table(caches.outcome(page.loaded, page.system, row.name), row.evaluation)
    calculation = formula(scorer, row.evaluation, scorer.ratios.names[ratio], values_of(figures.iloc[0]))
    if calculation:
        st.code(calculation, language=None, wrap_lines=True)
    st.caption(plain(f"{scorer.ratios.names[ratio]}: as laid down by {scorer.source}.", 400))


def _differences_from_above(page: PageContext, rows: Sequence[CriterionRow], place: int, *, name: str) -> None:
    pair = comparable_neighbours(rows)[place]
    if pair is None:
        st.caption("There is no row of spans above to compare this one with.")
        return
    row, above = pair
    differing = caches.step(page.loaded, page.system, page.settings, row, above)
    signed = f"{row.signature} / {above.signature}"
    published_scorer.list_differences(page, differing, signed, row.label, above.label, name=f"parted_{name}")


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
    columns = (Column("scorer", kind="name"), Column("needs", kind="text"), Column("reason", "here", "text"))
    rows_of_scorers = tuple((name, conventions()[name.partition(":")[0]].needs, why) for name, why in reasons.items())
    show_table(page, Table("", columns, rows_of_scorers, name="unfit"), height=None)
