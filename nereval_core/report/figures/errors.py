"""Figure of error classes: the F1 that mending each would gain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd
import plotly.graph_objects as go

from nereval_core.report.colours import TYPE_HUES
from nereval_core.report.figures.parts import background, counted, plain, value_axis

_ROW = 30
_HEAD = 76


def gain_bars(tables: Mapping[str, pd.DataFrame], criterion: str, gold: int, predicted: Sequence[int]) -> go.Figure:
    """Draw the F1 that mending each error class alone would gain, one bar per class and system.

    Each system's table has the columns `class`, `records`, `f1` and `gain`; classes stand as in the first, and those
    without records have no bar. `predicted` are the predictions of each system. A bar's `customdata` is (class,).
    """
    figure = go.Figure()
    order = dict.fromkeys(name for table in tables.values() for name in table["class"][table["records"] > 0])
    occurring = {system: table[(table["records"] > 0).to_numpy()] for system, table in tables.items()}
    for number, (system, rows) in enumerate(occurring.items()):
        figure.add_bar(
            name=plain(system),
            x=rows["gain"].tolist(),
            y=[plain(name) for name in rows["class"]],
            orientation="h",
            customdata=[(name,) for name in rows["class"]],
            marker={"color": TYPE_HUES[number % len(TYPE_HUES)]},
            text=[
                f"{gain:+.4f} · {counted(n, 'record')}" for gain, n in zip(rows["gain"], rows["records"], strict=True)
            ],
            textposition="outside",
            cliponaxis=False,
            hovertext=[
                f"{plain(system)}, {plain(name)}: F1 {f1:.4f} if mended alone"
                for name, f1 in zip(rows["class"], rows["f1"], strict=True)
            ],
            hoverinfo="text",
        )
    gains = [gain for rows in occurring.values() for gain in rows["gain"].dropna()]
    whose = plain(next(iter(tables))) if len(tables) == 1 else counted(len(tables), "system")
    errors = [int(rows["records"].sum()) for rows in occurring.values()]
    return figure.update_layout(
        title=f"F1 under {plain(criterion)} gained by mending each error class of {whose}<br>"
        f"<sub>F1 gained by mending the class alone; n = {_span(errors, 'error')}, {counted(gold, 'gold span')}, "
        f"{_span(predicted, 'prediction')}</sub>",
        barmode="group",
        height=_HEAD + 70 + _ROW * max(1, len(order)) * max(1, len(tables)),
        # The longest bar leaves space for its label.
        xaxis={
            **value_axis("F1 gained"),
            "range": [1.4 * min(0.0, *gains, 0.0), 1.4 * max(0.001, *gains, 0.0)],
        },
        yaxis={
            "autorange": "reversed",
            "title": "error class",
            "type": "category",
            "categoryorder": "array",
            "categoryarray": [plain(name) for name in order],
            "automargin": True,
        },
        showlegend=len(tables) > 1,
        dragmode=False,
        margin={"l": 10, "r": 10, "t": _HEAD, "b": 10},
        **background(),
    )


def _span(numbers: Sequence[int], what: str) -> str:
    """Return a number with its noun, or the range of several numbers."""
    low, high = min(numbers, default=0), max(numbers, default=0)
    return counted(high, what) if low == high else f"{low:,} to {counted(high, what)}"
