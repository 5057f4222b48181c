"""Agreement beyond chance from counts of units: observed agreement, Cohen's and Fleiss' kappa, Krippendorff's alpha.

A unit (a token) has one category from each annotator. Counts may have any last axis (documents, resamples): one figure
comes out for each place of it, NaN where it is undefined. `categories` have the shape (categories, n): how many units
have each, over one annotator or over all of them.

Cohen 1960, A coefficient of agreement for nominal scales; Fleiss 1971, Measuring nominal scale agreement among many
raters; Krippendorff 2011, Computing Krippendorff's alpha-reliability (nominal).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nereval_core.arrays import Float64

Numbers = NDArray[Any]


def share(part: Numbers, whole: Numbers) -> Float64:
    """Return part / whole, NaN where whole is 0."""
    one, other = np.broadcast_arrays(np.asarray(part, np.float64), np.asarray(whole, np.float64))
    found = np.full(one.shape, np.nan)
    np.divide(one, other, out=found, where=other != 0)
    return found


def cohen(agreed: Numbers, units: Numbers, one: Numbers, other: Numbers) -> Float64:
    """Return Cohen's kappa of two annotators: `agreed` of `units` have the same category from both.

    Undefined where both give one and the same category to all units.
    """
    whole = np.asarray(units, np.float64)
    expected = (np.asarray(one, np.float64) * other).sum(axis=0)
    return share(whole * agreed - expected, whole**2 - expected)


def fleiss(agreed: Numbers, units: Numbers, categories: Numbers, annotators: int) -> Float64:
    """Return Fleiss' kappa; `agreed` is summed over all pairs of annotators, `categories` are over all annotators.

    Undefined where only one category is used. Of two annotators it is Scott's pi.
    """
    whole = np.asarray(units, np.float64)
    seen = share(agreed, whole * (annotators * (annotators - 1) / 2))
    values = np.asarray(categories, np.float64)
    expected = (values**2).sum(axis=0)
    # Times the square of all values, so that one category alone is told exactly.
    square = (annotators * whole) ** 2
    return share(seen * square - expected, square - expected)


def alpha(agreeing: Numbers, categories: Numbers) -> Float64:
    """Return Krippendorff's alpha for nominal data.

    A unit with m values adds to `agreeing` the ordered pairs of equal values among them, over m - 1; `categories` count
    the values of units with at least two. Undefined where only one category is used.
    """
    values = np.asarray(categories, np.float64)
    number = values.sum(axis=0)
    expected = number * (number - 1) - (values * (values - 1)).sum(axis=0)
    return 1 - share((number - agreeing) * (number - 1), expected)
