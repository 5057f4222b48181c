"""The files of a source that are CASes, the annotator and document of each, and their content from XMI or JSON.

INCEpTION exports one document as a zip of `NAME.xmi` and `TypeSystem.xml`, or as one JSON file; and a project, or its
curated documents, as a zip with a folder a document in `annotation` or `curation`, in it a zip or JSON file for each
annotator. Before version 26 these zips were called by a number, and the XMI in each after the annotator. XMI is read as
a list of elements, JSON 0.4.0 as a list of objects.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple
from xml.parsers.expat import XMLParserType

from nereval_core.problems import FormatError, Problem, ProblemList, quoted
from nereval_core.readers.cas.content import (
    XMI_ID,
    Cas,
    CasParts,
    FeatureStructures,
    TypeFilter,
    TypeSystem,
    types_of_json,
)
from nereval_core.readers.input.compression import ZIP_FILES, files_of_inner_zip
from nereval_core.readers.input.file_text import UTF8_BOM, Head, decode_text
from nereval_core.readers.input.origins import MOST_EXPANDED_BYTES, ZIP, OnDisk
from nereval_core.readers.input.source import Source, SourceFile
from nereval_core.readers.shared.safe_xml import Attributes, Start, parse_xml
from nereval_core.readers.shared.strict_json import RefusedError, json_type, loads

SUFFIXES = (".xmi", ".json", ".xml")
TYPE_SYSTEM = "typesystem.xml"
FOLDERS = ("annotation", "curation")
"""Folders of a project's export with the work of annotators and curators."""
NUMBERED = re.compile(r"webanno[0-9]+export|inception-document[0-9]+")
"""Names of zips that do not name their annotator."""
LOOKED_AT = 25
"""Files of a source that are examined for CASes."""
# Nothing is tried in two ways: without that, forty comments in a row, or line ends alone, would take hours.
IS_XMI = re.compile(r"\s*+(?:<[^>]*?\bxmi:XMI\b|<\?xml[^>]*+>(?>\s++|<!--.*?-->)*+<(?:\w++:)?XMI\b)", re.DOTALL)
IS_JSON = re.compile(r"""\s*+\[?\s*+\{.*?(?<!\\)"%(?:TYPES|FEATURE_STRUCTURES|VIEWS)"\s*:""", re.DOTALL)


class CasFile(NamedTuple):
    """A file with CASes, its annotator and document where its place names them, and the file of its types."""

    file: SourceFile
    owner: str | None = None
    document: str | None = None
    types: SourceFile | None = None


def cas_likelihood(source: Source) -> float:
    """Return the likelihood, 0 to 1, that the first files or those of the first zip are CASes, never failing.

    Among other files, a zip of CASes is but one of them, unless it lies where a project's export has it.
    """
    try:
        files = islice(_candidates(source.pick(*SUFFIXES)), LOOKED_AT)
        if any(_is_cas(source.head_of(file)) for file in files):
            return 1.0
        inner = [file for file in islice(_candidates(_inner(source, 1)), LOOKED_AT) if _is_cas(source.head_of(file))]
    except FormatError:
        return 0.0
    return max((1.0 if _placed(file.shown)[0] else 0.4 for file in inner), default=0.0)


def cas_units(source: Source) -> list[CasFile]:
    """Return the files with CASes, in the order of their names.

    Raises:
        FormatError: a zip in it is broken or not safe, or there is no CAS.
    """
    plain = [file for file in source.files if file.suffix != ZIP]
    folders = {file.name.rpartition("/")[0] for file in plain}
    # Somebody unpacked some of the zips where they lie.
    inner = [file for file in _inner(source) if file.name.rpartition("/")[0] not in folders]
    files = sorted([*plain, *inner], key=lambda file: file.name.split("/"))
    systems = {
        file.name.rpartition("/")[0]: file for file in files if file.name.rpartition("/")[2].lower() == TYPE_SYSTEM
    }
    placed = [CasFile(file, *_placed(file.shown), _nearest(file.name, systems)) for file in _candidates(files)]
    units = [unit for unit in placed if unit.owner is not None]
    units = units or [unit for unit in placed if unit.file.suffix == ".xmi" or _is_cas(unit.file.head())]
    if not units and len(files) == 1:
        # It is damaged so much that it looks like no CAS: reading says what is wrong.
        units = placed
    if not units:
        remedy = "export it as UIMA CAS XMI or as UIMA CAS JSON"
        raise FormatError.single(source.name, None, "no CAS in it, neither XMI nor JSON", remedy)
    return units


def _candidates(files: Sequence[SourceFile]) -> Iterator[SourceFile]:
    """Yield the files that are called as CASes are, all where none is."""
    named = [file for file in files if file.suffix in SUFFIXES]
    for file in named or files:
        if file.suffix != ZIP and file.name.rpartition("/")[2].lower() != TYPE_SYSTEM:
            yield file


def _is_cas(head: Head) -> bool:
    text = "\n".join(head.lines).removeprefix(UTF8_BOM)
    return (IS_XMI if text.lstrip().startswith("<") else IS_JSON).match(text) is not None


def _placed(path: str) -> tuple[str | None, str | None]:
    """Return owner and document of a file, None where its place is not such as in a project's export."""
    parts = path.split("/")
    for at in range(len(parts) - 3, -1, -1):
        if parts[at] in FOLDERS and len(parts) - at in (3, 4):
            stem = _stem(parts[at + 2])
            return _stem(parts[-1]) if len(parts) - at == 4 and NUMBERED.fullmatch(stem) else stem, parts[at + 1]
    return None, None


def _stem(name: str) -> str:
    return next((name[: -len(end)] for end in (*SUFFIXES, ZIP) if name.lower().endswith(end)), name)


def _nearest(name: str, systems: dict[str, SourceFile]) -> SourceFile | None:
    """Return the type system in the folder of a file or in the nearest around it."""
    folder = name.rpartition("/")[0]
    while folder and folder not in systems:
        folder = folder.rpartition("/")[0]
    return systems.get(folder)


def _inner(source: Source, most: int | None = None) -> list[SourceFile]:
    """Return the files of the zips in a source.

    Raises:
        FormatError: a zip is broken or not safe, or those of a zip are too much together.
    """
    problems = ProblemList()
    files: list[SourceFile] = []
    total = 0
    for file in source.by_suffix.get(ZIP, ())[:most]:
        try:
            entries = files_of_inner_zip(file.shown, file.origin)
        except FormatError as error:
            problems += error.problems
            continue
        folder = file.name[: -len(ZIP)]
        files += [SourceFile(f"{folder}/{name}", path, origin) for name, path, origin in entries]
        total += 0 if isinstance(file.origin, OnDisk) else sum(origin.size() for _, _, origin in entries)
    if total > MOST_EXPANDED_BYTES or len(files) > ZIP_FILES:
        what = f"{total} bytes and {len(files)} files in the zips of a zip"
        problems.append(Problem(source.name, None, what, "unpack the outer one and give its folder"))
    if problems:
        raise FormatError(problems)
    return files


SOFA, INDEX = "uima.cas.Sofa", "uima.cas.View"
ROOT = "http://www.omg.org/XMI XMI"
TYPES, STRUCTURES, VIEWS = "%TYPES", "%FEATURE_STRUCTURES", "%VIEWS"
XML = re.compile(rb"(?:\xef\xbb\xbf)?\s*<|\xff\xfe<\0[^\0]|\xfe\xff\0<")
"""The beginning of XML in UTF-8 and its like, and in UTF-16."""


def read_cas(file: SourceFile, types: TypeSystem, is_read: TypeFilter, problems: list[Problem]) -> Cas | None:
    """Return the CAS of an XMI or JSON file; problems are added to `problems`, and None is returned then.

    Raises:
        FormatError: the file cannot be read, or is not encoded as it says.
    """
    raw = file.read()
    if XML.match(raw):
        parts = CasParts(file.shown, types, is_read, XMI_ID, "sofa")
        _of_xmi(raw, parts)
    else:
        parts = CasParts(file.shown, types, is_read, "%ID", "@sofa")
        text = decode_text(raw, file.shown).removeprefix(UTF8_BOM)
        try:
            _of_json(loads(text), parts)
        except RefusedError as error:
            parts.complain(text.count("\n", 0, error.at or 0) + 1, *error.args)
    cas = None if parts.problems else parts.cas()
    problems += parts.problems
    return None if parts.problems else cas


def _of_xmi(raw: bytes, parts: CasParts) -> None:
    kinds: dict[str, str] = {}
    structures_of_name: dict[str, FeatureStructures] = {}

    def listen(parser: XMLParserType) -> Start:
        def start(name: str, attributes: Attributes) -> None:
            id = attributes.get(XMI_ID)
            if id is not None:
                parts.take_id(id, parser.CurrentLineNumber)
            rows = structures_of_name.get(name)
            if rows is not None:
                rows.rows.append(attributes)
                rows.lines.append(parser.CurrentLineNumber)
            elif name in kinds:
                other(name, attributes)
            elif not kinds and name != ROOT:
                kinds[name] = ""
                root = f"the root is {quoted(name)}, not xmi:XMI"
                parts.complain(parser.CurrentLineNumber, root, "export it as UIMA CAS XMI")
            else:
                kind = kinds[name] = _type_name(name)
                if kind and kind not in (SOFA, INDEX) and parts.looked_at(kind):
                    structures_of_name[name] = parts.rows.setdefault(kind, FeatureStructures())
                    structures_of_name[name].rows.append(attributes)
                    structures_of_name[name].lines.append(parser.CurrentLineNumber)
                else:
                    other(name, attributes)

        def other(name: str, attributes: Attributes) -> None:
            kind = kinds[name]
            if kind == SOFA:
                parts.sofas[attributes.get(XMI_ID, "")] = parser.CurrentLineNumber, attributes
            elif kind == INDEX:
                parts.add_members(attributes.get("sofa", ""), set(attributes.get("members", "").split()))
            # The values of lists stand in elements without a namespace.
            elif kind:
                parts.other(kind, attributes)

        return start

    parse_xml(raw, parts.source, parts.problems, listen)


def _type_name(name: str) -> str:
    """Return the name of a type: `http:///webanno/custom.ecore Entity` is `webanno.custom.Entity`."""
    space, _, local = name.rpartition(" ")
    if not space:
        return ""
    package = space.removeprefix("http:///").removesuffix(".ecore").replace("/", ".")
    return local if package == "uima.noNamespace" else f"{package}.{local}"


def _of_json(row: Any, parts: CasParts) -> None:
    line = 1
    if not isinstance(row, dict):
        parts.complain(line, f"{json_type(row)} where a CAS should be", "export it as UIMA CAS JSON")
        return
    types, names = types_of_json(row.get(TYPES))
    parts.types = parts.types | types
    structures = row.get(STRUCTURES)
    if isinstance(structures, dict):
        structures = [
            structure | {"%ID": _id(id)} if isinstance(structure, dict) else structure
            for id, structure in structures.items()
        ]
    if not isinstance(structures, list):
        parts.complain(
            line, f"{STRUCTURES} is {json_type(structures)}", "export it as UIMA CAS JSON, not in its older form"
        )
        return
    rows_of_name: dict[Any, list[Mapping[str, Any]]] = {}
    for structure in structures:
        name = structure.get("%TYPE") if isinstance(structure, dict) else None
        if type(name) is not str:
            id = structure.get("%ID") if isinstance(structure, dict) else ""
            parts.complain(line, f"a feature structure without %TYPE: {json_type(structure)} {id}".rstrip())
            continue
        if "%ID" in structure:
            parts.take_id(_id(structure["%ID"]), line)
        rows = rows_of_name.get(name)
        if rows is not None:
            rows.append(structure)
            continue
        kind = names.get(name, name)
        if kind == SOFA:
            parts.sofas[_id(structure.get("%ID"))] = line, structure
        elif parts.looked_at(kind):
            rows_of_name[name] = parts.rows.setdefault(kind, FeatureStructures()).rows
            rows_of_name[name].append(structure)
        else:
            parts.other(kind, structure)
    views = row.get(VIEWS)
    for structure in views.values() if isinstance(views, dict) else ():
        members = structure.get("%MEMBERS") if isinstance(structure, dict) else None
        if isinstance(members, list):
            plain = set(map(type, members)) <= {int}
            parts.add_members(_id(structure.get("%SOFA")), set(members if plain else map(_id, members)))


def _id(value: Any) -> int | str:
    """Return an id, which is a number, as one: as a key it is written as a string."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 19:
        return int(value)
    return value if isinstance(value, (int, str)) else ""
