"""Attributes of `nereval_core.ledger.attributes` for the error class of a record under `strict`.

`class` is the error class of a record's gold span, else of its prediction, `ends` where the boundaries of classes
`boundary only` and `type and boundary` are wrong, `pattern left` and `pattern right` what a prediction of class
`boundary only` leaves out or takes in at that end, and `type` the type of the gold span, else of the prediction.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nereval_core.analysis.errors.boundary_patterns import EDGES, find_patterns
from nereval_core.analysis.errors.error_classes import CLASSES, ENDS, STRICT, classify_errors
from nereval_core.analysis.span_relations import carry_over
from nereval_core.review.attribute import Attribute, Records
from nereval_core.scoring import Scores


def error_class(records: Records, argument: str) -> Attribute | None:
    """Return the class of each record's span: CLASSES, nothing where it is strictly correct."""
    scores = _strict(records)
    if argument or scores is None:
        return None
    found = classify_errors(scores)
    return Attribute(_of_spans(records, scores, found.gold, found.pred), CLASSES)


def ends(records: Records, argument: str) -> Attribute | None:
    """Return the wrong boundaries of each record's span: ENDS."""
    scores = _strict(records)
    if argument or scores is None:
        return None
    found = classify_errors(scores)
    return Attribute(_of_spans(records, scores, found.gold_ends, found.pred_ends), ENDS)


def pattern(records: Records, argument: str) -> Attribute | None:
    """Return the words that each record's prediction lacks or adds at its left or right end."""
    scores = _strict(records)
    edge = next((edge for edge in EDGES if edge == argument), None)
    if edge is None or scores is None:
        return None
    found = find_patterns(scores)
    return Attribute(_of_spans(records, scores, found.gold[edge], found.pred[edge]), found.names)


def span_type(records: Records, argument: str) -> Attribute | None:
    """Return the type of each record's gold span, else of its prediction, as scored."""
    if argument:
        return None
    sides = records.scores.layers(records.criterion)
    names = tuple(sorted({*sides[0].types, *sides[1].types}))
    gold, pred = (np.array([names.index(kind) for kind in layer.types], np.int32)[layer.type] for layer in sides)
    return Attribute(records.rows.of_spans(gold, pred), names)


def _strict(records: Records) -> Scores | None:
    """Return scores under `strict`, None where error classes are undefined."""
    scores = records.scores
    if records.scores.criterion(records.criterion).unit == "token":
        return None
    if records.others is not None:
        scores = records.others.scores(names=[records.criterion, STRICT])
    if scores.settings.counting != "one-to-one" or STRICT not in {criterion.name for criterion in scores.criteria}:
        return None
    return scores


def _of_spans(records: Records, scores: Scores, gold: NDArray[Any], pred: NDArray[Any]) -> NDArray[Any]:
    """Return codes by record from codes by span under `strict`; the records' criterion may have own type rules."""
    layers = zip(scores.layers(STRICT), records.scores.layers(records.criterion), (gold, pred), strict=True)
    return records.rows.of_spans(*(carry_over(codes, strict, own) for strict, own, codes in layers))


__all__: Sequence[str] = ("ends", "error_class", "pattern", "span_type")
