"""The verdicts that decide which of two systems is better: without them, the better one is no longer better.

Verdicts whose spans are connected by a chain of overlapping spans form a group, so that the changes of groups add up.
A greedy search drops verdicts until the order of the systems turns, and restores those that need not be dropped; the
result is checked by scoring the whole corpus again. A bound says how many verdicts have to be dropped at least.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from heapq import heappop, heappush

import numpy as np

from nereval_core.alignment.codes import Decision
from nereval_core.corpus import Layer
from nereval_core.corpus.arrays import Int64
from nereval_core.review.apply import AppliedVerdicts, Change, apply_verdicts, drop_verdicts
from nereval_core.review.apply.verdict_places import group_verdicts, place_counts
from nereval_core.review.apply.what_if import exact_f1
from nereval_core.scoring import Settings, score_layers
from nereval_core.scoring.counts import Counts, ratio_columns

ENUMERATED_VERDICTS = 6
"""Verdicts of a group up to which all its subsets are scored."""
_SIXTIETHS = 60
"""The least common multiple of the numbers of verdicts up to ENUMERATED_VERDICTS."""
_ROUNDING = 1e-12
"""More than the rounding error of a difference of two F1."""
_SIDE = len(Decision)
Sums = tuple[int, ...]
"""Counts of two systems, one after the other, each as gold spans and predictions by Decision (_SIDE each)."""


@dataclass(frozen=True)
class Conclusion:
    """The better of two systems under a criterion, and the verdicts without which it is no longer better.

    `f1` are the scores of both with all verdicts, `without` those without the `changes` of so many `verdicts`; there
    are none where no such set was found. With `firm` there is none. No set of fewer than `least` verdicts turns the
    order.
    """

    better: str
    worse: str
    criterion: str
    f1: tuple[float, float]
    changes: tuple[Change, ...] = ()
    verdicts: int = 0
    without: tuple[float, float] | None = None
    least: int = 0
    firm: bool = False


def conclude(applied: AppliedVerdicts, systems: tuple[Layer, Layer], settings: Settings) -> Conclusion | None:
    """Return the verdicts that decide the order of two systems under the one criterion of the settings.

    None where neither system is better, or a score is undefined.
    """
    start = _sums(applied, systems, settings)
    f1 = _f1(start)
    if start is None or f1 is None or f1[0] == f1[1]:
        return None
    if f1[0] < f1[1]:
        start, f1, systems = start[2 * _SIDE :] + start[: 2 * _SIDE], f1[::-1], systems[::-1]
    result = Conclusion(systems[0].name, systems[1].name, settings.criteria[0].name, (float(f1[0]), float(f1[1])))
    effects = _Effects(applied, systems, settings)
    dropped = _search(effects, start)
    least = _least(effects, start) if settings.counting == "one-to-one" else 1
    if dropped is None:
        return replace(result, firm=least is None, least=least or 0)
    names = {
        stored.uid
        for group, choice in zip(effects.groups, dropped, strict=True)
        for bit, stored in enumerate(group.verdicts)
        if choice >> bit & 1
    }
    remaining = drop_verdicts(applied.reviewed, names)
    again = apply_verdicts(applied.gold, remaining, applied.layers, only_this_document=applied.only_this_document)
    turned = _f1(_sums(again, systems, settings))
    if turned is None or turned[0] > turned[1]:
        # Clusters too large to be aligned exactly do not add up: nothing is claimed.
        return result
    return replace(
        result,
        changes=tuple(change for change in applied.log if change.stored.uid in names),
        verdicts=len(names),
        without=(float(turned[0]), float(turned[1])),
        # Every single verdict was tried before a second one was dropped.
        least=max(least or 1, min(2, len(names))),
    )


def conclude_pairs(
    applied: AppliedVerdicts, systems: Sequence[Layer], settings: Settings, *, first_only: bool = False
) -> Mapping[tuple[str, str, str], Conclusion]:
    """Return the conclusions by criterion, better and worse system, of all pairs or of those with the first system."""
    rows = (
        conclude(applied, (first, second), replace(settings, criteria=(criterion,)))
        for criterion in settings.criteria
        for at, first in enumerate(systems[:1] if first_only else systems)
        for second in systems[at + 1 :]
    )
    return {(row.criterion, row.better, row.worse): row for row in rows if row is not None}


def _sums(applied: AppliedVerdicts, systems: Sequence[Layer], settings: Settings) -> Sums | None:
    """Return the counts with verdicts applied, None where gold then lacks what the criterion needs."""
    (criterion,) = settings.criteria
    if criterion.lacks(applied.layer) is not None:
        return None
    counts = [score_layers(applied.layer, system, settings).counts(criterion.name) for system in systems]
    return tuple(value for system_counts in counts for value in (*system_counts.gold, *system_counts.pred))


def _f1(sums: Sums | None) -> tuple[Fraction, Fraction] | None:
    """Return F1 of both systems, None where one is undefined."""
    if sums is None:
        return None
    parts = [sums[low : low + _SIDE] for low in range(0, 4 * _SIDE, _SIDE)]
    first, second = exact_f1(Counts(parts[0], parts[1])), exact_f1(Counts(parts[2], parts[3]))
    return None if first is None or second is None else (first, second)


class _Effects:
    """The groups of the verdicts that may change scores, and the counts at their places without some of them.

    A choice of dropped verdicts is a number: bit i stands for the i-th verdict of the group.
    """

    def __init__(self, applied: AppliedVerdicts, systems: tuple[Layer, Layer], settings: Settings) -> None:
        self._found, self._systems, self._settings = applied, systems, settings
        self.groups = group_verdicts(applied, systems, by_token=settings.criteria[0].unit == "token")
        self._known: dict[tuple[int, int], Sums] = {}
        small = [(at, len(group.verdicts)) for at, group in enumerate(self.groups) if self.enumerates(at)]
        self.sums((group, choice) for group, verdicts in small for choice in range(1 << verdicts))

    def enumerates(self, group: int) -> bool:
        """Return whether all choices of a group are scored."""
        return len(self.groups[group].verdicts) <= ENUMERATED_VERDICTS

    def larger(self, group: int, dropped: int) -> Iterator[int]:
        """Yield choices in which more verdicts are dropped: all of them, or in a large group those with one more."""
        size = len(self.groups[group].verdicts)
        if self.enumerates(group):
            yield from (choice for choice in range(1 << size) if choice != dropped and choice & dropped == dropped)
        else:
            yield from (dropped | 1 << bit for bit in range(size) if not dropped >> bit & 1)

    def sums(self, choices: Iterable[tuple[int, int]]) -> list[Sums]:
        """Return the counts at the places of groups, each given with its choice."""
        requested = list(choices)
        new = [choice for choice in requested if choice not in self._known]
        rows = [
            (place, [stored for bit, stored in enumerate(self.groups[group].verdicts) if not choice >> bit & 1])
            for group, choice in new
            for place in self.groups[group].places
        ]
        counts = iter(place_counts(self._found, rows, self._systems, self._settings).reshape(-1, 4 * _SIDE).tolist())
        for group, choice in new:
            own = [next(counts) for _ in self.groups[group].places]
            self._known[group, choice] = tuple(map(sum, zip(*own, strict=True)))
        return [self._known[choice] for choice in requested]


class _Steps:
    """The larger choices of all groups, together where they change the counts alike for as many verdicts.

    Such steps have the same worth whatever was dropped before. Of verdicts there may be thousands, of kinds of steps
    few; so each step of the search looks at the kinds alone. Floats say which kinds may be the best, and fractions
    decide among them.
    """

    def __init__(self, effects: _Effects) -> None:
        self._effects = effects
        self.dropped = [0] * len(effects.groups)
        self._kind_numbers: dict[tuple[Sums, int], int] = {}
        self._kinds: list[tuple[Sums, int]] = []
        self._members: list[list[tuple[int, int, int]]] = []
        self._sizes: list[int] = []
        self._kinds_of_group: list[list[int]] = [[] for _ in effects.groups]
        self._cached: tuple[Int64, Int64] = (np.zeros((0, 4 * _SIDE), np.int64), np.zeros(0, np.int64))
        for group in range(len(effects.groups)):
            self._add(group)

    def _add(self, group: int) -> None:
        dropped = self.dropped[group]
        choices = list(self._effects.larger(group, dropped))
        old, *sums = self._effects.sums((group, choice) for choice in (dropped, *choices))
        for choice, new in zip(choices, sums, strict=True):
            kind = (tuple(map(int.__sub__, new, old)), choice.bit_count() - dropped.bit_count())
            number = self._kind_numbers.setdefault(kind, len(self._kinds))
            if number == len(self._kinds):
                self._kinds.append(kind)
                self._members.append([])
                self._sizes.append(0)
            heappush(self._members[number], (group, choice, dropped))
            self._sizes[number] += 1
            self._kinds_of_group[group].append(number)

    def take(self, now: Sums, ahead: Fraction) -> Sums | None:
        """Take the best step from counts where the lead is `ahead`, and return the new ones; None without a gain.

        A step that turns the order is taken for its few verdicts, any other for its gain per verdict.
        """
        changes, costs = self._arrays
        numbers = np.flatnonzero(np.array(self._sizes))
        counts = (np.array(now) + changes[numbers]).reshape(len(numbers), 2, 2, _SIDE)
        f1 = [ratio_columns(counts[:, system, 0], counts[:, system, 1])[2] for system in (0, 1)]
        leads, cost = f1[0] - f1[1], costs[numbers]
        gains = (float(ahead) - leads) / cost
        turning = [number for number, lead in self._exact(numbers[leads <= _ROUNDING], now) if lead <= 0]
        ranks = [(Fraction(-self._kinds[number][1]), *self._first(number)) for number in turning]
        if not ranks:
            near = numbers[gains >= np.nanmax(gains, initial=-np.inf) - _ROUNDING]
            ranks = [
                ((ahead - lead) / self._kinds[number][1], *self._first(number))
                for number, lead in self._exact(near, now)
                if lead < ahead
            ]
        if not ranks:
            return None
        _, group, choice = max(ranks)
        group, choice = -group, -choice
        old, new = self._effects.sums(((group, self.dropped[group]), (group, choice)))
        for number in self._kinds_of_group[group]:
            self._sizes[number] -= 1
        self._kinds_of_group[group] = []
        self.dropped[group] = choice
        self._add(group)
        return _exchanged(now, old, new)

    @property
    def _arrays(self) -> tuple[Int64, Int64]:
        """The changes of counts of all kinds, shape (kinds, 4 * _SIDE), and the verdicts that each drops."""
        if len(self._cached[1]) < len(self._kinds):
            changes = np.array([change for change, _ in self._kinds], np.int64).reshape(-1, 4 * _SIDE)
            self._cached = changes, np.array([verdicts for _, verdicts in self._kinds], np.int64)
        return self._cached

    def _exact(self, numbers: Int64, now: Sums) -> Iterator[tuple[int, Fraction]]:
        """Yield kinds with the lead after a step of each, where it is defined."""
        for number in numbers.tolist():
            lead = _lead(tuple(map(int.__add__, now, self._kinds[number][0])))
            if lead is not None:
                yield number, lead

    def _first(self, number: int) -> tuple[int, int]:
        """Return group and choice, both negative, of the first step of a kind that still goes on from its group."""
        members = self._members[number]
        while members[0][2] != self.dropped[members[0][0]]:
            heappop(members)
        return -members[0][0], -members[0][1]


def _lead(sums: Sums | None) -> Fraction | None:
    f1 = _f1(sums)
    return None if f1 is None else f1[0] - f1[1]


def _exchanged(sums: Sums, old: Sums, new: Sums) -> Sums:
    return tuple(value - less + more for value, less, more in zip(sums, old, new, strict=True))


def _search(effects: _Effects, start: Sums) -> list[int] | None:
    """Return the choice of each group that together turn the order, without needless ones; None where none is found."""
    steps, now = _Steps(effects), start
    while (ahead := _lead(now)) is not None and ahead > 0:
        after = steps.take(now, ahead)
        if after is None:
            return None
        now = after
    dropped, again = steps.dropped, True
    while again:
        again = False
        for group in range(len(dropped)):
            for bit in range(dropped[group].bit_length()):
                fewer = dropped[group] & ~(1 << bit)
                if fewer == dropped[group]:
                    continue
                sums = _exchanged(now, *effects.sums(((group, dropped[group]), (group, fewer))))
                if (lead := _lead(sums)) is not None and lead <= 0:
                    dropped[group], now, again = fewer, sums, True
    return dropped


def _least(effects: _Effects, start: Sums) -> int | None:
    """Return a number of verdicts that have to be dropped at least, None where no set turns the order.

    With H twice the credit, P gold spans and A predictions, the first system is no longer better where
    H1 (P + A2) <= H2 (P + A1). For each possible P this is linear in the changes of groups; each group is credited with
    the largest change per verdict that one of its choices makes. Systems are counted one to one.
    """
    sizes = [len(group.verdicts) for group in effects.groups]
    if max(sizes, default=0) > ENUMERATED_VERDICTS:
        return 1
    most = 1 << max(sizes, default=0)
    # By choice: the verdicts dropped, and the changes of H1, H2 and P.
    columns = np.zeros((len(sizes), most, 4), np.int64)
    for group, verdicts in enumerate(sizes):
        choices = range(1 << verdicts)
        change = np.array(effects.sums((group, choice) for choice in choices)).reshape(-1, 2, 2, _SIDE)
        change -= change[0].copy()
        columns[group, : len(choices), 0] = [choice.bit_count() for choice in choices]
        columns[group, : len(choices), 1:3] = 2 * change[:, :, 0, Decision.COR] + change[:, :, 0, Decision.PAR]
        columns[group, : len(choices), 3] = change[:, 0, 0].sum(axis=1)
    # Groups with the same changes are one row, with their number.
    rows, number = np.unique(columns.reshape(len(sizes), 4 * most), axis=0, return_counts=True)
    size, *credit, spans = np.moveaxis(rows.reshape(len(rows), most, 4), 2, 0)
    whole = np.array(start).reshape(2, 2, _SIDE)
    h1, h2 = (2 * whole[:, 0, Decision.COR] + whole[:, 0, Decision.PAR]).tolist()
    p, (a1, a2) = int(whole[0, 0].sum()), whole[:, 1].sum(axis=1).tolist()
    best: int | None = None
    low, high = (int((edge * number).sum()) for edge in (spans.min(axis=1), spans.max(axis=1)))
    for way in (range(high + 1), range(-1, low - 1, -1)):
        for more in way:
            moved = _verdicts_for(abs(more), spans if more > 0 else -spans, size, number)
            if moved is None or (best is not None and moved >= best):
                # It takes at least as many verdicts to change P further.
                break
            first, second = p + more + a2, p + more + a1
            needed = _verdicts_for(h1 * first - h2 * second, credit[1] * second - credit[0] * first, size, number)
            if needed is not None:
                best = max(needed, moved) if best is None else min(best, max(needed, moved))
    return best


def _verdicts_for(target: int, gain: Int64, size: Int64, number: Int64) -> int | None:
    """Return a number of verdicts that it takes at least to gain so much, None where all of them do not.

    `gain` and `size` (verdicts) have shape (rows, choices); each row stands for `number` groups.
    """
    if target <= 0:
        return 0
    most = gain.max(axis=1).clip(0)
    if int((most * number).sum()) < target:
        return None
    # Gains per verdict in sixtieths are whole numbers, since no group has more than six.
    rate = np.minimum((_SIXTIETHS * gain // np.maximum(size, 1)).max(axis=1).clip(0), _SIXTIETHS * most)
    order = np.argsort(-rate)
    rate, verdicts = rate[order], (number * size.max(axis=1))[order]
    reached = np.cumsum(rate * verdicts)
    last = int(np.searchsorted(reached, _SIXTIETHS * target))
    before = int(reached[last - 1]) if last else 0
    return int(verdicts[:last].sum()) - (before - _SIXTIETHS * target) // int(rate[last])
