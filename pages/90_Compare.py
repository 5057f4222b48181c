"""Compare: is one system really better than another, and does the order hold under other criteria?"""

import streamlit as st

from pages.shared import compare, overview
from pages.shared.compare import transitions
from pages.shared.frame import Here, page
from pages.shared.view.plain_text import plain


@page("Compare")
def draw(here: Here) -> None:
    everything = overview.all_criteria(here)
    names = compare.shown_criteria(here, everything)
    found = compare.compared(here, names)
    compare.words(here, found)

    st.subheader("F1 by matching criterion")
    compare.scores(here, found)
    compare.leaderboard(here, found)

    if len(here.systems) > 1:
        st.subheader(f"Against {plain(here.system)}, under {plain(here.by)}")
        compare.differences(here, found)
    st.subheader(f"By type, under {plain(here.by)}")
    compare.types(here, found)

    if len(here.systems) > 1:
        st.subheader("Does the order hold?")
        compare.order(here, found)
    if len(here.systems) > 2:
        st.subheader(f"Each against each, under {plain(here.by)}")
        compare.pairs(here, found)
    transitions.draw(here)
