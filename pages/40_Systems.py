"""Systems: is one system really better than another, and does the order hold under other criteria?"""

import streamlit as st

from nereval_core.analysis.methods import methods
from pages.shared import systems
from pages.shared.components import notices
from pages.shared.components.methods import offer_methods
from pages.shared.components.sort_controls import choose_word, toggle_all_criteria
from pages.shared.frame import Here, page
from pages.shared.systems import measures, pair, runs, transitions
from pages.shared.view import SYSTEMS_VIEWS
from pages.shared.view.text import plain

RANKING = "ranking"
LABELS = {RANKING: "Ranking"} | dict(
    zip(SYSTEMS_VIEWS, ("By type", "Across criteria", "All pairs", "From A to B"), strict=True)
)


@page("Systems")
def draw(here: Here) -> None:
    found = systems.comparison_of(here, systems.shown_criteria(here, "all-criteria" in here.view.sort))
    offer_methods(lambda: methods(found))
    notices.draw_notices(here, here.systems)
    other = pair.other_system(here)
    if other:
        pair.draw_pair(here, found, other)
    # One system has no other to be ranked with.
    offered = {word: label for word, label in LABELS.items() if other or word in (RANKING, "types-of-systems")}
    shown = choose_word(here, "systems_view", "Show", offered)
    if shown == RANKING:
        toggle_all_criteria(here)
        systems.say_comparison(here, found)
        systems.score_table(here, found)
        systems.leaderboard(here, found)
        if other:
            st.header(f"Against {plain(here.system)}, under {plain(here.by)}")
            systems.baseline_differences(here, found)
            systems.power(here, found)
            runs.draw(here, found)
        measures.measures(here, found)
    elif shown == "types-of-systems":
        systems.by_type(here, found)
    elif shown == "across-criteria":
        toggle_all_criteria(here)
        systems.order_of_systems(here, found)
    elif shown == "all-pairs":
        systems.pairwise_differences(here, found)
    else:
        transitions.draw(here, other)
