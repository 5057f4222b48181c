"""Flips of a pair: the smallest change of a prediction that flips a criterion's decision on it and a gold span.

A move changes the outer start and end, in code points; gaps between fragments stay. The smallest move is that of the
fewest code points, both ends together. Between edges (places where a fragment, core or alternative begins or ends), the
condition on a share of overlap is linear in start and end. So one of the two is at an edge in the smallest move, and it
suffices to search single lines.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np

from nereval_core.alignment.codes import EQUAL, SAME_TYPE, Facts, Rules, Spans, describe
from nereval_core.corpus import Layer
from nereval_core.corpus.arrays import Int64, UInt8
from nereval_core.problems import counted
from nereval_core.scoring.criteria import Criterion, Decision, decision_table

Edges = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class CriterionSpan:
    """The attributes of a span that criteria decide by: fragments (one if it has no gap), type, core, alternatives."""

    parts: Edges
    kind: str
    core: tuple[int, int] | None = None
    alternatives: Edges = ()

    @classmethod
    def of(cls, layer: Layer, span: int) -> CriterionSpan:
        return cls(layer.parts(span), layer.label(span), layer.cores.get(span), tuple(layer.alternatives.get(span, ())))

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
class PredictionChange:
    """A change of a prediction: the moves of its start and end (below 0: left), and whether its type changes.

    `fragments`: the prediction takes the gold span's own fragments, which moves of the outer ends cannot produce.
    """

    start: int = 0
    end: int = 0
    retyped: bool = False
    fragments: bool = False

    @property
    def characters(self) -> int:
        """The code points that start and end move together."""
        return abs(self.start) + abs(self.end)


def decide_pair(rule: Criterion, gold: CriterionSpan, pred: CriterionSpan) -> Decision:
    """Return the decision of a criterion on a pair that shares a character."""
    place = (np.array([edge]) for edge in (pred.start, pred.end))
    return Decision(int(_decisions(rule, gold, pred, *place, same_type=gold.kind == pred.kind)[0]))


def smallest_correction(rule: Criterion, gold: CriterionSpan, pred: CriterionSpan) -> PredictionChange:
    """Return the smallest change that makes a pair correct under a criterion."""
    retyped = rule.same_type and gold.kind != pred.kind
    move = _smallest_move(pred, (_combinations(rule, gold, pred, *lines) for lines in _lines(rule, gold, pred)))
    return PredictionChange(retyped=retyped, fragments=True) if move is None else PredictionChange(*move, retyped)


def smallest_breaking_move(
    rule: Criterion, gold: CriterionSpan, pred: CriterionSpan, length: int
) -> PredictionChange | None:
    """Return the smallest move that makes a correct pair wrong or separates it.

    None if no move within the text, `length` code points, does.
    """
    lines = _lines(rule, gold, pred, around=True, length=length)
    move = _smallest_move(pred, (_combinations(rule, gold, pred, *line, correct=False) for line in lines))
    return None if move is None else PredictionChange(*move)


def change_in_words(change: PredictionChange, gold: CriterionSpan, pred: CriterionSpan) -> str:
    """Return a change in words: `move the end 1 character left; type Drug instead of Group`."""
    moves = []
    for name, by in (("start", change.start), ("end", change.end)):
        if by:
            moves.append(f"the {name} {counted(abs(by), 'character')} {'right' if by > 0 else 'left'}")
    parts = [f"move {' and '.join(moves)}"] if moves else []
    if change.fragments:
        places = ", ".join(f"{low}-{high}" for low, high in gold.parts)
        parts.append(f"take the gold span's {'fragments' if len(gold.parts) > 1 else 'boundaries'} {places}")
    if change.retyped:
        parts.append(f"type {gold.kind} instead of {pred.kind}")
    return "; ".join(parts)


def _decisions(
    rule: Criterion, gold: CriterionSpan, pred: CriterionSpan, start: Int64, end: Int64, *, same_type: bool = True
) -> UInt8:
    """Return the decisions on a pair if the prediction had each of these starts and ends, shape (places,)."""
    shared = np.zeros(len(start), np.int64)
    size = end - start
    gaps = _gaps(pred)
    for low, high in gaps:
        size -= high - low
    for low, high in gold.parts:
        shared += np.maximum(np.minimum(end, high) - np.maximum(start, low), 0)
        for first, last in gaps:
            shared -= max(0, min(last, high) - max(first, low))
    code = describe(np.array([gold.start]), np.array([gold.end]), start, end)
    if gaps != _gaps(gold):
        code &= ~np.uint8(EQUAL)
    if same_type:
        code |= np.uint8(SAME_TYPE)
    table = _table(rule)
    if table.questions:
        ours = _columns(gold, np.array([gold.start]), np.array([gold.end]))
        theirs = _columns(pred, start, end)
        gold_rows = np.zeros(len(start), np.int64)
        facts = Facts.of(ours, theirs, table.questions)
        code |= facts.answers(gold_rows, np.arange(len(start)), theirs, shared, gold_rows + gold.size, size)
    decisions: UInt8 = table.decisions[code, 0]
    return np.where(shared > 0, decisions, np.uint8(Decision.MIS))


@lru_cache(maxsize=64)
def _table(rule: Criterion) -> Rules:
    return decision_table((rule,))


def _gaps(span: CriterionSpan) -> Edges:
    return tuple((low, high) for (_, low), (high, _) in pairwise(span.parts))


def _columns(span: CriterionSpan, start: Int64, end: Int64) -> Spans:
    """Return copies of a span with other outer starts and ends, which keep their fragments only to mark the gaps."""
    none = np.zeros(len(start), np.int64)
    return Spans(
        none,
        start,
        end,
        none,
        dict.fromkeys(range(len(start)), span.parts) if len(span.parts) > 1 else {},
        {0: span.core} if span.core else {},
        {0: span.alternatives} if span.alternatives else {},
    )


def _combinations(
    rule: Criterion, gold: CriterionSpan, pred: CriterionSpan, start: Int64, end: Int64, *, correct: bool = True
) -> tuple[Int64, Int64]:
    """Return the combinations of a start and an end under which the pair is correct, or, if not `correct`, is wrong."""
    starts, ends = (grid.ravel() for grid in np.meshgrid(start, end, indexing="ij"))
    # The outer fragments keep at least one character.
    is_possible = (starts < pred.parts[0][1]) & (ends > pred.parts[-1][0]) if len(pred.parts) > 1 else starts < ends
    starts, ends = starts[is_possible], ends[is_possible]
    met = (_decisions(rule, gold, pred, starts, ends) == Decision.COR) == correct
    return starts[met], ends[met]


def _lines(
    rule: Criterion, gold: CriterionSpan, pred: CriterionSpan, *, around: bool = False, length: int = 0
) -> Iterator[tuple[Int64, Int64]]:
    """Yield starts and ends to combine: all edges with one another, and edges with all places on a line."""
    annotated: Mapping[str | None, Edges] = {
        "cores": (gold.core,) if gold.core else (),
        "alternatives": gold.alternatives,
    }
    # The outer fragments of a prediction cannot shrink beyond one character.
    least = ((pred.parts[0][1] - 1, pred.parts[-1][0] + 1),) if len(pred.parts) > 1 else ()
    edges_of = (*gold.parts, *pred.parts, *annotated.get(rule.boundary_rule.annotation, ()), *least)
    edges = np.unique(np.array([edge for low, high in edges_of for edge in (low, high)], np.int64))
    if around:
        edges = np.unique(np.concatenate(([0, length], edges - 1, edges, edges + 1)))
        edges = edges[(edges >= 0) & (edges <= length)]
    yield edges, edges
    if rule.minimum:
        low, high = int(edges[0]), int(edges[-1])
        if around:
            # Beyond this distance the share is below the minimum, wherever the other end is.
            far = -(-min(gold.size, pred.size) * rule.minimum.denominator // rule.minimum.numerator) + 1
            low, high = max(0, low - far), min(length, high + far)
        line = np.arange(low, high + 1)
        yield edges, line
        yield line, edges


def _smallest_move(pred: CriterionSpan, combinations: Iterator[tuple[Int64, Int64]]) -> tuple[int, int] | None:
    """Return the moves of start and end to the nearest combination; moving the end is preferred."""
    best: tuple[Any, ...] | None = None
    for starts, ends in combinations:
        if not len(starts):
            continue
        first, last = starts - pred.start, ends - pred.end
        cost = np.abs(first) + np.abs(last)
        at = int(np.lexsort((-last, np.abs(first), cost))[0])
        mine = (int(cost[at]), abs(int(first[at])), -int(last[at]), int(first[at]), int(last[at]))
        best = mine if best is None else min(best, mine)
    return None if best is None else (best[3], best[4])
