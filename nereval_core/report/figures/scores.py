"""Figures of scores: decisions by criterion, the confusions of types, and scores by type.

The title of a figure names its subject, its unit and the number of things it shows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import plotly.graph_objects as go

from nereval_core.problems import shortened_name
from nereval_core.report.colours import LOOKS, system_hues
from nereval_core.report.figures.parts import (
    CLEAR,
    ROW_PIXELS,
    background,
    counted,
    ink,
    interval_bars,
    plain,
    row_axis,
    row_offset,
    short_names,
    system_markers,
    value_axis,
)
from nereval_core.scoring import Counts
from nereval_core.tables import signed
from nereval_core.tables.glossary import DECISIONS

_FRAME = 130
_LABELS = 36
WRITTEN_COLUMNS = 24
"""The most columns of a confusion table whose cells are wide enough for a number."""
NAME_CHARACTERS, SMALL_ROW_PIXELS, SMALL_TYPE = 36, 16, 9
"""Characters of a type beside a confusion table, and pixels of a row and of its name where the table is large."""


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
                y=[plain(name) for name in names],
                x=overall[code],
                orientation="h",
                customdata=[(name, code) for name in names],
                marker={"color": LOOKS[code].colour.hue, "line": {"color": "rgba(128,128,128,0.6)", "width": 0.5}},
                text=[f"{LOOKS[code].glyph} {count:,}" if count else "" for count in overall[code]],
                textposition="inside",
                insidetextanchor="middle",
                textangle=0,
                textfont={"color": ink(LOOKS[code].colour.hue), "size": 12},
                hovertemplate=f"%{{y}}: %{{x:,}} {LOOKS[code].label}<extra></extra>",
            )
            for code in DECISIONS
        ]
    )
    gold, predicted = (int(overall[column].max()) if len(overall) else 0 for column in ("POS", "ACT"))
    return figure.update_layout(
        title=f"Decisions of {plain(system)} by matching criterion<br>"
        f"<sub>match records; {gold:,} gold spans, {predicted:,} predictions</sub>",
        barmode="stack",
        height=_FRAME + ROW_PIXELS * max(1, len(names)),
        xaxis={"title": "match records", "rangemode": "tozero"},
        yaxis={"autorange": "reversed", "title": "", "type": "category"},
        legend={"orientation": "h", "traceorder": "normal", "y": -0.3 if len(names) > 5 else -0.55, "x": 0},
        margin={"l": 10, "r": 10, "t": 60, "b": 10},
        **background(),
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
    """Draw a confusion table: gold types down, predicted types across, darker cells for larger counts.

    Plotly reports no clicks on a heat map, so transparent squares with `cells` as `customdata` lie over it.
    `values` and `texts` have the same shape; a value that is NaN stays blank. Cells of a large table are too narrow for
    numbers, which the pointer shows there.
    """
    rows, columns = [plain(name) for name in values.index], [plain(name) for name in values.columns]
    is_large = len(columns) > WRITTEN_COLUMNS
    figure = go.Figure(
        go.Heatmap(
            z=values.to_numpy(),
            x=list(range(len(columns))),
            y=list(range(len(rows))),
            # The square root keeps small counts visible beside a large diagonal.
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
        # Plotly would colour the text for a white page.
        textfont={"color": "#fafafa" if dark else "#1a1a1a"},
        text=["" if is_large else texts.iat[y, x] for x, y in places],
        hovertext=[f"gold {rows[y]}, predicted {columns[x]}: {texts.iat[y, x] or 0!s}" for x, y in places],
        hoverinfo="text",
    )
    names_down, names_across = (
        [plain(shortened_name(str(name), NAME_CHARACTERS)) for name in names]
        for names in (values.index, values.columns)
    )
    axis: dict[str, Any] = {"tickmode": "array", "showgrid": False, "zeroline": False}
    if is_large:
        axis["tickfont"] = {"size": SMALL_TYPE}
    return figure.update_layout(
        title=f"{plain(title)}<br><sub>{plain(unit)}; {records:,} in all"
        f"{'; point at a cell to read its number' if is_large else ''}</sub>",
        height=_FRAME + 60 + (SMALL_ROW_PIXELS if is_large else ROW_PIXELS) * len(rows),
        xaxis={
            **axis,
            "tickvals": list(range(len(columns))),
            "ticktext": names_across,
            "range": [-0.5, len(columns) - 0.5],
            "title": {"text": "predicted type"},
            "tickangle": -90 if is_large else -40 if sum(map(len, columns)) > _LABELS else 0,
        },
        yaxis={
            **axis,
            "tickvals": list(range(len(rows))),
            "ticktext": names_down,
            "range": [len(rows) - 0.5, -0.5],
            "title": {"text": "gold type"},
        },
        hovermode="closest",
        hoverdistance=-1,
        dragmode=False,
        showlegend=False,
        margin={"l": 10, "r": 10, "t": 60, "b": 10},
        **background(),
    )


def type_dots(systems: Mapping[str, Mapping[str, Counts]], types: Sequence[str], criterion: str) -> go.Figure:
    """Draw F1 of each type as dots: one row per type in the order given, one colour and symbol per system.

    Types without F1 have no dot. A dot's `customdata` is (system, type).
    """
    figure, markers = go.Figure(), system_markers(systems)
    for number, (system, by_type) in enumerate(systems.items()):
        beside = row_offset(number, len(systems))
        counted_types = [(place, kind, by_type[kind]) for place, kind in enumerate(types) if kind in by_type]
        points = [(place, kind, counts, counts.f1) for place, kind, counts in counted_types if counts.f1 is not None]
        figure.add_scatter(
            x=[f1 for *_, f1 in points],
            y=[place + beside for place, *_ in points],
            mode="markers",
            name=plain(system),
            cliponaxis=False,
            marker=markers[system],
            customdata=[(system, kind) for _, kind, _, _ in points],
            hovertext=[
                f"{plain(system)}, {plain(kind)}: F1 {f1:.4f}, n = {counted(counts.pos, 'gold span')}, "
                f"{counted(counts.act, 'prediction')}"
                for _, kind, counts, f1 in points
            ],
            hoverinfo="text",
        )
    first = next(iter(systems.values()), {})
    spans = [first[kind].pos if kind in first else 0 for kind in types]
    return figure.update_layout(
        title=f"F1 of each type under {plain(criterion)}<br><sub>F1, from 0 to 1; n = gold spans of the type, "
        f"{counted(sum(spans), 'gold span')} in {counted(len(types), 'type')}</sub>",
        height=150 + 30 * max(1, len(types)),
        xaxis=value_axis("F1") | {"range": [0, 1]},
        yaxis={
            **row_axis([f"{kind} (n={n:,})" for kind, n in zip(types, spans, strict=True)]),
            "automargin": True,
            "title": "",
        },
        legend={"orientation": "h", "y": 1, "x": 0, "yanchor": "bottom"},
        showlegend=True,
        hovermode="closest",
        dragmode=False,
        margin={"l": 10, "r": 20, "t": 90, "b": 10},
        **background(),
    )


def type_rows(
    table: pd.DataFrame,
    system: str,
    criterion: str,
    method: str,
    hue: str,
    sides: tuple[str, str] = ("gold spans", "predictions"),
) -> go.Figure:
    """Draw a row for each type in the order of the table: F1 with its interval, and a bar of its decisions.

    `table` has the columns `type`, `f1`, `f1_low`, `f1_high`, `POS`, `ACT`, COR, INC, PAR and MIS of its gold spans,
    and SPU of its predictions. A bar is 100% of the gold spans and spurious predictions of its type. `hue` is that of
    the system, `sides` name the spans of both. The `customdata` of a dot is (type, ""), that of a part of a bar (type,
    decision).
    """
    table = table.reset_index(drop=True)
    figure = go.Figure()
    rows = table[table["f1"].notna()]
    figure.add_scatter(
        x=rows["f1"].tolist(),
        y=rows.index.tolist(),
        mode="markers",
        name="F1",
        cliponaxis=False,
        marker={"color": hue, "size": 10, "line": {"color": "#555555", "width": 0.5}},
        error_x=interval_bars(rows["f1"], rows["f1_low"], rows["f1_high"], color=hue),
        customdata=[(kind, "") for kind in rows["type"]],
        hovertext=[
            f"{plain(row['type'])}: F1 {row['f1']:.4f}"
            f"{_interval_text(row['f1_low'], row['f1_high'])}, "
            f"{counted(row['POS'], 'gold span')}, {counted(row['ACT'], 'prediction')}"
            for row in rows.to_dict("records")
        ],
        hoverinfo="text",
        showlegend=False,
    )
    sums = table[list(DECISIONS)].sum(axis=1)
    for code in DECISIONS:
        look, parts = LOOKS[code], table[table[code] > 0]
        shares = parts[code] / sums[parts.index]
        figure.add_bar(
            name=f"{look.glyph} {look.label}",
            x=shares.tolist(),
            y=parts.index.tolist(),
            orientation="h",
            xaxis="x2",
            width=0.8,
            customdata=[(kind, code) for kind in parts["type"]],
            marker={"color": look.colour.hue, "line": {"width": 0}},
            text=[f"{look.glyph} {count:,}" for count in parts[code]],
            textposition="inside",
            insidetextanchor="middle",
            textangle=0,
            textfont={"color": ink(look.colour.hue), "size": _LABEL_SIZE},
            hovertext=[
                f"{plain(kind)}: {count:,} {look.label}, {share:.1%}"
                for kind, count, share in zip(parts["type"], parts[code], shares, strict=True)
            ],
            hoverinfo="text",
        )
    spans, predicted = int(table["POS"].sum()), int(table["ACT"].sum())
    gold, predictions = map(plain, sides)
    names = short_names(table["type"].tolist())
    return figure.update_layout(
        title={
            "text": f"F1 and decisions of {plain(system)} by type under {plain(criterion)}<br>"
            f"<sub>in brackets the {gold}; in all {spans:,} {gold}, {predicted:,} {predictions}"
            f"{f'; {plain(method)}' if method else ''}</sub>",
            "yref": "container",
            "y": 1,
            "yanchor": "top",
            "pad": {"t": 12},
        },
        barmode="stack",
        # A number that does not fit its part is left out: it is said on hover and in the table.
        uniformtext={"minsize": _LABEL_SIZE, "mode": "hide"},
        height=_TYPES_HEAD + 80 + 28 * max(2, len(table)),
        xaxis={**value_axis("F1, better →"), "range": [-0.02, 1.02], "domain": [0, 0.5], "automargin": True},
        xaxis2={
            "title": "decisions",
            "domain": [0.54, 1],
            "range": [0, 1],
            "tickformat": ".0%",
            "showgrid": False,
            "zeroline": False,
            "anchor": "y",
            "automargin": True,
        },
        yaxis={
            **row_axis([f"{name} ({n:,})" for name, n in zip(names, table["POS"], strict=True)]),
            "automargin": True,
            "title": "",
        },
        legend={"orientation": "h", "y": 1, "x": 0, "yanchor": "bottom", "traceorder": "normal"},
        hovermode="closest",
        dragmode=False,
        margin={"l": 10, "r": 10, "t": _TYPES_HEAD, "b": 10},
        **background(),
    )


def _interval_text(low: float, high: float) -> str:
    return "" if pd.isna(low) else f", {low:.4f} to {high:.4f}"


_TYPES_HEAD = 96
_LABEL_SIZE = 10
_ROW = 30
_HEAD = 76


def gain_bars(
    tables: Mapping[str, pd.DataFrame], criterion: str, gold: int, predicted: Sequence[int], *, noun: str = "system"
) -> go.Figure:
    """Draw the F1 that mending each error class alone would gain, one bar per class and system.

    Each system's table has the columns `class`, `records`, `f1` and `gain`; classes stand as in the first, and those
    without records have no bar. `predicted` are the predictions of each system, which the `noun` names. A bar's
    `customdata` is (class,).
    """
    figure = go.Figure()
    order = dict.fromkeys(name for table in tables.values() for name in table["class"][table["records"] > 0])
    occurring = {system: table[(table["records"] > 0).to_numpy()] for system, table in tables.items()}
    hues = system_hues(occurring)
    for system, rows in occurring.items():
        figure.add_bar(
            name=plain(system),
            x=rows["gain"].tolist(),
            y=[plain(name) for name in rows["class"]],
            orientation="h",
            customdata=[(name,) for name in rows["class"]],
            marker={"color": hues[system]},
            text=[f"{signed(gain, 4)} · {n:,}" for gain, n in zip(rows["gain"], rows["records"], strict=True)],
            textposition="outside",
            cliponaxis=False,
            hovertext=[
                f"{plain(system)}, {plain(name)}: F1 {f1:.4f} if mended alone"
                for name, f1 in zip(rows["class"], rows["f1"], strict=True)
            ],
            hoverinfo="text",
        )
    gains = [gain for rows in occurring.values() for gain in rows["gain"].dropna()]
    whose = plain(next(iter(tables))) if len(tables) == 1 else counted(len(tables), noun)
    errors = [int(rows["records"].sum()) for rows in occurring.values()]
    return figure.update_layout(
        title=f"F1 under {plain(criterion)} gained by mending each error class of {whose}<br>"
        f"<sub>F1 gained by mending the class alone · its records; n = {_span(errors, 'error')}, "
        f"{counted(gold, 'gold span')}, {_span(predicted, 'prediction')}</sub>",
        barmode="group",
        height=_HEAD + 70 + _ROW * max(1, len(order)) * max(1, len(tables)),
        # The longest bar leaves space for its label, on a telephone too.
        xaxis={
            **value_axis("F1 gained"),
            "range": [1.9 * min(0.0, *gains, 0.0), 1.9 * max(0.001, *gains, 0.0)],
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
