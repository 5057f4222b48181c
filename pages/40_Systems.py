"""Systems: is one system really better than another, and does the order hold under other criteria?"""

import streamlit as st

from pages.shared import systems
from pages.shared.components.sort_controls import toggle_all_criteria
from pages.shared.frame import Here, page
from pages.shared.systems import pair, transitions
from pages.shared.view import keys
from pages.shared.view.text import plain

TABLES = ("Ranking", "By type", "Across criteria", "All pairs", "From A to B")


@page("Systems")
def draw(here: Here) -> None:
    found = systems.comparison_of(here, systems.shown_criteria(here, "all-criteria" in here.view.sort))
    other = pair.other_system(here)
    if other:
        pair.draw_pair(here, found, other)
    key = f"{keys.LIST}systems"
    st.session_state.setdefault(key, TABLES[0])
    shown = st.segmented_control(
        "Show", TABLES if other else TABLES[:2], required=True, key=key, label_visibility="collapsed"
    )
    if shown == "Ranking":
        toggle_all_criteria(here)
        systems.say_comparison(here, found)
        systems.score_table(here, found)
        systems.leaderboard(here, found)
        if other:
            st.header(f"Against {plain(here.system)}, under {plain(here.by)}")
            systems.baseline_differences(here, found)
    elif shown == "By type":
        systems.by_type(here, found)
    elif shown == "Across criteria":
        toggle_all_criteria(here)
        systems.order_of_systems(here, found)
    elif shown == "All pairs":
        systems.pairwise_differences(here, found)
    else:
        transitions.draw(here, other)
