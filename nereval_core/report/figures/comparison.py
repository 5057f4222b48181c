"""Figures that compare systems: a leaderboard with intervals, and gold spans by how many systems find them."""

from __future__ import annotations

import pandas as pd
import plotly.graph_objects as go

from nereval_core.report.colours import TYPE_HUES
from nereval_core.report.figures.parts import GRID, background, counted, plain, row_axis, value_axis

_HEAD = 96


def leaderboard(
    table: pd.DataFrame, baseline: str, method: str, units: tuple[str, str] = ("document", "documents")
) -> go.Figure:
    """Draw F1 of systems with intervals, the best on top.

    `table` has the columns `criterion`, `system`, `f1`, `f1_low`, `f1_high`, `rank`, `units` and `POS` of one
    criterion; systems without F1 have no mark. `said` describes the intervals, `units` are singular and plural of
    the resampled units. The `customdata` of a mark is (system,).
    """
    rows = table.sort_values("f1", ascending=False, kind="stable", na_position="last").reset_index(drop=True)
    defined = rows[rows["f1"].notna()]
    criterion = plain(str(table["criterion"].iat[0])) if len(table) else ""
    figure = go.Figure()
    for name, symbol, hue in (("baseline", "diamond", TYPE_HUES[1]), ("system", "circle", TYPE_HUES[0])):
        here = defined[(defined["system"].eq(baseline) == (name == "baseline")).to_numpy()]
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
            f"n = {counted(spans, unit)} in {number:,} {plain(units[number != 1])}; {plain(method)}</sub>",
            "yref": "container",
            "y": 1,
            "yanchor": "top",
            "pad": {"t": 22},
        },
        height=_HEAD + 70 + 28 * max(2, len(rows)),
        xaxis=value_axis("F1"),
        yaxis={
            **row_axis(rows["system"].tolist()),
            "range": [len(rows) - 0.4, -0.6],
            "title": "system",
            "automargin": True,
        },
        hovermode="closest",
        dragmode=False,
        legend={"orientation": "h", "y": 1, "x": 1, "xanchor": "right", "yanchor": "bottom"},
        margin={"l": 10, "r": 10, "t": _HEAD, "b": 10},
        **background(),
    )


def difference_dots(table: pd.DataFrame, first: str, second: str) -> go.Figure:
    """Draw F1 of one system less that of another under each criterion, with intervals and zero marked.

    `table` has the columns `criterion`, `difference`, `low` and `high` of the second less the first; criteria without
    a difference have no mark.
    """
    turned = {"difference": -table["difference"], "low": -table["high"], "high": -table["low"]}
    rows = table.assign(row=table["criterion"], **turned)
    return _dots(rows, f"F1 of {plain(first)} less F1 of {plain(second)}")


def baseline_dots(table: pd.DataFrame, method: str) -> go.Figure:
    """Draw F1 of each system less that of the baseline under one criterion, with intervals and zero marked.

    `table` has DIFFERENCE_COLUMNS; systems without a difference have no mark. `said` describes the intervals.
    """
    names = [plain(str(table[name].iat[0])) for name in ("baseline", "criterion")]
    title = f"F1 of systems less F1 of {names[0]} under {names[1]}<br><sub>{plain(method)}</sub>"
    return _dots(table.assign(row=table["system"]), title, head=64)


def _dots(table: pd.DataFrame, title: str, *, head: int = 40) -> go.Figure:
    """Draw the differences of a table, a `row` each; `head` is the height of the title in pixels."""
    table = table.reset_index(drop=True)
    rows = table[table["difference"].notna()]
    values, low, high = rows["difference"], rows["low"], rows["high"]
    figure = go.Figure(
        go.Scatter(
            x=values.tolist(),
            y=rows.index.tolist(),
            mode="markers",
            marker={"color": TYPE_HUES[0], "size": 10},
            error_x={
                "type": "data",
                "symmetric": False,
                "array": (high - values).tolist(),
                "arrayminus": (values - low).tolist(),
                "color": TYPE_HUES[0],
                "thickness": 1.6,
                "width": 5,
            },
            hovertext=[
                f"{plain(name)}: {value:+.4f}{_ends(least, most)}"
                for name, value, least, most in zip(rows["row"], values, low, high, strict=True)
            ],
            hoverinfo="text",
            cliponaxis=False,
        )
    )
    figure.add_vline(x=0, line={"color": "#888", "width": 1.5})
    return figure.update_layout(
        title={
            "text": title,
            "yref": "container",
            "y": 1,
            "pad": {"t": 8},
        },
        height=66 + head + 26 * max(1, len(table)),
        xaxis=value_axis("difference in F1") | {"tickformat": "+.2f"},
        yaxis={**row_axis(table["row"].tolist()), "automargin": True},
        hovermode="closest",
        dragmode=False,
        showlegend=False,
        margin={"l": 10, "r": 10, "t": head, "b": 10},
        **background(),
    )


def right_bars(table: pd.DataFrame, criterion: str, systems: int, documents: int) -> go.Figure:
    """Draw the number of gold spans that none, one, ... all systems get right.

    `table` has the columns `right_by` (text) and `gold_spans`. A bar's `customdata` is (its `right_by`,).
    """
    names, counts = table["right_by"].astype(str).tolist(), table["gold_spans"].tolist()
    total = sum(counts)
    shares = [f"{count / total:.1%}" if total else "–" for count in counts]
    figure = go.Figure(
        go.Bar(
            x=names,
            y=counts,
            customdata=[(name,) for name in names],
            marker={"color": TYPE_HUES[0], "line": {"color": "rgba(128,128,128,0.6)", "width": 0.5}},
            text=[f"{count:,}" for count in counts],
            textposition="outside",
            cliponaxis=False,
            hovertext=[
                f"right by {name}: {counted(count, 'gold span')}, {share}"
                for name, count, share in zip(names, counts, shares, strict=True)
            ],
            hoverinfo="text",
        )
    )
    return figure.update_layout(
        title=f"Gold spans by how many of {counted(systems, 'system')} get them right under {plain(criterion)}<br>"
        f"<sub>right is COR; n = {counted(total, 'gold span')} in {counted(documents, 'document')}</sub>",
        height=320,
        xaxis={"title": "systems that get the span right", "type": "category"},
        yaxis={"title": "gold spans", "rangemode": "tozero", "gridcolor": GRID, "zeroline": False},
        bargap=0.25,
        dragmode=False,
        margin={"l": 10, "r": 10, "t": 70, "b": 10},
        **background(),
    )


def _ends(low: float, high: float) -> str:
    """Return the ends of an interval as text, "" without one."""
    return "" if pd.isna(low) else f", {low:.4f} to {high:.4f}"
