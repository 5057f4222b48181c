"""Slides with a figure, between the title and the records, and the keys of a slide show."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import streamlit as st
from markupsafe import Markup

from nereval_core.report.slides import bars_html, map_html
from nereval_core.scoring.criteria import SCHEMAS
from nereval_core.tables.glossary import DECISIONS
from pages.shared.confusion import matrix_title
from pages.shared.confusion.heat_map import heat_map_data
from pages.shared.data.page_context import PageContext
from pages.shared.view import FIGURE_SLIDES, View
from pages.shared.view.confusion_layout import confusion_table
from pages.shared.view.formulas import number

TYPES = 10
"""Types of a confusion table that are legible from the last row."""
SCORES, CONFUSION = FIGURE_SLIDES


def figure_slides(view: View) -> tuple[str, ...]:
    """Return the words of the figures that a show has."""
    return () if "records-only" in view.layout else FIGURE_SLIDES


def figure_html(page: PageContext, word: str, heading: str, under: str) -> Markup:
    """Return the HTML of the slide with a figure."""
    return _scores(page, heading, under) if word == SCORES else _confusion(page, heading, under)


def _scores(page: PageContext, heading: str, under: str) -> Markup:
    names = [name for name in dict.fromkeys((*SCHEMAS, page.by)) if name in page.criteria]
    scores = page.scores(names=names)
    bars = []
    for name in names:
        counts = scores.counts(name)
        bars.append((name, number(counts.f1), dict(zip(DECISIONS, (*counts.gold[:4], counts.spu), strict=True))))
    return bars_html(heading, under, f"Decisions and F1 of {page.system} by criterion", bars)


def _confusion(page: PageContext, heading: str, under: str) -> Markup:
    """Draw the types most often confused; pairs of equal type are left out, as the question is what is mistaken."""
    cells = page.ledger().confusion()
    layout = ("by-confusion", "off-diagonal")
    order = confusion_table(cells, page.types, layout, page.words).rows[:-1]
    table = confusion_table(cells, order[:TYPES], layout, page.words)
    n_hidden = len(order) - TYPES
    note = f"The {TYPES} types most often mistaken; {n_hidden} more are left out." if n_hidden > 0 else ""
    cells_data = heat_map_data(table, "", percent=False, words=page.words)
    return map_html(heading, under, matrix_title(page), cells_data, note)


_HERE = Path(__file__).parent
CHROME = _HERE / "chrome.css"
"""Styles that hide the app around a slide."""
_mount = st.components.v2.component(
    "nereval_slides",
    css=(_HERE / "slides.css").read_text(encoding="utf-8"),
    js=(_HERE / "slides.js").read_text(encoding="utf-8"),
    isolate_styles=False,
)


def take_keys(
    ids: Sequence[str],
    at: float,
    ends: tuple[str, str],
    *,
    key: str,
    on_step: Callable[[str], None],
    on_leave: Callable[[], None],
) -> None:
    """Take the keys: `ids` are those of the slides around the present one, at place `at`, `ends` the first and last.

    Ids are absolute, so that fast keys lose no step. `at` is halfway between two where the present one is not there.
    """

    def take_step() -> None:
        step = st.session_state[key]["step"]
        if step is not None:
            on_step(str(step["id"]))

    def leave() -> None:
        if st.session_state[key]["leave"]:
            on_leave()

    _mount(
        data={"ids": list(ids), "at": at, "ends": list(ends)}, key=key, on_step_change=take_step, on_leave_change=leave
    )
