"""Tables in, Plotly figures out. A title says what is shown, in which unit and of how many."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import plotly.graph_objects as go

from nereval_core.glossary import DECISIONS
from nereval_core.report.colours import LOOKS, contrast

CLEAR = "rgba(0,0,0,0)"
_ROW = 34
_FRAME = 130
_LABELS = 36


def decision_bars(overall: pd.DataFrame, system: str) -> go.Figure:
    """Draw the five decisions of each criterion as one stacked bar.

    `overall` has a row for each criterion with the columns `criterion`, COR, INC, PAR, MIS, SPU, POS and ACT. A
    segment's `customdata` is (criterion, decision code).
    """
    names = overall["criterion"].tolist()
    figure = go.Figure(
        [
            go.Bar(
                name=f"{LOOKS[code].glyph} {LOOKS[code].label}",
                y=[_plain(name) for name in names],
                x=overall[code],
                orientation="h",
                customdata=[(name, code) for name in names],
                marker={"color": LOOKS[code].colour.hue, "line": {"color": "rgba(128,128,128,0.6)", "width": 0.5}},
                text=[f"{LOOKS[code].glyph} {count:,}" if count else "" for count in overall[code]],
                textposition="inside",
                insidetextanchor="middle",
                textangle=0,
                textfont={"color": _ink(LOOKS[code].colour.hue), "size": 12},
                hovertemplate=f"%{{y}}: %{{x:,}} {LOOKS[code].label}<extra></extra>",
            )
            for code in DECISIONS
        ]
    )
    gold, predicted = (int(overall[column].max()) if len(overall) else 0 for column in ("POS", "ACT"))
    return figure.update_layout(
        title=f"Decisions of {_plain(system)} by matching criterion<br>"
        f"<sub>match records; {gold:,} gold spans, {predicted:,} predictions</sub>",
        barmode="stack",
        height=_FRAME + _ROW * max(1, len(names)),
        xaxis={"title": "match records", "rangemode": "tozero"},
        yaxis={"autorange": "reversed", "title": "", "type": "category"},
        legend={"orientation": "h", "traceorder": "normal", "y": -0.3 if len(names) > 5 else -0.55, "x": 0},
        margin={"l": 10, "r": 10, "t": 60, "b": 10},
        **_background(),
    )


def confusion_map(
    values: pd.DataFrame,
    texts: pd.DataFrame,
    cells: Sequence[Sequence[object]],
    title: str,
    unit: str,
    records: int,
    *,
    dark: bool = False,
) -> go.Figure:
    """Draw a confusion table: gold types down, predicted types across, darker where there is more.

    Plotly tells no clicks on a heat map, so transparent squares that carry `cells` as `customdata` lie over it.
    `values` and `texts` have the same shape; a value that is NaN stays blank.
    """
    rows, columns = [_plain(name) for name in values.index], [_plain(name) for name in values.columns]
    figure = go.Figure(
        go.Heatmap(
            z=values.to_numpy(),
            x=list(range(len(columns))),
            y=list(range(len(rows))),
            # The root keeps small counts visible beside a large diagonal.
            colorscale=[[step / 10, f"rgba(0,114,178,{0.6 * (step / 10) ** 0.5:.2f})"] for step in range(11)],
            showscale=False,
            hoverinfo="skip",
            xgap=1,
            ygap=1,
        )
    )
    places = [(x, y) for y in range(len(rows)) for x in range(len(columns))]
    figure.add_scatter(
        x=[x for x, _ in places],
        y=[y for _, y in places],
        mode="markers+text",
        marker={"symbol": "square", "size": 34, "color": CLEAR},
        customdata=[cells[y][x] for x, y in places],
        # Text of a heat map would be coloured for a white page.
        textfont={"color": "#fafafa" if dark else "#1a1a1a"},
        text=[texts.iat[y, x] for x, y in places],
        hovertext=[f"gold {rows[y]}, predicted {columns[x]}: {texts.iat[y, x] or 0!s}" for x, y in places],
        hoverinfo="text",
    )
    axis = {"tickmode": "array", "showgrid": False, "zeroline": False}
    return figure.update_layout(
        title=f"{_plain(title)}<br><sub>{_plain(unit)}; {records:,} in all</sub>",
        height=_FRAME + 60 + _ROW * len(rows),
        xaxis={
            **axis,
            "tickvals": list(range(len(columns))),
            "ticktext": columns,
            "range": [-0.5, len(columns) - 0.5],
            "title": {"text": "predicted type"},
            "tickangle": -40 if sum(map(len, columns)) > _LABELS else 0,
        },
        yaxis={
            **axis,
            "tickvals": list(range(len(rows))),
            "ticktext": rows,
            "range": [len(rows) - 0.5, -0.5],
            "title": {"text": "gold type"},
        },
        hovermode="closest",
        hoverdistance=-1,
        dragmode=False,
        showlegend=False,
        margin={"l": 10, "r": 10, "t": 60, "b": 10},
        **_background(),
    )


def _background() -> dict[str, str]:
    return {"paper_bgcolor": CLEAR, "plot_bgcolor": CLEAR}


def _ink(back: str) -> str:
    return max(("#000000", "#ffffff"), key=lambda ink: contrast(ink, back))


def _plain(text: str) -> str:
    """Return text that Plotly does not take for its own markup."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
