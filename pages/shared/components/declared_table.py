"""Declared tables on a page: drawn by the kinds of their columns, with their files.

A cell opens its records, or the formula of its ratio, in which each count is a link to its records.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd
import streamlit as st

from nereval_core.records.queries import Query
from nereval_core.scoring import Counts
from nereval_core.tables import Column, FormulaOf, RecordsOf, Table
from pages.shared.components import navigation
from pages.shared.components.count_table import ChosenCell, count_table, table_of
from pages.shared.components.downloads import Export
from pages.shared.components.record_list import count, noun, open_records
from pages.shared.data.page_context import PageContext
from pages.shared.view import View
from pages.shared.view.count_tables import formula
from pages.shared.view.count_tables import headings as streamlit_headings
from pages.shared.view.queries import view_of
from pages.shared.view.text import as_markdown, explained, plain

NAME_WIDTH, WIDEST = 150, 330
"""Pixels of the column that names the row, and of the widest column of texts."""
CHARACTER_WIDTH, PADDING = 7, 28
LONGEST_CAPTION = 600
_FORMATS = {"count": "localized", "ratio": "%.3f", "difference": "%+.3f", "share": "percent"}


def show_table(
    page: PageContext,
    table: Table,
    *,
    signature: str,
    data: pd.DataFrame | None = None,
    notes: Sequence[str] = (),
    choose: Collection[str] | None = None,
    facts: tuple[object, ...] = (),
    figure: Callable[[], Any] | None = None,
    caption: str | None = None,
    hint: str = "",
    height: int | None = 560,
) -> ChosenCell | None:
    """Draw a table, offer its files, and open what stands behind the chosen cell; return that cell, or None.

    The column of a chosen cell is given by its key. `data` is what programs read in place of the rows shown; files to
    be read have the `notes` and the signature below. `choose` are keys of further columns whose cells can be chosen,
    which the page itself opens. The caption is the notes of the table unless another is given. A choice is given up
    once the view or one of the `facts` changes.
    """
    headings = dict(zip(table.keys, _unique(table.headings), strict=True))
    openable = [column.key for column in table.columns if column.opens is not None or column.key in (choose or ())]
    printed = replace(table, notes=(*table.notes, *notes, signature))
    cell = count_table(
        table_of({headings[key]: [row[at] for row in table.rows] for at, key in enumerate(table.keys)}),
        table.name.replace("-", "_"),
        (page.view, table.keys, *facts),
        columns={headings[column.key]: _setting(column, table, number) for number, column in enumerate(table.columns)},
        choose=[headings[key] for key in openable],
        export=Export(
            table.to_frame() if data is None else data,
            signature,
            table.name,
            key=table.name.replace("-", "_"),
            printed=lambda: (printed,),
            figure=figure,
        ),
        caption=plain(_sentences(table.notes) if caption is None else caption, LONGEST_CAPTION),
        hint=hint,
        height=height,
    )
    if cell is None:
        return None
    keys = {heading: key for key, heading in headings.items()}
    opened_cell = ChosenCell(cell.row, keys[cell.column])
    column = next(column for column in table.columns if column.key == opened_cell.column)
    if column.opens is not None:
        open_cell(page, column.opens(table.row(opened_cell.row)), table.name)
    return opened_cell


def open_cell(page: PageContext, target: RecordsOf | FormulaOf | None, name: str) -> None:
    """Show the records or the formula that stand behind a cell of the table of this name."""
    if isinstance(target, RecordsOf):
        context = page if target.system in ("", page.system) else page.of(target.system)
        open_records(context, target.criterion or page.by, target.query, plain(target.title, 200), name=name)
    elif isinstance(target, FormulaOf):
        criterion, counts = target.criterion or page.by, target.counts()
        if target.now is None:
            formula_box(page, criterion, target.ratio, counts, target.type, system=target.system)
            return
        st.markdown(f"**{plain(target.title, 200)}, under {plain(criterion)}**")
        st.code(formula(target.ratio, counts).text, language=None, wrap_lines=True)
        st.caption("As it is:")
        st.code(formula(target.ratio, target.now).text, language=None, wrap_lines=True)


def _sentences(notes: Sequence[str]) -> str:
    """Return notes as sentences in one line."""
    return " ".join(f"{note[0].upper()}{note[1:]}." for note in notes)


def _setting(column: Column, table: Table, number: int) -> Any:
    """Return Streamlit's setting of a column; of texts it is as wide as what it holds."""
    tooltip = explained(column.term) if column.term else f"{column.meaning}." if column.meaning else None
    if column.kind in _FORMATS:
        width = max(PADDING + CHARACTER_WIDTH * len(column.label), 70)
        return st.column_config.NumberColumn(
            column.label, width=width, format=_FORMATS[column.kind], help=tooltip, pinned=False
        )
    longest = max((len(str(row[number])) for row in table.rows if row[number] is not None), default=0)
    width = min(PADDING + CHARACTER_WIDTH * max(len(column.label), longest), WIDEST)
    is_first = not number
    return st.column_config.Column(
        column.label, width=max(width, NAME_WIDTH) if is_first else width, help=tooltip, pinned=is_first
    )


def _unique(headings: Sequence[str]) -> list[str]:
    """Return the headings, with a number where Streamlit would take two columns for one."""
    return streamlit_headings(
        [
            heading if heading not in headings[:number] else f"{heading} ({1 + headings[:number].count(heading)})"
            for number, heading in enumerate(headings)
        ]
    )


def formula_box(
    page: PageContext, criterion: str, ratio: str, counts: Counts, kind: str | None, *, system: str = "", doc: str = ""
) -> None:
    """Show the formula of a ratio of a type, a system or a document; the counts in it are links to their records."""
    calculation = formula(ratio, counts, kind, as_markdown(page.words))
    of = "".join(f" of {plain(name)}" for name in (kind, system, doc) if name)
    st.markdown(f"**{as_markdown(page.words).label(ratio)}{of} under {plain(criterion)}**")
    st.code(calculation.text, language=None, wrap_lines=True)
    view = replace(page.view, criterion=criterion, system=system or page.system)
    with st.container(horizontal=True):
        for label, value, query in calculation.counts:
            count_link(view, label, value, replace(query, doc=doc))


def count_link(view: View, label: str, value: int, query: Query) -> None:
    navigation.link_to("Inspect", f":primary[{label}: {count(value, noun(view.criterion))} →]", view_of(view, query))
