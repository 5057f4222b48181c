"""What a question to a layer found: findings in their order, and the occurrences of each.

An occurrence is a place in the texts, annotated or not, and stands in one of the groups of its finding: for one way of
annotating, or for none.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nereval_core.arrays import Bools, Int32, Int64
from nereval_core.corpus import frozen

Codes = NDArray[np.integer[Any]]

_DENSE = 1 << 20
"""So many numbers more than there are keys are counted in a table of all of them."""


class Cells(NamedTuple):
    """How many occurrences of each group the findings have, those of finding i at `first[i]` to `first[i + 1]`."""

    first: Int64
    group: Codes
    number: Codes


@dataclass(frozen=True, eq=False)
class Found:
    """What a question found: findings in their order, and the occurrences of each.

    `finding`, `start`, `end` and `group` have shape (occurrences,); places are those in all texts in a row. `settles`
    (findings,) is how many occurrences would change if the one way were taken for all: `votes` says by group for which
    way it stands, -1 for none, and is None where each occurrence is one to be settled. `what` says what a finding is
    about and, beside it, where or of which type; `named` says what a group is. `skipped` says what was left out.
    """

    finding: Int32
    start: Codes
    end: Codes
    group: Codes
    settles: Int64
    cells: Cells
    votes: Codes | None
    what: Callable[[int], tuple[str, str]]
    named: Callable[[int], str]
    skipped: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.settles)

    def places(self, number: int) -> Int64:
        """Return which occurrences are a finding's, in the order of the texts."""
        some = np.flatnonzero(self.finding == number)
        return some[np.lexsort((self.end[some], self.start[some]))]

    def to_settle(self, number: int) -> set[int]:
        """Return the groups of a finding whose occurrences would change; of ways equally frequent the first is kept."""
        low, high = self.cells.first[number : number + 2].tolist()
        groups = self.cells.group[low:high].tolist()
        if self.votes is None:
            return set(groups)
        ways = {group: int(self.votes[group]) for group in groups if self.votes[group] >= 0}
        sums = dict.fromkeys(sorted(ways.values()), 0)
        for group, count in zip(groups, self.cells.number[low:high].tolist(), strict=True):
            if group in ways:
                sums[ways[group]] += count
        most = max(sums, key=lambda way: sums[way])
        return {group for group, way in ways.items() if way != most}

    def counted(self, number: int) -> int:
        """Return how many occurrences of a finding stand for one way or another."""
        low, high = self.cells.first[number : number + 2].tolist()
        counts = self.cells.number[low:high]
        return int(counts.sum() if self.votes is None else counts[self.votes[self.cells.group[low:high]] >= 0].sum())

    def counts(self, number: int) -> dict[str, int]:
        """Return how many occurrences of each group a finding has, most first."""
        low, high = self.cells.first[number : number + 2].tolist()
        pairs = zip(self.cells.group[low:high].tolist(), self.cells.number[low:high].tolist(), strict=True)
        found: dict[str, int] = {}
        for group, count in sorted(pairs, key=lambda pair: -pair[1]):
            name = self.named(group)
            found[name] = found.get(name, 0) + count
        return found


Occurrences = tuple[Codes, Codes, Codes, Codes]
"""What an occurrence is of (any number), start, end and group, each of shape (occurrences,)."""


def found_of(
    occurrences: Occurrences,
    *,
    what: Callable[[int], tuple[str, str]],
    named: Callable[[int], str],
    votes: Codes | None = None,
    skipped: Sequence[str] = (),
) -> Found:
    """Put findings in order: those that settle most first, then those with most occurrences, then by where the
    first of the occurrences given stands.

    `votes` (groups,) says for which of two or more ways a group's occurrences stand, -1 for none: what a finding
    settles is all that stand for any way but the most frequent. Without, each occurrence is one to be settled.
    `what` is asked for by the number that the occurrences have.
    """
    of, start, end, group = occurrences
    width = int(group.max(initial=0)) + 1
    key, number = counted(of.astype(np.int64) * width + group)
    about, groups = key // width, key % width
    opens = np.flatnonzero(np.diff(about, prepend=-1))
    numbers = about[opens]
    total = np.add.reduceat(number, opens) if len(opens) else np.zeros(0, np.int64)
    row = np.repeat(np.arange(len(opens)), np.diff(opens, append=len(key)))
    settles = total if votes is None else _minority(row, votes[groups], number, len(numbers))
    place = np.zeros(int(of.max(initial=0)) + 1, np.int32)
    earliest = np.zeros(len(place), np.int64)
    earliest[of[::-1]] = start[::-1]
    order = np.lexsort((earliest[numbers], -total, -settles))
    place[numbers[order]] = np.arange(len(order), dtype=np.int32)
    sizes = np.diff(opens, append=len(key))[order]
    first = np.concatenate((np.zeros(1, np.int64), np.cumsum(sizes)))
    picked = np.repeat(opens[order] - first[:-1], sizes) + np.arange(len(key))
    sought = numbers[order]
    return Found(
        frozen(place[of]),
        start,
        end,
        group,
        frozen(settles[order]),
        Cells(frozen(first), frozen(groups[picked]), frozen(number[picked])),
        votes,
        lambda finding: what(int(sought[finding])),
        named,
        tuple(skipped),
    )


def counted(keys: Int64) -> tuple[Int64, Int64]:
    """Return the distinct ones of some keys, sorted, and how often each is there."""
    most = int(keys.max(initial=-1)) + 1
    if most > 4 * len(keys) + _DENSE:
        found, number = np.unique(keys, return_counts=True)
        return found, number
    number = np.bincount(keys, minlength=most)
    found = np.flatnonzero(number)
    return found, number[found]


def _minority(row: Int64, vote: Codes, number: Int64, rows: int) -> Int64:
    """Return of each row how many occurrences do not stand for the way that most do."""
    some = vote >= 0
    width = int(vote.max(initial=0)) + 1
    key = row[some] * width + vote[some]
    distinct, place = np.unique(key, return_inverse=True)
    ways = np.bincount(place, number[some], minlength=len(distinct)).astype(np.int64)
    total, most = np.zeros((2, rows), np.int64)
    np.add.at(total, distinct // width, ways)
    np.maximum.at(most, distinct // width, ways)
    return total - most


def chosen(occurrences: Occurrences, some: Bools) -> Occurrences:
    """Return some of the occurrences."""
    of, start, end, group = occurrences
    return of[some], start[some], end[some], group[some]


def joined(*parts: Occurrences) -> Occurrences:
    """Return the occurrences of several parts as one."""
    return tuple(np.concatenate(column) for column in zip(*parts, strict=True))  # type: ignore[return-value]


__all__: Sequence[str] = ("Cells", "Found", "Occurrences", "chosen", "counted", "found_of", "joined")
