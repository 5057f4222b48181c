"""What else is known of match records beside their classes: attributes that a query may ask for by name and value.

An attribute is named by a word, where it needs one with an argument after a blank: `under left` is the decision of a
record's span under the criterion `left`. A new attribute is one function and one row of ATTRIBUTES.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from nereval_core import against, among, criteria_attributes, error_classes, slice_attributes
from nereval_core.described import Attribute, Records
from nereval_core.review import attributes as review_attributes
from nereval_core.tables import DECISIONS


def find(records: Records, name: str) -> Attribute | None:
    """Return an attribute by its name and argument, None where there is none of that name."""
    word, _, argument = name.partition(" ")
    provider = ATTRIBUTES.get(word)
    return None if provider is None else provider(records, argument)


def under(records: Records, argument: str) -> Attribute | None:
    """Return the decision of each record's gold span, else of its prediction, under another criterion.

    None where that criterion is not scored, or not over the same spans: types merged or left out by its own rules.
    """
    scores = records.scores
    if records.others is not None:
        scores = records.others.scores(names=[records.criterion, argument])
    if argument not in {criterion.name for criterion in scores.criteria}:
        return None
    sides = scores.layers(argument)
    if [len(layer) for layer in sides] != [len(layer) for layer in records.scores.layers(records.criterion)]:
        return None
    gold, pred = scores.decisions(argument)
    return Attribute(records.rows.of_spans(gold, pred).astype(np.int8), DECISIONS)


Provider = Callable[[Records, str], Attribute | None]
ATTRIBUTES: Mapping[str, Provider] = {
    "under": under,
    "by": against.by,
    "predicted-by": against.predicted_by,
    "against": against.against,
    "right-by": against.right,
    "in": among.documents,
    "types": among.types,
    "form": among.form,
    "class": error_classes.error_class,
    "ends": error_classes.ends,
    "pattern": error_classes.pattern,
    "type": error_classes.span_type,
    "gap": criteria_attributes.gap,
    "credit": criteria_attributes.credit,
    "flips": criteria_attributes.flips,
    "recovered": criteria_attributes.first_credited,
    "merging": criteria_attributes.merging,
    "fold": criteria_attributes.fold,
    "verdict": review_attributes.verdict,
    "reviewer": review_attributes.reviewer,
    "stale": review_attributes.stale,
    "noted": review_attributes.noted,
    "reviewed": review_attributes.reviewed,
    "gold": slice_attributes.of_gold,
    "pred": slice_attributes.of_pred,
}
"""Attributes by the first word of their names."""
