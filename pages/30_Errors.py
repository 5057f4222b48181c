"""Errors: the queue of match records, narrowed down by facets, searched and sorted; choose one to read it."""

import streamlit as st

from pages.shared import errors
from pages.shared.frame import Here, page
from pages.shared.lists import counted, record_table
from pages.shared.queries import ordered


@page("Errors")
def draw(here: Here) -> None:
    errors.search(here)
    errors.facets(here)

    found = ordered(here.shown(), here.view.ordered_by())

    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"**{counted(here.by, found)}**")
        if not here.view.decision:
            st.caption("all but correct (COR); choose decisions above to see others")
    record_table(here, here.by, found, name="errors", height=420)
