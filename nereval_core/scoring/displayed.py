"""Results that show themselves as a table, in a terminal and in a notebook."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

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

    def __repr__(self) -> str:
        """Return the first rows as text, ten lines at most."""
        frame = self.displayed_frame()
        text = frame.head(TERMINAL_ROWS).to_string(
            index=False, float_format="{:.4f}".format, na_rep="–", max_colwidth=30, line_width=None
        )
        lines = [line[:TERMINAL_CHARACTERS] for line in text.splitlines()]
        more = len(frame) - TERMINAL_ROWS
        return "\n".join([*lines, *([f"… {more:,} more rows: to_frame() has them"] if more > 0 else [])])

    def _repr_html_(self) -> str:
        """Return the table as notebooks show it."""
        frame = self.displayed_frame()
        table = frame.head(NOTEBOOK_ROWS).to_html(
            index=False, border=0, float_format="{:.4f}".format, na_rep="–", justify="left"
        )
        more = len(frame) - NOTEBOOK_ROWS
        return table + (f"<p>… {more:,} more rows: <code>to_frame()</code> has them</p>" if more > 0 else "")
