"""The verdicts that decide which of two systems is better: without them, the better one is no longer better.

Verdicts whose spans are connected by a chain of overlapping spans form a group, so that the changes of groups add up.
A greedy search in exact fractions drops verdicts until the order of the systems turns, and restores those that need not
be dropped; the result is checked by scoring the whole corpus again. A bound says how many verdicts have to be dropped
at least.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache

import numpy as np
from numpy.typing import NDArray

from nereval_core.alignment.codes import Decision
from nereval_core.corpus import Layer
from nereval_core.review.apply import AppliedVerdicts, Change, apply_verdicts, drop_verdicts
from nereval_core.review.apply.verdict_places import group_verdicts, place_counts
from nereval_core.review.apply.what_if import exact_f1
from nereval_core.scoring import Settings, score_layers
from nereval_core.scoring.counts import Counts

ENUMERATED_VERDICTS = 6
"""Verdicts of a group up to which all its subsets are scored."""
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


def conclude(found: AppliedVerdicts, systems: tuple[Layer, Layer], settings: Settings) -> Conclusion | None:
    """Return the verdicts that decide the order of two systems under the one criterion of the settings.

    None where neither system is better, or a score is undefined.
    """
    start = _sums(found, systems, settings)
    f1 = _f1(start)
    if start is None or f1 is None or f1[0] == f1[1]:
        return None
    if f1[0] < f1[1]:
        start, f1, systems = start[2 * _SIDE :] + start[: 2 * _SIDE], f1[::-1], systems[::-1]
    result = Conclusion(systems[0].name, systems[1].name, settings.criteria[0].name, (float(f1[0]), float(f1[1])))
    effects = _Effects(found, systems, settings)
    dropped = _search(effects, start)
    least = _least(effects, start) if settings.counting == "one-to-one" else 1
    if dropped is None:
        return replace(result, firm=least is None, least=least or 0)
    names = {
        one.uid
        for group, choice in zip(effects.groups, dropped, strict=True)
        for bit, one in enumerate(group.verdicts)
        if choice >> bit & 1
    }
    left = drop_verdicts(found.reviewed, names)
    again = apply_verdicts(found.gold, left, found.layers, only_this_document=found.only_this_document)
    turned = _f1(_sums(again, systems, settings))
    if turned is None or turned[0] > turned[1]:
        # Clusters too large to be aligned exactly do not add up: nothing is claimed.
        return result
    return replace(
        result,
        changes=tuple(change for change in found.log if change.given.uid in names),
        verdicts=len(names),
        without=(float(turned[0]), float(turned[1])),
        # Every single verdict was tried before a second one was dropped.
        least=max(least or 1, min(2, len(names))),
    )


def conclude_pairs(
    found: AppliedVerdicts, systems: Sequence[Layer], settings: Settings, *, first_only: bool = False
) -> Mapping[tuple[str, str, str], Conclusion]:
    """Return the conclusions by criterion, better and worse system, of all pairs or of those with the first system."""
    rows = (
        conclude(found, (one, two), replace(settings, criteria=(criterion,)))
        for criterion in settings.criteria
        for at, one in enumerate(systems[:1] if first_only else systems)
        for two in systems[at + 1 :]
    )
    return {(row.criterion, row.better, row.worse): row for row in rows if row is not None}


def _sums(found: AppliedVerdicts, systems: Sequence[Layer], settings: Settings) -> Sums | None:
    """Return the counts with verdicts applied, None where gold then lacks what the criterion needs."""
    (criterion,) = settings.criteria
    if criterion.lacks(found.layer) is not None:
        return None
    counts = [score_layers(found.layer, system, settings).counts(criterion.name) for system in systems]
    return tuple(value for one in counts for value in (*one.gold, *one.pred))


def _f1(sums: Sums | None) -> tuple[Fraction, Fraction] | None:
    """Return F1 of both systems, None where one is undefined."""
    if sums is None:
        return None
    parts = [sums[low : low + _SIDE] for low in range(0, 4 * _SIDE, _SIDE)]
    one, two = exact_f1(Counts(parts[0], parts[1])), exact_f1(Counts(parts[2], parts[3]))
    return None if one is None or two is None else (one, two)


class _Effects:
    """The groups of the verdicts that may change scores, and the counts at their places without some of them.

    A choice of dropped verdicts is a number: bit i stands for the i-th verdict of the group.
    """

    def __init__(self, found: AppliedVerdicts, systems: tuple[Layer, Layer], settings: Settings) -> None:
        self._found, self._systems, self._settings = found, systems, settings
        self.groups = group_verdicts(found, systems, by_token=settings.criteria[0].unit == "token")
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

    def sums(self, wanted: Iterable[tuple[int, int]]) -> list[Sums]:
        """Return the counts at the places of groups, each given with its choice."""
        asked = list(wanted)
        new = [one for one in asked if one not in self._known]
        rows = [
            (place, [one for bit, one in enumerate(self.groups[group].verdicts) if not choice >> bit & 1])
            for group, choice in new
            for place in self.groups[group].places
        ]
        counts = iter(place_counts(self._found, rows, self._systems, self._settings).reshape(-1, 4 * _SIDE).tolist())
        for group, choice in new:
            own = [next(counts) for _ in self.groups[group].places]
            self._known[group, choice] = tuple(map(sum, zip(*own, strict=True)))
        return [self._known[one] for one in asked]


def _search(effects: _Effects, start: Sums) -> list[int] | None:
    """Return the choice of each group that together turn the order, without needless ones; None where none is found."""

    @cache
    def lead(sums: Sums) -> Fraction | None:
        both = _f1(sums)
        return None if both is None else both[0] - both[1]

    def moved(group: int, choice: int) -> tuple[Sums, Fraction | None]:
        old, new = effects.sums(((group, dropped[group]), (group, choice)))
        sums = tuple(value - less + more for value, less, more in zip(now, old, new, strict=True))
        return sums, lead(sums)

    def steps(ahead: Fraction) -> Iterator[tuple[tuple[bool, Fraction, int, int], Sums]]:
        for group in range(len(dropped)):
            for choice in effects.larger(group, dropped[group]):
                sums, left = moved(group, choice)
                if left is not None and left < ahead:
                    cost = choice.bit_count() - dropped[group].bit_count()
                    # A step that turns the order is taken for its few verdicts, any other for its gain per verdict.
                    yield (left <= 0, Fraction(-cost) if left <= 0 else (ahead - left) / cost, -group, -choice), sums

    dropped, now = [0] * len(effects.groups), start
    while (ahead := lead(now)) is not None and ahead > 0:
        best = max(steps(ahead), default=None)
        if best is None:
            return None
        (_, _, group, choice), now = best
        dropped[-group] = -choice
    again = True
    while again:
        again = False
        for group in range(len(dropped)):
            for bit in range(dropped[group].bit_length()):
                sums, left = moved(group, dropped[group] & ~(1 << bit))
                if dropped[group] >> bit & 1 and left is not None and left <= 0:
                    dropped[group], now, again = dropped[group] & ~(1 << bit), sums, True
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
    count, most = len(sizes), 1 << max(sizes, default=0)
    credit, spans, size = (np.zeros(shape, np.int64) for shape in ((count, most, 2), (count, most), (count, most)))
    for group in range(count):
        choices = range(1 << sizes[group])
        change = np.array(effects.sums((group, choice) for choice in choices)).reshape(-1, 2, 2, _SIDE)
        change -= change[0].copy()
        credit[group, : len(choices)] = 2 * change[:, :, 0, Decision.COR] + change[:, :, 0, Decision.PAR]
        spans[group, : len(choices)] = change[:, 0, 0].sum(axis=1)
        size[group, : len(choices)] = [choice.bit_count() for choice in choices]
    whole = np.array(start).reshape(2, 2, _SIDE)
    h1, h2 = (2 * whole[:, 0, Decision.COR] + whole[:, 0, Decision.PAR]).tolist()
    p, (a1, a2) = int(whole[0, 0].sum()), whole[:, 1].sum(axis=1).tolist()
    found = []
    for more in range(int(spans.min(axis=1).sum()), int(spans.max(axis=1).sum()) + 1):
        one, two = p + more + a2, p + more + a1
        needed = _verdicts_for(h1 * one - h2 * two, credit[:, :, 1] * two - credit[:, :, 0] * one, size)
        moved = _verdicts_for(abs(more), spans if more > 0 else -spans, size)
        if needed is not None and moved is not None:
            found.append(max(needed, moved))
    return min(found, default=None)


def _verdicts_for(wanted: int, gain: NDArray[np.int64], size: NDArray[np.int64]) -> int | None:
    """Return a number of verdicts that it takes at least to gain so much, None where all of them do not.

    `gain` and `size` (verdicts) have shape (groups, choices).
    """
    if wanted <= 0:
        return 0
    most = gain.max(axis=1).clip(0)
    if int(most.sum()) < wanted:
        return None
    rate = np.minimum((gain / np.maximum(size, 1)).max(axis=1).clip(0), most)
    reached = np.cumsum(np.sort(np.repeat(rate, size.max(axis=1)))[::-1])
    # Rates are floats: the bound gives them what they may lack by rounding.
    return int(np.searchsorted(reached * (1 + 1e-12) + 1e-6, wanted)) + 1
