"""Attributes of match records: a value for each record, and the data from which attributes are made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from nereval_core.corpus import Layer
from nereval_core.records.match_records import Rows
from nereval_core.review.standing_verdicts import Reviewed
from nereval_core.scoring import Scores


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
    """Source of other scores than those of the records at hand: of other systems, under other criteria."""

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
    """The records of one system under one criterion, and the data from which their attributes are made.

    `read` are the layers (gold, prediction) as they were read, before type rules; span indices in `rows` refer to
    `scores.layers(criterion)`.
    """

    scores: Scores
    criterion: str
    rows: Rows
    read: tuple[Layer, Layer]
    others: Others | None = None
