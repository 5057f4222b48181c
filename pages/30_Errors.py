"""Errors: the queue of match records, narrowed down by facets, searched and sorted, or the classes of errors."""

from functools import partial

import streamlit as st

from pages.shared import against, error_classes, errors, sentence, verdict_lists
from pages.shared.frame import Here, page
from pages.shared.lists import counted, record_table


@page("Errors")
def draw(here: Here) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        by_class = error_classes.chosen(here)
        if not by_class:
            errors.search(here)
    if by_class:
        error_classes.draw(here)
        return
    errors.facets(here)

    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"**{counted(here.by, here.ledger().total(here.query()))}**")
        if not here.view.decision:
            st.caption("all but correct (COR)", help="Choose decisions above to see others.")
        verdict_lists.progress(here)
        against.control(here)
    verdict_lists.batch(here)
    sentence.errors(here)
    name = verdict_lists.LIST
    order = here.view.ordered_by()
    beside = partial(verdict_lists.steps, here)
    record_table(here, here.by, here.query(), name=name, order=order, height=420, card=errors.card, beside=beside)
