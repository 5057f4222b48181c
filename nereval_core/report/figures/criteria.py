"""Figures that compare matching criteria: F1 under each, gaps between two, and scores by the least overlap."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from nereval_core.report.colours import TYPE_HUES
from nereval_core.report.figures.parts import (
    CLEAR,
    GRID,
    ROW_PIXELS,
    background,
    counted,
    plain,
    ratio_axis,
    row_axis,
    row_offset,
    system_markers,
)
from nereval_core.tables import signed

DRAWN_STEPS = 1_000
"""Steps of a curve that are drawn: more would stand closer than the pixels of a screen."""
NAME_HEIGHT = 0.045
"""Share of the height that the name of a mark takes."""
KIND_INK = "#35409c"
KIND_LOOKS = {
    "boundaries": (KIND_INK, ""),
    "types": ("#9aa6e8", ""),
    "both": ("#9aa6e8", "/"),
    "aligned otherwise": ("#ffffff", "|"),
}
"""The colour and the pattern of each kind of cause."""
_HEAD = 122
"""Pixels above a plot for title, legend and axis, one below the other: a narrow window has no space beside the plot."""
_PANELS_ACROSS = 3
_PANEL_GAP = 90


def ladder_bars(pieces: pd.DataFrame, table: pd.DataFrame, system: str, n: tuple[int, int, int]) -> go.Figure:
    """Draw the ladder of criteria, a bar each: what is kept of the F1 above, and what is gained by kind of cause.

    A bar is filled up to F1; behind it stands hollow what is lost of the F1 above. `pieces` has the columns of
    `analysis.criteria.steps.PIECE_COLUMNS`; `table` has `row`, `kind` (criterion or published) and `F1`, in the order
    of the ladder. Published scorers are diamonds in rows of their own, criteria without a step dots. `n` are gold
    spans, predictions and documents.
    """
    figure, place = go.Figure(), {name: number for number, name in enumerate(table["row"])}
    looks = [("kept", "", "kept of the F1 above", GRID, "")]
    looks += [("gained", kind, kind, *look) for kind, look in KIND_LOOKS.items()]
    looks += [("lost", "", "lost again", CLEAR, "")]
    for effect, kind, name, colour, pattern in looks:
        of_look = pieces[pieces["effect"].eq(effect) & (pieces["kind"].eq(kind) | (effect == "lost"))]
        if not len(of_look):
            continue
        figure.add_bar(
            x=(of_look["end"] - of_look["start"]).tolist(),
            y=[place[criterion] for criterion in of_look["criterion"]],
            base=of_look["start"].tolist(),
            orientation="h",
            name=name,
            width=0.6,
            marker={
                "color": colour,
                "line": {"color": CLEAR if effect == "kept" else KIND_INK, "width": 1},
                "pattern": {"shape": pattern, "fgcolor": KIND_INK},
            },
            hovertemplate=f"{plain(name)}: %{{x:.4f}}<extra></extra>",
        )
    has_bar = table["row"].isin(pieces["criterion"])
    for source, name, symbol in (("criterion", "no step", "circle"), ("published", "published scorer", "diamond-open")):
        marked = table[(table["F1"].notna() & ~has_bar & table["kind"].eq(source)).to_numpy()]
        if len(marked):
            figure.add_scatter(
                x=marked["F1"].tolist(),
                y=marked.index.tolist(),
                mode="markers",
                name=name,
                marker={"symbol": symbol, "color": KIND_INK, "size": 9},
                hovertemplate=f"{name}: F1 %{{x:.4f}}<extra></extra>",
            )
    values = [*table["F1"].dropna().tolist(), *pieces["end"].tolist()]
    low, high = max(0.0, min(values, default=0.0) - 0.05), max(values, default=1.0) + 0.03
    labels = [f"{row} {f1:.3f}" if f1 == f1 else str(row) for row, f1 in zip(table["row"], table["F1"], strict=True)]
    return figure.update_layout(
        title=f"F1 of {plain(system)} from strict to lenient, and what each criterion forgives<br>"
        f"<sub>against the criterion above; n = {counted(n[0], 'gold span')}, {counted(n[1], 'prediction')}, "
        f"{counted(n[2], 'document')}</sub>",
        height=50 + 26 * max(1, len(table)) + _HEAD,
        barmode="overlay",
        xaxis={"title": f"F1, from {low:.2f}", "gridcolor": GRID, "zeroline": False, "range": [low, high]},
        yaxis={**row_axis(labels), "automargin": True},
        legend={"orientation": "h", "y": 1.0, "x": 0, "yanchor": "bottom"},
        margin={"l": 10, "r": 10, "t": _HEAD, "b": 50},
        **background(),
    )


def sensitivity_dots(table: pd.DataFrame, spans: int, documents: int) -> go.Figure:
    """Draw F1 as dots: one row per criterion, colour and symbol per system, panel per merge (and counting).

    `table` has the columns of `analysis.sensitivity.sensitivity`; systems without F1 have no dot. A dot's `customdata`
    is (system, criterion, merge, counting).
    """
    criteria, systems, merges, countings = (
        table[column].cat.categories.tolist() for column in ("criterion", "system", "merge", "counting")
    )
    panels = [(merge, counting) for merge in merges for counting in countings]
    # The countings of one merge stand side by side, or, with one counting, the merges.
    across = len(countings) if len(countings) > 1 else min(len(panels), _PANELS_ACROSS)
    down = -(-len(panels) // across)
    # Systems stand side by side within a row: many of them need more space.
    height = 60 + min(ROW_PIXELS + 6 * max(0, len(systems) - 3), 4 * ROW_PIXELS) * len(criteria)
    figure = make_subplots(
        rows=down,
        cols=across,
        shared_yaxes=True,
        horizontal_spacing=0.03,
        vertical_spacing=_PANEL_GAP / (_PANEL_GAP * (down - 1) + height * down),
        subplot_titles=[
            f"types merged: {plain(merge)}" + (f"; {counting}" if len(countings) > 1 else "")
            for merge, counting in panels
        ],
    )
    place, markers = {name: number for number, name in enumerate(criteria)}, system_markers(systems)
    for number, system in enumerate(systems):
        beside = row_offset(number, len(systems))
        for panel, (merge, counting) in enumerate(panels):
            here = table["merge"].eq(merge) & table["counting"].eq(counting) & table["system"].eq(system)
            rows = table[here & table["f1"].notna()]
            names = rows["criterion"].tolist()
            figure.add_scatter(
                x=rows["f1"].tolist(),
                y=[place[name] + beside for name in names],
                row=panel // across + 1,
                col=panel % across + 1,
                mode="markers",
                name=plain(system),
                legendgroup=str(number),
                showlegend=panel == 0,
                cliponaxis=False,
                marker=markers[system],
                customdata=[(system, name, merge, counting) for name in names],
                hovertext=[
                    f"{plain(system)}, {plain(name)}: F1 {f1:.4f}, place {rank}"
                    for name, f1, rank in zip(names, rows["f1"], rows["rank"], strict=True)
                ],
                hoverinfo="text",
            )
    figure.update_xaxes(title_text="F1", matches="x", gridcolor=GRID, zeroline=False)
    figure.update_yaxes(row_axis(criteria))
    counting = f"; counting {countings[0]}" if len(countings) == 1 else ""
    # A criterion that leaves out types, or counts tokens, has an n of its own.
    for name, possible in table.groupby("criterion", observed=True)["POS"]:
        if possible.ne(spans).any():
            low, high = int(possible.min()), int(possible.max())
            counting += f"; n of {plain(str(name))}: {low:,}" + (f" to {high:,}" if high > low else "")
    return figure.update_layout(
        title=f"F1 of {counted(len(systems), 'system')} under {counted(len(criteria), 'matching criterion')}, "
        f"by merged types<br><sub>F1, from 0 to 1; n = {counted(spans, 'gold span')} in "
        f"{counted(documents, 'document')}{counting}</sub>",
        height=down * height + _PANEL_GAP * (down - 1) + 180,
        legend={"title": {"text": "system"}},
        hovermode="closest",
        margin={"l": 10, "r": 10, "t": 120, "b": 60},
        **background(),
    )


def gap_bars(table: pd.DataFrame, strict: str, loose: str, gap: float, spans: int, system: str) -> go.Figure:
    """Draw the part of each cause in the gap of F1 between two criteria; the `customdata` of a bar is the cause.

    `table` has the columns of `analysis.gap.GAP_COLUMNS`; `spans` is gold spans and predictions together.
    """
    figure = go.Figure(
        go.Bar(
            x=table["f1"].tolist(),
            y=[plain(cause) for cause in table["cause"]],
            orientation="h",
            customdata=[(cause,) for cause in table["cause"]],
            marker={"color": [TYPE_HUES[0] if part >= 0 else TYPE_HUES[1] for part in table["f1"]]},
            text=[signed(part, 4) for part in table["f1"]],
            textposition="auto",
            cliponaxis=False,
            hovertemplate="%{y}: %{x:+.4f}<extra></extra>",
        )
    )
    return figure.update_layout(
        title=f"Gap of F1 of {plain(system)} between {plain(strict)} and {plain(loose)}: {signed(gap, 4)}<br>"
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
    steps = table if len(table) <= DRAWN_STEPS else _thinned(table)
    figure = go.Figure()
    for number, (column, name) in enumerate((("precision", "P"), ("recall", "R"), ("f1", "F1"))):
        values = steps[column].tolist()
        # Each row holds down to the next one's minimum, the last one down to 0.
        figure.add_scatter(
            x=[*steps["minimum"].tolist(), 0],
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
            customdata=[*((row,) for row in steps.index.tolist()), (len(table) - 1,)],
            hovertemplate=f"least overlap %{{x:.4f}}: {name} %{{y:.4f}}<extra></extra>",
            cliponaxis=False,
        )
    for f1, height, name in _spread(marks):
        figure.add_shape(type="line", x0=1.01, x1=1.03, y0=f1, y1=height, line={"color": TYPE_HUES[2], "width": 1})
        figure.add_annotation(
            x=1.035,
            y=height,
            text=plain(f"{name} {f1:.3f}"),
            showarrow=False,
            xanchor="left",
            font={"size": 11},
        )
    if at is not None:
        figure.add_vline(x=at, line={"color": GRID, "dash": "dash", "width": 2})
    thinned = f"; {DRAWN_STEPS:,} of {len(table):,} steps drawn" if len(steps) < len(table) else ""
    return figure.update_layout(
        title=f"Scores of {plain(system)} against the least overlap that counts<br>"
        f"<sub>ratios from 0 to 1; beside: F1 under named criteria; n = {counted(n[0], 'gold span')}, "
        f"{counted(n[1], 'prediction')}{thinned}</sub>",
        height=480,
        xaxis={
            "title": f"least overlap, {plain(share)}",
            # The names at the right have room on a telephone, too.
            "range": [0, 1.5],
            "tickvals": [step / 10 for step in range(11)],
            "gridcolor": GRID,
            "zeroline": False,
        },
        yaxis=ratio_axis(),
        legend={"orientation": "h", "y": -0.16, "x": 0, "yanchor": "top"},
        hovermode="closest",
        dragmode=False,
        margin={"l": 10, "r": 10, "t": 70, "b": 10},
        **background(),
    )


def _thinned(table: pd.DataFrame) -> pd.DataFrame:
    """Return the last row of each of DRAWN_STEPS pieces of the axis, and the first row of all."""
    piece = (table["minimum"] * (DRAWN_STEPS - 2)).astype(int)
    is_last = ~piece.duplicated(keep="last")
    is_last.iloc[0] = True
    return table[is_last]


def _spread(marks: Sequence[tuple[str, float]]) -> list[tuple[float, float, str]]:
    """Return F1, height of the label and name of each mark, with legible distances between labels."""
    ordered = sorted(marks, key=lambda mark: mark[1])
    # Labels are at least NAME_HEIGHT apart: labels that would overlap are centred on the mean of their marks.
    pools: list[tuple[float, int]] = []
    for number, (_, f1) in enumerate(ordered):
        mean, size = f1 - number * NAME_HEIGHT, 1
        while pools and pools[-1][0] > mean:
            below, below_size = pools.pop()
            mean, size = (mean * size + below * below_size) / (size + below_size), size + below_size
        pools.append((mean, size))
    rows = [mean for mean, size in pools for _ in range(size)]
    last = len(rows) - 1
    return [
        (f1, min(max(row, 0.0) + number * NAME_HEIGHT, 1 - (last - number) * NAME_HEIGHT), name)
        for number, (row, (name, f1)) in enumerate(zip(rows, ordered, strict=True))
    ]
