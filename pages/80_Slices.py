"""Slices: how good is the system in which period, and on how noisy a text?"""

import streamlit as st

from pages.shared import slices
from pages.shared.frame import Here, page
from pages.shared.plain import plain


@page("Slices")
def draw(here: Here) -> None:
    st.subheader(f"By decade, under {plain(here.by)}")
    slices.decades(here)

    st.subheader("By period and noise, as the CLEF-HIPE scorer slices")
    slices.published(here)
