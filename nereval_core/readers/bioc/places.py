"""Where the annotations of BioC stand: what their offsets count, and the texts that passages make up then."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from nereval_core.arrays import Int64
from nereval_core.problems import FormatError, Problem, quoted
from nereval_core.readers.bioc.documents import LOST, Annotation, Document, Placed, likely, placed_in
from nereval_core.readers.pubtator import spaced
from nereval_core.readers.shared.offset_units import Marked, Offsets, code_points, placed


@dataclass(slots=True)
class Found:
    """An annotation, the number of its document, its passage there (None: the document's own), its first piece."""

    annotation: Annotation
    document: int
    passage: int | None
    first: int


@dataclass(frozen=True)
class Places:
    """Each document's text, and start and end of each piece in it: code points, -1 for what is no place."""

    texts: list[Placed]
    start: Int64
    end: Int64
    notes: tuple[str, ...]


def standing(documents: Sequence[Document], counts: Counter[str], problems: list[Problem]) -> list[Found]:
    """Return the annotations that have a place, document by document, in the order of the file."""
    made: list[Found] = []
    first = 0
    for number, document in enumerate(documents):
        for passage, one in _owned(document):
            short = [length for _, length in one.locations if length < 1]
            if short:
                found = f"{called(one, document)}: a length of {short[0]}"
                problems.append(Problem(document.shown, one.line, found, "give lengths of 1 and more"))
            elif one.locations:
                made.append(Found(one, number, passage, first))
                first += len(one.locations)
            else:
                counts["annotations without a place, left out"] += 1
    return made


def called(one: Annotation, document: Document) -> str:
    """Return what problems call an annotation."""
    name = "an annotation without an id" if one.id is None else f"annotation {quoted(one.id)}"
    return f"{name} of document {quoted(document.id or '')}"


def places(documents: Sequence[Document], found: Sequence[Found], given: Offsets | None) -> Places:
    """Return where everything stands, by what makes the quotes match.

    Of code points, UTF-16 units and UTF-8 bytes that is taken by which most quotes match; among equals the one for
    which the room between passages speaks. A quote of the same length that differs in nothing but characters beyond
    ASCII matches too (PubTator writes plain letters for them), and that is counted.

    Raises:
        FormatError: quotes do not match, or passages overlap in the way that is given.
    """
    spans = _marked(documents, found)
    counting, texts, close = _counting(documents, spans, given)
    plain = [text.text for text in texts]
    ascii_only = all(map(str.isascii, plain))
    spans = replace(spans, quotes={**spans.quotes, **close})
    taken = code_points(spans, plain, expected=counting, given=counting, fixed=ascii_only)
    notes = [f"quotes with other characters for those beyond ASCII: {len(close)}"] if close else []
    if taken.note:
        notes.append(taken.note)
    elif counting.unit != Offsets().unit:
        notes.append(f"offsets of passages taken as {counting}, by the room between them")
    return Places(texts, taken.start, taken.end, tuple(notes))


def _owned(document: Document) -> Iterator[tuple[int | None, Annotation]]:
    """Yield a document's annotations with the number of the passage that has them, those of its own last."""
    for number, passage in enumerate(document.passages):
        for owner in (passage, *passage.sentences):
            for one in owner.annotations:
                yield number, one
    for one in document.annotations:
        yield None, one


def _marked(documents: Sequence[Document], found: Sequence[Found]) -> Marked:
    """Return the pieces of all annotations; those of one piece have their text as the quote."""
    owner = [one for one in found for _ in one.annotation.locations]
    flat = np.array([place for one in found for place in one.annotation.locations], np.int64).reshape(-1, 2)
    quotes = {
        one.first: one.annotation.text for one in found if one.annotation.text and len(one.annotation.locations) == 1
    }
    return Marked(
        np.array([one.document for one in owner], np.int64),
        flat[:, 0].copy(),
        flat.sum(axis=1),
        quotes,
        lambda span: (documents[owner[span].document].shown, owner[span].annotation.line),
        spaced,
        lambda span: called(owner[span].annotation, documents[owner[span].document]),
    )


def _counting(
    documents: Sequence[Document], spans: Marked, given: Offsets | None
) -> tuple[Offsets, list[Placed], dict[int, str]]:
    """Return what offsets count, the texts then, and what stands where a quote nearly matches."""
    best: tuple[Offsets, list[Placed], dict[int, str]] | None = None
    most = 0
    for counting in [given] if given else map(Offsets, likely(documents)):
        texts = [text for text in (placed_in(document, counting.unit) for document in documents) if text is not None]
        if len(texts) < len(documents):
            continue
        matching, close = _compared(spans, [text.text for text in texts], counting)
        lost = sum(text.sentences.count(LOST) for text in texts)
        if best is None or matching - lost > most:
            best, most = (counting, texts, close), matching - lost
        if most == len(spans.quotes) or all(text.text.isascii() for text in texts):
            break
    if best is None:
        found = f"passages overlap where offsets count {given}"
        raise FormatError.single(documents[0].shown, None, found, "say another: --offsets")
    return best


def _compared(spans: Marked, texts: Sequence[str], counting: Offsets) -> tuple[int, dict[int, str]]:
    """Return how many quotes match, and of those that nearly do what stands there."""
    starts, ends = (side.tolist() for side in placed(spans, texts, counting))
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
    """Say whether a quote differs in nothing but characters of the text beyond ASCII, fewer than half of them."""
    if len(quote) != len(there) or there.isascii():
        return False
    other = [b for a, b in zip(quote, there, strict=True) if a != b]
    return 2 * len(other) < len(there) and not any(map(str.isascii, other))
