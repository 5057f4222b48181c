"""Counts of decisions, for a whole, by type or by document, and precision, recall and F1 from them.

Counts are integers and add up; ratios are computed when asked for and are None where undefined: of one pair of counts,
and of many rows at once, the same to the last bit. All take twice the credit of gold spans and of predictions,
2 COR + PAR, which is a whole number.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from nereval_core.alignment.codes import Decision
from nereval_core.corpus.arrays import Float64, Int64

RATIOS = ("precision", "recall", "f1")

SAFE_FACTOR = 1 << 17
"""Counts of which three may be multiplied without leaving the whole numbers of float64."""


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

    @property
    def ser(self) -> float | None:
        """Slot error rate (Makhoul et al. 1999): (INC + 0.5 PAR + MIS + SPU) / POS, None without gold spans.

        It grows with errors, and beyond 1 where many predictions are spurious. INC and PAR are those of gold spans.
        """
        errors = 2 * (self.gold[Decision.INC] + self.mis + self.spu) + self.gold[Decision.PAR]
        return errors / (2 * self.pos) if self.pos else None

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

    ids: Sequence[str]
    numbers: Int64
    gold: Int64
    pred: Int64

    @classmethod
    def of(cls, ids: Sequence[str], gold: Int64, pred: Int64) -> DocumentCounts:
        """Leave out the documents without spans; the counts are of all of them."""
        filled_documents = np.flatnonzero(gold.any(axis=1) | pred.any(axis=1))
        if len(filled_documents) < len(ids):
            gold, pred = gold[filled_documents], pred[filled_documents]
        return cls(ids, filled_documents, gold, pred)

    @cached_property
    def ratios(self) -> tuple[Float64, Float64, Float64]:
        """Precision, recall and F1 of each row, NaN where undefined."""
        return ratio_columns(self.gold, self.pred)

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


def precision_of(of_pred: int, act: int) -> float | None:
    """Return (COR + 0.5 PAR) / ACT over predictions, None without predictions."""
    return of_pred / (2 * act) if act else None


def recall_of(of_gold: int, pos: int) -> float | None:
    """Return (COR + 0.5 PAR) / POS over gold spans, None without gold spans."""
    return of_gold / (2 * pos) if pos else None


def f1_of(of_gold: int, of_pred: int, pos: int, act: int) -> float | None:
    """Return 2PR / (P + R) as one fraction: 2 (COR + 0.5 PAR) / (POS + ACT) where both sides have the same credit.

    0 where one side or both have no credit, None where there are no spans at all.
    """
    if not pos + act:
        return None
    if of_gold == of_pred:
        return of_gold / (pos + act)
    below = of_pred * pos + of_gold * act
    return of_pred * of_gold / below if below else 0.0


def ratio_columns(gold: Int64, pred: Int64) -> tuple[Float64, Float64, Float64]:
    """Return precision, recall and F1 of rows of counts, shapes (rows, 5) by Decision; NaN where undefined.

    Each is the quotient of two whole numbers that float64 holds, so it is what the functions above give, bit for bit.
    """
    of_gold, of_pred = (2 * side[:, Decision.COR] + side[:, Decision.PAR] for side in (gold, pred))
    return ratios_of(of_gold, of_pred, gold.sum(axis=1), pred.sum(axis=1))


def ratios_of(of_gold: Int64, of_pred: Int64, pos: Int64, act: Int64) -> tuple[Float64, Float64, Float64]:
    """Return precision, recall and F1 of twice the credit of both sides, and the number of their spans."""
    top, bottom = of_gold, pos + act
    uneven = np.flatnonzero(of_gold != of_pred)
    if len(uneven):
        top, bottom = top.copy(), bottom.copy()
        top[uneven] = of_pred[uneven] * of_gold[uneven]
        bottom[uneven] = of_pred[uneven] * pos[uneven] + of_gold[uneven] * act[uneven]
    f1 = _quotients(top, bottom)
    if len(uneven):
        # No credit on one side only.
        f1[uneven[bottom[uneven] == 0]] = 0
        for row in uneven[np.maximum(pos, act)[uneven] > SAFE_FACTOR].tolist():
            # Products beyond the whole numbers of float64 are divided as integers.
            f1[row] = f1_of(*(int(column[row]) for column in (of_gold, of_pred, pos, act)))
    return _quotients(of_pred, 2 * act), _quotients(of_gold, 2 * pos), f1


def _quotients(top: Int64, bottom: Int64) -> Float64:
    quotients = np.full(len(top), np.nan)
    np.divide(top, bottom, out=quotients, where=bottom != 0)
    return quotients
