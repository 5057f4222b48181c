"""Figures about types: how well each is found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go

from nereval_core.report.figures import background, counted, plain, system_marker
from nereval_core.scoring import Counts

_GRID = "rgba(128,128,128,0.35)"
_ROW = 30
_HEAD = 90


def type_dots(systems: Mapping[str, Mapping[str, Counts]], types: Sequence[str], criterion: str) -> go.Figure:
    """Draw F1 of each type as dots, a row a type in the order given, a colour and symbol a system.

    Types without F1 have no dot. A dot's `customdata` is (system, type).
    """
    figure = go.Figure()
    for number, (system, by_type) in enumerate(systems.items()):
        # Systems of one score stand beside one another, not on top.
        beside = (number - (len(systems) - 1) / 2) * 0.6 / len(systems)
        known = [(place, kind, by_type[kind]) for place, kind in enumerate(types) if kind in by_type]
        drawn = [(place, kind, counts, counts.f1) for place, kind, counts in known if counts.f1 is not None]
        figure.add_scatter(
            x=[f1 for *_, f1 in drawn],
            y=[place + beside for place, *_ in drawn],
            mode="markers",
            name=plain(system),
            cliponaxis=False,
            marker=system_marker(number),
            customdata=[(system, kind) for _, kind, _, _ in drawn],
            hovertext=[
                f"{plain(system)}, {plain(kind)}: F1 {f1:.4f}, n = {counted(counts.pos, 'gold span')}, "
                f"{counted(counts.act, 'prediction')}"
                for _, kind, counts, f1 in drawn
            ],
            hoverinfo="text",
        )
    first = next(iter(systems.values()), {})
    spans = [first[kind].pos if kind in first else 0 for kind in types]
    return figure.update_layout(
        title=f"F1 of each type under {plain(criterion)}<br><sub>F1, from 0 to 1; n = gold spans of the type, "
        f"{counted(sum(spans), 'gold span')} in {counted(len(types), 'type')}</sub>",
        height=_HEAD + 60 + _ROW * max(1, len(types)),
        xaxis={"title": {"text": "F1"}, "range": [0, 1], "gridcolor": _GRID, "zeroline": False},
        yaxis={
            "tickmode": "array",
            "tickvals": list(range(len(types))),
            "ticktext": [f"{plain(kind)} (n={n:,})" for kind, n in zip(types, spans, strict=True)],
            "range": [len(types) - 0.5, -0.5],
            "gridcolor": _GRID,
            "zeroline": False,
            "automargin": True,
            "title": "",
        },
        legend={"orientation": "h", "y": 1, "x": 0, "yanchor": "bottom"},
        showlegend=True,
        hovermode="closest",
        dragmode=False,
        margin={"l": 10, "r": 20, "t": _HEAD, "b": 10},
        **background(),
    )
