"""Figures restyled for print: as wide as a column, in small type, and legible without colour.

Any figure of Plotly can be restyled. Its title, which belongs to the caption of a paper, is taken off; its colours
become PAPER_HUES, whose lightness differs by 12 of 100 and more, so that a grey print tells them apart; traces differ
in symbol and dash too. Systems keep the hues that they have on screen, and differ in symbol. Cells and bars keep their
labels, but for a number that does not fit its bar.

A width is `column` (84 mm) or `text` (174 mm), what Springer Nature's journals with two columns ask for, or 40 to 420
millimetres, such as 77 and 160 for columns and text of ACL's style. Type is 7 points, 8 for titles of axes, in
Helvetica, Arial or what the machine has in their place. A PDF holds its fonts; an SVG keeps its text as text, and
depends on the fonts of the machine that shows it; a PNG has 600 dots an inch. `for_paper` restyles any figure.
"""

from __future__ import annotations

import html
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from types import MappingProxyType
from typing import Any

import plotly.graph_objects as go

from nereval_core.report.colours import SYSTEM_HUES, lightness, mixed
from nereval_core.report.figures.parts import SYMBOLS, ink, on_paper

PAPER_HUES = ("#0b3c6f", "#e39a2d", "#a1302b", "#b9dcf0", "#3a8c7c")
"""Dark blue, orange, red, pale blue and green, which differ in lightness: grey print keeps them apart."""
DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
FONTS = "Helvetica, Arial, Liberation Sans, DejaVu Sans, sans-serif"
"""The sans-serif types that publishers ask for, and what Linux has in their place."""
LABEL_POINTS, TITLE_POINTS = 7, 8
"""Sizes of type on paper: of ticks, labels and legends, and of the titles of axes."""
RULE = "#c8c8c8"

SCALED, MARKED = ("heatmap", "contour"), ("scatter", "scattergl", "bar", "histogram", "box", "violin")
"""Types of traces with a scale of colours, and with one colour of their markers."""

PIXELS_PER_POINT = 96 / 72
PIXELS_PER_MM = 96 / 25.4
SHARE = 0.72
"""Height of a figure on paper as a share of that on screen, where labels are larger by as much."""
TITLE_PIXELS = 50
"""Height that the title takes on screen."""
LEAST_PIXELS = 100
LEGEND_ROW_PIXELS, LEGEND_KEY_PIXELS, CHARACTER_PIXELS = 14, 45, 5
MARKER_SHARE, STROKE_SHARE = 0.6, 0.6
DRAWN_MARKERS = 9
"""Markers along a line: its dashes would not show if every point had one."""
MOST_TICKS = 8
"""Numbers along an axis that a column has space for; of more every second is drawn."""
AXIS_PIXELS = 45
"""Width that the labels of the other axis take beside a plot."""
BELOW: Mapping[str, Any] = MappingProxyType(
    {
        "orientation": "h",
        "xref": "container",
        "yref": "container",
        "x": 0,
        "y": 0,
        "xanchor": "left",
        "yanchor": "bottom",
    }
)
"""The place of a legend."""

Node = dict[str, Any]


def for_paper(figure: go.Figure, width_mm: float) -> go.Figure:
    """Return a copy of a figure that is `width_mm` wide, on white, for print in colour or in greys."""
    figure_node: Node = on_paper(figure).to_dict()
    data, layout = figure_node.get("data", []), figure_node["layout"]
    layout.pop("title", None)
    layout["template"] = {"layout": {"colorway": list(PAPER_HUES)}}
    _replace_colours(data, layout)
    _set_symbols(data)
    _set_dashes(data)
    for key, node in _nodes({"data": data, "layout": layout}):
        if key == "marker" and isinstance(size := node.get("size"), int | float):
            node["size"] = size * MARKER_SHARE
        for stroke in ("width", "thickness"):
            if key.startswith(("line", "error_")) and isinstance(size := node.get(stroke), int | float):
                node[stroke] = max(size * STROKE_SHARE, 0.5)
    _set_type(data, layout)
    _set_size(data, layout, width_mm)
    return go.Figure(figure_node)


def caption(figure: go.Figure) -> str:
    """Return the title of a figure, which `for_paper` takes off, as plain text for the caption; "" without one."""
    text = re.sub(r"<br */?>", ". ", figure.layout.title.text or "")
    return html.unescape(re.sub(r"</?(?:sub|sup|b|i)>", "", text))


def _nodes(node: Any, key: str = "") -> Iterator[tuple[str, Node]]:
    """Yield each object within a figure with the name that it has there; those of a list share its name."""
    if isinstance(node, dict):
        yield key, node
        for name, below in node.items():
            if name not in ("template", "customdata"):
                yield from _nodes(below, name)
    elif isinstance(node, list | tuple) and node and isinstance(node[0], dict):
        for below in node:
            yield from _nodes(below, key)


# Colours


def _replace_colours(data: Sequence[Node], layout: Node) -> None:
    """Replace the colours of traces and shapes by PAPER_HUES in the order in which they come.

    Greys stay, and so do the hues of systems: these are the same everywhere.
    """
    paper_hue_of: dict[str, str] = {}

    def replaced(colour: Any) -> Any:
        if isinstance(colour, list | tuple):
            return [replaced(part) for part in colour]
        if (
            not isinstance(colour, str)
            or colour in SYSTEM_HUES
            or (channels := _channels(colour)) is None
            or max(channels) - min(channels) < 24
        ):
            return colour
        return paper_hue_of.setdefault(colour, PAPER_HUES[len(paper_hue_of) % len(PAPER_HUES)])

    for trace in data:
        if trace.get("type") in SCALED:
            trace["colorscale"] = _ordered_by_lightness(trace.get("colorscale", ()))
        elif trace.get("type", "scatter") in MARKED and not any(
            "color" in node for key, node in _nodes(trace) if key in ("marker", "line")
        ):
            # Plotly would take a colour of the template, which may be in use: this one is in no other trace.
            trace.setdefault("marker", {})["color"] = replaced(f"rgb(0, 255, {len(paper_hue_of)})")
    for key, node in [*_nodes(list(data), "trace"), *_nodes(layout.get("shapes", []), "shape")]:
        for name in ("color", "fillcolor"):
            if name in node and not key.endswith("font"):
                node[name] = replaced(node[name])


def _ordered_by_lightness(scale: Sequence[Sequence[Any]]) -> list[list[Any]]:
    """Return a scale of colours, or white to dark blue at its steps if lightness does not run one way on it."""
    steps = [(step, _channels(colour)) for step, colour in scale] or [(0, None), (1, None)]
    lights = [lightness(f"#{red:02x}{green:02x}{blue:02x}") for _, rgb in steps if rgb for red, green, blue in [rgb]]
    rises = {light < next_light for light, next_light in pairwise(lights) if light != next_light}
    if len(lights) == len(steps) and len(rises) == 1:
        return [list(pair) for pair in scale]
    return [[step, mixed(PAPER_HUES[0], "#ffffff", step)] for step, _ in steps]


def _channels(colour: str) -> tuple[int, int, int] | None:
    """Return red, green and blue of #rrggbb, rgb() or rgba() on white; None for another form of colour."""
    if re.fullmatch("#[0-9a-fA-F]{6}", colour):
        return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:], 16)
    if not (inside := re.fullmatch(r"rgba?\(([\d., ]+)\)", colour)):
        return None
    *rgb, alpha = [float(part) for part in (inside[1] + (",1" if inside[1].count(",") == 2 else "")).split(",")]
    red, green, blue = (round(alpha * value + (1 - alpha) * 255) for value in rgb)
    return red, green, blue


# Symbols and dashes


def _set_symbols(data: Sequence[Node]) -> None:
    """Give each trace with markers a symbol of its own; traces of one group in the legend share theirs."""
    marked = [trace for trace in data if _draws(trace, "markers") and not _is_clear(trace)]
    symbols = _distinct(marked, lambda trace: trace.get("marker", {}).get("symbol"), SYMBOLS)
    for trace, symbol in zip(marked, symbols, strict=True):
        trace.setdefault("marker", {})["symbol"] = symbol
        if _draws(trace, "lines"):
            trace["marker"]["maxdisplayed"] = DRAWN_MARKERS


def _set_dashes(data: Sequence[Node]) -> None:
    """Give each line a dash of its own, and the boldest the unbroken line."""
    lines = [trace for trace in data if _draws(trace, "lines")]
    if len(lines) < 2:
        return
    lines.sort(key=lambda trace: -trace.get("line", {}).get("width", 2))
    for trace, dash in zip(
        lines, _distinct(lines, lambda trace: trace.get("line", {}).get("dash"), DASHES), strict=True
    ):
        trace.setdefault("line", {})["dash"] = dash


def _distinct(traces: Sequence[Node], value_of: Callable[[Node], Any], values: Sequence[str]) -> list[Any]:
    """Return a value for each trace: its own, unless it has none or one before it has the same."""
    value_of_group: dict[Any, Any] = {}
    for number, trace in enumerate(traces):
        group = trace.get("legendgroup") or number
        free = [value for value in values if value not in value_of_group.values()] or list(values)
        own = value_of(trace)
        if group not in value_of_group:
            value_of_group[group] = free[0] if own is None or own in value_of_group.values() else own
    return [value_of_group[trace.get("legendgroup") or number] for number, trace in enumerate(traces)]


def _draws(trace: Node, what: str) -> bool:
    return trace.get("type", "scatter") == "scatter" and what in trace.get("mode", "lines+markers")


def _is_clear(trace: Node) -> bool:
    """Tell whether the markers are not to be seen: they take the clicks of a heat map."""
    return str(trace.get("marker", {}).get("color")).endswith(",0)")


# Type and size


def _set_type(data: Sequence[Node], layout: Node) -> None:
    """Set all text in black at the sizes of print; text within bars stays legible on their new colours."""
    label = {"family": FONTS, "size": LABEL_POINTS * PIXELS_PER_POINT, "color": "#000000"}
    title = label | {"size": TITLE_POINTS * PIXELS_PER_POINT}
    for node in [node for _, node in _nodes({"data": list(data), "layout": layout})]:
        node.update({key: dict(label) for key in node if key.endswith("font")})
    layout["font"] = dict(label)
    layout.setdefault("legend", {})["font"] = dict(label)
    for key in ("xaxis", "yaxis"):
        layout.setdefault(key, {})
    for axis in [node for key, node in layout.items() if re.fullmatch("[xy]axis[0-9]*", key)]:
        axis.update(automargin=True, tickfont=dict(label), linecolor="#000000", gridcolor=RULE, gridwidth=0.6)
        if "tickvals" in axis and "ticktext" not in axis and len(axis["tickvals"]) > MOST_TICKS:
            axis["tickvals"] = axis["tickvals"][::2]
        if isinstance(axis.get("title"), dict):
            axis["title"].update(font=dict(title), standoff=4)
    for trace in data:
        fill = trace.get("marker", {}).get("color")
        if trace.get("type") == "bar" and isinstance(fill, str) and _channels(fill):
            trace["insidetextfont"] = label | {"color": ink(fill)}
        if trace.get("type", "scatter") == "scatter":
            trace["textfont"] = dict(label)


def _set_size(data: Sequence[Node], layout: Node, width_mm: float) -> None:
    """Set width and height, with the legend below the plot, where a narrow column has space for it."""
    width = width_mm * PIXELS_PER_MM
    height = max((layout.get("height", 450) - TITLE_PIXELS) * SHARE, LEAST_PIXELS)
    names = [str(trace.get("name", "")) for trace in data if trace.get("showlegend", True)]
    if layout.get("showlegend", len(names) > 1):
        widest = LEGEND_KEY_PIXELS + CHARACTER_PIXELS * max(map(len, names), default=0)
        height += LEGEND_ROW_PIXELS * math.ceil(len(names) / max(1, width // widest))
    layout.update(width=width, height=height, margin={"l": 4, "r": 8, "t": 8, "b": 4})
    layout["legend"].update(BELOW)
    # A label that does not fit its bar is left out rather than shrunk below what can be read.
    layout["uniformtext"] = {"minsize": LABEL_POINTS * PIXELS_PER_POINT, "mode": "hide"}
    for note in layout.get("annotations", []):
        if note.get("xanchor") == "left" and note.get("xref", "x") == "x" and "range" in layout["xaxis"]:
            layout["xaxis"]["range"] = _with_space(layout["xaxis"]["range"], note, width - AXIS_PIXELS)


def _with_space(limits: Sequence[float], note: Node, plot: float) -> list[float]:
    """Return the range of an axis, so long that the text of a note at the right of the plot is not cut off."""
    low, high = limits
    share = min(CHARACTER_PIXELS * len(html.unescape(note["text"])) / plot, 0.8)
    return [low, max(high, (note["x"] - share * low) / (1 - share))]
