"""Texts that the words of CoNLL-U make, and where in them each word stands."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from nereval_core.problems import Problem, quoted
from nereval_core.readers.conllu.rows import PARAGRAPH, TEXT, WordRow, WordSentence, value_of

SPACES = {"s": " ", "t": "\t", "r": "\r", "n": "\n", "p": "|", "\\": "\\"}
"""Escapes of SpacesAfter, as UDPipe has them."""
ESCAPED = re.compile(r"\\([strnp\\])")
BLANKS = re.compile(r"\s+")
NOWHERE = (-1, -1)


class WordNode(NamedTuple):
    """A word or an empty node: its line and MISC, and its place in the text, code points, end exclusive.

    The words of a multiword token have its place, and its MISC in `wide`. An empty node begins and ends at -1.
    """

    line: int
    start: int
    end: int
    misc: str
    wide: str = ""


@dataclass(slots=True)
class WordDocument:
    """A document with its text and nodes; `bounds` are the nodes at which sentences begin, and their number.

    `tokens`, words as they are written, and `spans` of sentences are pairs of code points.
    """

    name: str
    sentences: Sequence[WordSentence]
    text: str = ""
    nodes: list[WordNode] = field(default_factory=list)
    bounds: list[int] = field(default_factory=lambda: [0])
    tokens: list[tuple[int, int]] = field(default_factory=list)
    spans: list[tuple[int, int]] = field(default_factory=list)

    @property
    def shown(self) -> str:
        return self.sentences[0].file.shown

    @property
    def line(self) -> int:
        return self.sentences[0].line


def document_of(name: str, sentences: Sequence[WordSentence], problems: list[Problem]) -> WordDocument:
    """Return a document with its text; problems are added to `problems`.

    Between words stands what SpacesAfter says, else what `# text` has, which all words are held against, else a blank
    unless there is SpaceAfter=No; between sentences a line end where none of the words says otherwise.
    """
    made = WordDocument(name, sentences)
    parts: list[str] = []
    at, after = 0, ""
    for sentence in sentences:
        if parts and PARAGRAPH in sentence.comments and "\n" not in after:
            after = "\n"
        gap = after if parts else _spaces(sentence.rows[0].misc, "SpacesBefore") or ""
        begin = at + len(gap)
        place, wide = (begin, begin), ""
        previous: WordRow | None = None
        for row, seen, whole in _checked(sentence, problems):
            if whole:
                if previous is not None:
                    gap = _gap(previous, " " if seen is None else seen, said=seen is not None)
                place = (at + len(gap), at + len(gap) + len(row.form))
                at = place[1]
                parts += (gap, row.form)
                made.tokens.append(place)
                previous, wide = row, row.misc if row.last > row.first else ""
            if row.last == row.first:
                made.nodes.append(WordNode(row.line, *(place if row.first else NOWHERE), row.misc, wide))
        made.spans.append((begin, at))
        made.bounds.append(len(made.nodes))
        after = "\n" if previous is None else _gap(previous, "\n")
    made.text = "".join(parts)
    made.spans = [(start, end) for start, end in made.spans if start < end]
    return made


def _gap(row: WordRow, otherwise: str, *, said: bool = False) -> str:
    """Return what stands behind a word; `otherwise` is taken where its MISC does not tell, or where `# text` did."""
    if "Space" not in row.misc:
        return otherwise
    spaces = _spaces(row.misc, "SpacesAfter")
    if spaces is not None:
        return spaces
    return "" if not said and value_of(row.misc, "SpaceAfter") == "No" else otherwise


def _spaces(misc: str, key: str) -> str | None:
    spaces = value_of(misc, key)
    return None if spaces is None else ESCAPED.sub(lambda found: SPACES[found[1]], spaces)


def _behind_blanks(text: str, at: int) -> int:
    """Return the place of the first character that is not white space, from a place on."""
    found = BLANKS.match(text, at)
    return at if found is None else found.end()


def _checked(sentence: WordSentence, problems: list[Problem]) -> Iterator[tuple[WordRow, str | None, bool]]:
    """Yield the rows of a sentence, with the white space before each in `# text` (None: not known).

    Last comes whether it stands in the text by itself, as do words but those of a multiword token, and these. Numbers
    are held against those before, forms against `# text`.
    """
    text = sentence.comments.get(TEXT)
    cursor, following, covered, joined = 0, 1, 0, False

    def complain(line: int, found: str, remedy: str) -> None:
        problems.append(Problem(sentence.file.shown, line, found, remedy))

    for row in sentence.rows:
        if row.first and row.first != following:
            remedy = "number the words of a sentence from 1, a multiword token before its words"
            complain(row.line, f"word {row.first} where {following} follows", remedy)
            following = row.first
        following += row.first == row.last > 0
        if row.first <= covered:
            yield row, None, False
            continue
        seen: str | None = None
        if text is not None:
            form = row.form
            if text.startswith(form, cursor):
                begin = cursor
            elif text.startswith(" " + form, cursor) and not form[0].isspace():
                # Most words stand behind one blank.
                begin = cursor + 1
            else:
                begin = _behind_blanks(text, cursor)
            seen, cursor = text[cursor:begin], begin + len(form)
            if not text.startswith(form, begin):
                goes_on = quoted(text[begin : begin + len(row.form) + 5])
                remedy = "mend the form or # text: the words make the text"
                complain(row.line, f"{quoted(row.form)} where # text goes on with {goes_on}", remedy)
                text = seen = None
            elif seen and joined:
                complain(
                    row.line,
                    f"a blank before {quoted(row.form)} in # text, and SpaceAfter=No",
                    "mend the one or the other",
                )
        covered, joined = row.last, "SpaceAfter" in row.misc and value_of(row.misc, "SpaceAfter") == "No"
        yield row, seen, True
    last = sentence.rows[-1].line
    if covered >= following:
        complain(last, f"a multiword token up to word {covered}, and the last is {following - 1}", "write its words")
    if text is not None and _behind_blanks(text, cursor) < len(text):
        found = f"# text goes on with {quoted(text[cursor:].strip())} behind the last word"
        complain(last, found, "mend # text, or write the words that are missing")
