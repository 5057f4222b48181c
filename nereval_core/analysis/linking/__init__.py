"""Entity linking: decisions on the concept ids of mentions.

A mention is a span with links; spans without links are ignored. A prediction's links are its ranking, best first, and
gold's first link is the truth. `NIL` is an id like any other, for mentions without an entry. A link that contains `|`
is several links in the order written (as in the NEL columns of CLEF-HIPE).

Mentions are aligned one to one as spans are, by the criterion `exact` (strict) or `lenient` (overlapping). Links do not
influence the alignment, so that a longer ranking or a mapping can only turn wrong into right. Types do not count.
"""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from nereval_core import __version__
from nereval_core.analysis.linking.mentions import (
    NIL,
    Boundaries,
    LinkAlignment,
    Mentions,
    UnpairedReason,
    align_links,
    ranked_ids,
)
from nereval_core.corpus import Layer
from nereval_core.problems import counted, one_line
from nereval_core.records.match_records import record_ids
from nereval_core.records.tables import side_columns
from nereval_core.scoring.count_tables import TEXT_DTYPE, Columns

Truth = Literal["first", "any"]

RANKS = (1, 3, 5)
"""The numbers of ranked links that count, by default."""
LINK_RECORD_COLUMNS: Columns = {
    "document": "category",
    "record": TEXT_DTYPE,
    "decision": "category",
    "gold_start": "Int32",
    "gold_end": "Int32",
    "gold_type": "category",
    "gold_text": TEXT_DTYPE,
    "gold_links": TEXT_DTYPE,
    "pred_start": "Int32",
    "pred_end": "Int32",
    "pred_type": "category",
    **dict.fromkeys(("pred_text", "pred_links", "gold_id", "pred_id"), TEXT_DTYPE),
    "rank": "Int32",
    "reason": "category",
    **dict.fromkeys(("doc", "gold", "pred"), "int32"),
}
"""Columns of `link_records` and their dtypes. Offsets are code points, end exclusive; links are joined by `|`.

`gold_id` is the truth and `pred_id` the id judged, both after mapping: the right id at place `rank` (from 1) of the
ranking, or else the first. `gold` and `pred` are span indices, -1 where there is none."""

CONFUSION_COLUMNS = ("gold_id", "pred_id", "count")

_MISSING: Mapping[UnpairedReason, str] = {
    UnpairedReason.UNLINKED: "the prediction here has no link",
    UnpairedReason.MOVED: "the linked prediction here has other boundaries",
    UnpairedReason.TAKEN: "every linked prediction that overlaps it is aligned elsewhere",
    UnpairedReason.ALONE: "no prediction with a link overlaps it",
}
_SPURIOUS: Mapping[UnpairedReason, str] = {
    UnpairedReason.UNLINKED: "the gold span here has no link",
    UnpairedReason.MOVED: "the linked gold span here has other boundaries",
    UnpairedReason.TAKEN: "every linked gold span that overlaps it is aligned elsewhere",
    UnpairedReason.ALONE: "no gold span with a link overlaps it",
}


class LinkDecision(IntEnum):
    """The decision on a mention's link."""

    RIGHT = 0
    WRONG = 1
    NIL_FOR_LINK = 2
    LINK_FOR_NIL = 3
    MISSING = 4
    SPURIOUS = 5


LINK_DECISIONS = ("right", "wrong link", "NIL for link", "link for NIL", "missing", "spurious")


class Ratios(ABC):
    """Precision, recall and F1 of counts, None where undefined."""

    __slots__ = ()

    @property
    @abstractmethod
    def right(self) -> int: ...

    @property
    @abstractmethod
    def gold(self) -> int: ...

    @property
    @abstractmethod
    def predicted(self) -> int: ...

    def __str__(self) -> str:
        """The three ratios and what they are made of, on a line."""
        ratios = zip(("P", "R", "F1"), (self.precision, self.recall, self.f1), strict=True)
        shares = ", ".join(f"{name} {'–' if ratio is None else format(ratio, '.4f')}" for name, ratio in ratios)
        return f"{shares} ({self.right:,} right of {self.gold:,} in gold, {self.predicted:,} predicted)"

    @property
    def precision(self) -> float | None:
        """right / predicted."""
        return self.right / self.predicted if self.predicted else None

    @property
    def recall(self) -> float | None:
        """right / gold."""
        return self.right / self.gold if self.gold else None

    @property
    def f1(self) -> float | None:
        """2 right / (gold + predicted)."""
        both = self.gold + self.predicted
        return 2 * self.right / both if both else None


@dataclass(frozen=True, slots=True)
class LinkCounts(Ratios):
    """The number of mentions by LinkDecision.

    Ratios are over mentions; where gold's mentions are given, recall is the accuracy.
    """

    decisions: tuple[int, ...] = (0,) * len(LinkDecision)

    def __add__(self, other: LinkCounts) -> LinkCounts:
        return LinkCounts(tuple(map(int.__add__, self.decisions, other.decisions)))

    def __getitem__(self, decision: LinkDecision) -> int:
        return self.decisions[decision]

    @property
    def right(self) -> int:
        return self.decisions[LinkDecision.RIGHT]

    @property
    def gold(self) -> int:
        """Gold mentions: all but spurious."""
        return sum(self.decisions) - self.decisions[LinkDecision.SPURIOUS]

    @property
    def predicted(self) -> int:
        """Predicted mentions: all but missing."""
        return sum(self.decisions) - self.decisions[LinkDecision.MISSING]


@dataclass(frozen=True, eq=False)
class LinkScores:
    """The decision on each row of an alignment by the first `n` links of each ranking.

    `rank` is the place of the right link in the ranking, from 0, or -1 if none of the first `n` is right.
    """

    alignment: LinkAlignment
    n: int
    truth: Truth
    relaxed: Mapping[str, str]
    decisions: NDArray[np.uint8]
    rank: NDArray[np.int32]

    def __repr__(self) -> str:
        return f"<links, first {self.n} of each ranking: {self.counts}>"

    @cached_property
    def counts(self) -> LinkCounts:
        return LinkCounts(tuple(np.bincount(self.decisions, minlength=len(LinkDecision)).tolist()))

    @cached_property
    def by_document(self) -> dict[str, LinkCounts]:
        """Counts of the documents that have mentions, in their order."""
        width = len(LinkDecision)
        documents = self.alignment.gold.documents.ids
        cells = np.bincount(self.alignment.doc * width + self.decisions, minlength=len(documents) * width)
        rows = cells.reshape(-1, width)
        return {documents[i]: LinkCounts(tuple(rows[i].tolist())) for i in np.flatnonzero(rows.any(axis=1)).tolist()}


def judge_links(
    alignment: LinkAlignment, *, n: int = 1, truth: Truth = "first", relaxed: Mapping[str, str] | None = None
) -> LinkScores:
    """Decide each mention by the first `n` links of its ranking; `relaxed` maps ids to the ids they count as.

    With `truth="any"` a prediction is right by any of gold's links, not only by the first.
    """
    assert n > 0, "at least the first of a ranking is looked at"
    relaxed = dict(relaxed or {})
    table, nil = _relaxed_codes(alignment.ids, relaxed)
    gold, pred = table[alignment.truth], table[alignment.ranking]
    accepted = gold if truth == "any" else gold[:, :1]
    rank = np.full(len(gold), -1, np.int32)
    for place in range(min(n, pred.shape[1])):
        column = pred[:, place : place + 1]
        is_right = ((column == accepted) & (column >= 0)).any(axis=1)
        rank[is_right & (rank < 0)] = place
    decisions = np.full(len(gold), LinkDecision.WRONG, np.uint8)
    for decision, holds in (
        (LinkDecision.NIL_FOR_LINK, pred[:, 0] == nil),
        (LinkDecision.LINK_FOR_NIL, gold[:, 0] == nil),
        (LinkDecision.RIGHT, rank >= 0),
        (LinkDecision.MISSING, alignment.pred_span < 0),
        (LinkDecision.SPURIOUS, alignment.gold_span < 0),
    ):
        decisions[holds] = decision
    return LinkScores(alignment, n, truth, relaxed, decisions, rank)


def score_links(
    gold: Layer,
    pred: Layer,
    *,
    boundaries: Boundaries = "strict",
    mentions: Mentions = "end-to-end",
    n: int = 1,
    truth: Truth = "first",
    relaxed: Mapping[str, str] | None = None,
) -> LinkScores:
    """Align the mentions of two layers and decide their links."""
    return judge_links(
        align_links(gold, pred, boundaries=boundaries, mentions=mentions), n=n, truth=truth, relaxed=relaxed
    )


def link_signature(scores: LinkScores, gold: str, pred: str, marks: Sequence[str] = ()) -> str:
    """Return the line that reproduces the figures; `gold` and `pred` are digests of layers."""
    alignment = scores.alignment
    parts = [
        f"nereval {__version__}",
        f"linking {alignment.boundaries}",
        f"first {scores.n} of the ranking",
        f"mentions {alignment.mentions}",
        f"truth {scores.truth} of gold's links",
        relaxed_in_words(scores.relaxed),
        f"gold sha256:{gold[:16]}",
        f"pred sha256:{pred[:16]}",
        f"documents {len(alignment.gold.documents)}",
        *marks,
    ]
    return " | ".join(one_line(part) for part in parts)


def relaxed_in_words(relaxed: Mapping[str, str]) -> str:
    """Return the part of a signature about a mapping of ids."""
    if not relaxed:
        return "relaxed: no"
    content = json.dumps(sorted(relaxed.items())).encode()
    return f"relaxed by {counted(len(relaxed), 'id')} sha256:{hashlib.sha256(content).hexdigest()[:16]}"


def _relaxed_codes(ids: Sequence[str], relaxed: Mapping[str, str]) -> tuple[NDArray[np.int32], int]:
    """Return the code that each id counts as (the last entry is -1, for no id), and the code of NIL."""
    codes: dict[str, int] = {}
    table = [codes.setdefault(relaxed.get(link, link), len(codes)) for link in ids]
    return np.array([*table, -1], np.int32), codes.setdefault(NIL, len(codes))


def link_records(scores: LinkScores) -> pd.DataFrame:
    """Return a row for each pair of mentions and each lone mention, in document order: LINK_RECORD_COLUMNS."""
    alignment = scores.alignment
    gold, pred = alignment.gold, alignment.pred
    g, p = alignment.gold_span, alignment.pred_span
    ids = record_ids(gold, "g"), record_ids(pred, "p")
    frame = pd.DataFrame(
        {
            "document": pd.Categorical.from_codes(alignment.doc, pd.Index(list(gold.documents.ids), dtype=TEXT_DTYPE)),
            "record": [ids[0][i] if i >= 0 else ids[1][j] for i, j in zip(g.tolist(), p.tolist(), strict=True)],
            "decision": pd.Categorical.from_codes(scores.decisions, pd.Index(list(LINK_DECISIONS), dtype=TEXT_DTYPE)),
            **side_columns("gold", gold, g),
            "gold_links": _joined_links(gold, g),
            **side_columns("pred", pred, p),
            "pred_links": _joined_links(pred, p),
            **_judged_ids(scores),
            "rank": pd.array(np.where(scores.rank < 0, 0, scores.rank + 1), dtype="Int32"),
            "reason": pd.Categorical(pd.array(_link_reasons(scores), dtype=TEXT_DTYPE)),
            "doc": alignment.doc,
            "gold": g,
            "pred": p,
        },
        columns=list(LINK_RECORD_COLUMNS),
    )
    frame.loc[scores.rank < 0, "rank"] = pd.NA
    return frame.astype(dict(LINK_RECORD_COLUMNS))


def link_confusion(records: pd.DataFrame) -> pd.DataFrame:
    """Return the number of records for each pair of gold and predicted id: CONFUSION_COLUMNS, most frequent first.

    An id is "" where a side has no mention, so that the counts add up to the records.
    """
    sides = [records[name].fillna("").astype(TEXT_DTYPE) for name in CONFUSION_COLUMNS[:2]]
    counted = pd.concat(sides, axis=1).value_counts(sort=False).rename("count").reset_index()
    order = ["count", *CONFUSION_COLUMNS[:2]]
    return counted.sort_values(order, ascending=[False, True, True], ignore_index=True)[list(CONFUSION_COLUMNS)]


def _joined_links(layer: Layer, spans: NDArray[np.int64]) -> list[str | None]:
    return [None if span < 0 else "|".join(ranked_ids(layer.links.get(span, ()))) for span in spans.tolist()]


def _judged_ids(scores: LinkScores) -> dict[str, list[str | None]]:
    """Return the ids that were compared, after mapping."""
    alignment = scores.alignment
    names = [scores.relaxed.get(link, link) for link in alignment.ids]
    truth = alignment.truth[:, 0]
    place = np.maximum(scores.rank, 0)[:, None]
    ids = np.take_along_axis(alignment.ranking, place, axis=1)[:, 0] if len(truth) else truth
    right = scores.rank >= 0
    first, second = ([None if code < 0 else names[code] for code in codes.tolist()] for codes in (truth, ids))
    # If any of gold's links counts, the right one is shown.
    met = [right_id if hit else first_id for first_id, right_id, hit in zip(first, second, right, strict=True)]
    return {"gold_id": met, "pred_id": second}


def _link_reasons(scores: LinkScores) -> list[str]:
    alignment = scores.alignment
    reasons = []
    rows = zip(scores.decisions.tolist(), scores.rank.tolist(), alignment.why.tolist(), strict=True)
    whole = judge_links(alignment, n=alignment.ranking.shape[1], truth=scores.truth, relaxed=scores.relaxed)
    for row, (decision, rank, why) in enumerate(rows):
        if decision == LinkDecision.MISSING:
            reasons.append(_MISSING[UnpairedReason(why)])
        elif decision == LinkDecision.SPURIOUS:
            reasons.append(_SPURIOUS[UnpairedReason(why)])
        elif decision == LinkDecision.RIGHT:
            reasons.append(_right_reason(scores, row, rank))
        else:
            place = int(whole.rank[row])
            reasons.append(
                f"the right link is number {place + 1} of the ranking" if place >= 0 else "not in the ranking"
            )
    return reasons


def _right_reason(scores: LinkScores, row: int, rank: int) -> str:
    alignment = scores.alignment
    met = alignment.ranking[row, rank] in (alignment.truth[row] if scores.truth == "any" else alignment.truth[row, :1])
    place = "the first link" if rank == 0 else f"number {rank + 1} of the ranking"
    return f"{place} is right" + ("" if met else ", by the mapping")
