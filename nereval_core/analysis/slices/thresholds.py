"""Decisions at confidence thresholds: predictions below a threshold are left out.

Each threshold is scored anew, so its counts are exact. Only documents in which a span overlaps several of the other
side are aligned again; in all others, leaving out a prediction only changes the decision on its gold span.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nereval_core.alignment.codes import Decision
from nereval_core.analysis.span_relations import overlap_counts
from nereval_core.arrays import UInt8
from nereval_core.corpus import Layer
from nereval_core.records.tables import DECISIONS
from nereval_core.scoring import Counts, Scores, Settings, score_layers

DROPPED = "left out"
DECIDED = (*DECISIONS, DROPPED)
"""The decisions on a span at a threshold."""
_OUT = len(DECISIONS)
MOST_THRESHOLDS = 100
"""Of more distinct scores, so many are chosen with about equally many predictions between them."""


def span_scores(layer: Layer) -> NDArray[np.float64]:
    """Return the system's score of each span, NaN where it has none, shape (spans,)."""
    found = np.full(len(layer), np.nan)
    if layer.scores:
        spans = np.fromiter(layer.scores.keys(), np.int64, len(layer.scores))
        found[spans] = np.fromiter(layer.scores.values(), np.float64, len(layer.scores))
    return found


@dataclass(frozen=True, eq=False)
class ThresholdDecisions:
    """The decisions of one system under a criterion at any threshold; predictions without a score are always kept."""

    scores: Scores
    criterion: str
    confidence: NDArray[np.float64]

    def steps(self, most: int = MOST_THRESHOLDS) -> NDArray[np.float64]:
        """Return the thresholds to show, increasing: all distinct scores, or `most` with the lowest and the highest."""
        known = np.sort(self.confidence[~np.isnan(self.confidence)])
        every = np.unique(known)
        if len(every) <= most:
            return every
        return np.unique(known[np.linspace(0, len(known) - 1, most).round().astype(np.int64)])

    def at(self, threshold: float) -> tuple[UInt8, UInt8]:
        """Return the decisions of gold spans and of predictions as indices into DECIDED, shape (spans,) each."""
        gold_codes, pred_codes = (codes.copy() for codes in self.scores.decisions(self.criterion))
        stays = ~(self.confidence < threshold)
        partner = self.scores.partners(self.criterion)[0]
        there = partner >= 0
        gold_codes[there] = np.where(stays[partner[there]], gold_codes[there], Decision.MIS)
        again_gold, again_pred = self._again
        pred_there = again_pred[stays[again_pred]]
        if len(again_gold) + len(again_pred):
            one, two = self._tangled
            some = two.take(np.flatnonzero(stays[again_pred])) if len(pred_there) < len(again_pred) else two
            redone = score_layers(one, some, self._settings)
            gold_codes[again_gold], pred_codes[pred_there] = redone.decisions(self.criterion)
        pred_codes[~stays] = _OUT
        return gold_codes, pred_codes

    def counts(self, threshold: float) -> Counts:
        """Return the counts of the predictions kept at a threshold."""
        sides = (np.bincount(codes, minlength=_OUT + 1)[:_OUT] for codes in self.at(threshold))
        return Counts(*(tuple(side.tolist()) for side in sides))

    @cached_property
    def _settings(self) -> Settings:
        # The layers are as scored, with types merged already.
        criterion = replace(self.scores.criterion(self.criterion), merge=(), leave_out=())
        return Settings((criterion,), (), (), self.scores.settings.counting)

    @cached_property
    def _again(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """The spans of the documents in which a span overlaps several of the other side."""
        gold, pred = self.scores.layers(self.criterion)
        tangled = np.zeros(len(gold.documents), bool)
        for layer, other in ((gold, pred), (pred, gold)):
            tangled[layer.doc[overlap_counts(layer, other) > 1]] = True
        return np.flatnonzero(tangled[gold.doc]), np.flatnonzero(tangled[pred.doc])

    @cached_property
    def _tangled(self) -> tuple[Layer, Layer]:
        # Attributes that no criterion needs would only take time.
        bare = (replace(layer, scores={}, meta={}, ids={}, links={}) for layer in self.scores.layers(self.criterion))
        one, two = (layer.take(some) for layer, some in zip(bare, self._again, strict=True))
        return one, two


def threshold_decisions(scores: Scores, criterion: str) -> ThresholdDecisions | None:
    """Return the decisions at thresholds, None if no prediction has a score or the criterion counts tokens."""
    pred = scores.layers(criterion)[1]
    if scores.criterion(criterion).unit == "token" or not pred.scores:
        return None
    return ThresholdDecisions(scores, criterion, span_scores(pred))
