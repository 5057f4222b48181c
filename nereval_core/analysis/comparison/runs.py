"""Several runs of a system, from other seeds say: means of F1, with intervals and tests over units and runs together.

The mean m of the F1s of R runs varies with the units drawn for a corpus and with the runs drawn for a system. Let A be
the variance that units give all runs alike, B that of runs whatever the units, and C that of runs unit by unit: then
Var(m) = A + (B + C) / R. Three figures estimate them:

- D, the variance of m by the delete-one jackknife over units, estimates A + C / R;
- s², the variance of the F1s of the runs, estimates B + C;
- W, the sum over the runs of the jackknife variance of (F1 of the run - m), over R - 1, estimates C.

So Var(m) = D + max(0, s² - W) / R, never below D. For the difference of two systems, whose runs have nothing to do with
one another, D is the jackknife variance of the difference of their means over the same units, and each system adds its
own term. Degrees of freedom of Student's t are those of Satterthwaite (1946), from D with the effective units and from
each s² / R that adds to D with R - 1. A system with one run adds nothing but its part of D.

Dorfman, Berbaum and Metz 1992, Investigative Radiology 27 (9): readers and cases drawn together, by the jackknife.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from nereval_core.analysis.bootstrap import F1, RATIOS
from nereval_core.analysis.comparison.measures import SystemResamples
from nereval_core.analysis.comparison.significance import ranks
from nereval_core.analysis.intervals import JackknifedDifference, jackknife, lacks_interval
from nereval_core.analysis.multiple_tests import tested_table
from nereval_core.analysis.sentences import name_list
from nereval_core.corpus.arrays import Float64
from nereval_core.problems import FormatError, Problem, quoted
from nereval_core.scoring.count_tables import TEXT_DTYPE, Columns, free_name, typed_table

RUN_COLUMNS: Columns = {
    **dict.fromkeys(("criterion", "system"), TEXT_DTYPE),
    "runs": "int64",
    **{f"{name}{part}": "float64" for name in RATIOS for part in ("", "_sd", "_best", "_worst")},
    **dict.fromkeys(("f1_low", "f1_high", "error", "freedom"), "float64"),
    "rank": "Int64",
    "why": TEXT_DTYPE,
}
"""Columns of the table of means over runs and their dtypes: each ratio's mean, standard deviation (n - 1; NaN of one
run), highest and lowest value; the interval of the mean F1, its standard error and degrees of freedom."""
RUN_DIFFERENCE_COLUMNS: Columns = {
    **dict.fromkeys(("criterion", "system", "baseline"), TEXT_DTYPE),
    **dict.fromkeys(("difference", "low", "high", "error", "freedom", "p", "p_holm"), "float64"),
    "tests": "int64",
    **dict.fromkeys(("p_family", "p_bh"), "float64"),
    "why": TEXT_DTYPE,
}
"""Columns of the table of differences of mean F1 to the baseline and their dtypes, named as in DIFFERENCE_COLUMNS."""


@dataclass(frozen=True, eq=False)
class RunComparison:
    """The comparison of systems by the means of their runs.

    `systems` are the names of the runs of each system, `means` has RUN_COLUMNS, `differences` has
    RUN_DIFFERENCE_COLUMNS, `notes` name systems with a single run.
    """

    systems: Mapping[str, tuple[str, ...]]
    baseline: str
    means: pd.DataFrame
    differences: pd.DataFrame
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class MeanF1:
    """The mean F1 over some runs and what its variance is made of, shape (groups,) each; `left_out` (groups, units)."""

    runs: int
    mean: Float64
    left_out: Float64
    spread: Float64
    """s² / R, 0 where `surplus` is 0."""
    surplus: Float64
    """max(0, s² - W) / R."""


def group_runs(names: Iterable[str], runs: Mapping[str, Sequence[str]]) -> dict[str, tuple[str, ...]]:
    """Return the runs of each system, in the order of `names`; one that is not a run is a system of one run.

    Raises:
        FormatError: a run that is not among the names or is named twice, a system without runs, or one called as
            another is.
    """
    names = list(names)
    all_runs = [run for own_runs in runs.values() for run in own_runs]
    names_by_fault = {
        "no run": [system for system, own_runs in runs.items() if not own_runs],
        "not among the systems": [run for run in all_runs if run not in names],
        "a run twice": sorted({run for run in all_runs if all_runs.count(run) > 1}),
        "also the name of another system": [name for name in runs if name in names and name not in runs[name]],
    }
    if runs and all(len(set(own_runs)) == 1 for own_runs in runs.values()):
        names_by_fault["one run, and means need two or more of a system"] = list(runs)
    problems = [(name, fault) for fault, faulty in names_by_fault.items() for name in faulty]
    if problems:
        remedy = "name each run of a system once, as the systems are called: runs={'a': ['a-1', 'a-2']}"
        raise FormatError(Problem("runs", None, f"{quoted(name)}: {fault}", remedy) for name, fault in problems)
    system_of = {run: system for system, own_runs in runs.items() for run in own_runs}
    return {system: tuple(runs.get(system, (system,))) for system in (system_of.get(name, name) for name in names)}


def suggest_runs(names: Iterable[str]) -> list[tuple[str, ...]]:
    """Return the names that differ in their last number only, as runs of one system: `bert-1` and `bert_seed42`."""
    runs_of_stem: dict[str, list[str]] = {}
    for name in names:
        if (stem := _stem(name)) != name:
            runs_of_stem.setdefault(stem, []).append(name)
    return [tuple(runs) for runs in runs_of_stem.values() if len(runs) > 1]


def name_runs(runs: Sequence[str], names: Collection[str]) -> str:
    """Return a name of a system that is not among `names`: what its runs' names share, else all of them."""
    stems = {_stem(run) for run in runs}
    return free_name(stems.pop() if len(stems) == 1 else " + ".join(runs), names)


def _stem(name: str) -> str:
    """Return a name without a number at its end, nor what stands before that: `-`, `_seed`, `.run`."""
    return re.sub(r"(?<=\w)[\W_]*(seed|run)?[\W_]*\d+$", "", name, flags=re.IGNORECASE)


def compare_runs(resampled: SystemResamples, systems: Mapping[str, Sequence[str]], baseline: str) -> RunComparison:
    """Compare systems by the means of their runs, which are systems of `resampled`."""
    number_of_run = {name: number for number, name in enumerate(resampled.counted.systems)}
    runs = {system: [number_of_run[run] for run in own_runs] for system, own_runs in systems.items()}
    means = {system: mean_f1(resampled, numbers) for system, numbers in runs.items()}
    lone = [system for system, own_runs in systems.items() if len(own_runs) == 1]
    notes: tuple[str, ...] = ()
    if lone:
        each = " each" if len(lone) > 1 else ""
        notes = (
            f"of {name_list(lone)} there is a single run{each}: nothing is known of the variation between runs, and "
            f"intervals and tests allow for that of {resampled.counted.units.plural} alone there",
        )
    return RunComparison(
        {system: tuple(own_runs) for system, own_runs in systems.items()},
        baseline,
        _mean_table(resampled, runs, means),
        _difference_table(resampled, means, baseline),
        notes,
    )


def mean_f1(resampled: SystemResamples, runs: Sequence[int]) -> MeanF1:
    """Return the mean F1 of some systems of `resampled`, the runs of one system."""
    f1 = resampled.observed[:, runs, F1]
    left_out = np.stack([measure.values.left_out[runs] for measure in resampled.f1])
    mean, mean_left_out = f1.mean(axis=1), left_out.mean(axis=1)
    n_runs, zero = len(runs), np.zeros(len(f1))
    if n_runs == 1:
        return MeanF1(1, mean, mean_left_out, zero, zero)
    strata = resampled.counted.units.strata
    variance = f1.var(axis=1, ddof=1)
    deviations = (jackknife(f1[:, run] - mean, left_out[:, run] - mean_left_out, strata) for run in range(n_runs))
    by_unit = sum((deviation.error**2 for deviation in deviations), zero) / (n_runs - 1)
    surplus = np.maximum(variance - by_unit, 0) / n_runs
    return MeanF1(n_runs, mean, mean_left_out, np.where(surplus > 0, variance / n_runs, 0), surplus)


def estimate(resampled: SystemResamples, mean: MeanF1, baseline: MeanF1 | None = None) -> JackknifedDifference:
    """Return a mean, or a mean less the baseline's, with its standard error over units and runs, shape (groups,)."""
    parts = [mean] if baseline is None else [mean, baseline]
    value, left_out = mean.mean, mean.left_out
    if baseline is not None:
        value, left_out = value - baseline.mean, left_out - baseline.left_out
    of_units = jackknife(value, left_out, resampled.counted.units.strata)
    variance = of_units.error**2 + sum(part.surplus for part in parts)
    below = of_units.error**4 / of_units.freedom
    below = below + sum(part.spread**2 / (part.runs - 1) for part in parts if part.runs > 1)
    freedom = np.ones(len(value))
    np.divide(variance**2, below, out=freedom, where=below > 0)
    return JackknifedDifference(value, np.sqrt(variance), freedom)


def _mean_table(
    resampled: SystemResamples, runs: Mapping[str, Sequence[int]], means: Mapping[str, MeanF1]
) -> pd.DataFrame:
    units, rows = resampled.counted.units, []
    estimates = {system: estimate(resampled, mean) for system, mean in means.items()}
    ends = {system: mean.interval(resampled.plan.level) for system, mean in estimates.items()}
    for group, (criterion, _) in enumerate(resampled.counted.groups):
        order = ranks(np.array([mean.difference[group] for mean in estimates.values()]))
        for (system, mean), rank in zip(estimates.items(), order, strict=True):
            values = resampled.observed[group, runs[system]]
            row: dict[str, Any] = {"criterion": criterion, "system": system, "runs": len(values), "rank": rank}
            sd = values.std(axis=0, ddof=1) if len(values) > 1 else np.full(len(RATIOS), np.nan)
            parts = {"": values.mean(axis=0), "_sd": sd, "_best": values.max(axis=0), "_worst": values.min(axis=0)}
            row |= {f"{ratio}{part}": column[at] for part, column in parts.items() for at, ratio in enumerate(RATIOS)}
            low, high = (end[group] for end in ends[system])
            row |= {"f1_low": np.maximum(low, 0), "f1_high": high}
            row |= {"error": mean.error[group], "freedom": mean.freedom[group]}
            row["why"] = units.no_interval_note("F1") if lacks_interval(row["f1"], low) else ""
            rows.append(row)
    return typed_table(rows, RUN_COLUMNS)


def _difference_table(resampled: SystemResamples, means: Mapping[str, MeanF1], baseline: str) -> pd.DataFrame:
    units, rows = resampled.counted.units, []
    for system, mean in means.items():
        if system == baseline:
            continue
        differences = estimate(resampled, mean, means[baseline])
        # What rests on one unit has no error, and no test.
        p = np.where(np.isnan(differences.error), np.nan, differences.p_values())
        columns = (*differences, *differences.interval(resampled.plan.level), p)
        for (criterion, _), *numbers in zip(resampled.counted.groups, *columns, strict=True):
            row = {"criterion": criterion, "system": system, "baseline": baseline, "why": ""}
            row |= dict(zip(("difference", "error", "freedom", "low", "high", "p"), numbers, strict=True))
            if lacks_interval(row["difference"], row["low"]):
                row["why"] = units.no_interval_note("an F1")
            elif lacks_interval(row["difference"], row["p"]):
                row["why"] = (
                    f"no test: the difference is the same whichever {units.singular} is left out, and in every run"
                )
            rows.append(row)
    # All systems under the first criterion come first.
    criteria = [criterion for criterion, _ in resampled.counted.groups]
    rows.sort(key=lambda row: criteria.index(row["criterion"]))
    return tested_table(rows, RUN_DIFFERENCE_COLUMNS, ("criterion",))
