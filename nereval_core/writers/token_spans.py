"""Spans as ranges of tokens, for formats that say them by tags."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from nereval_core.corpus import Layer
from nereval_core.corpus.tokens import WORD

Pairs = Sequence[tuple[int, int]]


@dataclass(frozen=True)
class OnTokens:
    """The spans of a document: `spans` are first token, last token + 1 and type, in order; `numbers` are theirs in the
    layer, `off` those of spans that do not begin and end with a token."""

    tokens: Pairs
    spans: list[tuple[int, int, str]]
    numbers: list[int]
    off: list[int]

    def unsayable(self) -> Iterator[tuple[int, str]]:
        """Yield the spans that are no range of tokens."""
        for span in self.off:
            yield span, "does not begin and end with a token"


def on_tokens(layer: Layer, number: int) -> OnTokens:
    """Return the spans of a document by its tokens: its own, or runs of word characters and single other characters.

    Discontinuous spans are passed over.
    """
    documents = layer.documents
    own = documents.tokens.of_document(number) if documents.tokens is not None else []
    tokens = own or [match.span() for match in WORD.finditer(documents.texts[number])]
    first = {low: at for at, (low, _) in enumerate(tokens)}
    last = {high: at + 1 for at, (_, high) in enumerate(tokens)}
    found = OnTokens(tokens, [], [], [])
    for span in range(int(layer.first[number]), int(layer.first[number + 1])):
        start, end = first.get(int(layer.start[span])), last.get(int(layer.end[span]))
        if span in layer.fragments:
            continue
        if start is None or end is None:
            found.off.append(span)
        else:
            found.spans.append((start, end, layer.label(span)))
            found.numbers.append(span)
    return found
