"""Annotators: on what do they disagree, how far do they agree, and what would a careful reader question?"""

import streamlit as st

from pages.shared import frame
from pages.shared.annotators import choose_annotators, draw_disagreements
from pages.shared.annotators.figures import draw_figures, draw_headline
from pages.shared.components.navigation import choose_word
from pages.shared.consistency import choose_layer, draw_consistency
from pages.shared.data.page_context import PageContext

TABS = {"": "Disagreements", "figures": "Figures", "consistency": "Consistency"}


@frame.page("Annotators")
def draw(page: PageContext) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        tab = choose_word(page, "annotators_tab", "Part", TABS)
        names = () if tab == "consistency" else choose_annotators(page)
        if tab == "consistency":
            choose_layer(page)
    if tab == "consistency":
        draw_consistency(page)
    elif len(names) < 2:
        st.info("Choose two annotators or more.")
    elif tab == "figures":
        draw_figures(page, names)
    else:
        draw_headline(page, names)
        draw_disagreements(page, names)
