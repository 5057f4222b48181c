"""From scores to the marks of one document."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from nereval_core.report.highlight import SIDES, Mark, Side
from nereval_core.scoring import Scores
from nereval_core.scoring.criteria import Decision


def marks(
    scores: Scores, name: str, document: int, *, records: Mapping[tuple[Side, int], str] | None = None
) -> list[Mark]:
    """Return the spans of a document with their decisions under a criterion, in text order, outer ones first.

    `records` gives the record id of a side's span (its index in `scores.layers(name)`).
    """
    found: list[Mark] = []
    for side, layer in zip(SIDES, scores.layers(name), strict=True):
        spans = range(int(layer.first[document]), int(layer.first[document + 1]))
        found += marks_of(scores, name, side, spans, records=records)
    return sorted(found, key=lambda mark: (mark.start, -mark.end, mark.side))


def marks_of(
    scores: Scores,
    name: str,
    side: Side,
    spans: Iterable[int],
    *,
    records: Mapping[tuple[Side, int], str] | None = None,
) -> Iterator[Mark]:
    """Yield some spans of a side (indices into `scores.layers(name)`) with their decisions."""
    at = SIDES.index(side)
    layer, codes = scores.layers(name)[at], scores.decisions(name)[at]
    for span in spans:
        parts = layer.fragments.get(span) or ((int(layer.start[span]), int(layer.end[span])),)
        record = (records or {}).get((side, span), "")
        yield Mark(side, span, parts, layer.label(span), Decision(int(codes[span])).name, record)


def beside(
    scores: Scores, name: str, document: int, system: str, *, records: Mapping[tuple[Side, int], str] | None = None
) -> list[Mark]:
    """Return what another system predicts in a document, as marks of the third track."""
    every = marks(scores, name, document, records=records)
    return [replace(mark, side="beside", system=system) for mark in every if mark.side == "prediction"]
