"""Comparison of systems: scores with intervals, differences, ranks under each criterion, and sentences about them.

On the thirteen English runs of HIPE-2020 the order and the F1s by `strict`, with types merged whatever their case, are
the published ones to three places.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from nereval_core.analysis.bootstrap import FEW_UNITS
from nereval_core.analysis.comparison.measures import (
    SystemResamples,
    check_measures,
    check_scorers,
    count_units,
)
from nereval_core.analysis.comparison.runs import RunComparison, compare_runs, group_runs
from nereval_core.analysis.comparison.significance import (
    by_type_tables,
    difference_table,
    interval_table,
    lead_table,
    measure_tables,
    power_table,
)
from nereval_core.analysis.intervals import RATIO_TOLERANCE
from nereval_core.analysis.multiple_tests import are_significant, corrected_as_family
from nereval_core.analysis.resampling_units import ResamplingPlan, ResamplingUnits, document_units
from nereval_core.analysis.sentences import (
    has_or_have,
    holm_in_words,
    interval_in_words,
    name_list,
    percent_of_resamples,
)
from nereval_core.options import check_margin
from nereval_core.problems import counted
from nereval_core.report.displayed import Displayed
from nereval_core.report.signature import signature
from nereval_core.scoring import Scores
from nereval_core.scoring.count_tables import TEXT_DTYPE, Columns, typed_table
from nereval_core.scoring.protocols import CountedScores
from nereval_core.tables import p_value_sentence

TAU_COLUMNS: Columns = {"criterion": TEXT_DTYPE, "other": TEXT_DTYPE, "tau": "float64"}
"""Columns of `tau_table` and their dtypes."""
SYSTEMS, PAIRS = "systems", "pairs of systems"
"""What Holm's correction is over: the systems that are compared with the baseline, or all pairs of systems."""
MOST_NAMED = 4
"""Systems that a sentence on a ranking names; of more it says the number, as the figure shows which."""


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Displayed):
    """The comparison of some systems.

    Its tables have INTERVAL_COLUMNS, DIFFERENCE_COLUMNS, TAU_COLUMNS and POWER_COLUMNS. `measures` and
    `measure_differences` have MEASURE_COLUMNS and MEASURE_DIFFERENCE_COLUMNS, and are empty if none were requested.

    Rows with a type follow those of all types together. `differences` are to the baseline. `pairs` are the differences
    of all pairs of systems over all types, and empty if they were not requested or there are fewer than three systems.
    `leads` has LEAD_COLUMNS, whether the best system is significantly better than the next.
    `runs` is the comparison of systems of several runs by their means, each run being a system of the other tables;
    None where no system has several. `words` are sentences about the tables, of the means where there are runs;
    `warnings` are about the reliability of intervals.
    """

    scores: Mapping[str, CountedScores]
    plan: ResamplingPlan
    units: ResamplingUnits
    baseline: str
    intervals: pd.DataFrame
    differences: pd.DataFrame
    pairs: pd.DataFrame
    leads: pd.DataFrame
    taus: pd.DataFrame
    power: pd.DataFrame
    measures: pd.DataFrame
    measure_differences: pd.DataFrame
    words: tuple[str, ...]
    warnings: tuple[str, ...] = ()
    runs: RunComparison | None = None

    def resamples(self, names: Sequence[str]) -> SystemResamples:
        """Return the resamples of all systems under some criteria, drawn by the same plan."""
        return SystemResamples(count_units(self.scores, names, self.units), self.plan)

    @property
    def criteria(self) -> list[str]:
        """The names of the criteria compared under."""
        names: list[str] = self.intervals["criterion"].unique().tolist()
        return names

    @property
    def signatures(self) -> dict[str, dict[str, str]]:
        """The signatures of each system by criterion."""
        intervals = self.units.signature(self.plan)
        return {
            name: {each: signature(scores, each, intervals=intervals) for each in self.criteria}
            for name, scores in self.scores.items()
        }

    @property
    def all_pairs(self) -> pd.DataFrame:
        """The differences of all pairs of systems over all types, which of two are those from the baseline."""
        return self.pairs if len(self.scores) > 2 else self.differences[self.differences["type"].isna()]

    @property
    def family(self) -> str:
        """The tests of `differences`, over all of which `p_family` and `p_bh` are corrected: number and parts."""
        if self.corrected_over == SYSTEMS:
            return self._family(self.differences)
        tested = self.all_pairs[self.all_pairs["p"].notna()]
        n_criteria, pairs = tested["criterion"].nunique(), int(tested["tests"].max())
        criteria = f"{n_criteria} {'criterion' if n_criteria == 1 else 'criteria'}"
        return f"{counted(len(tested), 'test')}: {pairs} {PAIRS}, {criteria}"

    @property
    def corrected_over(self) -> str:
        """What p of `differences` is corrected over: SYSTEMS, or PAIRS after `against`."""
        return PAIRS if self.differences["tests"].max() > len(self.scores) - 1 else SYSTEMS

    @property
    def system_differences(self) -> pd.DataFrame:
        """The differences of systems over all types: of their means, where there are several runs of one."""
        return self.differences[self.differences["type"].isna()] if self.runs is None else self.runs.differences

    @property
    def measure_family(self) -> str:
        """The same of the tests of `measure_differences`."""
        rows = self.measure_differences
        numbers = rows["criterion"].nunique(), rows["measure"].nunique()
        n_both = len(rows.drop_duplicates(["criterion", "measure"]))
        # Published scorers have fewer measures than criteria.
        if n_both < np.prod(numbers):
            return self._family(rows, under=f"{n_both} measures of {numbers[0]} criteria and scorers")
        return self._family(rows, counted(numbers[1], "measure"))

    @property
    def run_family(self) -> str:
        """The same of the tests of `runs`, empty where there are none."""
        return "" if self.runs is None else self._family(self.runs.differences)

    def _family(self, differences: pd.DataFrame, *more: str, under: str = "") -> str:
        tested = differences[differences["p"].notna()]
        without = counted(len(differences) - len(tested), "difference")
        untested = f"; {without} could not be tested" if len(differences) > len(tested) else ""
        criteria, kinds = tested["criterion"].nunique(), differences.get("type", pd.Series()).nunique()
        baseline = next(iter(differences["baseline"]), self.baseline)
        parts = [
            f"{counted(tested['system'].nunique(), 'system')} against {baseline}",
            under or f"{criteria} {'criterion' if criteria == 1 else 'criteria'}",
        ]
        parts += [f"{counted(kinds, 'type')} and all together"] if kinds else []
        return f"{counted(len(tested), 'test')}: {', '.join([*parts, *more])}{untested}"

    def to_frame(self) -> pd.DataFrame:
        """Return `intervals`."""
        return self.intervals

    def displayed_frame(self) -> pd.DataFrame:
        """Return F1 with its interval, of the systems under each criterion."""
        table = self.intervals[["criterion", "type", "system", "f1", "f1_low", "f1_high", "best"]]
        return table.dropna(axis="columns", how="all")


def against(comparison: Comparison, baseline: str) -> Comparison:
    """Return a comparison of all pairs of systems with another baseline, without resampling anew.

    `differences` are then rows of `all_pairs`, with p corrected over all pairs under a criterion. `words` and `power`
    stay those of the first baseline.

    Raises:
        ValueError: the baseline is not among the systems.
    """
    if baseline not in comparison.scores:
        raise ValueError(f"{baseline} is not a system of this comparison")
    return replace(comparison, baseline=baseline, differences=oriented(comparison.all_pairs, baseline))


def oriented(pairs: pd.DataFrame, baseline: str) -> pd.DataFrame:
    """Return the rows of DIFFERENCE_COLUMNS that have this system on either side, as differences from it."""
    rows = pairs[(pairs["system"].eq(baseline) | pairs["baseline"].eq(baseline)).to_numpy()].reset_index(drop=True)
    is_turned = rows["system"].eq(baseline).to_numpy()
    turned = {
        "system": rows["baseline"],
        "baseline": rows["system"],
        "difference": -rows["difference"],
        "low": -rows["high"],
        "high": -rows["low"],
    }
    return rows.assign(**{name: rows[name].mask(is_turned, column) for name, column in turned.items()})


def compare_scores(
    scores: Mapping[str, CountedScores],
    *,
    names: Sequence[str] = (),
    baseline: str | None = None,
    plan: ResamplingPlan | None = None,
    units: ResamplingUnits | None = None,
    by_type: bool = False,
    pairwise: bool = True,
    margin: float | None = None,
    measures: Sequence[str] = (),
    runs: Mapping[str, Sequence[str]] | None = None,
    scorers: Sequence[str] = (),
) -> Comparison:
    """Compare systems by name, scored over the same gold under the same criteria; the first is the baseline by default.

    `names` are the criteria to compare under, by default all; sentences are about the first. `by_type` needs the spans
    that only scores of this process hold. `units` are resampled, by default each document. `margin` is the difference
    of F1 within which systems are tested to be as good as the baseline. `measures` are some of MEASURES, `scorers`
    published scorers, `NAME` or `NAME/EVALUATION`; they need spans as `by_type` does, and are by type with it. `runs`
    are the names of the runs of systems of several; the baseline is then such a system, or one without runs, and each
    run is compared with the first run of the baseline.

    Raises:
        KeyError: the baseline is not among the systems.
        FormatError: one of `measures` or `scorers` is none, a scorer cannot score these data, or `runs` are not those
            of systems.
        TypeError: `by_type`, `measures` or `scorers` for scores without spans.
    """
    check_margin(margin, runs=bool(runs))
    check_measures(measures)
    check_scorers(scorers)
    plan = plan or ResamplingPlan()
    grouped = group_runs(scores, runs or {})
    system = next(iter(grouped)) if baseline is None else baseline
    base = grouped[system][0]
    names = names or [criterion.name for criterion in scores[base].criteria]
    units = units or document_units(scores[base].documents, scores[base].unit)
    resampled = SystemResamples(count_units(scores, names, units), plan)
    compared = compare_counts(resampled, system, pairwise=pairwise, margin=margin, runs=runs)
    comparison = replace(compared, scores=scores)
    if by_type:
        parts = [by_type_tables(_with_spans(scores), name, plan, base, units) for name in names]
        whole = (comparison.intervals, comparison.differences, comparison.leads)
        intervals, differences, leads = (pd.concat(each, ignore_index=True) for each in zip(whole, *parts, strict=True))
        differences = corrected_as_family(differences)
        comparison = replace(comparison, intervals=intervals, differences=differences, leads=leads)
    if measures or scorers:
        values, measure_differences = measure_tables(
            _with_spans(scores), names, measures, base, plan, units, by_type=by_type, scorers=scorers
        )
        comparison = replace(comparison, measures=values, measure_differences=measure_differences)
    return comparison


def compare_counts(
    resampled: SystemResamples,
    baseline: str,
    *,
    pairwise: bool = True,
    margin: float | None = None,
    runs: Mapping[str, Sequence[str]] | None = None,
) -> Comparison:
    """Compare systems by their counts alone, as `compare_scores` does; the comparison has no scores.

    Counts are a few bytes a document, where scores hold all spans.
    """
    counted, plan, units = resampled.counted, resampled.plan, resampled.counted.units
    grouped = group_runs(counted.systems, runs or {})
    base = grouped[baseline][0]
    intervals, differences = interval_table(resampled), difference_table(resampled, base)
    of_runs = compare_runs(resampled, grouped, baseline) if runs else None
    return Comparison(
        {},
        plan,
        units,
        base,
        intervals,
        differences,
        difference_table(resampled) if pairwise and len(counted.systems) > 2 else differences.iloc[:0],
        lead_table(resampled),
        tau_table(intervals),
        power_table(resampled, base, margin),
        *measure_tables({}, (), (), None, plan, units),
        words=comparison_sentences(intervals, differences, plan, units)
        if of_runs is None
        else run_sentences(of_runs, plan, units),
        warnings=(*few_units_warning(intervals, units), *units.notes),
        runs=of_runs,
    )


def _with_spans(scores: Mapping[str, CountedScores]) -> Mapping[str, Scores]:
    with_spans = {name: each for name, each in scores.items() if isinstance(each, Scores)}
    if len(with_spans) < len(scores):
        raise TypeError("comparing by type needs the spans of all systems")
    return with_spans


def tau_table(intervals: pd.DataFrame) -> pd.DataFrame:
    """Return Kendall's tau-b between the orders of the systems by F1 under each pair of criteria: TAU_COLUMNS.

    Tau is NaN where a criterion orders no systems: fewer than two have an F1, or all are equal.
    """
    grid = f1_grid(intervals)
    rows = [
        (name, other, kendall_tau(grid.loc[name].to_numpy(), grid.loc[other].to_numpy()))
        for name in grid.index
        for other in grid.index
    ]
    return typed_table(rows, TAU_COLUMNS)


def f1_grid(intervals: pd.DataFrame) -> pd.DataFrame:
    """Return F1 of all types together with a row for each criterion and a column for each system."""
    whole = intervals[intervals["type"].isna()]
    grid = whole.pivot(index="criterion", columns="system", values="f1")
    return grid.loc[whole["criterion"].unique(), whole["system"].unique()]


def kendall_tau(values: np.ndarray, other_values: np.ndarray) -> float:
    """Return Kendall's tau-b of two rows of values without the places where either is NaN."""
    is_defined = ~(np.isnan(values) | np.isnan(other_values))
    signs = []
    for row in (values[is_defined], other_values[is_defined]):
        apart = row[:, None] - row
        signs.append(np.where(np.abs(apart) > RATIO_TOLERANCE, np.sign(apart), 0))
    below = np.sqrt((signs[0] ** 2).sum() * (signs[1] ** 2).sum())
    return float((signs[0] * signs[1]).sum() / below) if below else float("nan")


def comparison_sentences(
    intervals: pd.DataFrame, differences: pd.DataFrame, plan: ResamplingPlan, units: ResamplingUnits
) -> tuple[str, ...]:
    """Return sentences: the best system under the first criterion, significant differences, and changes of ranks."""
    criterion = str(intervals["criterion"].iat[0])
    whole = intervals[intervals["type"].isna()]
    here = whole[whole["criterion"] == criterion]
    best = _best_systems(here)
    opening = headline(intervals, plan, units)
    if opening is None:
        return (f"no system has an F1 under {criterion}: there are no spans of gold or of a system",)
    lines = [f"{opening.before}{opening.f1}{opening.after}"]
    lines += _baseline_sentence(differences[(differences["criterion"] == criterion) & differences["type"].isna()], plan)
    if len(here) > 1:
        lines += _other_criteria_sentence(whole, criterion, best)
    return tuple(lines)


def ranking_sentences(comparison: Comparison) -> tuple[str, ...]:
    """Return sentences on the order under the first criterion: what the best is better than, and other criteria.

    They follow `headline`; p is corrected over all pairs of systems.
    """
    criterion = comparison.criteria[0]
    whole = comparison.intervals[comparison.intervals["type"].isna()]
    best = _best_systems(whole[whole["criterion"].eq(criterion)])
    if not best or len(comparison.scores) < 2:
        return ()
    pairs = comparison.all_pairs
    rows = oriented(pairs[pairs["criterion"].eq(criterion)], best[0])
    order = whole[whole["criterion"].eq(criterion)].sort_values("f1", ascending=False, kind="stable")["system"].tolist()
    rows = rows.sort_values("system", key=lambda names: names.map(order.index), kind="stable")
    return (
        *_baseline_sentence(rows, comparison.plan, PAIRS),
        *_other_criteria_sentence(whole, criterion, best),
    )


def run_sentences(runs: RunComparison, plan: ResamplingPlan, units: ResamplingUnits) -> tuple[str, ...]:
    """Return sentences on means over runs under the first criterion: the best system, and significant differences."""
    criterion = str(runs.means["criterion"].iat[0])
    here = runs.means[runs.means["criterion"] == criterion]
    best = _best_systems(here)
    if not best:
        return (f"no system has an F1 under {criterion}: there are no spans of gold or of a system", *runs.notes)
    row = here[here["system"] == best[0]].iloc[0]
    has = "has a mean F1 of"
    if len(here) > 1:
        has = f"{'has' if len(best) == 1 else 'share'} the highest mean F1,"
    sentence = f"under {criterion} {name_list(best)} {has} {row['f1']:.3f} over {counted(int(row['runs']), 'run')}"
    interval = interval_in_words(plan.level, row["f1_low"], row["f1_high"])
    sentence += f"; {row['why']}" if row["why"] else f", {interval} over {units.plural} and runs"
    differences = runs.differences[runs.differences["criterion"] == criterion]
    return (sentence, *_baseline_sentence(differences, plan), *runs.notes)


class Headline(NamedTuple):
    """The sentence on the best system in parts: its F1, and the words before and after it."""

    before: str
    f1: str
    after: str
    system: str


def headline(intervals: pd.DataFrame, plan: ResamplingPlan, units: ResamplingUnits) -> Headline | None:
    """Return the sentence on the best system under the first criterion, None where no system has an F1."""
    criterion = str(intervals["criterion"].iat[0])
    here = intervals[intervals["type"].isna() & intervals["criterion"].eq(criterion)]
    best = _best_systems(here)
    if not best:
        return None
    row = here[here["system"] == best[0]].iloc[0]
    interval = interval_in_words(plan.level, row["f1_low"], row["f1_high"])
    after = f"; {row['why']}" if row["why"] else f", {interval}"
    if row["f1"] == 0:
        who = f"{name_list(best)} {has_or_have(len(best))}"
        before = f"under {criterion} no span of any system is correct: {who} an F1 of "
    elif len(best) > 1:
        before = f"under {criterion} {name_list(best)} share the highest F1, "
    elif len(here) > 1:
        before = f"under {criterion} {best[0]} has the highest F1, "
        if not row["why"]:
            share = percent_of_resamples(float(row["best"]))
            after += f"; it stays the best in {share} of {plan.resamples:,} resamples of the {units.plural}"
    else:
        before = f"under {criterion} {best[0]} has an F1 of "
    if without := here.loc[here["f1"].isna(), "system"].tolist():
        after += f"; {name_list(without)} {has_or_have(len(without))} none, as there are no spans"
    return Headline(before, f"{row['f1']:.3f}", after, best[0])


def few_units_warning(intervals: pd.DataFrame, units: ResamplingUnits) -> tuple[str, ...]:
    """Return a warning if units are too few for a bootstrap, none if they suffice or there are no intervals."""
    whole = intervals.loc[intervals["type"].isna() & intervals["f1_low"].notna(), "units"]
    if not len(whole) or (least := int(whole.min())) >= FEW_UNITS:
        return ()
    return (f"only {units.in_words(least)} have spans: with fewer than {FEW_UNITS} the intervals are rough",)


def _best_systems(rows: pd.DataFrame) -> list[str]:
    return [str(system) for system in rows.loc[rows["rank"].eq(1).fillna(False), "system"]]


def _baseline_sentence(rows: pd.DataFrame, plan: ResamplingPlan, tested: str = SYSTEMS) -> list[str]:
    """Return the sentence on the systems that are better or worse than the baseline, each with its p.

    `tested` names what was corrected over.
    """
    if rows.empty:
        return []
    apart = are_significant(rows, plan.level)
    base, tests = rows["baseline"].iat[0], int(rows["tests"].max())
    parts = []
    for kind, label in (
        (apart & (rows["difference"] > 0), f"significantly better than {base}"),
        (apart & (rows["difference"] < 0), f"significantly worse than {base}"),
        (~apart & rows["p_holm"].notna(), f"no significant difference from {base}"),
        (rows["p_holm"].isna(), f"not tested against {base}"),
    ):
        if tested == PAIRS and kind.sum() > MOST_NAMED:
            tested_rows = rows[kind & rows["p_holm"].notna()].sort_values(["p_holm", "p"])
            most = "" if tested_rows.empty else f" ({_p_in_words(tested_rows.iloc[-1], plan)} at most)"
            parts.append(f"{label}: {kind.sum()} systems{most}")
            continue
        named = [
            row["system"] if pd.isna(row["p_holm"]) else f"{row['system']} ({_p_in_words(row, plan)})"
            for _, row in rows[kind].iterrows()
        ]
        parts += [f"{label}: {name_list(named)}"] if named else []
    corrected = f"; p {holm_in_words(f'{tests} {tested}')}" if tests > 1 else ""
    return ["; ".join(parts) + corrected]


def _p_in_words(row: pd.Series[Any], plan: ResamplingPlan) -> str:
    return p_value_sentence(row["p_holm"], plan.resamples, row["p"])


def _other_criteria_sentence(whole: pd.DataFrame, criterion: str, best: Sequence[str]) -> list[str]:
    """Return the sentence on other criteria under which another system is best."""
    others: dict[str, list[str]] = {}
    names = [name for name in whole["criterion"].unique() if name != criterion]
    right = {str(name): _best_systems(rows) for name, rows in whole.groupby("criterion") if rows["f1"].max() > 0}
    for name in names:
        if name in right and right[name] != list(best):
            others.setdefault(name_list(right[name]), []).append(name)
    if not names or criterion not in right:
        return []
    if not others:
        if len(right) <= len(names):
            wrong = len(names) + 1 - len(right)
            return [f"no other system is best under any criterion; under {wrong} of them no span is correct"]
        same = "system is" if len(best) == 1 else "systems are"
        return [f"the same {same} best under all {len(names) + 1} criteria"]
    parts = (f"{systems} under {name_list(under)}" for systems, under in others.items())
    return [f"best under other criteria: {'; '.join(parts)}"]
