"""Inspect: which decision did each span get, why, and who is right? Queue, text and verdicts in one place."""

from pathlib import Path

import streamlit as st

from nereval_core.records.queries import ORDERS
from pages.shared import frame
from pages.shared.data.page_context import PageContext
from pages.shared.inspect import error_classes, facets, filters, patterns, tabs
from pages.shared.inspect.workbench import draw_workbench
from pages.shared.verdicts import list as verdicts_list
from pages.shared.verdicts.events import apply_events, give_waiting
from pages.shared.view.queries import RECORDS_TAB
from pages.shared.view.text import plain

STYLE = Path(__file__).parent / "shared" / "inspect" / "page.css"


@frame.page("Inspect", filters=lambda view: view.inspect_tab in ("", RECORDS_TAB))
def draw(page: PageContext) -> None:
    st.html(STYLE)
    if apply_events(page) or give_waiting():
        st.rerun()
    if patterns.apply_event(page) or facets.apply_event(page) or verdicts_list.open_first_open(page):
        st.rerun()
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="inspect_bar"):
        tab = tabs.choose_tab(page)
        if tab == RECORDS_TAB:
            filters.draw_bar(page)
    if tab == tabs.PATTERNS_TAB:
        patterns.draw_patterns(page)
        return
    if tab == tabs.CLASSES_TAB:
        error_classes.draw_classes(page)
        return
    filters.show_search_problems(page)
    verdicts_list.batch_of_list(page)
    ledger, order = page.ledger(), page.view.order
    if order not in ledger.orders(page.query()):
        st.caption(f"So many records are not sorted by {order}; they stand in document order. Narrow them down.")
        order = ORDERS[0]
    for words in ledger.caveats(page.query()):
        st.caption(words)
    with st.container(horizontal=True, gap="small", key="inspect_body"):
        facets.draw_facets(page)
        opened = draw_workbench(page, order)
    if opened.unknown:
        st.warning(
            f"{plain(opened.unknown)} is not a record of this document under these settings: its type may be merged or "
            "left out, or the matching criterion counts tokens instead of spans."
        )
    if opened.outside and opened.read is not None:
        st.warning(f"The place {opened.outside} is not in this text, which has {len(opened.read.text):,} characters.")
    filters.draw_record_menu(page, opened, order)
    filters.say_errors(page)
