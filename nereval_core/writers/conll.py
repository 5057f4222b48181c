"""Columns of tokens and tags, one token a line: a tab between them, a blank line after each sentence.

Spans that were read from a deeper column, of the metadata `depth`, have that column again: a layer that has any is
written with as many columns of tags as its deepest span needs.

Documents that have ids begin with `# id = …`, others with `-DOCSTART-` unless each is a sentence. Boundaries and types
are written, nothing else. Tokens are the documents' own, or, where there are none, runs of word characters and single
other non-space characters.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from nereval_core.corpus import Layer
from nereval_core.problems import FormatError, Problem, quoted
from nereval_core.readers.conll import ALL_COLUMNS, DEPTH
from nereval_core.readers.conll.layout import DOCSTART, is_mark
from nereval_core.readers.shared.tag_schemes import SCHEMES, encode
from nereval_core.readers.shared.tag_schemes import unsayable as unsayable_by
from nereval_core.writers import packed_file
from nereval_core.writers.document_spans import Pairs, TokenSpans, token_spans
from nereval_core.writers.writer import Writer

SCHEME = SCHEMES["IOB2"]

BOM = "\ufeff"
BREAKS = set("\t\n\r")

Span = tuple[int, int, str]
MOST_COLUMNS = 50
"""The deepest column that is written."""
OTHER_FORMAT = "write it as jsonl or brat"


@dataclass(slots=True)
class _SentenceSpans:
    """The spans of one depth that begin in a sentence, by its tokens and in order, and their numbers in the layer."""

    spans: list[Span] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)


def _depth(layer: Layer, span: int) -> int:
    # Metadata that the writer does not hold is gone.
    return int(layer.meta.get(span, {}).get(DEPTH, 1))


class ConllWriter(Writer):
    """Columns of tokens and IOB2 tags; a note tells of several columns."""

    name = "conll"
    description = "one token a line with its tag in a column"
    holds = frozenset(("tokens", "sentences"))

    def holds_meta(self, meta: Mapping[str, Any]) -> bool:
        """Return whether metadata of a span is nothing but the depth of its column."""
        depth = meta.get(DEPTH)
        return len(meta) == 1 and type(depth) is int and 2 <= depth <= MOST_COLUMNS

    def unsayable(self, layer: Layer) -> Iterator[tuple[int, str]]:
        """Yield the spans that tags cannot state: overlaps, off token boundaries, over a sentence end."""
        for number in range(len(layer.documents)):
            placed = token_spans(layer, number)
            yield from placed.unsayable()
            for low, high, by_depth in sentences_of(layer, number, placed):
                for here in by_depth.values():
                    yield from _unsayable(here, high - low)

    def write(self, layer: Layer, path: Path) -> tuple[str, ...]:
        documents = layer.documents
        problems: list[Problem] = []
        columns = max((_depth(layer, span) for span in layer.meta), default=1)
        written = [_document(layer, number, columns, problems) for number in range(len(documents))]
        if problems:
            raise FormatError(problems)
        plain = not documents.named and all(len(sentences) == 1 for sentences in written)
        outside = "\tO" * columns
        with packed_file(path) as file:
            if plain and any(rows and rows[0][0].startswith(BOM) for rows in written[:1]):
                # Readers drop the first byte-order mark of a file: without a second one the token would lose its own.
                file.write(BOM.encode())
            for name, sentences in zip(documents.ids, written, strict=True):
                if not plain:
                    file.write(f"# id = {name}\n".encode() if documents.named else f"{DOCSTART}{outside}\n\n".encode())
                if not sentences:
                    file.write(b"\n")
                for sentence in sentences:
                    file.write("".join(f"{row}\n" for row in sentence).encode() + b"\n")
        return () if columns == 1 else (f"columns of tags: {columns}; --column {ALL_COLUMNS} reads them as one layer",)


def _unsayable(here: _SentenceSpans, tokens: int) -> Iterator[tuple[int, str]]:
    """Yield the spans of a column that it cannot state in a sentence of so many tokens, with the reason."""
    bad = dict(unsayable_by(here.spans, SCHEME))
    for at, (_, end, kind) in enumerate(here.spans):
        if end > tokens:
            bad[at] = "reaches over the end of a sentence"
        if BREAKS & set(kind):
            bad[at] = "has a type with a tab or a line end"
    yield from ((here.numbers[at], why) for at, why in bad.items())


def _document(layer: Layer, number: int, columns: int, problems: list[Problem]) -> list[list[str]]:
    """Return the rows of each sentence, tokens and tags; add a problem for everything that a line cannot hold."""
    text = layer.documents.texts[number]
    name = layer.documents.ids[number]
    placed = token_spans(layer, number)
    words = [text[low:high] for low, high in placed.tokens]
    problems += [
        Problem(layer.name, None, f"document {quoted(name)}: {what}", OTHER_FORMAT)
        for what in _unwritable(name, words, layer.documents.named)
    ]
    sentences = []
    for low, high, by_depth in sentences_of(layer, number, placed):
        tags = (encode(by_depth[depth].spans, high - low, SCHEME) for depth in range(1, columns + 1))
        sentences.append(list(map("\t".join, zip(words[low:high], *tags, strict=True))))
    return sentences


def sentences_of(
    layer: Layer, number: int, placed: TokenSpans
) -> Iterator[tuple[int, int, defaultdict[int, _SentenceSpans]]]:
    """Yield first and last token + 1 of each sentence, and by depth the spans that begin in it."""
    spans = placed.spans
    for low, high in pairwise(_cuts(layer, number, placed.tokens, spans)):
        first, last = bisect_left(spans, (low,)), bisect_left(spans, (high,))
        by_depth: defaultdict[int, _SentenceSpans] = defaultdict(_SentenceSpans)
        for (start, end, kind), span in zip(spans[first:last], placed.numbers[first:last], strict=True):
            here = by_depth[_depth(layer, span)]
            here.spans.append((start - low, end - low, kind))
            here.numbers.append(span)
        yield low, high, by_depth


def _cuts(layer: Layer, number: int, tokens: Pairs, spans: list[Span]) -> list[int]:
    """Return the first token of each sentence and the number of tokens; without sentences each line is one.

    A line end within a span ends no sentence, but the end of a sentence that the document has does.
    """
    documents = layer.documents
    own = documents.sentences.of_document(number) if documents.sentences is not None else []
    if not tokens:
        return [0]
    if own:
        edges = sorted({edge for pair in own for edge in pair})
    else:
        edges = [match.end() for match in re.finditer("\n", documents.texts[number])]
    cuts = {0, len(tokens)}
    index = 0
    for edge in edges:
        while index < len(tokens) and tokens[index][0] < edge:
            index += 1
        cuts.add(index)
    if not own:
        cuts -= {cut for start, end, _ in spans for cut in range(start + 1, end)}
    return sorted(cuts)


def _unwritable(name: str, words: list[str], named: bool) -> Iterator[str]:
    """Yield messages about the parts of a document that would be read back differently."""
    if named and (name != name.strip() or "\n" in name or "\r" in name):
        yield "its id has white space at an end, or a line end"
    for number, word in enumerate(words, start=1):
        if "\t" in word or "\n" in word:
            yield f"token {number} {quoted(word)} has a tab or a line end"
        elif is_mark(word):
            yield f"token {number} {quoted(word)} would be taken for the beginning of a document"


WRITERS = (ConllWriter(),)
