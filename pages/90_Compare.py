"""Compare: is one system really better than another, and does the order hold under other criteria?"""

import streamlit as st

from pages.shared import compare
from pages.shared.compare import transitions
from pages.shared.frame import Here, page
from pages.shared.overview.tables import all_criteria
from pages.shared.view.text import plain


@page("Compare")
def draw(here: Here) -> None:
    everything = all_criteria(here)
    names = compare.shown_criteria(here, everything)
    found = compare.comparison_of(here, names)
    compare.say_comparison(here, found)

    st.header("F1 by matching criterion")
    compare.score_table(here, found)
    compare.leaderboard(here, found)

    if len(here.systems) > 1:
        st.header(f"Against {plain(here.system)}, under {plain(here.by)}")
        compare.baseline_differences(here, found)
    st.header(f"By type, under {plain(here.by)}")
    compare.by_type(here, found)

    if len(here.systems) > 1:
        st.header("Does the order hold?")
        compare.order_of_systems(here, found)
    if len(here.systems) > 2:
        st.header(f"Each against each, under {plain(here.by)}")
        compare.pairwise_differences(here, found)
    transitions.draw(here)
