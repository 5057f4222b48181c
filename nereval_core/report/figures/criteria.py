"""Figures of the Criteria page: the gap between two criteria by cause, and P, R and F1 against the least overlap."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import plotly.graph_objects as go

from nereval_core.report.colours import TYPE_HUES
from nereval_core.report.figures import background, counted, plain

GRID = "rgba(128,128,128,0.35)"
STEPS = 1_000
"""Steps of a curve that are drawn: more would stand closer than the pixels of a screen."""
ROOM = 0.045
"""What share of the height the name of a mark takes."""


def gap_bars(table: pd.DataFrame, strict: str, loose: str, gap: float, spans: int, system: str) -> go.Figure:
    """Draw what each cause adds to F1 from a criterion to a looser one; a bar's `customdata` is the cause.

    `table` has the columns of `analysis.gap.GAP_COLUMNS`; `spans` is gold spans and predictions together.
    """
    figure = go.Figure(
        go.Bar(
            x=table["f1"].tolist(),
            y=[plain(cause) for cause in table["cause"]],
            orientation="h",
            customdata=[(cause,) for cause in table["cause"]],
            marker={"color": [TYPE_HUES[0] if part >= 0 else TYPE_HUES[1] for part in table["f1"]]},
            text=[f"{part:+.4f}" for part in table["f1"]],
            textposition="auto",
            cliponaxis=False,
            hovertemplate="%{y}: %{x:+.4f}<extra></extra>",
        )
    )
    return figure.update_layout(
        title=f"What parts F1 of {plain(system)} under {plain(strict)} and {plain(loose)}: {gap:+.4f}<br>"
        f"<sub>part of F1 by cause; the parts add up; n = {spans:,} gold spans and predictions</sub>",
        height=130 + 34 * max(1, len(table)),
        xaxis={"title": "part of F1", "gridcolor": GRID, "zeroline": True, "zerolinecolor": GRID},
        yaxis={"autorange": "reversed", "title": "cause", "type": "category"},
        margin={"l": 10, "r": 10, "t": 70, "b": 10},
        dragmode=False,
        showlegend=False,
        **background(),
    )


def overlap_lines(
    table: pd.DataFrame,
    marks: Sequence[tuple[str, float]],
    share: str,
    system: str,
    n: tuple[int, int],
    *,
    at: float | None = None,
) -> go.Figure:
    """Draw P, R and F1 as steps against the least overlap, and named criteria beside them at their F1.

    `table` has the columns of `analysis.overlap_curve.CURVE_COLUMNS`; `n` are gold spans and predictions; `at` is an
    overlap marked by a line. A point's `customdata` is the number of its row.
    """
    drawn = table if len(table) <= STEPS else _thinned(table)
    figure = go.Figure()
    for number, (column, name) in enumerate((("precision", "P"), ("recall", "R"), ("f1", "F1"))):
        values = drawn[column].tolist()
        # Each row holds down to the next one's minimum, the last one down to 0.
        figure.add_scatter(
            x=[*drawn["minimum"].tolist(), 0],
            y=[*values, *values[-1:]],
            mode="lines+markers",
            name=name,
            line={
                "shape": "vh",
                "color": TYPE_HUES[number],
                "width": 3 if name == "F1" else 1.5,
                "dash": None if name == "F1" else "dot",
            },
            marker={"size": 6 if name == "F1" else 4},
            customdata=[*((row,) for row in drawn.index.tolist()), (len(table) - 1,)],
            hovertemplate=f"least overlap %{{x:.4f}}: {name} %{{y:.4f}}<extra></extra>",
            cliponaxis=False,
        )
    for f1, height, names in _spread(marks):
        figure.add_shape(type="line", x0=1.01, x1=1.03, y0=f1, y1=height, line={"color": TYPE_HUES[2], "width": 1})
        figure.add_annotation(
            x=1.035,
            y=height,
            text=plain(f"{', '.join(names)} {f1:.3f}"),
            showarrow=False,
            xanchor="left",
            font={"size": 11},
        )
    if at is not None:
        figure.add_vline(x=at, line={"color": GRID, "dash": "dash", "width": 2})
    thinned = f"; {STEPS:,} of {len(table):,} steps drawn" if len(drawn) < len(table) else ""
    return figure.update_layout(
        title=f"Scores of {plain(system)} against the least overlap that counts<br>"
        f"<sub>ratios from 0 to 1; beside: F1 under named criteria; n = {counted(n[0], 'gold span')}, "
        f"{counted(n[1], 'prediction')}{thinned}</sub>",
        height=480,
        xaxis={
            "title": f"least overlap, {plain(share)}",
            "range": [0, 1.4],
            "tickvals": [step / 10 for step in range(11)],
            "gridcolor": GRID,
            "zeroline": False,
        },
        yaxis={"title": "P, R, F1", "range": [0, 1.02], "gridcolor": GRID, "zeroline": False},
        legend={"orientation": "h", "y": -0.16, "x": 0, "yanchor": "top"},
        hovermode="closest",
        dragmode=False,
        margin={"l": 10, "r": 10, "t": 70, "b": 10},
        **background(),
    )


def _thinned(table: pd.DataFrame) -> pd.DataFrame:
    """Return the last row of each of STEPS pieces of the axis, and the first row of all."""
    piece = (table["minimum"] * (STEPS - 2)).astype(int)
    kept = ~piece.duplicated(keep="last")
    kept.iloc[0] = True
    return table[kept]


def _spread(marks: Sequence[tuple[str, float]]) -> list[tuple[float, float, list[str]]]:
    """Return F1, the height of its name, and the names of each mark, so far apart that names can be read."""
    groups: dict[float, list[str]] = {}
    for name, f1 in sorted(marks, key=lambda mark: mark[1]):
        groups.setdefault(round(f1, 4), []).append(name)
    # Names in a row, each ROOM above the last: those that would meet share the middle of where they belong.
    pools: list[tuple[float, int]] = []
    for number, f1 in enumerate(groups):
        mean, size = f1 - number * ROOM, 1
        while pools and pools[-1][0] > mean:
            below, many = pools.pop()
            mean, size = (mean * size + below * many) / (size + many), size + many
        pools.append((mean, size))
    rows = [mean for mean, size in pools for _ in range(size)]
    last = len(rows) - 1
    return [
        (f1, min(max(row, 0.0) + number * ROOM, 1 - (last - number) * ROOM), names)
        for number, (row, (f1, names)) in enumerate(zip(rows, groups.items(), strict=True))
    ]
