"""The verb `errors_of` of the library (`errors` on the command line): the kinds of errors, and what each costs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Unpack

from nereval_core.analysis.errors import ErrorReport, error_report
from nereval_core.analysis.errors.error_classes import STRICT
from nereval_core.api.inputs import AnyAnnotations, Texts, load_inputs, scoring_options
from nereval_core.api.load import Loaded
from nereval_core.api.scoring import Listener, PythonWarnings, score_systems, settings_for
from nereval_core.api.verb_options import ErrorsOptions
from nereval_core.pairing import Pairing
from nereval_core.scoring.criteria import CRITERIA, Criterion


def errors_of(
    gold: AnyAnnotations,
    pred: AnyAnnotations,
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
    options = ErrorsOptions(scoring=scoring_options(criteria, merge, leave_out))
    loaded = load_inputs(gold, {"": pred}, format=format, core_type=core_type, texts=texts, pairing=pairing)
    (report,) = run(options, loaded, PythonWarnings()).values()
    return report


def run(options: ErrorsOptions, loaded: Loaded, listener: Listener) -> dict[str, ErrorReport]:
    """Class the errors of each system of a corpus, and compute what mending each class would gain.

    Raises:
        FormatError: as `errors_of`.
    """
    settings = settings_for(loaded, options.scoring, listener)
    names = [criterion.name for criterion in settings.criteria]
    if STRICT not in names:
        # Classes are those of the strict records, whatever criteria are shown.
        settings = replace(settings, criteria=(CRITERIA[STRICT], *settings.criteria))
    return {
        name: error_report(scores, names, progress=listener.progress(name, "mended"))
        for name, scores in score_systems(loaded, settings, listener).items()
    }
