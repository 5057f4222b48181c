"""Tell from whole texts which elements structure them, and which mark a piece of running text.

Running text is mixed content: characters and elements side by side. An element that stands beside elements alone, and
encloses others of another kind, holds a part of the document: a root, a record, a section. Headers and fields beside
such parts hold no text of the document.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

ATTRIBUTES = r"""(?:\s+[\w.:-]+\s*=\s*(?:"[^"<]*"|'[^'<]*'|[^\s"'<>]+))*"""
NAME_OF = r"[^\W\d][\w.:-]*"
TAG = re.compile(rf"<(?:(/)?({NAME_OF})({ATTRIBUTES})\s*(/)?>|!--(?:(?!<!--).)*?-->|[?!][^<>]*>)", re.DOTALL)
"""A tag, or what is passed over: a comment, an instruction, a declaration."""
DECLARED = re.compile(r"\s*<(?:\?xml\b|!doctype\b)", re.IGNORECASE)
OFFSET_ATTRIBUTES = tuple(
    tuple(re.compile(rf"\s{name}\s*=\s*[\"']?\d+\b", re.IGNORECASE) for name in pair)
    for pair in (("start", "end"), ("begin", "end"), ("offset", "length"), ("startnode", "endnode"))
)
"""Attributes by which an element gives the place of text that stands elsewhere."""

DOCUMENTS = ("doc", "document", "record", "tei", "tei.2", "article")
"""Elements that are a document each: of these names the first that a text has."""
IDS = ("docno", "docid")
LINE_BREAKS = frozenset(("br", "lb", "pb", "cb"))
HOLDERS = frozenset(("p", "s", "sentence", "paragraph", "hl", "headline", "ab", "post", "turn"))
"""Elements that hold running text; what stands in them is not part of the structure."""
STRUCTURE = frozenset(
    (
        *("doc", *IDS, "text", "txt", "body", "p", "s", "br", "lb"),
        *("hl", "headline", "dateline", "preamble", "trailer", "slug"),
    )
)
"""Elements, in small letters, that are not spans in texts without the elements of MUC."""
TYPOGRAPHY = frozenset(("i", "b", "em", "strong", "u", "sup", "sub", "hi"))
"""Elements that set letters, unless attributes say more of most: HAREM's names are `<EM CATEG="PESSOA">`."""
OF_LETTERS = frozenset(("class", "style", "rend", "rendition", "id", "lang", "dir", "title"))
ATTRIBUTE_NAME = re.compile(r"\s([\w.:-]+)\s*=")
BLOCK_NAMES = (
    *("div", "section", "head", "title", "abstract", "passage", "caption", "lg", "l", "list", "table"),
    *("root", "corpus", "teicorpus"),
)
BLOCKS = STRUCTURE.union(DOCUMENTS, HOLDERS, BLOCK_NAMES) - LINE_BREAKS
"""Elements of XML documents that no mention of an entity encloses."""
HEADERS = frozenset(
    ("teiheader", "header", "metadata", "docinfo", "standoff", "facsimile", "doctype", "datetime", "date_time")
) | frozenset(("speaker", "poster", "postdate", "endtime"))
"""Elements whose words are not the document's."""
TEI = frozenset(("tei", "tei.2", "teicorpus", "teiheader"))
TEI_NAMES = frozenset(
    (
        *("persname", "placename", "orgname", "geogname", "objectname", "eventname", "name", "rs", "date", "time"),
        *("settlement", "district", "region", "country", "bloc", "geogfeat", "term", "measure", "num"),
    )
)
"""The elements of TEI, in small letters, that name or refer to something."""
WRAPPED_LINES = 2
"""Lines that an element must enclose, each one whole, to be told for no mention."""
SENTENCE_END = (".", "!", "?", "…", "。")


@dataclass(frozen=True, slots=True)
class Structure:
    """What the elements of texts are, by their names in small letters.

    `parts` are not spans: they enclose parts of documents, or break and set lines. The words of `skipped` are not the
    document's. `document` is the element that is a document, "" where none is. With `tei` only TEI_NAMES are spans.
    `offsets` is the first element that gives the place of text that stands elsewhere.
    """

    parts: frozenset[str] = STRUCTURE
    skipped: frozenset[str] = frozenset()
    document: str = ""
    tei: bool = False
    offsets: re.Match[str] | None = None


@dataclass(slots=True)
class _Element:
    name: str
    children: Counter[str] = field(default_factory=Counter)
    has_text: bool = False


@dataclass(slots=True)
class _Content:
    """What elements enclose and stand beside: by name the parents, the kinds of elements within, and the numbers."""

    parents: dict[str, set[str]] = field(default_factory=dict)
    within: dict[str, set[str]] = field(default_factory=dict)
    mixed: set[str] = field(default_factory=set)
    counts: Counter[str] = field(default_factory=Counter)
    described: Counter[str] = field(default_factory=Counter)

    def close(self, element: _Element) -> None:
        """Take in what an element encloses; its own text makes what stands in it running text."""
        for name in element.children:
            self.parents.setdefault(name, set()).add(element.name)
            self.within.setdefault(element.name, set()).add(name)
        if element.has_text or element.name in HOLDERS:
            self.mixed.update(element.children)


def local_name(name: str) -> str:
    """Return the name of an element in small letters, without the prefix of a namespace."""
    return name.lower().rpartition(":")[2]


def is_whole_document(text: str) -> bool:
    """Tell whether a text is an XML document: declared, or one element that encloses all of it over several lines."""
    if DECLARED.match(text):
        return True
    first = TAG.match(text, len(text) - len(text.lstrip()))
    if first is None or not first[2] or first[1] or first[4]:
        return False
    body = text.rstrip()
    if not body.lower().endswith(f"</{first[2].lower()}>"):
        return False
    depth, names = 0, set()
    for tag in TAG.finditer(body):
        if tag[2] and tag[2].lower() == first[2].lower() and not tag[4]:
            depth += -1 if tag[1] else 1
            if not depth and tag.end() < len(body):
                return False
        elif tag[2]:
            names.add(local_name(tag[2]))
    return bool(names & BLOCKS) or ("\n" in body and bool(names - LINE_BREAKS))


def structure_of_documents(texts: Sequence[str]) -> Structure:
    """Return the structure of texts that are XML documents, or hold elements for documents."""
    content = _Content()
    offsets = None
    for text in texts:
        root = _Element("")
        _walk(text, 0, len(text), root, content)
        offsets = offsets or _placed_elsewhere(text)
    names = set(content.counts)
    document = next((name for name in DOCUMENTS if name in names and (name == "doc" or name not in content.mixed)), "")
    typography = {name for name in TYPOGRAPHY if content.described[name] <= content.counts[name] / 2}
    marks = STRUCTURE | BLOCKS | LINE_BREAKS | typography
    parts = frozenset(_parts(content, {"", *(names & BLOCKS)}))
    fields = {
        name
        for name in names - marks - parts - HEADERS - content.mixed
        if not content.within.get(name) and content.parents[name] <= (parts - STRUCTURE - {""}) | {*DOCUMENTS[1:]}
    }
    tei = bool(names & TEI)
    skipped = HEADERS & names if tei else (HEADERS & names) | fields
    return Structure((marks & names) | parts - {""}, skipped, document, tei, offsets)


def structure_of_lines(lines: Iterable[str]) -> Structure:
    """Return the structure of documents of a line each: elements that enclose each line in which they stand."""
    content = _Content()
    wrapped: Counter[str] = Counter()
    ended: set[str] = set()
    counts: Counter[str] = Counter()
    for line in lines:
        body = line.strip()
        counts.update(local_name(tag[2]) for tag in TAG.finditer(body) if tag[2] and not tag[1])
        if not body.startswith("<") or not body.endswith(">"):
            continue
        root = _Element("")
        _walk(body, 0, len(body), root, content)
        if not root.has_text and sum(root.children.values()) == 1:
            (name,) = root.children
            wrapped[name] += 1
            if TAG.sub("", body).rstrip().endswith(SENTENCE_END):
                ended.add(name)
    return Structure(
        STRUCTURE.union(
            name
            for name, count in wrapped.items()
            if count == counts[name]
            and content.within.get(name, set()) - {name} - LINE_BREAKS
            and (count >= WRAPPED_LINES or name in ended)
        )
    )


def _walk(text: str, low: int, high: int, root: _Element, content: _Content) -> None:
    """Take in the elements of a text; one that is left open ends with that around it."""
    stack, at = [root], low
    for tag in TAG.finditer(text, low, high):
        if at < tag.start() and not stack[-1].has_text and text[at : tag.start()].strip():
            stack[-1].has_text = True
        at = tag.end()
        if not tag[2] or tag[4]:
            continue
        name = local_name(tag[2])
        if not tag[1]:
            stack[-1].children[name] += 1
            content.counts[name] += 1
            attributes = ATTRIBUTE_NAME.findall(tag[3]) if name in TYPOGRAPHY and tag[3] else ()
            content.described[name] += any(local_name(each) not in OF_LETTERS for each in attributes)
            stack.append(_Element(name))
        elif any(element.name == name for element in stack[1:]):
            while stack[-1].name != name:
                content.close(stack.pop())
            content.close(stack.pop())
    if text[at:high].strip():
        stack[-1].has_text = True
    for element in reversed(stack):
        content.close(element)


def _parts(content: _Content, named: set[str]) -> set[str]:
    """Return the elements that enclose parts of documents; `named` are those recognised by their names."""
    parts = named
    while True:
        more = {
            name
            for name in content.counts.keys() - parts
            if name not in HEADERS
            and content.within.get(name, set()) - {name} - LINE_BREAKS
            and (
                content.within[name] & (parts | HEADERS)
                or (name not in content.mixed and content.parents.get(name, set()) <= parts)
            )
        }
        if not more:
            return parts
        parts = parts | more


def _placed_elsewhere(text: str) -> re.Match[str] | None:
    """Return the first element that is empty, or a `charseq` of ACE, and gives its text's place by its attributes."""
    for tag in TAG.finditer(text):
        if tag[3] and (tag[4] or local_name(tag[2]) in ("charseq", "annotation")):
            for start, end in OFFSET_ATTRIBUTES:
                if start.search(tag[3]) and end.search(tag[3]):
                    return tag
    return None
