"""A layer made ready to be questioned: its spans among the words of its texts, and what is found by a question.

A spot is a place that is annotated: spans of equal boundaries and fragments are one, with the types of all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nereval_core.analysis.running_words import form_of
from nereval_core.analysis.surface_forms import Forms, Hits, Places, forms_of, hits_of, places_of
from nereval_core.corpus import Int32, Int64, Layer, frozen

Bools = NDArray[np.bool_]
Codes = NDArray[np.integer[Any]]

_DENSE = 1 << 20
"""So many numbers more than there are keys are counted in a table of all of them."""


class Spots(NamedTuple):
    """Where a layer is annotated: the first span of each spot, and its types as an index into `names`."""

    span: Int64
    types: Int32
    names: tuple[str, ...]


class Cover(NamedTuple):
    """What is annotated of the words of the texts, by the number of a word.

    `before` is how many of the words before it are in some spot; `begun` and `ended` how many spots begin at an
    earlier word, and end before it. Shapes (words + 1,).
    """

    before: Int64
    begun: Int64
    ended: Int64

    def free(self, low: Codes, high: Codes) -> Bools:
        """Tell whether no spot has any of the words `low` to `high`."""
        return np.asarray(self.before[high] == self.before[low], bool)

    def whole(self, low: Codes, high: Codes) -> Bools:
        """Tell whether no spot stands across either end of the words `low` to `high`."""
        inside = self.begun == self.ended
        return np.asarray(inside[low] & inside[high], bool)


@dataclass(frozen=True, eq=False)
class Inspected:
    """A layer, and the others over the same documents that it is held against."""

    layer: Layer
    others: tuple[Layer, ...] = ()

    @cached_property
    def places(self) -> Places:
        return places_of(self.layer)

    @cached_property
    def forms(self) -> Forms:
        return forms_of(self.places.words, *self.places.own)

    @cached_property
    def hits(self) -> Hits:
        return hits_of(self.places.words, self.forms, len(self.layer.documents))

    @cached_property
    def free(self) -> Bools:
        """Which of the hits have no word in any spot."""
        return frozen(self.cover.free(self.hits.word, self.hits.word + self.hits.size))

    @cached_property
    def spots(self) -> Spots:
        return spots_of(self.layer)

    @cached_property
    def kept(self) -> Bools:
        """Which spans do not repeat another, types included."""
        kept = np.ones(len(self.layer), bool)
        kept[self.layer.duplicates] = False
        return frozen(kept)

    @cached_property
    def cover(self) -> Cover:
        spans = self.spots.span
        low, high = self.places.low[spans], self.places.high[spans]
        some = high > low
        size = self.many + 1
        begun = np.cumsum(np.bincount(low[some] + 1, minlength=size))
        ended = np.cumsum(np.bincount(high[some], minlength=size))
        # A word is in a spot if more have begun with it than have ended before it.
        inside = np.asarray(begun[1:] > ended[:-1], np.int64)
        before = np.concatenate((np.zeros(1, np.int64), np.cumsum(inside)))
        return Cover(frozen(before), frozen(begun), frozen(ended))

    def forget(self) -> None:
        """Give up what only questions take, not the names of what they found."""
        for name in ("hits", "free", "cover"):
            self.__dict__.pop(name, None)

    @cached_property
    def many(self) -> int:
        """How many words the documents have."""
        return int(self.places.words.first[len(self.layer.documents)])

    def stretch(self, low: Codes, high: Codes) -> tuple[Int64, Int64]:
        """Return where the words `low` to `high` start and end, the end exclusive, if all texts stood in a row."""
        words = self.places.words
        return words.start[low], words.end[high - 1]

    def bounds(self, spans: Codes) -> tuple[Int64, Int64]:
        """Return where spans start and end if all texts stood in a row."""
        layer = self.layer
        base = layer.documents.base[layer.doc[spans]]
        return base + layer.start[spans], base + layer.end[spans]

    def form(self, number: int) -> str:
        """Return the words of a form: those of the first span that has it."""
        return form_of(self.layer.text(int(self._examples[number])))

    @cached_property
    def _examples(self) -> Int64:
        found = np.full(len(self.forms.size), -1, np.int64)
        code = self.forms.code
        some = np.flatnonzero(code >= 0)[::-1]
        found[code[some]] = some
        return frozen(found)

    def text(self, doc: int, start: int, end: int) -> str:
        return self.layer.documents.texts[doc][start:end]


def spots_of(layer: Layer) -> Spots:
    """Return where a layer is annotated, with the types of each spot."""
    opens = np.ones(len(layer), bool)
    if len(layer) > 1:
        opens[1:] = False
        for column in (layer.doc, layer.start, layer.end):
            opens[1:] |= column[1:] != column[:-1]
        for span in layer.fragments:
            for later in (span, span + 1):
                if 0 < later < len(layer):
                    opens[later] |= layer.fragments.get(later) != layer.fragments.get(later - 1)
    first = np.flatnonzero(opens)
    types = layer.type[first].astype(np.int32)
    number = {(code,): code for code in range(len(layer.types))}
    sizes = np.diff(first, append=len(layer))
    for spot in np.flatnonzero(sizes > 1).tolist():
        several = tuple(sorted(set(layer.type[first[spot] : first[spot] + sizes[spot]].tolist())))
        types[spot] = number.setdefault(several, len(number))
    names = tuple(" + ".join(layer.types[code] for code in codes) for codes in number)
    return Spots(frozen(first), frozen(types), names)


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


__all__: Sequence[str] = (
    "Cells",
    "Found",
    "Inspected",
    "Occurrences",
    "Spots",
    "chosen",
    "counted",
    "found_of",
    "joined",
    "spots_of",
)
