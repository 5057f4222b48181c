"""The library's verb for slices."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Unpack

from nereval_core.analysis.resampling_units import resampling_units
from nereval_core.analysis.slices import SliceReport, slice_changes, slice_report
from nereval_core.analysis.slices.scores_by_slice import SLICE_PLAN
from nereval_core.analysis.slices.slice_tests import SliceTests
from nereval_core.analysis.slices.user_columns import UserColumns, check_columns, read_columns
from nereval_core.api.inputs import Annotations, AnyAnnotations, Texts, load_inputs, reading_of, scoring_options
from nereval_core.api.load import Loaded
from nereval_core.api.load_options import ResamplingOptions
from nereval_core.api.scoring import Listener, PythonWarnings, score_systems, settings_for
from nereval_core.api.verb_options import SlicesOptions, check_baseline
from nereval_core.corpus import Layer
from nereval_core.pairing import Pairing
from nereval_core.readers import Source
from nereval_core.scoring.criteria import Criterion


def slices_of(
    gold: AnyAnnotations,
    pred: AnyAnnotations,
    *,
    criterion: str | Criterion = "strict",
    by: str | Iterable[str] = (),
    training: Annotations | None = None,
    columns: str | Path | None = None,
    tests: bool = False,
    resamples: int = SLICE_PLAN.resamples,
    seed: int = SLICE_PLAN.seed,
    resample_by: str = "",
    merge: Mapping[str, str] | Iterable[str] = (),
    leave_out: Iterable[str] = (),
    format: str = "auto",
    core_type: str | None = None,
    texts: Texts | None = None,
    **pairing: Unpack[Pairing],
) -> SliceReport:
    """Score a prediction slice by slice, with 95% intervals.

    `by` names slicings, as `nereval slices --help` lists them; by default all that apply, except years and worst
    combinations (`nereval_core.analysis.slices.slice_tests`). A slice is a value of a property
    (`nereval_core.analysis.slices.slicings`). `training` tells seen spans from unseen ones, `columns` is a CSV file of
    your own columns. `tests=True` tests each slice against the rest. `resample_by` is the unit of resampling:
    `document`, `sentence`, a metadata key or `runs:20`, by default each document as read. The other options are those
    of `score`, one to one.

    Raises:
        FormatError: as `score`; training data or columns that cannot be read, or that fit no document or span; a unit
            that gold's documents do not have.
    """
    options = SlicesOptions(
        by=(by,) if isinstance(by, str) else tuple(by),
        tests=tests,
        resampling=ResamplingOptions(resamples=resamples, seed=seed, by=resample_by),
        scoring=scoring_options([criterion], merge, leave_out),
    )
    training_layer = None if training is None else reading_of(training, format="auto").layer
    own_columns = None if columns is None else columns_of_file(str(columns))
    loaded = load_inputs(gold, {"": pred}, format=format, core_type=core_type, texts=texts, pairing=pairing)
    reports = run(options, loaded, PythonWarnings(), training=training_layer, columns=own_columns).reports
    return next(iter(reports.values()))[0]


@dataclass(frozen=True, eq=False)
class Slices:
    """The slices of each system under each criterion, and by criterion the tests of changes from the baseline."""

    reports: Mapping[str, Sequence[SliceReport]]
    changes: Mapping[str, SliceTests]


def run(
    options: SlicesOptions,
    loaded: Loaded,
    listener: Listener,
    *,
    training: Layer | None = None,
    columns: UserColumns | None = None,
) -> Slices:
    """Score the systems of a corpus slice by slice.

    Raises:
        FormatError: as `slices_of`; a baseline that is not one of the systems.
    """
    check_baseline(options.baseline, loaded.systems)
    corpus, plan = loaded.corpus, options.resampling
    if columns is not None:
        check_columns(columns, corpus.gold, corpus.systems)
    units = resampling_units(corpus.documents, plan.by)
    for note in units.notes:
        listener.note(note)
    settings = settings_for(loaded, options.scoring, listener)
    reports = {
        name: [
            slice_report(
                scores,
                criterion.name,
                by=options.by,
                training=training,
                columns=columns,
                resamples=plan.resamples,
                seed=plan.seed,
                units=units,
                tests=options.tests,
                progress=listener.progress(name, "sliced"),
            )
            for criterion in settings.criteria
        ]
        for name, scores in score_systems(loaded, settings, listener).items()
    }
    changes: dict[str, SliceTests] = {}
    if options.tests and len(reports) > 1:
        for number, criterion in enumerate(settings.criteria):
            of_criterion = {name: of_system[number] for name, of_system in reports.items()}
            changes[criterion.name] = slice_changes(of_criterion, options.baseline)
    return Slices(reports, changes)


def columns_of_file(path: str) -> UserColumns:
    """Return the columns of the user, from a CSV file.

    Raises:
        FormatError: the file cannot be read.
    """
    return read_columns(Source.of_path(path).files[0].text(), path)
