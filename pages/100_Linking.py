"""Linking: which mention got the right concept id, which ids are confused, and where in the text."""

import streamlit as st

from pages.shared import linking
from pages.shared.frame import Here, page
from pages.shared.linking import lists as linking_lists


@page("Linking", filters=lambda view: True)
def draw(here: Here) -> None:
    if linking.say_no_links(here):
        return
    top = st.container()
    links = linking.choose_scoring(here)
    with top:
        linking.say_headline(links)
    linking.show_metrics(links)

    found = linking_lists.chosen_records(links)
    if linking.choose_list(here):
        linking_lists.show_confused(links)
    else:
        linking_lists.show_records(links, found)

    linking_lists.show_document(links, found)
