"""The spans of a DocBin: entities, which tags of tokens say, and span groups, which say tokens and characters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from math import nan
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from nereval_core.corpus import Int64
from nereval_core.errors import Problem, quoted
from nereval_core.readers.docbin_packed import AGAIN, WRONG, Group, Packed, UInt64, damaged
from nereval_core.readers.docbin_texts import Placed

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
    parts, scores = [np.zeros(0, SPAN)], []
    base = [0]
    absent = f"documents without the span group {quoted(key)}, taken as empty"
    for number, (low, high) in enumerate(pairwise(one.first.tolist())):
        spans, values = np.zeros(0, SPAN), list[float]()
        if key not in one.groups[number]:
            counts[absent] += 1
        else:
            try:
                spans, values = _spans_of(one.groups[number][key], counts)
            except WRONG as error:
                problems += damaged(one.shown, error, number + 1, f"span group {quoted(key)}").problems
        for found in _misplaced(spans, where.start[low:high], where.end[low:high]):
            problems.append(Problem(one.shown, number + 1, f"the span group {quoted(key)} has {found}", AGAIN))
        parts.append(spans)
        scores += values
        base.append(low)
    whole = np.concatenate(parts)
    shift = np.repeat(np.array(base, np.int64), list(map(len, parts)))
    label, id, link = (whole[name].astype(np.uint64) for name in ("label", "id", "kb_id"))
    return Found(whole["start"] + shift, whole["end"] + shift, label, id, (link,), scores)


def _spans_of(packed: bytes, counts: Counter[str]) -> tuple[NDArray[np.void], list[float]]:
    """Return the spans of a packed group and the score of each, NaN where it has none.

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
    return np.frombuffer(b"".join(found.spans), SPAN), scores


def _numbers(given: Any) -> list[float] | None:
    """Return a list or an array as srsly packs it, None where it is not of numbers."""
    if isinstance(given, dict):
        kind, data = given.get(b"type"), given.get(b"data")
        if kind not in ("<f2", "<f4", "<f8") or not isinstance(data, bytes) or len(data) % int(kind[-1]):
            return None
        return list(map(float, np.frombuffer(data, kind)))
    fine = isinstance(given, list) and all(type(one) in (int, float) for one in given)
    return list(map(float, given)) if fine else None


def _misplaced(spans: NDArray[np.void], start: Int64, end: Int64) -> list[str]:
    """Say which spans are at no tokens, of those that begin and end so, or at other characters than theirs."""
    first, last = spans["start"].astype(np.int64), spans["end"].astype(np.int64)
    wrong = (first < 0) | (first >= last) | (last > len(start))
    said = {at: f"tokens {first[at]} to {last[at]}, of {len(start)}" for at in np.flatnonzero(wrong).tolist()}
    fine = np.flatnonzero(~wrong)
    low, high = start[first[fine]], end[last[fine] - 1]
    off = (low != spans["low"][fine]) | (high != spans["high"][fine])
    for at, *true in zip(fine[off].tolist(), low[off].tolist(), high[off].tolist(), strict=True):
        told = f"characters {spans['low'][at]} to {spans['high'][at]}"
        said[at] = f"tokens {first[at]} to {last[at]} at {told}, which stand at {true[0]} to {true[1]}"
    return [said[at] for at in sorted(said)]
