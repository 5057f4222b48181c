"""Corrections of p values for the number of tests that were made together, their family.

Holm 1979 keeps the probability of any false finding in the family below the level. Benjamini and Hochberg 1995 keep the
expected share of false ones among the findings below it: more is found, and less is promised.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from nereval_core.corpus.arrays import Float64
from nereval_core.scoring.count_tables import Columns


def holm_correction(values: Float64) -> Float64:
    """Return p values corrected for their number (Holm 1979), shape (tests,); NaN does not count as a test."""
    order = _order(values)
    ranked = (len(order) - np.arange(len(order))) * values[order]
    return _in_place(np.maximum.accumulate(np.minimum(1, ranked)), order, len(values))


def benjamini_hochberg(values: Float64) -> Float64:
    """Return p values corrected by the false discovery rate (Benjamini and Hochberg 1995), shape (tests,).

    NaN does not count as a test.
    """
    order = _order(values)
    ranked = len(order) / np.arange(1, len(order) + 1) * values[order]
    return _in_place(np.minimum(1, np.minimum.accumulate(ranked[::-1])[::-1]), order, len(values))


def tested_table(rows: Iterable[Mapping[str, Any]], columns: Columns, within: Sequence[str] = ()) -> pd.DataFrame:
    """Return the rows of tests as a table of the declared columns and their dtypes, with p corrected.

    Of the columns, `p_holm` is Holm's correction over the `tests` tests with the same values of the columns `within`
    (by default all), `p_family` that over all tests of the table, `p_bh` Benjamini and Hochberg's over all.
    """
    table = pd.DataFrame(list(rows), columns=list(columns))
    family = table.groupby(list(within), sort=False, dropna=False).ngroup() if within else np.zeros(len(table))
    families = table["p"].astype("float64").groupby(family)
    table["p_holm"] = families.transform(lambda p: holm_correction(p.to_numpy()))
    if "tests" in columns:
        table["tests"] = families.transform("count")
    return corrected_as_family(table).astype(dict(columns))


def corrected_as_family(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table of tests with those of its columns `p_family` and `p_bh` corrected over all its rows."""
    p = table["p"].to_numpy(np.float64)
    corrections = {"p_family": holm_correction, "p_bh": benjamini_hochberg}
    return table.assign(**{name: correct(p) for name, correct in corrections.items() if name in table})


def are_significant(tests: pd.DataFrame, level: float) -> pd.Series[bool]:
    """Tell which rows of tests are significant: `p_holm` at most 1 - level."""
    return tests["p_holm"] <= round(1 - level, 12)


def _order(values: Float64) -> np.ndarray:
    """Return the tests by their p value, without NaN."""
    order = np.argsort(values, kind="stable")
    return order[~np.isnan(values[order])]


def _in_place(corrected: Float64, order: np.ndarray, size: int) -> Float64:
    """Return corrected values where the tests stand, NaN elsewhere."""
    values = np.full(size, np.nan)
    values[order] = corrected
    return values
