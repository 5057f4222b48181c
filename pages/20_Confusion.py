"""Confusion: which gold type was predicted as which; each cell opens its records."""

import streamlit as st

from pages.shared import confusion, frame
from pages.shared.components import sentence
from pages.shared.components.tables import BESIDE_FIGURE, open_records
from pages.shared.data.page_context import PageContext
from pages.shared.view.confusion_layout import confusion_table
from pages.shared.view.queries import cell_query
from pages.shared.view.text import plain


@frame.page("Confusion")
def draw(page: PageContext) -> None:
    confusion.choose_layout(page)
    sentence.confusion(page)
    cells = page.ledger().confusion()
    types, share = confusion.types_shown(page, cells), page.view.share
    table = confusion_table(cells, types, page.view.layout, page.words, share=share)
    with st.container(key="confusion_pair"):
        with st.container():
            cell = confusion.draw_matrix(page, table)
        with st.container():
            if cell is None:
                st.caption("Choose a cell, with the mouse or the arrow keys, to see its records.")
                return
            row, column = cell
            if calculation := table.share(row, column, share):
                st.code(calculation, language=None)
            names = page.words.reference, page.words.other if page.words.annotators else "predicted"
            kinds = str(table.counts.index[row]), str(table.counts.columns[column])
            title = ", ".join(plain(f"{name} {kind}") for name, kind in zip(names, kinds, strict=True))
            query = cell_query(table.rows[row], table.columns[column])
            open_records(page, page.by, query, title, name="confusion", columns=BESIDE_FIGURE)
