"""Inspect: the queue of match records, narrowed down by facets, searched and sorted, or the classes of errors."""

from functools import partial

import streamlit as st

from pages.shared import errors
from pages.shared.components import sentence
from pages.shared.components.record_list import count_words, record_table
from pages.shared.errors import against_system
from pages.shared.errors import by_class as error_classes
from pages.shared.frame import Here, page
from pages.shared.verdicts import list as verdicts_list


@page("Inspect", filters=lambda view: True)
def draw(here: Here) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        by_class = error_classes.choose_classes(here)
        if not by_class:
            errors.search_and_order(here)
    if by_class:
        error_classes.draw_classes(here)
        return
    errors.choose_facets(here)

    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"**{count_words(here.by, here.ledger().total(here.query()))}**")
        if not here.view.decision:
            st.caption("all but correct (COR)", help="Choose decisions above to see others.")
        verdicts_list.say_progress(here)
        against_system.choose_against(here)
    verdicts_list.batch_of_list(here)
    sentence.errors(here)
    name = verdicts_list.LIST
    order = here.view.ordered_by()
    beside = partial(verdicts_list.list_steps, here)
    record_table(here, here.by, here.query(), name=name, order=order, height=420, card=errors.error_card, beside=beside)
