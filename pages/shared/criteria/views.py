"""What the Criteria page shows: all criteria, or one of the views beside."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import streamlit as st

from pages.shared.criteria import curve as criteria_curve
from pages.shared.criteria import ladder as criteria_ladder
from pages.shared.criteria import merging as criteria_merging
from pages.shared.criteria import two as criteria_two
from pages.shared.view import CRITERIA_VIEWS, keys, state

if TYPE_CHECKING:
    from pages.shared.frame import Here

ALL = "all"
KEY = f"{keys.WIDGET}criteria_view"
LABELS: Mapping[str, str] = {
    ALL: "All criteria",
    "two-criteria": "Two criteria",
    "curve": "Overlap curve",
    "ladder": "Ladder of a record",
    "recovered": "What could be recovered",
    "merging": "Merging types",
    "stand-in": "Stand-ins",
    "compose": "Compose",
}
VIEWS: Mapping[str, Callable[[Here], None]] = {
    "two-criteria": criteria_two.draw,
    "curve": criteria_curve.draw,
    "ladder": criteria_ladder.draw,
    "recovered": criteria_two.recovered,
    "merging": criteria_merging.draw,
    "stand-in": criteria_merging.stands_in,
    "compose": criteria_curve.compose,
}
assert tuple(VIEWS) == CRITERIA_VIEWS


def chosen(here: Here) -> Callable[[Here], None] | None:
    """Ask what is shown; return what draws it, None for all criteria. Nothing else is drawn."""
    name = next((word for word in here.view.sort if word in VIEWS), ALL)
    st.session_state[KEY] = name
    st.segmented_control(
        "Show", list(LABELS), format_func=LABELS.__getitem__, key=KEY, on_change=_took, required=True,
        label_visibility="collapsed",
    )  # fmt: skip
    return VIEWS.get(name)


def _took() -> None:
    view, name = state.view(), st.session_state[KEY]
    for word in CRITERIA_VIEWS:
        view = view.with_sort(word, False)
    state.put(view.with_sort(name) if name in VIEWS else view)
