"""Corrections of p values for the number of tests that were made together, their family.

Holm 1979 keeps the probability of any false finding in the family below the level. Benjamini and Hochberg 1995 keep the
expected share of false ones among the findings below it: more is found, and less is promised.
"""

from __future__ import annotations

import numpy as np

from nereval_core.arrays import Float64


def holm_correction(values: Float64) -> Float64:
    """Return p values corrected for their number (Holm 1979), shape (tests,); NaN does not count as a test."""
    found, order = _increasing(values)
    ranked = values[order]
    found[order] = np.maximum.accumulate(np.minimum(1, (len(order) - np.arange(len(order))) * ranked))
    return found


def benjamini_hochberg(values: Float64) -> Float64:
    """Return p values corrected by the false discovery rate (Benjamini and Hochberg 1995), shape (tests,).

    NaN does not count as a test.
    """
    found, order = _increasing(values)
    ranked = len(order) / np.arange(1, len(order) + 1) * values[order]
    found[order] = np.minimum(1, np.minimum.accumulate(ranked[::-1])[::-1])
    return found


def _increasing(values: Float64) -> tuple[Float64, np.ndarray]:
    """Return as many NaN, and the places of the tests by their p value."""
    order = np.argsort(values, kind="stable")
    return np.full(len(values), np.nan), order[~np.isnan(values[order])]
