"""Documents and spans as other tools write them, gathered until it is known what their offsets count."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from operator import itemgetter
from typing import Any

import numpy as np

from nereval_core.arrays import Int64
from nereval_core.corpus import SPAN_KEYS, Documents, Intervals, Place, document_problems, layer
from nereval_core.problems import FormatError, Problem, counted
from nereval_core.readers import Reading, ReadOptions, Source
from nereval_core.readers.shared.offset_units import Marked, Offsets, code_points, placed

Pairs = Sequence[tuple[int, int]]
Columns = tuple[Sequence[int], Sequence[int], Sequence[str]]
"""Starts, ends and types of spans."""
LIMIT = 2**40
"""Offsets beyond any text are clipped to this."""
EXTRAS = tuple(key for key in SPAN_KEYS if key in ("fragments", "ids", "links", "scores", "meta"))


def columns(rows: Iterable[Iterable[Any]]) -> Columns | None:
    """Return rows of start, end and type as columns, None where one is not of two integers and a string."""
    found: Any = tuple(zip(*rows, strict=False))
    fine = len(found) == 3 and [set(map(type, column)) for column in found] == [{int}, {int}, {str}]
    return found if fine else None


def columns_of(rows: Iterable[Mapping[str, Any]], keys: Sequence[str]) -> Columns | None:
    """Return objects with start, end and type under these keys as columns, None where `columns` would or one lacks."""
    try:
        return columns(map(itemgetter(*keys), rows))
    except KeyError:
        return None


@dataclass(slots=True)
class Counted:
    """Collects documents and their spans, offsets as the file has them; `finish` finds out what they count.

    `span` belongs to the document added last. A document whose name is None is numbered.
    """

    problems: list[Problem] = field(default_factory=list)
    _names: list[str | None] = field(default_factory=list)
    _texts: list[str] = field(default_factory=list)
    _places: list[Place] = field(default_factory=list)
    _tokens: dict[int, Pairs] = field(default_factory=dict)
    _sentences: dict[int, Pairs] = field(default_factory=dict)
    _meta: list[Mapping[str, Any]] = field(default_factory=list)
    _counts: list[int] = field(default_factory=list)
    _start: list[int] = field(default_factory=list)
    _end: list[int] = field(default_factory=list)
    _label: list[str] = field(default_factory=list)
    _lines: dict[int, int] = field(default_factory=dict)
    _shown: dict[int, str] = field(default_factory=dict)
    _quotes: dict[int, str] = field(default_factory=dict)
    _extras: dict[str, dict[int, Any]] = field(default_factory=lambda: {key: {} for key in EXTRAS})
    _contents: dict[str, Any] = field(default_factory=dict)
    _repeated: int = 0

    def document(
        self,
        name: str | None,
        text: str,
        *,
        line: int | None,
        source: str,
        tokens: Pairs = (),
        sentences: Pairs = (),
        meta: Mapping[str, Any] | None = None,
    ) -> None:
        """Add a document; `tokens` and `sentences` count as spans do, their ends always exclusive."""
        if tokens:
            self._tokens[len(self._names)] = tokens
        if sentences:
            self._sentences[len(self._names)] = sentences
        self._names.append(name)
        self._texts.append(text)
        self._places.append((source, line))
        self._meta.append(meta or {})
        self._counts.append(0)

    def is_repeated(self, name: str | None, content: Any) -> bool:
        """Say whether a task of this name was met before with equal content, and count it; it is to be read once.

        One that differs is to be added: documents of one name are a problem.
        """
        repeated = name is not None and name in self._contents and self._contents[name] == content
        self._repeated += repeated
        if name is not None:
            self._contents.setdefault(name, content)
        return repeated

    def spans(
        self,
        columns: Columns,
        *,
        quotes: Sequence[str | None] = (),
        ids: Sequence[str | None] = (),
        links: Sequence[tuple[str, ...] | None] = (),
        scores: Sequence[float | None] = (),
        lines: Sequence[int] = (),
        source: str | None = None,
    ) -> None:
        """Add spans of the last document, at its line or their own, with what each of them has besides.

        `source` is their file, where it is another than the document's.
        """
        number = len(self._start)
        starts, ends, labels = columns
        self._counts[-1] += len(starts)
        self._start += starts
        self._end += ends
        self._label += labels
        if lines:
            self._lines.update(enumerate(lines, start=number))
        if source is not None and source != self._places[-1][0]:
            self._shown.update(dict.fromkeys(range(number, len(self._start)), source))
        kept = self._extras
        pairs: Any = ((self._quotes, quotes), (kept["ids"], ids), (kept["links"], links), (kept["scores"], scores))
        for found, values in pairs:
            if values and None not in values:
                found.update(enumerate(values, start=number))
            elif values:
                found.update((span, one) for span, one in enumerate(values, start=number) if one is not None)

    def span(
        self,
        start: int,
        end: int,
        label: str,
        *,
        quote: str | None = None,
        line: int | None = None,
        source: str | None = None,
        fragments: Pairs = (),
        id: str | None = None,
        links: tuple[str, ...] = (),
        score: float | None = None,
        meta: Mapping[str, Any] | None = None,
    ) -> None:
        """Add a span of the last document; `quote` is what the file says it covers, fragments joined by one space.

        `line` is that of the document's file, or of `source` where spans stand in another.
        """
        number = len(self._start)
        self._counts[-1] += 1
        self._start.append(start)
        self._end.append(end)
        self._label.append(label)
        if line is not None:
            self._lines[number] = line
        if source is not None:
            self._shown[number] = source
        if quote is not None:
            self._quotes[number] = quote
        if fragments or id is not None or links or score is not None or meta:
            for key, value in zip(EXTRAS, (fragments, id, links, score, meta), strict=True):
                if value is not None and value != () and value != {}:
                    self._extras[key][number] = value

    def finish(
        self,
        source: Source,
        options: ReadOptions,
        format: str,
        *,
        expected: Offsets,
        fixed: bool = True,
        alike: Callable[[str], str] = str,
        notes: Sequence[str] = (),
    ) -> Reading:
        """Find what offsets count, check everything, and return what was read.

        `expected`, `fixed` and `alike` are as for `offsets.code_points`.

        Raises:
            FormatError: with every problem found, the reader's own included.
        """
        if self.problems:
            raise FormatError(self.problems)
        named = not self._names or any(name is not None for name in self._names)
        ids = tuple(str(at) if name is None else name for at, name in enumerate(self._names, start=1))
        # The quote of a discontinuous span says nothing about its ends: it is tested when these are known.
        joined = {span: self._quotes[span] for span in self._extras["fragments"] if span in self._quotes}
        quotes = self._quotes
        if joined:
            quotes = {span: quote for span, quote in quotes.items() if span not in joined}
        doc = np.repeat(np.arange(len(ids)), self._counts)
        where = partial(self._place, doc)
        spans = Marked(doc, _clipped(self._start), _clipped(self._end), quotes, where, alike)
        found = code_points(spans, self._texts, expected=expected, given=options.offsets, fixed=fixed)
        self._extras["fragments"] = self._converted(self._extras["fragments"], doc.tolist(), found.counting)
        forgiven = self._strip_joined(joined, doc.tolist())
        exclusive = found.counting._replace(inclusive=False)
        tokens, sentences = (
            self._converted(own, range(len(ids)), exclusive) for own in (self._tokens, self._sentences)
        )
        documents = Documents(
            ids,
            tuple(self._texts),
            _intervals(tokens, len(ids)),
            _intervals(sentences, len(ids)),
            meta=tuple(self._meta) if any(self._meta) else None,
            named=named,
        )
        problems = [*document_problems(documents, self._places.__getitem__)]
        outside = np.flatnonzero(found.start < 0).tolist()
        problems += [self._outside(where(span), int(doc[span]), span, found.counting) for span in outside]
        if problems:
            raise FormatError(problems)
        name = options.name or source.label
        made = layer(
            name,
            documents,
            doc,
            found.start,
            found.end,
            self._label,
            quotes=joined,
            extras=self._extras,
            where=where,
        )
        told = [f"tasks that stand twice with the same answer, read once: {self._repeated}"] if self._repeated else []
        told += [f"quotes in several fragments that match but for blanks at an edge: {forgiven}"] if forgiven else []
        told += [found.note] if found.note else []
        return Reading(documents, made, format, (*notes, *told), places=tuple(self._places))

    def _strip_joined(self, joined: dict[int, str], doc: Sequence[int]) -> int:
        """Put the text in place of quotes of several fragments that differ from it in blanks at the edges; count them.

        Fragments are in code points.
        """
        count = 0
        for span, quote in joined.items():
            text = self._texts[doc[span]]
            there = " ".join(text[low:high] for low, high in self._extras["fragments"][span])
            if quote != there and quote.strip() == there.strip():
                joined[span] = there
                count += 1
        return count

    def _place(self, doc: Int64, span: int) -> Place:
        source, line = self._places[doc[span]]
        return self._shown.get(span, source), self._lines.get(span, line)

    def _outside(self, place: Place, document: int, span: int, counting: Offsets) -> Problem:
        length = len(self._texts[document])
        found = f"{self._start[span]} to {self._end[span]} is no place in the text of {counted(length, 'character')}"
        remedy = f"offsets are read as {counting}: mend them, or say what they count: --offsets"
        return Problem(*place, found, remedy)

    def _converted(
        self, pairs: Mapping[int, Pairs], texts: Sequence[int], counting: Offsets
    ) -> dict[int, list[tuple[int, int]]]:
        """Return pairs of offsets, by what is in which of the texts, in code points."""
        owners = sorted(pairs)
        flat = [(texts[owner], *pair) for owner in owners for pair in pairs[owner]]
        text, low, high = (_clipped([row[at] for row in flat]) for at in range(3))
        start, end = placed(Marked(text, low, high, {}, self._places.__getitem__), self._texts, counting)
        made = zip(start.tolist(), end.tolist(), strict=True)
        return {owner: [next(made) for _ in pairs[owner]] for owner in owners}


def _intervals(pairs: Mapping[int, Pairs], count: int) -> Intervals | None:
    return Intervals.of([pairs.get(number, ()) for number in range(count)]) if pairs else None


def _clipped(values: Sequence[int]) -> Int64:
    try:
        return np.asarray(values, np.int64).reshape(-1).clip(-LIMIT, LIMIT)
    except OverflowError:
        return np.array([max(-LIMIT, min(LIMIT, value)) for value in values], np.int64)
