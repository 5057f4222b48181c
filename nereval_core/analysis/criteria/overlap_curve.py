"""P, R and F1 as a function of the least overlap that is asked for, exact at every value at which they change.

Under a criterion that asks for nothing but a share of overlap (and perhaps equal types), credit is the size of the
largest one-to-one matching of the pairs that reach it. Pairs are added in descending order of overlap: each makes the
matching larger by one at most, which one augmenting path through the new pair tells (Berge 1957).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from types import MappingProxyType

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from nereval_core.alignment.codes import SAME_TYPE
from nereval_core.analysis.pairs import overlapping
from nereval_core.arrays import Int64
from nereval_core.corpus import Layer
from nereval_core.scoring.criteria import Criterion, Share

SHARES: Mapping[Share, str] = MappingProxyType(
    {
        "gold": "share of the gold span",
        "prediction": "share of the prediction",
        "union": "intersection over union",
    }
)
CURVE_COLUMNS: Mapping[str, str] = MappingProxyType(
    {
        "minimum": "float64",
        "numerator": "int64",
        "denominator": "int64",
        "COR": "int64",
        "precision": "float64",
        "recall": "float64",
        "f1": "float64",
    }
)
"""Columns of `overlap_curve` and their dtypes. `minimum` is the fraction `numerator` / `denominator`, in lowest terms;
COR and the ratios (NaN where undefined) hold from there down to the next row's minimum, that one left out."""


def overlap_curve(gold: Layer, pred: Layer, share: Share = "union", *, same_type: bool = True) -> pd.DataFrame:
    """Return a row for each least overlap at which COR changes, from 1 down to 0: CURVE_COLUMNS.

    The layers are as scored, with merged types and types left out. The last row holds down to 0, any overlap.

    Raises:
        FormatError: more pairs than can be looked at together.
    """
    pairs, gold_size, pred_size = overlapping(gold, pred)
    if same_type:
        pairs = pairs.take(pairs.code & SAME_TYPE != 0)
    sizes = (gold_size[pairs.gold], pred_size[pairs.pred])
    whole = {"gold": sizes[0], "prediction": sizes[1]}.get(share)
    if whole is None:
        whole = sizes[0] + sizes[1] - pairs.shared
    # Fractions of numbers below 2 to the power of 26 differ in float64 where they differ at all.
    overlap = pairs.shared / whole
    order = np.argsort(-overlap, kind="stable")
    grown = _grown(pairs.gold[order], pairs.pred[order], len(gold), len(pred))
    value = overlap[order]
    steps = np.flatnonzero(grown)
    # Pairs of one overlap qualify together: the last of them tells.
    last = np.append(value[steps[1:]] != value[steps[:-1]], True) if len(steps) else np.zeros(0, bool)
    first = steps[last]
    correct = np.arange(1, len(steps) + 1)[last]
    part, base = pairs.shared[order][first], whole[order][first]
    if not len(first) or value[first[0]] < 1:
        part, base, correct = (np.insert(column, 0, new) for column, new in ((part, 1), (base, 1), (correct, 0)))
    divisor = np.gcd(part, base)
    n, m = len(gold), len(pred)
    with np.errstate(invalid="ignore", divide="ignore"):
        ratios = [np.where(below, correct * times / below, np.nan) for times, below in ((1, m), (1, n), (2, n + m))]
    columns = (part / base, part // divisor, base // divisor, correct, *ratios)
    return pd.DataFrame(dict(zip(CURVE_COLUMNS, columns, strict=True))).astype(dict(CURVE_COLUMNS))


def step_at(table: pd.DataFrame, minimum: float | Fraction) -> int:
    """Return the number of the row that holds at a least overlap, 0 to 1."""
    asked = Fraction(minimum)
    reached = [
        Fraction(top, below) >= asked
        for top, below in zip(table["numerator"].tolist(), table["denominator"].tolist(), strict=True)
    ]
    return max(sum(reached) - 1, 0)


def criterion_at(table: pd.DataFrame, row: int, share: Share, *, same_type: bool = True) -> Criterion:
    """Return the criterion whose credit a row of `overlap_curve` gives."""
    top, below = table["numerator"].tolist()[row], table["denominator"].tolist()[row]
    return Criterion(
        name=f"{share}-{top}-{below}{'' if same_type else '-any-type'}",
        boundaries="overlap",
        same_type=same_type,
        minimum=Fraction(top, below),
        share=share,
        source="composed here",
    )


def _grown(g: Int64, p: Int64, golds: int, preds: int) -> NDArray[np.bool_]:
    """Return for each pair, in this order, whether the largest matching of those so far grows by it."""
    grown = np.ones(len(g), bool)
    # A pair whose spans are in no other one needs no search; most are so.
    rivals = (np.bincount(g, minlength=golds)[g] > 1) | (np.bincount(p, minlength=preds)[p] > 1)
    some = np.flatnonzero(rivals)
    sides = (_Side({}, {}), _Side({}, {}))
    grown[some] = [_add(*sides, one, other) for one, other in zip(g[some].tolist(), p[some].tolist(), strict=True)]
    return grown


@dataclass(frozen=True, slots=True)
class _Side:
    """The spans of one side: the partner of each that has one, and those of the other side that it may have."""

    partner: dict[int, int]
    near: dict[int, list[int]]

    def freeing(self, start: int, other: _Side) -> list[int] | None:
        """Return spans of this side from one that has no partner to `start`, each of which can take the next one's.

        None where there is no such way; `start` alone where it has no partner.
        """
        came = {start: -1}
        waiting = [start]
        for span in waiting:
            if span not in self.partner:
                way = [span]
                while came[way[-1]] >= 0:
                    way.append(came[way[-1]])
                return way
            for rival in other.near[self.partner[span]]:
                if rival not in came:
                    came[rival] = span
                    waiting.append(rival)
        return None

    def hand_on(self, way: Sequence[int], other: _Side) -> None:
        """Give each span of the way the partner of the next one; the last one is left without."""
        for span, following in pairwise(way):
            self.partner[span] = self.partner[following]
            other.partner[self.partner[span]] = span


def _add(gold: _Side, pred: _Side, g: int, p: int) -> bool:
    """Add a pair to those that may be matched; make the matching larger through it and say so, where it can be."""
    gold.near.setdefault(g, []).append(p)
    pred.near.setdefault(p, []).append(g)
    ours = gold.freeing(g, pred)
    theirs = None if ours is None else pred.freeing(p, gold)
    if ours is None or theirs is None:
        return False
    # The two ways cannot meet, or there would have been a path without this pair.
    gold.hand_on(ours, pred)
    pred.hand_on(theirs, gold)
    gold.partner[g], pred.partner[p] = p, g
    return True


__all__: Sequence[str] = ("CURVE_COLUMNS", "SHARES", "criterion_at", "overlap_curve", "step_at")
