"""Significance: tables of scores with intervals, of differences with tests, and of what a corpus can show.

Intervals are from the bias-corrected and accelerated bootstrap over units (documents, unless other `ResamplingUnits`
are given). A figure that rests on a single unit has neither interval nor test. Where F1 or another
figure is the same in all resamples it has no interval, and P and R have Wilson's; nor has the difference of two such
figures an interval. Tests are approximate randomization
(`SystemMeasure.p_value`). Holm's correction is over the tests of one table under one criterion (and of one type and
measure), and beside it over all tests of the table, as is that of Benjamini and Hochberg.

Power: the standard error of a difference is that of the delete-one jackknife over units. With t of Student's
distribution at the degrees of freedom of the effective units, a test at the level of the intervals finds a difference
of (t(97.5%) + t(80%)) standard errors in 80 of 100 such corpora; the error falls with the root of the number of units.
Two systems are as good as each other within a margin where both one-sided tests against the margin's ends say so
(Schuirmann 1987): their p is the larger of the two.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import stdtr, stdtrit

from nereval_core.analysis.bootstrap import COUNTS_AT_ONCE, F1, RATIOS
from nereval_core.analysis.comparison.measures import (
    SystemMeasure,
    SystemPairs,
    SystemResamples,
    UnitCounts,
    count_units_by_type,
    measured_systems,
)
from nereval_core.analysis.intervals import RATIO_TOLERANCE, lacks_interval, set_wilson_intervals
from nereval_core.analysis.multiple_tests import corrected_as_family, holm_correction, tested_table
from nereval_core.analysis.resampling_units import ResamplingPlan, ResamplingUnits
from nereval_core.corpus.arrays import Float64
from nereval_core.scoring import Scores
from nereval_core.scoring.count_tables import TEXT_DTYPE, Columns, typed_table

_KEYS = {"criterion": TEXT_DTYPE, "type": TEXT_DTYPE}
INTERVAL_COLUMNS: Columns = {
    **_KEYS,
    "system": TEXT_DTYPE,
    **dict.fromkeys(("units", "POS", "ACT"), "int64"),
    **{f"{name}{part}": "float64" for name in RATIOS for part in ("", "_low", "_high")},
    "undefined": "int64",
    "rank": "Int64",
    "best": "float64",
    "why": TEXT_DTYPE,
}
"""Columns of `interval_table` and their dtypes. `type` is NA for all types together; `units` is the number of units
with spans of gold or of the system; `undefined` is the number of resamples without an F1. `rank` is by F1, 1 is best,
equal systems share the better rank; `best` is the share of resamples in which no other system's F1 is higher. `why` is
the reason why F1 has no interval and no such share."""
DIFFERENCE_COLUMNS: Columns = {
    **_KEYS,
    "system": TEXT_DTYPE,
    "baseline": TEXT_DTYPE,
    **dict.fromkeys(("difference", "low", "high"), "float64"),
    "undefined": "int64",
    "p": "float64",
    "p_holm": "float64",
    "tests": "int64",
    "p_family": "float64",
    "p_bh": "float64",
    "why": TEXT_DTYPE,
}
"""Columns of `difference_table` and their dtypes: F1 of the system less that of the baseline, p before and after
Holm's correction over `tests` tests, those of the systems in one group; `p_family` and `p_bh` are corrected over all
tests of the table, by Holm and by Benjamini and Hochberg. `why` is the reason why the difference has no interval and no
test."""

LEAD_COLUMNS: Columns = {**_KEYS, "system": TEXT_DTYPE, "p_holm": "float64"}
"""Columns of `lead_table` and their dtypes: the best system, and the p of its difference from the next best after
Holm's correction over all pairs of systems; NaN where several are best, or where there is no test."""
_MEASURE_KEYS = dict.fromkeys(("criterion", "type", "measure", "system"), TEXT_DTYPE)
MEASURE_COLUMNS: Columns = {
    **_MEASURE_KEYS,
    **dict.fromkeys(("value", "low", "high"), "float64"),
    "undefined": "int64",
    "rank": "Int64",
    "why": TEXT_DTYPE,
}
"""Columns of the table of measures and their dtypes, named as in INTERVAL_COLUMNS. `criterion` is one of ours, or a
published scorer and its evaluation, `conlleval/phrase`."""
MEASURE_DIFFERENCE_COLUMNS: Columns = {
    **_MEASURE_KEYS,
    "baseline": TEXT_DTYPE,
    **dict.fromkeys(("difference", "low", "high"), "float64"),
    "undefined": "int64",
    **dict.fromkeys(("p", "p_holm"), "float64"),
    "tests": "int64",
    **dict.fromkeys(("p_family", "p_bh"), "float64"),
    "why": TEXT_DTYPE,
}
"""Columns of the table of their differences and their dtypes, named as in DIFFERENCE_COLUMNS. `tests` are those of one
measure under one criterion and of one type; `p_family` and `p_bh` are corrected over all rows."""
POWER = 0.8
POINT = 0.01
"""One point of F1."""
POWER_COLUMNS: Columns = {
    **dict.fromkeys(("criterion", "type", "system", "baseline"), TEXT_DTYPE),
    **dict.fromkeys(("difference", "error", "detectable"), "float64"),
    "units": "int64",
    "needed": "Int64",
    **dict.fromkeys(("margin", "p_equivalent"), "float64"),
}
"""Columns of `power_table` and their dtypes: F1 of the system less that of the baseline and its standard error, the
least difference that a test on this corpus finds in 80 of 100 cases, the units resampled, and those needed to find one
point of F1; p of the test that the difference lies within ± `margin`, NaN where no margin is given."""


ALL_OR_NONE = "F1 has no interval, P and R have Wilson's: all gold spans, or all predictions, are right or all wrong"
"""Why a row of `interval_table` has no interval of F1, other than that it rests on a single unit."""
NO_VARIANCE = "no interval: it is the same in all resamples, which does not make it certain"
NEITHER_VARIES = "no interval: each of the two is the same in all resamples, which does not make them certain"
"""Why another figure has no interval, and a difference."""


def interval_table(resampled: SystemResamples) -> pd.DataFrame:
    """Return a row for each group and system: INTERVAL_COLUMNS."""
    counted = resampled.counted
    n_units = counted.counts[:, :, 2:].any(axis=2).sum(axis=-1)
    best = best_shares(resampled.ratios[:, :, F1])
    rows: list[dict[str, Any]] = []
    for number, group in enumerate(counted.groups):
        value, low, high, undefined = resampled.estimate_ratios(number)
        rests_on_unit = list(map(lacks_interval, value[:, F1], low[:, F1]))
        is_certain = low[:, F1] == high[:, F1]
        set_wilson_intervals(low, high, resampled.totals[number], resampled.plan.level)
        f1_ranks = ranks(value[:, F1])
        for system, name in enumerate(counted.systems):
            pos, act = resampled.totals[number, system, 2:]
            row = {**group._asdict(), "system": name, "units": n_units[number, system], "POS": pos, "ACT": act}
            for ratio, ends in zip(RATIOS, zip(value[system], low[system], high[system], strict=True), strict=True):
                row |= dict(zip((ratio, f"{ratio}_low", f"{ratio}_high"), ends, strict=True))
            row |= {"undefined": undefined[system, F1], "rank": f1_ranks[system]}
            row["best"] = np.nan if rests_on_unit[system] else best[number, system]
            row["why"] = ALL_OR_NONE if is_certain[system] and not np.isnan(value[system, F1]) else ""
            if rests_on_unit[system]:
                row["why"] = counted.units.no_interval_note("F1")
            rows.append(row)
    return typed_table(rows, INTERVAL_COLUMNS)


def difference_table(resampled: SystemResamples, baseline: str | None = None) -> pd.DataFrame:
    """Return a row for each group and system against the baseline, or, without one, for each pair of systems.

    Columns are DIFFERENCE_COLUMNS. In a pair the later system is compared with the earlier one.
    """
    systems = resampled.counted.systems
    pairs = all_pairs(len(systems)) if baseline is None else baseline_pairs(systems, baseline)
    rows = (
        row
        for group, f1 in zip(resampled.counted.groups, resampled.f1, strict=True)
        for row in _difference_rows(f1, pairs, group._asdict(), "an F1")
    )
    return tested_table(rows, DIFFERENCE_COLUMNS, ("criterion", "type"))


def all_pairs(systems: int) -> list[tuple[int, int]]:
    """Return each system with each earlier one, by number."""
    return [(later, earlier) for earlier, later in combinations(range(systems), 2)]


def baseline_pairs(systems: Sequence[str], baseline: str) -> list[tuple[int, int]]:
    """Return each other system with the baseline, by number."""
    return [(number, systems.index(baseline)) for number, system in enumerate(systems) if system != baseline]


def _difference_rows(
    measure: SystemMeasure, pairs: SystemPairs, keys: Mapping[str, Any], figure: str
) -> Iterator[dict[str, Any]]:
    """Yield the difference of each pair of systems with its interval and p, before any correction."""
    if not pairs:
        return
    counted = measure.resampled.counted
    is_constant = np.ptp(measure.values.resampled, axis=-1) <= RATIO_TOLERANCE
    columns = zip(*measure.differences(pairs), strict=True)
    for (system, baseline), (difference, low, high, undefined) in zip(pairs, columns, strict=True):
        why = counted.units.no_interval_note(figure) if lacks_interval(difference, low) else ""
        if is_constant[system] and is_constant[baseline]:
            low, high, why = np.nan, np.nan, NEITHER_VARIES
        yield {
            **keys,
            "system": counted.systems[system],
            "baseline": counted.systems[baseline],
            "difference": difference,
            "low": low,
            "high": high,
            "undefined": undefined,
            "p": measure.p_value(system, baseline),
            "why": why,
        }


def lead_table(resampled: SystemResamples) -> pd.DataFrame:
    """Return a row for each group in which several systems have an F1: LEAD_COLUMNS.

    Where several systems are next best, p is the greatest of their differences from the best.
    """
    systems = resampled.counted.systems
    pairs = list(combinations(range(len(systems)), 2))
    rows = []
    for group, f1 in zip(resampled.counted.groups, resampled.f1, strict=True):
        f1_ranks = ranks(f1.values.observed[:, 0])
        in_order = sorted(rank for rank in f1_ranks if rank is not None)
        if len(in_order) < 2:
            continue
        best, following = f1_ranks.index(1), in_order[1]
        p_holm = np.nan
        if following != 1:
            corrected = holm_correction(np.array([f1.p_value(*pair) for pair in pairs]))
            against_next = [best in pair and {f1_ranks[system] for system in pair} == {1, following} for pair in pairs]
            p_holm = np.max(corrected[against_next])
        rows.append({**group._asdict(), "system": systems[best], "p_holm": p_holm})
    return typed_table(rows, LEAD_COLUMNS)


def by_type_tables(
    systems: Mapping[str, Scores], criterion: str, plan: ResamplingPlan, baseline: str | None, units: ResamplingUnits
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Return intervals, differences and leads of each type under one criterion.

    Differences are from the baseline, or, without one, of each pair of systems.
    """
    return group_tables(count_units_by_type(systems, criterion, units), plan, baseline)


def group_tables(
    whole: UnitCounts, plan: ResamplingPlan, baseline: str | None = None
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Return intervals, differences and leads of each group, resampled a few groups at a time."""
    systems, units = whole.systems, whole.units
    step = max(1, COUNTS_AT_ONCE // max(1, len(systems) * 4 * max(plan.resamples, whole.counts.shape[-1])))
    parts: list[tuple[pd.DataFrame, ...]] = []
    for low in range(0, len(whole.groups), step):
        part = UnitCounts(whole.groups[low : low + step], whole.systems, whole.counts[low : low + step], units)
        resampled = SystemResamples(part, plan)
        parts.append((interval_table(resampled), difference_table(resampled, baseline), lead_table(resampled)))
    empty = tuple(typed_table([], columns) for columns in (INTERVAL_COLUMNS, DIFFERENCE_COLUMNS, LEAD_COLUMNS))
    intervals, differences, leads = (
        pd.concat(tables, ignore_index=True) for tables in zip(*(parts or [empty]), strict=True)
    )
    return intervals, corrected_as_family(differences), leads


def measure_tables(
    systems: Mapping[str, Scores],
    criteria: Sequence[str],
    measures: Sequence[str],
    baseline: str | None,
    plan: ResamplingPlan,
    units: ResamplingUnits,
    *,
    by_type: bool = False,
    scorers: Sequence[str] = (),
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return a row for each criterion, type, measure and system, MEASURE_COLUMNS, and MEASURE_DIFFERENCE_COLUMNS.

    `measures` are some of MEASURES; differences are to the baseline, or, without one, of each pair. `scorers` are
    published ones as `scorer_counts` takes them, of which those of `measures` that are not macro averages are given, by
    default F1.

    Raises:
        FormatError: a scorer that cannot score these data, or figures that are not made of counts of documents.
    """
    pairs = all_pairs(len(systems)) if baseline is None else baseline_pairs(tuple(systems), baseline)
    rows: list[dict[str, Any]] = []
    difference_rows: list[dict[str, Any]] = []
    for group, name, measure in measured_systems(
        systems, criteria, measures, plan, units, by_type=by_type, scorers=scorers
    ):
        keys = {**group._asdict(), "measure": name}
        estimates = measure.estimates()
        for system, rank, value, low, high, undefined in zip(systems, ranks(estimates.value), *estimates, strict=True):
            why = units.no_interval_note(name) if lacks_interval(value, low) else ""
            if low == high:
                low, high, why = np.nan, np.nan, NO_VARIANCE
            row = {**keys, "system": system, "value": value, "low": low, "high": high, "undefined": undefined}
            rows.append(row | {"rank": rank, "why": why})
        difference_rows += _difference_rows(measure, pairs, keys, f"a {name}")
    differences = tested_table(difference_rows, MEASURE_DIFFERENCE_COLUMNS, ("criterion", "type", "measure"))
    return typed_table(rows, MEASURE_COLUMNS), differences


def power_table(resampled: SystemResamples, baseline: str, margin: float | None = None) -> pd.DataFrame:
    """Return a row for each group and system other than the baseline: POWER_COLUMNS."""
    systems, units = resampled.counted.systems, resampled.counted.counts.shape[-1]
    tail = (1 + resampled.plan.level) / 2
    rows: list[dict[str, Any]] = []
    for pair in baseline_pairs(systems, baseline):
        jackknifed = zip(*resampled.jackknife(*pair), strict=True)
        for group, (difference, error, freedom) in zip(resampled.counted.groups, jackknifed, strict=True):
            detectable = (stdtrit(freedom, tail) + stdtrit(freedom, POWER)) * error
            needed = units * (detectable / POINT) ** 2
            row = {**group._asdict(), "system": systems[pair[0]], "baseline": baseline, "units": units}
            row |= {"difference": difference, "error": error, "detectable": detectable, "margin": margin}
            row["needed"] = None if np.isnan(needed) else int(np.ceil(needed))
            row["p_equivalent"] = np.nan if margin is None else equivalence_p(difference, error, freedom, margin)
            rows.append(row)
    return typed_table(rows, POWER_COLUMNS)


def equivalence_p(difference: float, error: float, freedom: float, margin: float) -> float:
    """Return p of two one-sided tests that a difference lies within ± margin; NaN where the error is."""
    if not error > 0:
        return np.nan if np.isnan(error) else float(abs(difference) >= margin)
    return float(stdtr(freedom, (abs(difference) - margin) / error))


def best_shares(replicates: Float64) -> Float64:
    """Return the share of resamples in which no other system has a higher value, shape (groups, systems).

    `replicates` have the shape (groups, systems, resamples). Resamples in which no system has a value are left out; the
    share is NaN if none is left.
    """
    is_defined = ~np.isnan(replicates)
    values = np.where(is_defined, replicates, -np.inf)
    highest = values.max(axis=1, keepdims=True, initial=-np.inf)
    n_defined = is_defined.any(axis=1, keepdims=True).sum(axis=-1)
    n_best = ((values >= highest - RATIO_TOLERANCE) & is_defined).sum(axis=-1)
    shares = np.full(n_best.shape, np.nan)
    np.divide(n_best, n_defined, out=shares, where=n_defined > 0)
    return shares


def ranks(values: Float64) -> list[int | None]:
    """Return ranks by value, 1 for the highest; equal values share the better rank, NaN has none."""
    return [None if np.isnan(value) else 1 + int((values > value + RATIO_TOLERANCE).sum()) for value in values]
