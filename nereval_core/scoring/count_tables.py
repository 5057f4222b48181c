"""Tables: the dtype of text, declared columns, and counts as rows."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from nereval_core.scoring.counts import Counts

_TEXT: Any = {"storage": "pyarrow_numpy"} if pd.__version__.startswith("2.2.") else {"na_value": np.nan}
TEXT_DTYPE: pd.StringDtype[Any] = pd.StringDtype(**_TEXT)
"""Text, NaN where it is missing: the "str" of pandas 3. Under pandas 2 that name turns None into the word "None"."""

Columns: TypeAlias = "Mapping[str, str | pd.StringDtype[Any]]"
"""The columns of a table, in order, with their dtypes."""

COUNT_COLUMNS = ("COR", "INC", "PAR", "MIS", "SPU", "POS", "ACT", "precision", "recall", "f1")


def count_table(key: str, rows: Mapping[str, Counts]) -> pd.DataFrame:
    """Return one row for each counts: the column `key` with their names, and COUNT_COLUMNS."""
    counts = pd.DataFrame([count_row(counts) for counts in rows.values()], columns=list(COUNT_COLUMNS))
    counts.insert(0, key, pd.Series(list(rows), dtype=TEXT_DTYPE))
    return counts


def count_row(counts: Counts) -> dict[str, Any]:
    """Return COUNT_COLUMNS of some counts; COR, INC and PAR are None where the two sides differ."""
    return {
        "COR": counts.cor,
        "INC": counts.inc,
        "PAR": counts.par,
        "MIS": counts.mis,
        "SPU": counts.spu,
        "POS": counts.pos,
        "ACT": counts.act,
    } | ratio_row(counts)


def ratio_row(counts: Counts) -> dict[str, float]:
    """Return precision, recall and F1 of some counts, NaN where they are undefined."""
    values = {"precision": counts.precision, "recall": counts.recall, "f1": counts.f1}
    return {name: float("nan") if value is None else value for name, value in values.items()}


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
