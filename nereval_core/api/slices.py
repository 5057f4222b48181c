"""The library's verb for slices."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Unpack

from nereval_core.analysis.resampling_units import resampling_units
from nereval_core.analysis.slices import Slices, slice_report
from nereval_core.analysis.slices.scores_by_slice import PLAN
from nereval_core.analysis.slices.user_columns import check_columns, read_columns
from nereval_core.api.load import Given, Input, Texts, choose_criteria, score
from nereval_core.api.load import read as read_annotations
from nereval_core.corpus import Layer
from nereval_core.pairing import Pairing
from nereval_core.readers import Reading, Source
from nereval_core.scoring.criteria import Criterion


def slices_of(
    gold: Given,
    pred: Given,
    *,
    criterion: str | Criterion = "strict",
    by: str | Iterable[str] = (),
    training: Input | Reading | Layer | None = None,
    columns: str | Path | None = None,
    resamples: int = PLAN.resamples,
    seed: int = PLAN.seed,
    resample_by: str = "",
    merge: Mapping[str, str] | Iterable[str] = (),
    leave_out: Iterable[str] = (),
    format: str = "auto",
    core_type: str | None = None,
    texts: Texts | None = None,
    **pairing: Unpack[Pairing],
) -> Slices:
    """Score a prediction slice by slice, with 95% intervals: see `nereval_core.analysis.slices.slicings` for what by.

    `training` tells seen spans from unseen ones, `columns` is a CSV file of columns of one's own. `resample_by`
    is what is resampled: `document`, `sentence`, a metadata key or `runs:20`, by default each document as read. The
    other options are those of `score`, one to one.

    Raises:
        FormatError: as `score`; training data or columns that cannot be read, or that fit no document or span; what
            gold's documents cannot be resampled by.
    """
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
    known = None
    if training is not None:
        known = training if isinstance(training, Layer) else _layer(training)
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
    )


def _layer(given: Input | Reading) -> Layer:
    return given.layer if isinstance(given, Reading) else read_annotations(given).layer
