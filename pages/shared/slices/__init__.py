"""The views of slices: by properties of spans and documents, scores, worst combinations, decades, and CLEF-HIPE's."""

from __future__ import annotations

from nereval_core.analysis.resampling_units import are_many
from pages.shared.components.navigation import choose_word
from pages.shared.data import scored_folders
from pages.shared.data.page_context import PageContext
from pages.shared.slices import hipe_and_decades, slice_tests, slicing, systems_by_slice, thresholds
from pages.shared.systems import ranked_systems

LABELS = {
    "by-value": "Spans and documents",
    "scores": "Scores of predictions",
    "worst-slices": "Worst combinations",
    "decades": "Decades",
    "as-clef-hipe": "As CLEF-HIPE",
}
"""The views by their word in a link; the first needs none."""


def draw_slices(page: PageContext) -> None:
    """Show all systems in the slices by one property, then the chosen one, and on a click which slices differ."""
    name = slicing.choose_slices(page)
    ranked = ranked_systems(page)
    if len(ranked) > 1 and not are_many(len(page.loaded.corpus.documents)):
        systems_by_slice.draw_systems(page, ranked, name)
    slicing.draw_slices(page, name)
    slice_tests.draw_tests(page)


DRAWN = {
    "by-value": draw_slices,
    "scores": thresholds.draw_thresholds,
    "worst-slices": slice_tests.draw_worst,
    "decades": hipe_and_decades.draw_decades,
    "as-clef-hipe": hipe_and_decades.draw_hipe,
}


def draw_views(page: PageContext) -> None:
    """Ask which slices to show, and draw these alone."""
    if not page.loaded.has_layers:
        scored_folders.say_elsewhere("By slice")
        return
    labels = {word: page.words.by_names(label) for word, label in LABELS.items()}
    DRAWN[choose_word(page, "slices_tab", "Slices", labels)](page)
