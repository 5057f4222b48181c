"""What the Review page shows: what-if scores, or one of the views beside."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import streamlit as st

from pages.shared import (
    keys,
    review_adjudicate,
    review_copies,
    review_list,
    review_scores,
    state,
)
from pages.shared.url import REVIEW_VIEWS

if TYPE_CHECKING:
    from pages.shared.frame import Here

FIRST = "what-if"
KEY = f"{keys.WIDGET}review_view"
LABELS: Mapping[str, str] = {
    FIRST: "What if",
    "given-verdicts": "Verdicts",
    "adjudicate": "Adjudicate",
    "take-along": "Export and import",
}
VIEWS: Mapping[str, Callable[[Here], None]] = {
    FIRST: review_scores.draw,
    "given-verdicts": review_list.draw,
    "adjudicate": review_adjudicate.draw,
    "take-along": review_copies.draw,
}
assert tuple(VIEWS) == (FIRST, *REVIEW_VIEWS)


def chosen(here: Here) -> Callable[[Here], None]:
    """Ask what is shown; return what draws it. Nothing else is drawn."""
    name = next((word for word in here.view.sort if word in REVIEW_VIEWS), FIRST)
    st.session_state[KEY] = name
    st.segmented_control(
        "Show", list(LABELS), format_func=LABELS.__getitem__, key=KEY, on_change=_took, required=True,
        label_visibility="collapsed",
    )  # fmt: skip
    return VIEWS[name]


def _took() -> None:
    view, name = state.view(), st.session_state[KEY]
    for word in REVIEW_VIEWS:
        view = view.with_sort(word, False)
    state.put(view.with_sort(name) if name in REVIEW_VIEWS else view)
