"""Counts of systems by resampling unit: under criteria, by type, and as published scorers count.

A scorer's records say what each document contributes to its counts. Where precision, recall and F1 of the sums are the
figures that the scorer itself gives, documents can be resampled; a figure that is made otherwise (a mean over
documents, say) is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd

from nereval_core.analysis.bootstrap import PARTS, DocumentCounts, document_counts, ratios, type_counts
from nereval_core.analysis.criteria.convention_differences import twin_criterion
from nereval_core.analysis.resampling_units import ResamplingUnits
from nereval_core.conventions import Convention, LayerPair, Outcome, apply_to_layers, conventions
from nereval_core.conventions.records import OVERALL
from nereval_core.problems import FormatError, Problem, quoted
from nereval_core.scoring import Scores
from nereval_core.scoring.protocols import CountedScores

OTHER_EVALUATION = "choose another of its evaluations, NAME/EVALUATION"
CLOSE = 1e-9
"""Scorers divide in another order than we do."""


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


def _outcome(convention: Convention, evaluation: str, scores: Scores) -> tuple[str, Outcome]:
    """Return the name of the evaluation, by default the one equivalent to `strict` or the first, and the outcome."""
    if scores.settings.merge or scores.settings.leave_out:
        finding = "types merged or left out would change the rules of a published scorer"
        raise FormatError.single(convention.name, None, finding, "compare without --scorers, or without these")
    outcome = apply_to_layers(convention, LayerPair(*scores.read, scores.marks))
    f1 = outcome.figures[outcome.figures["figure"].eq(convention.ratios.f1) & outcome.figures["scope"].eq(OVERALL)]
    evaluations = sorted(f1["evaluation"].unique(), key=lambda name: twin_criterion(convention, name) != "strict")
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
