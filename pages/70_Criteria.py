"""Criteria: how far does the score of one prediction depend on what counts as a match, and which spans make it?"""

import streamlit as st

from pages.shared import criteria
from pages.shared.criteria import views as criteria_views
from pages.shared.frame import Here, page
from pages.shared.view.plain_text import plain


@page("Criteria")
def draw(here: Here) -> None:
    view = criteria_views.chosen(here)
    if view is not None:
        view(here)
        return
    st.caption(
        f"The predictions of {plain(here.system)} under every matching criterion and published scorer that applies. "
        "A scorer stands below the criterion that means the same. All types as annotated: nothing merged or left out."
    )
    here = criteria.as_read(here)
    rows, refused = criteria.rows(here)

    criteria.dots(here, rows)
    cell = criteria.overview_table(here, rows)
    if cell is not None:
        criteria.opened_cell(here, rows, *cell)

    criteria.not_applying(refused)
