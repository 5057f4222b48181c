"""Figures as data for a page of our own, which draws them in the colours of its reader."""

from __future__ import annotations

import html
from functools import cache

import plotly.graph_objects as go
from plotly.offline import get_plotlyjs

from nereval_core.html_report.page import Drawing

HEIGHT = 450
"""Pixels of a figure that says none."""
_BREAK = "<br><sub>"
_HEAD = 24
"""Pixels above a plot whose title stands elsewhere."""


def detached(figure: go.Figure, *, above: int = _HEAD) -> Drawing:
    """Return a figure with its title beside it, as that must go over several lines on a phone.

    `above` are the pixels to be left over the plot, for a legend or an axis there.
    """
    drawn = go.Figure(figure)
    title, _, unit = str(drawn.layout.title.text or "").partition(_BREAK)
    before = drawn.layout.margin.t or 100
    height = (drawn.layout.height or HEIGHT) - before + above
    # What Plotly's own template says would be said by every figure anew.
    drawn.update_layout(title=None, template=None, height=height, margin={"t": above}, autosize=True)
    # Beside a plot there is no room on a phone.
    drawn.update_layout(legend={"orientation": "h", "y": 1, "yanchor": "bottom", "x": 0, "xanchor": "left"})
    drawn.update_xaxes(automargin=True).update_yaxes(automargin=True, title_standoff=10)
    drawn.update_traces(textfont_color=None, selector={"type": "scatter"})
    text: str = drawn.to_json(engine="json")
    return Drawing(html.unescape(title), html.unescape(unit.removesuffix("</sub>")), text, int(height))


@cache
def script() -> str:
    """Return Plotly's script, which draws the figures."""
    found: str = get_plotlyjs()
    return found
