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
from xml.etree.ElementTree import Element

from nereval_core.corpus.builder import Builder
from nereval_core.problems import FormatError, Problem, ProblemList, quoted
from nereval_core.readers import Reader, Reading, ReadOptions, Source, select_layer
from nereval_core.readers.input.source import SourceFile, unread_files_note
from nereval_core.readers.shared.annotation_keys import OF_GATE
from nereval_core.readers.shared.offset_conversion import reading_in_code_points
from nereval_core.readers.shared.offset_units import Offsets
from nereval_core.readers.shared.safe_xml import LINE, parse_elements

BEFORE = r"(?><\?.*?\?>|<!--.*?-->|\s++)*+"
TAGGED = re.compile(BEFORE + r"<[\w.-]+>\s*<TEXT>", re.DOTALL)
GATE = re.compile(BEFORE + r"<GateDocument[\s>]", re.DOTALL)
NUMBER = re.compile(r"-?[0-9]{1,12}")
PAIRS = re.compile(r"-?[0-9]{1,12}~-?[0-9]{1,12}(?:,-?[0-9]{1,12}~-?[0-9]{1,12}){0,99}")
TYPE = "TYPE"
NO_METADATA = ("start", "end", "spans", "text", "id", LINE)
LINKED = frozenset(("fromID", "toID"))
ELSEWHERE = "elements without a place"
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
            builder.document(document.file.stem, document.text or "", source=document.file.shown)
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
    """A file as it is read; `column` names what has the type, `nodes` are the places of GATE's nodes."""

    file: SourceFile
    column: str | None
    counts: Counter[str]
    problems: ProblemList
    text: str | None = None
    nodes: dict[str | None, int] = field(default_factory=dict)
    spans: list[_Span] = field(default_factory=list)

    def parse(self, raw: bytes) -> None:
        take = {"TEXT": self._text, "TextWithNodes": self._text, "TAGS": self._tags, "AnnotationSet": self._annotations}
        try:
            parse_elements(raw, self.file.shown, tuple(take), lambda element: take[element.tag](element))
        except FormatError as error:
            self.problems += error.problems
        else:
            if self.text is None:
                self._complain(None, "no <TEXT> and no <TextWithNodes>", "give i2b2 2014, MAE or a document of GATE")

    def _complain(self, element: Element | None, finding: str, remedy: str) -> None:
        line = None if element is None else int(element.attrib[LINE])
        self.problems.append(Problem(self.file.shown, line, finding, remedy))

    def _text(self, element: Element) -> None:
        pieces = [element.text or ""]
        length = len(pieces[0])
        for node in element:
            self.nodes[node.get("id")] = length
            pieces.append("".join(node.itertext()) + (node.tail or ""))
            length += len(pieces[-1])
        self.text = "".join(pieces)

    def _annotations(self, group: Element) -> None:
        """Add the annotations of a set of GATE, but for those of kinds that are left out."""
        name = group.get("Name") or DEFAULT_SET
        for each in group.iterfind("Annotation"):
            label = each.get("Type", "")
            ends = [self.nodes.get(each.get(side)) for side in ("StartNode", "EndNode")]
            if label in OF_GATE or name == MARKUP_SET:
                self.counts["annotations of GATE's tools and markup, left out"] += 1
            elif ends[0] is None or ends[1] is None:
                finding = f"an annotation {quoted(label)} at a node that the text has not"
                self._complain(each, finding, "save the document again in GATE")
            elif ends[0] == ends[1]:
                self.counts["empty annotations, left out"] += 1
            else:
                features = each.iterfind("Feature")
                meta = {feature.findtext("Name", ""): feature.findtext("Value", "") for feature in features}
                label = meta.pop(self.column, "") if self.column else label
                if label:
                    parts = ((ends[0], ends[1]),)
                    self.spans.append(_Span(int(each.attrib[LINE]), label, parts, None, each.get("Id"), name, meta))
                else:
                    self.counts[f"annotations without the feature {quoted(self.column or '')}, left out"] += 1

    def _tags(self, tags: Element) -> None:
        """Add the elements of TAGS."""
        key = self.column or TYPE
        for each in tags.iterfind(".//*"):
            places = each.get("spans")
            if places is None and {"start", "end"} <= each.attrib.keys():
                places = f"{each.attrib['start']}~{each.attrib['end']}"
            if places is None or (PAIRS.fullmatch(places) and places.startswith("-")):
                kind = "links between spans" if places is None and LINKED & each.attrib.keys() else ELSEWHERE
                self.counts[f"{kind}, not read"] += 1
            elif not PAIRS.fullmatch(places):
                finding = f"<{each.tag}> stands at {quoted(places.replace('~', ' to '))}"
                self._complain(each, finding, "write start and end as numbers")
            elif not (label := each.get(key, "")) and self.column:
                self.counts[f"elements without the attribute {quoted(self.column)}, left out"] += 1
            else:
                numbers = [int(number) for number in NUMBER.findall(places.replace("~", " "))]
                parts = tuple(zip(numbers[::2], numbers[1::2], strict=True))
                meta = {name: value for name, value in each.items() if value and name not in {*NO_METADATA, key}}
                meta |= {"element": each.tag} if label and label != each.tag else {}
                quote, line = each.get("text"), int(each.attrib[LINE])
                self.spans.append(_Span(line, label or each.tag, parts, quote, each.get("id"), meta=meta))


def _alike(quote: str) -> str:
    """Return a quote with a blank for each character of white space, as attributes of XML have them."""
    return re.sub(r"\s", " ", quote)
