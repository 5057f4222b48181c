"""The keys of a slide show: a Streamlit component that sends back which slide is wanted, and whether to leave."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import streamlit as st

_HERE = Path(__file__).parent
CHROME = _HERE / "chrome.css"
"""Styles that hide the app around a slide."""
_mount = st.components.v2.component(
    "nereval_slides",
    css=(_HERE / "slides.css").read_text(encoding="utf-8"),
    js=(_HERE / "slides.js").read_text(encoding="utf-8"),
    isolate_styles=False,
)


def take_keys(
    ids: Sequence[str],
    at: float,
    ends: tuple[str, str],
    *,
    key: str,
    on_step: Callable[[str], None],
    on_leave: Callable[[], None],
) -> None:
    """Take the keys: `ids` are those of the slides around the present one, at place `at`, `ends` the first and last.

    Ids are absolute, so that fast keys lose no step. `at` is halfway between two where the present one is not there.
    """

    def stepped() -> None:
        wanted = st.session_state[key]["step"]
        if wanted is not None:
            on_step(str(wanted["id"]))

    def left() -> None:
        if st.session_state[key]["leave"]:
            on_leave()

    _mount(data={"ids": list(ids), "at": at, "ends": list(ends)}, key=key, on_step_change=stepped, on_leave_change=left)
