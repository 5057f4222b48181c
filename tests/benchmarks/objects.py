"""How fast lists of tags are scored, conversion included, beside seqeval."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator

import numpy as np

from nereval_core.api.score import score
from tests.benchmarks.generated import TYPES
from tests.benchmarks.matching import MILLION, clock
from tests.benchmarks.scales import Scale

SPANS = MILLION // 10
RUNS = 7
DENSITY = 9
"""Tokens from one entity to the next, about that of CoNLL-2003."""


def rows(scale: Scale) -> Iterator[tuple[str, float, str]]:
    """Yield what was measured, the figure, and the aim."""
    from seqeval.metrics import f1_score

    spans = scale.of(SPANS, SPANS // 4, 200)
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
