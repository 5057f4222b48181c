"""Documents of BioC as they stand in a file, JSON or XML.

XML is read as the parser comes upon it, which tells the line of everything. A document type is passed over, as ordinary
files name one: `BioC.dtd`, which is never fetched.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import Annotated, Any, NoReturn
from xml.parsers.expat import XMLParserType

import msgspec
from msgspec import Meta, field

from nereval_core.problems import FormatError, Problem, quoted
from nereval_core.readers.input.source import SourceFile
from nereval_core.readers.shared.safe_xml import Attributes, Start, parse_blocks
from nereval_core.readers.shared.strict_json import Complain, id_string, items, json_type, typed
from nereval_core.readers.shared.tag_cells import is_named_like_prediction

FARTHEST_OFFSET = 10**12
UNKNOWN_OFFSET = -(10**13)
"""An offset of XML that is missing or wrong; its problem is reported when it is read."""
Offset = Annotated[int, Meta(ge=-FARTHEST_OFFSET, le=FARTHEST_OFFSET)]


class Location(msgspec.Struct, gc=False):
    """A piece of an annotation, as the file counts."""

    offset: Offset
    length: Offset


class BioCAnnotation(msgspec.Struct, rename={"line": "#line", "repeated": "#repeated"}):
    """An annotation with its pieces.

    `line` is known in XML alone, as `repeated`: keys of infons that stand again with another value; the first is kept.
    """

    id: str | None = None
    infons: dict[str, Any] = field(default_factory=dict)
    text: str | None = None
    locations: list[Location] = field(default_factory=list)
    # No JSON has these keys.
    line: int | None = None
    repeated: tuple[str, ...] = ()


class BioCPassage(msgspec.Struct, rename={"line": "#line"}):
    """A passage, or a sentence of one; `line` is known in XML alone."""

    offset: Offset
    text: str | None = None
    infons: dict[str, Any] = field(default_factory=dict)
    sentences: list[BioCPassage] = field(default_factory=list)
    annotations: list[BioCAnnotation] = field(default_factory=list)
    line: int | None = None


class BioCDocument(msgspec.Struct, rename={"source": "#source", "line": "#line"}):
    """A document; `line` is the one at which it begins in the file `source`, None where that is unknown."""

    id: str | None = None
    infons: dict[str, Any] = field(default_factory=dict)
    passages: list[BioCPassage] = field(default_factory=list)
    annotations: list[BioCAnnotation] = field(default_factory=list)
    source: str = ""
    line: int | None = None


COLLECTIONS = ("documents", "PubTator3")
"""Keys of the documents of a collection."""
DOCUMENT = "passages"
OWN = frozenset(("id", "infons", "passages", "annotations", "relations", "bioctype"))
"""Keys of a document that BioC has; services add others."""
ANNOTATIONS: Mapping[str, Any] = {"annotations": {}}
PARTS: Mapping[str, Any] = {"passages": {"sentences": ANNOTATIONS, **ANNOTATIONS}, **ANNOTATIONS}
"""The parts of a document by their keys, each with its own parts."""
LOCATIONS = "locations"
"""The list that each annotation has."""
REMEDY = "write it as the package bioc does"
OTHER_REMEDY = "name the keys of what it has: --keys records=documents.*,text=text,spans={}"


def documents_of_json(file: SourceFile, problems: list[Problem], counts: Counter[str]) -> list[BioCDocument]:
    """Return the documents of a file; problems are added to `problems`, items that are not read are counted.

    Raises:
        FormatError: not readable.
    """
    documents: list[BioCDocument] = []
    for line, row in items(file, problems):
        rows: list[tuple[int | None, Any]] = [(line, row)]
        if isinstance(row, dict) and DOCUMENT not in row:
            collection = next((row[key] for key in COLLECTIONS if isinstance(row.get(key), list)), None)
            if collection is None:
                problems.append(Problem(file.shown, line, "neither a collection nor a document", REMEDY))
                continue
            rows = [(None, document) for document in collection]
        for place, document in rows:
            name = quoted(id_string(document.get("id")) or "") if isinstance(document, dict) else "''"

            def complain(finding: str, remedy: str, name: str = name, place: int | None = place) -> None:
                problems.append(Problem(file.shown, place, f"document {name}: {finding}", remedy))

            documents += _document_of_json(document, file.shown, place, complain, counts)
    return documents


def _document_of_json(
    row: Any, source: str, line: int | None, complain: Complain, counts: Counter[str]
) -> list[BioCDocument]:
    """Return a document, nothing where it is not one."""
    if not isinstance(row, dict):
        complain(f"{json_type(row)} where a document should be", REMEDY)
        return []
    if DOCUMENT not in row and (other := next((key for key in row if type(row[key]) is list and key not in OWN), None)):
        complain(f"no {quoted(DOCUMENT)}, but {quoted(other)}, so that it is not BioC's", OTHER_REMEDY.format(other))
        return []
    _prepare(row, PARTS, counts)
    document = typed(row, BioCDocument, "", complain)
    if document is None:
        return []
    # Services tell journal and date beside what BioC has a place for.
    others = {key: value for key, value in row.items() if key not in OWN and type(value) in (str, int, float)}
    document.infons = {key: value for key, value in others.items() if not key.startswith("_")} | document.infons
    document.source, document.line = source, line
    return [document]


def _prepare(row: dict[str, Any], parts: Mapping[str, Any], counts: Counter[str]) -> None:
    """Bring a document, passage, sentence or annotation into the declared form, and count what is not read of it."""
    relations = row.pop("relations", None)
    if isinstance(relations, list):
        counts["relations, not read"] += len(relations)
    empty = []
    for key, value in row.items():
        # Empty objects are lists in PHP. An id may be empty, if only in what we wrote ourselves.
        if value is None or value == []:
            empty.append(key)
        elif type(value) is not list or key == LOCATIONS:
            continue
        elif is_named_like_prediction(key):
            counts[f"{quoted(key)}, called like predictions, not read"] += len(value)
        elif key in parts:
            for inner in value:
                if isinstance(inner, dict):
                    _prepare(inner, parts[key], counts)
    for key in empty:
        del row[key]
    if "id" in row and row["id"] != "":
        row["id"] = id_string(row["id"])


PARSED_BYTES = 1 << 20
"""Bytes that are parsed at once."""
WRONG_OFFSET = UNKNOWN_OFFSET - 1
"""A value that is not a number, whose problem was reported."""
PLAIN_DIGITS = 12
NUMBER = re.compile(r"\s*(-?[0-9]{1,12})\s*")
CHILDREN: Mapping[str, frozenset[str]] = {
    "": frozenset(("collection",)),
    "collection": frozenset(("source", "date", "key", "infon", "document")),
    "document": frozenset(("id", "infon", "passage", "annotation")),
    "passage": frozenset(("infon", "offset", "text", "sentence", "annotation")),
    "sentence": frozenset(("infon", "offset", "text", "annotation")),
    "annotation": frozenset(("infon", "location", "text")),
}
"""Children that are read of each element."""
LEAVES = frozenset(("source", "date", "key", "infon", "id", "offset", "text"))
RELATION = "relation"


def documents_of_xml(file: SourceFile, problems: list[Problem], counts: Counter[str]) -> list[BioCDocument]:
    """Return the documents of a file; problems are added to `problems`, items that are not read are counted.

    Raises:
        FormatError: the file is not readable.
    """
    tree = _Tree(file.shown, problems, counts)
    with file.stream() as stream:
        parse_blocks(iter(lambda: stream.read(PARSED_BYTES), b""), file.shown, problems, tree.listen)
    return tree.documents


class _Tree:
    """Builds documents from the events of the parser."""

    def __init__(self, source: str, problems: list[Problem], counts: Counter[str]) -> None:
        self.documents: list[BioCDocument] = []
        self._counts = counts
        self._key = ""
        self._leaf = ""
        self._open: list[tuple[str, Any]] = [("", None)]
        self._problems = problems
        self._source = source
        self._skipped = 0
        self._text: list[str] = []

    def listen(self, parser: XMLParserType) -> Start:
        self._parser = parser
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._data
        return self._start

    def _refuse(self, finding: str, remedy: str) -> NoReturn:
        raise FormatError.single(self._source, self._parser.CurrentLineNumber, finding, remedy)

    def _start(self, name: str, attributes: Attributes) -> None:
        if self._skipped:
            self._skipped += 1
            return
        if self._leaf:
            self._refuse(f"an element <{name}> inside <{self._leaf}>", "leave markup out of texts")
        within, owner = self._open[-1]
        if name not in CHILDREN[within]:
            if not within:
                self._refuse(f"an element <{name}> where <collection> should be", "give a collection of BioC")
            what = "relations" if name == RELATION else f"elements <{name[:40]}>"
            self._counts[f"{what}, not read"] += 1
            self._skipped = 1
        elif name in LEAVES:
            self._leaf = name
            self._text.clear()
            if name == "infon":
                self._key = attributes.get("key", "")
        elif name == "location":
            self._locate(owner, attributes)
        else:
            self._begin(name, owner, attributes)

    def _begin(self, name: str, owner: Any, attributes: Attributes) -> None:
        line = self._parser.CurrentLineNumber
        element: BioCAnnotation | BioCPassage | BioCDocument | None = None
        if name == "annotation":
            element = BioCAnnotation(attributes.get("id"), line=line)
            owner.annotations.append(element)
        elif name in ("passage", "sentence"):
            element = BioCPassage(UNKNOWN_OFFSET, line=line)
            (owner.passages if name == "passage" else owner.sentences).append(element)
        elif name == "document":
            element = BioCDocument(source=self._source, line=line)
            self.documents.append(element)
        self._open.append((name, element))

    def _end(self, name: str) -> None:
        if self._skipped:
            self._skipped -= 1
        elif self._leaf:
            self._leaf = ""
            self._fill(self._open[-1][1], name, "".join(self._text))
        elif name != "location":
            _, element = self._open.pop()
            if isinstance(element, BioCPassage) and element.offset == UNKNOWN_OFFSET:
                self._wrong(f"a {name} without an offset", "give it as an integer", element.line)

    def _data(self, text: str) -> None:
        if self._leaf:
            self._text.append(text)
        elif not self._skipped and not text.isspace():
            within = self._open[-1][0]
            self._refuse(f"{quoted(text.strip())} in <{within}>, where only elements may stand", REMEDY)

    def _fill(self, owner: Any, name: str, text: str) -> None:
        """Store the text of an element in its owner; None is the collection, of which nothing is kept."""
        if owner is None:
            return
        if name == "infon":
            if self._key in owner.infons:
                self._counts["further infons of one key, not read"] += 1
                if isinstance(owner, BioCAnnotation) and owner.infons[self._key] != text:
                    owner.repeated += (self._key,)
            owner.infons.setdefault(self._key, text)
        elif name == "text":
            if owner.text is not None:
                self._wrong("a second <text>", "write one")
            owner.text = text
        elif name == "id":
            owner.id = text
        elif name == "offset":
            owner.offset = self._number(text, "offset")

    def _locate(self, owner: BioCAnnotation, attributes: Attributes) -> None:
        start = self._number(attributes.get("offset", ""), "offset")
        length = self._number(attributes.get("length", ""), "length")
        if min(start, length) > UNKNOWN_OFFSET:
            owner.locations.append(Location(start, length))

    def _number(self, text: str, what: str) -> int:
        if text.isdecimal() and text.isascii() and len(text) <= PLAIN_DIGITS:
            return int(text)
        if match := NUMBER.fullmatch(text):
            return int(match[1])
        self._wrong(f"the {what} {quoted(text)} is not an integer", "write a plain integer")
        return WRONG_OFFSET

    def _wrong(self, finding: str, remedy: str, line: int | None = None) -> None:
        self._problems.append(Problem(self._source, line or self._parser.CurrentLineNumber, finding, remedy))
