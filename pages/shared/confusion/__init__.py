"""The Confusion page: the confusion table as a heat map, and its layout."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import streamlit as st

from nereval_core.report.figures.scores import confusion_map
from nereval_core.scoring.count_tables import free_name
from pages.shared.components.downloads import Export
from pages.shared.components.navigation import choose_word, toggle_layout
from pages.shared.confusion.heat_map import draw_heat_map
from pages.shared.data.page_context import PageContext
from pages.shared.view.confusion_layout import Confusion

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
