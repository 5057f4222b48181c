"""F1 of several systems in each slice, with intervals and tests of all pairs, as `comparison.significance` makes them.

Recall of a slice is over the gold spans with its value, precision over the predictions with its value. The column
`units` says on how many units a row rests: intervals over few are rough.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from nereval_core.analysis.bootstrap import PARTS
from nereval_core.analysis.comparison.measures import ComparisonGroup, UnitCounts
from nereval_core.analysis.comparison.significance import group_tables
from nereval_core.analysis.resampling_units import ResamplingPlan, ResamplingUnits
from nereval_core.analysis.slices.scores_by_slice import SLICE_PLAN, SliceTally


def compare_slices(
    tallies: Mapping[str, SliceTally], criterion: str, units: ResamplingUnits, plan: ResamplingPlan = SLICE_PLAN
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return a row for each slice and system, INTERVAL_COLUMNS, and for each pair of systems, DIFFERENCE_COLUMNS.

    `tallies` are those of one slicing, by system. The column `type` has the slice, in the order of the slicing; slices
    without spans are left out. Where one side of a system has no values for the slicing, its F1 is NaN.
    """
    names = list(dict.fromkeys(name for tally in tallies.values() for name in tally.names))
    counts = np.zeros((len(names), len(tallies), len(PARTS), units.count), np.int32)
    for column, tally in enumerate(tallies.values()):
        if not tally.sides_without_values:
            rows = [names.index(name) for name in tally.names]
            counts[rows, column] = units.sum_counts(tally.by_document[:-1])
    with_spans = np.flatnonzero(counts[:, :, 2:].any(axis=(1, 2, 3)))
    groups = tuple(ComparisonGroup(criterion, names[place]) for place in with_spans.tolist())
    intervals, differences, _ = group_tables(UnitCounts(groups, tuple(tallies), counts[with_spans], units), plan)
    return intervals, differences
