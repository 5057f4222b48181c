"""Sentences of CoNLL-U as they stand in files, the texts that their words make, and the place of each word in them.

A sentence has words, multiword tokens, empty nodes, and what its comments say.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from nereval_core.problems import Problem, counted, quoted
from nereval_core.readers.input.source import SourceFile

STANDARD = ("ID", "FORM", "LEMMA", "UPOS", "XPOS", "FEATS", "HEAD", "DEPREL", "DEPS", "MISC")
NUMBER = re.compile(r"([0-9]{1,6})(?:-([0-9]{1,6})|\.[0-9]{1,6})?")
MOST_DIGITS = 6
NAMES = "global.columns"
UNSAID = ("_", "*")
"""Cells of columns of CoNLL-U Plus that say nothing."""
DOCUMENT, PARAGRAPH, SENTENCE, TEXT, FIELDS = "newdoc", "newpar", "sent_id", "text", "global.Entity"


@dataclass(frozen=True)
class ColumnNames:
    """Names of the columns of a file: the ten of CoNLL-U, or those that a file of CoNLL-U Plus declares."""

    names: tuple[str, ...] = STANDARD

    @cached_property
    def extra(self) -> tuple[str, ...]:
        """The columns that CoNLL-U does not have."""
        return tuple(name for name in self.names if name not in STANDARD)

    def cell(self, cells: Sequence[str], name: str) -> str | None:
        return cells[self.names.index(name)] if name in self.names else None

    def misc(self, cells: Sequence[str]) -> str:
        """Return MISC with the columns that CoNLL-U does not have as further keys."""
        parts = [self.cell(cells, "MISC") or ""]
        for name, cell in zip(self.names, cells, strict=True) if self.extra else ():
            if name not in STANDARD and cell not in UNSAID and "|" not in cell:
                parts.append(f"{name}={cell}")
        return "|".join(part for part in parts if part not in ("", "_")) or "_"


def layout_of(line: str) -> ColumnNames | None:
    """Return the layout that a comment `# global.columns = …` gives, None where it is another or has no FORM."""
    name, equals, value = line.removeprefix("#").partition("=")
    names = tuple(value.split())
    fine = equals and name.strip() == NAMES and "FORM" in names and len(set(names)) == len(names)
    return ColumnNames(names) if fine else None


class WordRow(NamedTuple):
    """A line of ten columns: a word, a multiword token of the words from `first` to `last`, or an empty node (0)."""

    line: int
    first: int
    last: int
    form: str
    misc: str


@dataclass(slots=True)
class WordSentence:
    """The rows between two blank lines, and what the comments above them say.

    `document` is the id of the document that begins here, "" for one without, None where none begins; `fields` are
    those of an entity, as `# global.Entity` has them, `layout` what the columns are.
    """

    file: SourceFile
    line: int
    comments: dict[str, str] = field(default_factory=dict)
    rows: list[WordRow] = field(default_factory=list)
    document: str | None = None
    fields: Sequence[str] = ()
    layout: ColumnNames = ColumnNames()


def value_of(misc: str, key: str) -> str | None:
    """Return the value under a key of MISC, None where it has none."""
    if key not in misc:
        return None
    start = f"{key}="
    for pair in misc.split("|"):
        if pair.startswith(start):
            return pair[len(start) :]
    return None


def sentences_of(file: SourceFile, problems: list[Problem]) -> list[WordSentence]:
    """Return the sentences of a file; problems are added to `problems`."""
    sentences: list[WordSentence] = []
    current: WordSentence | None = None
    fields: Sequence[str] = ()
    document: str | None = None
    layout = ColumnNames()
    for number, line in enumerate(file.lines(), start=1):
        if not line or line.isspace():
            current = None
            continue
        if current is None:
            current = WordSentence(file, number)
        if line.startswith("#"):
            name, _, value = map(str.strip, line[1:].partition("="))
            name = name.removesuffix(" id")
            if name == FIELDS:
                fields = value.split("-")
            if name == NAMES:
                layout = layout_of(line) or layout
            if name == DOCUMENT:
                # It may stand above a blank line of its own.
                document = value
            current.comments.setdefault(name, value)
            continue
        follows = current.rows[-1].last + 1 if current.rows else 1
        row = _row(line, number, file.shown, layout, follows, problems)
        if row is None:
            continue
        if not current.rows:
            current.document, document, current.fields = document, None, fields
            current.layout = layout
            sentences.append(current)
        current.rows.append(row)
    return sentences


def _row(
    line: str, number: int, source: str, layout: ColumnNames, follows: int, problems: list[Problem]
) -> WordRow | None:
    """Return the row of a line; where its file does not number words, `follows` is its number."""
    cells = line.split("\t")
    width = len(layout.names)
    if len(cells) != width:
        which = "CoNLL-U" if layout.names == STANDARD else f"# {NAMES}"
        finding = f"{counted(len(cells), 'column')} where {which} has {width}"
        how = "ten" if width == len(STANDARD) else str(width)
        problems.append(
            Problem(source, number, finding, f"write {how} with tabs between, _ where there is nothing to say")
        )
        return None
    if layout.names == STANDARD:
        # Nearly all rows of nearly all files are words with a plain number.
        digits = cells[0]
        if cells[1] and digits.isdecimal() and digits.isascii() and len(digits) <= MOST_DIGITS:
            return WordRow(number, int(digits), int(digits), cells[1], cells[-1] or "_")
    written, form = layout.cell(cells, "ID"), layout.cell(cells, "FORM")
    at = NUMBER.fullmatch(str(follows) if written is None else written)
    first, last = (int(at[1]), int(at[2] or at[1])) if at else (0, -1)
    if last < first or not form:
        finding = f"{quoted(written or '')} for a number" if form else "a word without a form"
        remedy = "write 1 for a word, 1-2 for a multiword token, 1.1 for an empty node, then its form"
        problems.append(Problem(source, number, finding, remedy))
        return None
    empty = written is not None and "." in written
    return WordRow(number, 0 if empty else first, 0 if empty else last, form, layout.misc(cells))


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
    def source(self) -> str:
        return self.sentences[0].file.shown

    @property
    def line(self) -> int:
        return self.sentences[0].line


def document_of(name: str, sentences: Sequence[WordSentence], problems: list[Problem]) -> WordDocument:
    """Return a document with its text; problems are added to `problems`.

    Between words stands what SpacesAfter says, else what `# text` has, which all words are held against, else a blank
    unless there is SpaceAfter=No; between sentences a line end where none of the words says otherwise.
    """
    document = WordDocument(name, sentences)
    parts: list[str] = []
    at, after = 0, ""
    for sentence in sentences:
        if parts and PARAGRAPH in sentence.comments and "\n" not in after:
            after = "\n"
        gap = after if parts else _spaces(sentence.rows[0].misc, "SpacesBefore") or ""
        begin = at + len(gap)
        place, wide = (begin, begin), ""
        previous: WordRow | None = None
        for row, space, whole in _checked(sentence, problems):
            if whole:
                if previous is not None:
                    gap = _gap(previous, " " if space is None else space, in_text=space is not None)
                place = (at + len(gap), at + len(gap) + len(row.form))
                at = place[1]
                parts += (gap, row.form)
                document.tokens.append(place)
                previous, wide = row, row.misc if row.last > row.first else ""
            if row.last == row.first:
                document.nodes.append(WordNode(row.line, *(place if row.first else NOWHERE), row.misc, wide))
        document.spans.append((begin, at))
        document.bounds.append(len(document.nodes))
        after = "\n" if previous is None else _gap(previous, "\n")
    document.text = "".join(parts)
    document.spans = [(start, end) for start, end in document.spans if start < end]
    return document


def _gap(row: WordRow, otherwise: str, *, in_text: bool = False) -> str:
    """Return what stands behind a word: `otherwise` where its MISC does not tell, or where it stands `in_text`."""
    if "Space" not in row.misc:
        return otherwise
    spaces = _spaces(row.misc, "SpacesAfter")
    if spaces is not None:
        return spaces
    return "" if not in_text and value_of(row.misc, "SpaceAfter") == "No" else otherwise


def _spaces(misc: str, key: str) -> str | None:
    spaces = value_of(misc, key)
    return None if spaces is None else ESCAPED.sub(lambda match: SPACES[match[1]], spaces)


def _behind_blanks(text: str, at: int) -> int:
    """Return the place of the first character that is not white space, from a place on."""
    match = BLANKS.match(text, at)
    return at if match is None else match.end()


def _checked(sentence: WordSentence, problems: list[Problem]) -> Iterator[tuple[WordRow, str | None, bool]]:
    """Yield the rows of a sentence, with the white space before each in `# text` (None: not known).

    Last comes whether it stands in the text by itself, as do words but those of a multiword token, and these. Numbers
    are held against those before, forms against `# text`.
    """
    text = sentence.comments.get(TEXT)
    cursor, following, covered, joined = 0, 1, 0, False

    def complain(line: int, finding: str, remedy: str) -> None:
        problems.append(Problem(sentence.file.shown, line, finding, remedy))

    for row in sentence.rows:
        if row.first and row.first != following:
            remedy = "number the words of a sentence from 1, a multiword token before its words"
            complain(row.line, f"word {row.first} where {following} follows", remedy)
            following = row.first
        following += row.first == row.last > 0
        if row.first <= covered:
            yield row, None, False
            continue
        space: str | None = None
        if text is not None:
            form = row.form
            if text.startswith(form, cursor):
                begin = cursor
            elif text.startswith(" " + form, cursor) and not form[0].isspace():
                # Most words stand behind one blank.
                begin = cursor + 1
            else:
                begin = _behind_blanks(text, cursor)
            space, cursor = text[cursor:begin], begin + len(form)
            if not text.startswith(form, begin):
                goes_on = quoted(text[begin : begin + len(row.form) + 5])
                remedy = "mend the form or # text: the words make the text"
                complain(row.line, f"{quoted(row.form)} where # text goes on with {goes_on}", remedy)
                text = space = None
            elif space and joined:
                complain(
                    row.line,
                    f"a blank before {quoted(row.form)} in # text, and SpaceAfter=No",
                    "mend the one or the other",
                )
        covered, joined = row.last, "SpaceAfter" in row.misc and value_of(row.misc, "SpaceAfter") == "No"
        yield row, space, True
    last = sentence.rows[-1].line
    if covered >= following:
        complain(last, f"a multiword token up to word {covered}, and the last is {following - 1}", "write its words")
    if text is not None and _behind_blanks(text, cursor) < len(text):
        finding = f"# text goes on with {quoted(text[cursor:].strip())} behind the last word"
        complain(last, finding, "mend # text, or write the words that are missing")
