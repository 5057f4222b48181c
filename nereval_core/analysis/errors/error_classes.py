"""What kinds of errors there are: each record that is not strictly correct has exactly one class.

All is decided on the records of the one-to-one alignment under `strict` (types merged and left out as scored) and on
which of their spans share a character. The classes, of which a record has the first that applies:

1. `duplicate`: a prediction aligned with nothing that repeats another one, equal in boundaries, fragments and type.
   Of several equal ones the aligned are no duplicates; where none is aligned, the first is none.
2. `split`, one gold span and several predictions: an aligned pair that is not correct where a prediction aligned with
   nothing (and no duplicate) shares a character with the gold span; and each such prediction.
3. `merged`, several gold spans and one prediction: an aligned pair that is not correct where a gold span aligned with
   nothing shares a character with the prediction; and each such gold span.
4. `type only`: any other pair of equal boundaries. 5. `boundary only`: any other pair of equal type. 6. `type and
   boundary`: any other pair. 7. `missed`: any other gold span. 8. `spurious`: any other prediction.

What overlaps correct spans alone is missed or spurious: the correct ones have nothing to do with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from nereval_core.alignment.candidates import shared_characters
from nereval_core.alignment.codes import ranges
from nereval_core.arrays import Bools
from nereval_core.corpus import Layer, frozen
from nereval_core.glossary import ERROR_CLASSES
from nereval_core.records.tables import BOUNDARIES, boundaries
from nereval_core.scoring import Scores
from nereval_core.scoring.criteria import Decision

Codes = NDArray[np.int8]
Spans = NDArray[Any]

STRICT = "strict"
CLASSES = ERROR_CLASSES
"""The classes in the order in which they are tried."""
DUPLICATE, SPLIT, MERGED, TYPE, BOUNDARY, BOTH, MISSED, SPURIOUS = range(len(CLASSES))
ENDS = ("left short", "left long", "right short", "right long", "both ends", "fragments")
"""Where the boundaries of the prediction are wrong: it leaves words out (short) or takes words in (long) at one end,
differs at both, or has gold's two ends and other fragments."""


@dataclass(frozen=True, eq=False)
class Taxonomy:
    """The class of every span by its strict record, and the spans that the records are made of.

    `gold` and `pred` are indices into CLASSES by span as scored under `strict`, -1 for the correct; `gold_ends` and
    `pred_ends` indices into ENDS of the spans of classes `boundary only` and `type and boundary`, else -1. `partner`
    is the prediction that each gold span is aligned with, -1 for none.
    """

    gold: Codes
    pred: Codes
    gold_ends: Codes
    pred_ends: Codes
    partner: NDArray[np.int32]

    @property
    def alone(self) -> Bools:
        """Which predictions are records of their own, shape (predictions,): aligned with nothing."""
        alone = np.ones(len(self.pred), bool)
        alone[self.partner[self.partner >= 0]] = False
        return alone

    def counts(self) -> NDArray[np.int64]:
        """Return the number of records of each class, shape (classes,)."""
        own = self.pred[self.alone]
        every = np.concatenate((self.gold[self.gold >= 0], own[own >= 0]))
        return np.bincount(every, minlength=len(CLASSES)).astype(np.int64)


_KEPT: WeakKeyDictionary[Scores, Taxonomy] = WeakKeyDictionary()


def taxonomy(scores: Scores) -> Taxonomy:
    """Return the class of every span; found once for the same scores.

    Raises:
        ValueError: `strict` is not scored, or each side counts for itself.
    """
    if scores.settings.counting != "one-to-one" or STRICT not in {criterion.name for criterion in scores.criteria}:
        raise ValueError("error classes need the one-to-one alignment under strict")
    if scores not in _KEPT:
        _KEPT[scores] = _classified(scores)
    return _KEPT[scores]


def _classified(scores: Scores) -> Taxonomy:
    gold, pred = scores.layers(STRICT)
    partner, _ = scores.partners(STRICT)
    gold_decision, pred_decision = scores.decisions(STRICT)
    g = np.flatnonzero(gold_decision == Decision.INC)
    p = partner[g]
    missed = np.flatnonzero(gold_decision == Decision.MIS)
    spurious = np.flatnonzero(pred_decision == Decision.SPU)
    repeated = _repeated(pred, spurious)
    extra = spurious[~repeated]

    equal_types = np.array(gold.types, object)[gold.type[g]] == np.array(pred.types, object)[pred.type[p]]
    relation = boundaries(gold, pred, g, p)
    pairs = np.where(equal_types, BOUNDARY, np.where(relation == BOUNDARIES.index("equal"), TYPE, BOTH))
    takes, split = touching(pred, extra, gold, g)
    covered, merged = touching(gold, missed, pred, p)
    pairs = np.where(split, SPLIT, np.where(merged, MERGED, pairs)).astype(np.int8)

    of_gold, of_pred = (np.full(len(layer), -1, np.int8) for layer in (gold, pred))
    of_gold[g] = pairs
    of_pred[p] = pairs
    of_gold[missed] = np.where(covered, MERGED, MISSED)
    of_pred[spurious[repeated]] = DUPLICATE
    of_pred[extra] = np.where(takes, SPLIT, SPURIOUS)

    gold_ends, pred_ends = np.full(len(gold), -1, np.int8), np.full(len(pred), -1, np.int8)
    some = (pairs == BOUNDARY) | (pairs == BOTH)
    gold_ends[g[some]] = pred_ends[p[some]] = _ends(gold, pred, g[some], p[some])
    return Taxonomy(frozen(of_gold), frozen(of_pred), frozen(gold_ends), frozen(pred_ends), partner)


def _repeated(pred: Layer, spurious: Spans) -> Bools:
    """Tell which of the predictions aligned with nothing repeat another."""
    if not len(pred.duplicates):
        return np.zeros(len(spurious), bool)
    first = np.ones(len(pred), bool)
    first[pred.duplicates] = False
    run = np.cumsum(first) - 1
    lone = np.zeros(len(pred), bool)
    lone[spurious] = True
    aligned = np.bincount(run, ~lone) > 0
    repeated: Bools = aligned[run[spurious]] | ~first[spurious]
    return repeated


def _ends(gold: Layer, pred: Layer, g: Spans, p: Spans) -> Codes:
    """Return where the boundaries of pairs differ, as indices into ENDS."""
    left, right = pred.start[p] - gold.start[g], gold.end[g] - pred.end[p]
    conditions = [(left != 0) & (right != 0), left > 0, left < 0, right > 0, right < 0]
    names = ("both ends", "left short", "left long", "right short", "right long")
    return np.select(conditions, [ENDS.index(name) for name in names], ENDS.index("fragments")).astype(np.int8)


def touching(one: Layer, a: Spans, other: Layer, b: Spans) -> tuple[Bools, Bools]:
    """Tell which of the spans `a` of a layer share a character with one of the spans `b` of another, and which of `b`.

    `a` and `b` are indices in any order. The work grows with n log n, but for pairs with a discontinuous span, which
    are looked at one by one.
    """
    hit = np.zeros(len(a), bool), np.zeros(len(b), bool)
    sides = []
    for layer, spans in ((one, a), (other, b)):
        broken = np.zeros(len(layer), bool)
        broken[list(layer.fragments)] = True
        origin = layer.documents.base[layer.doc[spans]]
        sides.append((origin + layer.start[spans], origin + layer.end[spans], broken[spans]))
    whole = [np.flatnonzero(~broken) for _, _, broken in sides]
    edges = [(start[rows], end[rows]) for (start, end, _), rows in zip(sides, whole, strict=True)]
    hit[0][whole[0]] = _meeting(*edges[0], *edges[1])
    hit[1][whole[1]] = _meeting(*edges[1], *edges[0])
    for here, there, layers, of in ((0, 1, (one, other), (a, b)), (1, 0, (other, one), (b, a))):
        start, end, broken = sides[here]
        rows = np.flatnonzero(broken)
        pairs = _pairs(start[rows], end[rows], sides[there][0], sides[there][1])
        for mine, theirs in zip(rows[pairs[0]].tolist(), pairs[1].tolist(), strict=True):
            if shared_characters(_parts(layers[0], of[0][mine]), _parts(layers[1], of[1][theirs])):
                hit[here][mine] = hit[there][theirs] = True
    return hit


def _meeting(start: Spans, end: Spans, starts: Spans, ends: Spans) -> Bools:
    """Tell which intervals overlap one of some others; both are positions in the row of all texts."""
    order = np.argsort(starts, kind="stable")
    reach = np.append(np.maximum.accumulate(ends[order]), -1)
    # Of those that start before this one ends: whether any reaches past its start.
    last = np.searchsorted(starts[order], end, side="left") - 1
    met: Bools = (last >= 0) & (reach[last] > start)
    return met


def _pairs(start: Spans, end: Spans, starts: Spans, ends: Spans) -> tuple[Spans, Spans]:
    """Return all pairs of overlapping intervals, as indices into both."""
    order = np.argsort(starts, kind="stable")
    longest = int((ends - starts).max(initial=0))
    low = np.searchsorted(starts[order], start - longest, side="left")
    row, place = ranges(low, np.maximum(low, np.searchsorted(starts[order], end, side="left")))
    met = ends[order[place]] > start[row]
    return row[met], order[place[met]]


def _parts(layer: Layer, span: Any) -> tuple[tuple[int, int], ...]:
    return layer.fragments.get(int(span)) or ((int(layer.start[span]), int(layer.end[span])),)


def over(codes: NDArray[Any], layer: Layer, other: Layer) -> NDArray[Any]:
    """Return codes by span of one layer by span of another made from the same reading; -1 where a span is missing.

    Type rules leave spans out and put those of equal boundaries in another order.
    """
    if other is layer:
        return codes
    read, wanted = (np.arange(len(one)) if one.order is None else one.order for one in (layer, other))
    table = np.full(max(int(read.max(initial=-1)), int(wanted.max(initial=-1))) + 1, -1, codes.dtype)
    table[read] = codes
    return table[wanted]


__all__: Sequence[str] = ("CLASSES", "ENDS", "STRICT", "Taxonomy", "over", "taxonomy", "touching")
