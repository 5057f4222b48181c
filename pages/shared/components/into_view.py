"""Bringing a part of the page into view that a click has drawn somewhere else than where the reader looks."""

from __future__ import annotations

from pathlib import Path
from uuid import uuid4

import streamlit as st

from pages.shared.server.component_files import component
from pages.shared.view import keys

_bring = component(
    "nereval_into_view",
    js=Path(__file__).with_suffix(".js").read_text(encoding="utf-8"),
)


def bring_into_view(key: str) -> None:
    """Have the container of this key, once it is drawn, brought into view and focused: once, whatever runs follow."""
    st.session_state[keys.INTO_VIEW] = {"key": key, "token": uuid4().hex}


def draw() -> None:
    """Draw what brings the container into view, if any was asked for."""
    if (wanted := st.session_state.get(keys.INTO_VIEW)) is not None:
        _bring(data=wanted, key="into_view")
