"""The library's verb for slices."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Unpack

from nereval_core.analysis.resampling_units import resampling_units
from nereval_core.analysis.slices import SliceReport, slice_report
from nereval_core.analysis.slices.scores_by_slice import SLICE_PLAN
from nereval_core.analysis.slices.user_columns import check_columns, read_columns
from nereval_core.api.inputs import Annotations, Given, Texts, reading_of
from nereval_core.api.score import score
from nereval_core.options import check_resampling
from nereval_core.pairing import Pairing
from nereval_core.readers import Source
from nereval_core.scoring.criteria import Criterion, choose_criteria


def slices_of(
    gold: Given,
    pred: Given,
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
    check_resampling(resamples, seed)
    (chosen,) = choose_criteria([criterion])
    scores = score(
        gold,
        pred,
        criteria=[chosen],
        merge=merge,
        leave_out=leave_out,
        format=format,
        core_type=core_type,
        texts=texts,
        **pairing,
    )
    known = None if training is None else reading_of(training, format="auto").layer
    own = None
    if columns is not None:
        own = read_columns(Source.of_path(columns).files[0].text(), str(columns))
        check_columns(own, scores.read[0], [scores.read[1]])
    asked = [by] if isinstance(by, str) else list(by)
    units = resampling_units(scores.read[0].documents, resample_by)
    return slice_report(
        scores,
        chosen.name,
        by=asked,
        training=known,
        columns=own,
        resamples=resamples,
        seed=seed,
        units=units,
        tests=tests,
    )
