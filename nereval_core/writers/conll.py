"""Columns of tokens and tags, one token a line: a tab between them, a blank line after each sentence.

Documents that have ids begin with `# id = …`, others with `-DOCSTART-` unless each is a sentence. Boundaries and types
are written, nothing else. Tokens are the documents' own, or, where there are none, runs of word characters and single
other non-space characters.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from nereval_core.corpus import Layer
from nereval_core.problems import FormatError, Problem, quoted
from nereval_core.readers.conll.layout import DOCSTART, is_mark
from nereval_core.readers.shared.tag_schemes import Scheme, encode, scheme_named
from nereval_core.readers.shared.tag_schemes import unsayable as unsayable_by
from nereval_core.writers import packed_file
from nereval_core.writers.document_spans import Pairs, TokenSpans, token_spans

NAME = "conll"
DESCRIPTION = "one token a line with its tag in a column"
SCHEME = "IOB2"
"""The default tag scheme."""

BOM = "\ufeff"
BREAKS = set("\t\n\r")

Span = tuple[int, int, str]
HOLDS = frozenset(("tokens", "sentences"))
OTHER_FORMAT = "write it as jsonl or brat"


def unsayable(layer: Layer) -> Iterator[tuple[int, str]]:
    """Yield the spans that tags cannot state, with the reason: overlaps, off token boundaries, over a sentence end."""
    for number in range(len(layer.documents)):
        placed = token_spans(layer, number)
        yield from placed.unsayable()
        for low, high, spans, numbers in _sentences(layer, number, placed):
            bad = dict(unsayable_by(spans, scheme_named(SCHEME)))
            bad |= {at: "reaches over the end of a sentence" for at, span in enumerate(spans) if span[1] > high - low}
            bad |= {at: "has a type with a tab or a line end" for at, span in enumerate(spans) if BREAKS & set(span[2])}
            for at, why in bad.items():
                yield numbers[at], why


def write(layer: Layer, path: Path, *, scheme: str = SCHEME) -> tuple[str, ...]:
    """Write the layer in a tag scheme.

    Raises:
        FormatError: with every id and token that a line cannot hold, or a place that cannot be written.
    """
    documents = layer.documents
    problems: list[Problem] = []
    written = [_document(layer, number, scheme_named(scheme), problems) for number in range(len(documents))]
    if problems:
        raise FormatError(problems)
    plain = not documents.named and all(len(sentences) == 1 for sentences in written)
    with packed_file(path) as file:
        if plain and any(rows and rows[0][0][0].startswith(BOM) for rows in written[:1]):
            # Readers drop a byte-order mark at the start of a file: without a second one the token would lose its own.
            file.write(BOM.encode())
        for name, sentences in zip(documents.ids, written, strict=True):
            if not plain:
                file.write(f"# id = {name}\n".encode() if documents.named else f"{DOCSTART}\tO\n\n".encode())
            if not sentences:
                file.write(b"\n")
            for sentence in sentences:
                file.write("".join(f"{token}\t{tag}\n" for token, tag in sentence).encode() + b"\n")
    return ()


def _document(layer: Layer, number: int, scheme: Scheme, problems: list[Problem]) -> list[list[tuple[str, str]]]:
    """Return the rows (token, tag) of each sentence; add a problem for everything that a line cannot hold."""
    text = layer.documents.texts[number]
    name = layer.documents.ids[number]
    placed = token_spans(layer, number)
    words = [text[low:high] for low, high in placed.tokens]
    problems += [
        Problem(layer.name, None, f"document {quoted(name)}: {what}", OTHER_FORMAT)
        for what in _unwritable(name, words, layer.documents.named)
    ]
    return [
        list(zip(words[low:high], encode(spans, high - low, scheme), strict=True))
        for low, high, spans, _ in _sentences(layer, number, placed)
    ]


def _sentences(layer: Layer, number: int, placed: TokenSpans) -> Iterator[tuple[int, int, list[Span], list[int]]]:
    """Yield first and last token + 1 of each sentence, the spans that begin in it by its tokens, and their numbers."""
    spans = placed.spans
    for low, high in pairwise(_cuts(layer, number, placed.tokens, spans)):
        one, two = bisect_left(spans, (low,)), bisect_left(spans, (high,))
        here = [(start - low, end - low, kind) for start, end, kind in spans[one:two]]
        yield low, high, here, placed.numbers[one:two]


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
