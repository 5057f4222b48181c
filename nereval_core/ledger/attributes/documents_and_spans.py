"""Attributes of a record's document and spans: `in`, `types`, `form`, `gold SLICING` and `pred SLICING`."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import unquote

import numpy as np

from nereval_core.analysis.running_words import form_of
from nereval_core.analysis.slices.slicings import find_values
from nereval_core.analysis.slices.span_values import Side, SlicedScores
from nereval_core.analysis.surface_forms import folded_forms, masked_forms
from nereval_core.corpus.masking import is_masked
from nereval_core.records.queries import SAME_TYPE, YES
from nereval_core.review.attribute import Attribute, Records


def documents(records: Records, argument: str) -> Attribute | None:
    """Return which records stand in the documents whose ids are listed with commas, `%2C` being a comma in an id."""
    index = records.scores.layers(records.criterion)[0].documents.index
    numbers = [index[name] for name in map(unquote, argument.split(",")) if name in index]
    codes = np.full(len(records.rows), -1, np.int8)
    codes[np.isin(records.rows.doc, numbers)] = 0
    return Attribute(codes, (YES,))


def types(records: Records, argument: str) -> Attribute | None:
    """Return whether gold span and prediction of a record have one type; unaligned spans have nothing."""
    if argument:
        return None
    gold, pred = records.scores.layers(records.criterion)
    rows = records.rows
    codes = np.full(len(rows), -1, np.int8)
    paired = np.flatnonzero((rows.gold >= 0) & (rows.pred >= 0))
    number = {name: code for code, name in enumerate({*gold.types, *pred.types})}
    one, two = (np.array([number[name] for name in layer.types], np.int64) for layer in (gold, pred))
    if len(paired):
        same = one[gold.type[rows.gold[paired]]] == two[pred.type[rows.pred[paired]]]
        codes[paired] = np.where(same, 0, 1)
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
    found = find_values(SlicedScores(records.scores, records.criterion, records.read, **beside), name)
    if found is None:
        return None
    rows = records.rows
    # The last one is that of index -1, no span.
    codes = np.append(found.of(side), -1)[rows.gold if side == "gold" else rows.pred]
    # Counting each side for itself, the span that one was judged by has a record of its own.
    own = (rows.side == 0) | (rows.anchored == (side == "gold"))
    return Attribute(np.where(own, codes, -1), found.names)


__all__: Sequence[str] = ("documents", "form", "of_gold", "of_pred", "record_form", "types")
