"""Macro averages that add up: exact sums of ratios, so that the mean over parts is the whole's to the last bit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from nereval_core.scoring.averages import Sums
from nereval_core.scoring.counts import Average

SCALE = 192
"""Sums are in units of 2 to the power of -SCALE: a ratio of counts below 2 to the power of 32 is a multiple of it."""


@dataclass(frozen=True, slots=True)
class Mean:
    """The exact sum of `n` values in units of 2 to the power of -SCALE; `undefined` ones are left out."""

    total: int = 0
    n: int = 0
    undefined: int = 0

    def __add__(self, other: Mean) -> Mean:
        return Mean(self.total + other.total, self.n + other.n, self.undefined + other.undefined)

    @classmethod
    def of(cls, sums: Sums, group: int = 0) -> Mean:
        units = sums.exact(group) * (1 << SCALE)
        assert units.denominator == 1, "a ratio too small to be summed exactly"
        return cls(units.numerator, int(sums.n[group]), int(sums.undefined[group]))

    @property
    def average(self) -> Average:
        """The mean as `Sums.mean` has it: the sum rounded once, then divided."""
        # The quotient of two integers is rounded once, to the nearest.
        return Average(self.total / (1 << SCALE) / self.n if self.n else None, self.n, self.undefined)


Means = tuple[Mean, Mean, Mean]
"""Of RATIOS."""
NONE: Means = (Mean(), Mean(), Mean())


def added(one: Means, other: Means) -> Means:
    return one[0] + other[0], one[1] + other[1], one[2] + other[2]


def means_of(sums: Sequence[Sums], group: int = 0) -> Means:
    """Return the means of a group from the sums of each of RATIOS."""
    precision, recall, f1 = (Mean.of(one, group) for one in sums)
    return precision, recall, f1
