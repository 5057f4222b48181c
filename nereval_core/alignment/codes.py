"""The data that alignment takes and gives: spans as columns, codes of pairs, criteria as a table, decisions.

The code of a pair has a bit for each fact of its boundaries and types, which `describe` sets, and one for each further
question that criteria ask: a minimum overlap, gold's core, its alternatives. `Facts` answers a question where a
criterion asks it, so that the others cost nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from nereval_core.corpus.arrays import Array, Int64, UInt8


class Decision(IntEnum):
    """The decision on a span: aligned (COR, INC, PAR), unaligned gold (MIS) or unaligned prediction (SPU)."""

    COR = 0
    INC = 1
    PAR = 2
    MIS = 3
    SPU = 4


Progress = Callable[[int, int], None]
"""Called with the gold spans done and their total."""
Question = tuple[str, Fraction]
"""A question about a pair and the least share asked for: "gold", "prediction" and "union" are shares of characters."""

CORE: Question = ("core", Fraction(1))
"""Does the prediction cover the gold span's core? A span without a core is its own. Both are outer hulls."""
ALTERNATIVES: Question = ("alternatives", Fraction(1))
"""Are the prediction's boundaries one of the gold span's alternatives? A discontinuous prediction has none of them."""
QUESTION_BITS = (32, 64, 128)
"""Bits of a code, one for each question that can be asked at once: set where the answer is yes."""

EQUAL, START, END, CONTAIN, SAME_TYPE = 1, 2, 4, 8, 16
CODES = 256
# EQUAL without START describes no pair: these two stand for spans without a partner and spans left to a solver.
UNALIGNED, TANGLED = EQUAL, EQUAL | END


@dataclass(frozen=True, slots=True)
class Spans:
    """One side: int32 `doc`, `start`, `end` and integer `type`, sorted by document, start, end, type and fragments.

    Types are codes shared by both sides, in the order of their names. `fragments` holds those of discontinuous spans,
    `cores` and `alternatives` the annotations that only some spans have.
    """

    doc: Array
    start: Array
    end: Array
    type: Array
    fragments: Mapping[int, tuple[tuple[int, int], ...]]
    cores: Mapping[int, tuple[int, int]] = field(default_factory=dict)
    alternatives: Mapping[int, tuple[tuple[int, int], ...]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.doc)


@dataclass(frozen=True, slots=True)
class Rules:
    """Criteria as a table: `decisions[code, criterion]` of a pair, and the questions that the code's bits answer."""

    decisions: UInt8
    questions: tuple[Question, ...] = ()

    @property
    def criteria(self) -> int:
        return int(self.decisions.shape[1])


@dataclass(slots=True)
class SideOutcome:
    """The outcome for one side: decisions by row, `counts` (types, criteria, 5), and partners if asked.

    `rows` (spans, at least as many columns as criteria) is padded to a width that is written as one integer.
    `partners` (spans,) holds the index of the span aligned with under the only criterion asked for, -1 where none.
    """

    rows: UInt8
    counts: Int64
    partners: NDArray[np.int32] | None

    def decide(self, spans: Int64, types: Array, rows: UInt8) -> None:
        """Write and count the decisions on some spans, which have these types; `rows` is as wide as those here."""
        self.rows[spans] = rows
        kinds, criteria, decisions = self.counts.shape
        first = types.astype(np.int64) * decisions
        for criterion in range(criteria):
            tally = np.bincount(first + rows[:, criterion], minlength=kinds * decisions)
            self.counts[:, criterion] += tally.reshape(kinds, decisions)


@dataclass(slots=True)
class Alignment:
    """Both sides' outcomes, and the documents that hold a cluster too large for an exact solver."""

    gold: SideOutcome
    pred: SideOutcome
    greedy: tuple[int, ...]


def describe(gold_start: Int64, gold_end: Int64, pred_start: Int64, pred_end: Int64) -> UInt8:
    """Return the codes of pairs of continuous spans, types and questions aside; bounds are those of the outer hull."""
    first, last = gold_start - pred_start, gold_end - pred_end
    start, end = first == 0, last == 0
    code: UInt8 = start.astype(np.uint8)
    code *= START
    code |= end.view(np.uint8) * np.uint8(END)
    code |= (start & end).view(np.uint8)
    # One contains the other where the two differences do not point the same way.
    code |= ((first <= 0) & (last >= 0) | (first >= 0) & (last <= 0)).view(np.uint8) * np.uint8(CONTAIN)
    return code


def ranges(low: Int64, high: Int64) -> tuple[Int64, Int64]:
    """Expand half-open ranges: the row each number belongs to, and the number."""
    size = high - low
    row = np.repeat(np.arange(len(low)), size)
    first = np.cumsum(size) - size
    return row, np.arange(len(row)) - first[row] + low[row]


@dataclass(frozen=True, slots=True)
class Facts:
    """Cores and alternatives of gold, as far as questions ask for them; offsets in code points of the document.

    `core_start` and `core_end` (spans,); the alternatives of span i are `start[first[i]:first[i + 1]]`, `end[...]`.
    `pred_broken` says which predictions are discontinuous.
    """

    questions: tuple[Question, ...]
    core_start: Array
    core_end: Array
    first: Int64
    start: Array
    end: Array
    pred_broken: NDArray[np.bool_]

    @classmethod
    def of(cls, gold: Spans, pred: Spans, questions: tuple[Question, ...]) -> Facts:
        cores = (gold.start, gold.end)
        if CORE in questions and gold.cores:
            spans = _keys(gold.cores)
            pairs = np.array(list(gold.cores.values()), np.int32).reshape(-1, 2)
            cores = (gold.start.copy(), gold.end.copy())
            cores[0][spans], cores[1][spans] = pairs[:, 0], pairs[:, 1]
        others = gold.alternatives if ALTERNATIVES in questions else {}
        spans = np.sort(_keys(others))
        sizes = np.zeros(len(gold) if others else 0, np.int64)
        sizes[spans] = [len(others[span]) for span in spans.tolist()]
        flat = np.array([pair for span in spans.tolist() for pair in others[span]], np.int32).reshape(-1, 2)
        broken = np.zeros(len(pred) if others else 0, bool)
        if others:
            broken[_keys(pred.fragments)] = True
        return cls(
            questions, *cores, np.concatenate((np.zeros(1, np.int64), np.cumsum(sizes))), flat[:, 0], flat[:, 1], broken
        )

    def answers(self, g: Int64, p: Int64, pred: Spans, shared: Int64, gold_size: Int64, pred_size: Int64) -> UInt8:
        """Return the bits of the questions that pairs of spans answer with yes; sizes and `shared` are characters."""
        code = np.zeros(len(g), np.uint8)
        for bit, question in zip(QUESTION_BITS, self.questions, strict=False):
            if question == CORE:
                yes = (pred.start[p] <= self.core_start[g]) & (pred.end[p] >= self.core_end[g])
            elif question == ALTERNATIVES:
                yes = self._meets(g, p, pred)
            else:
                share, minimum = question
                whole = {"gold": gold_size, "prediction": pred_size}.get(share)
                if whole is None:
                    whole = gold_size + pred_size - shared
                # Compared as integers, without rounding.
                yes = shared * minimum.denominator >= whole * minimum.numerator
            code |= yes.view(np.uint8) * np.uint8(bit)
        return code

    def _meets(self, g: Int64, p: Int64, pred: Spans) -> NDArray[np.bool_]:
        yes = np.zeros(len(g), bool)
        if not len(self.start):
            return yes
        whole_pairs = np.flatnonzero((self.first[g + 1] > self.first[g]) & ~self.pred_broken[p])
        low, high = self.first[g[whole_pairs]], self.first[g[whole_pairs] + 1]
        size = high - low
        pair = np.repeat(whole_pairs, size)
        at = np.arange(len(pair)) - np.repeat(np.cumsum(size) - size - low, size)
        equal = (self.start[at] == pred.start[p[pair]]) & (self.end[at] == pred.end[p[pair]])
        yes[pair[equal]] = True
        return yes


def _keys(mapping: Mapping[int, object]) -> Int64:
    return np.fromiter(mapping, np.int64, len(mapping))
