"""The verb `errors_of` of the library (`errors` on the command line): the kinds of errors, and what each costs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Unpack

from nereval_core.analysis.errors import ErrorReport, error_report
from nereval_core.analysis.errors.error_classes import STRICT
from nereval_core.api.inputs import Given, Texts
from nereval_core.api.score import score
from nereval_core.pairing import Pairing
from nereval_core.scoring.criteria import Criterion, choose_criteria


def errors_of(
    gold: Given,
    pred: Given,
    *,
    criteria: str | Iterable[str | Criterion] = STRICT,
    merge: Mapping[str, str] | Iterable[str] = (),
    leave_out: Iterable[str] = (),
    format: str = "auto",
    core_type: str | None = None,
    texts: Texts | None = None,
    **pairing: Unpack[Pairing],
) -> ErrorReport:
    """Class the errors of a prediction, and compute what mending each class would gain under the criteria.

    The classes are those of the records under `strict` (`nereval_core.analysis.errors.error_classes`); gains are those
    of `nereval_core.analysis.errors.error_classes`, the words at wrong boundaries those of
    `nereval_core.analysis.errors.boundary_patterns`. The other options are those of `score`, one to one.

    Raises:
        FormatError: as `score`.
    """
    names = [criteria] if isinstance(criteria, str) else list(criteria)
    chosen = choose_criteria(names)
    scores = score(
        gold,
        pred,
        criteria=choose_criteria([STRICT, *chosen]),
        merge=merge,
        leave_out=leave_out,
        format=format,
        core_type=core_type,
        texts=texts,
        **pairing,
    )
    return error_report(scores, [criterion.name for criterion in chosen])
