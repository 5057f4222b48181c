"""What a corpus can show: the least difference of F1 it makes significant, and how many units a point of F1 needs.

The standard error of a difference is that of the delete-one jackknife over units (Efron and Tibshirani 1993, chapter
11). With t of Student's distribution at the degrees of freedom of the effective units, a test at the level of the
intervals finds a difference of (t(97.5%) + t(80%)) standard errors in 80 of 100 such corpora; the error falls with the
root of the number of units. Two systems are as good as each other within a margin where both one-sided tests against
the margin's ends say so (Schuirmann 1987): their p is the larger of the two.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import stdtr, stdtrit

from nereval_core.analysis.comparison.significance import SystemResamples
from nereval_core.analysis.result_tables import typed_table

POWER = 0.8
POINT = 0.01
"""One point of F1."""
POWER_COLUMNS: Mapping[str, str] = {
    **dict.fromkeys(("criterion", "type", "system", "baseline"), "str"),
    **dict.fromkeys(("difference", "error", "detectable"), "float64"),
    "units": "int64",
    "needed": "Int64",
    **dict.fromkeys(("margin", "p_equivalent"), "float64"),
}
"""Columns of `power_table` and their dtypes: F1 of the system less that of the baseline and its standard error, the
least difference that a test on this corpus finds in 80 of 100 cases, the units resampled, and those needed to find one
point of F1; p of the test that the difference lies within ± `margin`, NaN where no margin is given."""


def power_table(resampled: SystemResamples, baseline: str, margin: float | None = None) -> pd.DataFrame:
    """Return a row for each group and system other than the baseline: POWER_COLUMNS."""
    systems = resampled.counted.systems
    base, units = systems.index(baseline), resampled.counted.counts.shape[-1]
    tail = (1 + resampled.plan.level) / 2
    rows: list[dict[str, Any]] = []
    for number, system in enumerate(systems):
        if number == base:
            continue
        seen, error, freedom = resampled.jackknife(number, base)
        detectable = (stdtrit(freedom, tail) + stdtrit(freedom, POWER)) * error
        for place, group in enumerate(resampled.counted.groups):
            needed = units * (detectable[place] / POINT) ** 2
            row = {**group._asdict(), "system": system, "baseline": baseline, "units": units, "margin": margin}
            row |= {"difference": seen[place], "error": error[place]}
            row |= {"detectable": detectable[place], "needed": None if np.isnan(needed) else int(np.ceil(needed))}
            p = np.nan if margin is None else equivalence_p(seen[place], error[place], freedom[place], margin)
            rows.append(row | {"p_equivalent": p})
    return typed_table(rows, POWER_COLUMNS)


def equivalence_p(difference: float, error: float, freedom: float, margin: float) -> float:
    """Return p of two one-sided tests that a difference lies within ± margin; NaN where the error is."""
    if not error > 0:
        return np.nan if np.isnan(error) else float(abs(difference) >= margin)
    return float(stdtr(freedom, (abs(difference) - margin) / error))
