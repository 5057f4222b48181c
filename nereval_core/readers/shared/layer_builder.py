"""Documents and spans in columns, for readers that find thousands of them at once: what Builder is for one by one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nereval_core.corpus import SPAN_KEYS, Documents, Intervals, Labels, Layer, Place, document_problems, layer
from nereval_core.corpus.texts import Texts
from nereval_core.problems import Problem

Numbers = Sequence[int] | NDArray[np.integer[Any]]
Pairs = Sequence[tuple[int, int]]


@dataclass(slots=True)
class Gathered:
    """Documents in order, and the spans of each in order.

    By document: `ids`, `texts` (UTF-8), `shown` and `lines` (where it begins), `counts` (of its spans), and where they
    are not empty `tokens`, `sentences` and `meta`. By span: `starts`, `ends` (code points, end exclusive) and `codes`
    (of types, as `names` has them), in pieces to be put in a row; `quotes` and `extras` (SPAN_KEYS) where there are
    any. A span stands at the line of its document unless `span_lines`, in pieces, and `span_shown`, by document, say
    otherwise.
    """

    ids: list[str] = field(default_factory=list)
    texts: list[bytes] = field(default_factory=list)
    shown: list[str] = field(default_factory=list)
    lines: list[int | None] = field(default_factory=list)
    counts: list[int] = field(default_factory=list)
    tokens: dict[int, Pairs] = field(default_factory=dict)
    sentences: dict[int, Pairs] = field(default_factory=dict)
    meta: dict[int, Mapping[str, Any]] = field(default_factory=dict)
    spans: int = 0
    starts: list[Numbers] = field(default_factory=list)
    ends: list[Numbers] = field(default_factory=list)
    codes: list[Numbers] = field(default_factory=list)
    names: dict[str, int] = field(default_factory=dict)
    span_shown: list[str] = field(default_factory=list)
    span_lines: list[Numbers] = field(default_factory=list)
    quotes: dict[int, str] = field(default_factory=dict)
    extras: dict[str, dict[int, Any]] = field(default_factory=lambda: {key: {} for key in SPAN_KEYS})

    def code(self, name: str) -> int:
        """Return the code of a type."""
        return self.names.setdefault(name, len(self.names))

    def coded(self, names: Sequence[str]) -> list[int]:
        """Return the codes of types, one a span."""
        for name in dict.fromkeys(names):
            self.code(name)
        return list(map(self.names.__getitem__, names))

    def add_spans(self, starts: Numbers, ends: Numbers, codes: Numbers) -> None:
        """Add spans, which belong to the documents whose `counts` are added with them."""
        self.starts.append(starts)
        self.ends.append(ends)
        self.codes.append(codes)
        self.spans += len(starts)

    def size(self) -> tuple[int, int, int]:
        """Return how much there is: documents, pieces, spans."""
        return len(self.ids), len(self.starts), self.spans

    def cut(self, size: tuple[int, int, int]) -> None:
        """Forget what came after `size` was told."""
        documents, pieces, self.spans = size
        for rows in (self.ids, self.texts, self.shown, self.lines, self.counts, self.span_shown):
            del rows[documents:]
        for numbers in (self.starts, self.ends, self.codes, self.span_lines):
            del numbers[pieces:]
        by_document, by_span = (self.tokens, self.sentences, self.meta), (self.quotes, *self.extras.values())
        for limit, mappings in ((documents, by_document), (self.spans, by_span)):
            for values in mappings:
                for key in [key for key in values if key >= limit]:
                    del values[key]

    @property
    def places(self) -> tuple[Place, ...]:
        """Source and line at which each document begins."""
        return tuple(zip(self.shown, self.lines, strict=True))

    def finish(self, name: str, *, problems: Sequence[Problem] = ()) -> Layer:
        """Check everything and return the layer (its `documents` with it).

        Raises:
            FormatError: with every problem found, those given included.
        """
        number = len(self.ids)
        documents = Documents(
            tuple(self.ids),
            _texts(self.texts),
            Intervals.of([self.tokens.get(i, ()) for i in range(number)]) if self.tokens else None,
            Intervals.of([self.sentences.get(i, ()) for i in range(number)]) if self.sentences else None,
            tuple([self.meta.get(i, {}) for i in range(number)]) if self.meta else None,
        )
        doc = np.repeat(np.arange(number), np.fromiter(self.counts, np.int64, number))
        span_lines = _row(self.span_lines) if self.span_lines else None

        def where(span: int) -> Place:
            document = int(doc[span])
            if span_lines is None:
                return self.shown[document], self.lines[document]
            return self.span_shown[document], int(span_lines[span])

        def begins(document: int) -> Place:
            return self.shown[document], self.lines[document]

        return layer(
            name,
            documents,
            doc,
            _row(self.starts),
            _row(self.ends),
            Labels(np.asarray(_row(self.codes), np.int64), tuple(self.names)),
            quotes=self.quotes,
            extras=self.extras,
            where=where,
            problems=[*problems, *document_problems(documents, begins)],
        )


def _texts(raw: Sequence[bytes]) -> Texts:
    offsets = np.zeros(len(raw) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, raw), np.int64, len(raw)), out=offsets[1:])
    return Texts(np.frombuffer(b"".join(raw), np.uint8), offsets)


def _row(pieces: Sequence[Numbers]) -> Numbers:
    """Return the pieces in a row: as a list where a number is so large that no array holds it."""
    try:
        arrays = [np.asarray(piece, np.int64) for piece in pieces]
    except OverflowError:
        return list(map(int, chain.from_iterable(pieces)))
    return np.concatenate(arrays) if arrays else np.zeros(0, np.int64)
