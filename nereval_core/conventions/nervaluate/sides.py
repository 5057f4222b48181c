"""A side as nervaluate is given it: spans in characters, or those that its loaders cut from tags."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from nereval_core.arrays import Int64
from nereval_core.conventions.nervaluate.matching import Units
from nereval_core.conventions.nervaluate.records import Numbered
from nereval_core.conventions.outcome import Content, Marks
from nereval_core.corpus import Layer
from nereval_core.problems import Problem, quoted
from nereval_core.readers.shared.token_tags import Tagged


@dataclass(frozen=True, eq=False)
class Side:
    """One side as nervaluate is given it: spans, names of their types, and what records show of them."""

    units: Units
    types: tuple[str, ...]
    numbered: Callable[[], Numbered]
    content: Content


def of_layer(layer: Layer) -> Side:
    start = layer.documents.base[layer.doc]
    end = start + layer.end
    start += layer.start
    order = np.arange(len(layer)) if layer.order is None else layer.order

    def numbered() -> Numbered:
        unit = np.empty(len(layer), np.int64)
        unit[np.argsort(order, kind="stable")] = np.arange(len(layer))
        return Numbered(Marks.of_layer(layer), unit)

    return Side(Units(start, end, layer.type, order), layer.types, numbered, Content.of_layer(layer))


def of_tags(side: Tagged) -> Side:
    """Return the spans of tags as nervaluate's loaders cut them."""
    first, last, kind, types = _cut(side)
    units = Units(first, last + 1, kind, np.arange(len(first)))
    marks = Marks.of_tokens(side, first, last, kind, types)
    return Side(units, types, lambda: Numbered(marks, np.arange(len(first))), Content.of_tags(side, len(first)))


def _cut(side: Tagged) -> tuple[Int64, Int64, Int64, tuple[str, ...]]:
    """Return first and last token and type of each span, and the names of the types."""
    distinct = tuple(dict.fromkeys(side.tags))
    number = {tag: code for code, tag in enumerate(distinct)}
    codes = np.fromiter(map(number.__getitem__, side.tags), np.int64, len(side.tags))
    types = tuple(sorted({tag[2:] for tag in distinct if tag != "O"}))
    code = {name: place for place, name in enumerate(types)}
    kind = np.array([-1 if tag == "O" else code[tag[2:]] for tag in distinct], np.int64)[codes]
    begins = np.array([tag[:1] == "B" for tag in distinct], bool)[codes]
    edge = np.zeros(len(codes) + 1, bool)
    edge[side.sentences] = True
    edge[1:-1] |= kind[1:] != kind[:-1]
    edge[:-1] |= begins
    first = np.flatnonzero(edge[:-1] & (kind >= 0))
    last = np.flatnonzero(edge[1:] & (kind >= 0))
    return first, last, kind[first], types


def faults(side: Tagged, version: str) -> list[Problem]:
    """Return what this version stops at: a span that begins with a tag that is neither B- nor I-."""
    return [
        Problem(
            *side.place(token),
            f"{quoted(side.tags[token])} begins a span: nervaluate {version} stops with 'Invalid tag format'",
            "begin spans with B- or I-, or score with --loader dict",
        )
        for token in _cut(side)[0].tolist()
        if not side.tags[token].startswith(("B-", "I-"))
    ]
