"""The library's verbs for verdicts: gold as they have it, scores as they would be, two annotators made into one."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Unpack

from nereval_core.api.inputs import Annotations, load_inputs, scoring_options
from nereval_core.api.verb_options import VerdictOptions
from nereval_core.corpus import Layer
from nereval_core.pairing import Pairing
from nereval_core.problems import one_of
from nereval_core.review import apply
from nereval_core.review.apply import AppliedVerdicts, adjudication, what_if
from nereval_core.review.apply.adjudication import Adjudicated, Undecided
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
        FormatError: unreadable input, or systems or verdicts that cannot be read; an unknown kind, or a reviewer who
            has no current verdict.
    """
    options = _verdict_options(reviewers, kinds, only_this_document)
    gold_layer, *layers = _layers(gold, systems or {}, format, pairing)
    return _applied(gold_layer, layers, verdicts, options)


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
    options = _verdict_options(reviewers, kinds, only_this_document)
    settings = scoring_options(criteria, merge, leave_out, counting).settings
    gold_layer, *layers = _layers(gold, systems, format, pairing)
    return what_if.what_if(_applied(gold_layer, layers, verdicts, options), layers, settings)


def adjudicate(
    first: Annotations,
    second: Annotations,
    *,
    verdicts: Verdicts = None,
    undecided: Undecided = "leave-out",
    only_this_document: bool = True,
    format: str = "auto",
    **pairing: Unpack[Pairing],
) -> Adjudicated:
    """Make one layer of two annotators: agreed spans, and the others by verdicts on the second against the first.

    `open` of the result lists the records without a verdict. Their spans are not in the layer, or, with `undecided`
    "first" or "second", those of one of the two are.

    Raises:
        FormatError: as `apply_verdicts`, and an unknown word in `undecided`.
    """
    one_of("undecided", undecided, Undecided)
    layers = _layers(first, {"second": second}, format, pairing)
    return adjudication.adjudicate(
        layers[0].renamed("first"),
        layers[1],
        _reviewed(verdicts),
        undecided=undecided,
        only_this_document=only_this_document,
    )


def _verdict_options(
    reviewers: Collection[str] | None, kinds: Collection[str] | None, only_this_document: bool
) -> VerdictOptions:
    return VerdictOptions(
        reviewers=None if reviewers is None else tuple(reviewers),
        kinds=None if kinds is None else tuple(kinds),
        only_this_document=only_this_document,
    )


def _applied(gold: Layer, layers: Sequence[Layer], verdicts: Verdicts, options: VerdictOptions) -> AppliedVerdicts:
    accepted = options.accepted(_reviewed(verdicts))
    return apply.apply_verdicts(gold, accepted, layers, only_this_document=options.only_this_document)


def _reviewed(verdicts: Verdicts) -> Reviewed:
    if isinstance(verdicts, Reviewed):
        return verdicts
    place = verdicts if verdicts is None or isinstance(verdicts, str) else Path(verdicts)
    with closing(ReviewStore.of_environment(place)) as store:
        return store.reviewed()


def _layers(gold: Annotations, systems: Mapping[str, Annotations], format: str, pairing: Pairing) -> list[Layer]:
    """Return the layers of gold and of the systems by their names, over gold's documents."""
    loaded = load_inputs(gold, systems, format=format, pairing=pairing)
    return [loaded.corpus.gold, *(layer.renamed(name) for name, layer in loaded.named_layers().items())]
