"""Spans as other tools count them: in reading order, in their unit, one piece each."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from nereval_core.corpus import Layer
from nereval_core.readers.shared.offset_units import Unit, edges


def places(layer: Layer, number: int, unit: Unit = "code points") -> Iterator[tuple[int, int, int]]:
    """Yield each span of a document with its start and end in a unit, in the order in which they were read."""
    spans = np.arange(layer.first[number], layer.first[number + 1])
    if layer.order is not None:
        spans = spans[np.argsort(layer.order[spans], kind="stable")]
    known = edges(layer.documents.texts[number], unit) if len(spans) else None
    pairs = ((side if known is None else known[side]).tolist() for side in (layer.start[spans], layer.end[spans]))
    yield from zip(spans.tolist(), *pairs, strict=True)


def metadata(layer: Layer, number: int, taken: frozenset[str]) -> dict[str, object]:
    """Return a document's metadata but for what stands under a key that a format has for itself."""
    given = layer.documents.meta
    return {} if given is None else {key: value for key, value in given[number].items() if key not in taken}


def metadata_lost(layer: Layer, taken: frozenset[str]) -> tuple[str, ...]:
    """Return what is to be said of documents with metadata that `metadata` leaves out."""
    count = sum(not taken.isdisjoint(meta) for meta in layer.documents.meta or ())
    return (f"documents with metadata under a key of the format's own: {count}",) if count else ()
