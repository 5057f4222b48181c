"""The overlap curve: P, R and F1 as a function of the minimum overlap, exact at every value at which they change.

Under a criterion that asks only for a share of overlap (and perhaps equal types), credit is the size of the largest
one-to-one matching of the pairs that reach it. Pairs are added in descending order of overlap. Each enlarges the
matching by at most one, and does so exactly if there is an augmenting path through the new pair (Berge 1957).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from nereval_core.alignment.codes import SAME_TYPE
from nereval_core.analysis.span_relations import overlapping_pairs
from nereval_core.corpus import Layer
from nereval_core.corpus.arrays import Int64
from nereval_core.scoring.count_tables import Columns
from nereval_core.scoring.criteria import Criterion, Share

SHARES: Mapping[Share, str] = {
    "gold": "share of the gold span",
    "prediction": "share of the prediction",
    "union": "intersection over union",
}
CURVE_COLUMNS: Columns = {
    "minimum": "float64",
    **dict.fromkeys(("numerator", "denominator", "COR"), "int64"),
    **dict.fromkeys(("precision", "recall", "f1"), "float64"),
}
"""Columns of `overlap_curve` and their dtypes. `minimum` is the fraction `numerator` / `denominator`, in lowest terms;
COR and the ratios (NaN where undefined) hold from there down to the next row's minimum, exclusive."""


def overlap_curve(gold: Layer, pred: Layer, share: Share = "union", *, same_type: bool = True) -> pd.DataFrame:
    """Return a row for each minimum overlap at which COR changes, from 1 down to 0: CURVE_COLUMNS.

    The layers are as scored, with types merged and left out. The last row holds for any overlap.

    Raises:
        FormatError: more pairs than fit in memory.
    """
    pairs, gold_size, pred_size = overlapping_pairs(gold, pred)
    if same_type:
        pairs = pairs.take(pairs.code & SAME_TYPE != 0)
    sizes = (gold_size[pairs.gold], pred_size[pairs.pred])
    whole = {"gold": sizes[0], "prediction": sizes[1]}.get(share)
    if whole is None:
        whole = sizes[0] + sizes[1] - pairs.shared
    # Fractions of numbers below 2 to the power of 26 differ in float64 where they differ at all.
    overlap = pairs.shared / whole
    order = np.argsort(-overlap, kind="stable")
    grown = _enlarges_matching(pairs.gold[order], pairs.pred[order], len(gold), len(pred))
    value = overlap[order]
    steps = np.flatnonzero(grown)
    # Pairs of equal overlap qualify together: the last of them has the count.
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
    """Return the number of the row that holds at a minimum overlap, 0 to 1."""
    least = Fraction(minimum)
    reached = [
        Fraction(top, below) >= least
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


def _enlarges_matching(g: Int64, p: Int64, golds: int, preds: int) -> NDArray[np.bool_]:
    """Tell for each pair, in this order, whether it enlarges the largest matching of the pairs before it."""
    grown = np.ones(len(g), bool)
    # Most pairs have spans that are in no other pair, and need no search.
    rivals = (np.bincount(g, minlength=golds)[g] > 1) | (np.bincount(p, minlength=preds)[p] > 1)
    contested = np.flatnonzero(rivals)
    sides = (_MatchedSide({}, {}), _MatchedSide({}, {}))
    grown[contested] = [
        _add_pair(*sides, gold_span, pred_span)
        for gold_span, pred_span in zip(g[contested].tolist(), p[contested].tolist(), strict=True)
    ]
    return grown


@dataclass(frozen=True, slots=True)
class _MatchedSide:
    """The spans of one side: the partner of each matched span, and the possible partners of each span."""

    partner: dict[int, int]
    near: dict[int, list[int]]

    def freeing(self, start: int, other: _MatchedSide) -> list[int] | None:
        """Return a path of spans of this side from an unmatched one to `start`, where each can take the next one's
        partner.

        None where there is no such path; `start` alone where it is unmatched.
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

    def hand_on(self, way: Sequence[int], other: _MatchedSide) -> None:
        """Give each span of the path the partner of the next one; the last one is left unmatched."""
        for span, following in pairwise(way):
            self.partner[span] = self.partner[following]
            other.partner[self.partner[span]] = span


def _add_pair(gold: _MatchedSide, pred: _MatchedSide, g: int, p: int) -> bool:
    """Add a pair that may be matched, and tell whether the matching was enlarged through it."""
    gold.near.setdefault(g, []).append(p)
    pred.near.setdefault(p, []).append(g)
    ours = gold.freeing(g, pred)
    theirs = None if ours is None else pred.freeing(p, gold)
    if ours is None or theirs is None:
        return False
    # The two paths cannot meet, or there would have been an augmenting path without this pair.
    gold.hand_on(ours, pred)
    pred.hand_on(theirs, gold)
    gold.partner[g], pred.partner[p] = p, g
    return True
