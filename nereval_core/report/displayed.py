"""Results that show themselves as a declared table, in a terminal and in a notebook."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import TYPE_CHECKING

from nereval_core.report.notebook import in_notebook, note, table_html
from nereval_core.tables import Column, Table, frame_table
from nereval_core.tables.terminal import as_screen

if TYPE_CHECKING:
    import pandas as pd

TERMINAL_ROWS, NOTEBOOK_ROWS = 8, 60
"""The most rows that are shown; `to_frame` has all."""
TERMINAL_CHARACTERS = 120


class Displayed(ABC):
    """A result with a main table."""

    @abstractmethod
    def to_frame(self) -> pd.DataFrame:
        """Return the main table."""

    def displayed_frame(self) -> pd.DataFrame:
        """Return the table that is shown: the main one without columns that are empty throughout."""
        return self.to_frame().dropna(axis="columns", how="all")

    def displayed_table(self) -> Table:
        """Return the table that is shown, declared."""
        frame = self.displayed_frame()
        return frame_table("", frame, [_column(frame, at) for at in range(len(frame.columns))])

    def __repr__(self) -> str:
        """Return the first rows as text, ten lines at most."""
        table = self.displayed_table()
        first = _first_rows(table, TERMINAL_ROWS)
        screen = as_screen([replace(first, title="", notes=())])
        lines = [line[:TERMINAL_CHARACTERS] for line in screen.splitlines()[: 1 + len(first.rows)]]
        return "\n".join([*lines, *_rest(table, first)])

    def _repr_html_(self) -> str:
        """Return the table as notebooks show it."""
        table = self.displayed_table()
        first = _first_rows(table, NOTEBOOK_ROWS)
        return in_notebook(table_html(first), *map(note, _rest(table, first)))


def _first_rows(table: Table, most: int) -> Table:
    """Return a table of at most so many rows; the averages below them stay."""
    if len(table.rows) <= most:
        return table
    end = most - table.averages
    rows = table.rows[:end] + table.rows[len(table.rows) - table.averages :]
    return replace(table, rows=rows, strong=frozenset((row, at) for row, at in table.strong if row < end))


def _rest(table: Table, first: Table) -> list[str]:
    """Return the line on rows that are left out, if any."""
    more = len(table.rows) - len(first.rows)
    return [f"… {more:,} more rows: to_frame() has them"] if more else []


def _column(frame: pd.DataFrame, at: int) -> Column:
    """Return the column of a frame under its own name: texts to the left, numbers to the right."""
    from pandas.api.types import is_bool_dtype, is_numeric_dtype

    name, dtype = str(frame.columns[at]), frame.dtypes.iloc[at]
    is_number = is_numeric_dtype(dtype) or is_bool_dtype(dtype)
    return Column(name, name, "value" if is_number else "name" if at == 0 else "text")
