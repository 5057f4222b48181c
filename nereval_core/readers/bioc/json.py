"""Documents of BioC JSON: a collection, a list of them, or documents, one a line or in a list.

The service of PubTator 3 calls a collection's documents by its own name. Lines are known where a file has one document
a line; elsewhere problems name documents and annotations.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from nereval_core.problems import Problem, quoted
from nereval_core.readers.bioc.documents import UNKNOWN, Annotation, Document, Passage
from nereval_core.readers.input.source import SourceFile
from nereval_core.readers.shared.strict_json import items, kind, listed, named

COLLECTIONS = ("documents", "PubTator3")
"""Under what a collection's documents stand."""
DOCUMENT = "passages"
OWN = frozenset(("id", "infons", "passages", "annotations", "relations", "bioctype"))
"""Keys of a document that BioC has; services add others."""
FARTHEST = 10**12
WRITE = "write it as the package bioc does"


def from_json(file: SourceFile, problems: list[Problem], counts: Counter[str]) -> list[Document]:
    """Return the documents of a file; what is wrong goes to `problems`, what is not read is counted.

    Raises:
        FormatError: not readable.
    """
    made = []
    for line, row in items(file, problems):
        rows: list[tuple[int | None, Any]] = [(line, row)]
        if isinstance(row, dict) and DOCUMENT not in row:
            inside = next((row[key] for key in COLLECTIONS if isinstance(row.get(key), list)), None)
            if inside is None:
                problems.append(Problem(file.shown, line, "neither a collection nor a document", WRITE))
                continue
            rows = [(None, one) for one in inside]
        for at, one in rows:
            reading = _Reading(file.shown, at, problems, counts)
            document = reading.document(one)
            if document is not None:
                made.append(document)
    return made


@dataclass(slots=True)
class _Reading:
    """Reads one document; `name` is its id once that is known, `of` an annotation's."""

    shown: str
    line: int | None
    problems: list[Problem]
    counts: Counter[str]
    name: str = ""
    of: str = ""

    def complain(self, found: str, remedy: str) -> None:
        whose = f"annotation {quoted(self.of)} of document " if self.of else "document "
        self.problems.append(Problem(self.shown, self.line, f"{whose}{quoted(self.name)}: {found}", remedy))

    def document(self, row: Any) -> Document | None:
        if not isinstance(row, dict):
            self.complain(f"{kind(row)} where a document should be", WRITE)
            return None
        self.name = named(row.get("id")) or ""
        made = Document(self.shown, self.line, self.name, self.infons(row))
        # Services tell journal and date beside what BioC has a place for.
        more = {key: value for key, value in row.items() if key not in OWN and type(value) in (str, int, float)}
        made.infons = {key: value for key, value in more.items() if not key.startswith("_")} | made.infons
        made.passages = [self.passage(one, "passage") for one in self.rows(row, "passages")]
        self.annotated(row, made.annotations)
        return made

    def passage(self, row: Mapping[str, Any], what: str) -> Passage:
        text = row.get("text")
        if text is not None and not isinstance(text, str):
            self.complain(f"the text of a {what} is {kind(text)}", "write a string")
            text = None
        made = Passage(self.line, self.number(row, "offset", f"a {what}"), text, self.infons(row))
        if what == "passage":
            made.sentences = [self.passage(one, "sentence") for one in self.rows(row, "sentences")]
        self.annotated(row, made.annotations)
        return made

    def annotated(self, row: Mapping[str, Any], annotations: list[Annotation]) -> None:
        """Take the annotations of a document, passage or sentence, and count its relations."""
        self.counts["relations, not read"] += len(listed(row, "relations", self.complain))
        for one in self.rows(row, "annotations"):
            # An id may be empty, if only in what we wrote ourselves.
            name = "" if one.get("id") == "" else named(one.get("id"))
            self.of = name or "without an id"
            made = Annotation(name, self.line, self.infons(one))
            text = one.get("text")
            if text is not None and not isinstance(text, str):
                self.complain(f"its text is {kind(text)}", "write a string")
            else:
                made.text = text
            for place in self.rows(one, "locations"):
                start, length = (self.number(place, key, "a location") for key in ("offset", "length"))
                if min(start, length) > UNKNOWN:
                    made.locations.append((start, length))
            annotations.append(made)
            self.of = ""

    def infons(self, row: Mapping[str, Any]) -> dict[str, Any]:
        found = row.get("infons")
        # PHP writes an empty object as a list.
        if found is None or found == [] or isinstance(found, dict):
            return dict(found or {})
        self.complain(f"infons is {kind(found)}", "write an object")
        return {}

    def rows(self, row: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
        """Return the objects in the list under a key."""
        found = listed(row, key, self.complain)
        wrong = [one for one in found if not isinstance(one, dict)]
        if wrong:
            self.complain(f"{kind(wrong[0])} among its {key}", WRITE)
        return [one for one in found if isinstance(one, dict)]

    def number(self, row: Mapping[str, Any], key: str, what: str) -> int:
        value = row.get(key)
        if type(value) is int and abs(value) < FARTHEST:
            return value
        told = "missing" if key not in row else "too large" if type(value) is int else kind(value)
        self.complain(f"the {key} of {what} is {told}", "write a plain integer")
        return UNKNOWN
