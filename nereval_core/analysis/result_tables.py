"""Result tables: rows under declared columns, and numbers as the text of a cell."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import pandas as pd

from nereval_core.scoring.count_tables import Columns


def typed_table(rows: Iterable[Any], columns: Columns) -> pd.DataFrame:
    """Return rows, tuples or dictionaries, as a table of the declared columns and their dtypes."""
    return pd.DataFrame(list(rows), columns=list(columns)).astype(dict(columns))


def free_name(name: str, names: Collection[str]) -> str:
    """Return the name, in brackets if it is among `names`."""
    while name in names:
        name = f"({name})"
    return name


def nan_for_none(value: float | None) -> float:
    """Return an undefined ratio as NaN."""
    return float("nan") if value is None else value
