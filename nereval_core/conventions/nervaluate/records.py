"""The records of nervaluate: the pairs of a schema, and the rule that decided each.

From 1.0 on a scope that is a type has a pass of its own, and records of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd

from nereval_core.arrays import Array, Int64
from nereval_core.conventions.nervaluate.matching import (
    PairedSpans,
    SpanClusters,
    SpanUnits,
    concatenate_pairs,
    overlapping_pairs,
    with_overlap_of,
)
from nereval_core.conventions.outcome import (
    COR,
    IGN,
    INC,
    MIS,
    OVERALL,
    PAR,
    SPU,
    UnitColumns,
    record_frame,
    scope_of_type,
    with_types,
)

DECIDED: Mapping[str, tuple[int, int, int, int]] = {
    "strict": (INC, INC, INC, COR),
    "exact": (INC, COR, INC, COR),
    "partial": (PAR, COR, PAR, COR),
    "ent_type": (INC, INC, COR, COR),
}
"""The decision of a pair by its code: overlap alone, same boundaries, same type, both."""

WHY = (
    "overlap, another type",
    "same boundaries, another type",
    "overlap, same type",
    "same boundaries and type",
    "the first overlapping gold span in input order was taken, though a better one follows",
    "an earlier prediction had used the better gold span up",
    "no span of the other side overlaps",
    "the overlap is below min_overlap_percentage",
    "only spans of other types overlap, and each type is scored alone",
    "an earlier prediction had used the gold span up",
    "the predictions that overlap it were paired with other gold spans",
    "an identical gold span counts however often it is matched",
    "one prediction counts for every gold span it is the first to overlap",
    "every gold span it overlaps had been overlapped before",
    "the predictions that overlap it count for other gold spans only",
    "an identical gold span counts for it",
    "type is not in tags: left out",
)
FIRST, USED, ALONE, LITTLE, FOREIGN, SPENT, LEFT, AGAIN, SEVERAL, BEFORE, ELSEWHERE, DOUBLE, UNTAGGED = range(4, 17)


class Numbered(NamedTuple):
    """A side's units in reading order, and of each span as it is sorted the number of its unit."""

    marks: UnitColumns
    unit: Int64


@dataclass(frozen=True, eq=False)
class Matching:
    """The spans whose types are in `tags`, with their rows among all, and how they were paired.

    `alone` are the pairs that are the same under all schemas, `tangled` those of tangled spans by schema and whether
    each type was matched on its own. `doubles` are gold spans that an identical one counts for.
    """

    gold: SpanUnits
    pred: SpanUnits
    gold_rows: Int64
    pred_rows: Int64
    found: SpanClusters
    alone: PairedSpans
    tangled: Mapping[tuple[str, bool], PairedSpans]
    doubles: Int64
    minimum: float

    def pairs(self, schema: str, typed: bool) -> PairedSpans:
        alone = self.alone.of_one_type() if typed else self.alone
        return concatenate_pairs([alone, self.tangled[schema, typed]])

    def overlaps(self) -> Iterator[PairedSpans]:
        """List all overlapping pairs, however small the overlap."""
        yield self.found.alone
        yield from overlapping_pairs(self.gold, self.pred, self.found.gold, self.found.pred)


class RecordArrays(NamedTuple):
    """Records as arrays: spans of either side (-1 none), decision, reason, and type where each is scored alone."""

    gold: Int64
    pred: Int64
    decision: Array
    why: Array
    kind: Array


def schema_records(
    schema: str, matching: Matching, gold: Numbered, pred: Numbered, types: tuple[str, ...]
) -> pd.DataFrame:
    """Return the records of a schema, all scopes."""
    by_type = (schema, True) in matching.tangled
    passes = [_pass(schema, matching, typed) for typed in (False, True)] if by_type else [_single(schema, matching)]
    passes.append(_untagged(matching, len(gold.unit), len(pred.unit)))
    rows = RecordArrays(*(np.concatenate(columns) for columns in zip(*passes, strict=True)))
    g, p = (
        np.where(side >= 0, _at(numbered.unit, side), -1) for side, numbered in ((rows.gold, gold), (rows.pred, pred))
    )
    five = [rows.decision == decision for decision in (COR, INC, PAR, MIS, SPU)]
    met = five[0] | five[1] | five[2]
    counters = dict(zip(("correct", "incorrect", "partial", "missed", "spurious"), five, strict=True))
    counters |= {"possible": met | five[3], "actual": met | five[4]}
    frame = record_frame(
        schema,
        gold.marks,
        pred.marks,
        g,
        p,
        rows.decision,
        (rows.why, WHY),
        counters,
        scope=(rows.kind + 1, (OVERALL, *map(scope_of_type, types))),
    )
    if by_type:
        return frame
    typed = with_types(frame)
    # Spans left out belong to no type's scope.
    return typed[(typed["scope"] == OVERALL) | (typed["why"] != WHY[UNTAGGED])].reset_index(drop=True)


def _at(column: Array, index: Int64) -> Array:
    return column[index] if len(column) else np.full(len(index), -1)


def _pass(schema: str, matching: Matching, typed: bool) -> RecordArrays:
    """Return the records of one pass of 1.0 and later, overall or each type alone."""
    gold, pred = matching.gold, matching.pred
    pairs = matching.pairs(schema, typed)
    decided = np.array(DECIDED[schema])
    never = np.iinfo(np.int64).max
    turn = np.full(len(gold), never)
    turn[pairs.gold] = pred.order[pairs.pred]
    wanting = np.zeros(len(pred), bool)
    wanting[pairs.pred] = decided[pairs.code] != COR
    met = [np.zeros(len(side), bool) for side in (gold, pred)]
    little, foreign = ([np.zeros(len(side), bool) for side in (gold, pred)] for _ in range(2))
    follows, spent = np.zeros(len(pred), bool), np.zeros(len(pred), bool)
    for every in matching.overlaps():
        enough = with_overlap_of(gold, pred, every, matching.minimum)
        for flags, part in ((little, every), (foreign, enough), (met, enough)):
            own = part
            if typed and flags is not foreign:
                own = part.of_one_type()
            flags[0][own.gold] = True
            flags[1][own.pred] = True
        better = enough.of_one_type() if typed else enough
        better = better.take(np.flatnonzero((decided[better.code] == COR) & wanting[better.pred]))
        free = turn[better.gold] > pred.order[better.pred]
        follows[better.pred[free]] = True
        spent[better.pred[~free]] = True
    why = np.where(follows[pairs.pred], FIRST, np.where(spent[pairs.pred], USED, pairs.code))
    alone = []
    for side, taken, with_overlap in ((0, pairs.gold, LEFT), (1, pairs.pred, SPENT)):
        rest = np.setdiff1d(np.arange(len(met[side])), taken)
        reasons = np.where(
            met[side][rest],
            with_overlap,
            np.where(little[side][rest], LITTLE, np.where(foreign[side][rest], FOREIGN, ALONE)),
        )
        alone.append((rest, reasons))
    return _rows(matching, pairs, decided[pairs.code], why, alone, typed)


def _single(schema: str, matching: Matching) -> RecordArrays:
    """Return the records of 0.3.1's one pass."""
    gold, pred = matching.gold, matching.pred
    pairs = matching.pairs(schema, False)
    decided = np.array(DECIDED[schema])
    met = [np.zeros(len(side), bool) for side in (gold, pred)]
    for every in matching.overlaps():
        met[0][every.gold] = True
        met[1][every.pred] = True
    why = pairs.code.astype(np.int64)
    bounds = pairs.code & 1 > 0
    why[~bounds & (np.bincount(pairs.pred, minlength=len(pred))[pairs.pred] > 1)] = SEVERAL
    # In the order in which predictions are looked at, the second of a gold span finds it used.
    order = np.lexsort((pred.order[pairs.pred], pred.end[pairs.pred], pairs.gold))
    second = np.zeros(len(pairs), bool)
    second[order[1:]] = pairs.gold[order[1:]] == pairs.gold[order[:-1]]
    why[bounds & second] = AGAIN
    alone = []
    for side, taken, with_overlap in (
        (0, np.concatenate((pairs.gold, matching.doubles)), ELSEWHERE),
        (1, pairs.pred, BEFORE),
    ):
        rest = np.setdiff1d(np.arange(len(met[side])), taken)
        alone.append((rest, np.where(met[side][rest], with_overlap, ALONE)))
    rows = _rows(matching, pairs, decided[pairs.code], why, alone, False)
    doubles = matching.doubles
    none = np.full(len(doubles), -1)
    passed = RecordArrays(matching.gold_rows[doubles], none, none * 0 + IGN, none * 0 + DOUBLE, none)
    return RecordArrays(*(np.concatenate(columns) for columns in zip(rows, passed, strict=True)))


def _rows(
    matching: Matching, pairs: PairedSpans, decision: Array, why: Array, alone: list[tuple[Int64, Array]], typed: bool
) -> RecordArrays:
    (missed, missed_why), (spurious, spurious_why) = alone
    kind = np.concatenate((matching.gold.kind[pairs.gold], matching.gold.kind[missed], matching.pred.kind[spurious]))
    return RecordArrays(
        np.concatenate(
            (_at(matching.gold_rows, pairs.gold), _at(matching.gold_rows, missed), np.full(len(spurious), -1))
        ),
        np.concatenate(
            (_at(matching.pred_rows, pairs.pred), np.full(len(missed), -1), _at(matching.pred_rows, spurious))
        ),
        np.concatenate((decision, np.full(len(missed), MIS), np.full(len(spurious), SPU))),
        np.concatenate((why, missed_why, spurious_why)),
        kind.astype(np.int64) if typed else np.full(len(kind), -1),
    )


def _untagged(matching: Matching, golds: int, preds: int) -> RecordArrays:
    """Return the records of spans whose types are not in `tags`, overall only."""
    g = np.setdiff1d(np.arange(golds), matching.gold_rows)
    p = np.setdiff1d(np.arange(preds), matching.pred_rows)
    size = len(g) + len(p)
    return RecordArrays(
        np.concatenate((g, np.full(len(p), -1))),
        np.concatenate((np.full(len(g), -1), p)),
        np.full(size, IGN),
        np.full(size, UNTAGGED),
        np.full(size, -1),
    )
