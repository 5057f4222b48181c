"""Classes of errors: each record that is not strictly correct has exactly one class.

Classes depend on the records of the one-to-one alignment under `strict` (types merged and left out as scored) and on
the spans that share a character. A record has the first of these classes that applies:

1. `duplicate`: a prediction aligned with nothing that repeats another one, equal in boundaries, fragments and type.
   Of several equal ones the aligned are not duplicates; where none is aligned, the first is not one.
2. `split`, one gold span and several predictions: an aligned pair that is not correct where a prediction aligned with
   nothing (and no duplicate) shares a character with the gold span; and each such prediction.
3. `merged`, several gold spans and one prediction: an aligned pair that is not correct where a gold span aligned with
   nothing shares a character with the prediction; and each such gold span.
4. `type only`: any other pair of equal boundaries. 5. `boundary only`: any other pair of equal type. 6. `type and
   boundary`: any other pair. 7. `missed`: any other gold span. 8. `spurious`: any other prediction.

A span that overlaps only correct spans is missed or spurious.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from nereval_core.analysis.span_relations import have_same_type, touching_spans
from nereval_core.arrays import Bools
from nereval_core.corpus import Layer, frozen
from nereval_core.records.reasons import BOUNDARIES, boundaries
from nereval_core.scoring import Scores
from nereval_core.scoring.criteria import Decision
from nereval_core.tables.glossary import ERROR_CLASSES

Codes = NDArray[np.int8]
Spans = NDArray[Any]

STRICT = "strict"
CLASSES = ERROR_CLASSES
"""The classes in the order in which they are tried."""
DUPLICATE, SPLIT, MERGED, TYPE, BOUNDARY, BOTH, MISSED, SPURIOUS = range(len(CLASSES))
ENDS = ("left short", "left long", "right short", "right long", "both ends", "fragments")
"""The wrong ends of a prediction: it leaves words out (short) or takes words in (long) at one end, differs at both
ends, or has gold's two ends and other fragments."""


@dataclass(frozen=True, eq=False)
class ErrorClasses:
    """The error class of every span, by its strict record.

    `gold` and `pred` are indices into CLASSES by span as scored under `strict`, -1 for correct spans. `gold_ends` and
    `pred_ends` are indices into ENDS for the classes `boundary only` and `type and boundary`, else -1. `partner` is the
    prediction that each gold span is aligned with, -1 for none.
    """

    gold: Codes
    pred: Codes
    gold_ends: Codes
    pred_ends: Codes
    partner: NDArray[np.int32]

    @property
    def alone(self) -> Bools:
        """The predictions that are aligned with nothing and are records of their own, shape (predictions,)."""
        alone = np.ones(len(self.pred), bool)
        alone[self.partner[self.partner >= 0]] = False
        return alone

    def counts(self) -> NDArray[np.int64]:
        """Return the number of records of each class, shape (classes,)."""
        own = self.pred[self.alone]
        codes = np.concatenate((self.gold[self.gold >= 0], own[own >= 0]))
        return np.bincount(codes, minlength=len(CLASSES)).astype(np.int64)


_KEPT: WeakKeyDictionary[Scores, ErrorClasses] = WeakKeyDictionary()


def classify_errors(scores: Scores) -> ErrorClasses:
    """Return the error class of every span, kept as long as the scores.

    Raises:
        ValueError: `strict` is not scored, or each side counts for itself.
    """
    if scores.settings.counting != "one-to-one" or STRICT not in {criterion.name for criterion in scores.criteria}:
        raise ValueError("error classes need the one-to-one alignment under strict")
    if scores not in _KEPT:
        _KEPT[scores] = _classify(scores)
    return _KEPT[scores]


def _classify(scores: Scores) -> ErrorClasses:
    gold, pred = scores.layers(STRICT)
    partner, _ = scores.partners(STRICT)
    gold_decision, pred_decision = scores.decisions(STRICT)
    g = np.flatnonzero(gold_decision == Decision.INC)
    p = partner[g]
    missed = np.flatnonzero(gold_decision == Decision.MIS)
    spurious = np.flatnonzero(pred_decision == Decision.SPU)
    repeated = _repeats_another(pred, spurious)
    extra = spurious[~repeated]

    equal_types = have_same_type(gold, pred, g, p)
    relation = boundaries(gold, pred, g, p)
    pairs = np.where(equal_types, BOUNDARY, np.where(relation == BOUNDARIES.index("equal"), TYPE, BOTH))
    takes, split = touching_spans(pred, extra, gold, g)
    covered, merged = touching_spans(gold, missed, pred, p)
    pairs = np.where(split, SPLIT, np.where(merged, MERGED, pairs)).astype(np.int8)

    of_gold, of_pred = (np.full(len(layer), -1, np.int8) for layer in (gold, pred))
    of_gold[g] = pairs
    of_pred[p] = pairs
    of_gold[missed] = np.where(covered, MERGED, MISSED)
    of_pred[spurious[repeated]] = DUPLICATE
    of_pred[extra] = np.where(takes, SPLIT, SPURIOUS)

    gold_ends, pred_ends = np.full(len(gold), -1, np.int8), np.full(len(pred), -1, np.int8)
    has_wrong_ends = (pairs == BOUNDARY) | (pairs == BOTH)
    gold_ends[g[has_wrong_ends]] = pred_ends[p[has_wrong_ends]] = _wrong_ends(
        gold, pred, g[has_wrong_ends], p[has_wrong_ends]
    )
    return ErrorClasses(frozen(of_gold), frozen(of_pred), frozen(gold_ends), frozen(pred_ends), partner)


def _repeats_another(pred: Layer, spurious: Spans) -> Bools:
    """Tell which of the predictions aligned with nothing repeat another prediction."""
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


def _wrong_ends(gold: Layer, pred: Layer, g: Spans, p: Spans) -> Codes:
    """Return the ends at which pairs differ, as indices into ENDS."""
    left, right = pred.start[p] - gold.start[g], gold.end[g] - pred.end[p]
    conditions = [(left != 0) & (right != 0), left > 0, left < 0, right > 0, right < 0]
    names = ("both ends", "left short", "left long", "right short", "right long")
    return np.select(conditions, [ENDS.index(name) for name in names], ENDS.index("fragments")).astype(np.int8)
