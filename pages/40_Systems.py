"""Systems: is one system really better than another, and does the order hold under other criteria?"""

import streamlit as st

from pages.shared import frame, systems
from pages.shared.components import sentence
from pages.shared.components.export_menu import offer_methods
from pages.shared.components.navigation import choose_word, toggle_all_criteria
from pages.shared.data.page_context import PageContext
from pages.shared.systems import measures, pair, ranking
from pages.shared.view import keys

RANKING, TYPES, CRITERIA, PAIRS, TRANSITIONS = "", "types-of-systems", "across-criteria", "all-pairs", "from-a-to-b"
LABELS = {
    RANKING: "Ranking",
    TYPES: "By type",
    "slices-of-systems": "By slice",
    CRITERIA: "By criterion",
    "published-rankings": "Published scorers",
    PAIRS: "All pairs",
    TRANSITIONS: "From A to B",
}


@frame.page("Systems")
def draw(page: PageContext) -> None:
    comparison = systems.comparison_of(page, systems.shown_criteria(page, "all-criteria" in page.view.layout))
    offer_methods(lambda: ranking.shown_methods(page, comparison), page.words)
    sentence.draw_notices(page, comparison.scores)
    systems.say_comparison(page, comparison)
    other = pair.other_system(page, comparison)
    with st.container(horizontal=True, vertical_alignment="center"):
        # One system has no other to be compared with.
        offered = {word: label for word, label in LABELS.items() if other or word not in (PAIRS, TRANSITIONS)}
        tab = choose_word(page, "systems_tab", "Show", offered)
        systems.choose_annotators(page)
        if tab in (RANKING, CRITERIA):
            toggle_all_criteria(page)
    if tab == PAIRS:
        systems.pairwise_differences(page, comparison)
    elif tab == TRANSITIONS:
        with st.container(horizontal=True, vertical_alignment="center"):
            pair.ask_other(page, comparison, other)
        pair.draw_transitions(page, other)
    else:
        drawn = ranking.draw_ranking(page, comparison, tab, other)
        if other:
            pair.draw_pair(page, comparison, other)
        if drawn is not None:
            with st.expander("All numbers as tables", key=f"{keys.LIST}numbers", on_change="rerun") as numbers:
                ranking.draw_numbers(page, comparison, drawn, tab, is_open=bool(numbers.open))
        if other:
            systems.power(page, comparison)
            measures.draw_runs(page, comparison)
        measures.measures(page, comparison)
        systems.choose_method(page, comparison)
