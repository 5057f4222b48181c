"""The formats of biomedical corpora that are lines of text: PubTator, and BioCreative's gene mentions (GENETAG)."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path

import numpy as np

from nereval_core.corpus import Layer
from nereval_core.problems import FormatError, Problem, quoted
from nereval_core.readers.biomedical.bc2gm import GOLD, SENTENCES, TYPE, VARIANTS
from nereval_core.readers.biomedical.pubtator import BLANK, NIL, NONE, PARTED, READER, UNKNOWN, VARIANT
from nereval_core.writers import packed_file, whole_folder
from nereval_core.writers.document_spans import spans_as_read, spans_with_offsets
from nereval_core.writers.writer import Writer

RENAME = "rename it, or write jsonl"


class PubtatorWriter(Writer):
    """Documents of one line or two, title and abstract, with a line a span and a blank line after each document.

    Offsets are code points. A text of more lines, and ids, types and links that lines cannot hold are refused.
    """

    name, description = READER.name, READER.description
    holds = frozenset(("links",))
    shard = ".pubtator"

    def write(self, layer: Layer, path: Path) -> tuple[str, ...]:
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


class Bc2gmWriter(Writer):
    """A folder of sentences, `GENE.eval` and `ALTGENE.eval`.

    The format has one type, GENE, and counts no blanks: blanks at the ends of a span are dropped. Ids with a blank or a
    bar and texts of several lines are refused.
    """

    name = "bc2gm"
    description = "BioCreative II gene mentions (GENETAG): a folder of sentences, GENE.eval and ALTGENE.eval"
    holds = frozenset(("alternatives",))

    def unsayable(self, layer: Layer) -> Iterator[tuple[int, str]]:
        for span in range(len(layer)):
            if _covered(layer, span, int(layer.start[span]), int(layer.end[span])).isspace():
                yield span, "holds blanks only"

    def changed(self, layer: Layer) -> Iterator[str]:
        others = [layer.types[code] for code in np.unique(layer.type).tolist() if layer.types[code] != TYPE]
        if others:
            names = ", ".join(map(quoted, others))
            yield f"{TYPE} is the only type of {self.name}; these would be written as {TYPE}: {names}"
        trimmed = sum(_trimmed(layer, span) for span in range(len(layer)))
        if trimmed:
            yield f"spans with blanks at an end, which are not counted: {trimmed}"
        apart = sum(
            not _shared(layer, span, other)
            for span, alternatives in layer.alternatives.items()
            for other in alternatives
        )
        if apart:
            yield f"alternatives that share no character with their span, so that their span would be unknown: {apart}"
        common = sum(
            _is_common(layer, span, other)
            for span, alternatives in layer.alternatives.items()
            for other in alternatives
        )
        if common:
            finding = "alternatives that share a character with another span, and would be read as its alternatives"
            yield f"{finding}: {common}"

    def write(self, layer: Layer, path: Path) -> tuple[str, ...]:
        texts = layer.documents.texts
        problems = _bad_documents(layer, path)
        if problems:
            raise FormatError(problems)
        mentions, variants = [], []
        for number, name in enumerate(layer.documents.ids):
            spans = spans_as_read(layer, number).tolist()
            # The number of characters other than blanks before each place of the text.
            before = list(accumulate((not char.isspace() for char in texts[number]), initial=0)) if spans else []
            others = set()
            for span in spans:
                mentions.append(_line(name, texts[number], (int(layer.start[span]), int(layer.end[span])), before))
                others |= {other for other in layer.alternatives.get(span, ()) if _shared(layer, span, other)}
            variants += [_line(name, texts[number], other, before) for other in sorted(others)]
        with whole_folder(path) as folder:
            rows = "".join(f"{name} {text}\n" for name, text in zip(layer.documents.ids, texts, strict=True))
            for file, content in (
                (f"sentences{SENTENCES}", rows),
                (GOLD, "".join(mentions)),
                (VARIANTS, "".join(dict.fromkeys(variants))),
            ):
                (folder / file).write_bytes(content.encode())
        return ()


def _covered(layer: Layer, span: int, start: int, end: int) -> str:
    return str(layer.documents.texts[layer.doc[span]][start:end])


def _trimmed(layer: Layer, span: int) -> bool:
    text = _covered(layer, span, int(layer.start[span]), int(layer.end[span]))
    return not text.isspace() and text != text.strip()


def _shared(layer: Layer, span: int, other: tuple[int, int]) -> bool:
    """Tell whether a span and one of its alternatives share a character that is counted."""
    low, high = max(int(layer.start[span]), other[0]), min(int(layer.end[span]), other[1])
    return bool(_covered(layer, span, low, high).strip()) if low < high else False


def _is_common(layer: Layer, span: int, other: tuple[int, int]) -> bool:
    """Tell whether an alternative of a span shares a character with a span that has no such alternative."""
    number = int(layer.doc[span])
    spans = range(int(layer.first[number]), int(layer.first[number + 1]))
    return any(
        other not in layer.alternatives.get(neighbour, ()) and _shared(layer, neighbour, other) for neighbour in spans
    )


def _line(name: str, text: str, place: tuple[int, int], before: list[int]) -> str:
    start, end = place
    return f"{name}|{before[start]} {before[end] - 1}|{text[start:end].strip()}\n"


def _bad_documents(layer: Layer, path: Path) -> list[Problem]:
    problems = []
    for name, text in zip(layer.documents.ids, layer.documents.texts, strict=True):
        if re.search(r"[\s|]", name) or not name.isprintable() or name.startswith("{"):
            finding = f"the document id {quoted(name)} cannot stand before a bar and a blank"
            problems.append(Problem(os.fspath(path), None, finding, "rename the document, or write jsonl"))
        if "\n" in text or "\r" in text:
            finding = f"the text of document {quoted(name)} has more than one line"
            problems.append(Problem(os.fspath(path), None, finding, "cut it into sentences, or write jsonl"))
    return problems


WRITERS = (PubtatorWriter(), Bc2gmWriter())
