"""What else is known of match records beside their classes: attributes that a query may ask for by name and value.

An attribute is named by a word, where it needs one with an argument after a blank: `under left` is the decision of a
record's span under the criterion `left`. A new attribute is one function and one row of ATTRIBUTES.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from nereval_core import against, among, criteria_attributes, error_classes, slice_attributes
from nereval_core.corpus import Layer
from nereval_core.review import records as review_records
from nereval_core.review.reviewed import Reviewed
from nereval_core.scoring import Scores
from nereval_core.tables import DECISIONS, Rows


class Attribute(NamedTuple):
    """A value of each record, shape (records,): indices into `names`, -1 where the record has none."""

    codes: NDArray[Any]
    names: tuple[str, ...]

    def mask(self, value: str) -> NDArray[np.bool_]:
        """Return which records have a value, shape (records,)."""
        if value not in self.names:
            return np.zeros(len(self.codes), bool)
        return np.asarray(self.codes == self.names.index(value))

    def counts(self) -> dict[str, int]:
        """Return the number of records with each value, in the order of the values, zeros too."""
        sums = np.bincount(self.codes[self.codes >= 0], minlength=len(self.names))
        return dict(zip(self.names, sums.tolist(), strict=True))


class Others(Protocol):
    """Where scores come from beside those of the records at hand: of other systems, under other criteria."""

    @property
    def systems(self) -> Sequence[str]:
        """The names of all systems."""

    @property
    def gold(self) -> Layer:
        """The gold layer as it was read."""

    def scores(self, system: str | None = None, names: Sequence[str] = ()) -> Scores:
        """Return the scores of a system (None: the one at hand) under criteria that hold all those named."""

    @property
    def layers(self) -> Sequence[Layer]:
        """All layers as they were read, gold first."""

    @property
    def reviewed(self) -> Reviewed:
        """The verdicts that stand now."""

    def beside(self, digest: str) -> object | None:
        """Return the training layer or columns given beside the corpus, by the first digits of their digest."""


@dataclass(frozen=True, eq=False)
class Records:
    """The records of one system under one criterion, and what their attributes are found with.

    `read` are the layers (gold, prediction) as they were read, before type rules; span indices in `rows` refer to
    `scores.layers(criterion)`.
    """

    scores: Scores
    criterion: str
    rows: Rows
    read: tuple[Layer, Layer]
    others: Others | None = None


def find(records: Records, name: str) -> Attribute | None:
    """Return an attribute by its name and argument, None where there is none of that name."""
    word, _, argument = name.partition(" ")
    provider = ATTRIBUTES.get(word)
    found = None if provider is None else provider(records, argument)
    return None if found is None else Attribute(*found)


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


Provider = Callable[[Records, str], tuple[NDArray[Any], tuple[str, ...]] | None]
ATTRIBUTES: Mapping[str, Provider] = {
    "under": under,
    "by": against.by,
    "predicted-by": against.predicted_by,
    "against": against.against,
    "right-by": against.right,
    "in": among.documents,
    "types": among.types,
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
    "verdict": review_records.verdict,
    "reviewer": review_records.reviewer,
    "stale": review_records.stale,
    "noted": review_records.noted,
    "gold": slice_attributes.of_gold,
    "pred": slice_attributes.of_pred,
}
"""Attributes by the first word of their names."""
