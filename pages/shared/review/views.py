"""What the Review page shows: what-if scores, or one of the views beside."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import streamlit as st

from pages.shared.review import adjudication, verdict_list, what_if_scores
from pages.shared.review import copies as review_copies
from pages.shared.view import REVIEW_VIEWS, keys, state

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
    FIRST: what_if_scores.draw,
    "given-verdicts": verdict_list.draw,
    "adjudicate": adjudication.draw,
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
