"""The reviewer's name, asked for in a dialog over the workbench, and the history of a record."""

from __future__ import annotations

import streamlit as st

from nereval_core.problems import FormatError
from nereval_core.review.verdicts import REVIEWER_CHARACTERS
from pages.shared.data import reviewer, verdict_store
from pages.shared.verdicts.case import Case, LastVerdict, given_line, set_outcome
from pages.shared.view import keys
from pages.shared.view.text import count, plain, show_problems

NAME = f"{keys.VERDICT}asked"
LINE = 300
"""Characters of a verdict and its note that stand in a line; a longer note is shown below it."""


def _dismissed() -> None:
    waiting = st.session_state.pop(keys.WAITING, ())
    set_outcome(LastVerdict(f"Not kept, as no name was given: {count(len(waiting), 'verdict')}."))


@st.dialog("Who gives the verdicts?", on_dismiss=_dismissed)
def ask_name() -> None:
    """Ask for the reviewer's name; the verdicts that were given are kept once it is known."""
    waiting = st.session_state.get(keys.WAITING, ())
    with st.form(f"{keys.VERDICT}name_form", border=False):
        st.text_input("Your name", reviewer.last_reviewer(), key=NAME, max_chars=REVIEWER_CHARACTERS)
        st.caption(f"It is kept with each verdict. {count(len(waiting), 'verdict')} waiting for it.")
        sent = st.form_submit_button("Keep", type="primary")
    if sent and reviewer.take_name(st.session_state[NAME]):
        st.rerun()
    if sent:
        st.error(reviewer.name_problem(st.session_state[NAME]))


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
