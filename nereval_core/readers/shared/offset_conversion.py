"""Convert the offsets that other tools write, once documents and spans are collected, to code points."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from nereval_core.corpus import document_problems
from nereval_core.corpus.arrays import Int64
from nereval_core.corpus.builder import Builder, Pairs
from nereval_core.problems import FormatError, Problem, counted
from nereval_core.readers import Reading, ReadOptions, Source
from nereval_core.readers.shared.offset_units import (
    CountedSpans,
    Offsets,
    code_points,
    convert_offsets,
    fitting_unit,
    option_value,
)

FARTHEST_OFFSET = 2**40
"""Offsets beyond any text are clipped to this."""


@dataclass(slots=True)
class RepeatedTasks:
    """Tasks that stand more than once in a file with the same content, of which one is read."""

    count: int = 0
    _contents: dict[str, Any] = field(default_factory=dict)

    def holds(self, name: str | None, content: Any) -> bool:
        """Return whether a task of this name with equal content came before, and count it then.

        One that differs is to be read too: documents of one name are a problem.
        """
        if name is None:
            return False
        repeated = name in self._contents and self._contents[name] == content
        self.count += repeated
        self._contents.setdefault(name, content)
        return repeated

    def notes(self) -> list[str]:
        return [f"tasks that stand twice with the same answer, read once: {self.count}"] if self.count else []


def reading_in_code_points(
    builder: Builder,
    source: Source,
    options: ReadOptions,
    format: str,
    *,
    expected: Offsets,
    fixed: bool = True,
    doubtful: bool = False,
    alike: Callable[[str], str] = str,
    notes: Sequence[str] = (),
) -> Reading:
    """Find what the offsets of a builder count, convert them, check everything, and return what was read.

    `expected`, `fixed`, `doubtful` and `alike` are as for `offset_units.code_points`. Tokens and sentences count as
    spans do, their ends always exclusive. The builder cannot be used afterwards.

    Raises:
        FormatError: with every problem found, the reader's own included.
    """
    if builder.problems:
        raise FormatError(builder.problems)
    documents = builder.documents()
    doc = builder.doc
    owners = doc.tolist()
    fragments = builder.extras["fragments"]
    # The quote of a discontinuous span says nothing about its ends: it is tested when these are known.
    joined = {span: builder.quotes[span] for span in fragments if span in builder.quotes}
    quotes = {span: quote for span, quote in builder.quotes.items() if span not in joined} if joined else builder.quotes
    starts, ends = _clipped(builder.starts), _clipped(builder.ends)
    spans = CountedSpans(doc, starts, ends, quotes, lambda span: builder.span_place(span, owners[span]), alike)
    converted = code_points(
        spans, documents.texts, expected=expected, stated=options.offsets, fixed=fixed, doubtful=doubtful
    )
    exclusive = converted.counting._replace(inclusive=False)
    numbers = range(len(documents))
    builder.extras["fragments"] = _converted(builder, documents.texts, fragments, owners, converted.counting)
    builder.tokens = _converted(builder, documents.texts, builder.tokens, numbers, exclusive)
    builder.sentences = _converted(builder, documents.texts, builder.sentences, numbers, exclusive)
    forgiven = _strip_quotes(joined, builder.extras["fragments"], documents.texts, owners)
    documents = builder.documents()
    problems = list(document_problems(documents, builder.document_places.__getitem__))
    outside = np.flatnonzero(converted.start < 0).tolist()
    other = fitting_unit(spans, documents.texts, converted.counting) if outside else None
    remedy = f"offsets are read as {converted.counting}: mend them"
    remedy += f", or, if they count {other.unit}, read them by --offsets {option_value(other)}" if other else ""
    for span in outside:
        length = len(documents.texts[owners[span]])
        offsets = f"{builder.starts[span]} to {builder.ends[span]}"
        finding = f"{offsets} is not a place in the text of {counted(length, 'character')}"
        problems.append(Problem(*spans.where(span), finding, remedy))
    if problems:
        raise FormatError(problems)
    builder.starts, builder.ends, builder.quotes = converted.start.tolist(), converted.end.tolist(), joined
    layer = builder.layer(options.name or source.label, documents)
    offset_notes = [f"quotes in several fragments that match but for blanks at an edge: {forgiven}"] if forgiven else []
    offset_notes += [converted.note] if converted.note else []
    return Reading(documents, layer, format, (*notes, *offset_notes), places=builder.places)


def _strip_quotes(
    quotes: dict[int, str], fragments: Mapping[int, Pairs], texts: Sequence[str], doc: Sequence[int]
) -> int:
    """Replace quotes that differ from the text of their fragments in blanks at the edges; return their number.

    Fragments are in code points.
    """
    count = 0
    for span, quote in quotes.items():
        text = texts[doc[span]]
        covered = " ".join(text[low:high] for low, high in fragments[span])
        if quote != covered and quote.strip() == covered.strip():
            quotes[span] = covered
            count += 1
    return count


def _converted(
    builder: Builder, texts: Sequence[str], pairs: Mapping[int, Pairs], text_of: Sequence[int], counting: Offsets
) -> dict[int, Any]:
    """Return pairs of offsets, by what they belong to, in code points; `text_of` gives the number of its text."""
    owners = sorted(pairs)
    flat = [(text_of[owner], *pair) for owner in owners for pair in pairs[owner]]
    text, low, high = (_clipped([row[at] for row in flat]) for at in range(3))
    start, end = convert_offsets(
        CountedSpans(text, low, high, {}, builder.document_places.__getitem__), texts, counting
    )
    converted_pairs = zip(start.tolist(), end.tolist(), strict=True)
    return {owner: [next(converted_pairs) for _ in pairs[owner]] for owner in owners}


def _clipped(values: Sequence[int]) -> Int64:
    try:
        return np.asarray(values, np.int64).reshape(-1).clip(-FARTHEST_OFFSET, FARTHEST_OFFSET)
    except OverflowError:
        return np.array([max(-FARTHEST_OFFSET, min(FARTHEST_OFFSET, value)) for value in values], np.int64)
