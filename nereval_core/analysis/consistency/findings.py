"""Findings about a layer's consistency, ranked, with the occurrences of each.

An occurrence is a place in the texts, annotated or not. It belongs to one of the groups of its finding, which votes for
one way of annotating, or for none.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nereval_core.corpus import frozen
from nereval_core.corpus.arrays import Bools, Int32, Int64

Codes = NDArray[np.integer[Any]]

_DENSE = 1 << 20
"""Keys are counted in a table of all numbers up to the largest if that has at most so many unused ones."""


class GroupCounts(NamedTuple):
    """The number of occurrences of each finding by group; those of finding i are at `first[i]` to `first[i + 1]`."""

    first: Int64
    group: Codes
    number: Codes


@dataclass(frozen=True, eq=False)
class RankedFindings:
    """The findings of one question in their order, and the occurrences of each.

    `finding`, `start`, `end` and `group` have shape (occurrences,); places count from the beginning of all texts.
    `settles` (findings,) is the number of occurrences that would change if all were annotated in the most frequent way.
    `votes` is the way that each group votes for, -1 for none; it is None if each occurrence needs settling. `describe`
    returns the subject of a finding, and its place or type; `group_name` names a group. `skipped` are notes on
    what was left out.
    """

    finding: Int32
    start: Codes
    end: Codes
    group: Codes
    settles: Int64
    cells: GroupCounts
    votes: Codes | None
    describe: Callable[[int], tuple[str, str]]
    group_name: Callable[[int], str]
    skipped: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.settles)

    def places(self, number: int) -> Int64:
        """Return the occurrences of a finding in the order of the texts."""
        occurrences = np.flatnonzero(self.finding == number)
        return occurrences[np.lexsort((self.end[occurrences], self.start[occurrences]))]

    def to_settle(self, number: int) -> set[int]:
        """Return the groups of a finding whose occurrences would change; the first of equally frequent ways is kept."""
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
        """Return the number of occurrences of a finding that vote for any way."""
        low, high = self.cells.first[number : number + 2].tolist()
        counts = self.cells.number[low:high]
        return int(counts.sum() if self.votes is None else counts[self.votes[self.cells.group[low:high]] >= 0].sum())

    def counts(self, number: int) -> dict[str, int]:
        """Return the number of occurrences of a finding in each group, most first."""
        low, high = self.cells.first[number : number + 2].tolist()
        pairs = zip(self.cells.group[low:high].tolist(), self.cells.number[low:high].tolist(), strict=True)
        counts: dict[str, int] = {}
        for group, count in sorted(pairs, key=lambda pair: -pair[1]):
            name = self.group_name(group)
            counts[name] = counts.get(name, 0) + count
        return counts


Occurrences = tuple[Codes, Codes, Codes, Codes]
"""Subject (any number), start, end and group of occurrences, each of shape (occurrences,)."""


def rank_findings(
    occurrences: Occurrences,
    *,
    describe: Callable[[int], tuple[str, str]],
    group_name: Callable[[int], str],
    votes: Codes | None = None,
    skipped: Sequence[str] = (),
) -> RankedFindings:
    """Rank findings: those that settle most first, then those with most occurrences, then by first occurrence given.

    `votes` (groups,) is the way that each group votes for, -1 for none: a finding settles all votes but those for its
    most frequent way. Without votes, each occurrence needs settling. `describe` gets the number of a subject.
    """
    of, start, end, group = occurrences
    width = int(group.max(initial=0)) + 1
    key, number = count_distinct(of.astype(np.int64) * width + group)
    about, groups = key // width, key % width
    opens = np.flatnonzero(np.diff(about, prepend=-1))
    numbers = about[opens]
    total = np.add.reduceat(number, opens) if len(opens) else np.zeros(0, np.int64)
    row = np.repeat(np.arange(len(opens)), np.diff(opens, append=len(key)))
    settles = total if votes is None else _minority_votes(row, votes[groups], number, len(numbers))
    place = np.zeros(int(of.max(initial=0)) + 1, np.int32)
    earliest = np.zeros(len(place), np.int64)
    earliest[of[::-1]] = start[::-1]
    order = np.lexsort((earliest[numbers], -total, -settles))
    place[numbers[order]] = np.arange(len(order), dtype=np.int32)
    sizes = np.diff(opens, append=len(key))[order]
    first = np.concatenate((np.zeros(1, np.int64), np.cumsum(sizes)))
    picked = np.repeat(opens[order] - first[:-1], sizes) + np.arange(len(key))
    sought = numbers[order]
    return RankedFindings(
        frozen(place[of]),
        start,
        end,
        group,
        frozen(settles[order]),
        GroupCounts(frozen(first), frozen(groups[picked]), frozen(number[picked])),
        votes,
        lambda finding: describe(int(sought[finding])),
        group_name,
        tuple(skipped),
    )


def count_distinct(keys: Int64) -> tuple[Int64, Int64]:
    """Return the distinct keys, sorted, and the number of each."""
    most = int(keys.max(initial=-1)) + 1
    if most > 4 * len(keys) + _DENSE:
        distinct_keys, number = np.unique(keys, return_counts=True)
        return distinct_keys, number
    number = np.bincount(keys, minlength=most)
    distinct_keys = np.flatnonzero(number)
    return distinct_keys, number[distinct_keys]


def _minority_votes(row: Int64, vote: Codes, number: Int64, rows: int) -> Int64:
    """Return the number of votes in each row that are not for its most frequent way."""
    has_vote = vote >= 0
    width = int(vote.max(initial=0)) + 1
    key = row[has_vote] * width + vote[has_vote]
    distinct, place = np.unique(key, return_inverse=True)
    ways = np.bincount(place, number[has_vote], minlength=len(distinct)).astype(np.int64)
    total, most = np.zeros((2, rows), np.int64)
    np.add.at(total, distinct // width, ways)
    np.maximum.at(most, distinct // width, ways)
    return total - most


def select_occurrences(occurrences: Occurrences, is_selected: Bools) -> Occurrences:
    """Return some of the occurrences."""
    of, start, end, group = occurrences
    return of[is_selected], start[is_selected], end[is_selected], group[is_selected]


def concatenate_occurrences(*parts: Occurrences) -> Occurrences:
    """Return the occurrences of several parts together."""
    of, start, end, group = (np.concatenate(column) for column in zip(*parts, strict=True))
    return of, start, end, group
