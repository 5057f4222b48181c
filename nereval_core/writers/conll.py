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
from nereval_core.errors import FormatError, Problem, quoted
from nereval_core.readers.conll_layout import DOCSTART, is_mark
from nereval_core.readers.schemes import Scheme, encode, scheme_named, unsayable
from nereval_core.tokens import WORD
from nereval_core.writers import packed_file

NAME = "conll"
DESCRIPTION = "one token a line with its tag in a column"
SCHEME = "IOB2"
"""The tag scheme written where none is asked for."""

BOM = "\ufeff"
OTHER_FORMAT = "write it as jsonl or brat, or leave it out"

Span = tuple[int, int, str]


def write(layer: Layer, path: Path, *, scheme: str = SCHEME) -> None:
    """Write the layer in a tag scheme.

    Raises:
        FormatError: with every span that tags cannot say (nested, overlapping, discontinuous, not on token
            boundaries, over a sentence end), and every id, token and type that a line cannot hold.
    """
    documents = layer.documents
    problems: list[Problem] = []
    written = [
        _document(layer, number, scheme_named(scheme), problems, _tokens(layer, number))
        for number in range(len(documents))
    ]
    if problems:
        raise FormatError(problems)
    plain = not documents.named and all(len(sentences) == 1 for sentences in written)
    with packed_file(path) as file:
        if plain and any(rows and rows[0][0][0].startswith(BOM) for rows in written[:1]):
            # A mark at the very start of a file is no part of its text: the token's own would be lost.
            file.write(BOM.encode())
        for name, sentences in zip(documents.ids, written, strict=True):
            if not plain:
                file.write(f"# id = {name}\n".encode() if documents.named else f"{DOCSTART}\tO\n\n".encode())
            if not sentences:
                file.write(b"\n")
            for sentence in sentences:
                file.write("".join(f"{token}\t{tag}\n" for token, tag in sentence).encode() + b"\n")


def _tokens(layer: Layer, number: int) -> list[tuple[int, int]]:
    documents = layer.documents
    own = documents.tokens.of_document(number) if documents.tokens is not None else []
    return own or [match.span() for match in WORD.finditer(documents.texts[number])]


def _document(
    layer: Layer, number: int, scheme: Scheme, problems: list[Problem], tokens: list[tuple[int, int]]
) -> list[list[tuple[str, str]]]:
    """Return the rows (token, tag) of each sentence; what cannot be written is added to the problems."""
    text = layer.documents.texts[number]
    name = layer.documents.ids[number]
    words = [text[low:high] for low, high in tokens]
    problems += [
        Problem(layer.name, None, f"document {quoted(name)}: {what}", OTHER_FORMAT)
        for what in _unwritable(name, words, layer.documents.named)
    ]
    spans: list[Span] = []
    origin: list[int] = []

    def complain(span: int, why: str) -> None:
        found = f"span [{layer.start[span]}, {layer.end[span]}) {quoted(layer.text(span))} ({layer.label(span)})"
        problems.append(Problem(layer.name, None, f"document {quoted(name)}: {found} {why}", OTHER_FORMAT))

    first = {low: index for index, (low, _) in enumerate(tokens)}
    last = {high: index + 1 for index, (_, high) in enumerate(tokens)}
    for span in range(int(layer.first[number]), int(layer.first[number + 1])):
        start, end = first.get(int(layer.start[span])), last.get(int(layer.end[span]))
        if span in layer.fragments:
            complain(span, "is discontinuous, which tags cannot say")
        elif start is None or end is None:
            complain(span, "does not begin and end with a token")
        elif set(layer.label(span)) & set("\t\n\r"):
            complain(span, "has a type with a tab or a line end")
        else:
            spans.append((start, end, layer.label(span)))
            origin.append(span)
    cuts = _cuts(layer, number, tokens, spans)
    sentences = []
    for low, high in pairwise(cuts):
        one, two = bisect_left(spans, (low,)), bisect_left(spans, (high,))
        here = [(start - low, end - low, kind) for start, end, kind in spans[one:two]]
        bad = {index: "reaches over the end of a sentence" for index, span in enumerate(here) if span[1] > high - low}
        bad |= dict(unsayable(here, scheme))
        for index, why in bad.items():
            complain(origin[one + index], why)
        good = [span for index, span in enumerate(here) if index not in bad]
        sentences.append(list(zip(words[low:high], encode(good, high - low, scheme), strict=True)))
    return sentences


def _cuts(layer: Layer, number: int, tokens: list[tuple[int, int]], spans: list[Span]) -> list[int]:
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
    """Yield what of a document would not be read back as it is."""
    if named and (name != name.strip() or "\n" in name or "\r" in name):
        yield "its id has white space at an end, or a line end"
    for number, word in enumerate(words, start=1):
        if "\t" in word or "\n" in word:
            yield f"token {number} {quoted(word)} has a tab or a line end"
        elif is_mark(word):
            yield f"token {number} {quoted(word)} would be taken for the beginning of a document"
