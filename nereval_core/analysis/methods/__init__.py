"""The methods of a result as a paragraph for a paper: it says what was done with these data and options, and no more.

Each kind of result has a table of functions that yield statements, in the order of the paragraph: to say more of a
result, add a function to its table. What a result does not hold, such as a test of a single system, yields nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from nereval_core.analysis.agreement import Agreement
from nereval_core.analysis.agreement.summary import agreement_signature
from nereval_core.analysis.comparison import Comparison
from nereval_core.analysis.methods.agreements import AGREEMENT
from nereval_core.analysis.methods.comparisons import COMPARISON
from nereval_core.analysis.methods.slicings import SLICES
from nereval_core.analysis.methods.statements import FORMS, Methods, Statement, published_statements, scored_statements
from nereval_core.analysis.slices import SliceReport
from nereval_core.conventions import Outcome
from nereval_core.report.signature import signature, together
from nereval_core.scoring import Scores
from nereval_core.scoring.protocols import CountedScores

__all__ = ["FORMS", "Methods", "methods"]

Scored = Mapping[str, CountedScores] | Mapping[str, Outcome]
"""Scores of systems by name, under criteria or by a published scorer."""


def methods(
    result: Scores | Outcome | Scored | Comparison | Agreement | SliceReport | Iterable[SliceReport],
    *,
    marks: Iterable[str] = (),
) -> Methods:
    """Describe for a paper how a result of `score`, `reproduce`, `compare`, `agreement` or `slices_of` was computed.

    Scores of several systems may be given together by name, slices of several systems as a list. `marks` are changes
    made to the data, which stand at the end of the signature of an agreement.

    Raises:
        TypeError: another kind of result, or no scores.
    """
    if isinstance(result, Comparison):
        return _of(result, COMPARISON, together(line for row in result.signatures.values() for line in row.values()))
    if isinstance(result, Agreement):
        return _of(result, AGREEMENT, [agreement_signature(result, tuple(marks))])
    if isinstance(result, Scores):
        return methods({result.read[1].name: result})
    if isinstance(result, Outcome):
        return methods({result.system or "predicted": result})
    if isinstance(result, SliceReport):
        return methods([result])
    if isinstance(result, Mapping) and result:
        return _of_systems(result)
    reports = list(result) if isinstance(result, Iterable) else []
    if not reports or not all(isinstance(report, SliceReport) for report in reports):
        raise TypeError("methods of what was scored, compared, agreed on or sliced: give such a result")
    return _of(reports, SLICES, together(report.signature for report in reports))


def _of_systems(scored: Mapping[str, Any]) -> Methods:
    outcomes = {name: scores for name, scores in scored.items() if isinstance(scores, Outcome)}
    if outcomes:
        return Methods(tuple(published_statements(outcomes)), tuple(scores.signature for scores in outcomes.values()))
    names = [criterion.name for criterion in next(iter(scored.values())).criteria]
    signatures = together(signature(scores, name) for scores in scored.values() for name in names)
    return Methods(tuple(scored_statements(scored, names)), signatures)


def _of(result: Any, tellers: Iterable[Callable[[Any], Iterator[Statement]]], signatures: Iterable[str]) -> Methods:
    statements = tuple(statement for tell in tellers for statement in tell(result))
    return Methods(statements, tuple(dict.fromkeys(signatures)))
