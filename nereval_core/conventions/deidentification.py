"""Parts of the scripts of de-identification tasks: spans of a side by key, and sets of them compared."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from nereval_core.conventions.convention import LayerPair, refuse_discontinuous
from nereval_core.conventions.outcome import RatioNames
from nereval_core.conventions.records import COR, MIS, SPU, Evaluation, MatchRows, reading_order
from nereval_core.corpus import Layer
from nereval_core.problems import FormatError

COUNTERS = {"tp": (COR,), "fp": (SPU,), "fn": (MIS,)}
REASONS = (
    "equal on the other side",
    "nothing equal on the other side",
    "given twice, or equal to what counts already: left out",
    "lies in a right span: left out",
    "not of the types that count: left out",
)
RIGHT, WRONG, REPEATED, WITHIN, OTHER_TYPE = range(len(REASONS))
SPANS = Evaluation(reasons=REASONS, counters=COUNTERS)
RATIOS = RatioNames(precision="Precision", recall="Recall", f1="F1", correct="tp", fp="fp", fn="fn")

Key = tuple[Any, ...]


class Side(NamedTuple):
    """The spans of one side in reading order, as lists."""

    layer: Layer
    doc: list[int]
    start: list[int]
    end: list[int]
    kind: list[int]

    @classmethod
    def of_layer(cls, layer: Layer) -> Side:
        order = reading_order(layer)
        columns = (column[order].tolist() for column in (layer.doc, layer.start, layer.end, layer.type))
        return cls(layer, *columns)

    def keys(self, of_kind: Callable[[str], Key]) -> list[Key]:
        """Return document, what `of_kind` makes of the type, start and end of each span."""
        kinds = [of_kind(name) for name in self.layer.types]
        columns = zip(self.doc, self.kind, self.start, self.end, strict=True)
        return [(doc, *kinds[kind], start, end) for doc, kind, start, end in columns]


def no_type(_: str) -> Key:
    return ()


def equal_rows(keys: Sequence[Sequence[Key]], skipped: Sequence[Sequence[bool]]) -> MatchRows:
    """Match units of the same key, each key once a side."""
    numbers: dict[Key, int] = {}
    columns = [np.array([numbers.setdefault(key, len(numbers)) for key in side], np.int64) for side in keys]
    ignored = [np.where(np.array(side, bool), OTHER_TYPE, -1) for side in skipped]
    return MatchRows.of_sets(columns[0], columns[1], ignored[0], ignored[1])


def lone_row(side: int, unit: int, decision: int, reason: int) -> tuple[int, int, int, int]:
    """Return a row of a unit without partner; side 0 is gold."""
    return (unit, -1, decision, reason) if side == 0 else (-1, unit, decision, reason)


def match_rows(rows: Sequence[tuple[int, int, int, int]]) -> MatchRows:
    """Return rows of gold unit, prediction, decision and reason as columns."""
    gold, pred, decision, reason = np.array(rows, np.int64).reshape(-1, 4).T
    return MatchRows(gold, pred, decision, reason)


def refuse_unreadable(layers: LayerPair, why: str) -> None:
    """Refuse layers without a document, and discontinuous spans.

    Raises:
        FormatError: there are any.
    """
    if not len(layers.gold.documents):
        raise FormatError.single(layers.gold.name, None, "there is no document", "give at least one")
    refuse_discontinuous(layers, why)
