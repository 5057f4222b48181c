"""Texts with their spans written inside them, as the annotators of the demo corpora wrote them.

A file starts with its types and goes on with documents:

    types N=NORMALIZABLES P=PROTEINAS
    === ward-01 | language: en | date: 2016-03-04
    No [aspirin|N=] since Monday; [alpha-|N=alpha-blocker~1] and [beta-[blockers|~1]|N=beta-blocker] were stopped.

`[text|type]` is a span, and spans nest. `=name` links it to a concept; an empty name means the span's own text in small
letters, hyphens for blanks. Fragments with the same `~key` are one discontinuous span, its type at the first of
them. A backslash takes the meaning from the character after it. Whatever is not of this form is an error.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

TAG = re.compile(r"(?:(?P<type>[A-Z])(?:=(?P<concept>[^=~\]]*))?)?(?:~(?P<key>\w+))?")
FRAGMENT = tuple[int, int]


class MarkupError(ValueError):
    """A file that does not follow the markup, with the place."""


@dataclass(frozen=True, slots=True)
class Span:
    """A typed span: sorted disjoint fragments in code points, end exclusive; one fragment if it is continuous."""

    fragments: tuple[FRAGMENT, ...]
    label: str
    concept: str | None = None

    @property
    def start(self) -> int:
        return self.fragments[0][0]

    @property
    def end(self) -> int:
        return self.fragments[-1][1]

    @property
    def key(self) -> tuple[int, int, str, tuple[FRAGMENT, ...]]:
        """What spans of a document are ordered by; links do not make two spans out of one."""
        return self.start, self.end, self.label, self.fragments


@dataclass(frozen=True, slots=True)
class Document:
    id: str
    meta: Mapping[str, str]
    text: str
    spans: tuple[Span, ...]


def read(path: Path) -> list[Document]:
    """Read a marked-up file.

    Raises:
        MarkupError: at the first thing that is not of the form described above.
    """
    lines = path.read_text(encoding="utf-8").split("\n")
    names = types(path)
    documents: list[Document] = []
    for number, head, body in _blocks(path, lines):
        name, *fields = (part.strip() for part in head.removeprefix("===").split("|"))
        place = f"{path}:{number}: document {name}"
        if not name or any(name == document.id for document in documents):
            raise MarkupError(f"{place}: an id is missing or given twice")
        meta = dict(field.split(": ", 1) for field in fields)
        text, spans = parse("\n".join(body).strip("\n"), names, place)
        documents.append(Document(name, meta, text, spans))
    return documents


def types(path: Path) -> dict[str, str]:
    """Return the types that the first line of a file names, by their letters."""
    first = path.read_text(encoding="utf-8").split("\n", 1)[0]
    if not first.startswith("types "):
        raise MarkupError(f"{path}:1: the first line must name the types: types N=NAME …")
    return dict(pair.split("=", 1) for pair in first.split()[1:])


def _blocks(path: Path, lines: list[str]) -> Iterator[tuple[int, str, list[str]]]:
    heads = [number for number, line in enumerate(lines) if line.startswith("===")]
    if not heads or any(line.strip() for line in lines[1 : heads[0]]):
        raise MarkupError(f"{path}: text before the first document")
    for head, after in zip(heads, [*heads[1:], len(lines)], strict=True):
        yield head + 1, lines[head], lines[head + 1 : after]


def parse(source: str, names: Mapping[str, str], place: str) -> tuple[str, tuple[Span, ...]]:
    """Return the text without its markup, and the spans in document order."""
    text: list[str] = []
    opened: list[int] = []
    spans: list[Span] = []
    groups: dict[str, tuple[re.Match[str], list[FRAGMENT]]] = {}
    at = 0
    while at < len(source):
        char = source[at]
        if char == "\\" and at + 1 < len(source):
            text.append(source[at + 1])
            at += 2
        elif char == "[":
            opened.append(len(text))
            at += 1
        elif char == "|":
            tag = TAG.match(source, at + 1)
            if not opened or tag is None or not tag[0] or not source.startswith("]", tag.end()):
                raise MarkupError(f"{place}: not a tag: {source[at : at + 20]!r}")
            start, end = opened.pop(), len(text)
            covered = "".join(text[start:end])
            if not covered or covered != covered.strip():
                raise MarkupError(f"{place}: a span is empty or has a blank at its edge: {covered!r}")
            if tag["type"] is not None and tag["type"] not in names:
                raise MarkupError(f"{place}: unknown type {tag['type']}")
            if tag["key"] is None:
                spans.append(_span([(start, end)], tag, names, covered))
            elif tag["key"] in groups and tag["type"] is None:
                groups[tag["key"]][1].append((start, end))
            elif tag["key"] not in groups and tag["type"] is not None:
                groups[tag["key"]] = tag, [(start, end)]
            else:
                raise MarkupError(f"{place}: fragment {tag['key']} must have its type once, at its first part")
            at = tag.end() + 1
        elif char == "]":
            raise MarkupError(f"{place}: a bracket without a type closes before {source[at : at + 20]!r}")
        else:
            text.append(char)
            at += 1
    if opened:
        raise MarkupError(f"{place}: a bracket is never closed: {''.join(text[opened[-1] :])[:20]!r}")
    for tag, parts in groups.values():
        if len(parts) < 2:
            raise MarkupError(f"{place}: fragment {tag['key']} has no second part")
        parts.sort()
        spans.append(_span(parts, tag, names, " ".join("".join(text[a:b]) for a, b in parts)))
    if len({span.key for span in spans}) < len(spans):
        raise MarkupError(f"{place}: the same span twice")
    return "".join(text), tuple(sorted(spans, key=lambda span: span.key))


def _span(parts: list[FRAGMENT], tag: re.Match[str], names: Mapping[str, str], covered: str) -> Span:
    concept = tag["concept"]
    return Span(tuple(parts), names[tag["type"]], covered.lower().replace(" ", "-") if concept == "" else concept)
