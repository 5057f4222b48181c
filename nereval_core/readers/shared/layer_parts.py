"""Join the readings of several parts, which may differ in format, into one layer."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from nereval_core.corpus import Documents, Layer, Place
from nereval_core.corpus.arrays import Int64
from nereval_core.corpus.concatenation import MOST_TYPES, join_documents, join_layers
from nereval_core.corpus.subset import select_documents, select_spans
from nereval_core.problems import FormatError, Problem, ProblemList, counted, quoted
from nereval_core.readers.read_settings import Reading

BETWEEN = " + "
"""Separator of the formats of parts that differ."""
SHOWN_IDS = 5
"""Documents without a row that a note names."""
MENDED = re.compile(r"([0-9]+) malformed (chunk|tag)s? (.*)")


@dataclass(frozen=True)
class Part:
    """The reading of a part; a `borrowed` one has no texts of its own and took those of all of gold's documents."""

    reading: Reading
    borrowed: bool = False


def join_parts(parts: Sequence[Part], *, source: str, name: str) -> Reading:
    """Return the documents and spans of all parts as one layer of this name, in the order of the parts.

    Documents without ids are numbered through. Notes name their part. `scheme` is what all parts
    have, None where they differ.

    Raises:
        FormatError: a document in two parts, or ids in some parts only; the places in both are named.
    """
    readings = [part.reading for part in parts]
    _check_named(readings)
    numbers_of_parts = _documents_read(parts)
    readings = [restrict_reading(reading, numbers) for reading, numbers in zip(readings, numbers_of_parts, strict=True)]
    documents = join_documents([reading.documents for reading in readings])
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


def rowless_note(documents: Documents, bare: Sequence[int]) -> list[str]:
    """Return a note on the documents of gold, by number, of which a table of spans without texts has no row.

    Such a table cannot tell a document that it lacks from one in which nothing was found.
    """
    if not bare:
        return []
    named = ", ".join(quoted(documents.ids[number]) for number in bare[:SHOWN_IDS])
    more = f" and {len(bare) - SHOWN_IDS} more" if len(bare) > SHOWN_IDS else ""
    total = f"{len(bare)} of {counted(len(documents), 'document')}"
    return [f"no texts: gold's documents taken, {total} without a row here, read as empty: {named}{more}"]


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
        FormatError: some parts have ids and others do not.
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


def _documents_read(parts: Sequence[Part]) -> list[Int64]:
    """Return the documents of each part that are read: all, but borrowed ones without spans that another part has.

    Raises:
        FormatError: a document in two parts.
    """
    numbers_of_parts = [np.arange(len(part.reading.documents)) for part in parts]
    if not parts[0].reading.documents.named:
        return numbers_of_parts
    homes: dict[str, tuple[int, int]] = {}
    spare: set[tuple[int, int]] = set()
    problems = ProblemList()
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
        np.array([number for number in numbers.tolist() if (at, number) not in spare], np.int64)
        for at, numbers in enumerate(numbers_of_parts)
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
    places = list(reading.places)
    return places + [(reading.source, None)] * (len(reading.documents) - len(places))


def _layer(readings: Sequence[Reading], documents: Documents, name: str) -> Layer:
    """Return the spans of all parts.

    Raises:
        FormatError: more types than a layer can hold.
    """
    types = {kind for reading in readings for kind in reading.layer.types}
    if len(types) > MOST_TYPES:
        finding = f"{len(types)} types in all parts"
        raise FormatError.single(readings[0].source, None, finding, f"at most {MOST_TYPES:,} types can be told apart")
    return join_layers([reading.layer for reading in readings], documents, name)


def _told(reading: Reading) -> tuple[str, ...]:
    counts = f"{counted(len(reading.documents), 'document')}, {counted(len(reading.layer), 'span')}"
    form = f"{reading.format}, {reading.scheme}" if reading.scheme else reading.format
    return f"{form}, {counts}", *reading.notes


def _mended(parts: Sequence[str]) -> str:
    """Return what was repaired in all parts; counts of the same kind are added up."""
    counts: dict[tuple[str, str], int] = {}
    others: list[str] = []
    for part in parts:
        match = MENDED.fullmatch(part)
        if match:
            counts[match[2], match[3]] = counts.get((match[2], match[3]), 0) + int(match[1])
        else:
            others.append(part)
    added = [f"{count} malformed {what}{'s' * (count > 1)} {done}" for (what, done), count in counts.items()]
    return ", ".join(dict.fromkeys((*added, *others)))
