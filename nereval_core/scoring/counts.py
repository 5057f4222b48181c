"""Counts of decisions and their ratios, for a whole, by type or document, and averages of ratios.

Counts are integers and add up; ratios are computed when asked for and are None where undefined.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from nereval_core.alignment.codes import Decision
from nereval_core.arrays import Float64, Int64
from nereval_core.scoring.averages import Sums, ratio_columns

RATIOS = ("precision", "recall", "f1")


@dataclass(frozen=True, slots=True)
class Counts:
    """How many gold spans and predictions (counted by token: tokens) got which decision; index both with Decision.

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
        """(COR + 0.5 PAR) / ACT over predictions; None without predictions."""
        return _half(self.pred) / (2 * self.act) if self.act else None

    @property
    def recall(self) -> float | None:
        """(COR + 0.5 PAR) / POS over gold spans; None without gold spans."""
        return _half(self.gold) / (2 * self.pos) if self.pos else None

    @property
    def f1(self) -> float | None:
        """2PR / (P + R) as one fraction: 2 (COR + 0.5 PAR) / (POS + ACT) where both sides have the same credit.

        0 where neither side has any credit, None where there are no spans at all.
        """
        if not self.pos + self.act:
            return None
        of_gold, of_pred = _half(self.gold), _half(self.pred)
        if of_gold == of_pred:
            return of_gold / (self.pos + self.act)
        below = of_pred * self.pos + of_gold * self.act
        return of_pred * of_gold / below if below else 0.0

    def _both(self, decision: Decision) -> int | None:
        return self.gold[decision] if self.gold[decision] == self.pred[decision] else None


def _half(side: tuple[int, ...]) -> int:
    """Return twice the credit: 2 COR + PAR."""
    return 2 * side[Decision.COR] + side[Decision.PAR]


@dataclass(frozen=True, slots=True)
class Average:
    """A macro average: the mean over the `n` members where the ratio is defined, `undefined` left out.

    The sum is exact and rounded once, so that it depends neither on the order of the members nor on how they are
    spread over the parts of a corpus.
    """

    value: float | None
    n: int
    undefined: int

    @classmethod
    def of(cls, values: Iterable[float | None]) -> Average:
        everything = list(values)
        defined = [value for value in everything if value is not None]
        mean = math.fsum(defined) / len(defined) if defined else None
        return cls(mean, len(defined), len(everything) - len(defined))


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
