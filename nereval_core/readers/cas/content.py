"""Contents of one CAS: its text, the annotations over it, and its type system; names in exports of INCEpTION.

XMI is a list of elements, JSON one of objects; in both each has an id, a type, features, and where it is an annotation
`begin` and `end` in a text, its `sofa`. A view lists what stands in its indexes: what does not was deleted, or is part
of something else. See the UIMA references, "XMI CAS Serialization", and the specification of JSON CAS 0.4.0.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Set
from dataclasses import dataclass, field
from itertools import compress
from typing import Any
from xml.parsers.expat import XMLParserType

from nereval_core.problems import Problem, ProblemList, quoted
from nereval_core.readers.shared.safe_xml import EXPORT_AGAIN, Attributes, Start, parse_xml

CURATION, INITIAL = "CURATION_USER", "INITIAL_CAS"
"""The annotators that stand for the curated documents and for the documents before annotation."""
ANNOTATOR_RANKS = {CURATION: 0, INITIAL: 2}
SEPARATOR = "/"
"""Separator of annotator and layer where both are named."""


def ranked_annotators(annotators: Iterable[str]) -> tuple[str, ...]:
    """Return annotators by name, the curated documents first, the documents before annotation last."""
    return tuple(sorted(annotators, key=lambda name: (ANNOTATOR_RANKS.get(name, 1), name)))


def short_name(name: str) -> str:
    """Return the last part of the name of a layer or type."""
    return name.rpartition(".")[2] or name


def layer_names(names: Collection[str]) -> list[str]:
    """Return short names of layers: the last part of each name, where no other layer has it."""
    counts = Counter(map(short_name, names))
    return [short_name(name) if counts[short_name(name)] == 1 else name for name in names]


STRING = "uima.cas.String"
SPACE = "http://uima.apache.org/resourceSpecifier "
WORDS = {"name", "supertypeName", "rangeTypeName"}
"""Elements of a description whose text is read."""


@dataclass(frozen=True, slots=True)
class TypeSystem:
    """By the name of a type its supertype, and its own features with the type of their values."""

    parents: Mapping[str, str] = field(default_factory=dict)
    features: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def __or__(self, other: TypeSystem) -> TypeSystem:
        return TypeSystem({**self.parents, **other.parents}, {**self.features, **other.features})

    def line(self, name: str) -> list[str]:
        """Return a type and its supertypes, nearest first."""
        line = [name]
        while (parent := self.parents.get(line[-1])) is not None and parent not in line:
            line.append(parent)
        return line

    def is_a(self, name: str, other: str) -> bool:
        return name == other or other in self.line(name)

    def strings(self, name: str) -> list[str]:
        """Return the features of a type whose values are strings, its own first, in the order of their declaration."""
        return [
            feature
            for kind in self.line(name)
            for feature, values in self.features.get(kind, {}).items()
            if self.is_a(values, STRING)
        ]


def types_of_xml(raw: bytes, source: str, problems: list[Problem]) -> TypeSystem:
    """Return what a file of UIMA's `typeSystemDescription` declares; types that it imports are not looked for."""
    parents: dict[str, str] = {}
    features: dict[str, dict[str, str]] = {}
    path: list[str] = []
    words: dict[str, str] = {}

    texts: list[str] = []

    def listen(parser: XMLParserType) -> Start:
        def start(name: str, attributes: Attributes) -> None:
            name = name.removeprefix(SPACE)
            if not path and name != "typeSystemDescription":
                finding = f"{quoted(name)} is not a description of a type system"
                remedy = "put the TypeSystem.xml of the export there"
                problems.append(Problem(source, parser.CurrentLineNumber, finding, remedy))
            path.append(name)
            texts.clear()

        def end(_: str) -> None:
            name = path.pop()
            inside = path[-1] if path else ""
            if name in WORDS:
                words[f"{inside} {name}"] = "".join(texts).strip()
            elif name == "featureDescription":
                feature, values = (words.pop(f"{name} {word}", "") for word in ("name", "rangeTypeName"))
                # The features of a type stand before its end.
                features.setdefault("", {})[feature] = values
            elif name == "typeDescription":
                kind = words.pop("typeDescription name", "")
                parents[kind] = words.pop("typeDescription supertypeName", "")
                features[kind] = features.pop("", {})
            texts.clear()

        parser.EndElementHandler = end
        parser.CharacterDataHandler = texts.append
        return start

    parse_xml(raw, source, problems, listen)
    return TypeSystem(parents, features)


def types_of_json(declared: Any) -> tuple[TypeSystem, Mapping[str, str]]:
    """Return what `%TYPES` of a JSON CAS declares, and the names of types by the names it has for them."""
    parents: dict[str, str] = {}
    features: dict[str, dict[str, str]] = {}
    names: dict[str, str] = {}
    for key, declaration in declared.items() if isinstance(declared, dict) else ():
        if not isinstance(declaration, dict):
            continue
        name = names[key] = _string(declaration.get("%NAME")) or key
        parents[name] = _string(declaration.get("%SUPER_TYPE"))
        features[name] = {
            feature: _string(about.get("%RANGE"))
            for feature, about in declaration.items()
            if isinstance(about, dict) and not feature.startswith("%")
        }
    return TypeSystem(parents, features), names


def _string(value: Any) -> str:
    return value if isinstance(value, str) else ""


DKPRO = "de.tudarmstadt.ukp.dkpro.core.api"
ENTITY = f"{DKPRO}.ner.type.NamedEntity"
TOKEN = f"{DKPRO}.segmentation.type.Token"
SENTENCE = f"{DKPRO}.segmentation.type.Sentence"
METADATA = f"{DKPRO}.metadata.type.DocumentMetaData"
PARTS = (TOKEN, SENTENCE)
ABOUT = (METADATA, f"{DKPRO}.metadata.type.TagsetDescription", "uima.tcas.DocumentAnnotation")
"""Types that describe the document, not a place in it."""
VIEW = "_InitialView"
XMI_ID = "http://www.omg.org/XMI id"
OWN = {XMI_ID, "sofa", "begin", "end", "%ID", "%TYPE", "@sofa"}
"""Keys of feature structures that are not features of a type."""
INTEGER_PATTERN = re.compile(r"-?[0-9]{1,12}")

TypeFilter = Callable[[str, TypeSystem], bool]
"""Tells whether the annotations of a type are read."""


@dataclass(slots=True)
class TypeAnnotations:
    """Annotations of one type, in columns: where they stand in the file, and in the text as the file counts.

    `rows` are their features, and what else they have; empty for parts of texts, which have none.
    """

    ids: list[Any]
    lines: list[int]
    begins: list[int]
    ends: list[int]
    rows: list[Mapping[str, Any]]

    def __len__(self) -> int:
        return len(self.ids)

    def without(self, left_out: Set[int]) -> TypeAnnotations:
        """Return all but those with these numbers."""
        if not left_out:
            return self
        is_remaining = [at not in left_out for at in range(len(self))]
        columns = (self.ids, self.lines, self.begins, self.ends, self.rows)
        return TypeAnnotations(*(list(compress(column, is_remaining)) for column in columns))

    def features(self) -> Counter[str]:
        """Count the annotations that have a feature."""
        counts = Counter(key for row in self.rows for key in row)
        return Counter({key: count for key, count in counts.items() if key not in OWN})


@dataclass(slots=True)
class Cas:
    """The view that annotators see of a CAS: by type its annotations, and how many there are of types not looked at.

    `own` is a name that is the document's id, and not that of the file that it was made of.
    """

    text: str
    line: int
    types: TypeSystem
    name: str | None = None
    own: bool = False
    marks: dict[str, TypeAnnotations] = field(default_factory=dict)
    others: Counter[str] = field(default_factory=Counter)
    unindexed: int = 0
    views: int = 0


@dataclass(slots=True)
class FeatureStructures:
    """Feature structures of one type, and the lines at which they stand; without lines all stand at the first."""

    rows: list[Mapping[str, Any]] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)

    def indexed(self, key: str, sofa: Any, id_key: str, members: Set[Any]) -> FeatureStructures:
        """Return the rows of a text that stand in its indexes."""
        lines = self.lines or [1] * len(self.rows)
        try:
            inside = [row.get(key) == sofa and row.get(id_key) in members for row in self.rows]
        except TypeError:
            # Lists and objects are not ids.
            ids = [row.get(id_key) for row in self.rows]
            plain = (isinstance(id, (int, str)) and id in members for id in ids)
            inside = [row.get(key) == sofa and is_member for row, is_member in zip(self.rows, plain, strict=True)]
        if all(inside):
            return FeatureStructures(self.rows, lines)
        return FeatureStructures(list(compress(self.rows, inside)), list(compress(lines, inside)))


@dataclass(slots=True)
class CasParts:
    """Collects the parts of a CAS in any order; `id` and `sofa` are the keys of these."""

    source: str
    types: TypeSystem
    is_read: TypeFilter
    id: str
    sofa: str
    problems: ProblemList = field(default_factory=ProblemList)
    sofas: dict[Any, tuple[int, Mapping[str, Any]]] = field(default_factory=dict)
    members: dict[Any, Set[Any]] = field(default_factory=dict)
    rows: dict[str, FeatureStructures] = field(default_factory=dict)
    others: dict[str, list[tuple[Any, Any]]] = field(default_factory=dict)
    ids: dict[int | str, int] = field(default_factory=dict)
    """The ids of all feature structures, each with its line."""

    def take_id(self, id: int | str, line: int) -> None:
        """Store the id of a feature structure; a second one of the same id is a problem."""
        if id in self.ids:
            self.complain(
                line, f"a second {self.id.rpartition(' ')[2]} {quoted(str(id))}: line {self.ids[id]} has it too"
            )
        self.ids.setdefault(id, line)

    def add_members(self, sofa: Any, members: Set[Any]) -> None:
        """Add members of the indexes of a text, which may be listed in parts."""
        self.members[sofa] = self.members.get(sofa, frozenset()) | members

    def complain(self, line: int | None, finding: str, remedy: str = EXPORT_AGAIN) -> None:
        self.problems.append(Problem(self.source, line, finding, remedy))

    def looked_at(self, kind: str) -> bool:
        return kind in (*PARTS, METADATA) or self.is_read(kind, self.types)

    def other(self, kind: str, row: Mapping[str, Any]) -> None:
        """Count a feature structure of a type that is not read, where it is an annotation."""
        if "begin" in row and kind not in ABOUT:
            self.others.setdefault(kind, []).append((row.get(self.sofa), row.get(self.id)))

    def cas(self) -> Cas | None:
        """Return the view called as annotators' is, or the only one with a text."""
        texts = {id: row for id, (_, row) in self.sofas.items() if isinstance(row.get("sofaString"), str)}
        named = [id for id, row in texts.items() if row.get("sofaID") == VIEW]
        if len(named or texts) != 1:
            count = len(named or texts)
            finding = f"{count} views with a text, and none is {VIEW}" if texts else "no text: no sofaString in it"
            self.complain(None, finding, "export it from the tool it was annotated in")
            return None
        [sofa] = named or texts
        members = self.members.get(sofa, frozenset())
        cas = Cas(texts[sofa]["sofaString"], self.sofas[sofa][0], self.types, views=len(self.sofas) - 1)
        for kind, rows in self.rows.items():
            indexed = rows.indexed(self.sofa, sofa, self.id, members)
            if len(indexed.rows) < len(rows.rows):
                cas.unindexed += sum(row.get(self.sofa) == sofa for row in rows.rows) - len(indexed.rows)
            if kind == METADATA:
                for row in indexed.rows[:1]:
                    cas.name, cas.own = _name(row)
            elif indexed.rows:
                cas.marks[kind] = self._marks(kind, indexed)
        for kind, pairs in self.others.items():
            count = sum(where == sofa and isinstance(id, (int, str)) and id in members for where, id in pairs)
            cas.others.update({kind: count} if count else {})
        return cas

    def _marks(self, kind: str, structures: FeatureStructures) -> TypeAnnotations:
        rows, lines = structures.rows, structures.lines
        if kind not in (*PARTS, ENTITY):
            # Annotations of the whole document and chains have no place of their own.
            placed = ["begin" in row or "end" in row for row in rows]
            rows, lines = list(compress(rows, placed)), list(compress(lines, placed))
        begins, ends = (self._offsets(kind, key, rows, lines) for key in ("begin", "end"))
        return TypeAnnotations([row.get(self.id) for row in rows], lines, begins, ends, [] if kind in PARTS else rows)

    def _offsets(self, kind: str, key: str, rows: list[Mapping[str, Any]], lines: list[int]) -> list[int]:
        # A number that is 0 may be left out.
        values = [row.get(key, 0) for row in rows]
        numbers = []
        for line, row, value in zip(lines, rows, values, strict=True):
            if type(value) is not int and not (isinstance(value, str) and INTEGER_PATTERN.fullmatch(value)):
                wrong = f"{short_name(kind)} {row.get(self.id)}: {key} is {quoted(str(value))}"
                self.complain(line, wrong, "write an integer")
            else:
                numbers.append(int(value))
        return numbers if len(numbers) == len(values) else [0] * len(values)


def _name(about: Mapping[str, Any]) -> tuple[str | None, bool]:
    """Return the name of a document, and whether that is its id and not the name of a file.

    INCEpTION has its name as title and, in `documentId`, the annotator's; DKPro Core has a path there, with which the
    address of the document ends. Where it is the address, no file is meant.
    """
    id, title, place = (about.get(f"document{key}") for key in ("Id", "Title", "Uri"))
    whole = isinstance(id, str) and isinstance(place, str) and (place == id or place.endswith(f"/{id}"))
    name = id if whole else title or id
    return (name, place == id) if isinstance(name, str) and name else (None, False)
