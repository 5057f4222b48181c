"""Slices: on which spans and documents is the system how good?"""

import streamlit as st

from pages.shared import slices, slicing, thresholds, worst
from pages.shared.frame import Here, page
from pages.shared.plain import plain

VIEWS = {
    "by-value": ("By what spans and documents are", slicing.draw),
    "scores": ("By the scores of predictions", thresholds.draw),
    "worst-slices": ("Where two slices together are worst", worst.draw),
    "decades": ("By decade", slices.decades),
}


@page("Slices")
def draw(here: Here) -> None:
    chosen = slices.chosen_view(here)
    if chosen in VIEWS:
        title, show = VIEWS[chosen]
        st.subheader(f"{title}, under {plain(here.by)}")
        show(here)
    else:
        st.subheader("By period and noise, as the CLEF-HIPE scorer slices")
        slices.published(here)
