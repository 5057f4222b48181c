"""Figures as data for the HTML report, which draws them in the colours of its reader's theme."""

from __future__ import annotations

import html
from functools import cache

import plotly.graph_objects as go
from plotly.offline import get_plotlyjs

from nereval_core.html_report.page import FigureData

HEIGHT = 450
"""Pixels of a figure without a height of its own."""
_BREAK = "<br><sub>"
_HEAD = 24
"""Pixels above a plot whose title stands outside the figure."""


def figure_data(figure: go.Figure, *, above: int = _HEAD) -> FigureData:
    """Return a figure without its title, which the report shows as text, so that it can wrap on a phone.

    `above` are the pixels left above the plot, for a legend or an axis.
    """
    untitled = go.Figure(figure)
    title, _, unit = str(untitled.layout.title.text or "").partition(_BREAK)
    before = untitled.layout.margin.t or 100
    height = (untitled.layout.height or HEIGHT) - before + above
    # Every figure would repeat Plotly's own template.
    untitled.update_layout(title=None, template=None, height=height, margin={"t": above}, autosize=True)
    # A phone has no space beside a plot.
    untitled.update_layout(
        legend={"orientation": "h", "yref": "paper", "y": 1, "yanchor": "bottom", "x": 0, "xanchor": "left"}
    )
    untitled.update_xaxes(automargin=True).update_yaxes(automargin=True, title_standoff=10)
    untitled.update_traces(textfont_color=None, selector={"type": "scatter"})
    text: str = untitled.to_json(engine="json")
    return FigureData(
        html.unescape(title), html.unescape(unit.removesuffix("</sub>").replace("<br>", "; ")), text, int(height)
    )


@cache
def script() -> str:
    """Return Plotly's script, which draws the figures."""
    plotly_script: str = get_plotlyjs()
    return plotly_script
