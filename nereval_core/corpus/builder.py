"""Build a layer document by document and span by span, or many at once in columns."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import numpy as np

from nereval_core.corpus import (
    SPAN_KEYS,
    Documents,
    Fragments,
    Intervals,
    Labels,
    Layer,
    Place,
    document_problems,
    layer,
)
from nereval_core.corpus.arrays import Int64
from nereval_core.corpus.texts import Texts
from nereval_core.problems import Problem, ProblemList

Pairs = Sequence[tuple[int, int]]
"""Starts and ends, end exclusive."""


@dataclass(slots=True)
class Builder:
    """Collects documents and spans, then checks them: call `document`, `span`, ..., then `finish`.

    Spans belong to the documents in order, `counts` of them to each. `problem` adds a problem that the reader found, so
    that all problems of a file are reported together. Texts are strings or UTF-8. A document whose id is None is
    numbered. A span stands at the line and in the file of its document unless `span_lines` and `span_sources` say
    otherwise.
    """

    source: str
    named: bool = True
    problems: ProblemList = field(default_factory=ProblemList)
    ids: list[str | None] = field(default_factory=list)
    texts: list[str | bytes] = field(default_factory=list)
    document_places: list[Place] = field(default_factory=list)
    tokens: dict[int, Pairs] = field(default_factory=dict)
    sentences: dict[int, Pairs] = field(default_factory=dict)
    meta: dict[int, Mapping[str, Any]] = field(default_factory=dict)
    counts: list[int] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    codes: list[int] = field(default_factory=list)
    types: defaultdict[str, int] = field(default_factory=lambda: defaultdict(count().__next__))
    span_lines: dict[int, int | None] = field(default_factory=dict)
    span_sources: dict[int, str] = field(default_factory=dict)
    quotes: dict[int, str] = field(default_factory=dict)
    extras: dict[str, dict[int, Any]] = field(default_factory=lambda: {key: {} for key in SPAN_KEYS})

    def problem(self, line: int | None, finding: str, remedy: str, *, source: str | None = None) -> None:
        self.problems.append(Problem(source or self.source, line, finding, remedy))

    def document(
        self,
        name: str | None,
        text: str,
        *,
        line: int | None = None,
        source: str | None = None,
        tokens: Pairs = (),
        sentences: Pairs = (),
        meta: Mapping[str, Any] | None = None,
    ) -> None:
        """Add a document; `tokens` and `sentences` are its (start, end) pairs in code points."""
        number = len(self.ids)
        self.ids.append(name)
        self.texts.append(text)
        self.document_places.append((source or self.source, line))
        self.counts.append(0)
        if tokens:
            self.tokens[number] = tokens
        if sentences:
            self.sentences[number] = sentences
        if meta:
            self.meta[number] = meta

    def span(
        self,
        start: int,
        end: int,
        label: str,
        *,
        line: int | None = None,
        source: str | None = None,
        quote: str | None = None,
        fragments: Fragments = (),
        id: str | None = None,
        links: tuple[str, ...] = (),
        core: tuple[int, int] | None = None,
        alternatives: Fragments = (),
        score: float | None = None,
        meta: Mapping[str, Any] | None = None,
    ) -> None:
        """Add a span of the last document; `quote` is its text as the source gives it, to be compared.

        The quote of a discontinuous span joins its fragments by one space.
        """
        number = len(self.starts)
        self.counts[-1] += 1
        self.starts.append(start)
        self.ends.append(end)
        self.codes.append(self.code(label))
        if line is not None:
            self.span_lines[number] = line
        if source is not None:
            self.span_sources[number] = source
        if quote is not None:
            self.quotes[number] = quote
        if fragments or id is not None or links or core or alternatives or score is not None or meta:
            values = (fragments, id, links, core, alternatives, score, meta)
            for key, value in zip(SPAN_KEYS, values, strict=True):
                if value is not None and value != () and value != {}:
                    self.extras[key][number] = value

    def spans(
        self,
        starts: Sequence[int],
        ends: Sequence[int],
        labels: Sequence[str],
        *,
        quotes: Sequence[str | None] = (),
        ids: Sequence[str | None] = (),
        links: Sequence[tuple[str, ...] | None] = (),
        scores: Sequence[float | None] = (),
        fragments: Sequence[Fragments | None] = (),
        cores: Sequence[tuple[int, int] | None] = (),
        meta: Sequence[Mapping[str, Any] | None] = (),
        lines: Sequence[int] = (),
        source: str | None = None,
    ) -> None:
        """Add spans of the last document in columns; an empty column says nothing, None nothing of one span."""
        self.counts[-1] += len(starts)
        numbers = self.add_spans(starts, ends, self.type_codes(labels))
        self.span_lines.update(zip(numbers, lines, strict=bool(lines)))
        if source is not None and source != self.document_places[-1][0]:
            self.span_sources.update(dict.fromkeys(numbers, source))
        columns: tuple[tuple[dict[int, Any], Sequence[Any]], ...] = (
            (self.quotes, quotes),
            (self.extras["ids"], ids),
            (self.extras["links"], links),
            (self.extras["scores"], scores),
            (self.extras["fragments"], fragments),
            (self.extras["cores"], cores),
            (self.extras["meta"], meta),
        )
        for target, values in columns:
            if not values:
                continue
            if None not in values:
                target.update(zip(numbers, values, strict=False))
                continue
            target.update((span, value) for span, value in zip(numbers, values, strict=False) if value is not None)

    def add_spans(self, starts: Sequence[int], ends: Sequence[int], codes: Sequence[int]) -> range:
        """Add spans of documents whose `counts` the caller adds, and return their numbers."""
        first = len(self.starts)
        self.starts += starts
        self.ends += ends
        self.codes += codes
        return range(first, len(self.starts))

    def code(self, name: str) -> int:
        """Return the code of a type."""
        return self.types[name]

    def type_codes(self, names: Sequence[str]) -> list[int]:
        """Return the codes of types, one a span."""
        return list(map(self.types.__getitem__, names))

    def size(self) -> tuple[int, int]:
        """Return the numbers of documents and spans."""
        return len(self.ids), len(self.starts)

    def cut(self, size: tuple[int, int]) -> None:
        """Remove the documents and spans that were added since `size` was taken."""
        documents, spans = size
        for column in (self.ids, self.texts, self.document_places, self.counts):
            del column[documents:]
        for column in (self.starts, self.ends, self.codes):
            del column[spans:]
        by_document: tuple[dict[int, Any], ...] = (self.tokens, self.sentences, self.meta)
        by_span: tuple[dict[int, Any], ...] = (self.span_lines, self.span_sources, self.quotes, *self.extras.values())
        for limit, mappings in ((documents, by_document), (spans, by_span)):
            for mapping in mappings:
                for key in [key for key in mapping if key >= limit]:
                    del mapping[key]

    @property
    def places(self) -> tuple[Place, ...]:
        """Source and line at which each document begins."""
        return tuple(self.document_places)

    @property
    def doc(self) -> Int64:
        """Document of each span, shape (spans,)."""
        return np.repeat(np.arange(len(self.counts)), np.array(self.counts, np.int64))

    def span_place(self, span: int, document: int) -> Place:
        """Return source and line of a span."""
        source, line = self.document_places[document]
        return self.span_sources.get(span, source), self.span_lines.get(span, line)

    def documents(self) -> Documents:
        """Return the documents, unchecked."""
        numbers = range(len(self.ids))
        return Documents(
            tuple(str(number + 1) if name is None else name for number, name in enumerate(self.ids)),
            _texts(self.texts),
            Intervals.of([self.tokens.get(number, ()) for number in numbers]) if self.tokens else None,
            Intervals.of([self.sentences.get(number, ()) for number in numbers]) if self.sentences else None,
            tuple([self.meta.get(number, {}) for number in numbers]) if self.meta else None,
            self.named and (not self.ids or any(name is not None for name in self.ids)),
        )

    def finish(self, name: str) -> Layer:
        """Check everything and return the layer (its `documents` with it).

        Raises:
            FormatError: with every problem found, the reader's own included.
        """
        documents = self.documents()
        problems = [*self.problems, *document_problems(documents, self.document_places.__getitem__)]
        return self.layer(name, documents, problems=problems)

    def layer(self, name: str, documents: Documents, *, problems: Sequence[Problem] = ()) -> Layer:
        """Check the spans and return them as a layer over documents that were made of this builder.

        Raises:
            FormatError: with every problem found, those given included.
        """
        doc = self.doc
        return layer(
            name,
            documents,
            doc,
            self.starts,
            self.ends,
            Labels(np.array(self.codes, np.int64), tuple(self.types)),
            quotes=self.quotes,
            extras=self.extras,
            where=lambda span: self.span_place(span, int(doc[span])),
            problems=problems,
        )


def _texts(texts: Sequence[str | bytes]) -> Sequence[str]:
    """Return texts as strings, or as one array where any of them is given as bytes."""
    if any(isinstance(text, bytes) for text in texts):
        return Texts.of_bytes([text if isinstance(text, bytes) else text.encode() for text in texts])
    return tuple(text for text in texts if isinstance(text, str))
