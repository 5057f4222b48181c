"""Which pairs of spans count in nervaluate 0.3.1.

A prediction counts for every gold span it reaches that no prediction reached before. What it reaches does not depend on
the others, so that all predictions are looked at together.
"""

from __future__ import annotations

import numpy as np

from nereval_core.arrays import Int64
from nereval_core.conventions.nervaluate.matching import (
    IDENTICAL,
    SAME_BOUNDS,
    Clusters,
    Pairs,
    Units,
    described,
    joined,
    overlapping,
)


def reached(gold: Units, pred: Units, found: Clusters) -> tuple[Pairs, Int64]:
    """Return the pairs of tangled spans that count in 0.3.1, and the gold spans that an identical one counts for.

    Predictions stand in the order of their ends, gold spans in that of their starts. A prediction that is identical to
    a gold span reaches that one, used or not. Any other reaches the gold spans it overlaps up to the first with its
    own boundaries, which counts used or not; the others count if no prediction has reached them or their doubles.
    """
    g, p = found.gold, found.pred
    if not len(g):
        return joined([]), g
    first, group = _doubles(gold, g)
    place = np.full(len(gold), -1)
    place[g] = np.arange(len(g))
    row = np.full(len(pred), -1)
    row[p] = np.arange(len(p))
    rank = _inverse(np.lexsort((gold.order[g], gold.start[g])))
    turn = _inverse(np.lexsort((pred.order[p], pred.end[p])))
    by_rank, by_turn = _inverse(rank), _inverse(turn)
    never = len(g)
    same, stop = np.full(len(p), -1), np.full(len(p), never)
    for pairs in overlapping(gold, pred, g, p):
        equal = pairs.code == IDENTICAL
        same[row[pairs.pred[equal]]] = group[place[pairs.gold[equal]]]
        bounds = pairs.code == SAME_BOUNDS
        np.minimum.at(stop, row[pairs.pred[bounds]], rank[place[pairs.gold[bounds]]])
    earliest = np.full(len(first), len(p))
    for pairs in overlapping(gold, pred, g, p):
        ours, theirs = place[pairs.gold], row[pairs.pred]
        kept = np.where(same[theirs] >= 0, pairs.code == IDENTICAL, rank[ours] <= stop[theirs])
        np.minimum.at(earliest, group[ours[kept]], turn[theirs[kept]])
    exact = np.flatnonzero(same >= 0)
    halted = np.flatnonzero((same < 0) & (stop < never))
    touched = np.flatnonzero(earliest < len(p))
    by = by_turn[earliest[touched]]
    over = (same[by] < 0) & (rank[first[touched]] != stop[by])
    one = np.concatenate((first[same[exact]], by_rank[stop[halted]], first[touched[over]]))
    two = np.concatenate((exact, halted, by[over]))
    double = np.ones(len(g), bool)
    double[first] = False
    double &= earliest[group] < len(p)
    return Pairs(g[one], p[two], described(gold, pred, g[one], p[two])), g[double]


def _doubles(gold: Units, g: Int64) -> tuple[Int64, Int64]:
    """Return of each set of identical gold spans the place of the one given first, and the set of each span."""
    differ = np.ones(len(g), bool)
    differ[1:] = False
    for column in (gold.start[g], gold.end[g], gold.kind[g]):
        differ[1:] |= column[1:] != column[:-1]
    group = np.cumsum(differ) - 1
    order = np.lexsort((gold.order[g], group))
    return order[np.flatnonzero(differ)], group


def _inverse(order: Int64) -> Int64:
    inverse = np.empty(len(order), np.int64)
    inverse[order] = np.arange(len(order))
    return inverse
