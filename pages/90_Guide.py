"""Guide: the meanings of decisions and matching criteria, with examples that are scored as they are edited."""

import streamlit as st

from pages.shared import frame
from pages.shared.data.page_context import PageContext
from pages.shared.guide import entries, examples


@frame.page("Guide", needs_corpus=False)
def explain(page: PageContext | None) -> None:
    st.write(
        "A gold span and a prediction that overlap may be aligned, one to one. The matching criterion then decides "
        "what the pair is worth. Gold is ruled above the text, the prediction below it."
    )
    st.write(" · ".join(f"[{title}](#{anchor})" for title, anchor in examples.SECTIONS.items()))
    examples.worked_examples()
    examples.try_it()
    entries.draw_entries()
