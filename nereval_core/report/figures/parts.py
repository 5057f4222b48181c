"""Parts of figures: axes, backgrounds and names, and axes that outliers do not stretch."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import plotly.graph_objects as go

from nereval_core.problems import name_text, shortened_name
from nereval_core.report.colours import PAGE, contrast, system_hues

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


def copied(figure: go.Figure) -> go.Figure:
    """Return a copy of a figure; that its parts are valid is not looked at again, which takes most of a copy."""
    return go.Figure(figure.to_dict(), _validate=False)


def on_paper(figure: go.Figure) -> go.Figure:
    """Return the figure on white, as its labels are dark and the page around it may be too."""
    return go.Figure(figure).update_layout(paper_bgcolor=PAGE[0][0], plot_bgcolor=PAGE[0][0])


def counted(count: int, what: str) -> str:
    plural = f"{what.removesuffix('on')}a" if what.endswith("criterion") else f"{what}s"
    return f"{count:,} {what if count == 1 else plural}"


def system_markers(systems: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Return the marker of each system by name: the first ten differ in symbol as well as in hue."""
    return {
        name: {
            "symbol": SYMBOLS[place % len(SYMBOLS)],
            "color": hue,
            "size": 10,
            "line": {"color": "#555555", "width": 0.5},
        }
        for place, (name, hue) in enumerate(system_hues(systems).items())
    }


def short_names(names: Sequence[str], most: int = 28) -> list[str]:
    """Return names of at most so many characters, see `shortened_name`; names that would read alike stay whole."""
    cut = [shortened_name(name, most) for name in names]
    return [name if cut.count(label) > names.count(name) else label for name, label in zip(names, cut, strict=True)]


def on_two_lines(name: str, most: int = 28) -> str:
    """Return a name as a figure's label, on two lines where it has more characters, which it breaks between words."""
    text = name_text(name)
    if len(text) <= most:
        return _escaped(text)
    middle = (len(text) + 1) // 2
    ends_of_words = [place for place in range(1, len(text)) if not text[place - 1].isalnum()]
    place = min(ends_of_words, key=lambda end: abs(end - middle), default=middle)
    if abs(place - middle) > most // 4:
        place = middle
    return f"{_escaped(text[:place])}<br>{_escaped(text[place:])}"


def interval_bars(values: Iterable[float], low: Iterable[float], high: Iterable[float], **look: Any) -> dict[str, Any]:
    """Return the error bars of values from the ends of their intervals; nothing is drawn where an end is NaN."""
    ends = [(value - least, most - value) for value, least, most in zip(values, low, high, strict=True)]
    return {
        "type": "data",
        "symmetric": False,
        "array": [above for _, above in ends],
        "arrayminus": [below for below, _ in ends],
        "thickness": 1.6,
        "width": 4,
        **look,
    }


def value_axis(title: str) -> dict[str, Any]:
    """Return an axis of numbers, with its grid: Streamlit's theme draws none across a horizontal axis."""
    return {"title": title, "showgrid": True, "gridcolor": GRID, "zeroline": False}


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
    return (number - (systems - 1) / 2) * 0.72 / systems


def background() -> dict[str, str]:
    return {"paper_bgcolor": CLEAR, "plot_bgcolor": CLEAR}


def ink(back: str) -> str:
    return max(("#000000", "#ffffff"), key=lambda ink: contrast(ink, back))


def plain(text: str) -> str:
    """Return a name or a title as readers see it (`name_text`), with escapes for Plotly's markup."""
    return _escaped(name_text(text))


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
