"""The library's verbs for verdicts: gold as they have it, scores as they would be, two annotators made into one."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Unpack

from nereval_core.api.inputs import Annotations, reading_of, scoring_options
from nereval_core.corpus import Layer
from nereval_core.pairing import Pairing, pair
from nereval_core.readers import Reading
from nereval_core.review import apply
from nereval_core.review.apply import AppliedVerdicts, adjudication, select_verdicts, what_if
from nereval_core.review.apply.adjudication import Adjudicated
from nereval_core.review.apply.what_if import WhatIf
from nereval_core.review.standing_verdicts import Reviewed
from nereval_core.review.store import ReviewStore
from nereval_core.scoring import Counting
from nereval_core.scoring.criteria import SCHEMAS, Criterion

Verdicts = Reviewed | str | os.PathLike[str] | None
"""Verdicts, the file or URL that holds them, or None for where the app keeps them."""


def apply_verdicts(
    gold: Annotations,
    systems: Mapping[str, Annotations] | None = None,
    *,
    verdicts: Verdicts = None,
    reviewers: Collection[str] | None = None,
    kinds: Collection[str] | None = None,
    only_this_document: bool = True,
    format: str = "auto",
    **pairing: Unpack[Pairing],
) -> AppliedVerdicts:
    """Apply the current verdicts to gold: `layer` of the result is a new layer, `log` says what each verdict did.

    `verdicts` is a store of verdicts or its file, by default your own. Name the systems that were reviewed: a verdict
    on a prediction that no system has any more is stale and not applied. `reviewers` and `kinds` (gold, pred, both,
    neither, unclear) are those accepted, None for all; `pairing` are the options of `Pairing`. Where several documents
    have the text of a verdict, it is applied to the one that it was given on, or, if not `only_this_document`, to all.

    Raises:
        FormatError: unreadable input, or systems or verdicts that cannot be read.
    """
    ours = reading_of(gold, format=format)
    return _applied(
        ours, _layers(ours, systems or {}, format, **pairing), verdicts, reviewers, kinds, only_this_document
    )


def scores_with_verdicts(
    gold: Annotations,
    systems: Mapping[str, Annotations],
    *,
    verdicts: Verdicts = None,
    reviewers: Collection[str] | None = None,
    kinds: Collection[str] | None = None,
    only_this_document: bool = True,
    criteria: Iterable[str | Criterion] = SCHEMAS,
    merge: Iterable[str] = (),
    leave_out: Iterable[str] = (),
    counting: Counting = "one-to-one",
    format: str = "auto",
    **pairing: Unpack[Pairing],
) -> WhatIf:
    """Score systems against gold as it is and as corrected by verdicts: `table()` of the result has both.

    The options are those of `apply_verdicts` and of `score`.

    Raises:
        FormatError: as `apply_verdicts`, and as `score` for criteria and merges.
    """
    ours = reading_of(gold, format=format)
    layers = _layers(ours, systems, format, **pairing)
    settings = scoring_options(criteria, merge, leave_out, counting).settings
    return what_if.what_if(_applied(ours, layers, verdicts, reviewers, kinds, only_this_document), layers, settings)


def adjudicate(
    first: Annotations,
    second: Annotations,
    *,
    verdicts: Verdicts = None,
    only_this_document: bool = True,
    format: str = "auto",
    **pairing: Unpack[Pairing],
) -> Adjudicated:
    """Make one layer of two annotators: agreed spans, and the others by verdicts on the second against the first.

    Spans without a verdict are not in the layer; `open` of the result lists them.

    Raises:
        FormatError: as `apply_verdicts`.
    """
    ours = reading_of(first, format=format)
    (other,) = _layers(ours, {"second": second}, format, **pairing)
    return adjudication.adjudicate(
        ours.layer.renamed("first"), other, _reviewed(verdicts), only_this_document=only_this_document
    )


def _applied(
    gold: Reading,
    layers: tuple[Layer, ...],
    verdicts: Verdicts,
    reviewers: Collection[str] | None,
    kinds: Collection[str] | None,
    only_this_document: bool,
) -> AppliedVerdicts:
    accepted = select_verdicts(_reviewed(verdicts), who=reviewers, kinds=kinds)
    return apply.apply_verdicts(gold.layer, accepted, layers, only_this_document=only_this_document)


def _reviewed(verdicts: Verdicts) -> Reviewed:
    if isinstance(verdicts, Reviewed):
        return verdicts
    place = verdicts if verdicts is None or isinstance(verdicts, str) else Path(verdicts)
    store = ReviewStore.of_environment(place)
    try:
        return store.reviewed()
    finally:
        store.close()


def _layers(
    gold: Reading, systems: Mapping[str, Annotations], format: str, **pairing: Unpack[Pairing]
) -> tuple[Layer, ...]:
    layers = []
    for name, system in systems.items():
        layers.append(pair(gold, reading_of(system, format=format, gold=gold), **pairing).layer.renamed(name))
    return tuple(layers)
