"""Counts of decisions, for a whole, by type or by document, and the averages of their ratios.

Counts are integers and add up; ratios are computed when asked for and are None where undefined.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from nereval_core.alignment.codes import Decision
from nereval_core.arrays import Float64, Int64
from nereval_core.scoring.averages import Average, Sums
from nereval_core.scoring.ratios import RATIOS, f1_of, precision_of, ratio_columns, recall_of


@dataclass(frozen=True, slots=True)
class Counts:
    """Numbers of gold spans and of predictions (counted by token: tokens) by Decision.

    One to one, the two sides agree on COR, INC and PAR of the whole corpus, but not by type: a type's gold spans and
    its predictions each carry their own decisions.
    """

    gold: tuple[int, ...] = (0,) * 5
    pred: tuple[int, ...] = (0,) * 5

    def __add__(self, other: Counts) -> Counts:
        return Counts(
            tuple(map(int.__add__, self.gold, other.gold)),
            tuple(map(int.__add__, self.pred, other.pred)),
        )

    @property
    def mis(self) -> int:
        return self.gold[Decision.MIS]

    @property
    def spu(self) -> int:
        return self.pred[Decision.SPU]

    @property
    def cor(self) -> int | None:
        return self._both(Decision.COR)

    @property
    def inc(self) -> int | None:
        return self._both(Decision.INC)

    @property
    def par(self) -> int | None:
        return self._both(Decision.PAR)

    @property
    def pos(self) -> int:
        """Gold spans: COR + INC + PAR + MIS."""
        return sum(self.gold)

    @property
    def act(self) -> int:
        """Predictions: COR + INC + PAR + SPU."""
        return sum(self.pred)

    @property
    def precision(self) -> float | None:
        return precision_of(_twice_credit(self.pred), self.act)

    @property
    def recall(self) -> float | None:
        return recall_of(_twice_credit(self.gold), self.pos)

    @property
    def f1(self) -> float | None:
        return f1_of(_twice_credit(self.gold), _twice_credit(self.pred), self.pos, self.act)

    def _both(self, decision: Decision) -> int | None:
        return self.gold[decision] if self.gold[decision] == self.pred[decision] else None


def _twice_credit(side: tuple[int, ...]) -> int:
    return 2 * side[Decision.COR] + side[Decision.PAR]


@dataclass(frozen=True, eq=False)
class DocumentCounts(Mapping[str, Counts]):
    """Counts of the documents that have spans on either side, in their order, as columns: made objects one by one.

    `ids` are those of all documents; `numbers` (rows,) says which of them have a row, `gold` and `pred` (rows, 5) are
    their counts by Decision.
    """

    ids: tuple[str, ...]
    numbers: Int64
    gold: Int64
    pred: Int64

    @classmethod
    def of(cls, ids: tuple[str, ...], gold: Int64, pred: Int64) -> DocumentCounts:
        """Leave out the documents without spans; the counts are of all of them."""
        some = np.flatnonzero(gold.any(axis=1) | pred.any(axis=1))
        if len(some) < len(ids):
            gold, pred = gold[some], pred[some]
        return cls(ids, some, gold, pred)

    @cached_property
    def ratios(self) -> tuple[Float64, Float64, Float64]:
        """Precision, recall and F1 of each row, NaN where undefined."""
        return ratio_columns(self.gold, self.pred)

    @cached_property
    def averages(self) -> dict[str, Average]:
        found = {}
        for name, values in zip(RATIOS, self.ratios, strict=True):
            sums = Sums(1)
            sums.add(values)
            found[name] = Average(sums.mean(), int(sums.n[0]), int(sums.undefined[0]))
        return found

    @cached_property
    def _rows(self) -> dict[str, int]:
        return {self.ids[number]: row for row, number in enumerate(self.numbers.tolist())}

    def __getitem__(self, document: str) -> Counts:
        return self._row(self._rows[document])

    def __iter__(self) -> Iterator[str]:
        return map(self.ids.__getitem__, self.numbers.tolist())

    def __len__(self) -> int:
        return len(self.numbers)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Mapping) and dict(self.items()) == dict(other.items())

    __hash__ = None  # type: ignore[assignment]

    def _row(self, row: int) -> Counts:
        return counts_of(self.gold[row], self.pred[row])


def counts_of(gold: Int64, pred: Int64) -> Counts:
    """Return the counts of two sides, each an array by Decision."""
    return Counts(tuple(gold.tolist()), tuple(pred.tolist()))


def averages_of(rows: Iterable[Counts]) -> dict[str, Average]:
    """Return the averages of precision, recall and F1."""
    everything = list(rows)
    return {name: Average.of(getattr(row, name) for row in everything) for name in RATIOS}
