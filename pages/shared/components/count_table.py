"""Tables and figures whose cells and points can be chosen: drawing, choice, caption, export, and columns."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Literal, NamedTuple

import pandas as pd
import pyarrow as pa
import streamlit as st

from nereval_core.report.colours import LOOKS
from nereval_core.tables import UNDEFINED
from pages.shared.components import export_menu
from pages.shared.components.downloads import Export, page_of
from pages.shared.components.export_menu import FIGURE_CONFIG
from pages.shared.view import View, keys
from pages.shared.view.layer_words import GOLD_AND_PREDICTION, LayerWords
from pages.shared.view.queries import Line
from pages.shared.view.text import explained

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
    selected: ChosenCell | None = None,
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
    if selected is not None:
        st.session_state[key] = {"selection": {"rows": [], "columns": [], "cells": [tuple(selected)]}}
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


LONGEST_CELL = 160
"""Characters of a span's text in a cell."""

BAR = "#0072b2"
"""The colour of bars in the cells of a table."""


def ratio_columns(
    codes: Iterable[str], width: int, *, places: int = 3, words: LayerWords = GOLD_AND_PREDICTION
) -> dict[str, Any]:
    """Describe columns of ratios, such as P, with their formulas as tooltips."""
    form = f"%.{places}f"
    return {
        code: st.column_config.NumberColumn(code, width=width, format=form, help=explained(code, words=words))
        for code in codes
    }


def count_columns(names: Iterable[str], width: int) -> dict[str, Any]:
    """Describe columns of counts, such as `COR` or `gold COR`, with the meanings of the codes as tooltips."""
    return {
        name: st.column_config.NumberColumn(
            name, width=width, format="localized", help=explained(name.rpartition(" ")[2])
        )
        for name in names
    }


def text_columns(widths: Mapping[str, int]) -> dict[str, Any]:
    """Describe columns of text by their widths in pixels."""
    return {name: st.column_config.TextColumn(name, width=width) for name, width in widths.items()}


def table_of(columns: Mapping[str, Any]) -> pa.Table:
    """Return columns of text and numbers as a table that goes to the browser as it is."""
    # Through pandas, and with a Styler for the colours, a list took half of the time of its page.
    return pa.table({name: pa.array(values, from_pandas=True) for name, values in columns.items()})


def labels(names: Iterable[str]) -> list[list[str]]:
    """Return a column of decisions for `decision_column`: one coloured label in each cell."""
    return [[name] for name in names]


def decision_column(width: int, looks: Mapping[str, str], help: str | None = None) -> Any:
    """Describe a column of `labels`, whose names have the decisions given with them; with none they are grey."""
    theme = int(st.context.theme.type == "dark")
    # On a fill the browser writes in black or white, whichever reads better; a hue itself is too dim for either.
    colours = [LOOKS[code].colour.fill[theme] if code else "gray" for code in looks.values()]
    return st.column_config.MultiselectColumn(
        "decision", width=width, help=help, options=list(looks), color=colours, disabled=True
    )


def in_context(lines: Sequence[Line], name: str = "span") -> dict[str, list[str]]:
    """Return three columns of a list: the words before, in and after the span of a row."""
    return {
        "before": [before for before, _, _ in lines],
        name: [short(text) for _, text, _ in lines],
        "after": [after for _, _, after in lines],
    }


def short(text: str) -> str:
    return text if len(text) <= LONGEST_CELL else text[:LONGEST_CELL] + "…"
