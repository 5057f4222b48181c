"""Slices: on which spans and documents is the system how good?"""

import streamlit as st

from pages.shared import slices as shared_slices
from pages.shared.frame import Here, page
from pages.shared.slices import hipe_and_decades, thresholds, worst_combinations
from pages.shared.view.text import plain

VIEWS = {
    "by-value": ("By what spans and documents are", shared_slices.draw_slices),
    "scores": ("By the scores of predictions", thresholds.draw_thresholds),
    "worst-slices": ("Where two slices together are worst", worst_combinations.draw_worst),
    "decades": ("By decade", hipe_and_decades.draw_decades),
}


@page("Slices")
def draw(here: Here) -> None:
    chosen = hipe_and_decades.choose_view(here)
    if chosen in VIEWS:
        title, show = VIEWS[chosen]
        st.header(f"{title}, under {plain(here.by)}")
        show(here)
    else:
        st.header("By period and noise, as the CLEF-HIPE scorer slices")
        hipe_and_decades.draw_hipe(here)
