"""The Confusion page: the confusion table as a heat map, whose cells are chosen with the mouse or the arrow keys."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import streamlit as st

from nereval_core.report.figures.scores import confusion_map
from nereval_core.scoring.count_tables import free_name
from nereval_core.tables import name_text
from pages.shared.components.downloads import Export, table_key
from pages.shared.components.navigation import choose_word, toggle_layout
from pages.shared.data.page_context import PageContext
from pages.shared.view import keys
from pages.shared.view.confusion_layout import Confusion
from pages.shared.view.layer_words import GOLD_AND_PREDICTION, LayerWords

UNITS = {"": "counts", "row": "row %", "column": "column %"}
TITLES = {"": "counts of match records", "row": "per cent of each row", "column": "per cent of each column"}
TYPES = 100
"""Types in the table at most: a larger one would make too long a message to the browser."""
SWITCHES = {
    "off-diagonal": ("Hide the diagonal", "Leaves pairs of equal type blank, so that confusions stand out."),
    "by-confusion": ("Order by confusion", "Types with most confusions, misses and spurious predictions first."),
}


def types_shown(page: PageContext, cells: Mapping[tuple[str, str], int]) -> tuple[str, ...]:
    """Return the types that the table shows, in order: all of them unless there are very many."""
    types = page.types
    if len(types) <= TYPES:
        return types
    st.caption(f"The {TYPES} of {len(types):,} types with most records; leave out or merge others to see the rest.")
    sums = Counter[str]()
    for pair, number in cells.items():
        for kind in set(pair):
            sums[kind] += number
    return tuple(sorted(sorted(types, key=lambda kind: -sums[kind])[:TYPES]))


def choose_layout(page: PageContext) -> None:
    """Ask how the table is laid out; the answers are kept in the link."""
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        choose_word(page, "share", "Cells show", UNITS, visible=True)
        for word, (label, help_text) in SWITCHES.items():
            toggle_layout(page, word, label, help_text)


def draw_matrix(page: PageContext, table: Confusion) -> tuple[int, int] | None:
    """Draw the table and its files; return row and column of the cell chosen."""
    label = matrix_title(page)
    cell = draw_heat_map(table, (page.view,), label, percent=bool(page.view.share), words=page.words)
    counts = table.counts.reset_index(names=free_name(page.words.reference, list(table.counts.columns)))
    Export(counts, page.signature(), "confusion", figure=lambda: _drawn(page, table)).draw()
    return cell


def matrix_title(page: PageContext) -> str:
    """Return the title of the confusion table."""
    if page.words.annotators:
        return f"Types of {page.words.reference} and of {page.system}"
    return f"Gold types and what {page.system} made of them"


def _drawn(page: PageContext, table: Confusion) -> Any:
    """Return the table as a heat map."""
    texts = table.values.map(lambda value: "" if value != value else f"{value:.0f}{' %' if page.view.share else ''}")
    cells = [[(row, column) for column in range(len(table.columns))] for row in range(len(table.rows))]
    records = int(table.counts.to_numpy().sum())
    unit = TITLES[page.view.share]
    title = matrix_title(page)
    return confusion_map(table.values, texts, cells, title, unit, records)


_HERE = Path(__file__).parent
_mount = st.components.v2.component(
    "nereval_heat_map",
    css=(_HERE / "heat_map.css").read_text(encoding="utf-8"),
    js=(_HERE / "heat_map.js").read_text(encoding="utf-8"),
    isolate_styles=False,
)
CELL = keys.TABLE + "confusion"
"""The cell chosen, in the session: the key of the facts it was chosen under, its row and its column."""


def draw_heat_map(
    table: Confusion, facts: tuple[object, ...], label: str, *, percent: bool, words: LayerWords = GOLD_AND_PREDICTION
) -> tuple[int, int] | None:
    """Draw the table; return row and column of the cell chosen, None once any of the `facts` has changed."""
    now = table_key("", *facts)
    under, row, column = st.session_state.get(CELL, ("", -1, -1))
    fits = under == now and 0 <= row < len(table.rows) and 0 <= column < len(table.columns)
    key = f"{CELL}_map"

    def choose() -> None:
        clicked = st.session_state[key]["choose"]
        if clicked:
            st.session_state[CELL] = (now, int(clicked[0]), int(clicked[1]))

    data = heat_map_data(table, label, percent=percent, words=words) | {"chosen": [row, column] if fits else None}
    _mount(data=data, key=key, on_choose_change=choose)
    return (row, column) if fits else None


def heat_map_data(
    table: Confusion, label: str, *, percent: bool, words: LayerWords = GOLD_AND_PREDICTION
) -> dict[str, Any]:
    """Return names, texts and shades of the cells, row by row.

    A shade is 0 to 1, by the square root, so that small counts show; None for a pair of equal type, which has no part
    in the scale. Missed and spurious spans have a scale of their own.
    """
    values = table.values.to_numpy("float64")
    same = np.eye(len(table.rows), dtype=bool)
    apart = np.zeros_like(same)
    apart[-1, :] = apart[:, -1] = True
    shades = np.zeros_like(values)
    for part in (~apart & ~same, apart & ~same):
        part_values = np.where(part, np.nan_to_num(values), 0)
        shades += np.sqrt(part_values / (part_values.max(initial=0) or 1))
    end = " %" if percent else ""
    return {
        "label": label,
        "sides": [words.reference, words.other if words.annotators else "predicted"],
        "rows": [name_text(str(name)) for name in table.counts.index],
        "columns": [name_text(str(name)) for name in table.counts.columns],
        "texts": [["" if value != value else f"{value:,.0f}{end}" for value in row] for row in values.tolist()],
        "shades": [
            [None if equal else round(shade, 3) for shade, equal in zip(*pair, strict=True)]
            for pair in zip(shades.tolist(), same.tolist(), strict=True)
        ],
    }
