"""How long nested spans take beside as many flat ones: four schemas, from sorted columns."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from nereval_core.alignment import align
from nereval_core.alignment.codes import Alignment, Spans
from nereval_core.scoring.criteria import CRITERIA, SCHEMAS, decision_table
from tests.benchmarks.generated import TYPES, Generated, generate
from tests.benchmarks.scales import Scale

MILLION = 1_000_000
OUTER = 0.035
"""Share of the gold spans that hold others."""
STRIDE = 40
"""Characters from one innermost gold span to the next."""
BY_DOCUMENT = 25
"""Innermost gold spans a document."""
FEW, MANY = 2, 6
"""How many innermost gold spans an outer one holds: as few and as many, drawn evenly."""
EDGE = 3
"""Characters that each further level reaches beyond the one inside it."""


def rows(scale: Scale) -> Iterator[tuple[str, float, str]]:
    """Yield what was measured, the figure, and the aim."""
    spans = scale.of(MILLION, MILLION // 10, 5_000)
    flat = generate(spans, tangled=0)
    for what, data, aim in (
        ("3.5% outer spans", nested(spans), "<= 2"),
        ("3.5% outer spans, 3 levels deep", nested(spans, levels=3), "reported"),
        ("3.5% outer spans, 1% of all doubled", nested(spans, doubled=0.01), "reported"),
        ("10% outer spans", nested(spans, outer=0.1), "<= 4"),
        ("1% outer spans of up to 40 others", nested(spans, outer=0.01, many=40, by_document=80), "reported"),
    ):
        yield f"{spans:,} gold spans, {what}, four schemas / flat", compared(data, flat, 5), aim
    equal, deep = scale.of(300_000, 30_000, 300), scale.of(10_000, 2_000, 200)
    yield f"s: {equal:,} equal spans each side, two and three types", clock(lambda: four(alike(equal))), "<= 2"
    yield f"s: {deep:,} spans each side, nested in one another", clock(lambda: four(rings(deep))), "<= 5"


def alike(spans: int) -> Generated:
    """Return spans of one place in one document, of two types in gold and of three in the prediction."""
    place, none = np.zeros(spans, np.int64), np.zeros(spans, np.int64)
    sides = [_sorted([none, place, place + 5, np.arange(spans) % types]) for types in (2, 3)]
    return Generated(*sides, np.array([0, 10]))


def rings(spans: int) -> Generated:
    """Return spans that stand inside one another; predictions end a character behind, half of them of another type."""
    at, none = np.arange(spans), np.zeros(spans, np.int64)
    gold = _sorted([none, at, 2 * spans + 5 - at, none])
    pred = _sorted([none, at, 2 * spans + 6 - at, at % 2])
    return Generated(gold, pred, np.array([0, 2 * spans + 10]))


def compared(data: Generated, flat: Generated, runs: int) -> float:
    """Return the median ratio of CPU times of neighbouring runs, after a warm-up of both."""
    four(data), four(flat)
    return statistics.median(clock(lambda: four(data)) / clock(lambda: four(flat)) for _ in range(runs))


def clock(run: Callable[[], object]) -> float:
    start = time.process_time()
    run()
    return time.process_time() - start


def four(data: Generated) -> Alignment:
    return align(data.gold, data.pred, data.base, decision_table([CRITERIA[name] for name in SCHEMAS]), types=TYPES)


def nested(
    spans: int,
    *,
    outer: float = OUTER,
    levels: int = 1,
    doubled: float = 0,
    many: int = MANY,
    by_document: int = BY_DOCUMENT,
    seed: int = 0,
) -> Generated:
    """Draw gold spans of which the share `outer` hold several others, and predictions for all of them.

    Innermost spans do not overlap. An outer span holds FEW to `many` of them; with more levels the outer spans stand
    around one another, `levels` deep. About 70% of the predictions are equal, whatever the
    level, 10% are shifted, 10% are of another type, and 10% are left out. The share `doubled` of either side's spans
    stands there twice, half of these under another type.
    """
    rng = np.random.default_rng(seed)
    around = round(spans * outer)
    inner = spans - around
    doc, place = np.divmod(np.arange(inner), by_document)
    start = place * STRIDE + EDGE * levels + rng.integers(0, 6, inner)
    end = start + rng.integers(4, 14, inner)
    first, last = _held(rng, inner, -(-around // levels), many, by_document)
    columns = [(doc, start, end)]
    for level in range(levels):
        some = slice(None, around - (levels - 1) * len(first) if level == levels - 1 else None)
        reach = EDGE * (level + 1)
        columns.append((doc[first[some]], start[first[some]] - reach, end[last[some]] + reach))
    doc, start, end = (np.concatenate(column) for column in zip(*columns, strict=True))
    kind = rng.integers(0, TYPES, spans)
    fate = rng.random(spans)
    kept = fate < 0.9
    shifted, retyped = ((fate > 0.7) & (fate < 0.8))[kept], (fate > 0.8)[kept]
    other = [column[kept] for column in (doc, start, end, kind)]
    other[2] = other[2] + shifted
    other[3] = (other[3] + retyped) % TYPES
    sides = []
    for drawn in ([doc, start, end, kind], other):
        again = np.flatnonzero(rng.random(len(drawn[0])) < doubled)
        more = [column[again] for column in drawn]
        more[3] = (more[3] + rng.integers(0, 2, len(again))) % TYPES
        sides.append(_sorted([np.concatenate(pair) for pair in zip(drawn, more, strict=True)]))
    documents = -(-inner // by_document)
    return Generated(*sides, np.arange(documents + 1, dtype=np.int64) * ((by_document + 1) * STRIDE))


def _held(
    rng: np.random.Generator, inner: int, around: int, many: int, by_document: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the first and the last innermost span that each outer one holds: disjoint runs within documents."""
    size = rng.integers(FEW, many + 1, around)
    # Outer spans stand in turn in evenly spread slots, each of which lies within one document.
    slots = by_document // many * (inner // by_document)
    if around > slots:
        raise ValueError(f"{around} outer spans of up to {many} do not fit into {slots} places")
    slot = np.sort(rng.choice(slots, around, replace=False))
    document, number = np.divmod(slot, by_document // many)
    first = document * by_document + number * many
    return first, first + size - 1


def _sorted(columns: list[NDArray[np.int64]]) -> Spans:
    order = np.lexsort(columns[::-1])
    doc, start, end, kind = (column[order] for column in columns)
    return Spans(doc.astype(np.int32), start.astype(np.int32), end.astype(np.int32), kind.astype(np.int16), {})
