"""The delete-one jackknife of differences: standard errors, intervals and tests by Student's t.

The error is that of Efron and Tibshirani 1993, An introduction to the bootstrap, chapter 11: with a unit left out at a
time, its square is the sum over strata of (n - 1) / n times the sum of squares about the stratum's mean. Degrees of
freedom are those of the effective units less the strata, as few units may carry most of the variance.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import stdtr, stdtrit

from nereval_core.analysis.bootstrap import RATIO_TOLERANCE, effective_units
from nereval_core.arrays import Float64, Int64


class JackknifedDifference(NamedTuple):
    """Differences with their standard errors and the degrees of freedom of Student's t, shape (k,) each."""

    difference: Float64
    error: Float64
    freedom: Float64

    def interval(self, level: float) -> tuple[Float64, Float64]:
        """Return both ends of the intervals, within -1 and 1, shape (k,) each."""
        half = stdtrit(self.freedom, (1 + level) / 2) * self.error
        return np.maximum(self.difference - half, -1), np.minimum(self.difference + half, 1)

    def p_values(self) -> Float64:
        """Return p of both tails, shape (k,): 1 for a difference of 0, NaN for others without an error."""
        found = np.where(np.abs(self.difference) <= RATIO_TOLERANCE, 1.0, np.nan)
        known = self.error > RATIO_TOLERANCE
        ratio = np.abs(self.difference[known]) / self.error[known]
        found[known] = 2 * stdtr(self.freedom[known], -ratio)
        return found


def jackknife(
    difference: Float64, left_out: Float64, strata: Int64 | None = None, units: Float64 | Int64 | float = np.inf
) -> JackknifedDifference:
    """Return differences with their errors, from the differences without each unit, shape (k, units).

    `strata` is the stratum of each unit, `units` the most effective units that a difference can have, shape (k,). The
    error is NaN where the difference is undefined without one of the units.
    """
    where = np.zeros(left_out.shape[-1], np.int64) if strata is None else strata
    sizes = np.bincount(where, minlength=1)
    variance = np.zeros(len(left_out))
    for stratum, size in enumerate(sizes):
        variance += (size - 1) * left_out[:, where == stratum].var(axis=-1) if size else 0
    effective = np.minimum(effective_units(left_out), units)
    return JackknifedDifference(difference, np.sqrt(variance), np.maximum(effective - len(sizes), 1))
