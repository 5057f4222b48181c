"""Precision, recall and F1 from counts: of one pair of counts, and of many rows at once, the same to the last bit.

All take twice the credit of gold spans and of predictions, 2 COR + PAR, which is a whole number.
"""

from __future__ import annotations

import numpy as np

from nereval_core.alignment.codes import Decision
from nereval_core.arrays import Float64, Int64

RATIOS = ("precision", "recall", "f1")

SAFE_FACTOR = 1 << 17
"""Counts of which three may be multiplied without leaving the whole numbers of float64."""


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
    found = np.full(len(top), np.nan)
    np.divide(top, bottom, out=found, where=bottom != 0)
    return found
