"""The parts that all figures share: axes, markers, backgrounds, and figures as HTML."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from nereval_core.report.colours import PAGE, TYPE_HUES, contrast

CLEAR = "rgba(0,0,0,0)"
GRID = "rgba(128,128,128,0.35)"
ROW_PIXELS = 34
SYMBOLS = ("circle", "diamond", "square", "triangle-up", "cross", "star", "pentagon", "x", "hourglass", "triangle-down")


def embedded(figure: go.Figure, name: str, *, script: bool = True) -> str:
    """Return the figure as HTML with Plotly's script: the same on every run, and nothing is fetched.

    `name` is the id of its element; without `script` a figure above it on the page must include the script.
    """
    text: str = on_paper(figure).to_html(
        full_html=False, include_plotlyjs=script, div_id=name, config={"displaylogo": False, "responsive": True}
    )
    return text


def on_paper(figure: go.Figure) -> go.Figure:
    """Return the figure on white, as its labels are dark and the page around it may be too."""
    return go.Figure(figure).update_layout(paper_bgcolor=PAGE[0][0], plot_bgcolor=PAGE[0][0])


def counted(count: int, what: str) -> str:
    plural = f"{what.removesuffix('on')}a" if what.endswith("criterion") else f"{what}s"
    return f"{count:,} {what if count == 1 else plural}"


def system_marker(number: int) -> dict[str, Any]:
    """Return the marker of a system; the first systems differ in symbol as well as in colour."""
    return {
        "symbol": SYMBOLS[number % len(SYMBOLS)],
        "color": TYPE_HUES[number % len(TYPE_HUES)],
        "size": 10,
        "line": {"color": "#555555", "width": 0.5},
    }


def value_axis(title: str) -> dict[str, Any]:
    """Return an axis of numbers."""
    return {"title": title, "gridcolor": GRID, "zeroline": False}


def ratio_axis(title: str = "P, R, F1") -> dict[str, Any]:
    """Return an axis of ratios from 0 to 1."""
    return value_axis(title) | {"range": [0, 1.02]}


def row_axis(names: Sequence[str]) -> dict[str, Any]:
    """Return an axis with a row for each name, the first on top."""
    return {
        "tickmode": "array",
        "tickvals": list(range(len(names))),
        "ticktext": [plain(name) for name in names],
        "range": [len(names) - 0.5, -0.5],
        "gridcolor": GRID,
        "zeroline": False,
    }


def row_offset(number: int, systems: int) -> float:
    """Return the offset of a system within a row: systems with equal scores stand beside one another."""
    return (number - (systems - 1) / 2) * 0.6 / systems


def background() -> dict[str, str]:
    return {"paper_bgcolor": CLEAR, "plot_bgcolor": CLEAR}


def ink(back: str) -> str:
    return max(("#000000", "#ffffff"), key=lambda ink: contrast(ink, back))


def plain(text: str) -> str:
    """Return text with escapes for Plotly's markup."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
