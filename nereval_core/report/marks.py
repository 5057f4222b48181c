"""From scores to the marks of one document."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from nereval_core.criteria import Decision
from nereval_core.report.highlight import SIDES, Mark, Side
from nereval_core.scoring import Scores


def marks(
    scores: Scores, name: str, document: int, *, records: Mapping[tuple[Side, int], str] | None = None
) -> list[Mark]:
    """Return the spans of a document with their decisions under a criterion, in text order, outer ones first.

    `records` gives the record id of a side's span (its index in `scores.layers(name)`).
    """
    found = []
    for side, layer, codes in zip(SIDES, scores.layers(name), scores.decisions(name), strict=True):
        for span in range(int(layer.first[document]), int(layer.first[document + 1])):
            parts = layer.fragments.get(span) or ((int(layer.start[span]), int(layer.end[span])),)
            record = (records or {}).get((side, span), "")
            found.append(Mark(side, span, parts, layer.label(span), Decision(int(codes[span])).name, record))
    return sorted(found, key=lambda mark: (mark.start, -mark.end, mark.side))


def beside(
    scores: Scores, name: str, document: int, system: str, *, records: Mapping[tuple[Side, int], str] | None = None
) -> list[Mark]:
    """Return what another system predicts in a document, as marks of the third track."""
    every = marks(scores, name, document, records=records)
    return [replace(mark, side="beside", system=system) for mark in every if mark.side == "prediction"]
