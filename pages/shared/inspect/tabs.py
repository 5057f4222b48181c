"""The tabs of Inspect: patterns first where there are errors enough, the records, and the classes of errors."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from pages.shared.data.page_context import PageContext
from pages.shared.inspect import patterns
from pages.shared.view import keys, state
from pages.shared.view.queries import RECORDS_TAB

PATTERNS_TAB, CLASSES_TAB = "patterns", "by-class"
NAMES = {PATTERNS_TAB: "Patterns", RECORDS_TAB: "Records", CLASSES_TAB: "Classes"}


def tab_of(page: PageContext) -> str:
    """Return the tab of the view: a link that narrows the records down lists them, and so does whoever has begun to."""
    view = page.view
    tab = view.inspect_tab
    if not tab:
        goes_on = view.is_narrowed or st.session_state.get(keys.LISTED) == page.loaded.id
        tab = RECORDS_TAB if goes_on or not patterns.is_front(page) else PATTERNS_TAB
    if tab == RECORDS_TAB:
        st.session_state[keys.LISTED] = page.loaded.id
    return tab


def choose_tab(page: PageContext) -> str:
    """Ask for the tab and return it."""
    tab = tab_of(page)
    st.segmented_control(
        "View",
        list(NAMES),
        format_func=NAMES.__getitem__,
        required=True,
        label_visibility="collapsed",
        width="content",
        **state.mirror("inspect_tab", tab, lambda word: state.put(replace(state.view(), inspect_tab=word))),
    )
    return tab
