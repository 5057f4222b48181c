"""Columns of tokens whose rows differ in length: CoNLL-2011 and 2012 (OntoNotes), and AIDA CoNLL-YAGO.

- CoNLL-2012: documents from `#begin document (ID); part 000` on, words in column 4, names in column 11
  (or `--column N`) as `(PERSON*`, `*`, `*)` or `(GPE)`. Each part is a document.
- AIDA: documents from `-DOCSTART- (1 EU)`, words alone or with `B` or `I`, the whole mention and its entity, which is a
  link (`--NME--` or nothing is NIL). Mentions have no type: it is `entity`, or that of `--type`.

Words are joined by one blank, sentences by a line end.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field

from nereval_core.corpus.builder import Builder
from nereval_core.problems import counted, quoted
from nereval_core.readers import Reader, Reading, ReadOptions, Source
from nereval_core.readers.input.source import SourceFile, unread_files_note

BEGIN = re.compile(r"#begin document[ \t]+\(?(?P<name>.*?)\)?(?:;[ \t]*(?:part[ \t]+(?P<part>[0-9]+))?)?[ \t]*")
DOCSTART = re.compile(r"-DOCSTART- \((?P<name>.*)\)[ \t]*")
MENTION = re.compile(r"(?m)^[^\t\n]+\t[BI]\t[^\t\n]+")
NAMES = re.compile(r"((?:\([^()*|\s]+)*)\*?(\)*)")
WORD, NAME_COLUMN = 3, 10
"""The columns of words and of names in CoNLL-2012, from 0."""
NO_NAME = "-"
NIL = {"--NME--": "NIL", "": "NIL"}
ENTITY = "entity"


@dataclass(slots=True)
class _Open:
    """A span that is open: its line, type, first character and link."""

    line: int
    label: str
    start: int
    link: str = ""
    mention: str = ""


@dataclass(slots=True)
class _Document:
    name: str
    line: int
    is_aida: bool
    words: list[str] = field(default_factory=list)
    tokens: list[tuple[int, int]] = field(default_factory=list)
    sentences: list[tuple[int, int]] = field(default_factory=list)
    spans: list[tuple[_Open, int]] = field(default_factory=list)
    open: list[_Open] = field(default_factory=list)
    first: int = 0
    """The first token of the sentence."""

    def add(self, word: str) -> int:
        """Add a word; return where it begins."""
        start = 0
        if self.tokens:
            self.words.append("\n" if self.first == len(self.tokens) else " ")
            start = self.tokens[-1][1] + 1
        self.words.append(word)
        self.tokens.append((start, start + len(word)))
        return start

    def end_sentence(self) -> None:
        if self.first < len(self.tokens):
            self.sentences.append((self.tokens[self.first][0], self.tokens[-1][1]))
        self.first = len(self.tokens)

    def close(self) -> bool:
        """Close the span that was opened last; return whether there is one."""
        if self.open:
            self.spans.append((self.open.pop(), self.tokens[-1][1]))
            return True
        return False


class RaggedReader(Reader):
    name = "ragged"
    description = "columns with rows of unequal length: CoNLL-2011 and 2012 (OntoNotes), AIDA"
    has_columns = True
    is_table = True

    def recognise(self, source: Source) -> float:
        """Claim files that begin a document as these corpora do."""
        head = source.head()
        if head.first_line.startswith("#begin document"):
            return 1.0
        return 1.0 if DOCSTART.fullmatch(head.first_line) and MENTION.search(head.text) else 0.0

    def read(self, source: Source, options: ReadOptions) -> Reading:
        """Read all documents of all files; `options.column` is the number of the column of names in CoNLL-2012.

        Raises:
            FormatError: with every problem found.
        """
        builder = Builder(source.name)
        files = [file for file in source.files if source.head_of(file).first_line.startswith(("#", "-DOCSTART-"))]
        counts: Counter[str] = Counter()
        for file in files or source.files:
            _File(file, options, builder, counts).read()
        layer = builder.finish(options.name or source.label)
        notes = [f"{what}: {count}" for what, count in sorted(counts.items())]
        notes += unread_files_note(source, files or source.files)
        return Reading(layer.documents, layer, self.name, tuple(notes), places=builder.places)


READER = RaggedReader()


class _File:
    """Reads the documents of a file into a builder."""

    def __init__(self, file: SourceFile, options: ReadOptions, builder: Builder, counts: Counter[str]) -> None:
        self._file = file
        self._builder = builder
        self._counts = counts
        self._label = options.type or ENTITY
        self._column = NAME_COLUMN
        if options.column is not None:
            self._column = int(options.column) - 1 if str(options.column).isdecimal() else -1
            if self._column < 0:
                self._complain(1, f"a column {quoted(str(options.column))}", "give its number, from 1: --column 11")
        self._document: _Document | None = None

    def read(self) -> None:
        for number, line in enumerate(self._file.lines(), start=1):
            aida = DOCSTART.fullmatch(line)
            if begin := aida or BEGIN.fullmatch(line):
                self._finish()
                part = begin.groupdict().get("part")
                # The first part is called as the document, which most have alone.
                name = begin["name"].strip() + (f" part {part}" if part and int(part) else "")
                self._document = _Document(name, number, aida is not None)
            elif line.startswith("#end document"):
                self._finish()
                self._document = None
            elif not line or line.isspace():
                self._end_sentence()
            elif self._document is None:
                self._complain(number, f"{quoted(line)} before a document", "begin one: #begin document (ID); part 000")
                return
            elif self._document.is_aida:
                self._mention(line.split("\t"), number, self._document)
            else:
                self._row(line.split(), number, self._document)
        self._finish()

    def _row(self, cells: list[str], line: int, document: _Document) -> None:
        """Add a row of CoNLL-2012."""
        if len(cells) <= max(WORD, self._column):
            what = counted(len(cells), "cell")
            self._complain(line, f"{what}, so no name in column {self._column + 1}", "write all columns in each row")
            return
        cell = cells[self._column]
        start = document.add(cells[WORD])
        match = None if cell == NO_NAME else NAMES.fullmatch(cell)
        if match is None and cell != NO_NAME:
            self._complain(
                line, f"{quoted(cell)} is not a name in brackets", "write (TYPE*, *, *) or (TYPE), or --column"
            )
            return
        opened, closed = (match[1], match[2]) if match else ("", "")
        document.open += [_Open(line, label, start) for label in opened.split("(")[1:]]
        for _ in closed:
            if not document.close():
                self._complain(line, f"{quoted(cell)} closes a name that is not open", "open it: (TYPE*")
                return

    def _mention(self, cells: list[str], line: int, document: _Document) -> None:
        """Add a row of AIDA."""
        tag = cells[1].strip() if len(cells) > 1 else ""
        if tag != "I":
            document.close()
        start = document.add(cells[0].strip())
        if not tag:
            return
        if tag not in ("B", "I") or len(cells) < 3:
            what = f"{quoted(tag)} in the second of {counted(len(cells), 'cell')}"
            self._complain(line, what, "write B or I, the mention and its entity, or the word alone")
        elif tag == "B":
            link = cells[3].strip() if len(cells) > 3 else ""
            document.open.append(_Open(line, self._label, start, NIL.get(link, link), cells[2]))
        elif not document.open:
            self._complain(line, "I without B before it", "begin each mention by B")

    def _end_sentence(self) -> None:
        document = self._document
        if document is None:
            return
        if document.is_aida:
            document.close()
        for span in document.open:
            self._complain(span.line, f"a name {quoted(span.label)} is not closed in its sentence", "close it: *)")
        document.open.clear()
        document.end_sentence()

    def _finish(self) -> None:
        """Add the document that is open, if any, to the builder."""
        self._end_sentence()
        document = self._document
        if document is None:
            return
        text = "".join(document.words)
        self._builder.document(
            document.name,
            text,
            line=document.line,
            source=self._file.shown,
            tokens=document.tokens,
            sentences=document.sentences,
        )
        for span, end in document.spans:
            self._builder.span(span.start, end, span.label, line=span.line, links=(span.link,) if span.link else ())
            if span.mention and span.mention.split() != text[span.start : end].split():
                self._counts["mentions that their words do not spell"] += 1

    def _complain(self, line: int, finding: str, remedy: str) -> None:
        self._builder.problem(line, finding, remedy, source=self._file.shown)
