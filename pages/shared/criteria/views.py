"""Views of the Criteria page beside all criteria."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from pages.shared.components.sort_controls import choose_word
from pages.shared.criteria import curve as criteria_curve
from pages.shared.criteria import ladder as criteria_ladder
from pages.shared.criteria import merging as criteria_merging
from pages.shared.criteria import two as criteria_two
from pages.shared.view import CRITERIA_VIEWS

if TYPE_CHECKING:
    from pages.shared.frame import Here

ALL = "all"
LABELS: Mapping[str, str] = {
    ALL: "All criteria",
    "two-criteria": "Two criteria",
    "curve": "Overlap curve",
    "ladder": "Ladder of a record",
    "recovered": "Rescued errors",
    "merging": "Merging types",
    "stand-in": "Proxy criterion",
    "compose": "Compose",
}
VIEWS: Mapping[str, Callable[[Here], None]] = {
    "two-criteria": criteria_two.compare_two,
    "curve": criteria_curve.draw_curve,
    "ladder": criteria_ladder.draw_ladder,
    "recovered": criteria_two.list_recovered,
    "merging": criteria_merging.try_merging,
    "stand-in": criteria_merging.compare_stand_ins,
    "compose": criteria_curve.compose_criterion,
}
assert tuple(VIEWS) == CRITERIA_VIEWS


def choose_view(here: Here) -> Callable[[Here], None] | None:
    """Ask for a view; return the function that draws it, None for all criteria. Nothing else is drawn."""
    return VIEWS.get(choose_word(here, "criteria_view", "Show", LABELS))
