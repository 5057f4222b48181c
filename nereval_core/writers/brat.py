"""The stand-off format of brat: a folder of `.txt` with an `.ann` beside each."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from nereval_core.corpus import Layer
from nereval_core.problems import FormatError, Problem, quoted
from nereval_core.readers.brat import CODE, NO_ENTRY
from nereval_core.writers import whole_folder
from nereval_core.writers.document_spans import spans_as_read
from nereval_core.writers.writer import Writer

NAME_BYTES = 255 - len(".ann")
"""Bytes that a part of a document id may have as a file name."""
T_ID = re.compile(r"T[0-9]+")
BLANK = re.compile(r"\s")
LINE_ENDS = set("\r\n")
BLANKS = str.maketrans("\r\n\t", "   ")
NOTE_OF_NO_ENTRY = {link: note for note, link in NO_ENTRY.items()}


class BratWriter(Writer):
    """A folder of .txt and .ann files: ids with "/" make subfolders, links become N lines, metadata A lines.

    Where a link of the layer is a code without a database, all codes become annotator's notes, as they stand in
    PharmaCoNER (NIL as `<null>`). Other links without a colon are written with an empty database, `:ID`. A span over a
    line end keeps its offsets, the line end in its quote is a blank: brat itself would split the span there, which
    reads back as another span.
    """

    name = "brat"
    description = "brat stand-off: a folder of .txt and .ann files"
    holds = frozenset(("ids", "links", "rankings", "fragments"))
    suffix: ClassVar[str] = ".ann"

    def write(self, layer: Layer, path: Path) -> tuple[str, ...]:
        problems = [*_bad_ids(layer, path), *_bad_words(layer, path)]
        if problems:
            raise FormatError(problems)
        links = {link for links in layer.links.values() for link in links}
        has_notes = any(":" not in link and _is_code(link) for link in links)
        with whole_folder(path) as folder:
            for number, (name, text) in enumerate(zip(layer.documents.ids, layer.documents.texts, strict=True)):
                base = folder / name
                base.parent.mkdir(parents=True, exist_ok=True)
                base.with_name(base.name + ".txt").write_bytes(text.encode())
                base.with_name(base.name + self.suffix).write_bytes(
                    _annotations(layer, number, has_notes=has_notes).encode()
                )
        n_nil = sum(links.count(NO_ENTRY["<null>"]) for links in layer.links.values()) if has_notes else 0
        return (f"links NIL, written as <null>: {n_nil}",) if n_nil else ()

    def holds_meta(self, meta: Mapping[str, Any]) -> bool:
        """Return whether attributes can say this: names without blanks, and text of a line, or true."""
        return all(map(_is_attribute, meta, meta.values()))


class BioNlpWriter(BratWriter):
    """A folder of .txt and .a1 files, in which the tasks have T lines alone."""

    name = "bionlp"
    description = "BioNLP's shared tasks: a folder of .txt and .a1 files"
    holds = frozenset(("ids", "fragments"))
    suffix = ".a1"

    def holds_meta(self, meta: Mapping[str, Any]) -> bool:
        return not meta


def _is_attribute(key: str, value: Any) -> bool:
    if not key or BLANK.search(key) or (isinstance(value, list) and len(value) < 2):
        return False
    return all(map(_sayable, _values(value)))


def _values(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list) else [value]


def _sayable(value: Any) -> bool:
    return value is True or (isinstance(value, str) and value == value.strip() != "" and not LINE_ENDS & set(value))


def _annotations(layer: Layer, document: int, *, has_notes: bool) -> str:
    spans = spans_as_read(layer, document).tolist()
    ids = [layer.ids.get(span, "") for span in spans]
    if len(set(ids)) < len(ids) or not all(map(T_ID.fullmatch, ids)):
        ids = [f"T{number}" for number in range(1, len(ids) + 1)]
    lines = []
    attributes = []
    n_notes = n_references = 0
    for span, name in zip(spans, ids, strict=True):
        parts = layer.parts(span)
        offsets = ";".join(f"{start} {end}" for start, end in parts)
        lines.append(f"{name}\t{layer.label(span)} {offsets}\t{layer.text(span).translate(BLANKS)}\n")
        for link in layer.links.get(span, ()):
            if has_notes and _is_code(link):
                n_notes += 1
                lines.append(f"#{n_notes}\tAnnotatorNotes {name}\t{NOTE_OF_NO_ENTRY.get(link, link)}\n")
            else:
                n_references += 1
                lines.append(f"N{n_references}\tReference {name} {link if ':' in link else f':{link}'}\t\n")
        attributes += [
            f"{key} {name}{'' if entry is True else f' {entry}'}"
            for key, value in layer.meta.get(span, {}).items()
            for entry in _values(value)
        ]
    lines += [f"A{number}\t{attribute}\n" for number, attribute in enumerate(attributes, start=1)]
    return "".join(lines)


def _is_code(link: str) -> bool:
    """Return whether an annotator's note of this link is read back as the same link."""
    return link not in NO_ENTRY and CODE.fullmatch(link) is not None


def _bad_ids(layer: Layer, path: Path) -> list[Problem]:
    """Return problems of document ids that are not file names, lead out of the folder or would not be read."""
    problems = []
    for name in layer.documents.ids:
        parts = name.split("/")
        if (
            any(not part or part.startswith(".") or len(part.encode()) > NAME_BYTES for part in parts)
            or "\\" in name
            or not name.isprintable()
        ):
            finding = f"the document id {quoted(name)} cannot be a file name"
            problems.append(Problem(os.fspath(path), None, finding, "rename the document, or write jsonl"))
    return problems


def _bad_words(layer: Layer, path: Path) -> list[Problem]:
    """Return problems of types and links with blanks in them, each at its first span: brat's lines would end there."""
    codes, first_spans = np.unique(layer.type, return_index=True)
    words = [("type", layer.types[code], span) for code, span in zip(codes.tolist(), first_spans.tolist(), strict=True)]
    first_of_link: dict[str, int] = {}
    for span in sorted(layer.links):
        for link in layer.links[span]:
            first_of_link.setdefault(link, span)
    words += [("link", link, span) for link, span in sorted(first_of_link.items())]
    return [
        Problem(
            os.fspath(path),
            None,
            f"the {kind} {quoted(word)} has a blank in it, in document {quoted(layer.documents.ids[layer.doc[span]])}, "
            f"{layer.start[span]}-{layer.end[span]} {quoted(layer.text(span))}",
            "rename it, or write jsonl",
        )
        for kind, word, span in words
        if BLANK.search(word) or (kind == "link" and word in ("", ":")) or (kind == "link" and word.endswith(":"))
    ]


WRITERS = (BratWriter(), BioNlpWriter())
