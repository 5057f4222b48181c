"""Parse XML from any source safely: document types or entities are refused, and nothing is fetched."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NoReturn, TypeVar
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers.expat import ExpatError, ParserCreate, XMLParserType

from nereval_core.problems import FormatError, Problem

Attributes = dict[str, str]
Start = Callable[[str, Attributes], None]
"""Handler of the start of an element: its name, "namespace name", and its attributes, named likewise."""
Listen = Callable[[XMLParserType], Start]
"""Sets the other handlers of a parser and returns the one for starts of elements."""

Item = TypeVar("Item")
LINE = " line"
"""Of elements that `parse_elements` reads: an attribute that no XML can have."""
VERSION_1_1 = re.compile(rb"""(?:\xef\xbb\xbf)?<\?xml[ \t\r\n]+version[ \t\r\n]*=[ \t\r\n]*["']1\.1["']""")
REFERENCE = re.compile(rb"&#(?:x([0-9a-fA-F]{1,8})|([0-9]{1,8}));")
CONTROLS = range(1, 32)
"""The control characters that XML 1.1 can write and the parser, made for XML 1.0, refuses, and white space."""
WHITE_SPACE = (9, 10, 13)
BLOCKS = (0xFDD0, *range(0xE000, 0xF8E0, 32))
"""First code points of ranges of 32 that may be free to stand for these: noncharacters and private use."""
EXPORT_AGAIN = "export the file again"
HANDLERS = (
    *("StartElementHandler", "EndElementHandler", "CharacterDataHandler"),
    *("StartDoctypeDeclHandler", "EntityDeclHandler", "AttlistDeclHandler", "SkippedEntityHandler"),
)


def parse_xml(raw: bytes, source: str, problems: list[Problem], listen: Listen) -> None:
    """Parse XML 1.0 or 1.1 without a document type; problems are added to `problems`."""
    stand_ins: Mapping[int, int] = {}
    if VERSION_1_1.match(raw):
        raw, stand_ins = _without_controls(raw)

    def listen_to_all(parser: XMLParserType) -> Start:
        start = listen(parser)

        def refuse_document_type(*_: object) -> NoReturn:
            finding, remedy = (
                "a document type declaration, which no export has",
                "leave it out: nothing is declared or fetched",
            )
            raise FormatError.single(source, parser.CurrentLineNumber, finding, remedy)

        parser.StartDoctypeDeclHandler = refuse_document_type

        def started(name: str, attributes: Attributes) -> None:
            start(name, {key: value.translate(stand_ins) for key, value in attributes.items()})

        return started if stand_ins else start

    parse_blocks((raw,), source, problems, listen_to_all)


def parse_elements(raw: bytes, source: str, names: Sequence[str], read: Callable[[Element], Item]) -> list[Item]:
    """Parse XML as `parse_xml`; return what a function reads of each element of these names once it is whole.

    Elements and attributes are named without namespaces; the attribute LINE has the line where an element starts. What
    is read is emptied, so that no whole tree needs memory.

    Raises:
        FormatError: not XML, or it declares a document type.
    """
    items: list[Item] = []
    problems: list[Problem] = []

    def listen(parser: XMLParserType) -> Start:
        tree = TreeBuilder()

        def start(name: str, attributes: Attributes) -> None:
            local = {key.rpartition(" ")[2]: value for key, value in attributes.items()}
            tree.start(name.rpartition(" ")[2], local | {LINE: str(parser.CurrentLineNumber)})

        def end(name: str) -> None:
            element = tree.end(name)
            if element.tag in names:
                items.append(read(element))
                element.clear()

        parser.EndElementHandler, parser.CharacterDataHandler = end, tree.data
        return start

    parse_xml(raw, source, problems, listen)
    if problems:
        raise FormatError(problems)
    return items


def parse_blocks(blocks: Iterable[bytes], source: str, problems: list[Problem], listen: Listen) -> None:
    """Parse XML 1.0 that comes in blocks; problems are added to `problems`.

    A document type may name a file, which is never fetched, and declare no entity and no value of an attribute, of
    which each short element would have thousands. References to undeclared entities are refused too: a parser that
    does not read the document type may leave them out without a word, and all offsets
    behind them would be wrong.
    """
    parser = ParserCreate(namespace_separator=" ")
    parser.buffer_text = True

    def refuse(finding: str, remedy: str) -> NoReturn:
        raise FormatError.single(source, parser.CurrentLineNumber, finding, remedy)

    def refuse_entity(*_: object) -> NoReturn:
        refuse("entities are declared, which no export has", "write the characters themselves")

    def refuse_value(_element: str, _name: str, _type: str, value: str | None, _is_required: int) -> None:
        if value is not None:
            refuse("values of attributes are declared, which no export has", "write them where they are used")

    def refuse_undeclared(name: str, is_parameter: bool) -> None:
        if not is_parameter:
            refuse(f"an entity &{name};, which nothing declares", "write the character itself")

    # Unparsed and external entities are declared by the same handler.
    parser.EntityDeclHandler = refuse_entity
    parser.AttlistDeclHandler = refuse_value
    parser.SkippedEntityHandler = refuse_undeclared
    parser.StartElementHandler = listen(parser)
    try:
        for block in blocks:
            parser.Parse(block, False)
        parser.Parse(b"", True)
    except FormatError as error:
        problems += error.problems
    except ExpatError as error:
        reason = str(error).split(":")[0]
        remedy = (
            EXPORT_AGAIN
            if "invalid character number" not in reason
            else "control characters need XML 1.1: export as that"
        )
        problems.append(Problem(source, error.lineno, f"not XML: {reason} at column {error.offset + 1}", remedy))
    except (ValueError, LookupError) as error:
        problems.append(Problem(source, None, f"not XML: {error}", "save the file as UTF-8"))
    finally:
        # Handlers and parser refer to each other: without this neither would be freed.
        for handler in HANDLERS:
            setattr(parser, handler, None)


def _without_controls(raw: bytes) -> tuple[bytes, Mapping[int, int]]:
    """Return XML with other characters for the control characters in it, and what each of these stands for."""
    referred = {_code(match) for match in REFERENCE.finditer(raw)}
    if referred.isdisjoint(set(CONTROLS) - set(WHITE_SPACE)):
        return raw, {}
    used = referred | set(map(ord, set(raw.decode(errors="replace"))))
    # A text that leaves no block free has six thousand characters for private use: it fails as XML 1.0 would.
    first = next((block for block in BLOCKS if used.isdisjoint(range(block, block + 32))), None)
    if first is None:
        return raw, {}

    def stand_in(match: re.Match[bytes]) -> bytes:
        code = _code(match)
        return f"&#{first + code};".encode() if code in CONTROLS and code not in WHITE_SPACE else match[0]

    return REFERENCE.sub(stand_in, raw), {first + code: code for code in CONTROLS}


def _code(reference: re.Match[bytes]) -> int:
    return int(reference[1], 16) if reference[1] else int(reference[2])
