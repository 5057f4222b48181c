"""What is wrong with input, shown line by line."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st

from nereval_core.problems import ALL_OPTIONS, SHOWN, counted


def show_problems(lines: Sequence[str], *, below: Callable[[], None] | None = None) -> None:
    """Show lines as `FormatError.lines` gives them; `below` draws between the heading and the lines."""
    problems = [line for line in lines if not line.startswith(ALL_OPTIONS)]
    if len(problems) > SHOWN:
        st.error(f"What was given has {problems[SHOWN].replace(';', ':')}")
    else:
        st.error(f"{counted(len(problems), 'problem')} in what was given:")
    if below is not None:
        below()
    options = [line for line in lines if line.startswith(ALL_OPTIONS)]
    for line in (*problems[:SHOWN], *options):
        st.code(line, language=None, wrap_lines=True)
