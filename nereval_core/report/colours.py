"""Colour, glyph and word of each decision, and the colours of types and systems, for pages, figures and exports.

A colour has a `hue` for lines and figures, and for each theme a `fill` with an `ink` that is legible on it and on the
page (contrast at least 4.5). Colour never stands alone: a decision has its glyph and word, a type its name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from nereval_core.tables.glossary import DECISIONS, GLOSSARY, decision_label

PAGE = (("#ffffff", "#f0f2f6"), ("#171614", "#2d2b27"))
"""Backgrounds of the light and the dark theme: page and sidebar."""

CONTRAST = 4.5


@dataclass(frozen=True, slots=True)
class Colour:
    """A hue with its fill and its ink in the light and the dark theme, each as #rrggbb."""

    hue: str
    fill: tuple[str, str]
    ink: tuple[str, str]

    @classmethod
    def of(cls, hue: str) -> Colour:
        light, dark = mixed(hue, PAGE[0][0], 0.22), mixed(hue, PAGE[1][0], 0.30)
        inks = _legible(hue, "#000000", (light, *PAGE[0])), _legible(hue, "#ffffff", (dark, *PAGE[1]))
        return cls(hue, (light, dark), inks)


@dataclass(frozen=True, slots=True)
class DecisionLook:
    """The look of a decision: `✓`, `correct`, `correct (COR)` and its colour."""

    code: str
    glyph: str
    colour: Colour

    @property
    def word(self) -> str:
        return GLOSSARY[self.code].name

    @property
    def label(self) -> str:
        return decision_label(self.code)


def channels(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def mixed(colour: str, other: str, share: float) -> str:
    """Return a mixture with this share of one colour, the rest of the other."""
    pairs = zip(channels(colour), channels(other), strict=True)
    return "#" + "".join(f"{round(share * a + (1 - share) * b):02x}" for a, b in pairs)


def contrast(colour: str, other: str) -> float:
    """Return the contrast ratio of two colours, 1 to 21 (WCAG 2, relative luminance of sRGB)."""
    low, high = sorted((_luminance(colour), _luminance(other)))
    return (high + 0.05) / (low + 0.05)


def lightness(colour: str) -> float:
    """Return L* of CIELAB, the lightness that is seen: 0 is black, 100 is white."""
    light = _luminance(colour)
    return 116 * light ** (1 / 3) - 16 if light > 216 / 24389 else light * 24389 / 27


def _luminance(colour: str) -> float:
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in (v / 255 for v in channels(colour))]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _legible(hue: str, away: str, backs: tuple[str, ...]) -> str:
    """Move a hue towards black or white until it is legible on all of the backgrounds."""
    for step in range(21):
        ink = mixed(away, hue, step / 20)
        if min(contrast(ink, back) for back in backs) >= CONTRAST:
            return ink
    return away


# Okabe and Ito's hues, distinguishable with every colour-vision deficiency.
_GLYPHS = {"COR": "✓", "INC": "≠", "PAR": "◐", "MIS": "−", "SPU": "+"}
_HUES = {"COR": "#009e73", "INC": "#d55e00", "PAR": "#e69f00", "MIS": "#0072b2", "SPU": "#cc79a7"}

LOOKS: Mapping[str, DecisionLook] = MappingProxyType(
    {code: DecisionLook(code, _GLYPHS[code], Colour.of(_HUES[code])) for code in DECISIONS}
)
LINK_LOOKS: Mapping[str, DecisionLook] = MappingProxyType(
    {
        "right": LOOKS["COR"],
        "wrong link": LOOKS["INC"],
        "NIL for link": replace(LOOKS["PAR"], glyph="∅"),
        "link for NIL": replace(LOOKS["PAR"], glyph="◇"),
        "missing": LOOKS["MIS"],
        "spurious": LOOKS["SPU"],
    }
)
"""The looks of the decisions of entity linking."""


def decision_look(name: str) -> DecisionLook | None:
    """Return the look of a decision on a span or a link, None for another text."""
    return LOOKS.get(name) or LINK_LOOKS.get(name)


TYPE_HUES = (
    *("#3f90da", "#ffa90e", "#bd1f01", "#94a4a2", "#832db6", "#a96b59", "#e76300", "#b9ac70", "#717581", "#92dadd"),
    *("#d2f0a5", "#871e4b", "#3c5a78", "#c3b4ff", "#ffe15a", "#784bff", "#874b3c", "#2d78a5", "#96000f", "#78b4c3"),
    *("#a5c3b4", "#9687a5", "#69ffe1", "#4ba53c"),
)
"""Petroff's ten, extended so that each prefix stays as distinct as can be under colour-vision deficiencies."""

_TYPE_COLOURS = tuple(Colour.of(hue) for hue in TYPE_HUES)


def type_colours(types: Iterable[str], more: Iterable[str] = ()) -> dict[str, Colour]:
    """Return a colour for each type by its place among the sorted types; give the types of the whole corpus.

    `more` are further types, such as merged names: they come last, so that other colours stay. Beyond 24 types the
    colours repeat.
    """
    sorted_types = sorted(set(types))
    names = [*sorted_types, *sorted(set(more).difference(sorted_types))]
    return {name: _TYPE_COLOURS[place % len(_TYPE_COLOURS)] for place, name in enumerate(names)}


SYSTEM_HUES = ("#7a5fd0", "#7a8526", "#c2405f", "#0f8f8f", "#a06a3c", "#4a76d9", "#a8559b", "#5d7f93")
"""Hues of systems, none of which is a decision's. They are the same on light, dark and paper: contrast at least 3."""
NEUTRAL = "#7a7a7a"
"""Ink of what is no decision, type or system: brackets, baselines, ratios and selections."""


def system_hues(systems: Iterable[str]) -> dict[str, str]:
    """Return a hue for each system by its place among the sorted names; give all that are compared with one another.

    Beyond 8 systems hues repeat, with other symbols in figures.
    """
    return {name: SYSTEM_HUES[place % len(SYSTEM_HUES)] for place, name in enumerate(sorted(set(systems)))}
