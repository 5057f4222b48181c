"""Intervals of figures: the bias-corrected and accelerated bootstrap (BCa), and the jackknife of differences.

Errors by the delete-one jackknife are those of Efron and Tibshirani 1993, An introduction to the bootstrap, chapter 11:
with a unit left out at a time, the square of the error is the sum over strata of (n - 1) / n times the sum of squares
about the stratum's mean. Degrees of freedom of Student's t are those of the effective units less the strata, as few
units may carry most of the variance.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri, stdtr, stdtrit

from nereval_core.corpus.arrays import Bools, Float64, Int64

RATIO_TOLERANCE = 1e-12
"""Smaller differences are rounding errors: two different ratios of countable spans are never so close."""


class Estimates(NamedTuple):
    """Figures with the ends of their intervals (NaN: none), and the resamples in which they are undefined.

    Shape (figures,) each.
    """

    value: Float64
    low: Float64
    high: Float64
    undefined: Int64


def undefined_estimates(number: int) -> Estimates:
    """Return so many undefined figures."""
    nothing = np.full(number, np.nan)
    return Estimates(nothing, nothing, nothing, np.zeros(number, np.int64))


def lacks_interval(value: float, low: float) -> bool:
    """Tell whether a defined figure has no interval, because it rests on a single unit."""
    return bool(np.isnan(low) and not np.isnan(value))


def acceleration(values: Float64, strata: Int64 | None = None, times: Int64 | None = None) -> Float64:
    """Return Efron's acceleration from the values with one unit left out, shape (k, units) to (k,).

    Without strata each value may stand for as many units as `times` says.

    With l = (n - 1) (mean - value) in each stratum of n units, it is the sum of l³/n³ over 6 times the sum of l²/n² to
    the power of 3/2 (Davison and Hinkley 1997, section 5.3); all units are one stratum where there are none.

    The acceleration is NaN where a value is undefined without one of the units. Such a value rests on that unit alone,
    and resamples, which contain the unit or have no value, do not show how the value varies.
    """
    rests_on_a_unit = np.isnan(values).any(axis=-1)
    if strata is None:
        influences = _mean_of_units(values, times) - values
    else:
        sizes = np.bincount(strata)
        means = np.array([np.bincount(strata, row) for row in values]).reshape(len(values), -1) / sizes
        influences = (means[:, strata] - values) * (1 - 1 / sizes)[strata]
    squares = np.square(influences)
    below = 6 * _sum_of_units(squares, times) ** 1.5
    accelerations = np.where(rests_on_a_unit, np.nan, 0.0)
    np.divide(_sum_of_units(squares * influences, times), below, out=accelerations, where=below > 0)
    return accelerations


def _sum_of_units(values: Float64, times: Int64 | None) -> Float64:
    """Return sums over units, shape (k, units) to (k,); each value stands for as many as `times` says."""
    sums: Float64 = (values if times is None else values * times).sum(axis=-1)
    return sums


def _mean_of_units(values: Float64, times: Int64 | None) -> Float64:
    """Return means over units, shape (k, units) to (k, 1)."""
    n_units = values.shape[-1] if times is None else int(times.sum())
    return _sum_of_units(values, times)[..., None] / max(n_units, 1)


def effective_units(values: Float64, times: Int64 | None = None) -> Float64:
    """Return the effective number of units from the values with one unit left out, shape (k, units) to (k,).

    Each value stands for as many units as `times` says.

    With d = value - mean it is 3 (sum of d²)² / sum of d⁴: the degrees of freedom that Satterthwaite (1946) gives to
    the sum of squares where the d are normal, as many as units. Where few units carry most of the variance it is less;
    it is never more than the number of units without which the figure differs.
    """
    deviations = values - _mean_of_units(values, times)
    squares = np.square(deviations)
    below = _sum_of_units(np.square(squares), times)
    n_differing = _sum_of_units((np.abs(deviations) > RATIO_TOLERANCE).astype(np.float64), times)
    freedom = np.full(n_differing.shape, np.inf)
    np.divide(3 * np.square(_sum_of_units(squares, times)), below, out=freedom, where=below > 0)
    n_effective: Float64 = np.minimum(n_differing, freedom)
    return n_effective


def tail_quantiles(level: float, units: Float64, strata: Int64 | None = None) -> Float64:
    """Return what stands for the upper quantile of the normal distribution with few units, shape (k,).

    It is that of Student's t with units - strata degrees of freedom times the root of units / (units - strata): the
    bootstrap draws from the sample, whose variance is too small by that factor (Hesterberg 2015, section 3.2).
    """
    n_strata = 1 if strata is None else int(strata.max(initial=0)) + 1
    freedom = np.maximum(units - n_strata, 1)
    quantiles: Float64 = stdtrit(freedom, (1 + level) / 2) * np.sqrt((freedom + n_strata) / freedom)
    return quantiles


def bca_intervals(observed: Float64, replicates: Float64, accelerations: Float64, quantiles: Float64) -> Estimates:
    """Return bias-corrected and accelerated intervals, shapes (k,), (k, resamples), (k,), (k,).

    `quantiles` are the upper quantiles of the level: of the normal distribution, or `tail_quantiles`.

    Resamples in which a value is undefined are left out of its interval and counted. Where all others lie on one side
    of the observed value, half a resample counts as lying on the other side. There is no interval where the
    acceleration is NaN.
    """
    ordered = np.sort(replicates, axis=-1)
    undefined = np.isnan(replicates).sum(axis=-1)
    n_defined = replicates.shape[-1] - undefined
    n_below = np.empty(len(observed))
    for row, (value, values) in enumerate(zip(observed.tolist(), ordered, strict=True)):
        defined = values[: n_defined[row]]
        n_below[row] = (
            np.searchsorted(defined, value - RATIO_TOLERANCE)
            + np.searchsorted(defined, value + RATIO_TOLERANCE, "right")
        ) / 2
    has_interval = (n_defined > 0) & ~np.isnan(observed) & ~np.isnan(accelerations)
    share = np.clip(n_below, 0.5, np.maximum(n_defined - 0.5, 0.5)) / np.maximum(n_defined, 1)
    bias = ndtri(share)
    ends = []
    for quantile in (-quantiles, quantiles):
        z = bias + quantile
        slope = 1 - accelerations * z
        # Where the correction is unbounded, its limit applies.
        moved = np.where(slope > 0, z / np.where(slope > 0, slope, 1), np.sign(z) * np.inf)
        ends.append(_quantiles(ordered, n_defined, ndtr(bias + moved), has_interval))
    return Estimates(observed, ends[0], ends[1], undefined)


def _quantiles(ordered: Float64, n_defined: Int64, shares: Float64, has_interval: Bools) -> Float64:
    """Return the quantile at a share of the defined values of each sorted row, interpolated linearly."""
    position = np.where(has_interval, shares, 0) * np.maximum(n_defined - 1, 0)
    below = np.floor(position).astype(np.int64)
    above = np.minimum(below + 1, np.maximum(n_defined - 1, 0))
    rows = np.arange(len(ordered))
    low, high = ordered[rows, below], ordered[rows, above]
    return np.where(has_interval, low + (high - low) * (position - below), np.nan)


def wilson_interval(credit: NDArray[Any], whole: NDArray[Any], level: float) -> Float64:
    """Return Wilson's interval of credit / whole, where credit may be half, shape (2, n); NaN where whole is 0.

    E. B. Wilson (1927), JASA 22.
    """
    z = float(ndtri((1 + level) / 2))
    with np.errstate(invalid="ignore", divide="ignore"):
        share = credit / whole
        middle = (share + z**2 / (2 * whole)) / (1 + z**2 / whole)
        half = z / (1 + z**2 / whole) * np.sqrt(share * (1 - share) / whole + z**2 / (4 * whole**2))
    edges = np.stack([middle - half, middle + half])
    return np.where(whole > 0, edges.clip(0, 1), np.nan)


def are_all_or_none(totals: NDArray[Any]) -> Bools:
    """Return where all gold spans, or all predictions, are right or all wrong; `totals` as `set_wilson_intervals`."""
    credit, whole = totals[:, :2], totals[:, 2:]
    is_all_or_none: Bools = ((whole > 0) & ((credit == 0) | (credit == 2 * whole))).any(axis=1)
    return is_all_or_none


def set_wilson_intervals(
    low: Float64, high: Float64, totals: NDArray[Any], level: float, is_wilson: Bools | bool = False
) -> None:
    """Set Wilson's intervals of P and R, and none of F1, in some rows, and of each ratio whose resamples all agree.

    `low` and `high` are the ends of P, R and F1 by the bootstrap, shape (rows, 3), `totals` sums of the PARTS of
    `bootstrap`, shape (rows, 4). Where all spans are right, or all are wrong, all resamples agree, which does not make
    the ratio certain.
    """
    is_set = np.asarray(is_wilson)[..., None] | (low == high)
    for ratio, part in enumerate((1, 0)):
        rows = is_set[:, ratio]
        low[rows, ratio], high[rows, ratio] = wilson_interval(totals[rows, part] / 2, totals[rows, part + 2], level)
    low[is_set[:, 2], 2] = high[is_set[:, 2], 2] = np.nan


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
        p = np.where(np.abs(self.difference) <= RATIO_TOLERANCE, 1.0, np.nan)
        has_error = self.error > RATIO_TOLERANCE
        t = np.abs(self.difference[has_error]) / self.error[has_error]
        p[has_error] = 2 * stdtr(self.freedom[has_error], -t)
        return p


def jackknife(
    difference: Float64, left_out: Float64, strata: Int64 | None = None, units: Float64 | Int64 | float = np.inf
) -> JackknifedDifference:
    """Return differences with their errors, from the differences without each unit, shape (k, units).

    `strata` is the stratum of each unit, `units` the most effective units that a difference can have, shape (k,). The
    error is NaN where the difference is undefined without one of the units.
    """
    stratum_of_unit = np.zeros(left_out.shape[-1], np.int64) if strata is None else strata
    sizes = np.bincount(stratum_of_unit, minlength=1)
    variance = np.zeros(len(left_out))
    for stratum, size in enumerate(sizes):
        variance += (size - 1) * left_out[:, stratum_of_unit == stratum].var(axis=-1) if size else 0
    effective = np.minimum(effective_units(left_out), units)
    return JackknifedDifference(difference, np.sqrt(variance), np.maximum(effective - len(sizes), 1))
