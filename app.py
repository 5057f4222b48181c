"""The front page: what this is, three ways in, and the choice of a corpus; and the server that sends all pages."""

import streamlit as st
from streamlit.starlette import App

from pages.shared import start
from pages.shared.data import http_policy
from pages.shared.frame import Here, page

if st.runtime.exists():

    @page("Start", needs_corpus=False)
    def draw(here: Here | None) -> None:
        start.draw_headline()
        start.offer_ways_in(here)
        start.choose_corpus(here)
        start.show_reading_problems()
        if here is not None:
            start.say_what_was_read(here)

else:
    # `streamlit run app.py` finds the application by its name, and runs this file again for the page.
    app = App(__file__, middleware=http_policy.middleware())
