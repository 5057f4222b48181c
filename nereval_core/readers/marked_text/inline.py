"""Tags in running text: `<ENAMEX TYPE="PERSON">Ann</ENAMEX>` of MUC, or `<PER>Ann</PER>`.

Where a source has elements of MUC (ENAMEX, TIMEX, NUMEX), these are its spans and all others are left out; else every
element is a span but those that structure a text, which whole files tell (`shared/markup_structure.py`), and empty
ones. The type is the attribute `TYPE`, else the element's name; other attributes are metadata. Elements `<DOC>` are
documents, called as `<DOCNO>` or `<DOCID>` in them says; without any, a file of XML is a document, or each of its
elements `<document>`, `<record>`, `<TEI>` or `<article>`; else a line is a document, of several files a file.

Tags are those of SGML rather than XML: headers and paragraphs may be left open, values may stand without quotes, and a
`<` that begins no tag is text. The text is what remains without tags, without white space at its ends, and with
characters for `&amp;`, `&lt;`, `&#233;` and the like. See the MUC-7 Named Entity Task Definition, version 3.5.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from html import unescape
from html.entities import html5
from typing import Any

from nereval_core.corpus.builder import Builder
from nereval_core.problems import SHOWN, FormatError, quoted
from nereval_core.readers import Reader, Reading, ReadOptions, Source
from nereval_core.readers.input.source import SourceFile, unread_files_note
from nereval_core.readers.shared.markup_structure import (
    ATTRIBUTES,
    BLOCKS,
    DECLARED,
    HEADERS,
    IDS,
    LINE_BREAKS,
    NAME_OF,
    STRUCTURE,
    TAG,
    TEI,
    TEI_NAMES,
    TYPOGRAPHY,
    Structure,
    is_whole_document,
    local_name,
    structure_of_documents,
    structure_of_lines,
)

MUC = frozenset(("enamex", "timex", "numex"))
TYPE = "type"
ATTRIBUTE = re.compile(r"""([\w.:-]+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'<>]+))""")
OPENED = re.compile(rf"</?({NAME_OF})")
REFERENCE = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z][a-zA-Z0-9]{1,31});")
LINE_END = re.compile(r"\r*\n")
CDATA = re.compile(r"<!\[CDATA\[(.*?)\]\]>", re.DOTALL)
DOCTYPE = re.compile(r"<!DOCTYPE\b[^<>\[]*\[.*?\]\s*>", re.DOTALL | re.IGNORECASE)
PAIR = re.compile(rf"<({NAME_OF}){ATTRIBUTES}\s*>([^<\n]++)</\1\s*>")
RUNNING = re.compile(
    rf"[^<>\s]\s*<({NAME_OF}){ATTRIBUTES}\s*>[^<]*</|<({NAME_OF}){ATTRIBUTES}\s*>[^<]*</[^<>]*>\s*[^<>\s]"
)
"""An element beside characters of a text."""
SEEN_LINES = 200
"""Lines by which a file is recognised."""


@dataclass(slots=True)
class _Open:
    """An element that is open: its name as written, its line, where it starts in the text, and its attributes."""

    name: str
    line: int
    start: int
    attributes: dict[str, str]


@dataclass(slots=True)
class _Span:
    start: int
    end: int
    label: str
    line: int
    meta: dict[str, Any]


@dataclass(slots=True)
class _Document:
    name: str | None
    line: int
    pieces: list[str] = field(default_factory=list)
    length: int = 0
    open: list[_Open] = field(default_factory=list)
    spans: list[_Span] = field(default_factory=list)
    id_from: int | None = None
    """Piece from which on the text is the document's id, while that element is open."""

    broken: bool = False
    """Whether a part of the text or a line ends before what comes next."""

    def add(self, text: str) -> None:
        if not text:
            return
        if not text[0].isspace():
            self.end_line()
        self.broken = False
        self.pieces.append(text)
        self.length += len(text)

    def end_line(self) -> None:
        """Write the end of a line that an element breaks, where no white space stands already."""
        if self.broken and self.pieces and not self.pieces[-1][-1:].isspace():
            self.pieces.append("\n")
            self.length += 1
        self.broken = False


class InlineReader(Reader):
    name = "inline"
    description = "tags in running text: ENAMEX, TIMEX and NUMEX of MUC, or <PER>…</PER>"
    suffixes = (".sgm", ".sgml", ".xml", ".txt")
    has_columns = True

    def recognise(self, source: Source) -> float:
        """Claim elements of MUC, XML with elements in running text, and lines whose other elements are closed on
        them."""
        head = source.head(*self.suffixes)
        if head.first_line.lstrip().startswith(("{", "[")):
            return 0.0
        lines = [line for line in head.lines if line.strip()][:SEEN_LINES]
        tags = [[tag for tag in TAG.finditer(line) if tag[2]] for line in lines]
        names = {tag[2].lower() for row in tags for tag in row}
        if names & MUC:
            return 0.95
        if "doc" not in names and not all(map(_balanced, tags)):
            return 0.7 if _is_marked_xml("\n".join(head.lines)) else 0.0
        pairs = (pair for line in lines for pair in PAIR.finditer(line))
        if any(local_name(pair[1]) not in STRUCTURE | HEADERS and pair[2].strip() for pair in pairs):
            return 0.7
        return 0.7 if _is_marked_xml("\n".join(head.lines)) else 0.0

    def read(self, source: Source, options: ReadOptions) -> Reading:
        """Read all documents of all files; `options.column` names the attribute that has the type.

        Raises:
            FormatError: with every problem found: tags that cross, that are not closed, not opened or not tags.
        """
        files = source.pick(*self.suffixes)
        builder = Builder(source.name)
        texts = [_plain(LINE_END.sub("\n", file.text())) for file in files]
        names = {tag[2].lower() for text in texts for tag in TAG.finditer(text) if tag[2]}
        by_element = "doc" in names or all(map(is_whole_document, texts))
        structure = structure_of_documents(texts) if by_element else _structure_of_lines(texts)
        if not names & MUC:
            _refuse_places(structure, files, texts)
        reader = _Reader(builder, str(options.column or TYPE).lower(), bool(names & MUC), structure, xml=by_element)
        for file, text in zip(files, texts, strict=True):
            reader.read_file(file, text, named=len(files) > 1)
        unknown = names - STRUCTURE - BLOCKS - HEADERS - TEI
        if by_element and unknown and not reader.has_spans and not builder.problems:
            listed = ", ".join(f"<{name}>" for name in sorted(unknown)[:SHOWN])
            finding = f"XML in which no element marks a piece of running text: {listed}"
            builder.problem(1, finding, "give text with an element around each mention", source=files[0].shown)
        notes = [*reader.notes(), *unread_files_note(source, files)]
        layer = builder.finish(options.name or source.label)
        return Reading(layer.documents, layer, self.name, tuple(notes), places=builder.places)


READER = InlineReader()


def _is_marked_xml(text: str) -> bool:
    """Tell whether the head of a file is that of XML, and elements stand in its running text."""
    first = next((tag for tag in TAG.finditer(text) if tag[2]), None)
    if "</" not in text or first is None or (text[: first.start()].strip() and not DECLARED.match(text)):
        return False
    structural = STRUCTURE | BLOCKS | HEADERS | LINE_BREAKS | TYPOGRAPHY | {"a", "html"}
    running = (local_name(pair[1] or pair[2]) for pair in RUNNING.finditer(text))
    if local_name(first[2]) in TEI and any(
        local_name(tag[2]) in TEI_NAMES | {"teiheader"} for tag in TAG.finditer(text) if tag[2]
    ):
        return True
    return any(name not in structural for name in running)


def _balanced(tags: Sequence[re.Match[str]]) -> bool:
    """Return whether the tags of a line close what they open, one within the other."""
    opened: list[str] = []
    for tag in tags:
        if tag[4] or tag[2].lower() in STRUCTURE:
            continue
        if not tag[1]:
            opened.append(tag[2])
        elif not opened or opened.pop() != tag[2]:
            return False
    return not opened


def _plain(text: str) -> str:
    """Return a text with references for the characters of CDATA sections, and without what a DOCTYPE declares."""
    if "<!" in text:
        text = CDATA.sub(lambda section: section[1].replace("&", "&amp;").replace("<", "&lt;"), text)
        text = DOCTYPE.sub(lambda declared: "<!DOCTYPE>" + "\n" * declared[0].count("\n"), text)
    return text


def _structure_of_lines(texts: Sequence[str]) -> Structure:
    return structure_of_lines(texts if len(texts) > 1 else texts[0].split("\n"))


def _refuse_places(structure: Structure, files: Sequence[SourceFile], texts: Sequence[str]) -> None:
    """Refuse elements that give the places of text which stands elsewhere.

    Raises:
        FormatError: there is one.
    """
    tag = structure.offsets
    if tag is not None:
        at = next(number for number, text in enumerate(texts) if text == tag.string)
        line = tag.string.count("\n", 0, tag.start()) + 1
        finding = (
            f"{quoted(tag[0])} gives the place of a mention by offsets, and this format has elements around mentions"
        )
        raise FormatError.single(files[at].shown, line, finding, "convert such stand-off annotation to brat or JSONL")


class _Reader:
    """Adds documents of files to a builder, and counts elements."""

    def __init__(self, builder: Builder, attribute: str, muc: bool, structure: Structure, *, xml: bool) -> None:
        self._builder = builder
        self._attribute = attribute
        self._muc = muc
        self._structure = structure
        self._xml = xml
        # The text between elements of MUC, and of <DOC>, is taken as it stands.
        self._breaks = xml and not muc and structure.document != "doc"
        self._document_name = structure.document
        self._outside = 0
        self._span_elements: Counter[str] = Counter()
        self._other_elements: Counter[str] = Counter()
        self._skipped_elements: Counter[str] = Counter()
        self._references = 0

    def notes(self) -> Iterator[str]:
        """Yield notes on the elements that are spans, those that are not, and references that stay as they are."""
        for what, counts in (
            ("elements taken for spans", self._span_elements),
            ("elements left out", self._other_elements),
            ("elements left out with their words", self._skipped_elements),
        ):
            if counts:
                yield f"{what}: {', '.join(f'{name} ({count})' for name, count in sorted(counts.items()))}"
        if self._outside:
            yield f"texts outside of <{self._document_name}>, left out: {self._outside}"
        if self._references:
            yield f"references to characters that are not known, kept as they stand: {self._references}"

    @property
    def has_spans(self) -> bool:
        """Whether an element was taken for a span."""
        return bool(self._span_elements)

    def read_file(self, file: SourceFile, text: str, *, named: bool) -> None:
        """Read a file: by its documents, else the whole of one `named` after the file or of XML, else by its lines."""
        self._shown = file.shown
        self._ends = [at for at, letter in enumerate(text) if letter == "\n"]
        self._document: _Document | None = None
        self._skipped: list[str] = []
        if self._document_name:
            self._read(text, 0, len(text))
            self._finish()
            return
        low = 0
        for high in [len(text)] if named or self._xml else [*self._ends, len(text)]:
            if text[low:high].strip():
                self._document = _Document(file.stem if named else None, self._line(low))
                self._read(text, low, high)
                self._finish()
            low = high + 1

    def _read(self, text: str, low: int, high: int) -> None:
        """Read a part of a text, which begins with no tag open."""
        at = low
        for tag in TAG.finditer(text, low, high):
            self._add(text, at, tag.start())
            at = tag.end()
            if tag[2]:
                self._take(tag)
        self._add(text, at, high)

    def _line(self, at: int) -> int:
        return bisect_right(self._ends, at - 1) + 1

    def _problem(self, line: int, finding: str, remedy: str) -> None:
        self._builder.problem(line, finding, remedy, source=self._shown)

    def _add(self, text: str, low: int, high: int) -> None:
        """Add text between two tags to the document, unless an element around it holds words that are not its own."""
        piece = text[low:high]
        if self._skipped or not piece:
            return
        for match in OPENED.finditer(piece):
            name = match[1].lower()
            if name in MUC or name == self._document_name or name in map(str.lower, self._span_elements):
                remedy = 'write <NAME>, <NAME TYPE="…"> or </NAME>, and &lt; for a < of the text'
                self._problem(self._line(low + match.start()), f"{quoted(piece[match.start() :])} is not a tag", remedy)
        if self._document is not None:
            self._document.add(REFERENCE.sub(self._character, piece))
        elif piece.strip() and self._document_name != "doc":
            self._outside += 1
        elif piece.strip():
            line = self._line(low + len(piece) - len(piece.lstrip()))
            self._problem(line, f"text outside of <DOC>: {quoted(piece.strip())}", "put it into a <DOC>, or delete it")

    def _character(self, reference: re.Match[str]) -> str:
        if reference[0][1] != "#" and reference[0][1:] not in html5:
            self._references += 1
            return reference[0]
        return unescape(reference[0])

    def _take(self, tag: re.Match[str]) -> None:
        """Take a tag: of a document, of its id, of a span, or one to leave out."""
        name, line = local_name(tag[2]), self._line(tag.start())
        document = self._document
        if self._skipped or (name in self._structure.skipped and name not in IDS and not self._muc):
            if not tag[1] and not self._skipped:
                self._skipped_elements[tag[2]] += 1
            self._skip(name, opening=not tag[1], empty=bool(tag[4]))
        elif name == self._document_name:
            if document is not None:
                self._finish(line if not tag[1] else None)
            elif tag[1]:
                self._problem(line, f"</{tag[2]}> closes nothing", f"open it by <{tag[2]}>, or delete it")
            if not tag[1]:
                attributes = _attributes(tag[3])
                keys = ("id", "xml:id", *IDS)
                self._document = _Document(next((attributes[key] for key in keys if attributes.get(key)), None), line)
        elif document is None:
            self._other_elements[tag[2]] += not tag[1]
        elif name in IDS:
            self._take_id(document, closing=bool(tag[1]))
        elif not self._is_span(name, tag):
            self._other_elements[tag[2]] += not tag[1]
            if name == "lb" or (self._breaks and name in BLOCKS | LINE_BREAKS | self._structure.parts - TYPOGRAPHY):
                document.broken = document.broken or 'break="no"' not in tag[0]
        elif tag[1]:
            self._close(document, tag[2], line)
        else:
            self._span_elements[tag[2]] += 1
            document.end_line()
            document.open.append(_Open(tag[2], line, document.length, _attributes(tag[3])))

    def _is_span(self, name: str, tag: re.Match[str]) -> bool:
        """Tell whether an element marks a mention: none that is empty does."""
        if tag[4]:
            return False
        if self._muc:
            return name in MUC
        if self._structure.tei and name not in TEI_NAMES:
            return False
        return name not in self._structure.parts

    def _skip(self, name: str, *, opening: bool, empty: bool) -> None:
        """Begin or end to leave out the words of an element, with those of the elements in it."""
        if opening and not empty:
            self._skipped.append(name)
        elif not opening and name in self._skipped:
            while self._skipped.pop() != name:
                pass

    def _take_id(self, document: _Document, *, closing: bool) -> None:
        """Take the text between the tags of an id out of the document's."""
        if not closing:
            document.id_from = len(document.pieces)
        elif document.id_from is not None:
            name = "".join(document.pieces[document.id_from :])
            del document.pieces[document.id_from :]
            document.length -= len(name)
            document.id_from = None
            document.name = document.name or name.strip() or None

    def _close(self, document: _Document, name: str, line: int) -> None:
        """Close an element, and complain of those within it that are open, or that there is none."""
        places = [at for at, element in enumerate(document.open) if element.name.lower() == name.lower()]
        if not places:
            self._problem(line, f"</{name}> closes nothing", f"open it by <{name}>, or delete it")
            return
        inner = document.open[-1]
        element = document.open.pop(places[-1])
        if element is not inner:
            finding = (
                f"</{name}> closes that of line {element.line}, and <{inner.name}> of line {inner.line} is open in it"
            )
            remedy = f"close <{inner.name}> first: tags cannot cross, spans of formats with offsets can"
            self._problem(line, finding, remedy)
        meta = dict(element.attributes)
        label = meta.pop(self._attribute, "").strip() or element.name
        if document.length <= element.start:
            self._problem(element.line, f"<{element.name}> holds no text", "delete it, or put it around its text")
            return
        document.spans.append(_Span(element.start, document.length, label, element.line, meta))

    def _finish(self, opened: int | None = None) -> None:
        """Add the document to those of the builder; `opened` is the line of a <DOC> that stands inside it."""
        document, self._document = self._document, None
        if document is None:
            return
        if opened is not None:
            name = self._document_name.upper() if self._document_name == "doc" else self._document_name
            self._problem(opened, f"<{name}> inside the one of line {document.line}", f"close that by </{name}> first")
        for element in document.open:
            otherwise = "" if self._document_name else ", or put each document into a <DOC>"
            remedy = f"close it by </{element.name}>{otherwise}"
            self._problem(element.line, f"<{element.name}> is not closed in its document", remedy)
        text = "".join(document.pieces)
        before = len(text) - len(text.lstrip())
        stripped = text.strip()
        self._builder.document(document.name, stripped, line=document.line, source=self._shown)
        for span in sorted(document.spans, key=lambda span: (span.start, -span.end)):
            start, end = (min(max(at - before, 0), len(stripped)) for at in (span.start, span.end))
            if start >= end:
                finding = f"an element of type {quoted(span.label)} holds nothing but white space"
                self._problem(span.line, finding, "delete it, or put it around its text")
                continue
            self._builder.span(start, end, span.label, line=span.line, meta=span.meta)


def _attributes(written: str) -> dict[str, str]:
    """Return the attributes of a tag, their names in small letters."""
    return {match[1].lower(): unescape(match[2] or match[3] or match[4] or "") for match in ATTRIBUTE.finditer(written)}
