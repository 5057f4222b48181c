"""Review: what would the scores be had gold been as the verdicts have it, and how do they get back into the data?"""

import streamlit as st

from pages.shared import review_views, verdict_lists
from pages.shared.frame import Here, page


@page("Review")
def draw(here: Here) -> None:
    verdict_lists.problems()
    view = review_views.chosen(here)
    with st.container():
        view(here)
