"""The views of slices: by properties of spans and documents, scores, worst combinations, decades, and CLEF-HIPE's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pages.shared import slices
from pages.shared.components.sort_controls import choose_word
from pages.shared.data import scored_folders
from pages.shared.slices import hipe_and_decades, slice_tests, thresholds, worst_combinations

if TYPE_CHECKING:
    from pages.shared.frame import Here

LABELS = {
    "by-value": "Spans and documents",
    "scores": "Scores of predictions",
    "worst-slices": "Worst combinations",
    "decades": "Decades",
    "as-clef-hipe": "As CLEF-HIPE",
}
"""The views by their word in a link; the first needs none."""


def draw_slices(here: Here) -> None:
    """Show the slices by one property, and on a click which of all slices differ from the rest."""
    slices.draw_slices(here)
    slice_tests.draw_tests(here)


DRAWN = {
    "by-value": draw_slices,
    "scores": thresholds.draw_thresholds,
    "worst-slices": worst_combinations.draw_worst,
    "decades": hipe_and_decades.draw_decades,
    "as-clef-hipe": hipe_and_decades.draw_hipe,
}


def draw_views(here: Here) -> None:
    """Ask which slices to show, and draw these alone."""
    if here.loaded.folder is not None:
        scored_folders.say_elsewhere("By slice")
        return
    DRAWN[choose_word(here, "slices_view", "Slices", LABELS)](here)
