"""Review: what would the scores be had gold been as the verdicts have it, and how do they get back into the data?"""

import streamlit as st

from pages.shared.frame import Here, page
from pages.shared.review import views as review_views
from pages.shared.verdicts import list as verdicts_list


@page("Review")
def draw(here: Here) -> None:
    verdicts_list.problems()
    view = review_views.chosen(here)
    with st.container():
        view(here)
