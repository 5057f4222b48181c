"""The Confusion page: the confusion matrix as a table or a heat map, and its layout."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

import streamlit as st

from nereval_core.report.figures import confusion_map
from pages.shared.components.count_table import count_figure, count_table
from pages.shared.components.downloads import Export
from pages.shared.components.sort_controls import choose_word, toggle_word
from pages.shared.view.count_tables import Confusion, free

if TYPE_CHECKING:
    import pandas as pd

    from pages.shared.frame import Here

UNITS = {"": "counts", "row-share": "row %", "column-share": "column %"}
TITLES = {"": "counts of match records", "row-share": "per cent of each row", "column-share": "per cent of each column"}
BAR = "#0072b2"
TYPES = 100
"""Types in the table at most: a larger one would make too long a message to the browser."""
SWITCHES = {
    "off-diagonal": ("Hide the diagonal", "Leaves pairs of equal type blank, so that confusions stand out."),
    "by-confusion": ("Order by confusion", "Types with most confusions, misses and spurious predictions first."),
    "as-map": ("As a figure", "The same table as a heat map, for slides; it answers to the mouse only."),
}


def types_shown(here: Here, cells: Mapping[tuple[str, str], int]) -> tuple[str, ...]:
    """Return the types that the table shows, in order: all of them unless there are very many."""
    types = here.types
    if len(types) <= TYPES:
        return types
    st.caption(f"The {TYPES} of {len(types):,} types with most records; leave out or merge others to see the rest.")
    sums = Counter[str]()
    for pair, number in cells.items():
        for kind in set(pair):
            sums[kind] += number
    return tuple(sorted(sorted(types, key=lambda kind: -sums[kind])[:TYPES]))


def choose_layout(here: Here) -> tuple[str, ...]:
    """Ask how the table is laid out and return the words for it; they are kept in the link."""
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        choose_word(here, "share", "Cells show", UNITS, visible=True)
        for word, (label, help_text) in SWITCHES.items():
            toggle_word(here, word, label, help_text)
    return here.view.sort


def draw_matrix(here: Here, table: Confusion) -> tuple[int, int] | None:
    """Draw the table; return row and column of the cell chosen."""
    cell = _figure(here, table) if "as-map" in here.view.sort else _table(here, table)
    with st.container(horizontal=True, vertical_alignment="center"):
        counts = table.counts.reset_index(names=free("gold", list(table.counts.columns)))
        Export(counts, here.signature(), "confusion", figure=lambda: _drawn(here, table)).draw()
        if cell is None:
            how = "" if "as-map" in here.view.sort else ", with the mouse or the arrow keys,"
            st.caption(f"Choose a cell{how} to see its records.")
    return cell


def _table(here: Here, table: Confusion) -> tuple[int, int] | None:
    shares = {"row-share", "column-share"} & set(here.view.sort)
    shown = table.shown
    names = [str(name) for name in shown.columns]
    cell = count_table(
        shown,
        "confusion",
        (here.view,),
        columns={"_index": st.column_config.TextColumn("gold \\ predicted", pinned=True)}
        | dict.fromkeys(names, _bar(shown, shares)),
        choose=names,
        height=700,
        index=True,
        placeholder="",
    )
    return None if cell is None else (cell[0], names.index(cell[1]))


def _bar(shown: pd.DataFrame, shares: Collection[str]) -> Any:
    """Describe a column of counts or shares: the number, and a bar beside it as long as it is large."""
    # Colours of cells come by a Styler alone, and making its message took two thirds of the time of the page.
    top = float(shown.max(axis=None)) if shown.notna().any(axis=None) else 1.0
    form = "%.0f %%" if shares else "%.0f"
    return st.column_config.ProgressColumn(format=form, min_value=0, max_value=top, color=BAR)


def _drawn(here: Here, table: Confusion, *, dark: bool = False) -> Any:
    """Return the table as a heat map."""
    shares = {"row-share", "column-share"} & set(here.view.sort)
    texts = table.shown.map(lambda value: "" if value != value else f"{value:.0f}{' %' if shares else ''}")
    cells = [[(row, column) for column in range(len(table.columns))] for row in range(len(table.rows))]
    records = int(table.counts.to_numpy().sum())
    unit = next((TITLES[unit] for unit in shares), TITLES[""])
    title = f"Gold types and what {here.system} made of them"
    return confusion_map(table.shown, texts, cells, title, unit, records, dark=dark)


def _figure(here: Here, table: Confusion) -> tuple[int, int] | None:
    figure = _drawn(here, table, dark=st.context.theme.type == "dark")
    chosen = count_figure(figure, "map", (here.view,), file="confusion-map")
    if len(chosen) < 2 or not (0 <= chosen[0] < len(table.rows) and 0 <= chosen[1] < len(table.columns)):
        return None
    return int(chosen[0]), int(chosen[1])
