"""Training data of OpenNLP's name finder, `<START:person> Ann Lee <END> left`: a sentence a line.

Empty lines part documents. Tokens and sentences are as in `conll`; the ids of documents have no place.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from nereval_core.corpus import Layer
from nereval_core.problems import FormatError, Problem, quoted
from nereval_core.readers.marked_text.bracketed import MARK, SQUARE
from nereval_core.writers import packed_file
from nereval_core.writers.conll import sentences_of
from nereval_core.writers.document_spans import token_spans
from nereval_core.writers.writer import Writer


class BracketedWriter(Writer):
    """OpenNLP's marks; names in one another or over the end of a sentence cannot be written."""

    name = "bracketed"
    description = "OpenNLP's training data: <START:type> words <END>"
    holds = frozenset(("tokens", "sentences"))

    def unsayable(self, layer: Layer) -> Iterator[tuple[int, str]]:
        """Yield the spans that marks cannot state: overlaps, off token boundaries, over a sentence end."""
        for number in range(len(layer.documents)):
            placed = token_spans(layer, number)
            yield from placed.unsayable()
            for low, high, by_depth in sentences_of(layer, number, placed):
                reach = 0
                rows = [row for here in by_depth.values() for row in zip(here.spans, here.numbers, strict=True)]
                for (start, end, kind), span in sorted(rows):
                    if end > high - low:
                        yield span, "reaches over the end of a sentence"
                    elif start < reach:
                        yield span, "overlaps another"
                    elif any(char.isspace() or char in "<>" for char in kind):
                        yield span, "has a type with a blank, < or >"
                    else:
                        reach = end

    def changed(self, layer: Layer) -> Iterator[str]:
        """Yield how many documents are lost, as they have no words."""
        if bare := sum(not token_spans(layer, number).tokens for number in range(len(layer.documents))):
            yield f"documents without words, left out: {bare}"

    def write(self, layer: Layer, path: Path) -> tuple[str, ...]:
        problems: list[Problem] = []
        written = [_lines(layer, number, problems) for number in range(len(layer.documents))]
        lines_written = [line for lines in written for line in lines]
        if not any(map(MARK.search, lines_written)) and any(map(SQUARE.sign.search, lines_written)):
            problems.append(Problem(layer.name, None, "text that would be read as names in square brackets", WAY))
        if problems:
            raise FormatError(problems)
        blocks = ["".join(f"{line}\n" for line in lines) for lines in written if lines]
        # Without an empty line each line would be a document.
        first = "\n" if len(blocks) == 1 else ""
        with packed_file(path) as file:
            file.write((first + "\n".join(blocks)).encode())
        return ("ids of documents have no place: read back, they are numbered",) if layer.documents.named else ()


def _lines(layer: Layer, number: int, problems: list[Problem]) -> list[str]:
    """Return the sentences of a document; words that would be read as something else go to the problems."""
    text, name = layer.documents.texts[number], layer.documents.ids[number]
    placed = token_spans(layer, number)
    words = [text[low:high] for low, high in placed.tokens]
    problems += [
        Problem(layer.name, None, f"document {quoted(name)}: the word {quoted(word)} has a blank or a mark in it", WAY)
        for word in words
        if MARK.search(word) or len(word.split()) != 1 or word != word.strip()
    ]
    lines = []
    for low, high, by_depth in sentences_of(layer, number, placed):
        parts = words[low:high]
        for here in by_depth.values():
            for start, end, kind in here.spans:
                parts[start] = f"<START:{kind}> {parts[start]}"
                parts[end - 1] = f"{parts[end - 1]} <END>"
        lines.append(" ".join(parts))
    return lines


WAY = "write it as jsonl or brat"
WRITERS = (BracketedWriter(),)
