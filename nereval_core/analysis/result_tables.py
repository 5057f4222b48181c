"""Result tables: rows under declared columns, and numbers as the text of a cell."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

import pandas as pd

from nereval_core.report.score_tables import UNDEFINED


def typed_table(rows: Iterable[Any], columns: Mapping[str, str]) -> pd.DataFrame:
    """Return rows, tuples or dictionaries, as a table of the declared columns and their dtypes."""
    return pd.DataFrame(list(rows), columns=list(columns)).astype(dict(columns))


def free_name(name: str, taken: Collection[str]) -> str:
    """Return a name that is not taken yet, in brackets where it was."""
    while name in taken:
        name = f"({name})"
    return name


def nan_for_none(value: float | None) -> float:
    """Return an undefined ratio as NaN."""
    return float("nan") if value is None else value


def value_with_interval(value: float, low: float, high: float, mark: str = "") -> str:
    """Return a value with its interval, if it has one, and a mark; such texts sort as their numbers do."""
    if pd.isna(value):
        return UNDEFINED
    interval = "" if pd.isna(low) else f" [{low:.3f}, {high:.3f}]"
    return f"{value:.3f}{interval}{mark}"


def signed(value: float) -> str:
    """Return a difference with its sign (a true minus), without a sign where it rounds to 0."""
    shown = f"{abs(value):.3f}"
    return shown if float(shown) == 0 else ("+" if value > 0 else "−") + shown


def p_value_sentence(p: float, resamples: int | None = None) -> str:
    """Return a p value as it stands in a sentence: `p = .18`, `p ≤ .0001`; NaN is `not tested`."""
    if pd.isna(p):
        return "not tested"
    shown = p_value_text(p, resamples).replace("0.", ".", 1)
    return f"p {shown}" if shown.startswith("≤") else f"p = {shown}"


def p_value_text(p: float, resamples: int | None = None) -> str:
    """Return a p value as shown; the least value that so many resamples can give is shown as an upper bound."""
    if pd.isna(p):
        return UNDEFINED
    least = 0 if resamples is None else 1 / (resamples + 1)
    return f"≤ {least:.2g}" if 0 < p <= least * (1 + 1e-9) else f"{p:.2g}" if p < 0.1 else f"{p:.2f}"
