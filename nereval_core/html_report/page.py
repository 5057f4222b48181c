"""A report as one HTML file: read from disk, printed and sent round, with nothing fetched and nothing run but our own.

A report is sections of parts: words, tables, drawings, records, terms and lines to copy. Each record carries *marks*,
short words such as `s0` (first system) or `c1MIS` (missed under the second criterion); a number in a table asks for
marks, and where records of the report have them it leads to these. All text is escaped by the template, and what would
not print stands as an escape; scripts are allowed by their hashes alone.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from nereval_core import __version__
from nereval_core.problems import one_line
from nereval_core.report.colours import PAGE
from nereval_core.report.highlight import STYLE
from nereval_core.report.table_formats import UNDEFINED

Asked = tuple[str, ...]
"""Marks that a record must have, all of them; of `a|b` one is enough."""


@dataclass(frozen=True, slots=True)
class Count:
    """A number that leads to the records it counts, as far as they are in the report; `text` is how it is written."""

    number: int
    asked: Asked
    text: str = ""

    @property
    def shown(self) -> str:
        return self.text or f"{self.number:,}"


Cell = str | int | float | None | Count
"""A cell of a table; None is undefined, ratios have four places."""


@dataclass(frozen=True, slots=True)
class Words:
    """A paragraph, of whose parts some are counts."""

    parts: tuple[str | Count, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """A table whose first `heads` columns say what a row is about; one that says what a drawing does is `folded`."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = ()
    heads: int = 1
    folded: bool = False


@dataclass(frozen=True, slots=True)
class Drawing:
    """A figure as data for Plotly (JSON), with its title and what is counted, and its height in pixels."""

    title: str
    unit: str
    data: str
    height: int


@dataclass(frozen=True, slots=True)
class Shown:
    """A record in its text: `head` and `facts` in words, `text` as HTML of `highlight`, `marks` that numbers ask for.

    `lines` are what else is told of it, each with a name: `("verdict", "gold is right, by Ann; a note")`.
    """

    head: str
    facts: tuple[str, ...]
    text: Markup
    marks: frozenset[str]
    lines: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Group:
    """Records under a heading."""

    title: str
    records: tuple[Shown, ...]


@dataclass(frozen=True, slots=True)
class Terms:
    """Words and what they mean."""

    rows: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines to copy, such as a command or a signature."""

    title: str
    lines: tuple[str, ...]


Part = Words | Table | Drawing | Group | Terms | Lines


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the report with a heading; `name` is its anchor. Groups stand in `records` alone."""

    name: str
    title: str
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Report:
    """What a report says: title, what it is about in a few lines, the signature of its main score, the sections."""

    title: str
    about: tuple[str, ...]
    signature: str
    sections: tuple[Section, ...]


RECORDS = "records"
"""The name of the section whose records numbers lead to."""


def rendered(report: Report, plotly: str) -> str:
    """Return a report as HTML: the same bytes for the same report. `plotly` is the script that draws figures.

    Raises:
        UnicodeEncodeError: never, as lone surrogates are written as escapes.
    """
    found = Found.of_report(report)
    # A parser turns CR LF into LF, which the hash would not know.
    scripts = [Markup(script.replace("\r\n", "\n")) for script in (plotly, _file("page.js"))]
    text: str = _template().render(
        report=report,
        found=found,
        style=STYLE,
        scripts=scripts,
        policy=_policy(scripts),
        css=Markup(_file("page.css")),
        pages=PAGE,
        version=__version__,
    )
    return text


class Found:
    """The records of a report by number, from 1 on, and which of them a count leads to."""

    def __init__(self, groups: Iterable[Group]) -> None:
        self.records = [record for group in groups for record in group.records]
        self._number = {id(record): number for number, record in enumerate(self.records, start=1)}
        self._marked: dict[str, set[int]] = {}
        for number, record in enumerate(self.records, start=1):
            for mark in record.marks:
                self._marked.setdefault(mark, set()).add(number)

    @classmethod
    def of_report(cls, report: Report) -> Found:
        return cls(part for section in report.sections for part in section.parts if isinstance(part, Group))

    def number(self, record: Shown) -> int:
        return self._number[id(record)]

    def of(self, count: Count) -> list[int]:
        """Return the numbers of the records that a count asks for, none where there is nothing to ask for."""
        if not count.asked:
            return []
        nothing: set[int] = set()
        each = (nothing.union(*(self._marked.get(mark, nothing) for mark in one.split("|"))) for one in count.asked)
        return sorted(set.intersection(*each))


def _policy(scripts: Sequence[str]) -> str:
    """Return the rule for the browser: nothing is fetched, and no script runs but these."""
    hashes = " ".join(
        f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'" for script in scripts
    )
    # Plotly sets the styles of elements, and saves a figure through an image of its own making.
    return (
        f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; img-src data: blob:; "
        "base-uri 'none'; form-action 'none'"
    )


def _shown(cell: Cell) -> str:
    if cell is None or (isinstance(cell, float) and cell != cell):
        return UNDEFINED
    if isinstance(cell, float):
        return f"{cell:.4f}"
    return f"{cell:,}" if isinstance(cell, int) else one_line(cell) if isinstance(cell, str) else cell.shown


def _json(data: str) -> Markup:
    """Return JSON that stands in a script element: nothing in it can end that, or begin a comment."""
    for char in "<>&\u2028\u2029":
        data = data.replace(char, f"\\u{ord(char):04x}")
    return Markup(data)


@cache
def _template() -> Any:
    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=StrictUndefined)
    environment.filters |= {"line": one_line, "cell": _shown, "data": _json}
    environment.tests |= {
        "count": lambda part: isinstance(part, Count),
        "number_cell": lambda part: part is None or isinstance(part, (int, float, Count)),
        **{kind.__name__.lower(): _is(kind) for kind in (Words, Table, Drawing, Group, Terms, Lines)},
    }
    return environment.from_string(_file("page.html"))


def _is(kind: type) -> Any:
    return lambda part: isinstance(part, kind)


def _file(name: str) -> str:
    return (files("nereval_core.html_report") / name).read_text(encoding="utf-8")


__all__: Sequence[str] = (
    "RECORDS",
    "Asked",
    "Cell",
    "Count",
    "Drawing",
    "Found",
    "Group",
    "Lines",
    "Report",
    "Section",
    "Shown",
    "Table",
    "Terms",
    "Words",
    "rendered",
)
