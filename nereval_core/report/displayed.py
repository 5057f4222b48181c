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
        rows = table.rows[:TERMINAL_ROWS]
        strong = frozenset((row, at) for row, at in table.strong if row < len(rows))
        screen = as_screen([replace(table, title="", rows=rows, notes=(), strong=strong)])
        lines = [line[:TERMINAL_CHARACTERS] for line in screen.splitlines()[: 1 + len(rows)]]
        more = len(table.rows) - len(rows)
        return "\n".join([*lines, *([f"… {more:,} more rows: to_frame() has them"] if more > 0 else [])])

    def _repr_html_(self) -> str:
        """Return the table as notebooks show it."""
        table = self.displayed_table()
        parts = [table_html(replace(table, rows=table.rows[:NOTEBOOK_ROWS]))]
        if (more := len(table.rows) - NOTEBOOK_ROWS) > 0:
            parts.append(note(f"… {more:,} more rows: to_frame() has them"))
        return in_notebook(*parts)


def _column(frame: pd.DataFrame, at: int) -> Column:
    """Return the column of a frame under its own name: texts to the left, numbers to the right."""
    from pandas.api.types import is_bool_dtype, is_numeric_dtype

    name, dtype = str(frame.columns[at]), frame.dtypes.iloc[at]
    is_number = is_numeric_dtype(dtype) or is_bool_dtype(dtype)
    return Column(name, name, "value" if is_number else "name" if at == 0 else "text")
