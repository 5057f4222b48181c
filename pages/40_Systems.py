"""Systems: is one system really better than another, and does the order hold under other criteria?"""

import streamlit as st

from pages.shared import systems
from pages.shared.components.sort_controls import toggle_all_criteria
from pages.shared.frame import Here, page
from pages.shared.systems import transitions
from pages.shared.view.text import plain


@page("Systems")
def draw(here: Here) -> None:
    everything = toggle_all_criteria(here)
    names = systems.shown_criteria(here, everything)
    found = systems.comparison_of(here, names)
    systems.say_comparison(here, found)

    st.header("F1 by matching criterion")
    systems.score_table(here, found)
    systems.leaderboard(here, found)

    if len(here.systems) > 1:
        st.header(f"Against {plain(here.system)}, under {plain(here.by)}")
        systems.baseline_differences(here, found)
    st.header(f"By type, under {plain(here.by)}")
    systems.by_type(here, found)

    if len(here.systems) > 1:
        st.header("Does the order hold?")
        systems.order_of_systems(here, found)
    if len(here.systems) > 2:
        st.header(f"Each against each, under {plain(here.by)}")
        systems.pairwise_differences(here, found)
    transitions.draw(here)
