"""What is wrong with input, shown line by line."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st


def show_problems(lines: Sequence[str]) -> None:
    st.error(f"{len(lines)} problem{'s' if len(lines) > 1 else ''} in what was given:")
    for line in lines:
        st.code(line, language=None, wrap_lines=True)
