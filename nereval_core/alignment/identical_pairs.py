"""Identical pairs that every best alignment contains: they are fixed before the rest is solved.

A pair is identical if its spans have the same boundaries and the same type, are in one piece, and are the only two
spans with these boundaries. Instead of such a pair, an alignment may hold each of its spans with another: (g, p') and
(g', p). Exchanging these for (g, p) and, if they overlap, (g', p') gains a pair of equal boundaries, which are not
those of p' or g'. So every best alignment holds (g, p) if no credit is lost:

- wherever the pair stands, if none but equal boundaries earn a whole credit (strict, exact, partial, muc): (g, p') and
  (g', p) have other boundaries, so that they earn half each at most, and (g, p) earns as much as both;
- where all spans that overlap the pair contain it, so that g' and p' overlap, if a table shows that (g', p') then earns
  what is lost (type, left, right, lenient);
- where no other gold span of its type overlaps the pair, or no other prediction of its type, if spans of different
  types earn nothing (type, left, right, either): one of (g, p') and (g', p) earns nothing, the other no more than it;
- else nowhere: p' may share the pair's start and g' its end, and (g', p') neither.

The rest of each best alignment is a best alignment of the rest: the sums of docs/scoring.md#alignment lose the same
terms, and so do the sorted lists of pairs.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Literal

import numpy as np

from nereval_core.alignment.candidates import CREDIT, TangledSpans
from nereval_core.alignment.codes import CODES, CONTAIN, END, EQUAL, SAME_TYPE, START, Rules, describe
from nereval_core.corpus.arrays import Array, Bools, Int64

Scope = Literal["everywhere", "innermost", "nowhere"]

IDENTICAL = EQUAL | START | END | CONTAIN | SAME_TYPE


def scopes(rules: Rules) -> dict[Scope, list[int]]:
    """Return the criteria, as columns of the rules, by where identical pairs may be fixed under them."""
    credit = CREDIT[rules.decisions]
    code = np.arange(CODES)
    whole = np.all(credit[code & IDENTICAL == IDENTICAL] == 2, axis=0)
    everywhere = whole & np.all(credit[code & EQUAL == 0] < 2, axis=0)
    unasked = np.all(credit == credit[code & IDENTICAL], axis=0)
    innermost = whole & unasked & np.all(credit[_TO_PRED] + credit[_TO_GOLD] <= 2 + credit[_LEFT], axis=0)
    by_scope: dict[Scope, list[int]] = {"everywhere": [], "innermost": [], "nowhere": []}
    for column in range(rules.criteria):
        scope: Scope = "everywhere" if everywhere[column] else "innermost" if innermost[column] else "nowhere"
        by_scope[scope].append(column)
    return {scope: columns for scope, columns in by_scope.items() if columns}


def fixed_first(rules: Rules) -> tuple[bool, bool]:
    """Return whether innermost identical pairs may be fixed under all criteria, and such as are alone of their type."""
    columns = scopes(rules)
    credit = CREDIT[rules.decisions]
    code = np.arange(CODES)
    typed = np.all(credit[code & IDENTICAL == IDENTICAL] == 2, axis=0)
    typed &= np.all(credit[code & SAME_TYPE == 0] == 0, axis=0)
    typed[columns.get("everywhere", [])] = True
    return "nowhere" not in columns, bool(typed.all())


def _exchanges() -> tuple[Array, Array, Array]:
    """Return the codes of (g, p'), (g', p) and (g', p') for all ways in which g' and p' can contain an identical pair.

    The pair stands at [2, 4); bounds outside it may be equal or differ either way, and so may types.
    """
    around = [(low, high) for low in (0, 1, 2) for high in (4, 5, 6) if (low, high) != (2, 4)]
    ways = np.array([(*g, *p, i, j) for g, p, i, j in product(around, around, range(3), range(3))], np.int64)
    gold_start, gold_end, pred_start, pred_end, gold_type, pred_type = ways.T
    start, end = np.full(len(ways), 2), np.full(len(ways), 4)
    codes = []
    for bounds, same in (
        ((start, end, pred_start, pred_end), pred_type == 0),
        ((gold_start, gold_end, start, end), gold_type == 0),
        ((gold_start, gold_end, pred_start, pred_end), gold_type == pred_type),
    ):
        codes.append(describe(*bounds) | np.where(same, SAME_TYPE, 0).astype(np.uint8))
    return codes[0], codes[1], codes[2]


_TO_PRED, _TO_GOLD, _LEFT = _exchanges()


@dataclass(frozen=True, slots=True)
class IdenticalPairs:
    """Distinct pairs of boundaries, sorted by start and end: `start`, `end`, and whether an identical pair has them.

    `gold_at` and `pred_at` are the spans of that pair, as indices into the tangle.
    """

    start: Int64
    end: Int64
    here: Bools
    gold_at: Int64
    pred_at: Int64

    @classmethod
    def of(cls, tangle: TangledSpans, gold_cluster: Int64, pred_cluster: Int64) -> IdenticalPairs:
        start, end, gold_place, pred_place = _places(tangle)
        golds, preds = (np.bincount(place, minlength=len(start)) for place in (gold_place, pred_place))
        gold_at, pred_at = np.zeros(len(start), np.int64), np.zeros(len(start), np.int64)
        gold_at[gold_place] = np.arange(len(gold_place))
        pred_at[pred_place] = np.arange(len(pred_place))
        here = (golds == 1) & (preds == 1)
        here &= tangle.gold_type.take(gold_at, mode="clip") == tangle.pred_type.take(pred_at, mode="clip")
        if tangle.gold_parts or tangle.pred_parts:
            # Where only hulls overlap nothing is known: clusters with discontinuous spans are left alone.
            odd = [gold_cluster[list(tangle.gold_parts)], pred_cluster[list(tangle.pred_parts)]]
            here &= ~np.isin(gold_cluster[gold_at], np.concatenate(odd))
        return cls(start, end, here, gold_at, pred_at)

    def fixed(self, scope: Scope) -> tuple[Int64, Int64]:
        """Return the pairs that may be fixed, as indices of gold spans and of predictions."""
        if scope == "innermost":
            places = innermost(self.start, self.end, self.here)
        else:
            places = np.flatnonzero(self.here) if scope == "everywhere" else np.zeros(0, np.int64)
        return self.gold_at[places], self.pred_at[places]


def _places(tangle: TangledSpans) -> tuple[Int64, Int64, Int64, Int64]:
    """Return the start and end of each distinct pair of boundaries, sorted, and the number of each span's."""
    start, end = np.zeros(tangle.ranks, np.int64), np.zeros(tangle.ranks, np.int64)
    start[tangle.gold_rank], start[tangle.pred_rank] = tangle.gold_start, tangle.pred_start
    end[tangle.gold_rank], end[tangle.pred_rank] = tangle.gold_end, tangle.pred_end
    # The tangle may be a part of another, and not have all of its ranks.
    used_ranks = np.flatnonzero(end)
    start, end = start[used_ranks], end[used_ranks]
    new = np.ones(len(used_ranks), bool)
    new[1:] = (start[1:] != start[:-1]) | (end[1:] != end[:-1])
    place = np.zeros(tangle.ranks, np.int64)
    place[used_ranks] = np.cumsum(new) - 1
    return start[new], end[new], place[tangle.gold_rank], place[tangle.pred_rank]


def innermost(start: Int64, end: Int64, may: Bools) -> Int64:
    """Return the places, of those that may be fixed, which all that overlap them contain.

    `start` and `end` are distinct pairs of boundaries, sorted. Once some are gone, those around them may have become
    innermost.
    """
    live = np.arange(len(start))
    fixed = [live[:0]]
    while may.any():
        # The next start after each one's own, and the last end before each one's own, stand outside it.
        inside = may & (_next_greater(start) >= end)
        candidates = np.flatnonzero(inside)
        ends = np.sort(end)
        before = np.searchsorted(ends, end[candidates])
        inside[candidates] = (before == 0) | (ends.take(before - 1) <= start[candidates])
        if not inside.any():
            break
        fixed.append(live[inside])
        rest = np.flatnonzero(~inside)
        live, start, end, may = live[rest], start[rest], end[rest], may[rest]
    return np.concatenate(fixed)


def _next_greater(values: Int64) -> Int64:
    """Return, for each of sorted values, the next that is greater; after the last, one greater than any."""
    new = np.empty(len(values), bool)
    new[0] = True
    np.not_equal(values[1:], values[:-1], out=new[1:])
    distinct = np.append(values[new], np.iinfo(np.int64).max)
    return distinct.take(np.cumsum(new))
