"""Attributes of a record's own spans and document: type, form, slice, error class, placing, and the verdict on it.

`class` is the error class of a record's gold span, else of its prediction, `ends` where the boundaries of classes
`boundary only` and `type and boundary` are wrong, `pattern left` and `pattern right` what a prediction of class
`boundary only` leaves out or takes in at that end, and `type` the type of the gold span, else of the prediction. `like
KEY` tells the records of a group of errors by its key (`nereval_core.analysis.errors.error_groups`), `fair CLASS` those
that hold an error of a class of FairEval.
"""

from __future__ import annotations

from urllib.parse import unquote

import numpy as np

from nereval_core.analysis.errors import PLACINGS, placings
from nereval_core.analysis.errors.boundary_patterns import EDGES, find_patterns
from nereval_core.analysis.errors.error_classes import CLASSES, ENDS, STRICT, classify_errors
from nereval_core.analysis.errors.error_groups import GroupKey, group_spans
from nereval_core.analysis.errors.fair_classes import fair_spans, hold_spans
from nereval_core.analysis.running_words import form_of
from nereval_core.analysis.slices.slicings import find_values
from nereval_core.analysis.slices.span_values import Side, SlicedScores
from nereval_core.analysis.span_relations import carry_over
from nereval_core.analysis.surface_forms import folded_forms, masked_forms
from nereval_core.conventions.faireval.matching import CLASSES as FAIR_CLASSES
from nereval_core.corpus.arrays import Array
from nereval_core.corpus.masking import is_masked
from nereval_core.problems import FormatError
from nereval_core.records.queries import SAME_TYPE, YES
from nereval_core.review.attribute import Attribute, Records
from nereval_core.review.verdicts import KINDS
from nereval_core.review.verdicts_on_records import attach_verdicts
from nereval_core.scoring import Scores

NO_VERDICT = "none"
"""The value of the attribute `verdict` where none stands."""
VERDICT_ATTRIBUTES = ("verdict", "reviewer", "stale", "noted", "reviewed")
"""Attributes whose values change with another verdict."""


def documents(records: Records, argument: str) -> Attribute | None:
    """Return which records stand in the documents whose ids are listed with commas, `%2C` being a comma in an id."""
    index = records.scores.layers(records.criterion)[0].documents.index
    numbers = [index[name] for name in map(unquote, argument.split(",")) if name in index]
    return _where(np.isin(records.rows.doc, numbers))


def types(records: Records, argument: str) -> Attribute | None:
    """Return whether gold span and prediction of a record have one type; unaligned spans have nothing."""
    if argument:
        return None
    gold, pred = records.scores.layers(records.criterion)
    rows = records.rows
    codes = np.full(len(rows), -1, np.int8)
    paired = np.flatnonzero((rows.gold >= 0) & (rows.pred >= 0))
    if len(paired):
        names = tuple(sorted({*gold.types, *pred.types}))
        is_same = gold.type_codes(names)[rows.gold[paired]] == pred.type_codes(names)[rows.pred[paired]]
        codes[paired] = np.where(is_same, 0, 1)
    return Attribute(codes, SAME_TYPE)


def form(records: Records, argument: str) -> Attribute | None:
    """Return the surface form of each record's gold span, else of its prediction: its words without case.

    White space is one blank; a span of nothing else has no form. Where texts are masked, forms are told apart as ever,
    and called by `masked_forms`.
    """
    if argument:
        return None
    gold, pred = (folded_forms(layer) for layer in records.scores.layers(records.criterion))
    number = dict(gold[1])
    ours = np.array([number.setdefault(name, len(number)) for name in pred[1]], np.int32)
    codes = records.rows.of_spans(gold[0], ours[pred[0]] if len(ours) else pred[0])
    names = masked_forms(number).values() if is_masked(records.read[0].documents) else number
    return Attribute(np.where(codes == number.get("", -1), -1, codes), tuple(names))


def record_form(records: Records, record: int) -> str:
    """Return the surface form of one record as `form` names it where texts are not masked, "" where it has none."""
    gold, pred = records.scores.layers(records.criterion)
    gold_span, pred_span = int(records.rows.gold[record]), int(records.rows.pred[record])
    return form_of(gold.text(gold_span) if gold_span >= 0 else pred.text(pred_span))


def of_gold(records: Records, argument: str) -> Attribute | None:
    """Return the slice of each record's gold span, by a slicing of `analysis.slices`; none where it has no gold."""
    return _sliced(records, argument, "gold")


def of_pred(records: Records, argument: str) -> Attribute | None:
    """Return the slice of each record's prediction, as `of_gold` does."""
    return _sliced(records, argument, "pred")


def _sliced(records: Records, name: str, side: Side) -> Attribute | None:
    beside = {} if records.others is None else {"beside": records.others.beside}
    slices = find_values(SlicedScores(records.scores, records.criterion, records.read, **beside), name)
    if slices is None:
        return None
    rows = records.rows
    # The last one is that of index -1, no span.
    codes = np.append(slices.of(side), -1)[rows.gold if side == "gold" else rows.pred]
    # Counting each side for itself, the span that a span was judged by has a record of its own.
    is_own = (rows.side == 0) | (rows.anchored == (side == "gold"))
    return Attribute(np.where(is_own, codes, -1), slices.names)


def error_class(records: Records, argument: str) -> Attribute | None:
    """Return the class of each record's span: CLASSES, nothing where it is strictly correct."""
    scores = _strict(records)
    if argument or scores is None:
        return None
    classes = classify_errors(scores)
    return Attribute(_of_spans(records, scores, classes.gold, classes.pred), CLASSES)


def ends(records: Records, argument: str) -> Attribute | None:
    """Return the wrong boundaries of each record's span: ENDS."""
    scores = _strict(records)
    if argument or scores is None:
        return None
    classes = classify_errors(scores)
    return Attribute(_of_spans(records, scores, classes.gold_ends, classes.pred_ends), ENDS)


def pattern(records: Records, argument: str) -> Attribute | None:
    """Return the words that each record's prediction lacks or adds at its left or right end."""
    scores = _strict(records)
    edge = next((edge for edge in EDGES if edge == argument), None)
    if edge is None or scores is None:
        return None
    patterns = find_patterns(scores)
    return Attribute(_of_spans(records, scores, patterns.gold[edge], patterns.pred[edge]), patterns.names)


def like(records: Records, argument: str) -> Attribute | None:
    """Return which records belong to a group of errors, by its key; None where the criterion has no groups."""
    key = GroupKey.of(argument)
    scores, name = records.scores, records.criterion
    if key is None or scores.criterion(name).unit == "token" or scores.settings.counting != "one-to-one":
        return None
    gold, pred = (np.zeros(len(layer), bool) for layer in scores.layers(name))
    for is_in_group, spans in zip((gold, pred), group_spans(scores, name, key), strict=True):
        is_in_group[spans] = True
    return _where(records.rows.of_spans(gold, pred))


def fair(records: Records, argument: str) -> Attribute | None:
    """Return which records hold an error of a class of FairEval, or a span that it counts as right (TP)."""
    scores = _strict(records)
    if argument not in FAIR_CLASSES or scores is None:
        return None
    try:
        sides = fair_spans(scores, argument)
    except FormatError:
        return None
    return _where(hold_spans(records.rows, *_by_side(records, scores, *sides)))


def span_type(records: Records, argument: str) -> Attribute | None:
    """Return the type of each record's gold span, else of its prediction, as scored."""
    if argument:
        return None
    sides = records.scores.layers(records.criterion)
    names = tuple(sorted({*sides[0].types, *sides[1].types}))
    gold, pred = (layer.type_codes(names).astype(np.int32) for layer in sides)
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


def _of_spans(records: Records, scores: Scores, gold: Array, pred: Array) -> Array:
    """Return codes by record from codes by span under `strict`; the records' criterion may have own type rules."""
    return records.rows.of_spans(*_by_side(records, scores, gold, pred))


def _by_side(records: Records, scores: Scores, *sides: Array) -> tuple[Array, Array]:
    layers = zip(scores.layers(STRICT), records.scores.layers(records.criterion), sides, strict=True)
    gold, pred = (carry_over(codes, strict, own) for strict, own, codes in layers)
    return gold, pred


def placing(records: Records, argument: str) -> Attribute | None:
    """Return the placing of each record's prediction: PLACINGS, or nothing where it is exact."""
    codes = None if argument else placings(records.scores, records.criterion)
    if codes is None:
        return None
    pred = records.rows.pred
    return Attribute(np.where(pred >= 0, codes[pred], -1).astype(np.int8), PLACINGS)


def verdict(records: Records, argument: str) -> Attribute | None:
    """Return the kind of the verdict that decides each record, NO_VERDICT where none does."""
    if records.others is None:
        return None
    verdicts, names = attach_verdicts(records), (*KINDS, NO_VERDICT)
    codes = np.array([names.index(standing.verdict.kind) for standing in verdicts.verdicts] + [len(KINDS)], np.int8)
    return Attribute(codes[np.where(verdicts.decided, verdicts.at, -1)], names)


def reviewer(records: Records, argument: str) -> Attribute | None:
    """Return the reviewer whose verdict decides each record."""
    if records.others is None:
        return None
    verdicts = attach_verdicts(records)
    names = tuple(sorted({standing.who for standing in verdicts.verdicts}))
    return Attribute(
        np.array([names.index(standing.who) for standing in verdicts.verdicts] + [-1], np.int32)[
            np.where(verdicts.decided, verdicts.at, -1)
        ],
        names,
    )


def stale(records: Records, argument: str) -> Attribute | None:
    """Return whether the verdict on each record is stale: it was given on another text, span or partner."""
    return None if records.others is None else _where(attach_verdicts(records).stale)


def noted(records: Records, argument: str) -> Attribute | None:
    """Return whether the verdict on each record has a note."""
    if records.others is None:
        return None
    verdicts = attach_verdicts(records)
    return _where(np.array([*(bool(standing.verdict.note) for standing in verdicts.verdicts), False])[verdicts.at])


def reviewed(records: Records, argument: str) -> Attribute | None:
    """Return whether a verdict decides each record: a stale one does not."""
    return None if records.others is None else _where(attach_verdicts(records).decided)


def _where(is_so: Array) -> Attribute:
    """Return the attribute with the value YES where a mask of the records is true."""
    return Attribute(np.where(is_so, 0, -1).astype(np.int8), (YES,))
