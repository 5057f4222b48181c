"""The entities that seqeval finds in tags, in its default mode and in its strict mode with a scheme.

Default: an entity ends where a table of transitions says so, and begins where the last beginning was; L, U and M are
letters like any other, which only a change of type separates. Between two sentences stands O.
Strict: an entity begins where the scheme has a beginning, goes on while it has an inside, and counts if what follows is
an end; whatever else is not O is dropped.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from nereval_core.conventions.tag_sequences import TagChunks, find_transitions, runs
from nereval_core.corpus.arrays import Array, Bools, Int32, Int64

LETTERS = "OBIESLU"
O, B, I, E, S, L, U = range(len(LETTERS))  # noqa: E741
DOT, OTHER = len(LETTERS), len(LETTERS) + 1
"""In default mode `.` is outside, but for the table; any other character is a letter."""
NAMELESS = "_"
"""The type of a tag that has none."""


class SchemePatterns(NamedTuple):
    """A scheme of seqeval: letters it allows, and transitions that begin an entity, go on in it, and end it.

    A transition is the letter before (? any), the letter, and = where the type stays, ! where it changes, * either way.
    """

    letters: str
    start: str
    inside: str
    end: str


SCHEMES: Mapping[str, SchemePatterns] = {
    "IOB1": SchemePatterns("IOB", "OI* II! BI* IB= BB=", "BI= II=", "II! IO* IB* BO* BI! BB="),
    "IOB2": SchemePatterns("IOB", "?B*", "BI= II=", "IO* II! IB* BO* BI! BB*"),
    "IOE1": SchemePatterns("IOE", "OI* II! EI* EE=", "II= IE=", "II! IO* IE! EI= EE="),
    "IOE2": SchemePatterns("IOE", "OI* OE* EI* EE* II! IE!", "II= IE=", "E?*"),
    "IOBES": SchemePatterns("IOBES", "?B* ?S*", "BI= BE= II= IE=", "S?* E?*"),
    "BILOU": SchemePatterns("IOBLU", "?B* ?U*", "BI= BL= II= IL=", "U?* L?*"),
}
NEEDED = {"IOB2": "B", "IOE2": "E", "IOBES": "BE", "BILOU": "BL"}
ALONE = {"S": "IOBES", "U": "BILOU"}
"""A scheme is detected by the letters it needs among those it allows, or by one letter that nothing stands beside."""


@dataclass(frozen=True, eq=False)
class ParsedTags:
    """Distinct tags: letter (index into LETTERS, DOT or OTHER) and type (index into `types`, which are sorted).

    The last two are the tag between sentences, and the one before the first, which has no type at all.
    """

    letter: Array
    kind: Array
    types: tuple[str, ...]


def parse_tags(names: Sequence[str], *, suffix: bool, strict: bool, delimiter: str = "-") -> ParsedTags:
    """Return tags taken apart as each mode does: by the first `-`, or (strict) the letter and delimiters around."""
    letters = {letter: code for code, letter in enumerate(LETTERS)}
    if not strict:
        letters["."] = DOT
    parted = []
    for name in names:
        letter, rest = (name[-1], name[:-1]) if suffix else (name[0], name[1:])
        if strict:
            kind = rest.strip(delimiter)
        else:
            kind = rest.rsplit("-", maxsplit=1)[0] if suffix else rest.split("-", maxsplit=1)[-1]
        parted.append((letters.get(letter, OTHER), kind or NAMELESS))
    types = sorted({kind for _, kind in parted} | {NAMELESS})
    rank = {kind: code for code, kind in enumerate(types)}
    return ParsedTags(
        np.array([*(letter for letter, _ in parted), O, O], np.int32),
        np.array([*(rank[kind] for _, kind in parted), rank[NAMELESS], -1], np.int32),
        tuple(types),
    )


def default_entities(numbers: Int32, sentences: Int64, parsed: ParsedTags) -> TagChunks:
    """Return the entities by the table of default mode."""
    between = len(parsed.letter) - 2
    start, end = find_transitions(_by_default, numbers, sentences, parsed.letter, parsed.kind, between, between + 1)
    starts, last = np.flatnonzero(start), np.flatnonzero(end)
    first = starts
    if len(starts) != len(last) or (starts > last).any() or (starts[1:] <= last[:-1]).any():
        # A chunk that ends without having begun (L, U and M without a type) begins where the last beginning was.
        place = np.searchsorted(starts, last, side="right") - 1
        first = np.where(place >= 0, starts[place], 0) if len(starts) else np.zeros(len(last), np.int64)
    return TagChunks(first, last, parsed.kind[numbers[last]])


def strict_entities(numbers: Int32, sentences: Int64, parsed: ParsedTags, scheme: str) -> TagChunks:
    """Return the entities that are well formed in a scheme."""
    tables = [_table(transitions) for transitions in SCHEMES[scheme][1:]]

    def rule(before: Array, old: Array, letter: Array, kind: Array) -> tuple[Bools, ...]:
        same = (old == kind).astype(np.intp)
        return tuple(table[same, before, letter] for table in tables)

    start, inside, end = find_transitions(rule, numbers, sentences, parsed.letter, parsed.kind, len(parsed.letter) - 2)
    # Tokens linked by insides stand together: the entity begins at the first of them where one can begin.
    heads, starts = np.flatnonzero(~inside), np.flatnonzero(start)
    run = np.searchsorted(heads, starts, side="right") - 1
    opening = np.ones(len(run), bool)
    opening[1:] = run[1:] != run[:-1]
    run, first = run[opening], starts[opening]
    last = np.append(heads[1:], len(numbers))[run] - 1
    whole = end[last]
    first, last = first[whole], last[whole]
    depth = np.zeros(len(numbers) + 1, np.int8)
    depth[first] += 1
    depth[last + 1] -= 1
    tagged = (parsed.letter[numbers] != O) & (np.cumsum(depth[:-1]) == 0)
    return TagChunks(first, last, parsed.kind[numbers[first]], runs(tagged, ~inside[1:]))


def detect_scheme(letters: str) -> str | None:
    """Return the scheme that seqeval takes for tags of these letters, None where it knows none."""
    for scheme, needed in NEEDED.items():
        if set(needed) <= set(letters) <= set(SCHEMES[scheme].letters):
            return scheme
    return ALONE.get(letters)


def _by_default(before: Array, old: Array, letter: Array, kind: Array) -> tuple[Bools, ...]:
    changes = old != kind
    end = np.isin(before, (E, S)) | (np.isin(before, (B, I)) & np.isin(letter, (B, S, O)))
    end |= ~np.isin(before, (O, DOT)) & changes
    start = np.isin(letter, (B, S)) | (np.isin(before, (E, S, O)) & np.isin(letter, (E, I)))
    start |= ~np.isin(letter, (O, DOT)) & changes
    return start, end


def _table(transitions: str) -> Bools:
    """Return transitions as an array: type stays, letter before, letter; letters that are none never fit."""
    table = np.zeros((2, OTHER + 1, OTHER + 1), bool)
    for transition in transitions.split():
        old, new, same = tuple(transition)
        before = slice(len(LETTERS)) if old == "?" else LETTERS.index(old)
        letter = slice(len(LETTERS)) if new == "?" else LETTERS.index(new)
        for stays in {"=": (1,), "!": (0,), "*": (0, 1)}[same]:
            table[stays, before, letter] = True
    return table
