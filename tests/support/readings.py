"""Readings as plain values that compare."""

from __future__ import annotations

from typing import Any

from nereval_core.corpus import Layer
from nereval_core.readers import Reading
from tests.support.layer_strategies import content


def span_texts(layer: Layer) -> list[tuple[str, str, str]]:
    """Return document id, text and type of each span."""
    ids = layer.documents.ids
    return [(ids[int(layer.doc[span])], layer.text(span), layer.label(span)) for span in range(len(layer))]


def reading_content(reading: Reading) -> dict[str, Any]:
    """Return everything that a reading holds but the names of its format and source."""
    documents, layer = reading.documents, reading.layer
    assert layer.documents is documents
    return {
        **content(layer),
        "named": documents.named,
        "unit": documents.unit,
        "lengths": documents.lengths.tolist(),
        "name": layer.name,
        "types": layer.types,
        "notes": reading.notes,
        "places": list(reading.places),
        "scheme": reading.scheme,
        "mended": reading.mended,
    }
