"""Tables in, Plotly figures out. A title says what is shown, in which unit and of how many."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from nereval_core.glossary import DECISIONS
from nereval_core.report.colours import LOOKS, PAGE, TYPE_HUES, contrast

CLEAR = "rgba(0,0,0,0)"
_ROW = 34
_FRAME = 130
_HEAD = 122
"""Room above a plot for title, legend and an axis, each on a line of its own: a narrow window has no room beside."""
_LABELS = 36
_GRID = "rgba(128,128,128,0.35)"
_ACROSS = 3
_GAP = 90
SYMBOLS = ("circle", "diamond", "square", "triangle-up", "cross", "star", "pentagon", "x", "hourglass", "triangle-down")


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
        height=_FRAME + _ROW * max(1, len(names)),
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
    """Draw a confusion table: gold types down, predicted types across, darker where there is more.

    Plotly tells no clicks on a heat map, so transparent squares that carry `cells` as `customdata` lie over it.
    `values` and `texts` have the same shape; a value that is NaN stays blank.
    """
    rows, columns = [plain(name) for name in values.index], [plain(name) for name in values.columns]
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
        title=f"{plain(title)}<br><sub>{plain(unit)}; {records:,} in all</sub>",
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
        **background(),
    )


def sensitivity_dots(table: pd.DataFrame, spans: int, documents: int) -> go.Figure:
    """Draw F1 as dots: one row a criterion, one colour and symbol a system, one panel a merge (and counting).

    `table` has the columns of `analysis.sensitivity.sensitivity`; systems without F1 have no dot. A dot's `customdata`
    is (system, criterion, merge, counting).
    """
    criteria, systems, merges, countings = (
        table[column].cat.categories.tolist() for column in ("criterion", "system", "merge", "counting")
    )
    panels = [(merge, counting) for merge in merges for counting in countings]
    # Countings of one merge stand side by side, else the merges do.
    across = len(countings) if len(countings) > 1 else min(len(panels), _ACROSS)
    down = -(-len(panels) // across)
    # Systems stand beside one another within a row: many need more room.
    height = 60 + min(_ROW + 6 * max(0, len(systems) - 3), 4 * _ROW) * len(criteria)
    figure = make_subplots(
        rows=down,
        cols=across,
        shared_yaxes=True,
        horizontal_spacing=0.03,
        vertical_spacing=_GAP / (_GAP * (down - 1) + height * down),
        subplot_titles=[
            f"types merged: {plain(merge)}" + (f"; {counting}" if len(countings) > 1 else "")
            for merge, counting in panels
        ],
    )
    place = {name: number for number, name in enumerate(criteria)}
    for number, system in enumerate(systems):
        # Systems of one score stand beside one another, not on top.
        beside = (number - (len(systems) - 1) / 2) * 0.6 / len(systems)
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
                marker=system_marker(number),
                customdata=[(system, name, merge, counting) for name in names],
                hovertext=[
                    f"{plain(system)}, {plain(name)}: F1 {f1:.4f}, place {rank}"
                    for name, f1, rank in zip(names, rows["f1"], rows["rank"], strict=True)
                ],
                hoverinfo="text",
            )
    figure.update_xaxes(title_text="F1", matches="x", gridcolor=_GRID, zeroline=False)
    figure.update_yaxes(
        tickmode="array",
        tickvals=list(range(len(criteria))),
        ticktext=[plain(name) for name in criteria],
        range=[len(criteria) - 0.5, -0.5],
        gridcolor=_GRID,
        zeroline=False,
    )
    counting = f"; counting {countings[0]}" if len(countings) == 1 else ""
    # A criterion that leaves types out, or counts tokens, has an n of its own.
    for name, possible in table.groupby("criterion", observed=True)["POS"]:
        if possible.ne(spans).any():
            low, high = int(possible.min()), int(possible.max())
            counting += f"; n of {plain(str(name))}: {low:,}" + (f" to {high:,}" if high > low else "")
    return figure.update_layout(
        title=f"F1 of {counted(len(systems), 'system')} under {counted(len(criteria), 'matching criterion')}, "
        f"by merged types<br><sub>F1, from 0 to 1; n = {counted(spans, 'gold span')} in "
        f"{counted(documents, 'document')}{counting}</sub>",
        height=down * height + _GAP * (down - 1) + 180,
        legend={"title": {"text": "system"}},
        hovermode="closest",
        margin={"l": 10, "r": 10, "t": 120, "b": 60},
        **background(),
    )


def score_dots(table: pd.DataFrame, system: str, gold: int, predicted: int, documents: int) -> go.Figure:
    """Draw F1 under every criterion and published scorer as dots, a row each.

    `table` has the columns `row`, `kind` (criterion or published), `P`, `R` and `F1`; rows without F1 have no dot. A
    dot's `customdata` is the number of its row.
    """
    figure = go.Figure()
    plot = 40 + 22 * max(1, len(table))
    kinds = (("criterion", "matching criterion", "circle"), ("published", "published scorer", "diamond"))
    for number, (kind, name, symbol) in enumerate(kinds):
        rows = table[(table["kind"].eq(kind) & table["F1"].notna()).to_numpy()]
        places = rows.index.tolist()
        figure.add_scatter(
            x=rows["F1"].tolist(),
            y=places,
            mode="markers",
            name=name,
            cliponaxis=False,
            marker={"symbol": symbol, "color": TYPE_HUES[number], "size": 10, "line": {"color": "#555", "width": 0.5}},
            customdata=[(place,) for place in places],
            hovertext=[
                f"{plain(label)}: F1 {f1:.4f}, P {p:.4f}, R {r:.4f}"
                for label, f1, p, r in zip(rows["row"], rows["F1"], rows["P"], rows["R"], strict=True)
            ],
            hoverinfo="text",
        )
    return figure.update_layout(
        title={
            "text": f"F1 of {plain(system)} under {len(table):,} rules of matching<br>"
            f"<sub>F1, at best 1; n = {counted(gold, 'gold span')}, {counted(predicted, 'prediction')}, "
            f"{counted(documents, 'document')}</sub>",
            "yref": "container",
            "y": 1,
            "yanchor": "top",
            "pad": {"t": 10},
        },
        height=plot + _HEAD + 10,
        # Many rows do not fit a screen: the axis stands where one begins to read.
        xaxis={"title": {"text": "F1", "standoff": 4}, "side": "top", "gridcolor": _GRID, "zeroline": False},
        yaxis={
            "tickmode": "array",
            "tickvals": list(range(len(table))),
            "ticktext": [plain(label) for label in table["row"]],
            "range": [len(table) - 0.5, -0.5],
            "gridcolor": _GRID,
            "zeroline": False,
            "title": "criterion or scorer",
            "automargin": True,
        },
        hovermode="closest",
        dragmode=False,
        legend={"orientation": "h", "y": 1 + 38 / plot, "x": 1, "xanchor": "right", "yanchor": "bottom"},
        margin={"l": 10, "r": 10, "t": _HEAD, "b": 10},
        **background(),
    )


def slice_lines(table: pd.DataFrame, title: str, axis: str, unit: str) -> go.Figure:
    """Draw P, R and F1 over slices of a corpus in the order given, with the number of gold spans of each.

    `table` has the columns `slice`, `n`, `P`, `R` and `F1`; undefined ratios leave a gap.
    """
    figure = go.Figure()
    places = list(range(len(table)))
    for number, (name, symbol) in enumerate((("P", "triangle-up"), ("R", "square"), ("F1", "circle"))):
        figure.add_scatter(
            x=places,
            y=table[name].tolist(),
            mode="lines+markers",
            name=name,
            cliponaxis=False,
            line={
                "color": TYPE_HUES[number],
                "width": 3 if name == "F1" else 1.5,
                "dash": None if name == "F1" else "dot",
            },
            marker={"symbol": symbol, "size": 9},
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
        yaxis={"title": "P, R, F1", "range": [0, 1.02], "gridcolor": _GRID, "zeroline": False},
        legend={"orientation": "h", "y": 1, "x": 1, "xanchor": "right", "yanchor": "bottom"},
        hovermode="closest",
        dragmode=False,
        margin={"l": 10, "r": 10, "t": 70, "b": 10},
        **background(),
    )


def embedded(figure: go.Figure, name: str, *, script: bool = True) -> str:
    """Return the figure as HTML with Plotly's script in it: the same on every run, and nothing is fetched.

    `name` is the id of its element; without `script` the page must have it from another figure above.
    """
    text: str = on_paper(figure).to_html(
        full_html=False, include_plotlyjs=script, div_id=name, config={"displaylogo": False, "responsive": True}
    )
    return text


def on_paper(figure: go.Figure) -> go.Figure:
    """Return the figure on white: its labels are dark, and what is around it may be too."""
    return go.Figure(figure).update_layout(paper_bgcolor=PAGE[0][0], plot_bgcolor=PAGE[0][0])


def counted(count: int, what: str) -> str:
    many = f"{what.removesuffix('on')}a" if what.endswith("criterion") else f"{what}s"
    return f"{count:,} {what if count == 1 else many}"


def system_marker(number: int) -> dict[str, Any]:
    """Return what the points of a system look like: no two of the first differ by colour alone."""
    return {
        "symbol": SYMBOLS[number % len(SYMBOLS)],
        "color": TYPE_HUES[number % len(TYPE_HUES)],
        "size": 10,
        "line": {"color": "#555555", "width": 0.5},
    }


def background() -> dict[str, str]:
    return {"paper_bgcolor": CLEAR, "plot_bgcolor": CLEAR}


def ink(back: str) -> str:
    return max(("#000000", "#ffffff"), key=lambda ink: contrast(ink, back))


def plain(text: str) -> str:
    """Return text that Plotly does not take for its own markup."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
