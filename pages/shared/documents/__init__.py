"""The reading view: a Streamlit component that shows a text with its spans and sends back the record chosen."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import streamlit as st

_HERE = Path(__file__).parent
_mount = st.components.v2.component(
    "nereval_reading",
    css=(_HERE / "reading.css").read_text(encoding="utf-8"),
    js=(_HERE / "reading.js").read_text(encoding="utf-8"),
    isolate_styles=False,
)


def reading(data: Mapping[str, Any], *, key: str, on_select: Callable[[str, str], None] | None = None) -> None:
    """Show what `view` made; call `on_select` with document and record id when the reader chooses a span.

    The record id is empty where the reader gives up the choice (Escape).
    """

    def chosen() -> None:
        where = st.session_state[key]["select"]
        if on_select is not None and where:
            on_select(str(where["doc"]), str(where["record"]))

    _mount(data=dict(data), key=key, on_select_change=chosen)
