"""Scores against the threshold: what would be counted were predictions below a confidence left out.

Each point is scored anew, so it is exact. Only documents in which a span overlaps several of the other side have to be
aligned again; everywhere else leaving a prediction out changes the decision of its gold span alone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nereval_core.alignment.codes import Decision
from nereval_core.arrays import UInt8
from nereval_core.corpus import Layer
from nereval_core.records.tables import DECISIONS
from nereval_core.scoring import Counts, Scores, Settings, score_layers

DROPPED = "left out"
DECIDED = (*DECISIONS, DROPPED)
"""What a span is at a threshold."""
_OUT = len(DECISIONS)
MOST_STEPS = 100
"""Where predictions have more different scores, so many of them are taken, about evenly many predictions apart."""


def scores_of(layer: Layer) -> NDArray[np.float64]:
    """Return the system's score of each span, NaN where it has none, shape (spans,)."""
    found = np.full(len(layer), np.nan)
    if layer.scores:
        spans = np.fromiter(layer.scores.keys(), np.int64, len(layer.scores))
        found[spans] = np.fromiter(layer.scores.values(), np.float64, len(layer.scores))
    return found


@dataclass(frozen=True, eq=False)
class Thresholded:
    """The decisions of one system under a criterion at any threshold; predictions without a score always stay."""

    scores: Scores
    criterion: str
    confidence: NDArray[np.float64]

    def steps(self, most: int = MOST_STEPS) -> NDArray[np.float64]:
        """Return the thresholds to look at, increasing: every score there is, or, of more than `most`, some of them.

        The lowest and the highest are always among them.
        """
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
        """Return what scoring the predictions that stay counts."""
        sides = (np.bincount(codes, minlength=_OUT + 1)[:_OUT] for codes in self.at(threshold))
        return Counts(*(tuple(side.tolist()) for side in sides))

    @cached_property
    def _settings(self) -> Settings:
        # The layers are as scored: their types are merged already.
        criterion = replace(self.scores.criterion(self.criterion), merge=(), leave_out=())
        return Settings((criterion,), (), (), self.scores.settings.counting)

    @cached_property
    def _again(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return the spans of the documents in which one overlaps several of the other side."""
        gold, pred = self.scores.layers(self.criterion)
        tangled = np.zeros(len(gold.documents), bool)
        for layer, other in ((gold, pred), (pred, gold)):
            tangled[layer.doc[overlapped(layer, other) > 1]] = True
        return np.flatnonzero(tangled[gold.doc]), np.flatnonzero(tangled[pred.doc])

    @cached_property
    def _tangled(self) -> tuple[Layer, Layer]:
        # What no criterion looks at would be carried along span by span.
        bare = (replace(layer, scores={}, meta={}, ids={}, links={}) for layer in self.scores.layers(self.criterion))
        one, two = (layer.take(some) for layer, some in zip(bare, self._again, strict=True))
        return one, two


def overlapped(layer: Layer, other: Layer) -> NDArray[np.int64]:
    """Return how many spans of another layer reach into the hull of each span, from first to last character."""
    base = layer.documents.base
    starts, ends = (np.sort(base[other.doc] + edge) for edge in (other.start, other.end))
    at = base[layer.doc]
    return np.searchsorted(starts, at + layer.end, side="left") - np.searchsorted(ends, at + layer.start, side="right")


def thresholded(scores: Scores, criterion: str) -> Thresholded | None:
    """Return the decisions at thresholds, None where no prediction has a score or tokens are counted."""
    pred = scores.layers(criterion)[1]
    if scores.criterion(criterion).unit == "token" or not pred.scores:
        return None
    return Thresholded(scores, criterion, scores_of(pred))
