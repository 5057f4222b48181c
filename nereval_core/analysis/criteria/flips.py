"""The smallest change of a prediction that flips what a criterion decides about a pair of spans.

Moves are of the outer start and end, in code points; gaps between fragments stay where they are. The smallest change
moves the two together by the fewest code points. Between places where something begins or ends, what a share of overlap
asks is linear in both, so that one of the two always stands at such a place, and single lines are searched.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from nereval_core.arrays import Bools, Int64
from nereval_core.corpus import Layer
from nereval_core.scoring.criteria import Criterion, Decision

Edges = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Placed:
    """A span as criteria look at it: fragments (one where it has no gap), type, and for gold what else it has."""

    parts: Edges
    kind: str
    core: tuple[int, int] | None = None
    alternatives: Edges = ()

    @classmethod
    def of(cls, layer: Layer, span: int) -> Placed:
        parts = layer.fragments.get(span) or ((int(layer.start[span]), int(layer.end[span])),)
        return cls(tuple(parts), layer.label(span), layer.cores.get(span), tuple(layer.alternatives.get(span, ())))

    @property
    def start(self) -> int:
        return self.parts[0][0]

    @property
    def end(self) -> int:
        return self.parts[-1][1]

    @property
    def size(self) -> int:
        return sum(high - low for low, high in self.parts)


@dataclass(frozen=True, slots=True)
class Change:
    """How far the start and the end of a prediction move (below 0: left), and whether it changes its type too.

    `fragments` asks for the gold span's own fragments, which no move of the outer ends can make.
    """

    start: int = 0
    end: int = 0
    retyped: bool = False
    fragments: bool = False

    @property
    def characters(self) -> int:
        return abs(self.start) + abs(self.end)


def judge(rule: Criterion, gold: Placed, pred: Placed) -> Decision:
    """Return what a criterion decides about a pair that shares a character."""
    fits = _fits(rule, gold, pred, *(np.array([edge]) for edge in (pred.start, pred.end)))[0]
    return Decision.COR if fits and (not rule.same_type or gold.kind == pred.kind) else rule.otherwise


def to_correct(rule: Criterion, gold: Placed, pred: Placed) -> Change:
    """Return the smallest change that makes a pair correct under a criterion."""
    retyped = rule.same_type and gold.kind != pred.kind
    found = _nearest(pred, (_fitting(rule, gold, pred, *lines) for lines in _lines(rule, gold, pred)))
    return Change(retyped=retyped, fragments=True) if found is None else Change(*found, retyped)


def to_wrong(rule: Criterion, gold: Placed, pred: Placed, length: int) -> Change | None:
    """Return the smallest move that makes a correct pair wrong, or parts it; None where no move of one end or both
    within the text, `length` code points, does."""
    lines = _lines(rule, gold, pred, around=True, length=length)
    found = _nearest(pred, (_fitting(rule, gold, pred, *line, wanted=False) for line in lines))
    return None if found is None else Change(*found)


def in_words(change: Change, gold: Placed, pred: Placed) -> str:
    """Say a change: `move the end 1 character left; type Drug instead of Group`."""
    moves = []
    for name, by in (("start", change.start), ("end", change.end)):
        if by:
            size = f"{abs(by)} character{'' if abs(by) == 1 else 's'}"
            moves.append(f"the {name} {size} {'right' if by > 0 else 'left'}")
    parts = [f"move {' and '.join(moves)}"] if moves else []
    if change.fragments:
        shown = ", ".join(f"{low}-{high}" for low, high in gold.parts)
        parts.append(f"take the gold span's {'fragments' if len(gold.parts) > 1 else 'boundaries'} {shown}")
    if change.retyped:
        parts.append(f"type {gold.kind} instead of {pred.kind}")
    return "; ".join(parts)


def _fits(rule: Criterion, gold: Placed, pred: Placed, start: Int64, end: Int64) -> Bools:
    """Tell whether the boundary rule holds were the prediction to start and end so, shape (places,)."""
    shared = np.zeros(len(start), np.int64)
    size = end - start
    inner = [(low, high) for (_, low), (high, _) in pairwise(pred.parts)]
    for low, high in inner:
        size -= high - low
    for low, high in gold.parts:
        shared += np.maximum(np.minimum(end, high) - np.maximum(start, low), 0)
        for first, last in inner:
            shared -= max(0, min(last, high) - max(first, low))
    same_gaps = inner == [(low, high) for (_, low), (high, _) in pairwise(gold.parts)]
    at_start, at_end = start == gold.start, end == gold.end
    equal = at_start & at_end & same_gaps
    met: Bools
    if rule.boundaries == "equal":
        met = equal
    elif rule.boundaries == "start":
        met = at_start
    elif rule.boundaries == "end":
        met = at_end
    elif rule.boundaries == "either":
        met = at_start | at_end
    elif rule.boundaries == "contain":
        met = (start <= gold.start) & (end >= gold.end) | (start >= gold.start) & (end <= gold.end)
    elif rule.boundaries == "core":
        low, high = gold.core or (gold.start, gold.end)
        met = (start <= low) & (end >= high)
    elif rule.boundaries == "alternatives":
        met = equal.copy()
        for low, high in () if inner else gold.alternatives:
            met |= (start == low) & (end == high)
    else:
        met = np.ones(len(start), bool)
    if rule.minimum:
        whole: Any = {"gold": gold.size, "prediction": size}.get(rule.share, gold.size + size - shared)
        met = met & (shared * rule.minimum.denominator >= whole * rule.minimum.numerator)
    return met & (shared > 0)


def _fitting(
    rule: Criterion, gold: Placed, pred: Placed, start: Int64, end: Int64, *, wanted: bool = True
) -> tuple[Int64, Int64]:
    """Return the places, of every start with every end, where the rule holds (or does not)."""
    starts, ends = (grid.ravel() for grid in np.meshgrid(start, end, indexing="ij"))
    # The outer fragments keep at least one character.
    there = (starts < pred.parts[0][1]) & (ends > pred.parts[-1][0]) if len(pred.parts) > 1 else starts < ends
    starts, ends = starts[there], ends[there]
    met = _fits(rule, gold, pred, starts, ends) == wanted
    return starts[met], ends[met]


def _lines(
    rule: Criterion, gold: Placed, pred: Placed, *, around: bool = False, length: int = 0
) -> Iterator[tuple[Int64, Int64]]:
    """Yield starts and ends that are tried with one another: places where something begins or ends, and lines."""
    extra = (gold.core,) if gold.core and rule.boundaries == "core" else ()
    more = gold.alternatives if rule.boundaries == "alternatives" else ()
    # The outer fragments of a prediction cannot shrink beyond one character.
    least = ((pred.parts[0][1] - 1, pred.parts[-1][0] + 1),) if len(pred.parts) > 1 else ()
    every = (*gold.parts, *pred.parts, *extra, *more, *least)
    edges = np.unique(np.array([edge for low, high in every for edge in (low, high)], np.int64))
    if around:
        edges = np.unique(np.concatenate(([0, length], edges - 1, edges, edges + 1)))
        edges = edges[(edges >= 0) & (edges <= length)]
    yield edges, edges
    if rule.minimum:
        low, high = int(edges[0]), int(edges[-1])
        if around:
            # Where the share is below the minimum whatever else is moved.
            far = -(-min(gold.size, pred.size) * rule.minimum.denominator // rule.minimum.numerator) + 1
            low, high = max(0, low - far), min(length, high + far)
        line = np.arange(low, high + 1)
        yield edges, line
        yield line, edges


def _nearest(pred: Placed, found: Iterator[tuple[Int64, Int64]]) -> tuple[int, int] | None:
    """Return by how much start and end move to the nearest of some places; of equally near ones the end moves."""
    best: tuple[Any, ...] | None = None
    for starts, ends in found:
        if not len(starts):
            continue
        first, last = starts - pred.start, ends - pred.end
        cost = np.abs(first) + np.abs(last)
        at = int(np.lexsort((-last, np.abs(first), cost))[0])
        mine = (int(cost[at]), abs(int(first[at])), -int(last[at]), int(first[at]), int(last[at]))
        best = mine if best is None else min(best, mine)
    return None if best is None else (best[3], best[4])


__all__: Sequence[str] = ("Change", "Placed", "in_words", "judge", "to_correct", "to_wrong")
