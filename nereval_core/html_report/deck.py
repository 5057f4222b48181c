"""A deck of slides as one HTML file: it opens from disk with its keys and themes, prints, and fetches nothing.

Each slide is HTML of `nereval_core.report.slides`; its notes are for the speaker alone. Without scripts the slides
stand below one another.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from nereval_core import __version__
from nereval_core.html_report.page import policy
from nereval_core.problems import one_line
from nereval_core.report.colours import PAGE
from nereval_core.report.slides import STYLE

DECK_KEYS = (
    ("→, space, Page Down", "next slide"),
    ("←, Page Up", "previous slide"),
    ("Home, End", "first and last slide"),
    ("n", "speaker's notes"),
    ("d", "dark or light"),
    ("4", "4:3 or the whole window"),
    ("b", "blank screen"),
    ("f", "full screen"),
    ("p", "print, or save as PDF: a slide a page, as it is shown"),
    ("?", "these keys"),
)
"""Keys of the file and what they do."""


class DeckSlide(NamedTuple):
    """A slide, the name that it is announced by, and the speaker's notes on it: each a term and words or an address."""

    name: str
    html: Markup
    notes: Sequence[tuple[str, str]] = ()


def deck_html(title: str, slides: Sequence[DeckSlide]) -> str:
    """Return slides as one HTML file: the same bytes for the same slides.

    An address in notes that begins with http:// or https:// is a link, of which the page is named without its state.

    Raises:
        ValueError: there are no slides.
    """
    if not slides:
        raise ValueError("a deck has at least one slide")
    script = Markup("".join(_file(name).replace("\r\n", "\n") for name in ("deck_state.js", "deck.js")))
    text: str = _template().render(
        title=title,
        slides=slides,
        keys=DECK_KEYS,
        style=STYLE,
        css=Markup(_file("deck.css")),
        script=script,
        policy=policy([script]),
        pages=PAGE,
        version=__version__,
    )
    return text


@cache
def _template() -> Any:
    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=StrictUndefined)
    environment.filters |= {"line": one_line, "page": lambda address: address.partition("?")[0]}
    environment.tests |= {"address": lambda words: words.startswith(("http://", "https://"))}
    return environment.from_string(_file("deck.html"))


def _file(name: str) -> str:
    return (files("nereval_core.html_report") / name).read_text(encoding="utf-8")
