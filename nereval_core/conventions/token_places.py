"""The places of spans among the tokens of their documents, for scorers that count tokens."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from nereval_core.corpus import Fragments, Layer
from nereval_core.corpus.arrays import Array, Bools, Int64
from nereval_core.problems import FormatError, Problem, quoted


class TokenPlaces(NamedTuple):
    """The first and last token of each span, in the order of the layer, and the tokens of discontinuous ones.

    Tokens are numbered so that those of two documents differ; in documents without tokens each character is one.
    """

    first: Int64
    last: Int64
    parts: dict[int, frozenset[int]]

    @classmethod
    def of_layer(cls, layer: Layer) -> TokenPlaces:
        """Return the places of a layer's spans.

        Raises:
            FormatError: spans, or fragments of them, that do not begin and end with tokens.
        """
        broken = [(span, part) for span, parts in sorted(layer.fragments.items()) for part in parts]
        spans = np.concatenate((np.arange(len(layer)), np.array([span for span, _ in broken], np.int64)))
        places = np.array([part for _, part in broken], np.int64).reshape(-1, 2)
        start = np.concatenate((layer.start.astype(np.int64), places[:, 0]))
        end = np.concatenate((layer.end.astype(np.int64), places[:, 1]))
        doc = layer.doc[spans]
        if loose := np.unique(spans[~fits_tokens(layer, doc, start, end)]).tolist():
            raise FormatError([loose_span(layer, span) for span in loose])
        base = layer.documents.base
        first, last = base[doc] + start, base[doc] + end - 1
        tokens = layer.documents.tokens
        if tokens is not None:
            counts = np.diff(tokens.first)
            offset = np.repeat(base[:-1], counts)
            has_tokens = counts[doc] > 0
            shift = (base[:-1] - tokens.first[:-1])[doc[has_tokens]]
            first[has_tokens] = np.searchsorted(offset + tokens.starts, first[has_tokens]) + shift
            last[has_tokens] = np.searchsorted(offset + tokens.ends, last[has_tokens] + 1) + shift
        parts: dict[int, set[int]] = {}
        for (span, _), low, high in zip(broken, first[len(layer) :].tolist(), last[len(layer) :].tolist(), strict=True):
            parts.setdefault(span, set()).update(range(low, high + 1))
        size = len(layer)
        return cls(first[:size], last[:size], {span: frozenset(numbers) for span, numbers in parts.items()})


def fits_tokens(layer: Layer, doc: Array, start: Array, end: Array) -> Bools:
    """Return which places begin and end with tokens of their documents; those in documents without tokens do."""
    tokens = layer.documents.tokens
    if tokens is None:
        return np.ones(len(doc), bool)
    counts, base = np.diff(tokens.first), layer.documents.base
    offset = np.repeat(base[:-1], counts)
    fits = np.isin(base[doc] + start, offset + tokens.starts) & np.isin(base[doc] + end, offset + tokens.ends)
    bare: Bools = counts[doc] == 0
    return fits | bare


def loose_span(layer: Layer, span: int) -> Problem:
    """Return the problem of a span that does not begin and end with tokens."""
    place = f"document {quoted(layer.documents.ids[int(layer.doc[span])])}"
    parts: Fragments = layer.fragments.get(span) or ((int(layer.start[span]), int(layer.end[span])),)
    where = ",".join(f"{low}-{high}" for low, high in parts)
    finding = f"{place}: the span {where} {quoted(layer.label(span))} does not begin and end with tokens"
    return Problem(layer.name, None, finding, "give spans that do, or documents without tokens")
