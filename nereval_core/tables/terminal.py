"""Tables on a terminal: aligned columns of text, in colour where the terminal has it."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterable, Sequence

from nereval_core.problems import one_line
from nereval_core.tables import Table

HEADING, STRONG, NOTE, WARNING = "1", "1;32", "2", "33"
"""Parameters of ANSI escape sequences: bold; bold and green; dim; yellow."""
LONGEST = 60
"""Characters of a text that widens its column; files have all."""
CUT = "…"


def as_screen(tables: Iterable[Table], *, colour: bool = False) -> str:
    """Return aligned columns of text, the first and those of texts to the left, numbers to the right.

    Long texts are cut, except in the last column, which no other has to wait for. With `colour` headings and strong
    cells stand out, and notes are dim. A meaning that several tables have is said below the first of them.
    """
    blocks = []
    printed_meanings: set[str] = set()
    for table in tables:
        is_cut = [column.kind == "text" for column in table.columns[:-1]] + [False]
        grid = [[*table.headings], *([*map(_shortened, row, is_cut)] for row in table.texts())]
        widths = [max(map(_width, column)) for column in zip(*grid, strict=True)]
        left_columns = {number for number, column in enumerate(table.columns) if not number or column.is_left}
        strong = table.strong if colour else frozenset()
        heading, *rows = (
            "  ".join(_padded(row, widths, left_columns, {at for place, at in strong if place == number})).rstrip()
            for number, row in enumerate(grid, start=-1)
        )
        meanings = [meaning for meaning in table.meanings if meaning not in printed_meanings]
        printed_meanings.update(meanings)
        notes = (*(table.strong_notes if colour else ()), *meanings, *table.notes)
        headings = [painted(line, HEADING, colour) for line in (one_line(table.title), heading) if line]
        blocks.append("\n".join((*headings, *rows, *(painted(one_line(note), NOTE, colour) for note in notes))))
    return "\n\n".join(blocks) + "\n"


def _shortened(text: str, is_cut: bool) -> str:
    line = one_line(text)
    return f"{line[: LONGEST - 1]}{CUT}" if is_cut and len(line) > LONGEST else line


def painted(text: str, parameters: str, colour: bool) -> str:
    """Return text in the colour of ANSI escape sequences if `colour`, else as it is."""
    return f"\x1b[{parameters}m{text}\x1b[0m" if colour else text


def _padded(
    row: Sequence[str], widths: Sequence[int], left_columns: Collection[int], strong: Collection[int]
) -> Iterable[str]:
    for number, (line, width) in enumerate(zip(row, widths, strict=True)):
        space = " " * (width - _width(line))
        word = painted(line, STRONG, number in strong)
        yield word + space if number in left_columns else space + word


def _width(line: str) -> int:
    """Return the width of a line of characters that print, in columns of a terminal."""
    if line.isascii():
        return len(line)
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in line
    )
