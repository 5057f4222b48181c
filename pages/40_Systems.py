"""Systems: is one system really better than another, and does the order hold under other criteria?"""

import streamlit as st

from nereval_core.analysis.methods import methods
from pages.shared import frame, systems
from pages.shared.components import sentence
from pages.shared.components.export_menu import offer_methods
from pages.shared.components.navigation import choose_word, toggle_all_criteria
from pages.shared.data.page_context import PageContext
from pages.shared.systems import measures, pair
from pages.shared.view import TABS
from pages.shared.view.text import plain

RANKING = "ranking"
LABELS = {RANKING: "Ranking"} | dict(
    zip(TABS["systems_tab"], ("By type", "Across criteria", "All pairs", "From A to B"), strict=True)
)


@frame.page("Systems")
def draw(page: PageContext) -> None:
    comparison = systems.comparison_of(page, systems.shown_criteria(page, "all-criteria" in page.view.layout))
    offer_methods(lambda: methods(comparison))
    sentence.draw_notices(page, page.systems)
    other = pair.other_system(page)
    if other:
        pair.draw_pair(page, comparison, other)
    # One system has no other to be ranked with.
    offered = {word: label for word, label in LABELS.items() if other or word in (RANKING, "types-of-systems")}
    tab = choose_word(page, "systems_tab", "Show", offered)
    if tab == RANKING:
        toggle_all_criteria(page)
        systems.say_comparison(page, comparison)
        systems.scores_by_criterion(page, comparison)
        systems.leaderboard(page, comparison)
        if other:
            st.header(f"Against {plain(page.system)}, under {plain(page.by)}")
            systems.baseline_differences(page, comparison)
            systems.power(page, comparison)
            measures.draw_runs(page, comparison)
        measures.measures(page, comparison)
    elif tab == "types-of-systems":
        systems.by_type(page, comparison)
    elif tab == "across-criteria":
        toggle_all_criteria(page)
        systems.order_of_systems(page, comparison)
    elif tab == "all-pairs":
        systems.pairwise_differences(page, comparison)
    else:
        pair.draw_transitions(page, other)
