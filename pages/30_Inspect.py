"""Inspect: which decision did each span get, why, and who is right? Queue, text and verdicts in one place."""

from pathlib import Path

import streamlit as st

from nereval_core.records.queries import ORDERS
from pages.shared.components import sentence
from pages.shared.frame import Here, page
from pages.shared.inspect import error_classes, filters
from pages.shared.inspect.workbench import KEY, draw_workbench
from pages.shared.verdicts import dialogs, right_span
from pages.shared.verdicts import list as verdicts_list
from pages.shared.verdicts.case import reason_unoffered
from pages.shared.verdicts.events import apply_events, give_waiting, open_next
from pages.shared.view import keys
from pages.shared.view.text import plain

STYLE = Path(__file__).parent / "shared" / "inspect" / "page.css"


@page("Inspect", filters=lambda view: True)
def draw(here: Here) -> None:
    st.html(STYLE)
    if apply_events(here, st.session_state.get(KEY, {}).get("out")) or give_waiting(here):
        st.rerun()
    by_class = error_classes.is_chosen(here)
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="inspect_bar"):
        if by_class:
            error_classes.choose_classes(here)
        else:
            filters.draw_bar(here)
    if by_class:
        error_classes.draw_classes(here)
        return
    verdicts_list.batch_of_list(here)
    ledger, order = here.ledger(), here.view.ordered_by()
    if order not in ledger.orders(here.query()):
        st.caption(f"So many records are not sorted by {order}; they stand in document order. Narrow them down.")
        order = ORDERS[0]
    for words in ledger.said(here.query()):
        st.caption(words)
    there = draw_workbench(here, order)
    if there.unknown:
        st.warning(
            f"{plain(there.unknown)} is no record of this document under these settings: its type may be merged or "
            "left out, or the matching criterion counts tokens instead of spans."
        )
    filters.draw_record_menu(here, there, order)
    sentence.errors(here)
    if not reason_unoffered(here):
        right_span.draw_right_span(here, lambda: open_next(here, there.queue.at))
        if st.session_state.get(keys.WAITING):
            dialogs.ask_name()
