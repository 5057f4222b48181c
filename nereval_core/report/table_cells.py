"""The cells of a frame as reports hold them: text, integers and ratios, None where undefined."""

from __future__ import annotations

from typing import Any

import pandas as pd

from nereval_core.report.score_tables import Cell


def cell(value: Any) -> Cell:
    """Return a cell as text, integer or ratio; what is undefined is None."""
    if pd.isna(value):
        return None
    found: Cell = value.item() if hasattr(value, "item") else value
    return found


def cells(table: pd.DataFrame) -> tuple[tuple[Cell, ...], ...]:
    """Return the rows of a table, as a `Sheet` takes them."""
    return tuple(tuple(map(cell, row)) for row in table.itertuples(index=False, name=None))


def objects(table: pd.DataFrame) -> list[dict[str, Cell]]:
    """Return the rows of a table by the names of its columns, as JSON holds them."""
    columns = list(map(str, table.columns))
    return [dict(zip(columns, row, strict=True)) for row in cells(table)]
