"""F1 of several systems in each slice, with intervals and tests of all pairs, as `comparison.significance` makes them.

Recall of a slice is over the gold spans with its value, precision over the predictions with its value. The column
`units` says on how many units a row rests: those on few have neither intervals nor tests, and `why` says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from nereval_core.analysis.bootstrap import PARTS, RATIOS
from nereval_core.analysis.comparison.measures import ComparisonGroup, UnitCounts
from nereval_core.analysis.comparison.significance import ALL_OR_NONE, DIFFERENCE_COLUMNS, group_tables
from nereval_core.analysis.intervals import are_all_or_none, set_wilson_intervals
from nereval_core.analysis.multiple_tests import tested_table
from nereval_core.analysis.resampling_units import ResamplingPlan, ResamplingUnits
from nereval_core.analysis.slices.scores_by_slice import FEW_UNITS_OF_SLICE, SLICE_PLAN, SliceTally


def compare_slices(
    tallies: Mapping[str, SliceTally], criterion: str, units: ResamplingUnits, plan: ResamplingPlan = SLICE_PLAN
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return a row for each slice and system, INTERVAL_COLUMNS, and for each pair of systems, DIFFERENCE_COLUMNS.

    `tallies` are those of one slicing, by system. The column `type` has the slice, in the order of the slicing; slices
    without spans are left out. Where one side of a system has no values for the slicing, its F1 is NaN. As in
    `slice_table`, P and R have Wilson's intervals and F1 none where the slice has spans in fewer than
    FEW_UNITS_OF_SLICE units, or is all right or all wrong; pairs are not tested where so few units have gold spans of
    the slice.
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
    is_few = (intervals["units"] < FEW_UNITS_OF_SLICE).to_numpy()
    few = f"fewer than {FEW_UNITS_OF_SLICE} {units.plural}"
    totals = counts[with_spans].sum(axis=-1, dtype=np.int64).reshape(-1, len(PARTS))
    lows, highs = [f"{ratio}_low" for ratio in RATIOS], [f"{ratio}_high" for ratio in RATIOS]
    low, high = intervals[lows].to_numpy(copy=True), intervals[highs].to_numpy(copy=True)
    is_certain = are_all_or_none(totals)
    set_wilson_intervals(low, high, totals, plan.level, is_few | is_certain)
    intervals.loc[is_certain & intervals["why"].eq("") & intervals["f1"].notna(), "why"] = ALL_OR_NONE
    # What is in a single unit has no interval at all.
    low[intervals["units"] < 2] = high[intervals["units"] < 2] = np.nan
    intervals[lows], intervals[highs] = low, high
    is_told = is_few & intervals["why"].isin(["", ALL_OR_NONE]) & intervals["f1"].notna()
    intervals.loc[is_told, "why"] = f"F1 has no interval and no test, P and R have Wilson's: the slice is in {few}"
    # Many predictions of one size, say, may meet a single gold span of it, on which all recall would rest.
    gold_units = (counts[with_spans, :, PARTS.index("POS")] > 0).sum(axis=-1).max(axis=1)
    few_names = [
        names[place] for place, number in zip(with_spans, gold_units, strict=True) if number < FEW_UNITS_OF_SLICE
    ]
    is_untested = differences["type"].isin(few_names)
    differences.loc[is_untested & differences["why"].eq(""), "why"] = f"no test: gold spans of the slice are in {few}"
    differences.loc[is_untested, ["low", "high", "p"]] = np.nan
    pairs: list[dict[str, Any]] = differences.to_dict("records")  # type: ignore[assignment]
    return intervals, tested_table(pairs, DIFFERENCE_COLUMNS, ("criterion", "type"))
