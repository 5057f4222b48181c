"""Ratios of many documents or types at once, and exact sums of them."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nereval_core.alignment.codes import Decision
from nereval_core.arrays import Float64, Int64

LIMB = 30
"""Bits of a ratio that are summed together: sums of 2 to the power of 23 of them are whole numbers in float64."""
LIMBS = 3
MOST = 1 << 22
"""Values that are summed at once: fewer than float64 has room for."""
SAFE = 1 << 17
"""Counts of which three may be multiplied without leaving the whole numbers of float64."""


def ratio_columns(gold: Int64, pred: Int64) -> tuple[Float64, Float64, Float64]:
    """Return precision, recall and F1 of rows of counts, shapes (rows, 5) by Decision; NaN where undefined.

    Each is the quotient of two whole numbers that float64 holds, so it is what `Counts` gives, to the last bit.
    """
    of_gold, of_pred = (2 * side[:, Decision.COR] + side[:, Decision.PAR] for side in (gold, pred))
    return ratios_of(of_gold, of_pred, gold.sum(axis=1), pred.sum(axis=1))


def ratios_of(of_gold: Int64, of_pred: Int64, pos: Int64, act: Int64) -> tuple[Float64, Float64, Float64]:
    """Return precision, recall and F1 of twice the credit of both sides, and the number of their spans."""
    top, bottom = of_gold, pos + act
    uneven = np.flatnonzero(of_gold != of_pred)
    if len(uneven):
        top, bottom = top.copy(), bottom.copy()
        top[uneven] = of_pred[uneven] * of_gold[uneven]
        bottom[uneven] = of_pred[uneven] * pos[uneven] + of_gold[uneven] * act[uneven]
    f1 = _quotients(top, bottom)
    if len(uneven):
        # No credit on one side only.
        f1[uneven[bottom[uneven] == 0]] = 0
        for row in uneven[np.maximum(pos, act)[uneven] > SAFE].tolist():
            # Products beyond what float64 holds are divided as integers are.
            one, other = int(of_gold[row]), int(of_pred[row])
            below = other * int(pos[row]) + one * int(act[row])
            f1[row] = one * other / below if below else 0.0
    return _quotients(of_pred, 2 * act), _quotients(of_gold, 2 * pos), f1


def _quotients(top: Int64, bottom: Int64) -> Float64:
    found = np.full(len(top), np.nan)
    np.divide(top, bottom, out=found, where=bottom != 0)
    return found


class Sums:
    """Sums of values from 0 to 1 by group, exact until they are asked for and then rounded once, as `math.fsum` does.

    `n` and `undefined` (groups,) count the values that are numbers and those that are NaN.
    """

    def __init__(self, groups: int) -> None:
        self.n, self.undefined = np.zeros(groups, np.int64), np.zeros(groups, np.int64)
        self._limbs = [[0] * groups for _ in range(LIMBS)]
        self._odd: dict[int, list[float]] = {}

    def add(self, values: Float64, group: NDArray[Any] | None = None, times: Int64 | None = None) -> None:
        """Add values to their groups, or all to the first, each as often as `times` says."""
        for low in range(0, len(values), MOST):
            part = slice(low, low + MOST)
            self._add(
                values[part],
                np.zeros(len(values[part]), np.int8) if group is None else group[part],
                None if times is None else times[part],
            )

    def mean(self, group: int = 0) -> float | None:
        """Return the mean of a group, None where it has no values."""
        # Fractions become the nearest float, halves even.
        return float(self.exact(group)) / int(self.n[group]) if self.n[group] else None

    def exact(self, group: int = 0) -> Fraction:
        """Return the sum of a group, which adds up with that of other values as it is."""
        total = 0
        for limb in self._limbs:
            total = (total << LIMB) + limb[group]
        return Fraction(total, 1 << LIMB * LIMBS) + sum(map(Fraction, self._odd.get(group, ())))

    def _add(self, values: Float64, group: NDArray[Any], times: Int64 | None) -> None:
        groups = len(self.n)
        absent = np.isnan(values)
        if absent.any():
            self.undefined += _counted(group[absent], None if times is None else times[absent], groups)
            values, group = values[~absent], group[~absent]
            times = None if times is None else times[~absent]
        self.n += _counted(group, times, groups)
        assert times is None or int(times.sum()) <= MOST
        limbs = []
        rest = values
        for _ in range(LIMBS):
            rest = np.ldexp(rest, LIMB)
            limb = np.floor(rest)
            rest = rest - limb
            limbs.append(limb)
        odd = np.flatnonzero(rest)
        for place in odd.tolist():
            repeated = 1 if times is None else int(times[place])
            self._odd.setdefault(int(group[place]), []).extend([float(values[place])] * repeated)
        for total, limb in zip(self._limbs, limbs, strict=True):
            limb[odd] = 0
            sums = np.bincount(group, limb if times is None else limb * times, groups)
            for place in np.flatnonzero(sums).tolist():
                total[place] += int(sums[place])


def _counted(group: NDArray[Any], times: Int64 | None, groups: int) -> Int64:
    return np.bincount(group, times, groups).astype(np.int64)
