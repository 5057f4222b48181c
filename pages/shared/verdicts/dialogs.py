"""The history of a record."""

from __future__ import annotations

import streamlit as st

from nereval_core.problems import FormatError
from pages.shared.data import verdict_store
from pages.shared.verdicts.case import Case, given_line
from pages.shared.view.text import plain, show_problems

LINE = 300
"""Characters of a verdict and its note that stand in a line; a longer note is shown below it."""


def draw_history(case: Case) -> None:
    """Show every verdict ever given on a record."""
    try:
        history = verdict_store.store().history(case.key)
    except FormatError as error:
        show_problems(error.lines())
        return
    for standing in history:
        line = given_line(standing, case.words)
        st.markdown(plain(line, LINE))
        if len(standing.verdict.note) > LINE or "\n" in standing.verdict.note:
            st.code(line, language=None, wrap_lines=True, height=160)
