"""The best one-to-one alignment of gold spans and predictions, under several criteria at once.

Most spans overlap few others, and are decided by vector operations over chunks of whole documents that fit in cache
(`chunk_sweep.py`). Only the rest, the tangled clusters, go to a solver (`tangled_clusters.py`).

A pair is described by a code: the bits EQUAL, START, END, CONTAIN and SAME_TYPE, and one bit for each further question
that criteria ask (`Facts`). A criterion is a table from codes to decisions.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from nereval_core.alignment.chunk_sweep import Chunk, sweep
from nereval_core.alignment.codes import (
    CODES,
    TANGLED,
    UNALIGNED,
    Alignment,
    Decision,
    Facts,
    Progress,
    Rules,
    SideOutcome,
    Spans,
)
from nereval_core.corpus.arrays import Array, Int64, UInt8

if TYPE_CHECKING:
    from nereval_core.alignment.small_clusters import SmallClusterSolver

CHUNK_SPANS = 1 << 17
"""Spans a side that are decided at once: few enough for the arrays to stay near, enough to pay for the calls."""
FLUSH_SPANS = 1 << 18
"""Tangled spans collected before the solvers run: enough to fill their vectors, few enough to bound memory."""


def align(
    gold: Spans,
    pred: Spans,
    base: Int64,
    rules: Rules,
    *,
    types: int,
    partners: bool = False,
    each_side: bool = False,
    progress: Progress | None = None,
) -> Alignment:
    """Decide every span under every criterion.

    `base` (documents + 1,) says where each document starts if all texts stood in a row (code points); `types` is the
    number of type codes. `partners` asks for partners too and takes one criterion. `each_side` lets every span take
    the best decision that an overlapping span of the other side earns it, instead of aligning one to one.
    `progress` is called with the gold spans done and their total.
    """
    assert not partners or rules.criteria == 1, "partners differ by criterion: ask for one at a time"
    outcome = Alignment(
        _side(len(gold), rules, types, partners),
        _side(len(pred), rules, types, partners),
        (),
    )
    tables = tuple(_Table.of(rules, alone) for alone in (Decision.MIS, Decision.SPU))
    # Spans that differ in cores or alternatives only are told apart by the solvers behind the sweep.
    small_apart = not (
        each_side or any(annotated for side in (gold, pred) for annotated in (side.cores, side.alternatives))
    )
    histograms = tuple(np.zeros(types * CODES, np.int64) for _ in range(2))
    facts = Facts.of(gold, pred, rules.questions)
    small: SmallClusterSolver | None = None
    waiting: list[tuple[Int64, Int64, Int64, Int64]] = []
    greedy: set[int] = set()
    tangled = clusters = 0

    # Most small corpora have no tangled spans, and the solvers are many: they are imported where they are needed.
    @cache
    def identical_first() -> tuple[bool, bool]:
        from nereval_core.alignment.identical_pairs import fixed_first

        return fixed_first(rules) if not each_side else (False, False)

    def solve_waiting() -> None:
        nonlocal tangled, clusters
        if waiting:
            from nereval_core.alignment.tangled_clusters import solve_clusters

            columns = [np.concatenate(column) for column in zip(*waiting, strict=True)]
            greedy.update(solve_clusters(gold, pred, base, rules, facts, outcome, *columns, each_side=each_side))
            waiting.clear()
            tangled = clusters = 0

    for chunk in _chunks(gold, pred, base):
        swept = sweep(
            gold,
            pred,
            base,
            facts,
            chunk,
            partners=partners,
            identical_first=identical_first,
            small_apart=small_apart,
        )
        for side, table, code, part, histogram, spans in zip(
            (outcome.gold, outcome.pred),
            tables,
            swept.codes,
            (chunk.gold, chunk.pred),
            histograms,
            (gold, pred),
            strict=True,
        ):
            table.write(side.rows[part], code)
            key: Array = spans.type[part].astype(np.uint16 if types <= 256 else np.int64)
            key *= CODES
            key += code
            histogram += np.bincount(key, minlength=len(histogram))
        if outcome.gold.partners is not None and outcome.pred.partners is not None:
            for g, p in swept.pairs or ():
                outcome.gold.partners[g + chunk.gold.start] = p + chunk.pred.start
                outcome.pred.partners[p + chunk.pred.start] = g + chunk.gold.start
        if swept.small is not None:
            if small is None:
                from nereval_core.alignment.small_clusters import SmallClusterSolver

                small = SmallClusterSolver(gold, pred, rules, facts, outcome)
            small.add(swept.small)
        tangles = swept.tangles
        if tangles is not None:
            waiting.append(
                (
                    tangles.gold + chunk.gold.start,
                    tangles.gold_cluster + clusters,
                    tangles.pred + chunk.pred.start,
                    tangles.pred_cluster + clusters,
                )
            )
            clusters += tangles.clusters
            tangled += len(tangles.gold) + len(tangles.pred)
            if tangled > FLUSH_SPANS:
                solve_waiting()
        if progress is not None:
            progress(chunk.gold.stop, len(gold))
    if small is not None:
        small.solve()
    solve_waiting()
    for side, histogram, table in zip((outcome.gold, outcome.pred), histograms, tables, strict=True):
        rows = histogram.reshape(types, CODES)
        rows[:, TANGLED] = 0
        for decision in Decision:
            side.counts[:, :, decision] += rows @ (table.decisions == decision).astype(np.int64)
    outcome.greedy = tuple(sorted(greedy))
    return outcome


@dataclass(frozen=True, slots=True)
class _Table:
    """Decisions by code, with rows packed into unsigned integers of `width` bytes, so that they are moved as one."""

    decisions: UInt8
    packed: Array
    width: int

    @classmethod
    def of(cls, rules: Rules, alone: Decision) -> _Table:
        decisions = rules.decisions.copy()
        decisions[UNALIGNED] = alone
        decisions[TANGLED] = alone
        padded = np.zeros((CODES, _width(rules.criteria)), np.uint8)
        padded[:, : rules.criteria] = decisions
        width = 8 if padded.shape[1] % 8 == 0 else padded.shape[1]
        return cls(decisions, padded.view(f"u{width}"), width)

    def write(self, rows: UInt8, code: UInt8) -> None:
        # No code is out of range: mode "clip" only lets the result be written where it belongs, without a copy.
        np.take(self.packed, code, axis=0, out=rows.view(f"u{self.width}"), mode="clip")


def _width(criteria: int) -> int:
    """Bytes a row of decisions takes: a power of two, or a multiple of 8, so that it can be written as integers."""
    return next((width for width in (1, 2, 4, 8) if criteria <= width), -(-criteria // 8) * 8)


def _side(spans: int, rules: Rules, types: int, partners: bool) -> SideOutcome:
    return SideOutcome(
        np.empty((spans, _width(rules.criteria)), np.uint8),
        np.zeros((types, rules.criteria, len(Decision)), np.int64),
        np.full(spans, -1, np.int32) if partners else None,
    )


def _chunks(gold: Spans, pred: Spans, base: Int64) -> Iterator[Chunk]:
    """Cut both sides at document boundaries, about CHUNK_SPANS spans at a time, twice as many where input is large."""
    end_gold, end_pred, documents = len(gold), len(pred), len(base) - 1
    step = min(max(CHUNK_SPANS, end_gold // 32), 2 * CHUNK_SPANS)
    g = p = 0
    while g < end_gold or p < end_pred:
        first = min(side.doc[at] for side, at, end in ((gold, g, end_gold), (pred, p, end_pred)) if at < end)
        stop = documents
        if g + step < end_gold:
            stop = min(stop, gold.doc[g + step])
        if p + step < end_pred:
            stop = min(stop, pred.doc[p + step])
        # Positions within a chunk must leave room for a length in 63 bits.
        stop = min(stop, int(np.searchsorted(base, base[first] + (1 << 31), side="right")) - 1)
        stop = max(int(stop), int(first) + 1)
        # A key of the column's own type: any other makes searchsorted copy the column.
        key = gold.doc.dtype.type(stop)
        next_g = g + int(np.searchsorted(gold.doc[g:], key))
        next_p = p + int(np.searchsorted(pred.doc[p:], key))
        yield Chunk(slice(g, next_g), slice(p, next_p), int(first))
        g, p = next_g, next_p
