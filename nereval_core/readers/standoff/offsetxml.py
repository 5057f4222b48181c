"""XML with a text and, apart from it, elements that give places in it: i2b2 2014 and MAE, and documents of GATE.

- i2b2 2014 (de-identification) and MAE: `<TEXT>` holds the text, each element of `<TAGS>` a span, from `start` to `end`
  or at `spans="0~3,5~8"`. The type is the attribute TYPE, else the element's name.
- GATE (`GateDocument`): `<TextWithNodes>` holds the text with a `<Node>` at each place, each `<Annotation>` a span from
  one to another. Annotation sets are layers. What GATE's own tools mark, tokens and sentences among it, is left out.

A file is a document.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from xml.parsers.expat import XMLParserType

from nereval_core.corpus.builder import Builder
from nereval_core.problems import FormatError, Problem, ProblemList, quoted
from nereval_core.readers import Reader, Reading, ReadOptions, Source, select_layer
from nereval_core.readers.input.source import SourceFile, unread_files_note
from nereval_core.readers.shared.annotation_keys import OF_GATE
from nereval_core.readers.shared.offset_conversion import reading_in_code_points
from nereval_core.readers.shared.offset_units import Offsets
from nereval_core.readers.shared.safe_xml import Attributes, Start, parse_xml

BEFORE = r"(?><\?.*?\?>|<!--.*?-->|\s++)*+"
TAGGED = re.compile(BEFORE + r"<[\w.-]+>\s*<TEXT>", re.DOTALL)
GATE = re.compile(BEFORE + r"<GateDocument[\s>]", re.DOTALL)
NUMBER = re.compile(r"-?[0-9]{1,12}")
PAIRS = re.compile(r"-?[0-9]{1,12}~-?[0-9]{1,12}(?:,-?[0-9]{1,12}~-?[0-9]{1,12}){0,99}")
TYPE = "TYPE"
NO_METADATA = frozenset(("start", "end", "spans", "text", "id"))
LINKED = frozenset(("fromID", "toID"))
DEFAULT_SET = "default"
"""The name of GATE's annotation set without one."""
MARKUP_SET = "Original markups"


@dataclass(slots=True)
class _Span:
    """A span as it stands in the file: `parts` are starts and ends, `group` is its annotation set."""

    line: int
    label: str
    parts: tuple[tuple[int, int], ...]
    quote: str | None = None
    id: str | None = None
    group: str = ""
    meta: dict[str, Any] = field(default_factory=dict)


class OffsetXmlReader(Reader):
    name = "offsetxml"
    description = "XML with a text and places in it: i2b2 2014, MAE, GATE"
    suffixes = (".xml", ".gate")
    has_columns = True
    has_layers = True

    def recognise(self, source: Source) -> float:
        """Claim XML with `<TEXT>` first in its root, and documents of GATE."""
        text = source.head(*self.suffixes).text
        return 1.0 if GATE.match(text) or (TAGGED.match(text) and "<!DOCTYPE" not in text[:1000]) else 0.0

    def layers(self, source: Source, options: ReadOptions) -> tuple[str, ...]:
        """Return the annotation sets of GATE that hold spans.

        Raises:
            FormatError: not readable.
        """
        documents, _ = _documents(source, options)
        return _sets(documents)

    def read(self, source: Source, options: ReadOptions) -> Reading:
        """Read all files; `options.column` names the attribute, or in GATE the feature, that has the type.

        Raises:
            FormatError: with every problem found; several annotation sets, and none is named.
        """
        documents, counts = _documents(source, options)
        layer = select_layer(source, options.layer, names) if (names := _sets(documents)) else None
        if layer is None and options.layer is not None:
            select_layer(source, options.layer, (DEFAULT_SET,))
        builder = Builder(source.name)
        for document in documents:
            builder.document(document.file.stem, "".join(document.pieces), source=document.file.shown)
            for span in document.spans:
                if layer is None or span.group == layer:
                    _add(span, builder)
        notes = [f"{what}: {count}" for what, count in sorted(counts.items()) if count]
        notes += unread_files_note(source, [document.file for document in documents])
        if names:
            # The places of nodes need no unit.
            layer_read = builder.finish(options.name or source.label)
            return Reading(layer_read.documents, layer_read, self.name, tuple(notes), places=builder.places)
        return reading_in_code_points(
            builder, source, options, self.name, expected=Offsets(), fixed=False, alike=_alike, notes=notes
        )


READER = OffsetXmlReader()


def _add(span: _Span, builder: Builder) -> None:
    single = len(span.parts) == 1
    builder.span(
        span.parts[0][0],
        span.parts[-1][1],
        span.label,
        line=span.line,
        # MAE writes " ... " between the pieces of a quote.
        quote=span.quote if single else None,
        fragments=() if single else span.parts,
        id=span.id,
        meta=span.meta,
    )


def _documents(source: Source, options: ReadOptions) -> tuple[list[_Document], Counter[str]]:
    """Return the documents of a source, and what was left out of them.

    Raises:
        FormatError: with every problem found.
    """
    problems, counts = ProblemList(), Counter[str]()
    column = None if options.column is None else str(options.column)
    documents = [_Document(file, column, counts, problems) for file in source.pick(*OffsetXmlReader.suffixes)]
    for document in documents:
        document.parse(document.file.read())
    if problems:
        raise FormatError(problems)
    return documents, counts


def _sets(documents: Sequence[_Document]) -> tuple[str, ...]:
    """Return the annotation sets of GATE's documents, nothing of others."""
    return tuple(dict.fromkeys(span.group for document in documents for span in document.spans if span.group))


@dataclass(slots=True)
class _Document:
    """A file as it is read: its `pieces` of text and its spans; `column` names what has the type.

    `open` are the elements around, `nodes` the places of GATE's nodes, `group` its annotation set, `span` its
    annotation and `feature` the name or value that are being read.
    """

    file: SourceFile
    column: str | None
    counts: Counter[str]
    problems: ProblemList
    pieces: list[str] = field(default_factory=list)
    spans: list[_Span] = field(default_factory=list)
    open: list[str] = field(default_factory=list)
    length: int = 0
    nodes: dict[str, int] = field(default_factory=dict)
    group: str = ""
    span: _Span | None = None
    feature: list[str] = field(default_factory=list)
    feature_name: str = ""
    has_text: bool = False

    def parse(self, raw: bytes) -> None:
        before = len(self.problems)
        parse_xml(raw, self.file.shown, self.problems, self._listen)
        self.pieces, self.nodes = ["".join(self.pieces)], {}
        if not self.has_text and len(self.problems) == before:
            finding, remedy = "no <TEXT> and no <TextWithNodes>", "give i2b2 2014, MAE or a document of GATE"
            raise FormatError.single(self.file.shown, None, finding, remedy)

    def _listen(self, parser: XMLParserType) -> Start:
        def start(name: str, attributes: Attributes) -> None:
            self._start(name, attributes, parser.CurrentLineNumber)
            self.open.append(name)

        parser.EndElementHandler, parser.CharacterDataHandler = self._end, self._characters
        return start

    def _start(self, name: str, attributes: Attributes, line: int) -> None:
        parent = self.open[-1] if self.open else ""
        if name in ("TEXT", "TextWithNodes"):
            self.has_text = True
        elif name == "Node" and parent == "TextWithNodes":
            self.nodes[attributes.get("id", "")] = self.length
        elif name == "AnnotationSet":
            self.group = attributes.get("Name", "") or DEFAULT_SET
        elif name == "Annotation" and parent == "AnnotationSet":
            self._annotation(attributes, line)
        elif name in ("Name", "Value") and parent == "Feature":
            self.feature.clear()
        elif "TAGS" in self.open:
            self._tag(name, attributes, line)

    def _end(self, name: str) -> None:
        self.open.pop()
        if self.span is None:
            return
        value = "".join(self.feature)
        if name == "Name":
            self.feature_name = value
        elif name == "Value":
            self.span.meta[self.feature_name] = value
        elif name == "Annotation":
            label = self.span.meta.pop(self.column, "") if self.column else self.span.label
            if label:
                self.span.label = label
                self.spans.append(self.span)
            else:
                self.counts[f"annotations without the feature {quoted(self.column or '')}, left out"] += 1
            self.span = None

    def _characters(self, text: str) -> None:
        inside = self.open[-1] if self.open else ""
        if inside in ("TEXT", "TextWithNodes"):
            self.pieces.append(text)
            self.length += len(text)
        elif inside in ("Name", "Value"):
            self.feature.append(text)

    def _annotation(self, attributes: Attributes, line: int) -> None:
        """Begin an annotation of GATE, unless it is of a kind that is left out."""
        label = attributes.get("Type", "")
        if label in OF_GATE or self.group == MARKUP_SET:
            self.counts["annotations of GATE's tools and markup, left out"] += 1
            return
        ends = [self.nodes.get(attributes.get(side, "")) for side in ("StartNode", "EndNode")]
        if ends[0] is None or ends[1] is None:
            finding = f"an annotation {quoted(label)} at a node that the text has not"
            self.problems.append(Problem(self.file.shown, line, finding, "save the document again in GATE"))
        elif ends[0] == ends[1]:
            self.counts["empty annotations, left out"] += 1
        else:
            parts = ((ends[0], ends[1]),)
            self.span = _Span(line, label, parts, id=attributes.get("Id"), group=self.group)

    def _tag(self, name: str, attributes: Attributes, line: int) -> None:
        """Add an element of TAGS."""
        places = attributes.get("spans")
        if places is None and attributes.keys() >= {"start", "end"}:
            places = f"{attributes['start']}~{attributes['end']}"
        if places is None:
            kind = "links between spans" if attributes.keys() & LINKED else "elements without a place"
            self.counts[f"{kind}, not read"] += 1
            return
        if not PAIRS.fullmatch(places):
            finding = f"<{name}> stands at {quoted(places.replace('~', ' to '))}"
            self.problems.append(Problem(self.file.shown, line, finding, "write start and end as numbers"))
            return
        numbers = [int(number) for number in NUMBER.findall(places.replace("~", " "))]
        parts = tuple(zip(numbers[::2], numbers[1::2], strict=True))
        if parts[0][0] < 0:
            self.counts["elements without a place, not read"] += 1
            return
        label = attributes.get(self.column or TYPE, "")
        if not label and self.column:
            self.counts[f"elements without the attribute {quoted(self.column)}, left out"] += 1
            return
        meta = {
            key: value
            for key, value in attributes.items()
            if value and key not in NO_METADATA and key != (self.column or TYPE)
        }
        meta |= {"element": name} if label and label != name else {}
        span = _Span(line, label or name, parts, attributes.get("text"), attributes.get("id"), meta=meta)
        self.spans.append(span)


def _alike(quote: str) -> str:
    """Return a quote with a blank for each character of white space, as attributes of XML have them."""
    return re.sub(r"\s", " ", quote)
