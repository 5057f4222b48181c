"""The marks of one document: spans to be drawn, with their decisions under a criterion."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from nereval_core.corpus import Fragments
from nereval_core.problems import name_text
from nereval_core.report.colours import LOOKS
from nereval_core.scoring import Scores
from nereval_core.scoring.criteria import Decision

Side = Literal["gold", "prediction", "beside"]
SIDES: tuple[Side, ...] = ("gold", "prediction")
TRACKS: tuple[Side, ...] = (*SIDES, "beside")
"""Gold, the prediction, and the predictions of other systems."""


class SideWords(NamedTuple):
    """Words for the two sides of a text and for the decisions on them, by default those of gold and a system.

    `spans` are what a span of each side is called; `labels` those of decisions by code, with no other the usual ones.
    """

    gold: str = "gold"
    prediction: str = "prediction"
    spans: tuple[str, str] = ("gold span", "predicted span")
    labels: Mapping[str, str] = {}

    def decision(self, code: str) -> str:
        return self.labels.get(code, LOOKS[code].label)

    def of_mark(self, mark: Mark, text: str) -> str:
        """Return a mark in words, see `Mark.words`."""
        name = self.spans[mark.side != "gold"]
        name += f" of {name_text(mark.system)}" if mark.system else ""
        return mark.words(text, name=name, label=self.decision(mark.decision))


USUAL_WORDS = SideWords()


@dataclass(frozen=True, slots=True)
class Mark:
    """A span to be drawn; `fragments` are code points of the text, end exclusive, sorted and disjoint.

    `decision` is a code such as MIS, `record` the record id of the match record the span belongs to. `system` names the
    system that predicts it, if there are several.
    """

    side: Side
    index: int
    fragments: Fragments
    type: str
    decision: str
    record: str = ""
    system: str = ""

    @property
    def start(self) -> int:
        return self.fragments[0][0]

    @property
    def end(self) -> int:
        return self.fragments[-1][1]

    def words(self, text: str, limit: int = 60, *, name: str = "", label: str = "") -> str:
        """Return the mark in words: `gold span Aspirin, type Drug, missed (MIS)`.

        `name` and `label` stand in place of the name of the span and of its decision.
        """
        quote = " ".join(text[start:end] for start, end in self.fragments)
        short_quote = quote if len(quote) <= limit else quote[: limit - 1] + "…"
        if not name:
            name = "gold span" if self.side == "gold" else "predicted span"
            name += f" of {name_text(self.system)}" if self.system else ""
        decision = label or LOOKS[self.decision].label
        return f"{name} {' '.join(short_quote.split())}, type {name_text(self.type)}, {decision}"


def marks(
    scores: Scores, name: str, document: int, *, records: Mapping[tuple[Side, int], str] | None = None
) -> list[Mark]:
    """Return the spans of a document with their decisions under a criterion, in text order, outer ones first.

    `records` gives the record id of a side's span (its index in `scores.layers(name)`).
    """
    all_marks: list[Mark] = []
    for side, layer in zip(SIDES, scores.layers(name), strict=True):
        spans = range(int(layer.first[document]), int(layer.first[document + 1]))
        all_marks += marks_of(scores, name, side, spans, records=records)
    return sorted(all_marks, key=lambda mark: (mark.start, -mark.end, mark.side))


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
        parts = layer.parts(span)
        record = (records or {}).get((side, span), "")
        yield Mark(side, span, parts, layer.label(span), Decision(int(codes[span])).name, record)


def beside(
    scores: Scores, name: str, document: int, system: str, *, records: Mapping[tuple[Side, int], str] | None = None
) -> list[Mark]:
    """Return the predictions of another system in a document, as marks of a track of its own."""
    system_marks = marks(scores, name, document, records=records)
    return [replace(mark, side="beside", system=system) for mark in system_marks if mark.side == "prediction"]


def within(marks: Iterable[Mark], low: int, high: int) -> list[Mark]:
    """Return the marks that reach into [low, high), clipped to it and counted from `low`."""
    clipped = []
    for mark in marks:
        parts = tuple((max(a, low) - low, min(b, high) - low) for a, b in mark.fragments if a < high and b > low)
        if parts:
            clipped.append(replace(mark, fragments=parts))
    return clipped
