"""Tables on a terminal: aligned columns of text, in colour where the terminal has it."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterable, Sequence

from nereval_core.problems import one_line
from nereval_core.tables import LEFT_KINDS, Table

HEADING, STRONG, NOTE, WARNING = "1", "1;32", "2", "33"
"""Parameters of ANSI escape sequences: bold; bold and green; dim; yellow."""


def as_screen(tables: Iterable[Table], *, names: int = 1, colour: bool = False) -> str:
    """Return aligned columns of text, the first `names` and those of texts to the left, numbers to the right.

    With `colour` headings and strong cells stand out, and notes are dim.
    """
    blocks = []
    for table in tables:
        grid = [list(table.headings), *table.texts()]
        widths = [max(map(_width, column)) for column in zip(*grid, strict=True)]
        left = {number for number, column in enumerate(table.columns) if number < names or column.kind in LEFT_KINDS}
        strong = table.strong if colour else frozenset()
        heading, *rows = (
            "  ".join(_padded(row, widths, left, {at for place, at in strong if place == number})).rstrip()
            for number, row in enumerate(grid, start=-1)
        )
        notes = (*(table.strong_notes if colour else ()), *table.footnotes)
        headings = [painted(line, HEADING, colour) for line in (one_line(table.title), heading)]
        blocks.append("\n".join((*headings, *rows, *(painted(one_line(note), NOTE, colour) for note in notes))))
    return "\n\n".join(blocks) + "\n"


def painted(text: str, parameters: str, colour: bool) -> str:
    """Return text in the colour of ANSI escape sequences if `colour`, else as it is."""
    return f"\x1b[{parameters}m{text}\x1b[0m" if colour else text


def _padded(row: Sequence[str], widths: Sequence[int], left: Collection[int], strong: Collection[int]) -> Iterable[str]:
    for number, (text, width) in enumerate(zip(row, widths, strict=True)):
        space = " " * (width - _width(text))
        word = painted(one_line(text), STRONG, number in strong)
        yield word + space if number in left else space + word


def _width(text: str) -> int:
    """Return the width of a text in columns of a terminal."""
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1
        for char in one_line(text)
    )
