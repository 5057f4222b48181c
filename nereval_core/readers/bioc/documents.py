"""What a BioC file holds, as its XML and its JSON have it alike, and the text that its passages make up.

Offsets of passages, sentences and annotations count from the start of the document. Between passages there is room, one
character mostly, of which the files do not say what it is: line ends here, and blanks between sentences, as the package
`bioc` has them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from nereval_core.problems import Problem, quoted
from nereval_core.readers.shared.offset_units import UNITS, Unit, edges, width_of

ROOM, ROOM_BY = 1 << 22, 4
"""How many characters may stand between the passages of a source: so many, and so many for each that they have."""


UNKNOWN = -(10**13)
"""An offset that is missing or wrong, which is told where it is read."""

USUAL = frozenset((0, 1))
"""How many characters mostly stand between passages."""


@dataclass(slots=True)
class Annotation:
    """An annotation with its pieces, start and length of each as the file counts.

    `repeated` are keys of infons that stand again with another value; the first is kept.
    """

    id: str | None
    line: int | None
    infons: dict[str, Any] = field(default_factory=dict)
    text: str | None = None
    locations: list[tuple[int, int]] = field(default_factory=list)
    repeated: tuple[str, ...] = ()


@dataclass(slots=True)
class Passage:
    """A passage, or a sentence of one."""

    line: int | None
    offset: int = UNKNOWN
    text: str | None = None
    infons: dict[str, Any] = field(default_factory=dict)
    sentences: list[Passage] = field(default_factory=list)
    annotations: list[Annotation] = field(default_factory=list)


@dataclass(slots=True)
class Document:
    """A document; `line` is where it begins, None where that is unknown."""

    shown: str
    line: int | None
    id: str | None = None
    infons: dict[str, Any] = field(default_factory=dict)
    passages: list[Passage] = field(default_factory=list)
    annotations: list[Annotation] = field(default_factory=list)


Bounds = tuple[int, int]
LOST = (-1, -1)
"""Where a sentence stands that its passage has not."""


@dataclass(slots=True)
class Placed:
    """A document's text, where its passages stand in it (None: without text), and its sentences: code points."""

    text: str
    passages: list[Bounds | None]
    sentences: list[Bounds]


def pieces(document: Document) -> Iterator[tuple[int, Passage, str, str]]:
    """Yield what has text, the number of its passage first: passages, or the sentences of those that have none.

    What stands before each, where there is room, comes with it, and its text last.
    """
    for number, passage in enumerate(document.passages):
        if passage.text:
            yield number, passage, "\n", passage.text
            continue
        between = "\n"
        for sentence in passage.sentences:
            if sentence.text:
                yield number, sentence, between, sentence.text
                between = " "


def likely(documents: Sequence[Document]) -> list[Unit]:
    """Return the units in the order in which the room between passages speaks for them.

    Passages never overlap, most files leave one character between them or none, and the same everywhere.
    """
    gaps: dict[Unit, set[int]] = {unit: set() for unit in UNITS}
    for document in documents:
        before: tuple[int, str] | None = None
        for _, piece, _, text in pieces(document):
            if before is not None and not before[1].isascii():
                for unit, found in gaps.items():
                    found.add(piece.offset - before[0] - width_of(before[1], unit))
            before = piece.offset, text
    return sorted(UNITS, key=lambda unit: (min(gaps[unit], default=0) < 0, not gaps[unit] <= USUAL, len(gaps[unit])))


def crowded(documents: Sequence[Document]) -> list[Problem]:
    """Return what is wrong with the places of passages whatever the unit is: overlaps, and room beyond all measure."""
    problems = []
    room = ROOM
    for document in documents:
        reached = 0
        for _, piece, _, text in pieces(document):
            gap = piece.offset - reached
            if piece.offset <= UNKNOWN:
                break
            if gap < 0 or gap > room:
                what = f"a passage or sentence at {piece.offset}, and the text before it reaches to {reached}"
                found = f"document {quoted(document.id or '')}: {what}"
                remedy = "give offsets in the document, each behind the one before"
                problems.append(Problem(document.shown, piece.line or document.line, found, remedy))
                break
            reached = piece.offset + len(text)
            room += ROOM_BY * len(text) - gap
    return problems


def placed_in(document: Document, unit: Unit) -> Placed | None:
    """Return the text of a document whose offsets count in a unit, None where passages would overlap."""
    parts: list[str] = []
    low: list[int | None] = [None] * len(document.passages)
    high = [0] * len(document.passages)
    sentences: list[Bounds] = []
    reached = length = 0
    for number, piece, between, text in pieces(document):
        gap = piece.offset - reached
        if gap < 0:
            return None
        parts += (between * gap, text)
        start, length = length + gap, length + gap + len(text)
        reached = piece.offset + width_of(text, unit)
        low[number] = start if low[number] is None else low[number]
        high[number] = length
        if piece is not document.passages[number]:
            sentences.append((start, length))
        else:
            sentences += _within(piece, start, unit)
    bounds = [None if a is None else (a, b) for a, b in zip(low, high, strict=True)]
    return Placed("".join(parts), bounds, sentences)


def _within(passage: Passage, start: int, unit: Unit) -> Iterator[Bounds]:
    """Yield the sentences of a passage that has its text itself, LOST for one that is not to be found there."""
    text = passage.text or ""
    known = edges(text, unit) if passage.sentences else None
    for sentence in passage.sentences:
        if sentence.text:
            at = sentence.offset - passage.offset
            if known is not None:
                # Between two characters there is no place, and none beyond the text.
                place = int(np.searchsorted(known, at))
                at = place if place < len(known) and int(known[place]) == at else -1
            found = at >= 0 and text.startswith(sentence.text, at)
            yield (start + at, start + at + len(sentence.text)) if found else LOST
