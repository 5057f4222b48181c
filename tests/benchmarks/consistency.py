"""How long a layer's consistency takes: all kinds together, of a million spans held against two systems.

Seconds are processor time of this process, all threads. Texts and spans are those that slicing is measured with; of the
two systems each leaves out, moves or retypes a tenth of the spans, half of these the same as the other does.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from nereval_core.analysis.consistency import consistency
from nereval_core.analysis.consistency.indexed_layer import IndexedLayer
from nereval_core.analysis.consistency.kinds import KINDS
from nereval_core.corpus import Layer, frozen
from tests.benchmarks.scales import Scale
from tests.benchmarks.slices import SPANS, drawn, seconds

CHANGED = 0.1


def rows(scale: Scale) -> Iterator[tuple[str, float, str]]:
    """Yield what was measured, the figure, and the aim."""
    small, large = (
        layers_of(spans) for spans in scale.of((SPANS // 10, SPANS), (SPANS // 10, SPANS // 10), (1_000, 1_000))
    )
    size = f"{len(large[0]):,} spans"
    # What is found once, such as what each character is, does not count.
    consistency(small[0], small[1:])
    least = min(seconds(partial(consistency, large[0], large[1:])) for _ in range(3))
    yield f"s: all kinds of inconsistency, {size}", least, "<= 5"
    given = IndexedLayer(large[0], tuple(large[1:]))
    forms = seconds(lambda: given.hits)
    yield f"s: of these words, forms, and where these stand, {size}", forms, "reported"
    for name, kind in KINDS.items():
        yield f"s: of these {name}, {size}", seconds(partial(kind.ask, given)), "reported"
    if scale is Scale.FULL:
        fewer = min(seconds(partial(consistency, small[0], small[1:])) for _ in range(3))
        yield "all kinds: 1,000,000 spans / ten times 100,000", least / fewer / 10, "<= 2"


def layers_of(spans: int) -> list[Layer]:
    """Return gold and two systems."""
    gold = drawn(spans).read[0]
    rng = np.random.default_rng(1)
    shared = rng.random(len(gold)) < CHANGED / 2
    return [gold, *(_changed(gold, shared, np.random.default_rng(seed)) for seed in (2, 3))]


def _changed(gold: Layer, shared: np.ndarray, own: np.random.Generator) -> Layer:
    """Return a system that leaves out, cuts short or retypes some spans; those `shared` by both in the same way."""
    fate = np.where(shared, np.arange(len(gold)) % 3, own.integers(0, 3, len(gold)))
    some = shared | (own.random(len(gold)) < CHANGED / 2)
    end, kind = gold.end.copy(), gold.type.copy()
    cut = some & (fate == 1) & (gold.end - gold.start > 2)
    end[cut] -= 1
    kind[some & (fate == 2)] = (kind[some & (fate == 2)] + 1) % len(gold.types)
    changed = replace(gold, end=frozen(end), type=frozen(kind), scores={})
    return changed.take(np.flatnonzero(~(some & (fate == 0)))).renamed("system")
