"""Measures of systems in resamples: precision, recall and F1 over all spans or of a type, and their macro averages.

They are those of our criteria or of a published scorer. All measures, systems and criteria share the resamples and the
swaps, so that differences are paired and can be set beside one another. A macro average is the mean over the types
where the ratio is defined, in each resample anew.

A scorer's records say what each document contributes to its counts. Where precision, recall and F1 of the sums are the
figures that the scorer itself gives, documents can be resampled; a figure that is made otherwise (a mean over
documents, say) is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pandas as pd

from nereval_core.alignment.codes import Decision
from nereval_core.analysis.bootstrap import (
    F1,
    PARTS,
    RATIOS,
    Bootstrap,
    DocumentCounts,
    ResampledValues,
    Sums,
    bootstrap_sums,
    document_counts,
    leave_one_out,
    mean_of_defined,
    ratios,
    slot_errors_of_types,
    swap_sums,
    type_counts,
)
from nereval_core.analysis.criteria.convention_differences import twin_criterion
from nereval_core.analysis.intervals import RATIO_TOLERANCE, Estimates, JackknifedDifference, jackknife
from nereval_core.analysis.resampling_units import ResamplingPlan, ResamplingUnits
from nereval_core.conventions import Convention, LayerPair, Outcome, apply_to_layers, conventions
from nereval_core.conventions.records import OVERALL
from nereval_core.corpus.arrays import Array, Float64
from nereval_core.problems import FormatError, Problem, quoted
from nereval_core.scoring import Scores
from nereval_core.scoring.protocols import CountedScores

OTHER_EVALUATION = "choose another of its evaluations, NAME/EVALUATION"
CLOSE = 1e-9
"""Scorers divide in another order than we do."""
MACRO = "macro-"
SLOT_ERRORS = "ser"
MEASURES = ("f1", "precision", "recall", f"{MACRO}f1", f"{MACRO}precision", f"{MACRO}recall", SLOT_ERRORS)
"""The slot error rate is the only one of which less is better."""
SystemPairs = Sequence[tuple[int, int]]
"""Pairs of systems by number: the second is taken from the first."""


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


def count_units(systems: Mapping[str, CountedScores], criteria: Sequence[str], units: ResamplingUnits) -> UnitCounts:
    """Return the counts of all systems by unit under some criteria."""
    counts = [
        np.stack([units.sum_counts(document_counts(scores, name)) for scores in systems.values()]) for name in criteria
    ]
    return UnitCounts(tuple(map(ComparisonGroup, criteria)), tuple(systems), np.stack(counts), units)


def count_units_by_type(systems: Mapping[str, Scores], criterion: str, units: ResamplingUnits) -> UnitCounts:
    """Return the counts of all systems by unit and type under one criterion."""
    types = tuple(sorted({kind for scores in systems.values() for kind in scores.by_type(criterion)}))
    counts = np.zeros((len(types), len(systems), len(PARTS), units.count), np.int32)
    for column, scores in enumerate(systems.values()):
        counts[:, column] = units.sum_counts(type_counts(scores, criterion, types))
    return UnitCounts(tuple(ComparisonGroup(criterion, kind) for kind in types), tuple(systems), counts, units)


def slot_error_units(
    systems: Mapping[str, Scores], criterion: str, units: ResamplingUnits, *, by_type: bool
) -> UnitCounts:
    """Return the counts of all systems by unit under one criterion, of all types together, then of each.

    Errors, twice INC + 0.5 PAR + MIS + SPU, stand in place of the credit, so that recall is the slot error rate.
    """
    types = tuple(
        sorted({kind for scores in systems.values() for kind in scores.by_type(criterion)} if by_type else ())
    )
    counts = np.zeros((1 + len(types), len(systems), len(PARTS), units.count), np.int32)
    for column, scores in enumerate(systems.values()):
        rows = scores.by_document(criterion)
        whole = np.zeros((2, scores.documents), np.int32)
        whole[0, rows.numbers] = 2 * (
            rows.gold[:, [Decision.INC, Decision.MIS]].sum(axis=1) + rows.pred[:, Decision.SPU]
        )
        whole[0, rows.numbers] += rows.gold[:, Decision.PAR].astype(np.int32)
        whole[1, rows.numbers] = rows.gold.sum(axis=1)
        tables = [whole[None], slot_errors_of_types(scores, criterion, types)]
        errors, gold = units.sum_counts(np.concatenate(tables)).swapaxes(0, 1)
        counts[:, column] = np.stack([errors, errors, gold, gold], axis=1)
    groups = (ComparisonGroup(criterion), *(ComparisonGroup(criterion, kind) for kind in types))
    return UnitCounts(groups, tuple(systems), counts, units)


def check_scorers(names: Sequence[str]) -> None:
    """Check names of published scorers, `NAME` or `NAME/EVALUATION`.

    Raises:
        FormatError: with each that is none.
    """
    if wrong := [quoted(name) for name in names if name.partition("/")[0] not in conventions()]:
        remedy = f"choose among {', '.join(conventions())}"
        raise FormatError.single("--scorers", None, f"no published scorer {', '.join(wrong)}", remedy)


def scorer_counts(systems: Mapping[str, Scores], name: str, units: ResamplingUnits, *, by_type: bool) -> UnitCounts:
    """Return the counts of all systems by unit as a published scorer has them, of all types together, then of each.

    The scorer has its default options and takes the layers as they were read.

    Raises:
        FormatError: with the problems of all systems: an evaluation that the scorer lacks, data that it cannot score,
            figures that are not made of counts of documents, types merged or left out.
    """
    convention = conventions()[name.partition("/")[0]]
    problems: list[Problem] = []
    counts_of: dict[str, dict[str, DocumentCounts]] = {}
    for system, scores in systems.items():
        try:
            evaluation, outcome = _outcome(convention, name.partition("/")[2], scores)
            counts_of[system] = dict(_counts_by_scope(convention, evaluation, outcome, scores.documents, by_type))
        except FormatError as error:
            problems += error.problems
    if problems:
        raise FormatError(dict.fromkeys(problems))
    scopes = sorted(
        {scope for counts in counts_of.values() for scope in counts}, key=lambda scope: (scope != OVERALL, scope)
    )
    nothing = np.zeros((len(PARTS), next(iter(systems.values())).documents), np.int32)
    counts = [[units.sum_counts(counts_of[system].get(scope, nothing)) for system in systems] for scope in scopes]
    title = f"{convention.name}/{evaluation}"
    groups = tuple(ComparisonGroup(title, None if scope == OVERALL else scope) for scope in scopes)
    return UnitCounts(groups, tuple(systems), np.array(counts), units)


def refused_systems(systems: Mapping[str, Scores], name: str, units: ResamplingUnits) -> dict[str, FormatError]:
    """Return the systems that a published scorer refuses, each with its problems."""
    refused = {}
    for system, scores in systems.items():
        try:
            scorer_counts({system: scores}, name, units, by_type=False)
        except FormatError as error:
            refused[system] = FormatError(error.problems)
    return refused


def _outcome(convention: Convention, evaluation: str, scores: Scores) -> tuple[str, Outcome]:
    """Return the name of the evaluation, by default the one equivalent to `strict` or the first, and the outcome.

    `evaluation` may be a part of the name: then it is the first with this part that a layer stands for.
    """
    if scores.settings.merge or scores.settings.leave_out:
        finding = "types merged or left out would change the rules of a published scorer"
        raise FormatError.single(convention.name, None, finding, "compare without --scorers, or without these")
    outcome = apply_to_layers(convention, LayerPair(*scores.read, scores.marks))
    f1 = outcome.figures[outcome.figures["figure"].eq(convention.ratios.f1) & outcome.figures["scope"].eq(OVERALL)]
    evaluations = sorted(f1["evaluation"].unique(), key=lambda name: twin_criterion(convention, name) != "strict")
    if evaluation not in evaluations:
        with_part = [name for name in evaluations if evaluation in name.split("/") and twin_criterion(convention, name)]
        evaluation = next(iter(with_part), evaluation)
    if evaluation and evaluation not in evaluations:
        finding = f"no evaluation {quoted(evaluation)} with precision, recall and F1"
        raise FormatError.single(convention.name, None, finding, f"choose among {', '.join(evaluations)}")
    return evaluation or evaluations[0], outcome


def _counts_by_scope(
    convention: Convention, evaluation: str, outcome: Outcome, documents: int, by_type: bool
) -> Iterator[tuple[str, DocumentCounts]]:
    """Yield the PARTS of each document, shape (4, documents), overall and, if asked for, of each type."""
    records = outcome.records(evaluation)
    if "surface form" in records["unit"].unique():
        finding = f"a surface form counts once in the whole corpus, so that {evaluation} cannot be resampled"
        raise FormatError.single(convention.name, None, finding, OTHER_EVALUATION)
    figures = outcome.figures[(outcome.figures["evaluation"] == evaluation).to_numpy()]
    for scope in dict.fromkeys((OVERALL, *(records["scope"].unique() if by_type else ()))):
        counts = _counts(convention, evaluation, records[(records["scope"] == scope).to_numpy()], documents)
        printed = figures[(figures["scope"] == scope).to_numpy()].set_index("figure")["value"]
        ours = ratios(counts.sum(axis=1, dtype=np.int64)[:, None])[:, 0] * (100 if convention.ratios.percent else 1)
        theirs = printed.reindex([convention.ratios.names[name] for name in ("P", "R", "F1")]).to_numpy(np.float64)
        # Scorers differ in what 0/0 is.
        if not np.allclose(np.nan_to_num(ours), np.nan_to_num(theirs), rtol=CLOSE, atol=CLOSE):
            finding = f"its figures of {evaluation} ({scope}) are not made of counts that add up over documents"
            raise FormatError.single(convention.name, None, finding, OTHER_EVALUATION)
        yield scope, counts


def _counts(convention: Convention, evaluation: str, records: pd.DataFrame, documents: int) -> DocumentCounts:
    """Return the PARTS of each document, shape (4, documents), from the records of one scope."""
    column_of = {str(column).lower(): str(column) for column in records.columns}
    doc = records["doc"].to_numpy()

    def count(column: str) -> DocumentCounts:
        if column not in records.columns:
            return np.zeros(documents, np.int32)
        return np.bincount(doc, records[column].to_numpy(), documents).astype(np.int32)

    weights = convention.parts.get(evaluation, convention.parts.get(""))
    if weights is not None:
        # Quarters are whole numbers in fourths; of credit there is twice as much.
        fourfold = (sum(round(4 * weight) * count(name) for name, weight in part.items()) for part in weights)
        gold_credit, pred_credit, pos, act = fourfold
        return np.stack([2 * gold_credit, 2 * pred_credit, pos, act])
    correct = count(convention.ratios.correct)
    precision, last = convention.ratios.precision, evaluation.rpartition("/")[2]
    rule = convention.formulas.get(f"{last}/{precision}", convention.formulas.get(precision, ""))
    credit = 2 * correct + (count("partial") if "0.5 × partial" in rule else 0)
    pos, act = (
        count(convention.ratios.names[side])
        if side in convention.ratios.names
        else correct + count(column_of.get(wrong, ""))
        for side, wrong in (("POS", "fn"), ("ACT", "fp"))
    )
    return np.stack([credit, credit, pos, act])


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
        rows = ResampledValues.of_stages(column.reshape(shape[0] * shape[1], column.shape[-1]) for column in values)
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
            if measure == SLOT_ERRORS:
                errors = SystemResamples(slot_error_units(systems, criterion, units, by_type=by_type), plan)
                yield from _of_groups(errors, measure)
            elif measure.startswith(MACRO):
                ratio = RATIOS.index(measure.removeprefix(MACRO))
                yield ComparisonGroup(criterion), measure, SystemMeasure(types, ratio)
            else:
                yield from _of_groups(whole, measure)
                yield from _of_groups(types, measure) if by_type else ()
    for name in scorers:
        resampled = SystemResamples(scorer_counts(systems, name, units, by_type=by_type), plan)
        for measure in [measure for measure in measures if measure in RATIOS] or [RATIOS[F1]]:
            yield from _of_groups(resampled, measure)


def _of_groups(resampled: SystemResamples, measure: str) -> Iterator[tuple[ComparisonGroup, str, SystemMeasure]]:
    """Yield a measure of each group by itself."""
    for number, group in enumerate(resampled.counted.groups):
        ratio = RATIOS.index("recall" if measure == SLOT_ERRORS else measure)
        yield group, measure, SystemMeasure(resampled, ratio, number)
