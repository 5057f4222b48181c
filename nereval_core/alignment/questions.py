"""Questions of criteria about a pair beside its boundaries and types: a minimum overlap, gold's core, alternatives.

A question is one bit of a pair's code. It is answered only where a criterion asks it, so that the others cost nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from nereval_core.alignment.codes import Question, Spans
from nereval_core.arrays import Array, Int64, UInt8

CORE: Question = ("core", Fraction(1))
"""Does the prediction cover the gold span's core? A span without a core is its own. Both are outer hulls."""
ALTERNATIVES: Question = ("alternatives", Fraction(1))
"""Are the prediction's boundaries one of the gold span's alternatives? A discontinuous prediction has none of them."""
QUESTION_BITS = (32, 64, 128)
"""Bits of a code, one for each question that can be asked at once: set where the answer is yes."""


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
        some = np.flatnonzero((self.first[g + 1] > self.first[g]) & ~self.pred_broken[p])
        low, high = self.first[g[some]], self.first[g[some] + 1]
        size = high - low
        pair = np.repeat(some, size)
        at = np.arange(len(pair)) - np.repeat(np.cumsum(size) - size - low, size)
        equal = (self.start[at] == pred.start[p[pair]]) & (self.end[at] == pred.end[p[pair]])
        yes[pair[equal]] = True
        return yes


def _keys(mapping: Mapping[int, object]) -> Int64:
    return np.fromiter(mapping, np.int64, len(mapping))
