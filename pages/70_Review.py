"""Review: scores against gold as corrected by verdicts, the verdicts themselves, and corrected copies."""

import streamlit as st

from pages.shared.frame import Here, page
from pages.shared.review import views as review_views
from pages.shared.verdicts import list as verdicts_list


@page("Review")
def draw(here: Here) -> None:
    verdicts_list.show_verdict_problems()
    view = review_views.choose_view(here)
    with st.container():
        view(here)
