"""A figure of how hard gold spans are: by how many systems get them right."""

from __future__ import annotations

import pandas as pd
import plotly.graph_objects as go

from nereval_core.report.colours import TYPE_HUES
from nereval_core.report.figures import background, counted, plain

_GRID = "rgba(128,128,128,0.35)"


def right_bars(table: pd.DataFrame, criterion: str, systems: int, documents: int) -> go.Figure:
    """Draw the number of gold spans that none, one, ... all systems get right.

    `table` has the columns `right_by` (text) and `gold_spans`. A bar's `customdata` is (its `right_by`,).
    """
    names, counts = table["right_by"].astype(str).tolist(), table["gold_spans"].tolist()
    every = sum(counts)
    shares = [f"{count / every:.1%}" if every else "–" for count in counts]
    figure = go.Figure(
        go.Bar(
            x=names,
            y=counts,
            customdata=[(name,) for name in names],
            marker={"color": TYPE_HUES[0], "line": {"color": "rgba(128,128,128,0.6)", "width": 0.5}},
            text=[f"{count:,}" for count in counts],
            textposition="outside",
            cliponaxis=False,
            hovertext=[
                f"right by {name}: {counted(count, 'gold span')}, {share}"
                for name, count, share in zip(names, counts, shares, strict=True)
            ],
            hoverinfo="text",
        )
    )
    return figure.update_layout(
        title=f"Gold spans by how many of {counted(systems, 'system')} get them right under {plain(criterion)}<br>"
        f"<sub>right is COR; n = {counted(every, 'gold span')} in {counted(documents, 'document')}</sub>",
        height=320,
        xaxis={"title": "systems that get the span right", "type": "category"},
        yaxis={"title": "gold spans", "rangemode": "tozero", "gridcolor": _GRID, "zeroline": False},
        bargap=0.25,
        dragmode=False,
        margin={"l": 10, "r": 10, "t": 70, "b": 10},
        **background(),
    )
