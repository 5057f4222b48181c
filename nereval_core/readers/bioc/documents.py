"""Documents of BioC, their JSON, and the texts that their passages make up.

Offsets of passages, sentences and annotations count from the start of the document. Between passages there is room, one
character mostly, which the files do not give: line ends here, and blanks between sentences, as in the package `bioc`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from nereval_core.problems import Problem, quoted
from nereval_core.readers.input.source import SourceFile
from nereval_core.readers.shared.offset_units import UNITS, Unit, offsets_in_unit, width_of
from nereval_core.readers.shared.strict_json import id_string, items, json_type, list_under
from nereval_core.readers.shared.tag_cells import is_named_like_prediction

GAP_CHARACTERS, GAP_PER_CHARACTER = 1 << 22, 4
"""Characters that may stand between the passages of a source: in all, and further ones per character of text."""


UNKNOWN_OFFSET = -(10**13)
"""An offset that is missing or wrong; its problem is reported when it is read."""

USUAL_GAPS = frozenset((0, 1))
"""Usual numbers of characters between passages."""


@dataclass(slots=True)
class BioCAnnotation:
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
class BioCPassage:
    """A passage, or a sentence of one."""

    line: int | None
    offset: int = UNKNOWN_OFFSET
    text: str | None = None
    infons: dict[str, Any] = field(default_factory=dict)
    sentences: list[BioCPassage] = field(default_factory=list)
    annotations: list[BioCAnnotation] = field(default_factory=list)


@dataclass(slots=True)
class BioCDocument:
    """A document; `line` is where it begins, None where that is unknown."""

    shown: str
    line: int | None
    id: str | None = None
    infons: dict[str, Any] = field(default_factory=dict)
    passages: list[BioCPassage] = field(default_factory=list)
    annotations: list[BioCAnnotation] = field(default_factory=list)


Bounds = tuple[int, int]
MISSING_SENTENCE = (-1, -1)
"""Bounds of a sentence that is not found in its passage."""


@dataclass(slots=True)
class PlacedText:
    """A document's text, where its passages stand in it (None: without text), and its sentences: code points."""

    text: str
    passages: list[Bounds | None]
    sentences: list[Bounds]


def text_pieces(document: BioCDocument) -> Iterator[tuple[int, BioCPassage, str, str]]:
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


def likely_units(documents: Sequence[BioCDocument]) -> list[Unit]:
    """Return the units of offsets, the likeliest by the gaps between passages first.

    Passages never overlap, most files leave one character between them or none, and the same everywhere.
    """
    gaps: dict[Unit, set[int]] = {unit: set() for unit in UNITS}
    for document in documents:
        before: tuple[int, str] | None = None
        for _, piece, _, text in text_pieces(document):
            if before is not None and not before[1].isascii():
                for unit, found in gaps.items():
                    found.add(piece.offset - before[0] - width_of(before[1], unit))
            before = piece.offset, text
    return sorted(
        UNITS, key=lambda unit: (min(gaps[unit], default=0) < 0, not gaps[unit] <= USUAL_GAPS, len(gaps[unit]))
    )


def passage_problems(documents: Sequence[BioCDocument]) -> list[Problem]:
    """Return problems of passages that no unit of offsets resolves: overlaps, and gaps that are too large."""
    problems = []
    room = GAP_CHARACTERS
    for document in documents:
        reached = 0
        for _, piece, _, text in text_pieces(document):
            gap = piece.offset - reached
            if piece.offset <= UNKNOWN_OFFSET:
                break
            if gap < 0 or gap > room:
                what = f"a passage or sentence at {piece.offset}, and the text before it reaches to {reached}"
                found = f"document {quoted(document.id or '')}: {what}"
                remedy = "give offsets in the document, each behind the one before"
                problems.append(Problem(document.shown, piece.line or document.line, found, remedy))
                break
            reached = piece.offset + len(text)
            room += GAP_PER_CHARACTER * len(text) - gap
    return problems


def place_passages(document: BioCDocument, unit: Unit) -> PlacedText | None:
    """Return the text of a document whose offsets count in a unit, None where passages would overlap."""
    parts: list[str] = []
    low: list[int | None] = [None] * len(document.passages)
    high = [0] * len(document.passages)
    sentences: list[Bounds] = []
    reached = length = 0
    for number, piece, between, text in text_pieces(document):
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
    return PlacedText("".join(parts), bounds, sentences)


def _within(passage: BioCPassage, start: int, unit: Unit) -> Iterator[Bounds]:
    """Yield the sentences of a passage that has its text itself, LOST for one that is not to be found there."""
    text = passage.text or ""
    known = offsets_in_unit(text, unit) if passage.sentences else None
    for sentence in passage.sentences:
        if sentence.text:
            at = sentence.offset - passage.offset
            if known is not None:
                # Between two characters there is no place, and none beyond the text.
                place = int(np.searchsorted(known, at))
                at = place if place < len(known) and int(known[place]) == at else -1
            found = at >= 0 and text.startswith(sentence.text, at)
            yield (start + at, start + at + len(sentence.text)) if found else MISSING_SENTENCE


COLLECTIONS = ("documents", "PubTator3")
"""Keys of the documents of a collection."""
DOCUMENT = "passages"
OWN = frozenset(("id", "infons", "passages", "annotations", "relations", "bioctype"))
"""Keys of a document that BioC has; services add others."""
FARTHEST_OFFSET = 10**12
REMEDY = "write it as the package bioc does"


def documents_of_json(file: SourceFile, problems: list[Problem], counts: Counter[str]) -> list[BioCDocument]:
    """Return the documents of a file; problems are added to `problems`, items that are not read are counted.

    Raises:
        FormatError: not readable.
    """
    made = []
    for line, row in items(file, problems):
        rows: list[tuple[int | None, Any]] = [(line, row)]
        if isinstance(row, dict) and DOCUMENT not in row:
            inside = next((row[key] for key in COLLECTIONS if isinstance(row.get(key), list)), None)
            if inside is None:
                problems.append(Problem(file.shown, line, "neither a collection nor a document", REMEDY))
                continue
            rows = [(None, one) for one in inside]
        for at, one in rows:
            reading = _Reading(file.shown, at, problems, counts)
            document = reading.document(one)
            if document is not None:
                made.append(document)
    return made


@dataclass(slots=True)
class _Reading:
    """Reads one document; `name` is its id once that is known, `of` an annotation's."""

    shown: str
    line: int | None
    problems: list[Problem]
    counts: Counter[str]
    name: str = ""
    of: str = ""

    def complain(self, found: str, remedy: str) -> None:
        whose = f"annotation {quoted(self.of)} of document " if self.of else "document "
        self.problems.append(Problem(self.shown, self.line, f"{whose}{quoted(self.name)}: {found}", remedy))

    def document(self, row: Any) -> BioCDocument | None:
        if not isinstance(row, dict):
            self.complain(f"{json_type(row)} where a document should be", REMEDY)
            return None
        self.name = id_string(row.get("id")) or ""
        made = BioCDocument(self.shown, self.line, self.name, self.infons(row))
        # Services tell journal and date beside what BioC has a place for.
        more = {key: value for key, value in row.items() if key not in OWN and type(value) in (str, int, float)}
        made.infons = {key: value for key, value in more.items() if not key.startswith("_")} | made.infons
        made.passages = [self.passage(one, "passage") for one in self.rows(row, "passages")]
        self.annotated(row, made.annotations)
        return made

    def passage(self, row: Mapping[str, Any], what: str) -> BioCPassage:
        text = row.get("text")
        if text is not None and not isinstance(text, str):
            self.complain(f"the text of a {what} is {json_type(text)}", "write a string")
            text = None
        made = BioCPassage(self.line, self.number(row, "offset", f"a {what}"), text, self.infons(row))
        if what == "passage":
            made.sentences = [self.passage(one, "sentence") for one in self.rows(row, "sentences")]
        self.annotated(row, made.annotations)
        return made

    def annotated(self, row: Mapping[str, Any], annotations: list[BioCAnnotation]) -> None:
        """Add the annotations of a document, passage or sentence, and count its relations."""
        self.counts["relations, not read"] += len(list_under(row, "relations", self.complain))
        for key, value in row.items():
            if isinstance(value, list) and is_named_like_prediction(key):
                self.counts[f"{quoted(key)}, called like predictions, not read"] += len(value)
        for one in self.rows(row, "annotations"):
            # An id may be empty, if only in what we wrote ourselves.
            name = "" if one.get("id") == "" else id_string(one.get("id"))
            self.of = name or "without an id"
            made = BioCAnnotation(name, self.line, self.infons(one))
            text = one.get("text")
            if text is not None and not isinstance(text, str):
                self.complain(f"its text is {json_type(text)}", "write a string")
            else:
                made.text = text
            for place in self.rows(one, "locations"):
                start, length = (self.number(place, key, "a location") for key in ("offset", "length"))
                if min(start, length) > UNKNOWN_OFFSET:
                    made.locations.append((start, length))
            annotations.append(made)
            self.of = ""

    def infons(self, row: Mapping[str, Any]) -> dict[str, Any]:
        found = row.get("infons")
        # PHP writes an empty object as a list.
        if found is None or found == [] or isinstance(found, dict):
            return dict(found or {})
        self.complain(f"infons is {json_type(found)}", "write an object")
        return {}

    def rows(self, row: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
        """Return the objects in the list under a key."""
        found = list_under(row, key, self.complain)
        wrong = [one for one in found if not isinstance(one, dict)]
        if wrong:
            self.complain(f"{json_type(wrong[0])} among its {key}", REMEDY)
        return [one for one in found if isinstance(one, dict)]

    def number(self, row: Mapping[str, Any], key: str, what: str) -> int:
        value = row.get(key)
        if type(value) is int and abs(value) < FARTHEST_OFFSET:
            return value
        told = "missing" if key not in row else "too large" if type(value) is int else json_type(value)
        self.complain(f"the {key} of {what} is {told}", "write a plain integer")
        return UNKNOWN_OFFSET
