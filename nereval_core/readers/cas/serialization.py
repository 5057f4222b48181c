"""Read a CAS from XMI, a list of elements, or from JSON 0.4.0, a list of objects."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from xml.parsers.expat import XMLParserType

from nereval_core.problems import Problem, quoted
from nereval_core.readers.cas.content import (
    XMI_ID,
    Cas,
    CasParts,
    FeatureStructures,
    TypeFilter,
    TypeSystem,
    types_of_json,
)
from nereval_core.readers.input.encodings import UTF8_BOM, decode_text
from nereval_core.readers.input.source import SourceFile
from nereval_core.readers.shared.safe_xml import Attributes, Start, parse_xml
from nereval_core.readers.shared.strict_json import RefusedError, json_type, loads

SOFA, INDEX = "uima.cas.Sofa", "uima.cas.View"
ROOT = "http://www.omg.org/XMI XMI"
TYPES, STRUCTURES, VIEWS = "%TYPES", "%FEATURE_STRUCTURES", "%VIEWS"
XML = re.compile(rb"(?:\xef\xbb\xbf)?\s*<|\xff\xfe<\0[^\0]|\xfe\xff\0<")
"""The beginning of XML in UTF-8 and its like, and in UTF-16."""


def read_cas(file: SourceFile, types: TypeSystem, kept: TypeFilter, problems: list[Problem]) -> Cas | None:
    """Return the CAS of an XMI or JSON file; problems are added to `problems`, and there is none then.

    Raises:
        FormatError: the file cannot be read, or is not encoded as it says.
    """
    raw = file.read()
    if XML.match(raw):
        found = CasParts(file.shown, types, kept, XMI_ID, "sofa")
        _of_xmi(raw, found)
    else:
        found = CasParts(file.shown, types, kept, "%ID", "@sofa")
        text = decode_text(raw, file.shown).removeprefix(UTF8_BOM)
        try:
            _of_json(loads(text), found)
        except RefusedError as error:
            found.complain(text.count("\n", 0, error.at or 0) + 1, *error.args)
    cas = None if found.problems else found.cas()
    problems += found.problems
    return None if found.problems else cas


def _of_xmi(raw: bytes, found: CasParts) -> None:
    kinds: dict[str, str] = {}
    taken: dict[str, FeatureStructures] = {}

    def listen(parser: XMLParserType) -> Start:
        def start(name: str, attributes: Attributes) -> None:
            id = attributes.get(XMI_ID)
            if id is not None:
                found.take_id(id, parser.CurrentLineNumber)
            rows = taken.get(name)
            if rows is not None:
                rows.rows.append(attributes)
                rows.lines.append(parser.CurrentLineNumber)
            elif name in kinds:
                other(name, attributes)
            elif not kinds and name != ROOT:
                kinds[name] = ""
                root = f"the root is {quoted(name)}, not xmi:XMI"
                found.complain(parser.CurrentLineNumber, root, "export it as UIMA CAS XMI")
            else:
                kind = kinds[name] = _type_name(name)
                if kind and kind not in (SOFA, INDEX) and found.looked_at(kind):
                    taken[name] = found.rows.setdefault(kind, FeatureStructures())
                    taken[name].rows.append(attributes)
                    taken[name].lines.append(parser.CurrentLineNumber)
                else:
                    other(name, attributes)

        def other(name: str, attributes: Attributes) -> None:
            kind = kinds[name]
            if kind == SOFA:
                found.sofas[attributes.get(XMI_ID, "")] = parser.CurrentLineNumber, attributes
            elif kind == INDEX:
                found.add_members(attributes.get("sofa", ""), set(attributes.get("members", "").split()))
            # The values of lists stand in elements without a namespace.
            elif kind:
                found.other(kind, attributes)

        return start

    parse_xml(raw, found.shown, found.problems, listen)


def _type_name(name: str) -> str:
    """Return the name of a type: `http:///webanno/custom.ecore Entity` is `webanno.custom.Entity`."""
    space, _, local = name.rpartition(" ")
    if not space:
        return ""
    package = space.removeprefix("http:///").removesuffix(".ecore").replace("/", ".")
    return local if package == "uima.noNamespace" else f"{package}.{local}"


def _of_json(row: Any, found: CasParts) -> None:
    line = 1
    if not isinstance(row, dict):
        found.complain(line, f"{json_type(row)} where a CAS should be", "export it as UIMA CAS JSON")
        return
    types, names = types_of_json(row.get(TYPES))
    found.types = found.types | types
    given = row.get(STRUCTURES)
    if isinstance(given, dict):
        given = [one | {"%ID": _id(id)} if isinstance(one, dict) else one for id, one in given.items()]
    if not isinstance(given, list):
        found.complain(line, f"{STRUCTURES} is {json_type(given)}", "export it as UIMA CAS JSON, not in its older form")
        return
    taken: dict[Any, list[Mapping[str, Any]]] = {}
    for one in given:
        name = one.get("%TYPE") if isinstance(one, dict) else None
        if type(name) is not str:
            id = one.get("%ID") if isinstance(one, dict) else ""
            found.complain(line, f"a feature structure without %TYPE: {json_type(one)} {id}".rstrip())
            continue
        if "%ID" in one:
            found.take_id(_id(one["%ID"]), line)
        rows = taken.get(name)
        if rows is not None:
            rows.append(one)
            continue
        kind = names.get(name, name)
        if kind == SOFA:
            found.sofas[_id(one.get("%ID"))] = line, one
        elif found.looked_at(kind):
            taken[name] = found.rows.setdefault(kind, FeatureStructures()).rows
            taken[name].append(one)
        else:
            found.other(kind, one)
    views = row.get(VIEWS)
    for one in views.values() if isinstance(views, dict) else ():
        members = one.get("%MEMBERS") if isinstance(one, dict) else None
        if isinstance(members, list):
            plain = set(map(type, members)) <= {int}
            found.add_members(_id(one.get("%SOFA")), set(members if plain else map(_id, members)))


def _id(given: Any) -> int | str:
    """Return an id, which is a number, as one: as a key it is written as a string."""
    if isinstance(given, str) and given.isascii() and given.isdigit() and len(given) < 19:
        return int(given)
    return given if isinstance(given, (int, str)) else ""
