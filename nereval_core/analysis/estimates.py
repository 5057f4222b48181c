"""Figures of counts by document with their bootstrap intervals, where a figure is any function of summed counts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nereval_core.analysis.resampling import Plan, acceleration, bca, bootstrap_sums
from nereval_core.analysis.resampling_units import ResamplingUnits
from nereval_core.arrays import Float64, Int64

Numbers = NDArray[Any]
AT_ONCE = 1 << 25
"""Sums that are held at once: 256 MB."""


class Stages(NamedTuple):
    """The same sums, or figures, of all units, of all but one, and of units drawn with replacement.

    Shapes (rows, 1), (rows, units), (rows, resamples).
    """

    whole: Numbers
    left_out: Numbers
    drawn: Numbers


class Estimates(NamedTuple):
    """Figures with the ends of their intervals and the resamples in which they are undefined, shape (figures,) each."""

    value: Float64
    low: Float64
    high: Float64
    undefined: Int64


def staged(blocks: Iterable[Numbers], plan: Plan, units: ResamplingUnits) -> Iterator[Stages]:
    """Yield what blocks of counts, each of shape (rows, documents), sum to.

    Units are drawn once for as many blocks as AT_ONCE allows, as that takes longer than adding up.
    """
    batch: list[Numbers] = []
    rows = 0
    for block in map(units.summed, blocks):
        if batch and (rows + len(block)) * plan.resamples > AT_ONCE:
            yield from _drawn(batch, plan)
            batch, rows = [], 0
        batch.append(block)
        rows += len(block)
    if batch:
        yield from _drawn(batch, plan)


def _drawn(blocks: Sequence[Numbers], plan: Plan) -> Iterator[Stages]:
    sums = bootstrap_sums(np.concatenate(blocks), plan)
    for block, drawn in zip(blocks, np.split(sums, np.cumsum([len(block) for block in blocks])[:-1]), strict=True):
        whole = block.sum(axis=-1, keepdims=True, dtype=np.int64)
        yield Stages(whole, whole - block, drawn)


def estimated(figures: Stages, plan: Plan) -> Estimates:
    """Return figures with bias-corrected and accelerated intervals."""
    value = figures.whole[:, 0]
    return Estimates(value, *bca(value, figures.drawn, acceleration(figures.left_out), plan.level))


def unknown(number: int) -> Estimates:
    """Return so many figures that are undefined."""
    nothing = np.full(number, np.nan)
    return Estimates(nothing, nothing, nothing, np.zeros(number, np.int64))
