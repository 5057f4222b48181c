"""Slides with a figure, between the title and the records: decisions by criterion, and the confusion table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from markupsafe import Markup

from nereval_core.glossary import DECISIONS
from nereval_core.report.slides import bars_html, map_html
from nereval_core.scoring.criteria import SCHEMAS
from pages.shared.confusion import matrix_title
from pages.shared.confusion.heat_map import heat_map_data
from pages.shared.view import FIGURE_SLIDES, RECORDS_ONLY, View
from pages.shared.view.count_tables import confusion_table, number

if TYPE_CHECKING:
    from pages.shared.frame import Here

TYPES = 10
"""Types of a confusion table that are legible from the last row."""
SCORES, CONFUSION = FIGURE_SLIDES


def figure_slides(view: View) -> tuple[str, ...]:
    """Return the words of the figures that a show has."""
    return () if RECORDS_ONLY in view.sort else FIGURE_SLIDES


def figure_html(here: Here, word: str, heading: str, under: str) -> Markup:
    """Return the HTML of the slide with a figure."""
    return _scores(here, heading, under) if word == SCORES else _confusion(here, heading, under)


def _scores(here: Here, heading: str, under: str) -> Markup:
    names = [name for name in dict.fromkeys((*SCHEMAS, here.by)) if name in here.criteria]
    scores = here.scores(names=names)
    bars = []
    for name in names:
        counts = scores.counts(name)
        bars.append((name, number(counts.f1), dict(zip(DECISIONS, (*counts.gold[:4], counts.spu), strict=True))))
    return bars_html(heading, under, f"Decisions and F1 of {here.system} by criterion", bars)


def _confusion(here: Here, heading: str, under: str) -> Markup:
    """Draw the types most often confused; pairs of equal type are left out, as the question is what is mistaken."""
    cells = here.ledger().confusion()
    layout = ("by-confusion", "off-diagonal")
    order = confusion_table(cells, here.types, layout, here.words).rows[:-1]
    table = confusion_table(cells, order[:TYPES], layout, here.words)
    left = len(order) - TYPES
    note = f"The {TYPES} types most often mistaken; {left} more are left out." if left > 0 else ""
    shown = heat_map_data(table, "", percent=False, words=here.words)
    return map_html(heading, under, matrix_title(here), shown, note)
