"""The format of BioCreative's gene mention task (GENETAG): a folder of sentences, `GENE.eval` and `ALTGENE.eval`."""

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
from nereval_core.writers import whole_folder
from nereval_core.writers.document_spans import spans_as_read

NAME = "bc2gm"
DESCRIPTION = "BioCreative II gene mentions (GENETAG): a folder of sentences, GENE.eval and ALTGENE.eval"

HOLDS = frozenset(("alternatives",))


def unsayable(layer: Layer) -> Iterator[tuple[int, str]]:
    """Yield the spans that hold blanks only, which are not counted."""
    for span in range(len(layer)):
        if _covered(layer, span, int(layer.start[span]), int(layer.end[span])).isspace():
            yield span, "holds blanks only"


def changed(layer: Layer) -> Iterator[str]:
    """Yield messages about types, blanks at the ends of spans, and alternatives that would change."""
    others = [layer.types[code] for code in np.unique(layer.type).tolist() if layer.types[code] != TYPE]
    if others:
        yield f"{TYPE} is the only type of {NAME}; these would be written as {TYPE}: {', '.join(map(quoted, others))}"
    trimmed = sum(_trimmed(layer, span) for span in range(len(layer)))
    if trimmed:
        yield f"spans with blanks at an end, which are not counted: {trimmed}"
    apart = sum(
        not _shared(layer, span, other) for span, alternatives in layer.alternatives.items() for other in alternatives
    )
    if apart:
        yield f"alternatives that share no character with their span, so that their span would be unknown: {apart}"
    common = sum(
        _is_common(layer, span, other) for span, alternatives in layer.alternatives.items() for other in alternatives
    )
    if common:
        yield f"alternatives that share a character with another span, and would be read as its alternatives: {common}"


def write(layer: Layer, path: Path) -> tuple[str, ...]:
    """Write a new folder with `sentences.in`, `GENE.eval` and `ALTGENE.eval`.

    The format has one type, GENE, and counts no blanks: blanks at the ends of a span are dropped.

    Raises:
        FormatError: the folder is not empty or cannot be written; an id with a blank or a bar, a text of several lines.
    """
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
