"""Measures of systems in resamples: precision, recall and F1 over all spans or of a type, and their macro averages.

They are those of our criteria or of a published scorer. All measures, systems and criteria share the resamples and the
swaps, so that differences are paired and can be set beside one another. A macro average is the mean over the types
where the ratio is defined, in each resample anew.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from nereval_core.analysis.bootstrap import (
    F1,
    RATIOS,
    Bootstrap,
    ResampledValues,
    Sums,
    bootstrap_sums,
    leave_one_out,
    mean_of_defined,
    ratios,
    swap_sums,
)
from nereval_core.analysis.comparison.unit_counts import (
    ComparisonGroup,
    UnitCounts,
    count_units,
    count_units_by_type,
    scorer_counts,
)
from nereval_core.analysis.intervals import RATIO_TOLERANCE, Estimates, JackknifedDifference, jackknife
from nereval_core.analysis.resampling_units import ResamplingPlan, ResamplingUnits
from nereval_core.arrays import Array, Float64
from nereval_core.problems import FormatError, quoted
from nereval_core.scoring import Scores

MACRO = "macro-"
MEASURES = ("f1", "precision", "recall", f"{MACRO}f1", f"{MACRO}precision", f"{MACRO}recall")
SystemPairs = Sequence[tuple[int, int]]
"""Pairs of systems by number: the second is taken from the first."""


@dataclass(frozen=True, eq=False)
class SystemResamples:
    """The counts of all systems in resamples and under random swaps, computed on first use."""

    counted: UnitCounts
    plan: ResamplingPlan

    @property
    def bootstrap(self) -> Bootstrap:
        """The bootstrap that the resamples are of."""
        return Bootstrap(self.plan, self.counted.units)

    @cached_property
    def totals(self) -> Sums:
        """Sums over all units, shape (groups, systems, 4)."""
        totals: Sums = self.counted.counts.sum(axis=-1, dtype=np.int64).astype(np.float64)
        return totals

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
    def f1(self) -> tuple[SystemMeasure, ...]:
        """F1 of each group."""
        return tuple(SystemMeasure(self, F1, group) for group in range(len(self.counted.groups)))

    def estimate_ratios(self, group: int) -> Estimates:
        """Return precision, recall and F1 of a group with their intervals, shape (systems, 3) each."""
        left_out = ratios(leave_one_out(self.counted.counts[group]))
        shape = left_out.shape[:2]
        values = (self.observed[group][..., None], left_out, self.ratios[group])
        rows = ResampledValues(*(column.reshape(shape[0] * shape[1], column.shape[-1]) for column in values))
        value, low, high, undefined = self.bootstrap.estimate(rows)
        return Estimates(value.reshape(shape), low.reshape(shape), high.reshape(shape), undefined.reshape(shape))

    def jackknife(self, system: int, baseline: int) -> JackknifedDifference:
        """Return F1 of a system less that of another with its standard error and degrees of freedom, (groups,) each."""
        differences = self.observed[:, system, F1] - self.observed[:, baseline, F1]
        left_out = [f1.values.left_out[system] - f1.values.left_out[baseline] for f1 in self.f1]
        return jackknife(differences, np.stack(left_out), self.counted.units.strata)


@dataclass(frozen=True, eq=False)
class SystemMeasure:
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
        # The three ratios of all systems without each of many units would need too much memory at once.
        left_out = np.stack([self._measure(leave_one_out(counts[:, system])) for system in range(counts.shape[1])])
        observed = self._measure(self.resampled.totals[self._groups, ..., None])
        return ResampledValues(observed, left_out, self._mean(self.resampled.ratios[self._groups, :, self.ratio]))

    def estimates(self) -> Estimates:
        """Return the measure of each system with its interval."""
        return self.resampled.bootstrap.estimate(self.values)

    def differences(self, pairs: SystemPairs) -> Estimates:
        """Return the differences of pairs of systems with their intervals."""
        return self.resampled.bootstrap.estimate(self._differences(pairs))

    def p_value(self, system: int, baseline: int) -> float:
        """Return p of the difference of two systems by approximate randomization; NaN if it rests on a single unit.

        The two swap the counts of each unit at random: p = (number of swaps in which the difference is at least as
        large + 1) / (resamples + 1). It is the same for either order of the two, and computed once.
        """
        pair = frozenset((system, baseline))
        if pair not in self._p_values:
            self._p_values[pair] = self._randomization(system, baseline)
        return self._p_values[pair]

    @cached_property
    def _p_values(self) -> dict[frozenset[int], float]:
        return {}

    def _randomization(self, system: int, baseline: int) -> float:
        observed, left_out = (values[system] - values[baseline] for values in self.values[:2])
        if np.isnan(observed).any() or np.isnan(left_out).any():
            return np.nan
        totals, swaps = self.resampled.totals[self._groups], self.resampled.swaps[self._groups]
        half = (totals[:, system] + totals[:, baseline])[..., None] / 2
        moved = (swaps[:, system] - swaps[:, baseline]).astype(np.float64) / 2
        swapped = self._measure(half + moved) - self._measure(half - moved)
        # An undefined difference favours neither system: counting it as large keeps p from being too small.
        n_large = int((~(np.abs(swapped) < np.abs(observed) - RATIO_TOLERANCE)).sum())
        return (n_large + 1) / (self.resampled.plan.resamples + 1)

    def _differences(self, pairs: SystemPairs) -> ResampledValues:
        return self.values.differences([system for system, _ in pairs], [baseline for _, baseline in pairs])

    def _measure(self, sums: Array) -> Float64:
        """Return the measure of sums, shape (groups, ..., 4, n) to (..., n)."""
        return self._mean(ratios(sums)[..., self.ratio, :])

    def _mean(self, values: Float64) -> Float64:
        """Return the mean over groups, shape (groups, ..., n) to (..., n)."""
        return mean_of_defined(values) if self.group is None else values[0]


def check_measures(names: Sequence[str]) -> None:
    """Check the names of measures.

    Raises:
        FormatError: with each that is not one of MEASURES.
    """
    if wrong := [quoted(name) for name in names if name not in MEASURES]:
        raise FormatError.single(
            "--measures", None, f"no measure {', '.join(wrong)}", f"choose among {', '.join(MEASURES)}"
        )


def measured_systems(
    systems: Mapping[str, Scores],
    criteria: Sequence[str],
    measures: Sequence[str],
    plan: ResamplingPlan,
    units: ResamplingUnits,
    *,
    by_type: bool,
    scorers: Sequence[str],
) -> Iterator[tuple[ComparisonGroup, str, SystemMeasure]]:
    """Yield measures under criteria, then those of published scorers (by default F1), each with its group and name.

    Raises:
        FormatError: a scorer that cannot score these data, or figures that are not made of counts of documents.
    """
    for criterion in criteria if measures else ():
        # The types of one criterion are held at a time.
        whole = SystemResamples(count_units(systems, [criterion], units), plan)
        types = SystemResamples(count_units_by_type(systems, criterion, units), plan)
        for measure in measures:
            if measure.startswith(MACRO):
                ratio = RATIOS.index(measure.removeprefix(MACRO))
                yield ComparisonGroup(criterion), measure, SystemMeasure(types, ratio)
            else:
                yield from _of_groups(whole, measure)
                yield from _of_groups(types, measure) if by_type else ()
    for name in scorers:
        resampled = SystemResamples(scorer_counts(systems, name, units, by_type=by_type), plan)
        for measure in [measure for measure in measures if not measure.startswith(MACRO)] or [RATIOS[F1]]:
            yield from _of_groups(resampled, measure)


def _of_groups(resampled: SystemResamples, measure: str) -> Iterator[tuple[ComparisonGroup, str, SystemMeasure]]:
    """Yield a measure of each group by itself."""
    for number, group in enumerate(resampled.counted.groups):
        yield group, measure, SystemMeasure(resampled, RATIOS.index(measure), number)
