"""Type systems of UIMA: which types there are, what each is a kind of, and the features it has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from xml.parsers.expat import XMLParserType

from nereval_core.problems import Problem, quoted
from nereval_core.readers.shared.safe_xml import Attributes, Start, parsed

STRING = "uima.cas.String"
SPACE = "http://uima.apache.org/resourceSpecifier "
WORDS = {"name", "supertypeName", "rangeTypeName"}
"""Elements of a description whose text is read."""


@dataclass(frozen=True, slots=True)
class Types:
    """By the name of a type the one that it is a kind of, and its own features with the type of their values."""

    parents: Mapping[str, str] = field(default_factory=dict)
    features: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def __or__(self, other: Types) -> Types:
        return Types({**self.parents, **other.parents}, {**self.features, **other.features})

    def line(self, name: str) -> list[str]:
        """Return a type and all those that it is a kind of, nearest first."""
        found = [name]
        while (parent := self.parents.get(found[-1])) is not None and parent not in found:
            found.append(parent)
        return found

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


def types_of_xml(raw: bytes, shown: str, problems: list[Problem]) -> Types:
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
                found = f"{quoted(name)} is no description of a type system"
                remedy = "put the TypeSystem.xml of the export there"
                problems.append(Problem(shown, parser.CurrentLineNumber, found, remedy))
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

    parsed(raw, shown, problems, listen)
    return Types(parents, features)


def types_of_json(given: Any) -> tuple[Types, Mapping[str, str]]:
    """Return what `%TYPES` of a JSON CAS declares, and the names of types by the names it has for them."""
    parents: dict[str, str] = {}
    features: dict[str, dict[str, str]] = {}
    names: dict[str, str] = {}
    for key, one in given.items() if isinstance(given, dict) else ():
        if not isinstance(one, dict):
            continue
        name = names[key] = _string(one.get("%NAME")) or key
        parents[name] = _string(one.get("%SUPER_TYPE"))
        features[name] = {
            feature: _string(about.get("%RANGE"))
            for feature, about in one.items()
            if isinstance(about, dict) and not feature.startswith("%")
        }
    return Types(parents, features), names


def _string(value: Any) -> str:
    return value if isinstance(value, str) else ""
