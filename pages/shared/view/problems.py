"""What is wrong with input, shown line by line."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st

from nereval_core.problems import SHOWN


def show_problems(lines: Sequence[str], *, below: Callable[[], None] | None = None) -> None:
    """Show lines as `FormatError.lines` gives them; `below` draws between the heading and the lines."""
    if len(lines) > SHOWN:
        st.error(f"What was given has {lines[-1].replace(';', ':')}")
    else:
        st.error(f"{len(lines)} problem{'s' if len(lines) > 1 else ''} in what was given:")
    if below is not None:
        below()
    for line in lines[:SHOWN]:
        st.code(line, language=None, wrap_lines=True)
