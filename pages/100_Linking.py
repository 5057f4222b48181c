"""Linking: which mention got the right concept id, which ids are confused, and where in the text."""

import streamlit as st

from pages.shared import frame, linking
from pages.shared.data.page_context import PageContext
from pages.shared.linking import lists as linking_lists


@frame.page("Linking", filters=lambda view: True)
def draw(page: PageContext) -> None:
    if linking.say_no_links(page):
        return
    top = st.container()
    links = linking.choose_scoring(page)
    with top:
        linking.say_headline(links)
    linking.show_metrics(links)

    found = linking_lists.chosen_records(links)
    if linking.choose_list(page):
        linking_lists.show_confused(links)
    else:
        linking_lists.show_records(links, found)

    linking_lists.show_document(links, found)
