"""Guide: the meanings of decisions and matching criteria, with examples that are scored as they are edited."""

import streamlit as st

from pages.shared import frame, guide
from pages.shared.data.page_context import PageContext


@frame.page("Guide", needs_corpus=False)
def explain(page: PageContext | None) -> None:
    st.write(
        "A gold span and a prediction that overlap may be aligned, one to one. The matching criterion then decides "
        "what the pair is worth. Gold is ruled above the text, the prediction below it."
    )
    st.write(" · ".join(f"[{title}](#{anchor})" for title, anchor in guide.SECTIONS.items()))
    guide.worked_examples()
    guide.try_it()
    guide.draw_entries()
