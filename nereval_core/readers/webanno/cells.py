"""Annotations in the cells of WebAnno TSV 3: values, stacked by bars, and the numbers that join them over rows."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import NamedTuple

from nereval_core.problems import Problem, quoted, quoted_apart
from nereval_core.readers.webanno.rows import Row, Rows, SpanLayer

TYPES, LINK = ("label", "value"), "identifier"
"""Features by the names they usually have."""
NOTHING, EMPTY = "_", "*"
"""No annotation in a cell, and one without a value."""
STACKED = re.compile(r"(?:\A|\|)((?:\\.|[^|\\]|\\\Z)*)", re.DOTALL)
NUMBERED = re.compile(r"((?:\\.|[^\\]|\\\Z)*?)(?:\[([0-9]{1,9})\])?", re.DOTALL)
ESCAPED = re.compile(r"\\(.)", re.DOTALL)
CONTROL = {"t": "\t", "n": "\n"}


@dataclass(slots=True)
class Annotation:
    """A span of a layer, offsets as the file counts; it was met first in `row`, last in `last`."""

    row: Row
    last: Row
    begin: int
    end: int
    label: str
    link: str | None


class Value(NamedTuple):
    """What a cell says of one annotation: None where nothing, and its number where it has one."""

    text: str | None
    number: str | None


def type_feature(layer: SpanLayer, wanted: int | str | None) -> str | None:
    """Return the feature that gives types: the one wanted, by its name or number from 1, else of TYPES, else the first.

    None where there is no such feature.
    """
    names = list(layer.features)
    if isinstance(wanted, int):
        return names[wanted - 1] if 0 < wanted <= len(names) else None
    if wanted is None:
        wanted = next((name for name in TYPES if name in names), names[0])
    return wanted if wanted in names else None


def spans_of(
    rows: Rows, layer: SpanLayer, feature: str, counts: Counter[str], problems: list[Problem]
) -> list[Annotation]:
    """Return the annotations of a layer in the order in which they begin, their types from one of its features.

    One without a value is called as the layer is. What is left out, filled in or assumed goes to the counts.
    """
    place = layer.features[feature]
    link = layer.features.get(LINK) if feature != LINK else None
    name = layer.short
    found: list[Annotation] = []
    joined: dict[str, Annotation] = {}
    for row in rows.rows:
        cell = row.fields[place]
        beside = cell if link is None else row.fields[link]
        if cell == beside == NOTHING:
            continue
        values = _values(cell)
        links = values if link is None else _values(beside)
        if NOTHING in (cell, beside) or [one.number for one in values] != [one.number for one in links]:
            said = f"{quoted(cell)} and {quoted(beside)} in two columns of {name}"
            problems.append(Problem(rows.file.shown, row.line, said, "write as many values, with the same numbers"))
            continue
        for (value, number), (linked, _) in zip(values, links, strict=True):
            one = Annotation(row, row, row.begin, row.end, value or name, None if link is None else linked)
            if not value and number not in joined:
                counts[f"annotations without a value, called {quoted(name)}"] += 1
            if number in joined:
                said = _extended(joined[number], one, counts)
                if said:
                    remedy = "give each annotation its own number, and one value in all of its rows"
                    problems.append(Problem(rows.file.shown, row.line, f"[{number}] {said}", remedy))
                continue
            found.append(one)
            if number is not None:
                joined[number] = one
    counts["annotations of no character, left out"] += sum(one.begin == one.end for one in found)
    return [one for one in found if one.begin < one.end]


def _extended(known: Annotation, more: Annotation, counts: Counter[str]) -> str:
    """Let an annotation reach over a further row; return what is wrong with that, or nothing."""
    if known.last is more.row:
        return "stands twice in a row"
    one, other = ((one.label, one.link or "") for one in (more, known))
    differ = next((pair for pair in zip(one, other, strict=True) if pair[0] != pair[1]), None)
    if differ is not None:
        here, there = quoted_apart(*differ)
        return f"is {here} here and {there} at line {known.row.line}"
    counts["times an annotation passes over tokens, which are taken with it"] += more.row.token > known.last.token + 1
    known.last, known.end = more.row, max(known.end, more.end)
    return ""


def _values(cell: str) -> list[Value]:
    """Return what a cell says of the annotations stacked in it."""
    if "|" not in cell and "[" not in cell and "\\" not in cell:
        return [Value(None if cell == EMPTY else cell, None)]
    return list(map(_value, STACKED.findall(cell)))


def _value(written: str) -> Value:
    found = NUMBERED.fullmatch(written)
    assert found is not None
    return Value(None if found[1] == EMPTY else ESCAPED.sub(_plain, found[1]), found[2])


def _plain(escaped: re.Match[str]) -> str:
    return CONTROL.get(escaped[1], escaped[1])
