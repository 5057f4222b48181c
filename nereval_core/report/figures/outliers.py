"""Axes that no outlier stretches: it stands at the edge of the figure, with its value beside it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

FAR = 3.0
"""Interquartile ranges beyond the quartiles from which on a value is far out (Tukey, Exploratory Data Analysis)."""
STRETCH = 2.0
"""An axis is limited only where the values far out make it this many times as long."""
MARGIN = 0.08
"""Share of an axis that is left free at each end, for marks and the values of outliers."""


@dataclass(frozen=True)
class AxisLimits:
    """The least and the greatest value within an axis; values beyond are drawn at its edge."""

    low: float
    high: float

    def within(self, value: float) -> float:
        """Return the place of a value: its own, or the edge that it lies beyond."""
        return min(max(value, self.low), self.high)

    def label(self, value: float, places: int = 3) -> str:
        """Return the text beside an outlier, an arrow and its value; "" for a value within the axis."""
        if value < self.low:
            return f"◂ {value:.{places}f}"
        return f"{value:.{places}f} ▸" if value > self.high else ""

    def axis(self) -> dict[str, Any]:
        """Return the range of a Plotly axis, with a margin at each end."""
        margin = MARGIN * ((self.high - self.low) or 1.0)
        return {"range": [self.low - margin, self.high + margin]}

    def marks(self, values: Iterable[float], *, places: int = 3) -> dict[str, Any]:
        """Return the arguments of a Plotly scatter along x: places, and the values of outliers as text."""
        numbers = list(values)
        return {
            "x": [self.within(value) for value in numbers],
            "text": [self.label(value, places) for value in numbers],
            "mode": "markers+text",
            "textposition": ["middle right" if value < self.low else "middle left" for value in numbers],
        }


def limit_axis(values: Iterable[float]) -> AxisLimits:
    """Return the limits of an axis for these values; NaN is left out, and without values it is from 0 to 1."""
    finite = np.array([value for value in values if np.isfinite(value)], "float64")
    if not len(finite):
        return AxisLimits(0.0, 1.0)
    low, high = float(finite.min()), float(finite.max())
    first, third = np.quantile(finite, (0.25, 0.75))
    reach = FAR * (third - first)
    near = finite[(finite >= first - reach) & (finite <= third + reach)]
    length = float(near.max() - near.min())
    # With half of the values alike there is no spread to measure by.
    if length <= 0 or high - low < STRETCH * length:
        return AxisLimits(low, high)
    return AxisLimits(float(near.min()), float(near.max()))
