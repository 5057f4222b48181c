"""The texts that the passages of BioC make up, and the places of annotations in them, in the unit of their offsets.

Offsets of passages, sentences and annotations count from the start of the document. Between passages there is room, one
character mostly, which the files do not give: line ends here, and blanks between sentences, as in the package `bioc`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from nereval_core.corpus import Place
from nereval_core.corpus.arrays import Int64
from nereval_core.problems import FormatError, Problem, ProblemList, quoted
from nereval_core.readers.bioc.documents import UNKNOWN_OFFSET, BioCAnnotation, BioCDocument, BioCPassage
from nereval_core.readers.biomedical.pubtator import plain_blanks
from nereval_core.readers.shared.offset_units import (
    UNITS,
    CountedSpans,
    Offsets,
    Unit,
    code_points,
    convert_offsets,
    offsets_in_unit,
    width_of,
)

GAP_CHARACTERS, GAP_PER_CHARACTER = 1 << 22, 4
"""Characters that may stand between the passages of a source: in all, and further ones per character of text."""
USUAL_GAPS = frozenset((0, 1))
"""Usual numbers of characters between passages."""
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
                for unit, widths in gaps.items():
                    widths.add(piece.offset - before[0] - width_of(before[1], unit))
            before = piece.offset, text
    return sorted(
        UNITS, key=lambda unit: (min(gaps[unit], default=0) < 0, not gaps[unit] <= USUAL_GAPS, len(gaps[unit]))
    )


def passage_problems(documents: Sequence[BioCDocument]) -> list[Problem]:
    """Return problems of passages that no unit of offsets resolves: overlaps, and gaps that are too large."""
    problems = ProblemList()
    room = GAP_CHARACTERS
    for document in documents:
        reached = 0
        for _, piece, _, text in text_pieces(document):
            gap = piece.offset - reached
            if piece.offset <= UNKNOWN_OFFSET:
                break
            if gap < 0 or gap > room:
                what = f"a passage or sentence at {piece.offset}, and the text before it reaches to {reached}"
                finding = f"document {quoted(document.id or '')}: {what}"
                remedy = "give offsets in the document, each behind the one before"
                problems.append(Problem(document.source, piece.line or document.line, finding, remedy))
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
    """Yield the sentences of a passage that has its own text, MISSING_SENTENCE for one that does not stand in it."""
    text = passage.text or ""
    offsets = offsets_in_unit(text, unit) if passage.sentences else None
    for sentence in passage.sentences:
        if sentence.text:
            at = sentence.offset - passage.offset
            if offsets is not None:
                # Between two characters there is no place, and none beyond the text.
                place = int(np.searchsorted(offsets, at))
                at = place if place < len(offsets) and int(offsets[place]) == at else -1
            is_there = at >= 0 and text.startswith(sentence.text, at)
            yield (start + at, start + at + len(sentence.text)) if is_there else MISSING_SENTENCE


@dataclass(slots=True)
class PlacedAnnotation:
    """An annotation, the number of its document, its passage there (None: the document's own), its first piece."""

    annotation: BioCAnnotation
    document: int
    passage: int | None
    first: int


@dataclass(frozen=True)
class AnnotationPlaces:
    """Each document's text, and start and end of each piece in it: code points, -1 for what is not a place."""

    texts: list[PlacedText]
    start: Int64
    end: Int64
    notes: tuple[str, ...]


def annotations_with_places(
    documents: Sequence[BioCDocument], counts: Counter[str], problems: list[Problem]
) -> list[PlacedAnnotation]:
    """Return the annotations that have a place, document by document, in the order of the file."""
    placed: list[PlacedAnnotation] = []
    first = 0
    for number, document in enumerate(documents):
        for passage, annotation in _annotations(document):
            short = [location.length for location in annotation.locations if location.length < 1]
            if short:
                finding = f"{annotation_name(annotation, document)}: a length of {short[0]}"
                line = annotation.line or document.line
                problems.append(Problem(document.source, line, finding, "give lengths of 1 and more"))
            elif annotation.locations:
                placed.append(PlacedAnnotation(annotation, number, passage, first))
                first += len(annotation.locations)
            else:
                counts["annotations without a place, left out"] += 1
    return placed


def annotation_name(annotation: BioCAnnotation, document: BioCDocument) -> str:
    """Return the name of an annotation in problems."""
    name = "an annotation without an id" if annotation.id is None else f"annotation {quoted(annotation.id)}"
    return f"{name} of document {quoted(document.id or '')}"


def place_annotations(
    documents: Sequence[BioCDocument], annotations: Sequence[PlacedAnnotation], stated: Offsets | None
) -> AnnotationPlaces:
    """Return the places of all annotations, in the unit of offsets that makes the quotes match, or the stated one.

    Of code points, UTF-16 units and UTF-8 bytes, the one by which most quotes match is chosen; among equals the
    likeliest by the gaps between passages. A quote of the same length that differs in nothing but characters beyond
    ASCII matches too (PubTator writes plain letters for them), and that is counted.

    Raises:
        FormatError: quotes do not match, or passages overlap in the way that is given.
    """
    moved = _move_passages(documents)
    spans = _spans_of_pieces(documents, annotations)
    counting, texts, close = _counting(documents, spans, stated)
    plain = [text.text for text in texts]
    ascii_only = all(map(str.isascii, plain))
    spans = replace(spans, quotes={**spans.quotes, **close})
    converted = code_points(spans, plain, expected=counting, stated=counting, fixed=ascii_only)
    notes = [f"quotes with other characters for those beyond ASCII: {len(close)}"] if close else []
    if moved:
        notes.append(f"passages moved to where the quotes of all their annotations fit: {moved}")
    if converted.note:
        notes.append(converted.note)
    elif counting.unit != Offsets().unit:
        notes.append(f"offsets of passages taken as {counting}, by the room between them")
    return AnnotationPlaces(texts, converted.start, converted.end, tuple(notes))


FARTHEST_MOVE = 20
"""Characters by which the offset of a passage may be too high: an entity such as &apos; that was counted as written."""


def _move_passages(documents: Sequence[BioCDocument]) -> int:
    """Move passages whose offset is too high, and return their number.

    All annotations of one piece must have quotes, of which none fits where it stands and all fit once the passage is
    moved by one distance, over no other text. Only passages in ASCII are looked at, whose offsets have no unit.
    """
    moved = 0
    for document in documents:
        reached = 0
        for passage in document.passages:
            text = passage.text or ""
            if text.isascii() and (distance := _distance(passage, text)) and passage.offset - distance >= reached:
                passage.offset -= distance
                moved += 1
            reached = passage.offset + len(text)
    return moved


def _distance(passage: BioCPassage, text: str) -> int:
    """Return by how much the offset of a passage is too high; 0 where it fits or no single distance does."""
    whole = [annotation for annotation in passage.annotations if len(annotation.locations) == 1]
    quotes = [
        (annotation.locations[0].offset - passage.offset, annotation.text) for annotation in whole if annotation.text
    ]
    if not quotes or len(quotes) < len(whole) or passage.sentences:
        return 0
    if any(text.startswith(quote, at) for at, quote in quotes if at >= 0):
        return 0
    distances = [
        distance
        for distance in range(1, FARTHEST_MOVE + 1)
        if all(at + distance >= 0 and text.startswith(quote, at + distance) for at, quote in quotes)
    ]
    return distances[0] if len(distances) == 1 else 0


def _annotations(document: BioCDocument) -> Iterator[tuple[int | None, BioCAnnotation]]:
    """Yield a document's annotations with the number of the passage that has them, those of its own last."""
    for number, passage in enumerate(document.passages):
        for owner in (passage, *passage.sentences):
            for annotation in owner.annotations:
                yield number, annotation
    for annotation in document.annotations:
        yield None, annotation


def _spans_of_pieces(documents: Sequence[BioCDocument], annotations: Sequence[PlacedAnnotation]) -> CountedSpans:
    """Return the pieces of all annotations; those of one piece have their text as the quote."""
    pieces = [(placed, location) for placed in annotations for location in placed.annotation.locations]
    starts = np.array([location.offset for _, location in pieces], np.int64)
    quotes = {
        placed.first: placed.annotation.text
        for placed in annotations
        if placed.annotation.text and len(placed.annotation.locations) == 1
    }

    def owner(span: int) -> tuple[BioCAnnotation, BioCDocument]:
        placed = pieces[span][0]
        return placed.annotation, documents[placed.document]

    def place(span: int) -> Place:
        annotation, document = owner(span)
        return document.source, annotation.line or document.line

    return CountedSpans(
        np.array([placed.document for placed, _ in pieces], np.int64),
        starts,
        starts + np.array([location.length for _, location in pieces], np.int64),
        quotes,
        place,
        plain_blanks,
        lambda span: annotation_name(*owner(span)),
    )


def _counting(
    documents: Sequence[BioCDocument], spans: CountedSpans, stated: Offsets | None
) -> tuple[Offsets, list[PlacedText], dict[int, str]]:
    """Return the unit of offsets, the texts in it, and the covered texts of quotes that nearly match."""
    best: tuple[Offsets, list[PlacedText], dict[int, str]] | None = None
    most = 0
    for counting in [stated] if stated else map(Offsets, likely_units(documents)):
        texts = [
            text for text in (place_passages(document, counting.unit) for document in documents) if text is not None
        ]
        if len(texts) < len(documents):
            continue
        matching, close = _compared(spans, [text.text for text in texts], counting)
        lost = sum(text.sentences.count(MISSING_SENTENCE) for text in texts)
        if best is None or matching - lost > most:
            best, most = (counting, texts, close), matching - lost
        if most == len(spans.quotes) or all(text.text.isascii() for text in texts):
            break
    if best is None:
        finding = f"passages overlap where offsets count {stated}"
        raise FormatError.single(documents[0].source, None, finding, "leave the option --offsets out")
    return best


def _compared(spans: CountedSpans, texts: Sequence[str], counting: Offsets) -> tuple[int, dict[int, str]]:
    """Return the number of matching quotes, and the covered texts of those that nearly match."""
    starts, ends = (side.tolist() for side in convert_offsets(spans, texts, counting))
    numbers = spans.text.tolist()
    matching = 0
    close: dict[int, str] = {}
    for span, quote in spans.quotes.items():
        covered = texts[numbers[span]][starts[span] : ends[span]]
        if quote == covered or spans.alike(quote) == spans.alike(covered):
            matching += 1
        elif _nearly(quote, covered):
            close[span] = covered
    return matching + len(close), close


def _nearly(quote: str, covered: str) -> bool:
    """Return whether a quote differs in nothing but characters of the text beyond ASCII, fewer than half of them."""
    if len(quote) != len(covered) or covered.isascii():
        return False
    other = [b for a, b in zip(quote, covered, strict=True) if a != b]
    return 2 * len(other) < len(covered) and not any(map(str.isascii, other))
