"""The spans of one document as formats state them: in reading order, in another unit of offsets, or by tokens."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from nereval_core.corpus import Layer
from nereval_core.corpus.arrays import Int64
from nereval_core.corpus.tokens import WORD
from nereval_core.readers.shared.offset_units import Unit, offsets_in_unit

Pairs = Sequence[tuple[int, int]]


def spans_as_read(layer: Layer, number: int) -> Int64:
    """Return the spans of a document in the order in which they were read."""
    spans = np.arange(layer.first[number], layer.first[number + 1])
    return spans if layer.order is None else spans[np.argsort(layer.order[spans], kind="stable")]


def spans_with_offsets(layer: Layer, number: int, unit: Unit = "code points") -> Iterator[tuple[int, int, int]]:
    """Yield each span of a document, in the order in which they were read, with its start and end in a unit."""
    spans = spans_as_read(layer, number)
    unit_offsets = offsets_in_unit(layer.documents.texts[number], unit) if len(spans) else None
    pairs = (
        (side if unit_offsets is None else unit_offsets[side]).tolist()
        for side in (layer.start[spans], layer.end[spans])
    )
    yield from zip(spans.tolist(), *pairs, strict=True)


@dataclass(frozen=True)
class TokenSpans:
    """The spans of a document as ranges of its tokens, for formats that state spans by tags.

    `spans` are first token, last token + 1 and type, in order; `numbers` are their indices in the layer, `off_tokens`
    those of the spans that do not begin and end with a token.
    """

    tokens: Pairs
    spans: list[tuple[int, int, str]]
    numbers: list[int]
    off_tokens: list[int]

    def unsayable(self) -> Iterator[tuple[int, str]]:
        """Yield the spans that are not ranges of tokens, with the reason."""
        for span in self.off_tokens:
            yield span, "does not begin and end with a token"


def token_spans(layer: Layer, number: int) -> TokenSpans:
    """Return the spans of a document by its tokens: its own, or runs of word characters and single other characters.

    Discontinuous spans are left out.
    """
    documents = layer.documents
    own = documents.tokens.of_document(number) if documents.tokens is not None else []
    tokens = own or [match.span() for match in WORD.finditer(documents.texts[number])]
    first = {low: at for at, (low, _) in enumerate(tokens)}
    last = {high: at + 1 for at, (_, high) in enumerate(tokens)}
    placed = TokenSpans(tokens, [], [], [])
    for span in range(int(layer.first[number]), int(layer.first[number + 1])):
        start, end = first.get(int(layer.start[span])), last.get(int(layer.end[span]))
        if span in layer.fragments:
            continue
        if start is None or end is None:
            placed.off_tokens.append(span)
        else:
            placed.spans.append((start, end, layer.label(span)))
            placed.numbers.append(span)
    return placed


def other_metadata(layer: Layer, number: int, reserved: frozenset[str]) -> dict[str, object]:
    """Return a document's metadata, except under the keys that a format reserves for itself."""
    metadata = layer.documents.meta
    return {} if metadata is None else {key: value for key, value in metadata[number].items() if key not in reserved}


def reserved_metadata(layer: Layer, reserved: frozenset[str]) -> tuple[str, ...]:
    """Return a note that counts the documents with metadata that `other_metadata` leaves out, if there are any."""
    count = sum(not reserved.isdisjoint(meta) for meta in layer.documents.meta or ())
    return (f"documents with metadata under a key of the format's own: {count}",) if count else ()
