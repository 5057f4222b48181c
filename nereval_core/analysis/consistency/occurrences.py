"""What layers say of places in texts, annotated or not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from nereval_core.corpus import Layer

MOST = 3
"""Spans that are told of at one place."""
SHOWN = 60
"""Characters of a span that is told of."""


def annotated_at(layer: Layer, places: pd.DataFrame) -> list[str]:
    """Say of places with the columns `doc`, `start` and `end` what a layer has there, empty where it has nothing.

    A span of these very boundaries is told by its type alone; one that shares a character with the place in some other
    way stands with its text.
    """
    columns = (places[name].tolist() for name in ("doc", "start", "end"))
    return [_said(layer, *place) for place in zip(*columns, strict=True)]


def span_at(layer: Layer, doc: int, start: int, end: int) -> int | None:
    """Return a span of these very boundaries, else one that shares a character with the place, None without any."""
    return next(_spans(layer, doc, start, end), None)


def _spans(layer: Layer, doc: int, start: int, end: int) -> Iterator[int]:
    """Yield the spans that share a character with a place, those of its very boundaries first."""
    low, high = layer.first[doc : doc + 2].tolist()
    high = low + int(np.searchsorted(layer.start[low:high], end, side="left"))
    found = low + np.flatnonzero(layer.end[low:high] > start)
    exact = (layer.start[found] == start) & (layer.end[found] == end)
    for span in (*found[exact].tolist(), *found[~exact].tolist()):
        # Of fragments the text between them is no part.
        parts = layer.fragments.get(span) or ((start, end),)
        if any(one < end and other > start for one, other in parts):
            yield span


def _said(layer: Layer, doc: int, start: int, end: int) -> str:
    types: list[str] = []
    others: list[str] = []
    for span in _spans(layer, doc, start, end):
        whole = span not in layer.fragments and (int(layer.start[span]), int(layer.end[span])) == (start, end)
        if whole:
            types.append(layer.label(span))
        else:
            text = " ".join(layer.text(span).split())
            others.append(f"{layer.label(span)} “{text if len(text) <= SHOWN else text[: SHOWN - 1] + '…'}”")
    types = [" + ".join(dict.fromkeys(types))] if types else []
    more = len(others) - MOST
    return "; ".join([*types, *others[:MOST], *([f"and {more} more"] if more > 0 else [])])


__all__: Sequence[str] = ("annotated_at", "span_at")
