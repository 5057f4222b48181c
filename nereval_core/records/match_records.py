"""Match records as columns of numbers, and the ids that records are named by; `records.tables` makes frames of them."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nereval_core.corpus import Layer
from nereval_core.scoring import Scores

NUMBERED = re.compile(r"~[0-9]+\Z")


@dataclass(frozen=True, eq=False)
class Rows:
    """Match records as columns in document order, shape (records,), without a word of text.

    `gold` and `pred` are span indices (-1: none), `anchored` tells whose span a record is named by (True: gold's),
    `doc` is the document's number; `decision` and `side` are indices into DECISIONS and SIDES.
    """

    gold: NDArray[np.int32]
    pred: NDArray[np.int32]
    anchored: NDArray[np.bool_]
    doc: NDArray[np.int32]
    decision: NDArray[np.uint8]
    side: NDArray[np.uint8]
    weight: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.doc)

    def of_spans(self, gold: NDArray[Any], pred: NDArray[Any]) -> NDArray[Any]:
        """Return of each record the value of its gold span, else of its prediction; one value a span of either side."""
        values = np.empty(len(self), gold.dtype)
        has_gold = self.gold >= 0
        values[has_gold] = gold[self.gold[has_gold]]
        values[~has_gold] = pred[self.pred[~has_gold]]
        return values

    def take(self, places: NDArray[Any]) -> Rows:
        return Rows(*(getattr(self, column.name)[places] for column in fields(self)))


def rows(scores: Scores, name: str) -> Rows:
    """Return the match records under a criterion as columns, in document order.

    One to one, a row is an aligned pair (side "both") or an unaligned span; counting each side for itself, a row is a
    span of one side, with the span it was judged by as its partner. Counted by token, token runs stand for spans.
    """
    gold, pred = scores.layers(name)
    gold_decisions, pred_decisions = scores.decisions(name)
    gold_partner, pred_partner = scores.partners(name)
    each = scores.settings.counting == "each-side"
    own: NDArray[Any] = np.arange(len(pred)) if each else np.flatnonzero(pred_partner < 0)
    spans = np.arange(len(gold), dtype=np.int32)
    g = np.concatenate((spans, pred_partner[own] if each else np.full(len(own), -1, np.int32)))
    p = np.concatenate((gold_partner, own.astype(np.int32)))
    anchored = np.concatenate((np.ones(len(gold), bool), np.zeros(len(own), bool)))
    decision = np.concatenate((gold_decisions, pred_decisions[own]))
    doc, start, end = (
        np.concatenate((getattr(gold, column), getattr(pred, column)[own])) for column in ("doc", "start", "end")
    )
    weights = scores.weights(name)
    weight = np.concatenate((weights[0], weights[1][own]))
    order = _in_place(gold.documents.base, doc, start, end, anchored)
    g, p, anchored = g[order], p[order], anchored[order]
    side = np.where(anchored, 1, 2) if each else np.where(p < 0, 1, np.where(g < 0, 2, 0))
    return Rows(g, p, anchored, doc[order], decision[order], side.astype(np.uint8), weight[order])


def _in_place(
    base: NDArray[np.int64], doc: NDArray[Any], start: NDArray[Any], end: NDArray[Any], anchored: NDArray[np.bool_]
) -> NDArray[Any]:
    """Return the order by document, start and end, gold before prediction; ties stay as they are."""
    length = int((end - start).max(initial=0)) + 1
    if int(base[-1]) < (1 << 61) // length:
        # One number holds the whole key, and both of its runs are sorted already: the stable sort merges them.
        key = ((base[doc] + start) * length + (end - start)) * 2 + ~anchored
        return np.argsort(key, kind="stable")
    return np.lexsort((~anchored, end, start, doc))


def record_ids(layer: Layer, prefix: str, spans: NDArray[Any] | None = None) -> list[str]:
    """Return the record id of each span (or of some) without its document: `g:12-19:Drug`, `~2` for the second of two
    equal ones.

    A type that itself ends like that is written with `~1`, so that no two spans have the same id.
    """
    numbers = np.arange(len(layer)) if spans is None else spans
    types = [f"{kind}~1" if NUMBERED.search(kind) else kind for kind in layer.types]
    ids = [
        f"{prefix}:{start}-{end}:{types[kind]}"
        for start, end, kind in zip(
            layer.start[numbers].tolist(), layer.end[numbers].tolist(), layer.type[numbers].tolist(), strict=True
        )
    ]
    if layer.fragments:
        for place, span in enumerate(numbers.tolist()):
            if parts := layer.fragments.get(span):
                words = ",".join(f"{low}-{high}" for low, high in parts)
                ids[place] = f"{prefix}:{words}:{types[int(layer.type[span])]}"
    repeated = layer.duplicates
    if len(repeated):
        # A run of equal spans holds consecutive numbers: how many of them stand before a span is how often it repeats.
        places = np.searchsorted(repeated, numbers)
        again = np.flatnonzero((places < len(repeated)) & (repeated[np.minimum(places, len(repeated) - 1)] == numbers))
        offset = repeated - np.arange(len(repeated))
        for i in again.tolist():
            run = int(np.searchsorted(offset, offset[places[i]]))
            ids[i] = f"{NUMBERED.sub('', ids[i])}~{int(places[i]) - run + 2}"
    return ids
