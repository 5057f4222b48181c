"""The history of a record."""

from __future__ import annotations

import streamlit as st

from pages.shared.data.page_context import PageContext
from pages.shared.verdicts.case import Case, given_line, given_verdicts
from pages.shared.view.text import plain

LINE = 300
"""Characters of a verdict and its note that stand in a line; a longer note is shown below it."""


def draw_history(page: PageContext, case: Case) -> None:
    """Show every verdict ever given on a record."""
    for standing in given_verdicts(page, case):
        line = given_line(standing, case.words)
        st.markdown(plain(line, LINE))
        if len(standing.verdict.note) > LINE or "\n" in standing.verdict.note:
            st.code(line, language=None, wrap_lines=True, height=160)
