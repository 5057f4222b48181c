"""PubTator: the first line of a text as title, the second as abstract, then one line per span."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from nereval_core.corpus import Layer
from nereval_core.problems import FormatError, Problem, quoted
from nereval_core.readers.biomedical.pubtator import BLANK, NIL, NONE, PARTED, READER, UNKNOWN, VARIANT
from nereval_core.writers import packed_file
from nereval_core.writers.document_spans import spans_with_offsets

NAME, DESCRIPTION = READER.name, READER.description

SHARD = ".pubtator"
HOLDS = frozenset(("links",))
RENAME = "rename it, or write jsonl"


def write(layer: Layer, path: Path) -> tuple[str, ...]:
    """Write documents of one line or two, with their spans in code points, a blank line after each.

    Raises:
        FormatError: a text of more lines, an id, type or link that the lines cannot hold, or a
            place that cannot be written.
    """
    problems = [Problem(os.fspath(path), None, finding, remedy) for finding, remedy in _unwritable(layer)]
    if problems:
        raise FormatError(problems)
    documents = layer.documents
    with packed_file(path) as file:
        for number, (name, text) in enumerate(zip(documents.ids, documents.texts, strict=True)):
            title, _, abstract = text.partition("\n")
            lines = [f"{name}|t|{title}", f"{name}|a|{abstract}"]
            for span, start, end in spans_with_offsets(layer, number):
                link = layer.links.get(span, ("-",))[0]
                parts = [link] if VARIANT.match(link) else link.split(PARTED)
                concepts = PARTED.join(UNKNOWN if part == NIL else part for part in parts)
                mention = BLANK.sub(" ", layer.text(span))
                lines.append(f"{name}\t{start}\t{end}\t{mention}\t{layer.label(span)}\t{concepts}")
            file.write("".join(f"{line}\n" for line in lines).encode() + b"\n")
    return ()


def _unwritable(layer: Layer) -> Iterator[tuple[str, str]]:
    """Yield finding and remedy for ids, texts, types and links that lines cannot hold."""
    for name, text in zip(layer.documents.ids, layer.documents.texts, strict=True):
        if "|" in name or not name.isprintable() or name != name.strip() or name.startswith("{"):
            yield f"the document id {quoted(name)} cannot stand before a bar", RENAME
        if text.count("\n") > 1 or text.endswith(("\n", "\r")) or "\r\n" in text:
            yield f"the text of document {quoted(name)} is not a line or two", "cut it, or write jsonl"
    for label in {layer.types[code] for code in set(layer.type.tolist())}:
        if re.search(r"[\t\n\r]", label):
            yield f"the type {quoted(label)} has a tab or a line end", RENAME
    for link in sorted({links[0] for links in layer.links.values()}):
        parts = [link] if VARIANT.match(link) else link.split(PARTED)
        wrong = any(part in (*NONE, UNKNOWN) or part != part.strip() for part in parts)
        if wrong or re.search(r"[\t\n\r]", link) or (";" in link and not VARIANT.match(link)):
            yield f"the link {quoted(link)} cannot stand among concepts", RENAME
