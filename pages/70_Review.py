"""Review: scores against gold as corrected by verdicts, the verdicts themselves, and corrected copies."""

import streamlit as st

from pages.shared import frame
from pages.shared.data.page_context import PageContext
from pages.shared.review import views as review_views
from pages.shared.verdicts import list as verdicts_list


@frame.page("Review")
def draw(page: PageContext) -> None:
    verdicts_list.show_verdict_problems()
    view = review_views.choose_view(page)
    with st.container():
        view(page)
