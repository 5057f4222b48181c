"""Confusion: which gold type was predicted as which; each cell opens its records."""

import streamlit as st

from pages.shared import confusion, frame
from pages.shared.components import sentence
from pages.shared.components.tables import BESIDE_FIGURE, open_records
from pages.shared.data.page_context import PageContext
from pages.shared.view.confusion_layout import confused_pairs, confusion_table, type_groups
from pages.shared.view.text import plain


@frame.page("Confusion", example="biology")
def draw(page: PageContext) -> None:
    sentence.confusion(page)
    cells = page.ledger().confusion()
    types, share = confusion.types_shown(page, cells), confusion.share_of(page)
    groups = type_groups(types, unfolded=page.view.unfold)
    confusion.choose_layout(page, groups)
    table = confusion_table(cells, types, page.view.layout, page.words, share=share, groups=groups)
    pairs = confused_pairs(cells)
    cell = confusion.open_cell(page, groups, pairs)
    with st.container(key="confusion_pair"):
        confusion.draw_matrix(page, table, groups, cell)
        with st.container():
            confusion.draw_pairs(page, pairs, cell)
            if cell is not None:
                title = plain(confusion.cell_title(page, cell))
                open_records(page, page.by, groups.query(cell), title, name="confusion", columns=BESIDE_FIGURE)
