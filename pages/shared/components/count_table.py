"""Tables and figures whose cells and points can be chosen: drawing, the choice, the caption, and what is exported."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import Any, Literal, NamedTuple

import pandas as pd
import pyarrow as pa
import streamlit as st

from nereval_core.tables import UNDEFINED
from pages.shared.components import export_menu
from pages.shared.components.downloads import Export, page_of
from pages.shared.components.export_menu import FIGURE_CONFIG
from pages.shared.view import View, keys

ROWS = 100
"""Rows on one page of a long table: no message to the browser grows beyond that."""


class ChosenCell(NamedTuple):
    """The number of a row, from 0, and the name of a column."""

    row: int
    column: str


def count_table(
    table: pd.DataFrame | pa.Table,
    name: str,
    facts: tuple[object, ...],
    *,
    columns: Mapping[str, Any] | None = None,
    choose: Collection[str] | None = None,
    export: Export | None = None,
    caption: str = "",
    hint: str = "",
    beside: Callable[[ChosenCell | None], None] | None = None,
    on_choose: Callable[[ChosenCell], None] | None = None,
    chosen: ChosenCell | None = None,
    prefix: str = keys.TABLE,
    height: int | None = None,
    fixed: bool = False,
    width: int | Literal["stretch", "content"] = "stretch",
    index: bool = False,
    placeholder: str = UNDEFINED,
) -> ChosenCell | None:
    """Draw a table with its captions, and offer its files in the menu of the page; return the cell chosen, or None.

    A choice is given up once any of the `facts` changes that the table depends on. `columns` are Streamlit's column
    settings, `choose` the columns whose cells can be chosen, by default all, () for none. `hint` is a caption that is
    shown as long as nothing is chosen, `beside` draws more beside the captions. `on_choose` is called with a chosen
    cell before the page runs again. `chosen` is a cell to be shown as chosen. The key of the widget is `prefix` and
    `name`. The table is at most `height` pixels high, or just so high where that is `fixed`.
    """
    key = steady_key(prefix + name, *facts)
    if chosen is not None:
        st.session_state[key] = {"selection": {"rows": [], "columns": [], "cells": [tuple(chosen)]}}
    rows = table.num_rows if isinstance(table, pa.Table) else len(table)
    named = list(map(str, table.column_names if isinstance(table, pa.Table) else table.columns))
    allowed = named if choose is None else choose

    def take() -> None:
        cell = selected_cell(st.session_state[key], rows, allowed)
        if cell is not None and on_choose is not None:
            on_choose(cell)

    event: Any = st.dataframe(
        table,
        key=key,
        on_select="ignore" if not allowed else "rerun" if on_choose is None else take,
        selection_mode="single-cell",
        hide_index=not index,
        placeholder=placeholder,
        height="auto" if height is None else height if fixed else min(35 * (rows + 1) + 3, height),
        width=width,
        column_config=columns,
    )
    cell = selected_cell(event, rows, allowed) if allowed else None
    captions = [text for text in (caption, "" if cell is not None else hint) if text]
    if export is not None:
        export.draw()
    if captions or beside is not None:
        with st.container(horizontal=True, vertical_alignment="center"):
            if beside is not None:
                beside(cell)
            for text in captions:
                st.caption(text)
    return cell


def count_figure(figure: Any, name: str, facts: tuple[object, ...] = (), *, file: str) -> list[Any]:
    """Draw a figure that is saved as `file`; return the data of the point that the reader chose, [] without one."""
    key = table_key(keys.TABLE + name, *facts)
    _register(figure, key, file)
    event = st.plotly_chart(figure, key=key, on_select="rerun", selection_mode="points", config=FIGURE_CONFIG)
    points = event["selection"]["points"] if event else []
    data = points[0].get("customdata") if points else None
    if data is None:
        return []
    return list(data) if isinstance(data, list | tuple) else [data]


def show_figure(figure: Any, name: str, facts: tuple[object, ...] = (), *, file: str) -> None:
    """Draw a figure that is saved as `file` and has nothing to choose."""
    key = table_key(keys.TABLE + name, *facts)
    _register(figure, key, file)
    st.plotly_chart(figure, key=key, config=FIGURE_CONFIG)


def _register(figure: Any, key: str, file: str) -> None:
    def make() -> Any:
        return figure

    export_menu.register(file, figure=make, page=partial(page_of, make, "", file), key=key)


def table_key(name: str, *facts: object) -> str:
    """Return a widget key that changes with the facts: a selection must not outlive its data."""
    return f"{name}_{zlib.crc32(repr(facts).encode()):08x}" if facts else name


def steady_key(name: str, *facts: object) -> str:
    """Return the key of a table that is not replaced when its data change; the choice made in it is cleared then.

    To put another table in its place takes a browser several times as long as to write other cells.
    """
    now = table_key(name, *facts)
    if st.session_state.get(keys.HELD + name, now) != now:
        st.session_state[name] = {"selection": {"rows": [], "columns": [], "cells": []}}
    st.session_state[keys.HELD + name] = now
    return name


def selected_cell(event: Any, rows: int, columns: Collection[str]) -> ChosenCell | None:
    """Return the cell chosen, None where there is none in a table of so many rows and these columns."""
    cells = event["selection"].get("cells", []) if event else []
    row, column = cells[0] if cells else (-1, "")
    return ChosenCell(int(row), str(column)) if 0 <= int(row) < rows and column in columns else None


def first_row(rows: int, name: str, view: View, what: str = "records", at: int | None = None) -> int:
    """Ask for the page of a long table; return its first row. The page that has row `at` is turned to."""
    if rows <= ROWS:
        return 0
    pages = -(-rows // ROWS)
    key = table_key(f"{keys.LIST}page_{name}", view, rows)
    if at is not None:
        st.session_state[key] = at // ROWS + 1
    number = st.number_input(f"Page of {pages:,} ({ROWS} {what} each)", 1, pages, key=key, width=220)
    return (int(number) - 1) * ROWS
