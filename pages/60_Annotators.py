"""Annotators: on what do they disagree, how far do they agree, and what would a careful reader question?"""

import streamlit as st

from pages.shared import frame
from pages.shared.annotators import choose_annotators
from pages.shared.annotators.disagreements import draw_disagreements
from pages.shared.annotators.figures import draw_figures
from pages.shared.components.sort_controls import choose_word
from pages.shared.consistency import choose_layer
from pages.shared.consistency.view import draw_consistency
from pages.shared.data.page_context import PageContext
from pages.shared.view import AGREEMENT_VIEWS, CONSISTENCY, CONSISTENCY_VIEWS, FIGURES

PARTS = {"": "Disagreements", FIGURES: "Figures", CONSISTENCY: "Consistency"}
VIEWS = {FIGURES: AGREEMENT_VIEWS, CONSISTENCY: CONSISTENCY_VIEWS}


def _choose_part(page: PageContext) -> str:
    """Ask for a part of the page; the words of a part's own views lead to it too."""
    asked = None
    if not page.view.choice(tuple(PARTS)):
        asked = next((part for part, words in VIEWS.items() if page.view.choice(words)), None)
    views = [word for words in VIEWS.values() for word in words]
    return choose_word(page, "part", "Part", PARTS, chosen=asked, gives_up=views)


@frame.page("Annotators")
def draw(page: PageContext) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        part = _choose_part(page)
        names = () if part == CONSISTENCY else choose_annotators(page)
        if part == CONSISTENCY:
            choose_layer(page)
    if part == CONSISTENCY:
        draw_consistency(page)
    elif len(names) < 2:
        st.info("Choose two annotators or more.")
    elif part == FIGURES:
        draw_figures(page, names)
    else:
        draw_disagreements(page, names)
