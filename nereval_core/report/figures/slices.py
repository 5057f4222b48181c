"""Figures of slices: P, R and F1 by slice and by threshold, calibration of scores, and risk by coverage."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
import plotly.graph_objects as go

from nereval_core.report.colours import TYPE_HUES
from nereval_core.report.figures.parts import background, counted, plain, ratio_axis, value_axis

GREY = "#8a8a8a"
LABEL_CHARACTERS = 24
"""Characters of a slice's name under the axis."""
_RATIOS = (("P", "precision", "triangle-up"), ("R", "recall", "square"), ("F1", "f1", "circle"))
_DENOMINATORS = {"precision": ("ACT",), "recall": ("POS",), "f1": ("POS", "ACT")}
"""Counts in the denominator of each ratio: nothing is drawn where one is 0."""


def slice_points(table: pd.DataFrame, title: str, axis: str, unit: str) -> go.Figure:
    """Draw P, R and F1 over slices of a corpus in the order given, with the number of gold spans of each.

    `table` has the columns `slice`, `n`, `P`, `R` and `F1`; undefined ratios leave a gap. No line joins slices: between
    two of them there may be others without data.
    """
    figure = go.Figure()
    places = list(range(len(table)))
    for number, (name, _, symbol) in enumerate(_RATIOS):
        figure.add_scatter(
            x=[place + 0.15 * (number - 1) for place in places],
            y=table[name].tolist(),
            mode="markers",
            name=name,
            cliponaxis=False,
            marker={"symbol": symbol, "size": 11 if name == "F1" else 8, "color": TYPE_HUES[number]},
            hovertext=[
                f"{plain(str(label))}: {name} {value:.4f}, n = {n:,}"
                for label, value, n in zip(table["slice"], table[name], table["n"], strict=True)
            ],
            hoverinfo="text",
        )
    labels = [f"{plain(str(label))}<br>n={n:,}" for label, n in zip(table["slice"], table["n"], strict=True)]
    return figure.update_layout(
        title=f"{plain(title)}<br><sub>ratios from 0 to 1; n = gold spans{plain(unit)}</sub>",
        height=380,
        xaxis={"title": axis, "tickmode": "array", "tickvals": places, "ticktext": labels, "zeroline": False},
        yaxis=ratio_axis(),
        legend={"orientation": "h", "y": 1, "x": 1, "xanchor": "right", "yanchor": "bottom"},
        hovermode="closest",
        dragmode=False,
        margin={"l": 10, "r": 10, "t": 70, "b": 10},
        **background(),
    )


def slice_intervals(table: pd.DataFrame, title: str, axis: str, small: int, documents: int) -> go.Figure:
    """Draw P, R and F1 of each slice with their intervals, those of fewer than `small` spans in grey.

    `table` has the columns of `analysis.sliced.SLICE_COLUMNS`. A point's `customdata` is (slice, ratio).
    """
    figure = go.Figure()
    for number, (name, ratio, symbol) in enumerate(_RATIOS):
        numbers = table[list(_DENOMINATORS[ratio])].min(axis=1)
        has_point = (numbers > 0) & table[ratio].notna()
        for grey in (False, True):
            rows = table[(has_point & ((numbers < small) == grey)).to_numpy()]
            figure.add_scatter(
                x=[place + 0.2 * (number - 1) for place in rows.index.tolist()],
                y=rows[ratio].tolist(),
                error_y=_interval_bars(rows, ratio),
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
    # Without a point the legend would not show the symbol of a trace.
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
        yaxis=ratio_axis(),
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
    return text if len(text) <= LABEL_CHARACTERS else text[: LABEL_CHARACTERS - 1] + "…"


def threshold_lines(table: pd.DataFrame, title: str, unscored: int) -> go.Figure:
    """Draw P, R and F1 against the least score of the predictions that stay.

    `table` has the columns of `analysis.slices.thresholds.CURVE_COLUMNS`. A point's `customdata` is (row,).
    """
    figure = go.Figure()
    for number, (name, ratio, symbol) in enumerate(_RATIOS):
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
        xaxis=value_axis("least score of a prediction"),
        yaxis=ratio_axis(),
        **_frame(),
    )


def reliability(table: pd.DataFrame, title: str, errors: str, small: int, *, diagonal: bool) -> go.Figure:
    """Draw precision against mean score by bins of the scores, with intervals: a reliability diagram.

    `table` has the columns of `analysis.slices.calibration.BIN_COLUMNS`, `said` stands below the title. Scores that are
    probabilities have the `diagonal` of the calibrated ones. A point's `customdata` is (row,).
    """
    figure = go.Figure()
    if diagonal:
        figure.add_scatter(
            x=[0, 1],
            y=[0, 1],
            mode="lines",
            name="calibrated",
            hoverinfo="skip",
            line={"color": GREY, "dash": "dot"},
        )
    for grey, name in ((False, "predictions"), (True, f"fewer than {small} predictions")):
        rows = table[(table["small"] == grey).to_numpy()]
        figure.add_scatter(
            x=rows["confidence"].tolist(),
            y=rows["precision"].tolist(),
            error_y=_interval_bars(rows, "precision"),
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
        title=f"{plain(title)}<br><sub>{plain(errors)}<br>precision from 0 to 1 with 95% intervals; "
        f"n = {counted(number, 'prediction')} with a score</sub>",
        height=440,
        xaxis=value_axis("mean score") | ({"range": [0, 1.08]} if diagonal else {}),
        yaxis=ratio_axis("precision"),
        **_frame(),
    )


def risk_curve(table: pd.DataFrame, title: str, area: float, risk: float) -> go.Figure:
    """Draw the risk of the predictions with the highest scores against their share.

    `table` has the columns of `analysis.slices.calibration.RISK_COLUMNS`, `area` is that under its curve, `risk` that
    of all predictions.
    """
    figure = go.Figure()
    figure.add_scatter(
        x=table["coverage"].tolist(),
        y=table["risk"].tolist(),
        mode="lines+markers",
        name="in the order of their scores",
        cliponaxis=False,
        line={"color": TYPE_HUES[0]},
        marker={"size": 5},
        hovertext=[
            f"score at least {threshold:g}: risk {value:.4f}, {counted(int(act), 'prediction')}"
            for threshold, value, act in zip(table["threshold"], table["risk"], table["ACT"], strict=True)
        ],
        hoverinfo="text",
    )
    figure.add_scatter(
        x=[0, 1],
        y=[risk, risk],
        mode="lines",
        name="at random",
        hoverinfo="skip",
        line={"color": GREY, "dash": "dot"},
    )
    return figure.update_layout(
        title=f"{plain(title)}<br><sub>risk = 1 − precision of the predictions kept; area {area:.3f}, "
        f"{risk:.3f} at random; n = {counted(int(table['ACT'].max()), 'prediction')} with a score</sub>",
        height=380,
        xaxis=value_axis("coverage: share of the predictions kept") | {"range": [0, 1.02]},
        yaxis=value_axis("risk") | {"rangemode": "tozero"},
        **_frame(),
    )


def _interval_bars(rows: pd.DataFrame, ratio: str) -> dict[str, Any]:
    """Return the bars of a ratio's intervals, from its columns `_low` and `_high`."""
    return {
        "type": "data",
        "symmetric": False,
        "array": (rows[f"{ratio}_high"] - rows[ratio]).clip(lower=0).tolist(),
        "arrayminus": (rows[ratio] - rows[f"{ratio}_low"]).clip(lower=0).tolist(),
        "thickness": 1.5,
        "width": 4,
    }


def _frame() -> dict[str, Any]:
    return {
        # A narrow window has no room beside the title.
        "legend": {"orientation": "h", "yref": "container", "y": 0, "yanchor": "bottom", "x": 0},
        "hovermode": "closest",
        "dragmode": False,
        "margin": {"l": 10, "r": 10, "t": 105, "b": 80},
        **background(),
    }
