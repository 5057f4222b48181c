"""Intervals and tests of any measure: precision, recall and F1 over all spans or of a type, and their macro averages.

They are those of our criteria or of a published scorer. The resamples and swaps are those of the comparison, so that
what is said of one measure can be set beside another. A macro average is the mean over the types where the ratio is
defined, in each resample anew.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd

from nereval_core.analysis.bootstrap import (
    RATIO_TOLERANCE,
    RATIOS,
    ConfidenceIntervals,
    ResampledValues,
    estimate_intervals,
    leave_one_out,
    ratios,
)
from nereval_core.analysis.comparison.significance import (
    F1,
    ComparisonGroup,
    SystemResamples,
    corrected_as_family,
    count_units,
    count_units_by_type,
    lacks_interval,
    ranks,
)
from nereval_core.analysis.comparison.unit_counts import scorer_counts
from nereval_core.analysis.multiple_tests import holm_correction
from nereval_core.analysis.resampling_units import ResamplingPlan, ResamplingUnits
from nereval_core.analysis.result_tables import typed_table
from nereval_core.arrays import Array, Float64
from nereval_core.problems import FormatError, quoted
from nereval_core.scoring import Scores

MACRO = "macro-"
MEASURES = ("f1", "precision", "recall", f"{MACRO}f1", f"{MACRO}precision", f"{MACRO}recall")
_KEYS = dict.fromkeys(("criterion", "type", "measure", "system"), "str")
MEASURE_COLUMNS: Mapping[str, str] = {
    **_KEYS,
    **dict.fromkeys(("value", "low", "high"), "float64"),
    "undefined": "int64",
    "rank": "Int64",
    "why": "str",
}
"""Columns of the table of measures and their dtypes, named as in INTERVAL_COLUMNS. `criterion` is one of ours, or a
published scorer and its evaluation, `conlleval/phrase`."""
MEASURE_DIFFERENCE_COLUMNS: Mapping[str, str] = {
    **_KEYS,
    "baseline": "str",
    **dict.fromkeys(("difference", "low", "high"), "float64"),
    "undefined": "int64",
    **dict.fromkeys(("p", "p_holm"), "float64"),
    "tests": "int64",
    **dict.fromkeys(("p_family", "p_bh"), "float64"),
    "why": "str",
}
"""Columns of the table of their differences and their dtypes, named as in DIFFERENCE_COLUMNS. `tests` are those of one
measure under one criterion and of one type; `p_family` and `p_bh` are corrected over all rows."""


@dataclass(frozen=True, eq=False)
class MeasuredSystems:
    """One measure of all systems: a ratio of one group of the resamples, or its mean over all groups (types)."""

    resampled: SystemResamples
    ratio: int
    group: int | None = None

    @property
    def _groups(self) -> slice:
        return slice(None) if self.group is None else slice(self.group, self.group + 1)

    @cached_property
    def values(self) -> ResampledValues:
        """The measure of each system, shapes (systems, 1), (systems, units) and (systems, resamples)."""
        counts = self.resampled.counted.counts[self._groups]
        left_out = np.stack([self._mean(leave_one_out(counts[:, system])) for system in range(counts.shape[1])])
        whole = self._mean(self.resampled.totals[self._groups, ..., None])
        return ResampledValues(whole, left_out, mean_of_defined(self.resampled.ratios[self._groups, :, self.ratio]))

    def intervals(self, values: ResampledValues) -> ConfidenceIntervals:
        """Return the intervals of such values."""
        return ConfidenceIntervals(
            *estimate_intervals(values, self.resampled.plan, self.resampled.counted.units.strata)[1:]
        )

    def difference(self, one: int, other: int) -> tuple[float, ConfidenceIntervals, float]:
        """Return the measure of a system less that of another, its interval, and p."""
        apart = ResampledValues(*(values[[one]] - values[[other]] for values in self.values))
        seen = float(apart.whole[0, 0])
        totals, swaps = self.resampled.totals[self._groups], self.resampled.swaps[self._groups]
        half = (totals[:, one] + totals[:, other])[..., None] / 2
        moved = (swaps[:, one] - swaps[:, other]).astype(np.float64) / 2
        under = self._mean(half + moved) - self._mean(half - moved)
        # An undefined difference favours neither system: counting it as large keeps p from being too small.
        large = int((~(np.abs(under) < abs(seen) - RATIO_TOLERANCE)).sum())
        lone = np.isnan(seen) or np.isnan(apart.left_out).any()
        p = np.nan if lone else (large + 1) / (self.resampled.plan.resamples + 1)
        return seen, self.intervals(apart), p

    def _mean(self, sums: Array) -> Float64:
        """Return the measure of sums, shape (groups, ..., 4, n) to (..., n)."""
        return mean_of_defined(ratios(sums)[..., self.ratio, :])


def mean_of_defined(values: Float64) -> Float64:
    """Return the mean over the first axis without what is undefined, NaN where nothing is left."""
    known = ~np.isnan(values)
    number = known.sum(axis=0)
    found = np.full(values.shape[1:], np.nan)
    np.divide(np.where(known, values, 0).sum(axis=0), number, out=found, where=number > 0)
    return found


def check_measures(names: Sequence[str]) -> None:
    """Check the names of measures.

    Raises:
        FormatError: with each that is not one of MEASURES.
    """
    if wrong := [quoted(name) for name in names if name not in MEASURES]:
        raise FormatError.single(
            "--measures", None, f"no measure {', '.join(wrong)}", f"choose among {', '.join(MEASURES)}"
        )


def measure_tables(
    scored: Mapping[str, Scores],
    criteria: Sequence[str],
    measures: Sequence[str],
    baseline: str,
    plan: ResamplingPlan,
    units: ResamplingUnits,
    *,
    by_type: bool = False,
    scorers: Sequence[str] = (),
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return a row for each criterion, type, measure and system, MEASURE_COLUMNS, and MEASURE_DIFFERENCE_COLUMNS.

    `measures` are some of MEASURES; differences are to the baseline. `scorers` are published ones as
    `scorer_counts` takes them, of which those of `measures` that are not macro averages are given, by default F1.

    Raises:
        FormatError: a scorer that cannot score these data, or figures that are not made of counts of documents.
    """
    systems = tuple(scored)
    rows: list[dict[str, Any]] = []
    apart: list[dict[str, Any]] = []
    ours = _by_criterion(scored, criteria if measures else (), measures, plan, units, by_type=by_type)
    theirs = _by_scorer(scored, scorers, measures, plan, units, by_type=by_type)
    for group, measure, measured in chain(ours, theirs):
        base = systems.index(baseline)
        keys = {**group._asdict(), "measure": measure}
        values, ends = measured.values.whole[:, 0], measured.intervals(measured.values)
        for place, (system, rank) in enumerate(zip(systems, ranks(values), strict=True)):
            lone = lacks_interval(values[place], ends.low[place])
            row = {**keys, "system": system, "value": values[place], "rank": rank}
            row |= {name: end[place] for name, end in zip(ConfidenceIntervals._fields, ends, strict=True)}
            rows.append(row | {"why": units.no_interval_note(measure) if lone else ""})
        found = [(place, *measured.difference(place, base)) for place in range(len(systems)) if place != base]
        tested = np.array([p for *_, p in found])
        for (place, seen, interval, p), corrected in zip(found, holm_correction(tested), strict=True):
            row = {**keys, "system": systems[place], "baseline": baseline, "difference": seen}
            row |= {name: end[0] for name, end in zip(ConfidenceIntervals._fields, interval, strict=True)}
            lone = lacks_interval(seen, interval.low[0])
            row |= {"p": p, "p_holm": corrected, "tests": int((~np.isnan(tested)).sum())}
            apart.append(row | {"why": units.no_interval_note(f"a {measure}") if lone else ""})
    return typed_table(rows, MEASURE_COLUMNS), corrected_as_family(typed_table(apart, MEASURE_DIFFERENCE_COLUMNS))


Measured = Iterator[tuple[ComparisonGroup, str, MeasuredSystems]]


def _by_criterion(
    scored: Mapping[str, Scores],
    criteria: Sequence[str],
    measures: Sequence[str],
    plan: ResamplingPlan,
    units: ResamplingUnits,
    *,
    by_type: bool,
) -> Measured:
    for criterion in criteria:
        # The types of one criterion are held at a time.
        whole = SystemResamples(count_units(scored, [criterion], units), plan)
        types = SystemResamples(count_units_by_type(scored, criterion, units), plan)
        for measure in measures:
            if measure.startswith(MACRO):
                ratio = RATIOS.index(measure.removeprefix(MACRO))
                yield ComparisonGroup(criterion), measure, MeasuredSystems(types, ratio)
            else:
                yield from _of_groups(whole, measure)
                yield from _of_groups(types, measure) if by_type else ()


def _by_scorer(
    scored: Mapping[str, Scores],
    scorers: Sequence[str],
    measures: Sequence[str],
    plan: ResamplingPlan,
    units: ResamplingUnits,
    *,
    by_type: bool,
) -> Measured:
    chosen = [measure for measure in measures if not measure.startswith(MACRO)] or [RATIOS[F1]]
    for name in scorers:
        resampled = SystemResamples(scorer_counts(scored, name, units, by_type=by_type), plan)
        for measure in chosen:
            yield from _of_groups(resampled, measure)


def _of_groups(resampled: SystemResamples, measure: str) -> Measured:
    """Yield a measure of each group by itself."""
    for place, group in enumerate(resampled.counted.groups):
        yield group, measure, MeasuredSystems(resampled, RATIOS.index(measure), place)
