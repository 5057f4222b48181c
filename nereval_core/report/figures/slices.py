"""Figures of slices: P, R and F1 with intervals by slice, against the threshold, and how right scores are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
import plotly.graph_objects as go

from nereval_core.report.colours import TYPE_HUES
from nereval_core.report.figures import background, counted, plain

_GRID = "rgba(128,128,128,0.35)"
GREY = "#8a8a8a"
LABEL = 24
"""Characters of a slice's name that stand under the axis."""
_SHOWN = (("P", "precision", "triangle-up"), ("R", "recall", "square"), ("F1", "f1", "circle"))
_NUMBER = {"precision": ("ACT",), "recall": ("POS",), "f1": ("POS", "ACT")}
"""What a ratio is of: where there is none of it nothing is drawn."""


def slice_intervals(table: pd.DataFrame, title: str, axis: str, small: int, documents: int) -> go.Figure:
    """Draw P, R and F1 of each slice with their intervals, those of fewer than `small` spans in grey.

    `table` has the columns of `analysis.sliced.SLICE_COLUMNS`. A point's `customdata` is (slice, ratio).
    """
    figure = go.Figure()
    for number, (name, ratio, symbol) in enumerate(_SHOWN):
        numbers = table[list(_NUMBER[ratio])].min(axis=1)
        drawn = (numbers > 0) & table[ratio].notna()
        for grey in (False, True):
            rows = table[(drawn & ((numbers < small) == grey)).to_numpy()]
            figure.add_scatter(
                x=[place + 0.2 * (number - 1) for place in rows.index.tolist()],
                y=rows[ratio].tolist(),
                error_y={
                    "type": "data",
                    "symmetric": False,
                    "array": (rows[f"{ratio}_high"] - rows[ratio]).clip(lower=0).tolist(),
                    "arrayminus": (rows[ratio] - rows[f"{ratio}_low"]).clip(lower=0).tolist(),
                    "thickness": 1.5,
                    "width": 4,
                },
                mode="markers",
                name=name,
                legendgroup=name,
                showlegend=not grey,
                cliponaxis=False,
                marker={"symbol": symbol, "size": 9, "color": GREY if grey else TYPE_HUES[number]},
                customdata=[(str(label), name) for label in rows["slice"]],
                hovertext=[_hover(row, name, ratio) for row in rows.to_dict("records")],
                hoverinfo="text",
            )
    # A legend of a trace without points would not show its symbol.
    figure.for_each_trace(lambda trace: trace.update(x=[None], y=[None]) if not len(trace.x) else None)
    labels = [
        f"{plain(_cut(str(label)))}<br>{pos:,} / {act:,}"
        for label, pos, act in zip(table["slice"], table["POS"], table["ACT"], strict=True)
    ]
    gold, predicted = int(table["POS"].sum()), int(table["ACT"].sum())
    return figure.update_layout(
        title=f"{plain(title)}<br><sub>ratios from 0 to 1 with 95% intervals; n = {_of(gold, predicted, documents)}<br>"
        f"below each slice its gold spans / predictions; grey: of fewer than {small}</sub>",
        height=450,
        xaxis={
            "title": plain(axis),
            "tickmode": "array",
            "tickvals": list(range(len(table))),
            "ticktext": labels,
            "range": [-0.6, max(len(table), 1) - 0.4],
            "zeroline": False,
            "showgrid": False,
            "automargin": True,
        },
        yaxis={"title": "P, R, F1", "range": [0, 1.02], "gridcolor": _GRID, "zeroline": False},
        **_frame(),
    )


def _hover(row: Mapping[Any, Any], name: str, ratio: str) -> str:
    low, high = row[f"{ratio}_low"], row[f"{ratio}_high"]
    interval = "" if pd.isna(low) else f" [{low:.4f}, {high:.4f}]"
    of = _of(row["POS"], row["ACT"], row["documents"])
    return f"{plain(str(row['slice']))}: {name} {row[ratio]:.4f}{interval}; {of}"


def _of(gold: int, predicted: int, documents: int) -> str:
    return f"{counted(gold, 'gold span')}, {counted(predicted, 'prediction')}, {counted(documents, 'document')}"


def _cut(text: str) -> str:
    return text if len(text) <= LABEL else text[: LABEL - 1] + "…"


def threshold_lines(table: pd.DataFrame, title: str, unscored: int) -> go.Figure:
    """Draw P, R and F1 against the least score of the predictions that stay.

    `table` has the columns of `analysis.sliced.CURVE_COLUMNS`. A point's `customdata` is (row,).
    """
    figure = go.Figure()
    for number, (name, ratio, symbol) in enumerate(_SHOWN):
        figure.add_scatter(
            x=table["threshold"].tolist(),
            y=table[ratio].tolist(),
            # Between two scores as many predictions stay as at the higher one.
            line={"shape": "vh", "color": TYPE_HUES[number], "width": 3 if name == "F1" else 1.5},
            mode="lines+markers",
            name=name,
            cliponaxis=False,
            marker={"symbol": symbol, "size": 7},
            customdata=[(row,) for row in range(len(table))],
            hovertext=[
                f"score at least {threshold:g}: {name} {value:.4f}, {counted(int(act), 'prediction')}"
                for threshold, value, act in zip(table["threshold"], table[ratio], table["ACT"], strict=True)
            ],
            hoverinfo="text",
        )
    gold, most = (int(table[column].max()) if len(table) else 0 for column in ("POS", "ACT"))
    without = f", {unscored:,} without a score, which stay" if unscored else ""
    return figure.update_layout(
        title=f"{plain(title)}<br><sub>ratios from 0 to 1, scored anew at each of {counted(len(table), 'threshold')}; "
        f"n = {counted(gold, 'gold span')}, {counted(most, 'prediction')}{without}</sub>",
        height=420,
        xaxis={"title": "least score of a prediction", "gridcolor": _GRID, "zeroline": False},
        yaxis={"title": "P, R, F1", "range": [0, 1.02], "gridcolor": _GRID, "zeroline": False},
        **_frame(),
    )


def reliability(table: pd.DataFrame, title: str, gap: float, small: int) -> go.Figure:
    """Draw precision against mean score by tenths of the scores, with Wilson's intervals.

    `table` has the columns of `analysis.sliced.CALIBRATION_COLUMNS`. A point's `customdata` is (row,).
    """
    figure = go.Figure()
    figure.add_scatter(
        x=[0, 1],
        y=[0, 1],
        mode="lines",
        name="as right as scored",
        hoverinfo="skip",
        line={"color": GREY, "dash": "dot"},
    )
    for grey, name in ((False, "predictions"), (True, f"fewer than {small} predictions")):
        rows = table[(table["small"] == grey).to_numpy()]
        figure.add_scatter(
            x=rows["confidence"].tolist(),
            y=rows["precision"].tolist(),
            error_y={
                "type": "data",
                "symmetric": False,
                "array": (rows["precision_high"] - rows["precision"]).clip(lower=0).tolist(),
                "arrayminus": (rows["precision"] - rows["precision_low"]).clip(lower=0).tolist(),
                "thickness": 1.5,
                "width": 4,
            },
            mode="markers+text",
            name=name,
            cliponaxis=False,
            text=[f"n={n:,}" for n in rows["ACT"]],
            textposition="middle right",
            marker={"size": 9, "color": GREY if grey else TYPE_HUES[0]},
            customdata=[(row,) for row in rows.index.tolist()],
            hovertext=[
                f"score {plain(str(label))}: mean {mean:.4f}, P {value:.4f}, {counted(int(n), 'prediction')}"
                for label, mean, value, n in zip(
                    rows["slice"], rows["confidence"], rows["precision"], rows["ACT"], strict=True
                )
            ],
            hoverinfo="text",
        )
    number = int(table["ACT"].sum())
    return figure.update_layout(
        title=f"{plain(title)}<br><sub>shares from 0 to 1 with 95% intervals; mean gap {gap:.3f}; "
        f"n = {counted(number, 'prediction')} with a score from 0 to 1</sub>",
        height=420,
        xaxis={"title": "mean score", "range": [0, 1.08], "gridcolor": _GRID, "zeroline": False},
        yaxis={"title": "precision", "range": [0, 1.02], "gridcolor": _GRID, "zeroline": False},
        **_frame(),
    )


def _frame() -> dict[str, Any]:
    return {
        # A narrow window has no room beside the title.
        "legend": {"orientation": "h", "yref": "container", "y": 0, "yanchor": "bottom", "x": 0},
        "hovermode": "closest",
        "dragmode": False,
        "margin": {"l": 10, "r": 10, "t": 105, "b": 80},
        **background(),
    }
