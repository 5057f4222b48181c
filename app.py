"""The front page: what this is, the corpus at hand, and the choice of another; and the server of all pages."""

from functools import partial

import streamlit as st
from streamlit.starlette import App

from pages.shared import frame, start
from pages.shared.data import caches, kept_corpora, server_start
from pages.shared.data.memo import MEMO
from pages.shared.data.page_context import PageContext
from pages.shared.server import component_files, http_policy, memory
from pages.shared.start import account, recent
from pages.shared.streamlit_internals import carry_out_callbacks, follow_links_out_of_menus, keep_downloads

if st.runtime.exists():

    @frame.page("Start", needs_corpus=False)
    def draw(page: PageContext | None) -> None:
        corpora = recent.recent_corpora()
        with st.container(key="start"):
            if page is None:
                start.draw_headline(with_example=not corpora)
            start.draw_other_problems(page)
            start.choose_corpus(page, corpora)
            if page is not None:
                account.draw_account(page)

elif __name__ != "__mp_main__":
    # A process that the server starts runs this file too, and serves nothing.
    verdicts = server_start.check()
    memory.share_heaps()
    kept_corpora.read_named_files()
    server_start.announce(verdicts)
    carry_out_callbacks()
    keep_downloads()
    follow_links_out_of_menus()
    server_start.begin_expiry()
    memory.begin(partial(MEMO.measure, again=True), caches.forget)
    # `streamlit run app.py` finds the application by its name, and runs this file again for the page.
    app = App(__file__, middleware=http_policy.middleware(), routes=[component_files.route()])
