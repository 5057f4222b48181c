"""A report as one HTML file that can be opened from disk, printed and passed on: it fetches nothing and runs no foreign
script.

A report has sections of parts: paragraphs, tables, figures, records, terms and lines to copy. Each record has *marks*,
short words such as `s0` (first system) or `c1MIS` (missed under the second criterion). A number in a table requires
marks, and links to the records of the report that have them. The template escapes all text, and shows characters that
do not print as escapes; scripts are allowed by their hashes alone.
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
from nereval_core.tables import UNDEFINED

RequiredMarks = tuple[str, ...]
"""Marks that a record must have, all of them; for `a|b` one of the two."""


@dataclass(frozen=True, slots=True)
class Count:
    """A number that links to those of its records that the report shows; `text` replaces the plain number."""

    number: int
    required: RequiredMarks
    text: str = ""

    @property
    def label(self) -> str:
        return self.text or f"{self.number:,}"


Cell = str | int | float | None | Count
"""A cell of a table; None is undefined, ratios have four places."""


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph of texts and counts."""

    parts: tuple[str | Count, ...]


@dataclass(frozen=True, slots=True)
class ReportTable:
    """A table whose first `heads` columns name the row; a table with the numbers of a figure is `folded`.

    The texts of the columns `right` are numbers, and stand to the right.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = ()
    heads: int = 1
    folded: bool = False
    right: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class FigureData:
    """A figure as data for Plotly (JSON), with its title, its unit, and its height in pixels."""

    title: str
    unit: str
    data: str
    height: int


@dataclass(frozen=True, slots=True)
class RecordCard:
    """A record in its text: `head` and `facts` in words, `text` as HTML of `highlight`, and its `marks`.

    `lines` are further lines, each with a name: `("verdict", "gold is right, by Ann; a note")`.
    """

    head: str
    facts: tuple[str, ...]
    text: Markup
    marks: frozenset[str]
    lines: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class RecordGroup:
    """Records under a heading."""

    title: str
    records: tuple[RecordCard, ...]


@dataclass(frozen=True, slots=True)
class Terms:
    """Terms and their meanings."""

    rows: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines to copy, such as a command or a signature."""

    title: str
    lines: tuple[str, ...]


Part = Paragraph | ReportTable | FigureData | RecordGroup | Terms | Lines
PART_TESTS = {
    "paragraph": Paragraph,
    "table": ReportTable,
    "figure": FigureData,
    "group": RecordGroup,
    "terms": Terms,
    "lines": Lines,
}
"""The kinds of parts by the names that the template has for them."""


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the report with a heading; `name` is its anchor. Groups stand in `records` alone."""

    name: str
    title: str
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Report:
    """The contents of a report: title, a few lines about it, the signature of its main score, and its sections."""

    title: str
    about: tuple[str, ...]
    signature: str
    sections: tuple[Section, ...]


RECORDS = "records"
"""The name of the section with the records."""


def rendered(report: Report, plotly: str) -> str:
    """Return a report as HTML: the same bytes for the same report. `plotly` is the script that draws figures.

    Raises:
        UnicodeEncodeError: never, as lone surrogates are written as escapes.
    """
    index = RecordIndex.of_report(report)
    # A parser turns CR LF into LF, which the hash would not know.
    scripts = [Markup(script.replace("\r\n", "\n")) for script in (plotly, _file("page.js"))]
    text: str = _template().render(
        report=report,
        index=index,
        style=STYLE,
        scripts=scripts,
        policy=policy(scripts),
        css=Markup(_file("page.css")),
        pages=PAGE,
        version=__version__,
    )
    return text


class RecordIndex:
    """The records of a report by number, from 1 on, and by their marks."""

    def __init__(self, groups: Iterable[RecordGroup]) -> None:
        self.records = [record for group in groups for record in group.records]
        self._number = {id(record): number for number, record in enumerate(self.records, start=1)}
        self._marked: dict[str, set[int]] = {}
        for number, record in enumerate(self.records, start=1):
            for mark in record.marks:
                self._marked.setdefault(mark, set()).add(number)

    @classmethod
    def of_report(cls, report: Report) -> RecordIndex:
        return cls(part for section in report.sections for part in section.parts if isinstance(part, RecordGroup))

    def number(self, record: RecordCard) -> int:
        return self._number[id(record)]

    def of(self, count: Count) -> list[int]:
        """Return the numbers of the records with the marks of a count; none for a count without marks."""
        if not count.required:
            return []
        nothing: set[int] = set()
        each = (
            nothing.union(*(self._marked.get(mark, nothing) for mark in alternatives.split("|")))
            for alternatives in count.required
        )
        return sorted(set.intersection(*each))


def policy(scripts: Sequence[str]) -> str:
    """Return the content security policy: nothing is fetched, and no other script runs."""
    hashes = " ".join(
        f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'" for script in scripts
    )
    # Plotly sets the styles of elements, and saves a figure through an image of its own making.
    return (
        f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; img-src data: blob:; "
        "base-uri 'none'; form-action 'none'"
    )


def _cell_text(cell: Cell) -> str:
    if cell is None or (isinstance(cell, float) and cell != cell):
        return UNDEFINED
    if isinstance(cell, float):
        return f"{cell:.4f}"
    return f"{cell:,}" if isinstance(cell, int) else one_line(cell) if isinstance(cell, str) else cell.label


def _json(data: str) -> Markup:
    """Return JSON for a script element, which nothing in it can end, nor begin a comment in."""
    for char in "<>&\u2028\u2029":
        data = data.replace(char, f"\\u{ord(char):04x}")
    return Markup(data)


@cache
def _template() -> Any:
    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=StrictUndefined)
    environment.filters |= {"line": one_line, "cell": _cell_text, "data": _json}
    environment.tests |= {
        "count": lambda part: isinstance(part, Count),
        "number_cell": lambda part: part is None or isinstance(part, (int, float, Count)),
        **{name: _is(kind) for name, kind in PART_TESTS.items()},
    }
    return environment.from_string(_file("page.html"))


def _is(kind: type) -> Any:
    return lambda part: isinstance(part, kind)


def _file(name: str) -> str:
    return (files("nereval_core.html_report") / name).read_text(encoding="utf-8")
