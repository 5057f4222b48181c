"""Figures as files: an HTML page that needs nothing else, or a picture, which Chromium draws by Kaleido."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from nereval_core.problems import FormatError, one_line, quoted
from nereval_core.report.score_tables import Sheet
from nereval_core.report.table_formats import as_html

if TYPE_CHECKING:
    # Plotly takes longer to import than a table to print.
    from plotly.graph_objects import Figure
else:
    Figure = Any

__all__ = ["Figure", "drawn", "undrawable"]

PAGES, PICTURES = (".html", ".htm"), (".svg", ".png")
WIDTH, HEIGHT = 1000, 450
"""Pixels of a picture; a figure with a height of its own keeps it."""
SCALE = 2
"""Dots of a PNG per pixel, so that lines are sharp on paper too."""
STDOUT = "-"


def undrawable(place: str | None) -> str | None:
    """Return the reason why a figure cannot be drawn to this place, None if it can or if there is no place."""
    if place is None:
        return None
    suffix = PurePath(place).suffix.lower()
    if place != STDOUT and suffix not in (*PAGES, *PICTURES):
        return f"--figure {quoted(place)}, end the name in {', '.join((*PAGES, *PICTURES[:-1]))} or {PICTURES[-1]}"
    if not find_spec("plotly"):
        return "--figure needs Plotly, which is not installed: pip install plotly"
    if suffix in PICTURES and not find_spec("kaleido"):
        return f"--figure FILE{suffix} needs Kaleido, which is not installed: pip install kaleido"
    return None


def drawn(figures: Sequence[Figure], place: str, tables: Sequence[Sheet], title: str) -> bytes:
    """Return figures in the form that the suffix asks for: a page with the tables below, or a picture of one.

    Raises:
        FormatError: several figures for one picture, or no Chromium to draw it.
    """
    from nereval_core.report.figures import embedded, on_paper

    suffix = PurePath(place).suffix.lower()
    if suffix not in PICTURES:
        # A page includes the script once.
        pieces = [
            embedded(figure, f"nereval-{title}" + (f"-{number}" if len(figures) > 1 else ""), script=number == 0)
            for number, figure in enumerate(figures)
        ]
        return as_html(tables, title=title, figure="\n".join(pieces)).encode()
    if len(figures) != 1:
        remedy = f"end the name in {PAGES[0]}, or ask for one system, criterion and slicing"
        raise FormatError.single(place, None, f"{len(figures)} figures, and a picture holds one", remedy)
    figure = on_paper(figures[0])
    try:
        picture: bytes = figure.to_image(
            format=suffix[1:],
            width=WIDTH,
            height=figure.layout.height or HEIGHT,
            scale=1 if suffix == ".svg" else SCALE,
        )
    except Exception as error:
        # Kaleido has no exception class for a browser that is missing or does not start.
        found = one_line(str(error).strip().split("\n")[0]) or type(error).__name__
        remedy = f"install Chromium or name it in BROWSER_PATH, or end the name in {PAGES[0]}"
        raise FormatError.single(place, None, f"Chromium did not draw it ({found})", remedy) from error
    return picture
