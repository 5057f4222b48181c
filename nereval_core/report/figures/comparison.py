"""Figures that compare systems: the ranking with intervals and significance, differences, and spans by who is right.

A system has one hue and one symbol wherever it is drawn (`parts.system_markers`); all else is in neutral ink.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from typing import Any, NamedTuple

import pandas as pd
import plotly.graph_objects as go

from nereval_core.report.colours import NEUTRAL, system_hues
from nereval_core.report.figures.parts import (
    GRID,
    background,
    counted,
    interval_bars,
    on_two_lines,
    plain,
    row_axis,
    row_offset,
    short_names,
    system_markers,
    value_axis,
)
from nereval_core.tables import p_value_sentence, signed

_HEAD = 112
_ROW, _ROW_OF_TWO_LINES, _FACET, _IN_FACET, _WITHOUT_INTERVALS = 28, 36, 22, 16, 7
"""Pixels of a row of a system, with a name on one line or two, of a facet beside its systems, and of each of these,
also where no system has an interval: marks alone may stand closer."""
_LANE, _LANES = 0.022, 0.16
"""Width of a lane of brackets, and of all lanes at most, as shares of the plot."""


_AXIS_NAME, _ROW_NAME = 30, 48
"""Characters of a system below an axis, and of a system or scorer beside a row, at most."""
_WIDEST_FACET, _WIDEST_SYSTEM = 36, 56
"""Characters of the name of a facet, and of a system on two lines."""


class Bracket(NamedTuple):
    """A bracket from a system to a significantly worse one: their places from the top, and its lane from the left."""

    better: int
    worse: int
    lane: int


def brackets(order: Sequence[str], better_pairs: Container[tuple[str, str]]) -> list[Bracket]:
    """Return a bracket from each system, best first, to the next below that is significantly worse, if there is one.

    `better_pairs` are a significantly better system and a worse one each. Brackets of one lane do not overlap.
    """
    ends: list[int] = []
    result: list[Bracket] = []
    for better, system in enumerate(order):
        below = range(better + 1, len(order))
        worse = next((place for place in below if (system, order[place]) in better_pairs), None)
        if worse is None:
            continue
        lane = next((number for number, end in enumerate(ends) if end <= better), len(ends))
        ends[lane : lane + 1] = [worse]
        result.append(Bracket(better, worse, lane))
    return result


def leaderboard(
    table: pd.DataFrame,
    method: str,
    units: tuple[str, str] = ("document", "documents"),
    *,
    apart: pd.DataFrame | None = None,
    facet: str = "",
    title: str = "",
    pair: tuple[str, str] = ("", ""),
    among: Sequence[str] = (),
    resamples: int | None = None,
) -> go.Figure:
    """Draw F1 of systems with intervals, the best on top: all together, or for each value of the column `facet`.

    `table` has the columns `criterion`, `system`, `f1`, `f1_low` and `f1_high`, that of `facet` where it is named, and
    `units` and `POS` where they are known; systems without F1 have no mark. `apart` are the significant differences,
    with `system`, `baseline`, `difference`, `p_holm` and `facet`: brackets join each system with the next below that
    is significantly worse. `method` describes intervals and tests in a line or two, `units` are singular and plural of
    the resampled units. `pair` are the systems A and B; `among` are all systems of the corpus, ranked or not, so that
    each keeps its hue. The `customdata` of a mark is (system, value of the facet).
    """
    table = table.assign(_facet=table[facet].astype("object") if facet else "")
    systems = sorted(table["system"].unique())
    facets = table["_facet"].unique().tolist()
    order: dict[str, list[str]] = {
        str(value): rows.sort_values("f1", ascending=False, kind="stable", na_position="last")["system"].tolist()
        for value, rows in table.groupby("_facet", sort=False)
    }
    whole = not facet
    height_of_facet = 1.0 if not whole else float(len(systems))

    def y(value: str, place: int) -> float:
        return place if whole else facets.index(value) * height_of_facet + row_offset(place, len(order[value]))

    labels = dict(zip(systems, _labels(systems, pair), strict=True))
    figure, markers = go.Figure(), system_markers({*systems, *among})
    for system in systems:
        rows = table[(table["system"].eq(system) & table["f1"].notna()).to_numpy()].to_dict("records")
        values, low, high = ([row[key] for row in rows] for key in ("f1", "f1_low", "f1_high"))
        figure.add_scatter(
            x=values,
            y=[y(row["_facet"], order[row["_facet"]].index(system)) for row in rows],
            mode="markers",
            name=labels[system],
            cliponaxis=False,
            marker=markers[system],
            error_x=interval_bars(values, low, high, color=markers[system]["color"]),
            customdata=[(system, row["_facet"]) for row in rows],
            hovertext=[_hover(row, order[row["_facet"]].index(system) + 1) for row in rows],
            hoverinfo="text",
            showlegend=not whole,
        )
    share = _add_brackets(figure, apart, facet, resamples, order, y, 0.12 if whole else 0.08 / max(1, len(systems)))
    if whole:
        names = [labels[system] for system in order.get("", [])]
        rows_axis = {**row_axis([]), "tickvals": list(range(len(names))), "ticktext": names}
        rows_axis["range"] = [len(names) - 0.4, -0.6]
        row_height = _ROW_OF_TWO_LINES if any("<br>" in name for name in names) else _ROW
        height = _HEAD + 70 + row_height * max(2, len(names))
    else:
        names = _facet_names(table, facets)
        rows_axis = row_axis(names)
        row_height = _IN_FACET if table["f1_low"].notna().any() else _WITHOUT_INTERVALS
        height = _HEAD + 70 + (_FACET + row_height * len(systems)) * max(1, len(facets))
        # All at once: `add_hline` goes through the whole figure for each.
        line = {"type": "line", "xref": "x domain", "yref": "y", "x0": 0, "x1": 1, "line": {"color": GRID, "width": 1}}
        lines = ({**line, "y0": place - 0.5, "y1": place - 0.5} for place in range(1, len(facets)))
        figure.update_layout(shapes=[*figure.layout.shapes, *lines])
    return figure.update_layout(
        title={
            "text": f"{title or _title(table, len(systems))}<br><sub>{plain(counts_in_words(table, units))}; "
            f"{'<br>'.join(map(plain, method.splitlines()))}</sub>",
            "yref": "container",
            "y": 1,
            "yanchor": "top",
            "pad": {"t": 16},
        },
        height=height,
        xaxis={**value_axis("F1, better →"), "domain": [0, 1 - share], "automargin": True},
        yaxis={**rows_axis, "automargin": True, "showgrid": whole},
        hovermode="closest",
        dragmode=False,
        legend={"orientation": "h", "y": 1, "x": 0, "xanchor": "left", "yanchor": "bottom"},
        margin={"l": 10, "r": 10, "t": _HEAD, "b": 10},
        **background(),
    )


def _labels(systems: Sequence[str], pair: tuple[str, str]) -> list[str]:
    marks = {system: mark for mark, system in zip("AB", pair, strict=True) if system}
    return [
        f"<b>{marks[system]}</b> {on_two_lines(label)}" if system in marks else on_two_lines(label)
        for system, label in zip(systems, short_names(systems, _WIDEST_SYSTEM), strict=True)
    ]


def _hover(row: dict[Any, Any], place: int) -> str:
    within = f"{plain(str(row['_facet']))}: " if row["_facet"] else ""
    return f"{within}{plain(row['system'])}: F1 {row['f1']:.4f}{_ends(row['f1_low'], row['f1_high'])}, place {place}"


def _facet_names(table: pd.DataFrame, facets: Sequence[str]) -> list[str]:
    """Return the labels of facets, with their gold spans where these differ."""
    spans = table.groupby("_facet", sort=False)["POS"].max() if "POS" in table else pd.Series(dtype="int64")
    names = short_names(facets, _WIDEST_FACET)
    if spans.nunique() < 2:
        return names
    drawn = table.groupby("_facet", sort=False)["f1"].count()
    return [
        f"{name} (n={spans[facet]:,})" if spans[facet] or drawn[facet] else name
        for name, facet in zip(names, facets, strict=True)
    ]


def _title(table: pd.DataFrame, systems: int) -> str:
    criterion = plain(str(table["criterion"].iat[0])) if len(table) else ""
    return f"F1 of {counted(systems, 'system')} under {criterion}"


def counts_in_words(table: pd.DataFrame, units: tuple[str, str]) -> str:
    """Return what a ranking is of: F1, and the numbers of gold spans and of units, at most where facets differ."""
    if "POS" not in table:
        return "F1, at best 1"
    spans, number = (int(table[column].max()) if len(table) else 0 for column in ("POS", "units"))
    unit = "gold token" if str(table["criterion"].iat[0] if len(table) else "") == "fragment" else "gold span"
    most = "up to " if table.groupby("_facet")["POS"].max().nunique() > 1 else ""
    words = "F1, at best 1; n: up to " if most else "F1, at best 1; n = "
    return f"{words}{counted(spans, unit)} in {most}{number:,} {units[number != 1]}"


def _add_brackets(
    figure: go.Figure,
    apart: pd.DataFrame | None,
    facet: str,
    resamples: int | None,
    order: dict[str, list[str]],
    y: Callable[[str, int], float],
    gap: float,
) -> float:
    """Add the brackets of all facets on an axis of their own at the right; return its share of the plot."""
    if apart is None or apart.empty:
        return 0.0
    xs: list[float | None] = []
    ys: list[float | None] = []
    texts: list[str] = []
    lanes = 0
    apart = apart.assign(_facet=apart[facet].astype("object") if facet else "")
    for value, rows in apart.groupby("_facet", sort=False):
        p_of = {
            (row["system"], row["baseline"])[:: 1 if row["difference"] > 0 else -1]: row
            for row in rows.to_dict("records")
        }
        systems = order.get(str(value), [])
        for better, worse, lane in brackets(systems, p_of):
            row = p_of[systems[better], systems[worse]]
            text = (
                f"{plain(systems[better])} is significantly better than {plain(systems[worse])}: "
                f"{signed(abs(row['difference']), 4)} F1, "
                f"{p_value_sentence(row['p_holm'], resamples, row.get('p'))} corrected"
            )
            top, bottom = y(str(value), better) + gap, y(str(value), worse) - gap
            xs += [lane + 0.1, lane + 0.7, lane + 0.7, lane + 0.1, None]
            ys += [top, top, bottom, bottom, None]
            texts += [text] * 5
            lanes = max(lanes, lane + 1)
    if not xs:
        return 0.0
    figure.add_scatter(
        x=xs,
        y=ys,
        xaxis="x2",
        mode="lines",
        name="significantly better",
        line={"color": NEUTRAL, "width": 1.5},
        hovertext=texts,
        hoverinfo="text",
        showlegend=False,
        cliponaxis=False,
    )
    share = min(_LANE * lanes + 0.01, _LANES)
    figure.update_layout(
        xaxis2={"domain": [1 - share, 1], "range": [-0.3, lanes], "visible": False, "fixedrange": True, "anchor": "y"}
    )
    return share


def difference_dots(table: pd.DataFrame, first: str, second: str) -> go.Figure:
    """Draw F1 of the second system less that of the first under each criterion, with intervals and zero marked.

    `table` has the columns `criterion`, `difference`, `low` and `high` of the second less the first; criteria without
    a difference have no mark.
    """
    sides = [plain(name) for name in short_names([first, second], _AXIS_NAME)]
    # On a phone there is no room for two long names beside each other.
    between = " · " if len("".join(sides)) <= _AXIS_NAME else "<br>"
    axis = f"← {sides[0]} better{between}{sides[1]} better →"
    title = f"F1 of {plain(second)} less F1 of {plain(first)}"
    return _dots(table.assign(row=table["criterion"]), title, axis, [NEUTRAL] * len(table))


def baseline_dots(table: pd.DataFrame, method: str) -> go.Figure:
    """Draw F1 of each system less that of the baseline under one criterion, with intervals and zero marked.

    `table` has DIFFERENCE_COLUMNS; systems without a difference have no mark. `method` describes the intervals.
    """
    baseline, criterion = (str(table[name].iat[0]) for name in ("baseline", "criterion"))
    title = f"F1 of systems less F1 of {plain(baseline)} under {plain(criterion)}<br><sub>{plain(method)}</sub>"
    axis = f"← {plain(*short_names([baseline], _AXIS_NAME))} better · the system better →"
    hues = system_hues([baseline, *table["system"]])
    return _dots(table.assign(row=table["system"]), title, axis, [hues[name] for name in table["system"]], head=64)


def _dots(table: pd.DataFrame, title: str, axis: str, hues: Sequence[str], *, head: int = 40) -> go.Figure:
    """Draw the differences of a table, a `row` and a hue each; `head` is the height of the title in pixels."""
    table = table.reset_index(drop=True).assign(_hue=list(hues))
    rows = table[table["difference"].notna()]
    figure = go.Figure()
    # Error bars have one colour for each trace.
    for hue, part in rows.groupby("_hue", sort=False):
        figure.add_scatter(
            x=part["difference"].tolist(),
            y=part.index.tolist(),
            mode="markers",
            marker={"color": hue, "size": 10},
            error_x=interval_bars(part["difference"], part["low"], part["high"], color=hue),
            hovertext=[
                f"{plain(name)}: {signed(value, 4)}{_ends(least, most)}"
                for name, value, least, most in zip(
                    *(part[column] for column in ("row", "difference", "low", "high")), strict=True
                )
            ],
            hoverinfo="text",
            cliponaxis=False,
        )
    figure.add_vline(x=0, line={"color": NEUTRAL, "width": 1.5})
    return figure.update_layout(
        title={
            "text": title,
            "yref": "container",
            "y": 1,
            "pad": {"t": 8},
        },
        height=66 + head + 26 * max(1, len(table)),
        xaxis=value_axis(axis) | {"tickformat": "+.2f", "automargin": True},
        yaxis={**row_axis(short_names(table["row"].tolist(), _ROW_NAME)), "automargin": True},
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
            marker={"color": NEUTRAL, "line": {"color": "rgba(128,128,128,0.6)", "width": 0.5}},
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
    return "" if pd.isna(low) else f", {low:.4f} to {high:.4f}".replace("-", "−")
