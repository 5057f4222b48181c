"""Figures as files: an HTML page that needs nothing else, or a picture, which Chromium draws by Kaleido.

A picture is as on screen, or, with a width in millimetres, restyled for a paper; a PDF is always for a paper.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path, PurePath
from threading import Lock
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from markupsafe import escape

from nereval_core.problems import FormatError, one_line, quoted
from nereval_core.tables import Table
from nereval_core.tables.rendering import as_html

if TYPE_CHECKING:
    # Plotly takes longer to import than a table to print.
    from plotly.graph_objects import Figure
else:
    Figure = Any

__all__ = ["Figure", "figure_file", "paper_file", "paper_width", "undrawable", "why_no_pictures", "without_title"]

PAGES, PICTURES = (".html", ".htm"), (".svg", ".png", ".pdf")
WIDTHS_MM: Mapping[str, float] = MappingProxyType({"column": 84.0, "text": 174.0})
"""Widths of a column and of the text on a page of two columns, as Springer Nature's journals ask for them."""
NARROWEST_MM, WIDEST_MM = 40, 420
WIDTH, HEIGHT = 1000, 450
"""Pixels of a picture; a figure with a height of its own keeps it."""
SCALE = 2
"""Dots of a PNG per pixel, so that lines are sharp on paper too."""
PAPER_SCALE = 6.25
"""Dots of a PNG for a paper per pixel: 600 an inch, which publishers ask for where lines and tones are combined."""
STDOUT = "-"


def paper_width(text: str | None) -> float | None:
    """Return a width in millimetres, given by name or as a number; None for None.

    Raises:
        FormatError: it is neither, or too narrow or wide.
    """
    if text is None:
        return None
    try:
        width = WIDTHS_MM[text] if text in WIDTHS_MM else float(text)
    except ValueError:
        width = 0.0
    if not NARROWEST_MM <= width <= WIDEST_MM:
        names = ", ".join(f"{name} ({mm:g} mm)" for name, mm in WIDTHS_MM.items())
        remedy = f"write {names} or millimetres from {NARROWEST_MM} to {WIDEST_MM}"
        raise FormatError.single("--figure-width", None, f"{quoted(text)} is not a width of a figure", remedy)
    return width


def undrawable(place: str | None, width: str | None = None) -> str | None:
    """Return the reason why a figure cannot be drawn to this place, None if it can or if there is no place."""
    if place is None:
        return None if width is None else "--figure-width goes with --figure FILE"
    suffix = PurePath(place).suffix.lower()
    if place != STDOUT and suffix not in (*PAGES, *PICTURES):
        return f"--figure {quoted(place)}, end the name in {', '.join((*PAGES, *PICTURES[:-1]))} or {PICTURES[-1]}"
    if width is not None and suffix not in PICTURES:
        return f"--figure-width is that of a picture, end the name of --figure in {', '.join(PICTURES)}"
    if not find_spec("plotly"):
        return "--figure needs Plotly, which is not installed: pip install plotly"
    if suffix in PICTURES and not find_spec("kaleido"):
        return f"--figure FILE{suffix} needs Kaleido, which is not installed: pip install kaleido"
    return None


def why_no_pictures() -> str | None:
    """Return the reason why this machine cannot draw pictures, None if it can."""
    if not find_spec("kaleido"):
        return "Kaleido is not installed where nereval runs (pip install kaleido)"
    from choreographer.browsers.chromium import Chromium

    browser = Chromium.find_browser(skip_local=False)
    return None if browser and Path(browser).is_file() else "there is no Chromium where nereval runs"


def figure_file(
    figures: Sequence[Figure], place: str, tables: Sequence[Table], title: str, width_mm: float | None = None
) -> bytes:
    """Return figures in the form that the suffix asks for: a page with the tables below, or a picture of one.

    Raises:
        FormatError: several figures for one picture, or no Chromium to draw it.
    """
    from nereval_core.report.figures.parts import embedded, on_paper

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
    if without_title(place, width_mm):
        return paper_file(figures[0], place, width_mm or WIDTHS_MM["column"])
    figure = on_paper(figures[0]).update_layout(width=WIDTH, height=figures[0].layout.height or HEIGHT)
    return _picture(figure, place, 1 if suffix == ".svg" else SCALE)


def without_title(place: str, width: object) -> bool:
    """Tell whether a figure that is drawn to this place is for a paper, whose caption holds the title."""
    return width is not None or PurePath(place).suffix.lower() == ".pdf"


def paper_file(figure: Figure, place: str, width_mm: float) -> bytes:
    """Return a figure restyled for print, so many millimetres wide, as PDF, SVG or PNG by the suffix of the place.

    A PDF holds its fonts. An SVG holds its text as text, which is set in a font of the machine that shows it, and has
    the caption as its title.

    Raises:
        FormatError: there is no Chromium to draw it.
    """
    from nereval_core.report.figures.paper import PIXELS_PER_MM, caption, for_paper

    paper_figure = for_paper(figure, width_mm)
    picture = _picture(paper_figure, place, PAPER_SCALE if place.lower().endswith(".png") else 1)
    if not place.lower().endswith(".svg"):
        return picture
    height_mm = paper_figure.layout.height / PIXELS_PER_MM
    sized = re.sub(
        r' width="[^"]*" height="[^"]*"',
        f' width="{width_mm:g}mm" height="{height_mm:.2f}mm"',
        picture.decode(),
        count=1,
    )
    head, _, rest = sized.partition(">")
    return f"{head}><title>{escape(caption(figure))}</title>{rest}".encode()


_one_at_a_time = Lock()
"""Each picture starts a Chromium of its own."""


def _picture(figure: Figure, place: str, scale: float) -> bytes:
    """Return a picture of a figure that has a size, in the form that the suffix of the place asks for."""
    import kaleido

    size = {"width": figure.layout.width, "height": figure.layout.height, "scale": scale}
    try:
        with _one_at_a_time:
            # Kaleido would fetch MathJax, and set what stands between two dollar signs as a formula.
            picture: bytes = kaleido.calc_fig_sync(
                figure, opts={"format": PurePath(place).suffix.lower()[1:], **size}, kopts={"mathjax": False}
            )
    except Exception as error:
        # Kaleido has no exception class for a browser that is missing or does not start.
        reason = one_line(str(error).strip().split("\n")[0]) or type(error).__name__
        remedy = f"install Chromium or name it in BROWSER_PATH, or end the name in {PAGES[0]}"
        raise FormatError.single(place, None, f"Chromium did not draw it ({reason})", remedy) from error
    return picture
