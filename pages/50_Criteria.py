"""Criteria: the scores of one prediction under every matching criterion, and the spans that make the difference."""

import streamlit as st

from pages.shared import criteria
from pages.shared.criteria import views as criteria_views
from pages.shared.frame import Here, page
from pages.shared.view import CRITERIA_VIEWS
from pages.shared.view.text import plain


@page("Criteria", filters=lambda view: view.choice(CRITERIA_VIEWS) == "ladder")
def draw(here: Here) -> None:
    view = criteria_views.choose_view(here)
    if view is not None:
        view(here)
        return
    st.caption(
        f"The predictions of {plain(here.system)} under every matching criterion and published scorer that applies. "
        "A scorer stands below the criterion that means the same. All types as annotated: nothing merged or left out."
    )
    here = criteria.as_read(here)
    rows, refused = criteria.score_rows(here)

    criteria.score_figure(here, rows)
    cell = criteria.all_criteria_table(here, rows)
    if cell is not None:
        criteria.open_cell(here, rows, *cell)

    criteria.list_refused(refused)
