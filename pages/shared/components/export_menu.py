"""The menu of a page that saves what is on it: figures for screens and papers, tables, and methods.

Methods of statistics are explained on a click too: what each does, where it is from, and the paragraph for a paper.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import streamlit as st

from nereval_core.analysis.methods import FORMS, Methods
from nereval_core.analysis.methods.statements import linked_citation
from nereval_core.problems import capitalised
from nereval_core.report.figures.files import WIDTHS_MM, paper_file, why_no_pictures
from nereval_core.report.references import METHODS
from nereval_core.review.layer_words import LayerWords
from pages.shared.server.component_files import component
from pages.shared.view import keys
from pages.shared.view.text import plain

_HERE = Path(__file__).parent
_mount = component(
    "nereval_picture_buttons",
    css=(_HERE / "picture_buttons.css").read_text(encoding="utf-8"),
    js=(_HERE / "picture_buttons.js").read_text(encoding="utf-8"),
)
MENU = "export"
"""Its name among the menus of the page."""


@dataclass
class Item:
    """What is offered under one name: a function that draws the downloads of each table, and a figure.

    `page` makes the figure as a page that stands alone. Where the page shows the figure, `key` is its key there, and
    `title` the lines that the page has beside it.
    """

    tables: list[Callable[[], None]]
    figure: Callable[[], Any] | None = None
    page: Callable[[], bytes] | None = None
    key: str = ""
    title: Sequence[str] = ()


# What the page that is being drawn has to offer; None outside a page.
_items: ContextVar[dict[str, Item] | None] = ContextVar("export_items", default=None)


def begin() -> None:
    """Forget what was registered before: a page is about to be drawn."""
    _items.set({})


def register(
    name: str,
    *,
    table: Callable[[], None] | None = None,
    figure: Callable[[], Any] | None = None,
    page: Callable[[], bytes] | None = None,
    key: str = "",
    title: Sequence[str] = (),
) -> None:
    """Offer a table or a figure in the menu of the page, under its name and in the order of drawing."""
    items = _items.get()
    if items is None:
        return
    item = items.setdefault(name, Item([]))
    if table is not None:
        item.tables.append(table)
    item.key, item.title = (key, title) if key else (item.key, item.title)
    # The figure of a table has the signature of its numbers, one that is only shown has none.
    if figure is not None and (item.figure is None or not key):
        item.figure, item.page = figure, page


def draw(*, is_open: bool) -> bool:
    """Draw the menu of what was registered, if it is open; return whether anything was registered."""
    items = _items.get()
    _items.set(None)
    if items and is_open:
        with st.container(key=keys.OPEN_MENU + MENU, gap="small"):
            st.caption(_HELP)
            width = _choose_width() if any(item.figure for item in items.values()) else None
            for name, item in items.items():
                st.markdown(f"**{plain(capitalised(name.replace('-', ' ')))}**")
                _figure(name, item, width)
                for draw_files in item.tables:
                    draw_files()
            st.caption("Each file holds the whole of it, with the signature of its numbers.")
    return bool(items)


def _choose_width() -> float | None:
    """Ask for the width of figures for papers, in millimetres; say why if none can be drawn, and return None."""
    if reason := why_no_pictures():
        st.caption(f"There are no figures for papers (PDF and SVG as wide as a column): {reason}.")
        return None
    width_name = st.segmented_control(
        "Width of figures for papers",
        list(WIDTHS_MM),
        default=next(iter(WIDTHS_MM)),
        format_func=lambda name: f"{name}, {WIDTHS_MM[name]:g} mm",
        key=f"{keys.LIST}paper_width",
        required=True,
        help=_PAPER,
    )
    return WIDTHS_MM[str(width_name)]


def _figure(name: str, item: Item, width: float | None) -> None:
    """Offer the figure that the page shows, or the one that a table can be drawn as; `width` is that for a paper."""
    if item.figure is None or item.page is None:
        return
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        st.download_button(
            "Figure as HTML",
            item.page,
            file_name=f"nereval-{name}-figure.html",
            mime="text/html",
            key=f"figure_{name}",
            on_click="ignore",
        )
        for form, mime in PAPER_FORMS.items():
            if width is None:
                break
            st.download_button(
                f"{form.upper()} for papers",
                partial(_paper, item.figure, f"nereval-{name}.{form}", width),
                file_name=f"nereval-{name}.{form}",
                mime=mime,
                key=f"{form}_figure_{name}",
                on_click="ignore",
            )
        preview = not item.key and st.toggle("as picture", key=f"{keys.LIST}picture_{name}", help=_PREVIEW)
        key = item.key or f"{keys.LIST}preview_{name}"
        if item.key or preview:
            data = {"figure": key, "file": f"nereval-{name}", "title": list(item.title)}
            _mount(data=data, key=f"save_{name}", width="content")
    if preview:
        st.plotly_chart(item.figure(), key=key, config=FIGURE_CONFIG)


def _paper(figure: Callable[[], Any], place: str, width: float) -> bytes:
    return paper_file(figure(), place, width)


PAPER_FORMS = {"pdf": "application/pdf", "svg": "image/svg+xml"}
FIGURE_CONFIG = {"displayModeBar": False}
"""Settings of Plotly for figures on pages, which have no buttons of their own: the menu of the page saves them."""
_PAPER = (
    "Small type, colours that differ in grey print too, and no title, which belongs to the caption. The fonts are in "
    "the PDF; Chromium draws it where nereval runs, which takes a few seconds."
)
_HELP = (
    "Save what is on this page: figures as PNG, SVG and HTML, and as PDF and SVG for papers; tables as CSV, Excel, "
    "Markdown, LaTeX and Parquet."
)
_PREVIEW = "Draws the figure here, to be saved as PNG or SVG."


PARAGRAPH = "methods-paragraph"
OFFERED = {"Markdown": ".md", "LaTeX": ".tex", "BibTeX": ".bib"}


def explain_methods(*names: str) -> None:
    """Show on a click what methods do, each with links to its sources."""
    with st.popover(
        "Methods", type="tertiary", key=f"{keys.LIST}methods", on_change="rerun", help=_METHODS_HELP
    ) as popover:
        if popover.open:
            st.markdown(method_notes(*names))


def method_notes(*names: str) -> str:
    """Return a list of METHODS in Markdown: what each does, with its citations."""
    lines = []
    for term in (METHODS[name] for name in names):
        cited = f" ({'; '.join(map(linked_citation, term.sources))})" if term.sources else ""
        lines.append(f"- **{capitalised(term.name)}**: {term.sentence}{cited}")
    return "\n".join(lines)


def offer_methods(make_methods: Callable[[], Methods], words: LayerWords) -> None:
    """Offer the methods paragraph of what is on the page in its menu, in the words for its two layers."""
    register(PARAGRAPH, table=lambda: _draw(make_methods().in_words(words.by_names)))


def _draw(methods: Methods) -> None:
    st.code(methods.paragraph, language=None, wrap_lines=True, height=160)
    with st.container(horizontal=True, gap="small"):
        for label, form in OFFERED.items():
            st.download_button(
                label,
                FORMS[form](methods).encode(),
                file_name=f"nereval-methods{form}",
                mime="text/plain",
                key=f"methods_{label}",
                on_click="ignore",
            )


_METHODS_HELP = "What the intervals, tests and coefficients of this page are, and the works that they are from."
