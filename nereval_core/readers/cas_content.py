"""What one CAS holds: its text, the annotations over it, and the type system that it brings.

XMI is a list of elements, JSON one of objects; in both each has an id, a type, features, and where it is an annotation
`begin` and `end` in a text, its `sofa`. A view lists what stands in its indexes: what does not was deleted, or is part
of something else. See the UIMA references, "XMI CAS Serialization", and the specification of JSON CAS 0.4.0.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from nereval_core.errors import Problem, quoted
from nereval_core.readers.cas_types import Types, types_of_json
from nereval_core.readers.safe_xml import AGAIN, Attributes, parsed
from nereval_core.readers.source import SourceFile
from nereval_core.readers.strict_json import items
from nereval_core.readers.strict_json import kind as kind_of

DKPRO = "de.tudarmstadt.ukp.dkpro.core.api"
ENTITY = f"{DKPRO}.ner.type.NamedEntity"
TOKEN = f"{DKPRO}.segmentation.type.Token"
SENTENCE = f"{DKPRO}.segmentation.type.Sentence"
METADATA = f"{DKPRO}.metadata.type.DocumentMetaData"
PARTS = (TOKEN, SENTENCE)
ABOUT = (METADATA, f"{DKPRO}.metadata.type.TagsetDescription", "uima.tcas.DocumentAnnotation")
"""Types of what says something of the document, not of a place in it."""
VIEW = "_InitialView"
SOFA, INDEX = "uima.cas.Sofa", "uima.cas.View"
XMI = "http://www.omg.org/XMI"
XMI_ID = f"{XMI} id"
OWN = {XMI_ID, "sofa", "begin", "end", "%ID", "%TYPE", "@sofa"}
"""What is no feature of one type."""
XML = re.compile(rb"(?:\xef\xbb\xbf)?\s*<|\xff\xfe<\0[^\0]|\xfe\xff\0<")
"""How XML begins in UTF-8 and the like, and in UTF-16."""
INTEGER = re.compile(r"-?[0-9]{1,12}")
TYPES, STRUCTURES, VIEWS = "%TYPES", "%FEATURE_STRUCTURES", "%VIEWS"

Kept = Callable[[str, Types], bool]
"""Says whether the annotations of a type are looked at."""


class Mark(NamedTuple):
    """An annotation: where it stands in the file, and in the text as the file counts."""

    id: str
    line: int | None
    begin: int
    end: int
    features: Mapping[str, Any]


@dataclass(slots=True)
class Cas:
    """The view that annotators see of a CAS: by type its annotations, and how many there are of types not looked at.

    `own` is a name that is the document's id, and not that of the file that it was made of.
    """

    text: str
    line: int
    types: Types
    name: str | None = None
    own: bool = False
    marks: dict[str, list[Mark]] = field(default_factory=dict)
    others: Counter[str] = field(default_factory=Counter)
    unindexed: int = 0
    views: int = 0


@dataclass(slots=True)
class _Found:
    """Gathers the parts of a CAS, in whatever order they come."""

    shown: str
    types: Types
    kept: Kept
    problems: list[Problem] = field(default_factory=list)
    sofas: dict[str, tuple[str, Any, int]] = field(default_factory=dict)
    members: dict[str, set[str]] = field(default_factory=dict)
    marks: list[tuple[str, str, Mark]] = field(default_factory=list)
    others: list[tuple[str, str, str]] = field(default_factory=list)
    looked: dict[str, bool] = field(default_factory=dict)

    def complain(self, line: int | None, found: str, remedy: str = AGAIN) -> None:
        self.problems.append(Problem(self.shown, line, found, remedy))

    def structure(self, kind: str, id: str, sofa: str, row: Mapping[str, Any], line: int | None) -> None:
        """Take a feature structure that is neither a text nor a view."""
        looked = self.looked.get(kind)
        if looked is None:
            looked = self.looked[kind] = kind in (*PARTS, METADATA) or self.kept(kind, self.types)
        # What is of the whole document, or a chain of annotations, has no place of its own.
        if looked and ("begin" in row or "end" in row or kind in (*PARTS, METADATA, ENTITY)):
            begin, end = (self.offset(row.get(key), key, kind, id, line) for key in ("begin", "end"))
            features = {} if kind in PARTS else {key: value for key, value in row.items() if key not in OWN}
            self.marks.append((kind, sofa, Mark(id, line, begin, end, features)))
        elif not looked and "begin" in row and kind not in ABOUT:
            self.others.append((kind, sofa, id))

    def offset(self, value: Any, key: str, kind: str, id: str, line: int | None) -> int:
        # A number that is 0 may be left out.
        if value is None or type(value) is int:
            return value or 0
        if isinstance(value, str) and INTEGER.fullmatch(value):
            return int(value)
        self.complain(
            line, f"{short(kind)} {id}: {key} is {quoted(str(value))}", "write an integer, or export it again"
        )
        return 0

    def whole(self, problems: list[Problem]) -> Iterator[Cas]:
        """Yield the CAS, or add to the problems what is wrong with it."""
        cas = None if self.problems else self._cas()
        if cas is not None:
            yield cas
        problems += self.problems

    def _cas(self) -> Cas | None:
        """Return the view called as annotators' is, or the only one with a text."""
        texts = {id: sofa for id, sofa in self.sofas.items() if isinstance(sofa[1], str)}
        named = [id for id, sofa in texts.items() if sofa[0] == VIEW]
        if len(named or texts) != 1:
            count = len(named or texts)
            found = f"{count} views with a text, and none is {VIEW}" if texts else "no text: no sofaString in it"
            self.complain(None, found, "export it from the tool it was annotated in")
            return None
        [sofa] = named or texts
        members = self.members.get(sofa, set())
        cas = Cas(texts[sofa][1], texts[sofa][2], self.types, views=len(self.sofas) - 1)
        for kind, where, mark in self.marks:
            if where != sofa:
                continue
            if mark.id not in members:
                cas.unindexed += 1
            elif kind == METADATA:
                cas.name, cas.own = _name(mark.features)
            else:
                cas.marks.setdefault(kind, []).append(mark)
        cas.others.update(kind for kind, where, id in self.others if where == sofa and id in members)
        return cas


def short(kind: str) -> str:
    """Return the name of a type without its package."""
    return kind.rpartition(".")[2]


def cases(file: SourceFile, types: Types, kept: Kept, problems: list[Problem]) -> Iterator[Cas]:
    """Yield the CAS of an XMI file, or those of a JSON file; what is wrong goes to `problems`."""
    raw = file.read()
    if not XML.match(raw):
        for line, row in items(file, problems):
            found = _Found(file.shown, types, kept)
            _of_json(row, found, line)
            yield from found.whole(problems)
    else:
        found = _Found(file.shown, types, kept)
        _of_xmi(raw, found)
        yield from found.whole(problems)


def _of_xmi(raw: bytes, found: _Found) -> None:
    names: dict[str, str] = {}
    root: list[str] = []

    def start(name: str, attributes: Attributes, line: int) -> None:
        if not root:
            root.append(name)
            if name != f"{XMI} XMI":
                found.complain(line, f"the root is {quoted(name)}, not xmi:XMI", "export it as UIMA CAS XMI")
            return
        kind = names.get(name)
        if kind is None:
            kind = names[name] = _type_name(name)
        # The values of lists stand in elements without a namespace.
        if not kind:
            return
        id = attributes.get(XMI_ID, "")
        if kind == SOFA:
            found.sofas[id] = (attributes.get("sofaID", ""), attributes.get("sofaString"), line)
        elif kind == INDEX:
            found.members[attributes.get("sofa", "")] = set(attributes.get("members", "").split())
        else:
            found.structure(kind, id, attributes.get("sofa", ""), attributes, line)

    parsed(raw, found.shown, found.problems, start)


def _type_name(name: str) -> str:
    """Return the name of a type: `http:///webanno/custom.ecore Entity` is `webanno.custom.Entity`."""
    space, _, local = name.rpartition(" ")
    if not space:
        return ""
    package = space.removeprefix("http:///").removesuffix(".ecore").replace("/", ".")
    return local if package == "uima.noNamespace" else f"{package}.{local}"


def _of_json(row: Any, found: _Found, line: int) -> None:
    if not isinstance(row, dict):
        found.complain(line, f"{kind_of(row)} where a CAS should be", "export it as UIMA CAS JSON")
        return
    types, names = types_of_json(row.get(TYPES))
    found.types = found.types | types
    given = row.get(STRUCTURES)
    if isinstance(given, dict):
        pairs: list[tuple[Any, Any]] = list(given.items())
    elif isinstance(given, list):
        pairs = [(one.get("%ID") if isinstance(one, dict) else None, one) for one in given]
    else:
        found.complain(line, f"{STRUCTURES} is {kind_of(given)}", "export it as UIMA CAS JSON, not in its older form")
        return
    for id, one in pairs:
        if not isinstance(one, dict) or not isinstance(one.get("%TYPE"), str):
            found.complain(line, f"a feature structure without %TYPE: {kind_of(one)} {id or ''}".rstrip())
            continue
        name, id = names.get(one["%TYPE"], one["%TYPE"]), str(id)
        if name == SOFA:
            found.sofas[id] = (str(one.get("sofaID", "")), one.get("sofaString"), line)
        else:
            found.structure(name, id, str(one.get("@sofa", "")), one, line)
    views = row.get(VIEWS)
    for one in views.values() if isinstance(views, dict) else ():
        members = one.get("%MEMBERS") if isinstance(one, dict) else None
        if isinstance(members, list):
            found.members[str(one.get("%SOFA"))] = set(map(str, members))


def _name(about: Mapping[str, Any]) -> tuple[str | None, bool]:
    """Return what a document is called, and whether that is its id and not the name of a file.

    INCEpTION has its name as title and, in `documentId`, the annotator's; DKPro Core has a path there, with which the
    address of the document ends. Where it is the address, no file is meant.
    """
    id, title, place = (about.get(f"document{key}") for key in ("Id", "Title", "Uri"))
    whole = isinstance(id, str) and isinstance(place, str) and (place == id or place.endswith(f"/{id}"))
    name = id if whole else title or id
    return (name, place == id) if isinstance(name, str) and name else (None, False)
