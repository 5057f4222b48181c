"""The data that alignment takes and gives: spans as columns, codes of pairs, criteria as a table, decisions.

The code of a pair has a bit for each fact of its boundaries and types, and one for each further question that criteria
ask (`questions.py`); `describe` sets the former.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from nereval_core.arrays import Array, Int64, UInt8


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
