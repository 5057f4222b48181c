"""Figures that compare systems: a leaderboard with intervals."""

from __future__ import annotations

import pandas as pd
import plotly.graph_objects as go

from nereval_core.report.colours import TYPE_HUES
from nereval_core.report.figures import background, counted, plain

_GRID = "rgba(128,128,128,0.35)"
_HEAD = 96


def leaderboard(
    table: pd.DataFrame, baseline: str, said: str, units: tuple[str, str] = ("document", "documents")
) -> go.Figure:
    """Draw F1 of systems with intervals, the best on top.

    `table` has the columns `criterion`, `system`, `f1`, `f1_low`, `f1_high`, `rank`, `units` and `POS` of one
    criterion; systems without F1 have no mark. `said` tells how the intervals were made, `units` what one and several
    of what is resampled are called. A mark's `customdata` is
    (system,).
    """
    rows = table.sort_values("f1", ascending=False, kind="stable", na_position="last").reset_index(drop=True)
    drawn = rows[rows["f1"].notna()]
    criterion = plain(str(table["criterion"].iat[0])) if len(table) else ""
    figure = go.Figure()
    for name, symbol, hue in (("baseline", "diamond", TYPE_HUES[1]), ("system", "circle", TYPE_HUES[0])):
        here = drawn[(drawn["system"].eq(baseline) == (name == "baseline")).to_numpy()]
        figure.add_scatter(
            x=here["f1"].tolist(),
            y=here.index.tolist(),
            mode="markers",
            name=name,
            cliponaxis=False,
            marker={"symbol": symbol, "color": hue, "size": 11, "line": {"color": "#555", "width": 0.5}},
            error_x={
                "type": "data",
                "symmetric": False,
                "array": (here["f1_high"] - here["f1"]).tolist(),
                "arrayminus": (here["f1"] - here["f1_low"]).tolist(),
                "color": hue,
                "thickness": 1.6,
                "width": 5,
            },
            customdata=[(system,) for system in here["system"]],
            hovertext=[
                f"{plain(system)}: F1 {f1:.4f}{_ends(low, high)}, place {rank}"
                for system, f1, low, high, rank in zip(
                    *(here[column] for column in ("system", "f1", "f1_low", "f1_high", "rank")), strict=True
                )
            ],
            hoverinfo="text",
        )
    spans, number = (int(table[column].max()) if len(table) else 0 for column in ("POS", "units"))
    unit = "gold token" if str(table["criterion"].iat[0] if len(table) else "") == "fragment" else "gold span"
    return figure.update_layout(
        title={
            "text": f"F1 of {counted(len(rows), 'system')} under {criterion}<br><sub>F1, at best 1; "
            f"n = {counted(spans, unit)} in {number:,} {plain(units[number != 1])}; {plain(said)}</sub>",
            "yref": "container",
            "y": 1,
            "yanchor": "top",
            "pad": {"t": 22},
        },
        height=_HEAD + 70 + 28 * max(2, len(rows)),
        xaxis={"title": "F1", "gridcolor": _GRID, "zeroline": False},
        yaxis={
            "tickmode": "array",
            "tickvals": rows.index.tolist(),
            "ticktext": [plain(system) for system in rows["system"]],
            "range": [len(rows) - 0.4, -0.6],
            "gridcolor": _GRID,
            "zeroline": False,
            "title": "system",
            "automargin": True,
        },
        hovermode="closest",
        dragmode=False,
        legend={"orientation": "h", "y": 1, "x": 1, "xanchor": "right", "yanchor": "bottom"},
        margin={"l": 10, "r": 10, "t": _HEAD, "b": 10},
        **background(),
    )


def _ends(low: float, high: float) -> str:
    """Return the ends of an interval as text, "" where there is none."""
    return "" if pd.isna(low) else f", {low:.4f} to {high:.4f}"
