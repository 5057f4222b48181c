"""Place the annotations of BioC: find the unit of their offsets, and the texts that passages make up in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from nereval_core.arrays import Int64
from nereval_core.problems import FormatError, Problem, quoted
from nereval_core.readers.bioc.documents import (
    MISSING_SENTENCE,
    BioCAnnotation,
    BioCDocument,
    BioCPassage,
    PlacedText,
    likely_units,
    place_passages,
)
from nereval_core.readers.biomedical.pubtator import plain_blanks
from nereval_core.readers.shared.offset_units import CountedSpans, Offsets, code_points, convert_offsets


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
    made: list[PlacedAnnotation] = []
    first = 0
    for number, document in enumerate(documents):
        for passage, one in _owned(document):
            short = [length for _, length in one.locations if length < 1]
            if short:
                found = f"{annotation_name(one, document)}: a length of {short[0]}"
                problems.append(Problem(document.shown, one.line, found, "give lengths of 1 and more"))
            elif one.locations:
                made.append(PlacedAnnotation(one, number, passage, first))
                first += len(one.locations)
            else:
                counts["annotations without a place, left out"] += 1
    return made


def annotation_name(one: BioCAnnotation, document: BioCDocument) -> str:
    """Return the name of an annotation in problems."""
    name = "an annotation without an id" if one.id is None else f"annotation {quoted(one.id)}"
    return f"{name} of document {quoted(document.id or '')}"


def place_annotations(
    documents: Sequence[BioCDocument], found: Sequence[PlacedAnnotation], given: Offsets | None
) -> AnnotationPlaces:
    """Return the places of all annotations, in the unit of offsets that makes the quotes match.

    Of code points, UTF-16 units and UTF-8 bytes, the one by which most quotes match is chosen; among equals the
    likeliest by the gaps between passages. A quote of the same length that differs in nothing but characters beyond
    ASCII matches too (PubTator writes plain letters for them), and that is counted.

    Raises:
        FormatError: quotes do not match, or passages overlap in the way that is given.
    """
    moved = _move_passages(documents)
    spans = _marked(documents, found)
    counting, texts, close = _counting(documents, spans, given)
    plain = [text.text for text in texts]
    ascii_only = all(map(str.isascii, plain))
    spans = replace(spans, quotes={**spans.quotes, **close})
    taken = code_points(spans, plain, expected=counting, given=counting, fixed=ascii_only)
    notes = [f"quotes with other characters for those beyond ASCII: {len(close)}"] if close else []
    if moved:
        notes.append(f"passages moved to where the quotes of all their annotations fit: {moved}")
    if taken.note:
        notes.append(taken.note)
    elif counting.unit != Offsets().unit:
        notes.append(f"offsets of passages taken as {counting}, by the room between them")
    return AnnotationPlaces(texts, taken.start, taken.end, tuple(notes))


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
    quotes = [(one.locations[0][0] - passage.offset, one.text) for one in whole if one.text]
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


def _owned(document: BioCDocument) -> Iterator[tuple[int | None, BioCAnnotation]]:
    """Yield a document's annotations with the number of the passage that has them, those of its own last."""
    for number, passage in enumerate(document.passages):
        for owner in (passage, *passage.sentences):
            for one in owner.annotations:
                yield number, one
    for one in document.annotations:
        yield None, one


def _marked(documents: Sequence[BioCDocument], found: Sequence[PlacedAnnotation]) -> CountedSpans:
    """Return the pieces of all annotations; those of one piece have their text as the quote."""
    owner = [one for one in found for _ in one.annotation.locations]
    flat = np.array([place for one in found for place in one.annotation.locations], np.int64).reshape(-1, 2)
    quotes = {
        one.first: one.annotation.text for one in found if one.annotation.text and len(one.annotation.locations) == 1
    }
    return CountedSpans(
        np.array([one.document for one in owner], np.int64),
        flat[:, 0].copy(),
        flat.sum(axis=1),
        quotes,
        lambda span: (documents[owner[span].document].shown, owner[span].annotation.line),
        plain_blanks,
        lambda span: annotation_name(owner[span].annotation, documents[owner[span].document]),
    )


def _counting(
    documents: Sequence[BioCDocument], spans: CountedSpans, given: Offsets | None
) -> tuple[Offsets, list[PlacedText], dict[int, str]]:
    """Return the unit of offsets, the texts in it, and the covered texts of quotes that nearly match."""
    best: tuple[Offsets, list[PlacedText], dict[int, str]] | None = None
    most = 0
    for counting in [given] if given else map(Offsets, likely_units(documents)):
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
        found = f"passages overlap where offsets count {given}"
        raise FormatError.single(documents[0].shown, None, found, "leave the option --offsets out")
    return best


def _compared(spans: CountedSpans, texts: Sequence[str], counting: Offsets) -> tuple[int, dict[int, str]]:
    """Return the number of matching quotes, and the covered texts of those that nearly match."""
    starts, ends = (side.tolist() for side in convert_offsets(spans, texts, counting))
    numbers = spans.text.tolist()
    matching = 0
    close: dict[int, str] = {}
    for span, quote in spans.quotes.items():
        there = texts[numbers[span]][starts[span] : ends[span]]
        if quote == there or spans.alike(quote) == spans.alike(there):
            matching += 1
        elif _nearly(quote, there):
            close[span] = there
    return matching + len(close), close


def _nearly(quote: str, there: str) -> bool:
    """Return whether a quote differs in nothing but characters of the text beyond ASCII, fewer than half of them."""
    if len(quote) != len(there) or there.isascii():
        return False
    other = [b for a, b in zip(quote, there, strict=True) if a != b]
    return 2 * len(other) < len(there) and not any(map(str.isascii, other))
