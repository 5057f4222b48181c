"""TEI whose spans stand apart from the text: `<span target="#w1 #w2" ana="#PER"/>`, by the ids of elements in it.

Read are `<span>` and `<annotation>`, in a `<spanGrp>`, a `<standOff>` or elsewhere. They name elements of the text by
`target`, or the first and the last by `from` and `to`. The type is the last part of `ana`, else `type`, else what
stands in the span, else the type of its group. Groups of several types are layers. A `<TEI>` is a document, its text
what `<text>` holds: each `<p>`, `<s>`, `<l>` and the like on a line, white space as one blank, none by `join`.
Names in running text are read as `inline`. See the TEI Guidelines, chapter 17.3, "Spans and Interpretations".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from xml.parsers.expat import XMLParserType

from nereval_core.corpus.builder import Builder
from nereval_core.problems import FormatError, Problem, ProblemList, quoted
from nereval_core.readers import Reader, Reading, ReadOptions, Source, select_layer
from nereval_core.readers.input.source import SourceFile, unread_files_note
from nereval_core.readers.shared.safe_xml import Attributes, Start, parse_xml

APART = re.compile(r"<(?:\w+:)?(?:span|annotation)\b[^<>]*?\s(?:target|from)\s*=")
ROOT = re.compile(r"<(?:\w+:)?(?:TEI|teiCorpus)[\s>]")
BETWEEN_WORDS = re.compile(rb"</(?:\w+:)?(?:w|pc)>\s+<")
ID = "http://www.w3.org/XML/1998/namespace id"
SPANS = ("span", "annotation")
GROUPS = ("spanGrp", "listAnnotation")
LINES = frozenset(("p", "s", "l", "u", "ab", "head", "item", "div", "lg", "row", "cell", "note", "speaker", "stage"))
WORDS = ("w", "pc")
MOST_BYTES = 1 << 24
"""The largest file that is looked through for spans behind its text."""


@dataclass(slots=True)
class _Span:
    line: int
    attributes: Attributes
    group: str
    words: str = ""


@dataclass(slots=True)
class _Document:
    file: SourceFile
    line: int
    id: str
    text: str = ""
    places: dict[str, tuple[int, int]] = field(default_factory=dict)
    spans: list[_Span] = field(default_factory=list)


class TeiReader(Reader):
    name = "tei"
    description = "TEI with spans apart from the text, which name elements in it"
    suffixes = (".xml", ".tei")
    has_layers = True

    def recognise(self, source: Source) -> float:
        """Claim TEI with spans that point at something."""
        file = source.pick(*self.suffixes)[0]
        head = source.head_of(file).text
        if not ROOT.search(head):
            return 0.0
        is_cut = "</TEI>" not in head and file.origin.size() <= MOST_BYTES
        return 1.0 if APART.search(file.load(-1).decode(errors="replace") if is_cut else head) else 0.0

    def layers(self, source: Source, options: ReadOptions) -> tuple[str, ...]:
        """Return the types of groups of spans, nothing where they are of one.

        Raises:
            FormatError: not readable.
        """
        return _groups(_documents(source))

    def read(self, source: Source, options: ReadOptions) -> Reading:
        """Read all documents of all files.

        Raises:
            FormatError: with every problem found; several groups of spans, and none is named.
        """
        documents = _documents(source)
        names = _groups(documents)
        group = select_layer(source, options.layer, names) if names else None
        if group is None and options.layer is not None:
            select_layer(source, options.layer, ())
        builder = Builder(source.name)
        for document in documents:
            builder.document(document.id, document.text, line=document.line, source=document.file.shown)
            for span in document.spans:
                if group is None or span.group == group:
                    _add(span, document, builder)
        layer = builder.finish(options.name or source.label)
        notes = unread_files_note(source, list({document.file: None for document in documents}))
        return Reading(layer.documents, layer, self.name, tuple(notes), places=builder.places)


READER = TeiReader()


def _groups(documents: Sequence[_Document]) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(span.group for document in documents for span in document.spans))
    return names if len(names) > 1 else ()


def _documents(source: Source) -> list[_Document]:
    """Return the documents of all files.

    Raises:
        FormatError: with every problem found.
    """
    problems = ProblemList()
    documents: list[_Document] = []
    for file in source.pick(*TeiReader.suffixes):
        parse = _Parse(file, documents)
        raw = file.read()
        parse.has_blanks = BETWEEN_WORDS.search(raw) is not None
        parse_xml(raw, file.shown, problems, parse.listen)
    if not problems and not documents:
        problems.append(Problem(source.name, None, "no <TEI> in it", "give TEI, or name another format"))
    if problems:
        raise FormatError(problems)
    return documents


def _add(span: _Span, document: _Document, builder: Builder) -> None:
    """Add a span at the elements that it names; problems go to the builder."""
    attributes = span.attributes
    keys = tuple(key for key in ("from", "to") if key in attributes) or ("target",)
    names = [name.lstrip("#") for key in keys for name in attributes.get(key, "").split()]
    places = [document.places[name] for name in names if name in document.places]
    if len(places) < len(names) or not places:
        unknown = next((name for name in names if name not in document.places), "")
        finding = f"a span at {quoted(unknown)}, which is no element with words in the text"
        remedy = 'name elements by xml:id: target="#w1 #w2"'
        builder.problem(span.line, finding, remedy, source=document.file.shown)
        return
    fragments = [min(places)] if keys == ("target",) else [(min(places)[0], max(end for _, end in places))]
    for start, end in sorted(places)[1:] if keys == ("target",) else ():
        low, high = fragments[-1]
        if document.text[high:start].strip():
            fragments.append((start, end))
        else:
            fragments[-1] = (low, max(high, end))
    label = (
        re.split("[#:]", attributes.get("ana", "").split(" ")[0])[-1] or attributes.get("type") or span.words.strip()
    )
    builder.span(
        fragments[0][0],
        fragments[-1][1],
        label or span.group,
        line=span.line,
        source=document.file.shown,
        fragments=tuple(fragments) if len(fragments) > 1 else (),
        id=attributes.get(ID),
    )


class _Parse:
    """Reads a file into documents; `has_blanks` says that white space stands between its words."""

    def __init__(self, file: SourceFile, documents: list[_Document]) -> None:
        self._file = file
        self._documents = documents
        self.has_blanks = False
        self._open: list[tuple[str, str]] = []
        self._starts: list[int | None] = []
        self._pieces: list[str] = []
        self._size = 0
        self._blank = ""
        self._in_text = 0
        self._groups = [""]
        self._span: _Span | None = None

    def listen(self, parser: XMLParserType) -> Start:
        def start(name: str, attributes: Attributes) -> None:
            self._start(name.rpartition(" ")[2], attributes, parser.CurrentLineNumber)

        parser.EndElementHandler, parser.CharacterDataHandler = self._end, self._characters
        return start

    def _start(self, name: str, attributes: Attributes, line: int) -> None:
        if name == "TEI":
            name_of_file = self._file.stem if not any(self._file is each.file for each in self._documents) else ""
            id = attributes.get(ID) or name_of_file or f"{self._file.stem}/{len(self._documents) + 1}"
            self._documents.append(_Document(self._file, line, id))
            self._pieces, self._size, self._blank = [], 0, ""
        elif name in GROUPS:
            self._groups.append(attributes.get("type", ""))
        elif name in SPANS and self._documents and attributes.keys() & {"target", "from"}:
            self._span = _Span(line, attributes, self._groups[-1])
            self._documents[-1].spans.append(self._span)
        self._in_text += name == "text"
        self._separate(name, attributes.get("join", ""), ("left", "both"))
        self._open.append((attributes.get(ID, ""), attributes.get("join", "")))
        self._starts.append(None)

    def _end(self, name: str) -> None:
        name = name.rpartition(" ")[2]
        id, join = self._open.pop()
        start = self._starts.pop()
        if start is not None and id and self._in_text:
            self._documents[-1].places[id] = (start, self._size)
        self._in_text -= name == "text"
        if name in GROUPS:
            self._groups.pop()
        elif name in SPANS:
            self._span = None
        elif name == "TEI":
            self._documents[-1].text = "".join(self._pieces)
        self._separate(name, join, ("right", "both"))

    def _separate(self, name: str, join: str, joined: Sequence[str]) -> None:
        """Note what stands between the words before and behind the edge of an element."""
        if name in LINES:
            self._blank = "\n"
        elif join in joined:
            self._blank = "joined"
        elif name == "w" and not self.has_blanks:
            self._blank = self._blank or " "

    def _characters(self, text: str) -> None:
        if self._span is not None:
            self._span.words += text
        elif self._in_text and self._documents:
            self._blank = self._blank or (" " if text[0].isspace() else "")
            for number, word in enumerate(text.split()):
                self._add_word(word, " " if number else self._blank)
            if not text.isspace():
                self._blank = " " if text[-1].isspace() else ""

    def _add_word(self, word: str, blank: str) -> None:
        blank = blank if self._size and blank != "joined" else ""
        self._pieces += [blank, word]
        self._size += len(blank)
        self._starts = [self._size if start is None else start for start in self._starts]
        self._size += len(word)
