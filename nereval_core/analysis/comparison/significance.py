"""Significance: intervals of scores and of their differences, and tests of the differences.

Intervals are from the bias-corrected and accelerated bootstrap over units (documents, unless other `ResamplingUnits`
are given). All systems and criteria share the resamples, so that differences are paired. A figure that rests on a
single unit has neither interval nor test. Tests are approximate randomization: the two systems swap the counts of each
unit at random, and p = (number of swaps in which the difference of F1 is at least as large + 1) / (resamples + 1).
Holm's correction is over the tests of one table under one criterion (and of one type), and beside it over all tests of
the table, as is that of Benjamini and Hochberg.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from nereval_core.analysis.bootstrap import (
    COUNTS_AT_ONCE,
    RATIO_TOLERANCE,
    RATIOS,
    ConfidenceIntervals,
    DocumentCounts,
    Sums,
    acceleration,
    bca_intervals,
    bootstrap_sums,
    document_counts,
    effective_units,
    leave_one_out,
    ratios,
    swap_sums,
    tail_quantiles,
    type_counts,
)
from nereval_core.analysis.intervals import JackknifedDifference, jackknife
from nereval_core.analysis.multiple_tests import benjamini_hochberg, holm_correction
from nereval_core.analysis.resampling_units import ResamplingPlan, ResamplingUnits
from nereval_core.analysis.result_tables import typed_table
from nereval_core.arrays import Float64
from nereval_core.scoring import Scores
from nereval_core.scoring.protocols import CountedScores

F1 = RATIOS.index("f1")
FEW_UNITS = 20
"""With fewer units that have spans, a bootstrap over units is unreliable."""

_KEYS = {"criterion": "str", "type": "str"}
INTERVAL_COLUMNS: Mapping[str, str] = {
    **_KEYS,
    "system": "str",
    **dict.fromkeys(("units", "POS", "ACT"), "int64"),
    **{f"{name}{part}": "float64" for name in RATIOS for part in ("", "_low", "_high")},
    "undefined": "int64",
    "rank": "Int64",
    "best": "float64",
    "why": "str",
}
"""Columns of `interval_table` and their dtypes. `type` is NA for all types together; `units` is the number of units
with spans of gold or of the system; `undefined` is the number of resamples without an F1. `rank` is by F1, 1 is best,
equal systems share the better rank; `best` is the share of resamples in which no other system's F1 is higher. `why` is
the reason why F1 has no interval and no such share."""
DIFFERENCE_COLUMNS: Mapping[str, str] = {
    **_KEYS,
    "system": "str",
    "baseline": "str",
    **dict.fromkeys(("difference", "low", "high"), "float64"),
    "undefined": "int64",
    "p": "float64",
    "p_holm": "float64",
    "tests": "int64",
    "p_family": "float64",
    "p_bh": "float64",
    "why": "str",
}
"""Columns of `difference_table` and their dtypes: F1 of the system less that of the baseline, p before and after
Holm's correction over `tests` tests, those of the systems in one group; `p_family` and `p_bh` are corrected over all
tests of the table, by Holm and by Benjamini and Hochberg. `why` is the reason why the difference has no interval and no
test."""

LEAD_COLUMNS: Mapping[str, str] = {**_KEYS, "system": "str", "p_holm": "float64"}
"""Columns of `lead_table` and their dtypes: the best system, and the p of its difference from the next best after
Holm's correction over all pairs of systems; NaN where several are best, or where there is no test."""


class ComparisonGroup(NamedTuple):
    """One comparison of systems: under a criterion, for one type or all together."""

    criterion: str
    type: str | None = None


@dataclass(frozen=True, eq=False)
class UnitCounts:
    """The counts of all systems: `counts` has the shape (groups, systems, PARTS, units)."""

    groups: tuple[ComparisonGroup, ...]
    systems: tuple[str, ...]
    counts: DocumentCounts
    units: ResamplingUnits


def count_units(scored: Mapping[str, CountedScores], criteria: Sequence[str], units: ResamplingUnits) -> UnitCounts:
    """Return the counts of all systems by unit under some criteria."""
    rows = [np.stack([units.sum_counts(document_counts(one, name)) for one in scored.values()]) for name in criteria]
    return UnitCounts(tuple(map(ComparisonGroup, criteria)), tuple(scored), np.stack(rows), units)


def count_units_by_type(scored: Mapping[str, Scores], criterion: str, units: ResamplingUnits) -> UnitCounts:
    """Return the counts of all systems by unit and type under one criterion."""
    types = tuple(sorted({kind for scores in scored.values() for kind in scores.by_type(criterion)}))
    found = np.zeros((len(types), len(scored), 4, units.count), np.int32)
    for place, scores in enumerate(scored.values()):
        found[:, place] = units.sum_counts(type_counts(scores, criterion, types))
    return UnitCounts(tuple(ComparisonGroup(criterion, kind) for kind in types), tuple(scored), found, units)


@dataclass(frozen=True, eq=False)
class SystemResamples:
    """The scores of all systems in resamples and under random swaps, computed on first use."""

    counted: UnitCounts
    plan: ResamplingPlan

    @cached_property
    def totals(self) -> Sums:
        """Sums over all units, shape (groups, systems, 4)."""
        found: Sums = self.counted.counts.sum(axis=-1, dtype=np.int64).astype(np.float64)
        return found

    @cached_property
    def observed(self) -> Float64:
        """Precision, recall and F1, shape (groups, systems, 3)."""
        return ratios(self.totals[..., None])[..., 0]

    @cached_property
    def ratios(self) -> Float64:
        """Precision, recall and F1 in each resample, shape (groups, systems, 3, resamples)."""
        return ratios(bootstrap_sums(self.counted.counts, self.plan, self.counted.units.strata))

    @cached_property
    def swaps(self) -> Sums:
        """Sums with a random sign for each unit, shape (groups, systems, 4, resamples)."""
        return swap_sums(self.counted.counts, self.plan)

    @cached_property
    def left_out(self) -> tuple[Float64, Float64, Float64]:
        """Accelerations and quantiles, shape (groups, systems, 3) each, and F1 without each unit.

        F1 has the shape (groups, systems, units). For many units, the three ratios of all systems would need too much
        memory at once.
        """
        groups, systems, parts = self.observed.shape
        units, strata = self.counted.counts.shape[-1], self.counted.units.strata
        accelerations, quantiles = np.zeros((2, groups, systems, parts))
        f1 = np.zeros((groups, systems, units))
        for group in range(groups):
            values = ratios(leave_one_out(self.counted.counts[group]))
            f1[group] = values[:, F1]
            rows = values.reshape(systems * parts, units)
            accelerations[group] = acceleration(rows, strata).reshape(systems, parts)
            quantiles[group] = tail_quantiles(self.plan.level, effective_units(rows), strata).reshape(systems, parts)
        return accelerations, quantiles, f1

    def interval(self) -> ConfidenceIntervals:
        """Return the intervals of precision, recall and F1, each of shape (groups, systems, 3)."""
        shape = self.observed.shape
        accelerations, quantiles, _ = self.left_out
        low, high, undefined = bca_intervals(
            self.observed.reshape(-1),
            self.ratios.reshape(-1, self.plan.resamples),
            accelerations.reshape(-1),
            quantiles.reshape(-1),
        )
        return ConfidenceIntervals(low.reshape(shape), high.reshape(shape), undefined.reshape(shape))

    def difference(self, one: int, other: int) -> tuple[Float64, ConfidenceIntervals, Float64]:
        """Return F1 of a system less that of another, its interval, and p, each of shape (groups,)."""
        f1, strata = self.observed[:, :, F1], self.counted.units.strata
        replicates = self.ratios[:, one, F1] - self.ratios[:, other, F1]
        left_out = self._without_each(one, other)
        quantiles = tail_quantiles(self.plan.level, effective_units(left_out), strata)
        seen = f1[:, one] - f1[:, other]
        interval = bca_intervals(seen, replicates, acceleration(left_out, strata), quantiles)
        return seen, interval, self.p_values[one, other]

    @cached_property
    def p_values(self) -> Float64:
        """p of the difference in F1 of each two systems, shape (systems, systems, groups).

        It is NaN for a system and itself, and where the difference rests on a single unit.
        """
        groups, systems, _ = self.observed.shape
        found = np.full((systems, systems, groups), np.nan)
        for one, other in combinations(range(systems), 2):
            seen = self.observed[:, one, F1] - self.observed[:, other, F1]
            lone = np.isnan(self._without_each(one, other)).any(axis=-1)
            found[one, other] = found[other, one] = np.where(lone, np.nan, self._randomization(one, other, seen))
        return found

    def jackknife(self, one: int, other: int) -> JackknifedDifference:
        """Return F1 of a system less that of another with its standard error and degrees of freedom, (groups,) each."""
        seen = self.observed[:, one, F1] - self.observed[:, other, F1]
        return jackknife(seen, self._without_each(one, other), self.counted.units.strata)

    def _without_each(self, one: int, other: int) -> Float64:
        """Return the differences of F1 without each unit, shape (groups, units)."""
        return self.left_out[2][:, one] - self.left_out[2][:, other]

    def _randomization(self, one: int, other: int, seen: Float64) -> Float64:
        half = (self.totals[:, one] + self.totals[:, other])[..., None] / 2
        moved = (self.swaps[:, one] - self.swaps[:, other]).astype(np.float64) / 2
        under = (ratios(half + moved) - ratios(half - moved))[:, F1]
        # An undefined difference favours neither system: counting it as large keeps p from being too small.
        large = ~(np.abs(under) < np.abs(seen)[:, None] - RATIO_TOLERANCE)
        p = (large.sum(axis=-1) + 1) / (self.plan.resamples + 1)
        return np.where(np.isnan(seen), np.nan, p)


def interval_table(resampled: SystemResamples) -> pd.DataFrame:
    """Return a row for each group and system: INTERVAL_COLUMNS."""
    interval = resampled.interval()
    f1, replicates = resampled.observed[:, :, F1], resampled.ratios[:, :, F1]
    best = best_shares(replicates)
    units = resampled.counted.counts[:, :, 2:].any(axis=2).sum(axis=-1)
    rows: list[dict[str, Any]] = []
    for place, group in enumerate(resampled.counted.groups):
        places = ranks(f1[place])
        for number, system in enumerate(resampled.counted.systems):
            at = (place, number)
            row = {**group._asdict(), "system": system, "units": units[at]}
            row |= {"POS": resampled.totals[at][2], "ACT": resampled.totals[at][3]}
            for part, name in enumerate(RATIOS):
                row[name] = resampled.observed[at][part]
                row |= {f"{name}_low": interval.low[at][part], f"{name}_high": interval.high[at][part]}
            lone = lacks_interval(f1[at], interval.low[at][F1])
            row |= {"undefined": interval.undefined[at][F1], "rank": places[number]}
            row |= {
                "best": np.nan if lone else best[at],
                "why": resampled.counted.units.no_interval_note("F1") if lone else "",
            }
            rows.append(row)
    return typed_table(rows, INTERVAL_COLUMNS)


def difference_table(resampled: SystemResamples, baseline: str | None = None) -> pd.DataFrame:
    """Return a row for each group and system against the baseline, or, without one, for each pair of systems.

    Columns are DIFFERENCE_COLUMNS. In a pair the later system is compared with the earlier one.
    """
    systems = resampled.counted.systems
    if baseline is None:
        pairs = [(other, one) for one, other in combinations(range(len(systems)), 2)]
    else:
        base = systems.index(baseline)
        pairs = [(number, base) for number in range(len(systems)) if number != base]
    found = [resampled.difference(*pair) for pair in pairs]
    rows: list[dict[str, Any]] = []
    for place, group in enumerate(resampled.counted.groups):
        tested = [p[place] for _, _, p in found]
        adjusted = holm_correction(np.array(tested))
        tests = int((~np.isnan(tested)).sum())
        for (one, other), (seen, interval, p), corrected in zip(pairs, found, adjusted, strict=True):
            row = {**group._asdict(), "system": systems[one], "baseline": systems[other], "difference": seen[place]}
            row |= {name: end[place] for name, end in zip(ConfidenceIntervals._fields, interval, strict=True)}
            lone = lacks_interval(seen[place], interval.low[place])
            why = resampled.counted.units.no_interval_note("an F1") if lone else ""
            rows.append(row | {"p": p[place], "p_holm": corrected, "tests": tests, "why": why})
    return corrected_as_family(typed_table(rows, DIFFERENCE_COLUMNS))


def corrected_as_family(differences: pd.DataFrame) -> pd.DataFrame:
    """Return differences with `p_family` and `p_bh` over all of them: DIFFERENCE_COLUMNS."""
    p = differences["p"].to_numpy(np.float64)
    return differences.assign(p_family=holm_correction(p), p_bh=benjamini_hochberg(p))


def lead_table(resampled: SystemResamples) -> pd.DataFrame:
    """Return a row for each group in which several systems have an F1: LEAD_COLUMNS.

    Where several systems are next best, p is the greatest of their differences from the best.
    """
    pairs = list(combinations(range(len(resampled.counted.systems)), 2))
    tested = [resampled.p_values[pair] for pair in pairs]
    rows = []
    for place, group in enumerate(resampled.counted.groups):
        places = ranks(resampled.observed[place, :, F1])
        known = sorted(rank for rank in places if rank is not None)
        if len(known) < 2:
            continue
        best, following = places.index(1), known[1]
        adjusted = holm_correction(np.array([p[place] for p in tested]))
        apart = [
            p
            for pair, p in zip(pairs, adjusted, strict=True)
            if best in pair and {places[at] for at in pair} == {1, following}
        ]
        p_holm = np.nan if following == 1 else np.max(apart)
        rows.append({**group._asdict(), "system": resampled.counted.systems[best], "p_holm": p_holm})
    return typed_table(rows, LEAD_COLUMNS)


def by_type_tables(
    scored: Mapping[str, Scores], criterion: str, plan: ResamplingPlan, baseline: str, units: ResamplingUnits
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Return intervals, differences and leads of each type under one criterion."""
    whole = count_units_by_type(scored, criterion, units)
    step = max(1, COUNTS_AT_ONCE // max(1, len(scored) * 4 * max(plan.resamples, whole.counts.shape[-1])))
    parts: list[tuple[pd.DataFrame, ...]] = []
    for low in range(0, len(whole.groups), step):
        some = UnitCounts(whole.groups[low : low + step], whole.systems, whole.counts[low : low + step], units)
        resampled = SystemResamples(some, plan)
        parts.append((interval_table(resampled), difference_table(resampled, baseline), lead_table(resampled)))
    none = tuple(
        pd.DataFrame(columns=list(columns)) for columns in (INTERVAL_COLUMNS, DIFFERENCE_COLUMNS, LEAD_COLUMNS)
    )
    intervals, differences, leads = (
        pd.concat(tables, ignore_index=True) for tables in zip(*(parts or [none]), strict=True)
    )
    return intervals, corrected_as_family(differences), leads


def lacks_interval(value: float, low: float) -> bool:
    """Tell whether a defined figure has no interval, because it rests on a single unit."""
    return bool(np.isnan(low) and not np.isnan(value))


def best_shares(replicates: Float64) -> Float64:
    """Return the share of resamples in which no other system has a higher value, shape (groups, systems).

    `replicates` have the shape (groups, systems, resamples). Resamples in which no system has a value are left out; the
    share is NaN if none is left.
    """
    known = ~np.isnan(replicates)
    values = np.where(known, replicates, -np.inf)
    most = values.max(axis=1, keepdims=True, initial=-np.inf)
    some = known.any(axis=1, keepdims=True).sum(axis=-1)
    won = ((values >= most - RATIO_TOLERANCE) & known).sum(axis=-1)
    found = np.full(won.shape, np.nan)
    np.divide(won, some, out=found, where=some > 0)
    return found


def ranks(values: Float64) -> list[int | None]:
    """Return ranks by value, 1 for the highest; equal values share the better rank, NaN has none."""
    return [None if np.isnan(value) else 1 + int((values > value + RATIO_TOLERANCE).sum()) for value in values]


def are_significant(differences: pd.DataFrame, level: float) -> pd.Series[bool]:
    """Tell which rows of DIFFERENCE_COLUMNS or LEAD_COLUMNS are significant: p after Holm at most 1 - level."""
    return differences["p_holm"] <= round(1 - level, 12)
