"""Join the readings of several parts, which may differ in format, into one layer."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from types import MappingProxyType
from typing import Any

import numpy as np

from nereval_core.arrays import Int64
from nereval_core.corpus import SPAN_KEYS, Documents, Intervals, Layer, Place, frozen
from nereval_core.corpus.subset import select_documents, select_spans
from nereval_core.corpus.texts import Texts
from nereval_core.problems import FormatError, Problem, counted, quoted
from nereval_core.readers.read_settings import Reading

BETWEEN = " + "
"""Separator of the formats of parts that differ."""
MENDED = re.compile(r"([0-9]+) malformed (chunk|tag)s? (.*)")


@dataclass(frozen=True)
class Part:
    """The reading of a part; a `borrowed` one has no texts of its own and took those of all of gold's documents."""

    reading: Reading
    borrowed: bool = False


def join_parts(parts: Sequence[Part], *, source: str, name: str) -> Reading:
    """Return the documents and spans of all parts as one layer of this name, in the order of the parts.

    Documents without ids are numbered through. Notes are told with the part they are about. `scheme` is what all parts
    have, None where they differ.

    Raises:
        FormatError: a document in two parts, or ids in some parts only; the places in both are named.
    """
    readings = [part.reading for part in parts]
    _check_named(readings)
    kept = _kept(parts)
    readings = [restrict_reading(reading, some) for reading, some in zip(readings, kept, strict=True)]
    documents = _documents(readings)
    schemes = {reading.scheme for reading in readings}
    return Reading(
        documents,
        _layer(readings, documents, name),
        BETWEEN.join(sorted({reading.format for reading in readings})),
        tuple(f"{reading.source}: {note}" for reading in readings for note in _told(reading)),
        scheme=next(iter(schemes)) if len(schemes) == 1 else None,
        source=source,
        places=[place for reading in readings for place in _places(reading)],
        mended=_mended([reading.mended for reading in readings if reading.mended]),
    )


def restrict_reading(reading: Reading, numbers: Int64) -> Reading:
    """Return a reading of these documents alone (increasing numbers)."""
    documents = select_documents(reading.documents, numbers)
    if documents is reading.documents:
        return reading
    places = reading.places
    return replace(
        reading,
        documents=documents,
        layer=select_spans(reading.layer, numbers, documents),
        places=[places[number] for number in numbers.tolist() if number < len(places)],
    )


def _check_named(readings: Sequence[Reading]) -> None:
    """Refuse parts of which only some have document ids.

    Raises:
        FormatError: as said.
    """
    named = next((reading for reading in readings if reading.documents.named), None)
    if named is None:
        return
    remedy = "give document ids in all parts, or in none"
    problems = [
        Problem(reading.source, None, f"documents have no ids, those of {named.source} have", remedy)
        for reading in readings
        if not reading.documents.named
    ]
    if problems:
        raise FormatError(problems)


def _kept(parts: Sequence[Part]) -> list[Int64]:
    """Return which documents of each part are taken: all, but borrowed ones without spans that another part has.

    Raises:
        FormatError: a document in two parts.
    """
    every = [np.arange(len(part.reading.documents)) for part in parts]
    if not parts[0].reading.documents.named:
        return every
    homes: dict[str, tuple[int, int]] = {}
    spare: set[tuple[int, int]] = set()
    problems: list[Problem] = []
    bare = [_bare(part) for part in parts]
    for at, part in enumerate(parts):
        twice: list[Problem] = []
        for number, name in enumerate(part.reading.documents.ids):
            other = homes.setdefault(name, (at, number))
            if other == (at, number):
                continue
            if number in bare[at]:
                spare.add((at, number))
            elif other[1] in bare[other[0]]:
                spare.add(other)
                homes[name] = (at, number)
            else:
                twice.append(_twice(name, (parts[other[0]].reading, other[1]), (part.reading, number)))
        problems += _summed(twice, part.reading)
    if problems:
        raise FormatError(problems)
    return [
        np.array([number for number in some.tolist() if (at, number) not in spare], np.int64)
        for at, some in enumerate(every)
    ]


def _bare(part: Part) -> frozenset[int]:
    """Return the documents that a part has from gold alone."""
    if not part.borrowed:
        return frozenset()
    return frozenset(np.flatnonzero(np.diff(part.reading.layer.first) == 0).tolist())


def _twice(name: str, first: tuple[Reading, int], second: tuple[Reading, int]) -> Problem:
    source, line = _places(first[0])[first[1]]
    place = source if line is None else f"{source}:{line}"
    return Problem(
        *_places(second[0])[second[1]],
        f"document {quoted(name)} stands at {place} already, in another part of the same layer",
        "give each document once, or call two systems by two names: NAME=PATH",
    )


def _summed(twice: Sequence[Problem], reading: Reading) -> Sequence[Problem]:
    """Return the problems, or one for all of them where no document of the part is new: it is another system."""
    count = len(reading.documents)
    if count < 2 or len(twice) < count:
        return twice
    first = twice[0]
    return [Problem(first.source, first.line, f"{first.found}; so do the {count - 1} others here", first.remedy)]


def _places(reading: Reading) -> list[Place]:
    """Return where each document begins, as far as it is known."""
    known = list(reading.places)
    return known + [(reading.source, None)] * (len(reading.documents) - len(known))


def _documents(readings: Sequence[Reading]) -> Documents:
    parts = [reading.documents for reading in readings]
    named = parts[0].named
    count = sum(map(len, parts))
    ids = tuple(chain.from_iterable(part.ids for part in parts)) if named else tuple(map(str, range(1, count + 1)))
    meta = [part.meta if part.meta is not None else ({},) * len(part) for part in parts]
    return Documents(
        ids,
        _texts([part.texts for part in parts]),
        _intervals(parts, lambda part: part.tokens),
        _intervals(parts, lambda part: part.sentences),
        tuple(chain.from_iterable(meta)) if any(part.meta is not None for part in parts) else None,
        named,
        unit="sentence" if all(part.unit == "sentence" for part in parts) else "document",
    )


def _texts(parts: Sequence[Sequence[str]]) -> Sequence[str]:
    packed = [part for part in parts if isinstance(part, Texts)]
    if len(packed) < len(parts):
        return tuple(chain.from_iterable(parts))
    shifts = np.cumsum([0, *(part.offsets[-1] for part in packed)]).tolist()
    rows = [part.offsets[:-1] + shift for part, shift in zip(packed, shifts, strict=False)]
    return Texts(np.concatenate([part.data for part in packed]), np.append(np.concatenate(rows), shifts[-1]))


def _intervals(parts: Sequence[Documents], of: Callable[[Documents], Intervals | None]) -> Intervals | None:
    """Return the intervals of all parts; documents of a part without any have none."""
    found = [of(part) for part in parts]
    if all(one is None for one in found):
        return None
    sizes = [
        np.zeros(len(part), np.int64) if one is None else np.diff(one.first)
        for part, one in zip(parts, found, strict=True)
    ]
    first = np.concatenate((np.zeros(1, np.int64), np.cumsum(np.concatenate(sizes))))
    starts, ends = (
        np.concatenate([getattr(one, key) for one in found if one is not None]).astype(np.int32)
        for key in ("starts", "ends")
    )
    return Intervals(frozen(first), frozen(starts), frozen(ends))


def _layer(readings: Sequence[Reading], documents: Documents, name: str) -> Layer:
    """Return the spans of all parts: those of a document stay together and in their order, types being sorted."""
    layers = [reading.layer for reading in readings]
    types = tuple(sorted({kind for layer in layers for kind in layer.types}))
    if len(types) > np.iinfo(np.int16).max:
        found = f"{len(types)} types in all parts"
        raise FormatError.single(readings[0].source, None, found, "at most 32,767 types can be told apart")
    code = {kind: number for number, kind in enumerate(types)}
    docs = np.cumsum([0, *(len(reading.documents) for reading in readings)]).tolist()
    columns = [
        (
            layer.doc.astype(np.int64) + shift,
            layer.start,
            layer.end,
            np.array([code[kind] for kind in layer.types], np.int64)[layer.type],
        )
        for layer, shift in zip(layers, docs, strict=False)
    ]
    doc, start, end, kind = (np.concatenate(column) for column in zip(*columns, strict=True))
    extras: dict[str, Any] = {
        key: MappingProxyType(dict(_shifted([getattr(layer, key) for layer in layers], layers))) for key in SPAN_KEYS
    }
    return Layer(
        name,
        documents,
        frozen(doc.astype(np.int32)),
        frozen(start.astype(np.int32)),
        frozen(end.astype(np.int32)),
        frozen(kind.astype(np.int16)),
        types,
        _order(layers),
        **extras,
    )


def _shifted(extras: Sequence[Mapping[int, Any]], layers: Sequence[Layer]) -> Iterator[tuple[int, Any]]:
    shift = 0
    for extra, layer in zip(extras, layers, strict=True):
        for span, value in extra.items():
            yield span + shift, value
        shift += len(layer)


def _order(layers: Sequence[Layer]) -> Any:
    """Return the position at which each span was read, counted through all parts; None where that is its index."""
    if all(layer.order is None for layer in layers):
        return None
    found, shift = [], 0
    for layer in layers:
        order = np.arange(len(layer)) if layer.order is None else layer.order.astype(np.int64)
        found.append(order + shift)
        shift += int(order.max()) + 1 if len(order) else 0
    return frozen(np.concatenate(found).astype(np.int32))


def _told(reading: Reading) -> tuple[str, ...]:
    counts = f"{counted(len(reading.documents), 'document')}, {counted(len(reading.layer), 'span')}"
    form = f"{reading.format}, {reading.scheme}" if reading.scheme else reading.format
    return f"{form}, {counts}", *reading.notes


def _mended(parts: Sequence[str]) -> str:
    """Return what was repaired in all parts; counts of the same kind are added up."""
    counts: dict[tuple[str, str], int] = {}
    others: list[str] = []
    for part in parts:
        found = MENDED.fullmatch(part)
        if found:
            counts[found[2], found[3]] = counts.get((found[2], found[3]), 0) + int(found[1])
        else:
            others.append(part)
    added = [f"{count} malformed {what}{'s' * (count > 1)} {done}" for (what, done), count in counts.items()]
    return ", ".join(dict.fromkeys((*added, *others)))
