"""Documents of BioC XML, read as the parser comes upon them, which tells the line of everything.

The parser is defusedxml's: a document type is passed over, as ordinary files name one (`BioC.dtd`, which is never
fetched), and entities that a file declares are refused. So are references to undeclared ones, which a parser that does
not read the document type may leave out without a word, and all offsets behind them would be wrong.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any
from xml.parsers.expat import ExpatError

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import DefusedXMLParser

from nereval_core.problems import Problem, quoted
from nereval_core.readers.bioc.documents import UNKNOWN_OFFSET, BioCAnnotation, BioCDocument, BioCPassage
from nereval_core.readers.input.source import SourceFile

PARSED_BYTES = 1 << 20
"""Bytes that are parsed at once."""
WRONG_OFFSET = UNKNOWN_OFFSET - 1
"""A number that is none, whose problem was reported."""
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
REMEDY = "write it as the package bioc does"


class _RefusedError(Exception):
    """XML that is refused: finding and remedy."""


def documents_of_xml(file: SourceFile, problems: list[Problem], counts: Counter[str]) -> list[BioCDocument]:
    """Return the documents of a file; problems are added to `problems`, items that are not read are counted.

    Raises:
        FormatError: the file is not readable.
    """
    # Of the tree that it would build nothing is wanted: its parser, made safe, drives ours.
    parser = DefusedXMLParser(target=object()).parser
    tree = _Tree(parser, file.shown, problems, counts)
    try:
        with file.stream() as stream:
            while block := stream.read(PARSED_BYTES):
                parser.Parse(block, False)
        parser.Parse(b"", True)
    except _RefusedError as error:
        problems.append(Problem(file.shown, parser.CurrentLineNumber, *error.args))
    except DefusedXmlException:
        found = "entities are declared, which BioC has none of"
        problems.append(Problem(file.shown, parser.CurrentLineNumber, found, "write the characters themselves"))
    except ExpatError as error:
        found = f"not XML: {str(error).partition(':')[0]} at column {error.offset + 1}"
        problems.append(Problem(file.shown, error.lineno, found, REMEDY))
    except (ValueError, LookupError) as error:
        problems.append(Problem(file.shown, None, f"not XML: {error}", "save the file as UTF-8"))
    return tree.handed_over()


class _Tree:
    """Builds documents from the events of the parser."""

    def __init__(self, parser: Any, shown: str, problems: list[Problem], counts: Counter[str]) -> None:
        self.documents: list[BioCDocument] = []
        self._counts = counts
        self._key = ""
        self._leaf = ""
        self._open: list[tuple[str, Any]] = [("", None)]
        self._parser = parser
        self._problems = problems
        self._shown = shown
        self._skipped = 0
        self._text: list[str] = []
        parser.buffer_text = True
        parser.ordered_attributes = False
        parser.DefaultHandlerExpand = None
        parser.SkippedEntityHandler = self._undeclared
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._data

    def handed_over(self) -> list[BioCDocument]:
        """Return the documents, and keep none: handlers and parser refer to each other, and are freed late."""
        documents, self.documents = self.documents, []
        self._open.clear()
        return documents

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if self._skipped:
            self._skipped += 1
            return
        if self._leaf:
            raise _RefusedError(f"an element <{name}> inside <{self._leaf}>", "leave markup out of texts")
        within, owner = self._open[-1]
        if name not in CHILDREN[within]:
            if not within:
                raise _RefusedError(f"an element <{name}> where <collection> should be", "give a collection of BioC")
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

    def _begin(self, name: str, owner: Any, attributes: dict[str, str]) -> None:
        line = self._parser.CurrentLineNumber
        made: BioCAnnotation | BioCPassage | BioCDocument | None = None
        if name == "annotation":
            made = BioCAnnotation(attributes.get("id"), line)
            owner.annotations.append(made)
        elif name in ("passage", "sentence"):
            made = BioCPassage(line)
            (owner.passages if name == "passage" else owner.sentences).append(made)
        elif name == "document":
            made = BioCDocument(self._shown, line)
            self.documents.append(made)
        self._open.append((name, made))

    def _end(self, name: str) -> None:
        if self._skipped:
            self._skipped -= 1
        elif self._leaf:
            self._leaf = ""
            self._fill(self._open[-1][1], name, "".join(self._text))
        elif name != "location":
            _, made = self._open.pop()
            if isinstance(made, BioCPassage) and made.offset == UNKNOWN_OFFSET:
                self._wrong(f"a {name} without an offset", "give it as an integer", made.line)

    def _data(self, text: str) -> None:
        if self._leaf:
            self._text.append(text)
        elif not self._skipped and not text.isspace():
            within = self._open[-1][0]
            raise _RefusedError(f"{quoted(text.strip())} in <{within}>, where only elements may stand", REMEDY)

    def _undeclared(self, name: str, is_parameter: bool) -> None:
        if not is_parameter:
            raise _RefusedError(f"an entity &{name};, which nothing declares", "write the character itself")

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

    def _locate(self, owner: BioCAnnotation, attributes: dict[str, str]) -> None:
        start = self._number(attributes.get("offset", ""), "offset")
        length = self._number(attributes.get("length", ""), "length")
        if min(start, length) > UNKNOWN_OFFSET:
            owner.locations.append((start, length))

    def _number(self, text: str, what: str) -> int:
        if text.isdecimal() and text.isascii() and len(text) <= PLAIN_DIGITS:
            return int(text)
        found = NUMBER.fullmatch(text)
        if found:
            return int(found[1])
        self._wrong(f"the {what} {quoted(text)} is not an integer", "write a plain integer")
        return WRONG_OFFSET

    def _wrong(self, found: str, remedy: str, line: int | None = None) -> None:
        self._problems.append(Problem(self._shown, line or self._parser.CurrentLineNumber, found, remedy))
