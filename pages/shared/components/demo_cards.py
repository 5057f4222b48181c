"""Opening a corpus, and the demo corpora to open."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from nereval_core.problems import FormatError
from pages.shared.data import caches
from pages.shared.data.loading import Loaded, demo_names
from pages.shared.view import View, keys, state
from pages.shared.view.text import plain


def open_corpus(loaded: Loaded) -> None:
    """Show a corpus; a link that waits for it keeps its filters, any other view starts anew."""
    digest = loaded.corpus.digest
    waiting = state.view()
    fits = waiting.corpus != "" and digest.startswith(waiting.corpus)
    state.put(replace(waiting, corpus=digest) if fits else View(corpus=digest, system=loaded.start, mask=waiting.mask))
    st.session_state[keys.UPLOAD_PROBLEMS] = FormatError(loaded.problems).lines() if loaded.problems else []


def offer_demos(chosen: str | None) -> None:
    """Offer the demo corpora in a row; `chosen` is the digest of the corpus at hand."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown("Open a demo:", width="content")
        for name in demo_names():
            loaded = caches.demo(name)
            st.button(
                plain(loaded.corpus.name),
                key=f"demo-{name}",
                icon=":material/play_arrow:",
                on_click=open_corpus,
                args=(loaded,),
                disabled=loaded.corpus.digest == chosen,
                help=plain(loaded.description, 300),
            )
