"""The matching of predictions with gold units by the CLEF-HIPE scorer, and the reason for each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nereval_core.conventions.hipe.spans import Flags, TokenUnits
from nereval_core.corpus.arrays import Int64

SAME, OTHER_TYPE, OVERLAP, OVERLAP_OTHER, SPURIOUS, MISSED = range(6)
"""Kinds of events: identical, same tokens and another label, overlap, overlap of another label, spurious, missed."""

WHY = (
    "the same tokens, text and label: correct wherever the gold span stands",
    "the same tokens, another label",
    "it overlaps the gold span, the labels agree",
    "it overlaps the gold span, the labels differ",
    "the first of several overlapping gold spans was taken, in the order of the text; the labels agree",
    "the first of several overlapping gold spans was taken, in the order of the text; the labels differ",
    "an earlier prediction had used the first overlapping gold span up, so the next was taken; the labels agree",
    "an earlier prediction had used the first overlapping gold span up, so the next was taken; the labels differ",
    "the same tokens and label, but the text of the tokens differs",
    "no gold span overlaps it",
    "an earlier prediction had used the overlapping gold span up",
    "no prediction overlaps it",
    "the overlapping predictions were matched with other gold spans",
    "the overlapping predictions were left out",
    "the label is neither in gold nor in the tag set: left out",
    "a label with - or | is not in the scorer's tag set: left out",
    "its tokens lie outside the slice: left out",
    "it covers a whole document, where this version of the scorer loses it",
    "a later link of the ranked list is the gold link",
    "a ranked list whose first link is no label of this column: spurious under every label",
)
(
    BY_IDENTITY,
    BY_TOKENS,
    BY_OVERLAP,
    BY_OVERLAP_OTHER,
    BY_ORDER,
    BY_ORDER_OTHER,
    BY_NEXT,
    BY_NEXT_OTHER,
    BY_TEXT,
    ALONE,
    USED_UP,
    UNSEEN,
    PASSED,
    UNSEEN_LEFT_OUT,
    UNKNOWN_LABEL,
    CUT_LABEL,
    OUTSIDE_SLICE,
    LOST,
    BY_RANK,
    SPURIOUS_EVERYWHERE,
) = range(len(WHY))


@dataclass(frozen=True, eq=False)
class MatchEvents:
    """Events of one pass: kept predictions in order, then gold units that were not used.

    `gold` and `pred` number units of their side (-1 none), `label` is the label an event counts for, -1 for all labels
    at once; `kind` is that of the event, `why` an index into WHY. `left_out` are the units of gold and prediction whose
    label is not allowed.
    """

    gold: Int64
    pred: Int64
    kind: Int64
    why: Int64
    label: Int64
    doc: Int64
    left_out: tuple[Int64, Int64]


class TokenText:
    """Tells whether the tokens of both sides have the same text; `tokens` are the tokens that a slice keeps.

    `differ` says of each token whether its words differ (None: none does).
    """

    def __init__(
        self, words: tuple[Sequence[str], Sequence[str]] | None, differ: Flags | None, tokens: Int64 | None
    ) -> None:
        self.words = words
        self.tokens = tokens
        if differ is not None:
            self.before = np.concatenate(([0], np.cumsum(differ if tokens is None else differ[tokens])))

    def same(self, first: Int64, last: Int64) -> Flags:
        """Return whether runs of tokens, given by first and last, have the same joined text on both sides."""
        if self.words is None:
            return np.ones(len(first), bool)
        result = np.asarray(self.before[last + 1] == self.before[first])
        for run in np.flatnonzero(~result).tolist():
            span = (
                np.arange(first[run], last[run] + 1) if self.tokens is None else self.tokens[first[run] : last[run] + 1]
            )
            gold_text, pred_text = ("".join(side[token] for token in span.tolist()) for side in self.words)
            result[run] = gold_text == pred_text
        return result


def differing_tokens(words: tuple[Sequence[str], Sequence[str]] | None) -> Flags | None:
    """Return which tokens have other words on the other side, None where no words are compared."""
    if words is None:
        return None
    return np.fromiter(
        (gold_word != pred_word for gold_word, pred_word in zip(*words, strict=True)), bool, len(words[0])
    )


def match_units(gold: TokenUnits, pred: TokenUnits, allowed: Flags, doc: Int64, text: TokenText) -> MatchEvents:
    """Match predictions with gold units, both disjoint and in the order of the text.

    `allowed` says of each label whether it counts. A prediction identical with a gold unit is correct. Else it takes
    the gold unit of the same tokens, whatever its label, or the first overlapping one that no prediction has taken.
    """
    gold_label = gold.labels[gold.cell, 0]
    pred_labels = pred.labels[pred.cell]
    counts = allowed[gold_label]
    g = np.flatnonzero(counts)
    # -1, where a list has no more labels, looks at the last entry, which is False.
    expected = np.append(allowed, False)[pred_labels].any(axis=1)
    p = np.flatnonzero(expected)
    label, labels = gold_label[g], pred_labels[p]
    starts, ends, first, last = gold.first[g], gold.last[g], pred.first[p], pred.last[p]
    low = np.searchsorted(ends, first)
    high = np.searchsorted(starts, last, side="right") - 1
    touch = low <= high
    at = np.where(touch, low, 0)
    if len(g):
        same = touch & (starts[at] == first) & (ends[at] == last)
        agree = (labels == label[at][:, None]).any(axis=1)
    else:
        same = agree = np.zeros(len(p), bool)
    read_alike = np.ones(len(p), bool)
    compared = np.flatnonzero(same & agree)
    read_alike[compared] = text.same(first[compared], last[compared])
    identical = same & agree & read_alike
    other = same & ~identical & (labels[:, 0] != label[at] if len(g) else same)
    partner, used = _partners(low, high, touch, len(g))
    agree = (labels == label[np.maximum(partner, 0)][:, None]).any(axis=1) if len(g) else agree
    kind = np.where(agree, OVERLAP, OVERLAP_OTHER)
    kind[identical], kind[other], kind[partner < 0] = SAME, OTHER_TYPE, SPURIOUS
    why = np.where(agree, BY_OVERLAP, BY_OVERLAP_OTHER)
    several = touch & (high > low)
    why[several] = np.where(agree, BY_ORDER, BY_ORDER_OTHER)[several]
    next_one = several & (partner > low)
    why[next_one] = np.where(agree, BY_NEXT, BY_NEXT_OTHER)[next_one]
    why[same & ~identical & ~other] = BY_TEXT
    why[identical] = BY_IDENTITY
    why[identical & (labels[:, 0] != label[at] if len(g) else same)] = BY_RANK
    why[other], why[~touch], why[touch & (partner < 0)] = BY_TOKENS, ALONE, USED_UP
    missed = np.flatnonzero(~used)
    lead = labels[:, 0] if labels.size else np.zeros(len(p), np.int64)
    is_known = np.append(allowed, False)[lead]
    own = (
        np.where(partner >= 0, label[np.maximum(partner, 0)], np.where(is_known, lead, -1))
        if len(g)
        else np.where(is_known, lead, -1)
    )
    why[(own < 0) & (partner < 0)] = SPURIOUS_EVERYWHERE
    out = (np.flatnonzero(~counts), np.flatnonzero(~expected))
    unseen = _unseen(starts[missed], ends[missed], (first, last), (pred.first[out[1]], pred.last[out[1]]))
    none = np.full(len(missed), -1)
    return MatchEvents(
        np.concatenate((np.where(partner >= 0, g[np.maximum(partner, 0)] if len(g) else -1, -1), g[missed])),
        np.concatenate((p, none)),
        np.concatenate((kind, np.full(len(missed), MISSED))),
        np.concatenate((why, unseen)),
        np.concatenate((own, label[missed])),
        np.concatenate((doc[first], doc[starts[missed]])) if len(doc) else none,
        out,
    )


def _partners(low: Int64, high: Int64, touch: Flags, size: int) -> tuple[Int64, Flags]:
    """Return the gold unit that each prediction takes (-1 none) and which gold units are taken.

    Only its first gold unit can have been taken before, and only where the prediction before it reaches that too.
    """
    partner = np.where(touch, low, -1)
    tangled = np.zeros(len(low), bool)
    tangled[1:] = touch[1:] & touch[:-1] & (low[1:] == high[:-1])
    used = np.zeros(size, bool)
    used[low[touch & ~tangled]] = True
    knots = np.flatnonzero(tangled)
    if len(knots):
        flags = used.tolist()
        late_partners = []
        for first, end in zip(low[knots].tolist(), high[knots].tolist(), strict=True):
            place = first if not flags[first] else first + 1 if first < end else -1
            if place >= 0:
                flags[place] = True
            late_partners.append(place)
        partner[knots] = late_partners
        used = np.array(flags, bool)
    return partner, used


def _unseen(
    starts: Int64, ends: Int64, counted: tuple[Int64, Int64], left_out: tuple[Int64, Int64]
) -> NDArray[np.int64]:
    """Return why gold units were missed: overlapped by no prediction, by those of others, by those left out."""

    def touched(first: Int64, last: Int64) -> Flags:
        return np.searchsorted(last, starts) < np.searchsorted(first, ends, side="right")

    return np.where(touched(*counted), PASSED, np.where(touched(*left_out), UNSEEN_LEFT_OUT, UNSEEN))
