"""Confusion: which gold type was predicted as which; each cell opens its records."""

import streamlit as st

from pages.shared import confusion
from pages.shared.components import sentence
from pages.shared.components.record_list import open_records
from pages.shared.frame import Here, page
from pages.shared.view.count_tables import confusion_table
from pages.shared.view.queries import cell_query
from pages.shared.view.text import plain


@page("Confusion")
def draw(here: Here) -> None:
    st.caption(
        "Gold types down, predicted types across; aligned pairs with other boundaries are counted too. "
        "The last row holds spurious predictions (SPU), the last column missed gold spans (MIS)."
    )
    sentence.confusion(here)
    layout = confusion.choose_layout(here)
    cells = here.ledger().confusion()
    table = confusion_table(cells, confusion.types_shown(here, cells), layout)

    cell = confusion.draw_matrix(here, table)

    if cell is None:
        return
    row, column = cell
    if share := table.share(row, column, layout):
        st.code(share, language=None)
    title = f"gold {plain(table.counts.index[row])}, predicted {plain(table.counts.columns[column])}"
    query = cell_query(table.rows[row], table.columns[column])
    open_records(here, here.by, query, title, name="confusion")
