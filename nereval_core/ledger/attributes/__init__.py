"""Attributes of match records beyond their facets, which a query asks for by name and value.

An attribute is named by a word and, where it needs one, an argument after a blank: `under left` is the decision of a
record's span under the criterion `left`. A new attribute is one function and one row of ATTRIBUTES.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from nereval_core.analysis.errors.fair_classes import FAIR
from nereval_core.ledger.attributes import comparisons, own_facts
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
    "by": comparisons.by,
    "predicted-by": comparisons.predicted_by,
    "against": comparisons.against,
    "right-by": comparisons.right,
    "in": own_facts.documents,
    "types": own_facts.types,
    "form": own_facts.form,
    "class": own_facts.error_class,
    "ends": own_facts.ends,
    "pattern": own_facts.pattern,
    "like": own_facts.like,
    FAIR: own_facts.fair,
    "type": own_facts.span_type,
    "placing": own_facts.placing,
    "gap": comparisons.gap,
    "forgiven": comparisons.forgiven,
    "credit": comparisons.credit,
    "changed": comparisons.changed,
    "flips": comparisons.flips,
    "recovered": comparisons.first_credited,
    "merging": comparisons.merging,
    "fold": comparisons.fold,
    "verdict": own_facts.verdict,
    "reviewer": own_facts.reviewer,
    "stale": own_facts.stale,
    "noted": own_facts.noted,
    "reviewed": own_facts.reviewed,
    "gold": own_facts.of_gold,
    "pred": own_facts.of_pred,
}
"""Attributes by the first word of their names."""
