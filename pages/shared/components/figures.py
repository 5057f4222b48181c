"""Figures on a page: drawn, offered as files, and the point that the reader chose."""

from __future__ import annotations

import zlib
from functools import partial
from typing import Any

import streamlit as st

from pages.shared.components import export_menu
from pages.shared.components.downloads import page_of
from pages.shared.components.export_menu import FIGURE_CONFIG
from pages.shared.view import keys


def count_figure(figure: Any, name: str, facts: tuple[object, ...] = (), *, file: str) -> list[Any]:
    """Draw a figure that is saved as `file`; return the data of the point that the reader chose, [] without one."""
    key = table_key(keys.TABLE + name, *facts)
    _register(figure, key, file)
    event = st.plotly_chart(figure, key=key, on_select="rerun", selection_mode="points", config=FIGURE_CONFIG)
    points = event["selection"]["points"] if event else []
    data = points[0].get("customdata") if points else None
    if data is None:
        return []
    return list(data) if isinstance(data, list | tuple) else [data]


def show_figure(figure: Any, name: str, facts: tuple[object, ...] = (), *, file: str) -> None:
    """Draw a figure that is saved as `file` and has nothing to choose."""
    key = table_key(keys.TABLE + name, *facts)
    _register(figure, key, file)
    st.plotly_chart(figure, key=key, config=FIGURE_CONFIG)


def _register(figure: Any, key: str, file: str) -> None:
    def make() -> Any:
        return figure

    export_menu.register(file, figure=make, page=partial(page_of, make, "", file), key=key)


def table_key(name: str, *facts: object) -> str:
    """Return a widget key that changes with the facts: a selection must not outlive its data."""
    return f"{name}_{zlib.crc32(repr(facts).encode()):08x}" if facts else name
