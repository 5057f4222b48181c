"""The four views of the Criteria page and their parts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import streamlit as st

from pages.shared.criteria import comparison, merging, rules
from pages.shared.data.page_context import PageContext
from pages.shared.view import TABS, state

ALL = "all"
PARTS: Mapping[str, Mapping[str, str]] = {
    "All": {ALL: "All criteria"},
    "Two criteria": {"two-criteria": "Gap by cause", "curve": "Overlap curve"},
    "Why": {"ladder": "One record", "recovered": "Rescued errors"},
    "Advanced": {"merging": "Merge types", "stand-in": "Proxy criterion", "compose": "Compose a criterion"},
}
"""The four views of the page, each with its parts by their words."""
VIEWS: Mapping[str, Callable[[PageContext], None]] = {
    "two-criteria": comparison.compare_two,
    "curve": rules.draw_curve,
    "ladder": comparison.draw_ladder,
    "recovered": comparison.list_recovered,
    "merging": merging.try_merging,
    "stand-in": merging.compare_stand_ins,
    "compose": rules.compose_criterion,
}
assert tuple(VIEWS) == TABS["criteria_tab"]


def choose_view(page: PageContext) -> Callable[[PageContext], None] | None:
    """Ask for a view and a part of it; return the function that draws it, None for all criteria."""
    word = page.view.criteria_tab or ALL
    parts = next(parts for parts in PARTS.values() if word in parts)
    first_parts = {next(iter(group)): name for name, group in PARTS.items()}
    with st.container(horizontal=True, vertical_alignment="center"):
        _choose("criteria_view", "View", first_parts, next(iter(parts)))
        if len(parts) > 1:
            _choose("criteria_part", "Part of the view", parts, word)
    return VIEWS.get(word)


def _choose(widget: str, label: str, choices: Mapping[str, str], word: str) -> None:
    st.segmented_control(
        label,
        list(choices),
        format_func=choices.__getitem__,
        required=True,
        label_visibility="collapsed",
        width="content",
        wrap=True,
        **state.mirror(widget, word, _take),
    )


def _take(word: str) -> None:
    state.put(replace(state.view(), criteria_tab="" if word == ALL else word))
