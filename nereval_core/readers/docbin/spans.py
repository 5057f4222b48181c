"""The spans of a DocBin: entities, which tags of tokens say, and span groups, which say tokens and characters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from math import nan
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from nereval_core.arrays import Int64, UInt64
from nereval_core.problems import Problem, quoted
from nereval_core.readers.docbin.message import AGAIN, WRONG, Group, Packed, damaged
from nereval_core.readers.docbin.texts import Placed

BEGIN, INSIDE = 3, 1
"""Values of ENT_IOB; the others are in no entity."""
MISSING = "tokens without entity annotation, taken as outside of any"
SCORES = "span groups whose scores are not one number a span, left out"
SPAN = np.dtype(
    [(name, ">u8") for name in ("id", "kb_id", "label")] + [(name, ">i4") for name in ("start", "end", "low", "high")]
)
"""A packed span: tokens `start` to `end`, characters `low` to `high`, ends exclusive."""


class Found(NamedTuple):
    """Spans: first token and last token + 1, counted through the whole file, and the hashes of their strings."""

    first: Int64
    last: Int64
    labels: UInt64
    ids: UInt64
    links: Sequence[UInt64]
    scores: Sequence[float]


def has_entities(one: Packed) -> bool:
    """Say whether any entity begins in a file."""
    tags = one.column("ENT_IOB")
    return tags is not None and bool((tags == BEGIN).any())


def entities(one: Packed, problems: list[Problem], counts: Counter[str]) -> Found | None:
    """Return the entities as `Doc.ents` does: a beginning without a type is outside, the types of what follows do not
    count. None where none are stored.
    """
    tags, types = one.column("ENT_IOB"), one.column("ENT_TYPE")
    if tags is None or types is None:
        remedy = "write it with ENT_IOB and ENT_TYPE among its attributes"
        problems.append(Problem(one.shown, None, "no entities are stored in it", remedy))
        return None
    problems += one.problems(one.document[tags > BEGIN], "an entity tag that is none of 0 to 3")
    inside, begins = tags == INSIDE, (tags == BEGIN) & (types != 0)
    opening = np.diff(one.document, prepend=-1) > 0
    before = np.append(False, inside | begins)[:-1]
    problems += one.problems(one.document[inside & (opening | ~before)], "an entity goes on that has not begun")
    first = np.flatnonzero(begins)
    stops = np.append(np.flatnonzero(~inside | opening), len(tags))
    counts[MISSING] += int((tags == 0).sum())
    links = [column[first] for name in ("ENT_KB_ID", "ENT_ID") if (column := one.column(name)) is not None]
    last = stops[np.searchsorted(stops, first, side="right")]
    return Found(first, last, types[first], np.zeros(len(first), np.uint64), links, [nan] * len(first))


def group(one: Packed, key: str, where: Placed, problems: list[Problem], counts: Counter[str]) -> Found:
    """Return the spans of a group; those that are not where they say they are go to the problems."""
    parts: list[bytes] = []
    scores: list[float] = []
    absent = f"documents without the span group {quoted(key)}, taken as empty"
    for number, groups in enumerate(one.groups, start=1):
        part, values = b"", list[float]()
        if key not in groups:
            counts[absent] += 1
        else:
            try:
                part, values = _packed_spans(groups[key], counts)
            except WRONG as error:
                problems += damaged(one.shown, error, number, f"span group {quoted(key)}").problems
        parts.append(part)
        scores += values
    spans = np.frombuffer(b"".join(parts), SPAN)
    document = np.repeat(np.arange(len(one)), [len(part) // SPAN.itemsize for part in parts])
    shift = one.first[document]
    first, last = spans["start"] + shift, spans["end"] + shift
    for at, found in _misplaced(spans, first, last, one.first[document + 1], where):
        said = f"the span group {quoted(key)} has {found}"
        problems.append(Problem(one.shown, int(document[at]) + 1, said, AGAIN))
    label, id, link = (spans[name].astype(np.uint64) for name in ("label", "id", "kb_id"))
    return Found(first, last, label, id, (link,), scores)


def _packed_spans(packed: bytes, counts: Counter[str]) -> tuple[bytes, list[float]]:
    """Return the spans of a group in a row, as they are packed, and the score of each, NaN where it has none.

    Raises:
        one of WRONG
    """
    found = msgspec.msgpack.decode(packed, type=Group)
    if {len(span) for span in found.spans} - {SPAN.itemsize}:
        raise ValueError(f"a span that is not of {SPAN.itemsize} bytes")
    given = found.attrs.get("scores")
    scores = None if given is None else _numbers(given)
    counts[SCORES] += given is not None and (scores is None or len(scores) != len(found.spans))
    if scores is None or len(scores) != len(found.spans):
        scores = [nan] * len(found.spans)
    return b"".join(found.spans), scores


def _numbers(given: Any) -> list[float] | None:
    """Return a list or an array as srsly packs it, None where it is not of numbers."""
    if isinstance(given, dict):
        kind, data = given.get(b"type"), given.get(b"data")
        if kind not in ("<f2", "<f4", "<f8") or not isinstance(data, bytes) or len(data) % int(kind[-1]):
            return None
        return list(map(float, np.frombuffer(data, kind)))
    fine = isinstance(given, list) and all(type(one) in (int, float) for one in given)
    return list(map(float, given)) if fine else None


def _misplaced(
    spans: NDArray[np.void], first: Int64, last: Int64, stop: Int64, where: Placed
) -> Iterator[tuple[int, str]]:
    """Yield the spans, in words, that are at no tokens of their documents, or at other characters than their tokens.

    `first`, `last` and `stop`, where each document ends, are tokens counted through the whole file.
    """
    wrong = (spans["start"] < 0) | (first >= last) | (last > stop)
    fine = np.flatnonzero(~wrong)
    low, high = where.start[first[fine]], where.end[last[fine] - 1]
    off = (low != spans["low"][fine]) | (high != spans["high"][fine])
    true = dict(zip(fine[off].tolist(), zip(low[off].tolist(), high[off].tolist(), strict=True), strict=True))
    for at in sorted((*np.flatnonzero(wrong).tolist(), *true)):
        start, end, told, tells = (int(spans[name][at]) for name in ("start", "end", "low", "high"))
        said = f"tokens {start} to {end}, of {int(stop[at] - first[at]) + start}"
        if at in true:
            stand = "{} to {}".format(*true[at])
            said = f"tokens {start} to {end} at characters {told} to {tells}, which stand at {stand}"
        yield at, said
