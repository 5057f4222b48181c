"""The records of nervaluate: the pairs of a schema, and the rule that decided each.

From 1.0 on a scope that is a type has a pass of its own, and records of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd

from nereval_core.conventions.nervaluate.matching import (
    PairedSpans,
    SpanClusters,
    SpanUnits,
    concatenate_pairs,
    overlapping_pairs,
    with_overlap_of,
)
from nereval_core.conventions.records import (
    COR,
    IGN,
    INC,
    MIS,
    OVERALL,
    PAR,
    SPU,
    Evaluation,
    MatchRows,
    UnitColumns,
    at,
    other_units,
    record_frame,
    scope_of_type,
    with_types,
)
from nereval_core.corpus.arrays import Array, Int64

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


EVALUATION = Evaluation(
    reasons=WHY,
    counters={
        "correct": (COR,),
        "incorrect": (INC,),
        "partial": (PAR,),
        "missed": (MIS,),
        "spurious": (SPU,),
        "possible": (COR, INC, PAR, MIS),
        "actual": (COR, INC, PAR, SPU),
    },
)


class NumberedUnits(NamedTuple):
    """A side's units in reading order, and of each span as it is sorted the number of its unit."""

    columns: UnitColumns
    unit: Int64


@dataclass(frozen=True, eq=False)
class PairedSides:
    """The spans whose types are in `tags`, with their rows among all, and how they were paired.

    `alone` are the pairs that are the same under all schemas, `tangled` those of tangled spans by schema and whether
    each type was matched on its own. `doubles` are gold spans that an identical one counts for.
    """

    gold: SpanUnits
    pred: SpanUnits
    gold_rows: Int64
    pred_rows: Int64
    clusters: SpanClusters
    alone: PairedSpans
    tangled: Mapping[tuple[str, bool], PairedSpans]
    doubles: Int64
    minimum: float

    def pairs(self, schema: str, typed: bool) -> PairedSpans:
        alone = self.alone.of_one_type() if typed else self.alone
        return concatenate_pairs([alone, self.tangled[schema, typed]])

    def overlaps(self) -> Iterator[PairedSpans]:
        """List all overlapping pairs, however small the overlap."""
        yield self.clusters.alone
        yield from overlapping_pairs(self.gold, self.pred, self.clusters.gold, self.clusters.pred)


class PassRows(NamedTuple):
    """The rows of a pass over spans as they are sorted, and the type of each where types are scored alone, else -1."""

    gold: Int64
    pred: Int64
    decision: Array
    reason: Array
    kind: Array


def schema_records(
    schema: str, sides: PairedSides, gold: NumberedUnits, pred: NumberedUnits, types: tuple[str, ...]
) -> pd.DataFrame:
    """Return the records of a schema, all scopes."""
    by_type = (schema, True) in sides.tangled
    passes = [_pass(schema, sides, typed) for typed in (False, True)] if by_type else [_single_pass(schema, sides)]
    passes.append(_untagged(sides, len(gold.unit), len(pred.unit)))
    whole = PassRows(*(np.concatenate(columns) for columns in zip(*passes, strict=True)))
    gold_unit, pred_unit = (
        np.where(spans >= 0, at(side.unit, spans), -1) for spans, side in ((whole.gold, gold), (whole.pred, pred))
    )
    rows = MatchRows(gold_unit, pred_unit, whole.decision, whole.reason)
    counters = {name: np.isin(rows.decision, codes) for name, codes in EVALUATION.counters.items()}
    scope = (whole.kind + 1, (OVERALL, *map(scope_of_type, types)))
    frame = record_frame(schema, gold.columns, pred.columns, rows, WHY, counters, scope=scope)
    if by_type:
        return frame
    typed = with_types(frame)
    # Spans left out belong to no type's scope.
    return typed[(typed["scope"] == OVERALL) | (typed["why"] != WHY[UNTAGGED])].reset_index(drop=True)


def _pass(schema: str, sides: PairedSides, typed: bool) -> PassRows:
    """Return the records of one pass of 1.0 and later, overall or each type alone."""
    gold, pred = sides.gold, sides.pred
    pairs = sides.pairs(schema, typed)
    decided = np.array(DECIDED[schema])
    never = np.iinfo(np.int64).max
    turn = np.full(len(gold), never)
    turn[pairs.gold] = pred.order[pairs.pred]
    wanting = np.zeros(len(pred), bool)
    wanting[pairs.pred] = decided[pairs.code] != COR
    met = [np.zeros(len(side), bool) for side in (gold, pred)]
    little, foreign = ([np.zeros(len(side), bool) for side in (gold, pred)] for _ in range(2))
    follows, spent = np.zeros(len(pred), bool), np.zeros(len(pred), bool)
    for overlaps in sides.overlaps():
        enough = with_overlap_of(gold, pred, overlaps, sides.minimum)
        for flags, part in ((little, overlaps), (foreign, enough), (met, enough)):
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
    for side, paired, with_overlap in ((0, pairs.gold, LEFT), (1, pairs.pred, SPENT)):
        others = other_units(paired, len(met[side]))
        reasons = np.where(
            met[side][others],
            with_overlap,
            np.where(little[side][others], LITTLE, np.where(foreign[side][others], FOREIGN, ALONE)),
        )
        alone.append((others, reasons))
    return _rows(sides, pairs, decided[pairs.code], why, alone, typed)


def _single_pass(schema: str, sides: PairedSides) -> PassRows:
    """Return the records of 0.3.1's one pass."""
    gold, pred = sides.gold, sides.pred
    pairs = sides.pairs(schema, False)
    decided = np.array(DECIDED[schema])
    met = [np.zeros(len(side), bool) for side in (gold, pred)]
    for overlaps in sides.overlaps():
        met[0][overlaps.gold] = True
        met[1][overlaps.pred] = True
    why = pairs.code.astype(np.int64)
    bounds = pairs.code & 1 > 0
    why[~bounds & (np.bincount(pairs.pred, minlength=len(pred))[pairs.pred] > 1)] = SEVERAL
    # In the order in which predictions are looked at, the second of a gold span finds it used.
    order = np.lexsort((pred.order[pairs.pred], pred.end[pairs.pred], pairs.gold))
    second = np.zeros(len(pairs), bool)
    second[order[1:]] = pairs.gold[order[1:]] == pairs.gold[order[:-1]]
    why[bounds & second] = AGAIN
    alone = []
    for side, paired, with_overlap in (
        (0, np.concatenate((pairs.gold, sides.doubles)), ELSEWHERE),
        (1, pairs.pred, BEFORE),
    ):
        others = other_units(paired, len(met[side]))
        alone.append((others, np.where(met[side][others], with_overlap, ALONE)))
    rows = _rows(sides, pairs, decided[pairs.code], why, alone, False)
    doubles = sides.doubles
    none = np.full(len(doubles), -1)
    ignored = PassRows(sides.gold_rows[doubles], none, none * 0 + IGN, none * 0 + DOUBLE, none)
    return PassRows(*(np.concatenate(columns) for columns in zip(rows, ignored, strict=True)))


def _rows(
    sides: PairedSides, pairs: PairedSpans, decision: Array, why: Array, alone: list[tuple[Int64, Array]], typed: bool
) -> PassRows:
    (missed, missed_why), (spurious, spurious_why) = alone
    kind = np.concatenate((sides.gold.kind[pairs.gold], sides.gold.kind[missed], sides.pred.kind[spurious]))
    return PassRows(
        np.concatenate((at(sides.gold_rows, pairs.gold), at(sides.gold_rows, missed), np.full(len(spurious), -1))),
        np.concatenate((at(sides.pred_rows, pairs.pred), np.full(len(missed), -1), at(sides.pred_rows, spurious))),
        np.concatenate((decision, np.full(len(missed), MIS), np.full(len(spurious), SPU))),
        np.concatenate((why, missed_why, spurious_why)),
        kind.astype(np.int64) if typed else np.full(len(kind), -1),
    )


def _untagged(sides: PairedSides, golds: int, preds: int) -> PassRows:
    """Return the records of spans whose types are not in `tags`, overall only."""
    g = other_units(sides.gold_rows, golds)
    p = other_units(sides.pred_rows, preds)
    size = len(g) + len(p)
    return PassRows(
        np.concatenate((g, np.full(len(p), -1))),
        np.concatenate((np.full(len(g), -1), p)),
        np.full(size, IGN),
        np.full(size, UNTAGGED),
        np.full(size, -1),
    )
