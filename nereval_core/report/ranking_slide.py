"""The ranking of systems on a slide, as the app's figure has it: F1 with intervals, and brackets where they differ.

It is drawn by style sheets, as a slide runs no script.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from markupsafe import Markup

from nereval_core.report.slides import breakable, slide_page
from nereval_core.tables import UNDEFINED

SHAPES: Mapping[str, str] = {
    "circle": "circle(50%)",
    "diamond": "polygon(50% 0,100% 50%,50% 100%,0 50%)",
    "square": "inset(8%)",
    "triangle-up": "polygon(50% 0,100% 100%,0 100%)",
    "cross": "polygon(33% 0,67% 0,67% 33%,100% 33%,100% 67%,67% 67%,67% 100%,33% 100%,33% 67%,0 67%,0 33%,33% 33%)",
    "star": "polygon(50% 0,62% 36%,100% 36%,69% 59%,81% 95%,50% 73%,19% 95%,31% 59%,0 36%,38% 36%)",
    "pentagon": "polygon(50% 0,100% 38%,81% 100%,19% 100%,0 38%)",
    "x": "polygon(20% 0,50% 30%,80% 0,100% 20%,70% 50%,100% 80%,80% 100%,50% 70%,20% 100%,0 80%,30% 50%,0 20%)",
    "hourglass": "polygon(0 0,100% 0,50% 50%,100% 100%,0 100%,50% 50%)",
    "triangle-down": "polygon(0 0,100% 0,50% 100%)",
}
"""The symbols of systems in figures, as outlines."""
WHOLE_EM, FACET_EM = 1.6, 0.66
"""Height of a system's row, alone and among others of one type, in em."""
AXIS_EM = 2.0
STEPS = (0.01, 0.02, 0.05, 0.1, 0.2)
TOLERANCE = 1e-6
MOST_STEPS = 6
"""Steps of the axis between numbers, of which it has so many at most."""


class RankedSystem(NamedTuple):
    """A system with its name as shown, the hue and symbol of its mark, F1 and the ends of its interval: NaN if none."""

    name: str
    hue: str
    symbol: str
    f1: float
    low: float
    high: float


class RankedGroup(NamedTuple):
    """Systems with the best first, and brackets: the places of the better and the worse one, and a lane.

    `name` is the type that they are compared on; a single group of all types has none.
    """

    name: str
    systems: Sequence[RankedSystem]
    brackets: Sequence[tuple[int, int, int]]


def ranking_html(heading: str, under: str, title: str, groups: Sequence[RankedGroup], note: str) -> Markup:
    """Return the HTML of a slide with the ranking of systems in each group; `note` says how it was made."""
    is_whole = [group.name for group in groups] == [""]
    low, high, step = _axis(groups)
    n_lanes = 1 + max((lane for group in groups for _, _, lane in group.brackets), default=-1)
    parts: list[Markup] = []
    row = 1
    for group in groups:
        n_systems = len(group.systems)
        if not is_whole:
            parts.append(_cell("b", row, 1, breakable(group.name), "nvs-facet", span=n_systems))
        for place, system in enumerate(group.systems):
            if is_whole:
                label = Markup("{} {}").format(_mark(system), breakable(system.name))
                parts += [_cell("b", row + place, 1, label), _cell("span", row + place, n_lanes + 3, _value(system))]
            parts.append(_cell("span", row + place, 2, _plot(system, low, high), "nvs-plot"))
        for better, worse, lane in group.brackets:
            words = f"{group.systems[better].name} is significantly better than {group.systems[worse].name}"
            bracket = Markup('<i role="img" aria-label="{}" title="{}"></i>').format(words, words)
            parts.append(_cell("span", row + better, 3 + lane, bracket, "nvs-bracket", span=worse - better + 1))
        # An empty row keeps types apart.
        row += n_systems + 1
    last = row - 2
    places = [round(low + number * step, 2) for number in range(round((high - low) / step) + 1)]
    lines, numbers = (
        Markup("").join(
            Markup('<i style="left:{:.2f}%">{}</i>').format(_percent(place, low, high), f"{place:.2f}" if words else "")
            for place in places
        )
        for words in (False, True)
    )
    axis = [_cell("span", 1, 2, lines, "nvs-grid", span=last), _cell("span", last + 1, 2, numbers, "nvs-axis")]
    row_em = WHOLE_EM if is_whole else FACET_EM
    ranks = Markup(
        '<div class="nvs-ranks {}" style="--nvs-em:{:.1f};--nvs-row:{}em;grid-template-columns:fit-content(36%) '
        'minmax(5em,1fr) repeat({},.7em) auto;grid-template-rows:repeat({},var(--nvs-row)) {}em">{}</div>'
    ).format(
        "nvs-whole" if is_whole else "",
        row_em * last + AXIS_EM,
        row_em,
        n_lanes,
        last,
        AXIS_EM,
        Markup("").join([*axis, *parts]),
    )
    body = Markup('<div class="nvs-body nvs-figure"><h2>{}</h2>{}{}<p class="nvs-method">{}</p></div>').format(
        title, Markup("") if is_whole else _legend(groups), ranks, note
    )
    return slide_page(heading, "", under, body)


def _axis(groups: Sequence[RankedGroup]) -> tuple[float, float, float]:
    """Return the ends of the axis and the step between its numbers, which are multiples of the step."""
    values = [
        value
        for group in groups
        for system in group.systems
        for value in (system.f1, system.low, system.high)
        if value == value
    ]
    least, most = min(values, default=0.0), max(values, default=1.0)
    step = next((step for step in STEPS if most - least <= MOST_STEPS * step), STEPS[-1])
    first = math.floor(least / step + TOLERANCE)
    last = max(math.ceil(most / step - TOLERANCE), first + 1)
    return round(first * step, 2), round(last * step, 2), step


def _percent(value: float, low: float, high: float) -> float:
    return 100 * (value - low) / (high - low)


def _cell(tag: str, row: int, column: int, content: Markup, name: str = "", *, span: int = 1) -> Markup:
    return Markup('<{} class="{}" style="grid-row:{}/span {};grid-column:{}">{}</{}>').format(
        Markup(tag), name, row, span, column, content, Markup(tag)
    )


def _mark(system: RankedSystem, place: str = "") -> Markup:
    return Markup('<i class="nvs-mark" style="background:{};clip-path:{};{}"></i>').format(
        system.hue, SHAPES.get(system.symbol, SHAPES["circle"]), place
    )


def _plot(system: RankedSystem, low: float, high: float) -> Markup:
    if system.f1 != system.f1:
        return Markup("")
    line = Markup("")
    if system.low == system.low:
        start, end = (_percent(value, low, high) for value in (system.low, system.high))
        line = Markup('<i class="nvs-line" style="left:{:.2f}%;width:{:.2f}%;background:{}"></i>').format(
            start, end - start, system.hue
        )
    return line + _mark(system, f"left:{_percent(system.f1, low, high):.2f}%")


def _value(system: RankedSystem) -> Markup:
    interval = "" if system.low != system.low else f" [{system.low:.3f}, {system.high:.3f}]"
    f1 = UNDEFINED if system.f1 != system.f1 else f"{system.f1:.3f}"
    return Markup('{}<span class="nvs-interval">{}</span>').format(f1, interval)


def _legend(groups: Sequence[RankedGroup]) -> Markup:
    systems = {system.name: system for group in groups for system in group.systems}
    return Markup('<p class="nvs-legend">{}</p>').format(
        Markup("").join(Markup("<span>{} {}</span>").format(_mark(systems[name]), name) for name in sorted(systems))
    )
