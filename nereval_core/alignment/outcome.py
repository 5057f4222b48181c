"""What an alignment is asked for, criteria as tables over codes, and what it returns for both sides."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nereval_core.alignment.questions import Question
from nereval_core.arrays import Int64, UInt8


@dataclass(frozen=True, slots=True)
class Rules:
    """Criteria as tables: `decisions[code, criterion]` of a pair, and the questions that the code's bits answer."""

    decisions: UInt8
    questions: tuple[Question, ...] = ()

    @property
    def criteria(self) -> int:
        return int(self.decisions.shape[1])


@dataclass(slots=True)
class Side:
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

    gold: Side
    pred: Side
    greedy: tuple[int, ...]


Progress = Callable[[int, int], None]
