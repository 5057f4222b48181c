"""The format of BioCreative's gene mention task (GENETAG): a folder of sentences, `GENE.eval` and `ALTGENE.eval`."""

from __future__ import annotations

import os
import re
from collections import Counter
from itertools import accumulate
from pathlib import Path

import numpy as np

from nereval_core.corpus import Layer
from nereval_core.errors import FormatError, Problem, quoted
from nereval_core.readers.bc2gm import GOLD, SENTENCES, TYPE, VARIANTS
from nereval_core.writers import left_out, whole_folder

NAME = "bc2gm"
DESCRIPTION = "BioCreative II gene mentions (GENETAG): a folder of sentences, GENE.eval and ALTGENE.eval"

LOST = {
    "ids": "span ids",
    "links": "lists of links",
    "cores": "cores",
    "scores": "scores",
    "meta": "spans' metadata",
}
OTHER = "leave it out, or write jsonl"


def write(layer: Layer, path: Path) -> tuple[str, ...]:
    """Write a new folder with `sentences.in`, `GENE.eval` and `ALTGENE.eval`.

    The format has one type, GENE, and counts no blanks: blanks at the ends of a span go.

    Raises:
        FormatError: the folder is not empty or cannot be written; an id with a blank or a bar, a text of several
            lines, a discontinuous span, a span of blanks alone.
    """
    texts = layer.documents.texts
    # How many characters that are no blanks stand before each place of a text that has spans.
    before = {
        number: list(accumulate((not char.isspace() for char in texts[number]), initial=0))
        for number in np.unique(layer.doc).tolist()
    }
    problems = [*_bad_documents(layer, path), *_bad_spans(layer, path, before)]
    if problems:
        raise FormatError(problems)
    mentions, variants = [], []
    counts: Counter[str] = Counter()
    for number, name in enumerate(layer.documents.ids):
        spans = np.arange(layer.first[number], layer.first[number + 1])
        if layer.order is not None:
            spans = spans[np.argsort(layer.order[spans], kind="stable")]
        others = set()
        for span in spans.tolist():
            place = int(layer.start[span]), int(layer.end[span])
            mentions.append(_line(name, texts[number], place, before[number]))
            counts["trimmed"] += texts[number][place[0]].isspace() or texts[number][place[1] - 1].isspace()
            for other in layer.alternatives.get(span, ()):
                low, high = max(place[0], other[0]), min(place[1], other[1])
                if low < high and before[number][low] < before[number][high]:
                    others.add(other)
                else:
                    counts["apart"] += 1
        variants += [_line(name, texts[number], other, before[number]) for other in sorted(others)]
    with whole_folder(path) as folder:
        rows = "".join(f"{name} {text}\n" for name, text in zip(layer.documents.ids, texts, strict=True))
        for file, content in (
            (f"sentences{SENTENCES}", rows),
            (GOLD, "".join(mentions)),
            (VARIANTS, "".join(dict.fromkeys(variants))),
        ):
            (folder / file).write_bytes(content.encode())
    return _lost(layer, counts)


def _line(name: str, text: str, place: tuple[int, int], before: list[int]) -> str:
    start, end = place
    return f"{name}|{before[start]} {before[end] - 1}|{text[start:end].strip()}\n"


def _bad_documents(layer: Layer, path: Path) -> list[Problem]:
    problems = []
    for name, text in zip(layer.documents.ids, layer.documents.texts, strict=True):
        if re.search(r"[\s|]", name) or not name.isprintable() or name.startswith("{"):
            found = f"the document id {quoted(name)} cannot stand before a bar and a blank"
            problems.append(Problem(os.fspath(path), None, found, "rename the document, or write jsonl"))
        if "\n" in text or "\r" in text:
            found = f"the text of document {quoted(name)} has more than one line"
            problems.append(Problem(os.fspath(path), None, found, "cut it into sentences, or write jsonl"))
    return problems


def _bad_spans(layer: Layer, path: Path, before: dict[int, list[int]]) -> list[Problem]:
    problems = []
    for span, (number, start, end) in enumerate(
        zip(layer.doc.tolist(), layer.start.tolist(), layer.end.tolist(), strict=True)
    ):
        blank = before[number][start] == before[number][end]
        if blank or span in layer.fragments:
            what = "holds blanks only" if blank else "is discontinuous"
            found = f"span [{start}, {end}) of document {quoted(layer.documents.ids[number])} {what}"
            problems.append(Problem(os.fspath(path), None, found, OTHER))
    return problems


def _lost(layer: Layer, counts: Counter[str]) -> tuple[str, ...]:
    notes = list(left_out(layer, NAME, LOST))
    others = [name for name in layer.types if name != TYPE]
    if others:
        notes.append(f"types written as {TYPE}, the only one there is: {', '.join(others)}")
    if counts["trimmed"]:
        notes.append(f"spans with blanks at their ends, which are not counted: {counts['trimmed']}")
    if counts["apart"]:
        notes.append(f"alternatives that share no character with their span, left out: {counts['apart']}")
    return tuple(notes)
