"""Gold spans and predictions drawn with a seed, as sorted columns: what the benchmarks score."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nereval_core.alignment.codes import Spans

TYPES = 20
STRIDE = 100
"""Characters from one gold span to the next."""


@dataclass(frozen=True)
class Generated:
    """Both sides, and where each document starts if all texts stood in a row."""

    gold: Spans
    pred: Spans
    base: NDArray[np.int64]

    @property
    def documents(self) -> int:
        return len(self.base) - 1


def generate(spans: int, *, by_document: int = 10, tangled: float = 0.01, seed: int = 0) -> Generated:
    """Draw gold spans, evenly over documents, and predictions for them.

    About 70% of the predictions are equal, 10% are shifted, 10% are of another type, 10% lie elsewhere. Of the gold
    spans the share `tangled` meets more than one prediction: a third of these is split in two, a third is predicted
    with a nested span, and a third overlaps the next gold span's prediction, which overlaps both. The last gold span
    of a document has no next one: it is split or predicted with a nested span, so that the share is the same whatever
    `by_document` is (with one span a document, the kinds differ: half and half).
    """
    rng = np.random.default_rng(seed)
    documents = -(-spans // by_document)
    doc = np.repeat(np.arange(documents), by_document)[:spans]
    place = np.arange(spans) % by_document * STRIDE
    gold_start = place + rng.integers(0, 30, spans)
    gold_end = gold_start + rng.integers(6, 25, spans)
    kind = rng.integers(0, TYPES, spans)
    start, end, other = gold_start.copy(), gold_end.copy(), kind.copy()
    fate = rng.random(spans)
    shifted, retyped, elsewhere = (fate > 0.7) & (fate < 0.8), (fate > 0.8) & (fate < 0.9), fate > 0.9
    start[shifted] += 1
    end[shifted] += 1
    other[retyped] = (other[retyped] + 1) % TYPES
    start[elsewhere] = place[elsewhere] + 70
    end[elsewhere] = start[elsewhere] + 8
    in_tangle = (rng.random(spans) < tangled) & ~elsewhere
    shape = rng.integers(0, 3, spans)
    last = np.flatnonzero(np.diff(doc, append=documents))
    shape[last] = rng.integers(0, 2, len(last))
    split, nested, crossing = in_tangle & (shape == 0), in_tangle & (shape == 1), in_tangle & (shape == 2)
    more = [(doc[nested], gold_start[nested] + 1, gold_start[nested] + 4, kind[nested])]
    more.append((doc[split], gold_start[split] + 3, gold_end[split], kind[split]))
    start[split], end[split] = gold_start[split], gold_start[split] + 3
    end[crossing] = place[crossing] + STRIDE + 32
    columns = [np.concatenate(parts) for parts in zip((doc, start, end, other), *more, strict=True)]
    order = np.lexsort((columns[3], columns[2], columns[1], columns[0]))
    return Generated(
        _spans(doc, gold_start, gold_end, kind),
        _spans(*(column[order] for column in columns)),
        np.arange(documents + 1, dtype=np.int64) * (by_document * STRIDE),
    )


def _spans(doc: NDArray, start: NDArray, end: NDArray, kind: NDArray) -> Spans:
    return Spans(doc.astype(np.int32), start.astype(np.int32), end.astype(np.int32), kind.astype(np.int16), {})
