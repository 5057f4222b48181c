"""How fast Python objects are scored, conversion included, beside nervaluate on dicts and seqeval on tags."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from nereval_core.api.score import score
from tests.benchmarks.generated import TYPES, generate
from tests.benchmarks.matching import MILLION, clock
from tests.benchmarks.scales import Scale

SPANS = MILLION // 10
RUNS = 7
DENSITY = 9
"""Tokens from one entity to the next, about that of CoNLL-2003."""


def rows(scale: Scale) -> Iterator[tuple[str, float, str]]:
    """Yield what was measured, the figure, and the aim."""
    from nervaluate.evaluator import Evaluator
    from seqeval.metrics import f1_score

    spans = scale.of(SPANS, SPANS // 4, 200)
    exclusive, inclusive = dicts(spans, 0), dicts(spans, -1)
    names = [f"T{code}" for code in range(TYPES)]
    # Its evaluate() takes much longer than all of ours together: once is enough.
    theirs = Evaluator(*inclusive, tags=names, loader="dict").evaluate
    ratio = beside(theirs, lambda: score(*exclusive), 1)
    yield (f"nervaluate 1.2.1 evaluate() / score() of lists of dicts, {spans:,}", ratio, ">= 50")
    tuples = [[[(one["start"], one["end"], one["label"]) for one in spans] for spans in side] for side in exclusive]
    ratio = beside(theirs, lambda: score(*tuples), 1)
    yield (f"nervaluate 1.2.1 evaluate() / score() of lists of tuples, {spans:,}", ratio, "reported")
    gold, pred = tags(spans)
    ratio = beside(lambda: f1_score(gold, pred), lambda: score(gold, pred, criteria="strict"), 3)
    yield (f"seqeval 1.2.2 f1_score() / score() of tag lists, {spans:,}", ratio, ">= 10")


def beside(theirs: Callable[[], object], ours: Callable[[], object], runs: int) -> float:
    """Return how many times as long theirs takes: the median of `runs` of theirs over that of ours around them."""
    ours()
    found = []
    for _ in range(runs):
        before = [clock(ours) for _ in range(RUNS)]
        long = clock(theirs)
        after = [clock(ours) for _ in range(RUNS)]
        found.append(long / statistics.median([*before, *after]))
    return statistics.median(found)


def dicts(spans: int, last: int) -> list[list[list[dict[str, Any]]]]:
    """Return both sides as lists of dicts whose ends are moved by `last`: -1 for inclusive ones."""
    data = generate(spans)
    sides = []
    for one in (data.gold, data.pred):
        rows: list[list[dict[str, Any]]] = [[] for _ in range(data.documents)]
        columns = (one.doc, one.start, one.end, one.type)
        for doc, start, end, kind in zip(*(column.tolist() for column in columns), strict=True):
            rows[doc].append({"label": f"T{kind}", "start": start, "end": end + last})
        sides.append(rows)
    return sides


def tags(spans: int) -> tuple[list[list[str]], list[list[str]]]:
    """Return IOB2 tags of gold, ten spans of one to three tokens a document, and of a prediction: 70% are equal."""
    rng = np.random.default_rng(0)
    sizes, kinds = rng.integers(1, 4, spans).tolist(), rng.integers(0, TYPES, spans).tolist()
    fates = rng.random(spans).tolist()
    gold: list[list[str]] = []
    pred: list[list[str]] = []
    for low in range(0, spans, 10):
        one, two = (["O"] * (10 * DENSITY) for _ in range(2))
        for place in range(low, min(low + 10, spans)):
            start, size, kind, fate = (place - low) * DENSITY + 3, sizes[place], kinds[place], fates[place]
            one[start : start + size] = [f"B-T{kind}", *[f"I-T{kind}"] * (size - 1)]
            if fate < 0.9:
                start, kind = start + (0.7 < fate < 0.8), (kind + (fate > 0.8)) % TYPES
                two[start : start + size] = [f"B-T{kind}", *[f"I-T{kind}"] * (size - 1)]
        gold.append(one)
        pred.append(two)
    return gold, pred
