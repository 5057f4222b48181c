"""The four views of the Criteria page and their parts."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import streamlit as st

from pages.shared.components.sort_controls import choose_word
from pages.shared.criteria import curve as criteria_curve
from pages.shared.criteria import ladder as criteria_ladder
from pages.shared.criteria import merging as criteria_merging
from pages.shared.criteria import two as criteria_two
from pages.shared.data.page_context import PageContext
from pages.shared.view import CRITERIA_VIEWS, state

ALL = "all"
PARTS: Mapping[str, Mapping[str, str]] = {
    "All": {ALL: "All criteria"},
    "Two criteria": {"two-criteria": "Gap by cause", "curve": "Overlap curve"},
    "Why": {"ladder": "One record", "recovered": "Rescued errors"},
    "Advanced": {"merging": "Merge types", "stand-in": "Proxy criterion", "compose": "Compose a criterion"},
}
"""The four views of the page, each with its parts by their words."""
VIEWS: Mapping[str, Callable[[PageContext], None]] = {
    "two-criteria": criteria_two.compare_two,
    "curve": criteria_curve.draw_curve,
    "ladder": criteria_ladder.draw_ladder,
    "recovered": criteria_two.list_recovered,
    "merging": criteria_merging.try_merging,
    "stand-in": criteria_merging.compare_stand_ins,
    "compose": criteria_curve.compose_criterion,
}
assert tuple(VIEWS) == CRITERIA_VIEWS


def choose_view(page: PageContext) -> Callable[[PageContext], None] | None:
    """Ask for a view and a part of it; return the function that draws it, None for all criteria."""
    word = page.view.choice(CRITERIA_VIEWS) or ALL
    firsts = {next(iter(parts)): name for name, parts in PARTS.items()}
    parts = next(parts for parts in PARTS.values() if word in parts)
    with st.container(horizontal=True, vertical_alignment="center"):
        choose_word(page, "criteria_view", "View", firsts, chosen=next(iter(parts)), gives_up=CRITERIA_VIEWS)
        if len(parts) > 1:
            st.segmented_control(
                "Part of the view",
                list(parts),
                format_func=parts.__getitem__,
                required=True,
                label_visibility="collapsed",
                **state.mirror("criteria_part", word, _take_part),
            )
    return VIEWS.get(word)


def _take_part(word: str) -> None:
    state.put(state.view().with_choice(CRITERIA_VIEWS, word))
