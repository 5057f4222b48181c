"""Layers made of plain tuples, and random ones, for tests of the scoring core."""

from __future__ import annotations

import random
from dataclasses import replace

from nereval_core.corpus import Documents, Layer, layer
from nereval_core.scoring import Counting, Settings
from nereval_core.scoring.criteria import CRITERIA, Criterion
from nereval_core.scoring.criterion_syntax import criterion_from_parts
from tests.support.oracle import Span

COMPOSED = {
    "half-union": {"boundaries": "overlap", "types": "any", "otherwise": "PAR", "minimum": 0.5, "share": "union"},
    "third-gold": {"boundaries": "overlap", "types": "equal", "minimum": "1/3", "share": "gold"},
    "near-core": {"boundaries": "core", "types": "any", "otherwise": "PAR", "minimum": 0.5, "share": "prediction"},
    "near-type": {"boundaries": "overlap", "types": "equal", "otherwise": "PAR"},
    "near-left": {"boundaries": "start", "types": "equal", "otherwise": "PAR"},
    "near-strict": {"boundaries": "equal", "types": "equal", "otherwise": "PAR"},
    "half-start": {"boundaries": "start", "types": "equal", "other_boundaries": "PAR"},
    "half-type": {"boundaries": "contain", "types": "equal", "other_type": "PAR", "minimum": 0.5, "share": "union"},
    "most-pred": {"boundaries": "overlap", "types": "any", "minimum": 0.75, "share": "prediction"},
}
CRITERIA_TESTED: tuple[Criterion, ...] = (
    *(criterion for criterion in CRITERIA.values() if criterion.unit == "span"),
    *(criterion_from_parts(name, parts, "test") for name, parts in COMPOSED.items()),
)


def settings(*names: str, counting: Counting = "one-to-one") -> Settings:
    return Settings(tuple(CRITERIA[name] for name in names), counting=counting)


def documents(count: int, length: int = 60) -> Documents:
    return Documents(tuple(f"d{i}" for i in range(count)), tuple("abcdefghij " * length for _ in range(count)))


def make(name: str, over: Documents, spans: list[tuple[int, Span]]) -> Layer:
    """Build a layer from (document, span) in this reading order."""
    return layer(
        name,
        over,
        [doc for doc, _ in spans],
        [span.start for _, span in spans],
        [span.end for _, span in spans],
        [span.kind for _, span in spans],
        extras={
            "fragments": {i: span.fragments for i, (_, span) in enumerate(spans)},
            "cores": {i: span.core for i, (_, span) in enumerate(spans) if span.core},
            "alternatives": {i: span.alternatives for i, (_, span) in enumerate(spans) if span.alternatives},
        },
    )


def random_spans(
    rng: random.Random, most: int, *, room: int = 14, kinds: str = "ABC", broken: float = 0.15, more: float = 0.3
) -> list[Span]:
    """Draw spans in a short text, so that they nest, cross, touch and repeat; a share has a core or alternatives."""
    spans = []
    for _ in range(rng.randrange(most + 1)):
        low, high = sorted(rng.sample(range(room), 2))
        fragments: tuple[tuple[int, int], ...] = ((low, high),)
        if high - low > 2 and rng.random() < broken:
            cut, gap = sorted(rng.sample(range(low + 1, high), 2))
            fragments = ((low, cut), (gap, high))
        kind = rng.choice(kinds)

        def within(low: int, high: int) -> tuple[int, int]:
            start, end = sorted(rng.sample(range(low, high + 1), 2))
            return start, end

        core = within(low, high) if rng.random() < more else None
        others = tuple(within(0, room) for _ in range(rng.randrange(1, 4))) if rng.random() < more else ()
        spans.append(Span(fragments, kind, core, others))
        if rng.random() < 0.2:
            # An equal one, or one that differs in its core only.
            spans.append(spans[-1] if rng.random() < 0.5 else replace(spans[-1], core=within(low, high)))
    return spans[:most]
