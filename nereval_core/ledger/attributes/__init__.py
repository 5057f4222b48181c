"""Attributes of match records beyond their facets, which a query asks for by name and value.

An attribute is named by a word and, where it needs one, an argument after a blank: `under left` is the decision of a
record's span under the criterion `left`. A new attribute is one function and one row of ATTRIBUTES.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from nereval_core.ledger.attributes import criteria as attributes_criteria
from nereval_core.ledger.attributes import documents_and_spans
from nereval_core.ledger.attributes import errors as attributes_errors
from nereval_core.ledger.attributes import placing as attributes_placing
from nereval_core.ledger.attributes import systems as attributes_systems
from nereval_core.ledger.attributes import verdicts as review_attributes
from nereval_core.records.tables import DECISIONS
from nereval_core.review.attribute import Attribute, Records


def find_attribute(records: Records, name: str) -> Attribute | None:
    """Return an attribute by its name with its argument, None where there is no such attribute."""
    word, _, argument = name.partition(" ")
    provider = ATTRIBUTES.get(word)
    return None if provider is None else provider(records, argument)


def under(records: Records, argument: str) -> Attribute | None:
    """Return the decision of each record's gold span, else of its prediction, under another criterion.

    None where that criterion is not scored, or its own type rules score other spans.
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
    "by": attributes_systems.by,
    "predicted-by": attributes_systems.predicted_by,
    "against": attributes_systems.against,
    "right-by": attributes_systems.right,
    "in": documents_and_spans.documents,
    "types": documents_and_spans.types,
    "form": documents_and_spans.form,
    "class": attributes_errors.error_class,
    "ends": attributes_errors.ends,
    "pattern": attributes_errors.pattern,
    "type": attributes_errors.span_type,
    "placing": attributes_placing.placing,
    "gap": attributes_criteria.gap,
    "credit": attributes_criteria.credit,
    "flips": attributes_criteria.flips,
    "recovered": attributes_criteria.first_credited,
    "merging": attributes_criteria.merging,
    "fold": attributes_criteria.fold,
    "verdict": review_attributes.verdict,
    "reviewer": review_attributes.reviewer,
    "stale": review_attributes.stale,
    "noted": review_attributes.noted,
    "reviewed": review_attributes.reviewed,
    "gold": documents_and_spans.of_gold,
    "pred": documents_and_spans.of_pred,
}
"""Attributes by the first word of their names."""
