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
from numpy.typing import NDArray

from nereval_core import __version__
from nereval_core.analysis.linking.mentions import NIL, Boundaries, LinkAlignment, Mentions, align_links
from nereval_core.corpus import Layer
from nereval_core.problems import counted, one_line

Truth = Literal["first", "any"]

RANKS = (1, 3, 5)
"""The numbers of ranked links that count, by default."""


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
        found = ((column == accepted) & (column >= 0)).any(axis=1)
        rank[found & (rank < 0)] = place
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
