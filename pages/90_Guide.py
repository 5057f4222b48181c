"""Guide: the meanings of decisions and matching criteria, with examples that are scored as they are edited."""

import streamlit as st

from pages.shared.frame import Here, page
from pages.shared.guide import entries, sections


@page("Guide", needs_corpus=False)
def explain(here: Here | None) -> None:
    st.write(
        "A gold span and a prediction that overlap may be aligned, one to one. The matching criterion then decides "
        "what the pair is worth. Gold is ruled above the text, the prediction below it."
    )
    st.write(" · ".join(f"[{title}](#{anchor})" for title, anchor in sections.SECTIONS.items()))
    sections.worked_examples()
    sections.try_it()
    entries.draw_entries()
