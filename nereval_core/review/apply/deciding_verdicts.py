"""How many verdicts a conclusion hangs on: which have to fall so that one system is no longer better than another.

They are sought greedily, by how much closer F1 of the two systems comes for each verdict, in exact fractions over
exact effects. What is found is checked by scoring the whole anew, and none of it can be left out. Whether a smaller set
might do is told by a bound: fewer than `least` verdicts never do.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from nereval_core.alignment.codes import Decision
from nereval_core.corpus import Layer
from nereval_core.review.apply import Applied, Change, applied, without
from nereval_core.review.apply.count_changes import WIDTH, Effect, Effects
from nereval_core.review.apply.what_if import exact_f1, what_if
from nereval_core.scoring import Settings
from nereval_core.scoring.counts import Counts

Choice = dict[int, int]
"""By group, which of its verdicts have fallen; groups of which none has are not in it."""


@dataclass(frozen=True)
class Hanging:
    """Under a criterion `better` has a higher F1 than `worse` only while the verdicts of `changes` stand.

    `f1` are both with all verdicts, `without` both when these have fallen. No set of fewer than `least` verdicts does
    it. Where none was found there are no `changes`; where it is proven that there is none, `firm` says so.
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

    @property
    def smallest(self) -> bool:
        """Whether it is proven that no smaller set does it."""
        return 0 < self.verdicts == self.least

    @property
    def holds(self) -> str:
        """Say in a few words how long the order stays."""
        if self.firm:
            return "whichever verdicts fall"
        return f"only while these {self.verdicts} stand" if self.verdicts else "as far as is known"

    @property
    def words(self) -> str:
        """Say it in a sentence, with what is claimed."""
        if self.firm:
            return f"{self.better} is better than {self.worse} whichever of the verdicts fall"
        if not self.verdicts:
            return f"{self.better} is better than {self.worse}; no verdicts were found that this hangs on"
        stand = "this verdict stands" if self.verdicts == 1 else f"these {self.verdicts} verdicts stand"
        claim = ""
        if self.verdicts > 1 and self.smallest:
            claim = "; no smaller set does it"
        elif self.verdicts > 1:
            claim = f"; none of them can be left out, and no set of fewer than {self.least} does it"
        return f"{self.better} is better than {self.worse} only while {stand}{claim}"


def hanging(found: Applied, systems: tuple[Layer, Layer], settings: Settings) -> Hanging | None:
    """Return what the order of two systems hangs on under the one criterion of the settings, with verdicts applied.

    None where neither is better, or a score is undefined.
    """
    (criterion,) = settings.criteria
    start = _scored(found, systems, settings)
    if start is None or start[0] == start[1]:
        return None
    better, worse = systems if start[0] > start[1] else systems[::-1]
    f1 = (float(max(start)), float(min(start)))
    said = Hanging(better.name, worse.name, criterion.name, f1)
    race = _Race(found, (better, worse), settings)
    fallen = race.greedy()
    least = race.least() if settings.counting == "one-to-one" else 1
    if fallen is None:
        return replace(said, firm=least is None, least=least or 0)
    names = race.fallen(fallen)
    after = _scored(_fewer(found, names), (better, worse), settings)
    if after is None or after[0] > after[1]:
        # Clusters too large to be aligned exactly do not add up; nothing is claimed then.
        return said
    return replace(
        said,
        changes=tuple(change for change in found.log if change.given.uid in names),
        verdicts=len(names),
        without=(float(after[0]), float(after[1])),
        # Every single verdict was tried before a second one was sought.
        least=max(least or 1, min(2, len(names))),
    )


def _fewer(found: Applied, names: frozenset[str]) -> Applied:
    left = without(found.reviewed, names)
    return applied(found.gold, left, found.layers, only_this_document=found.only_this_document)


def _scored(found: Applied, systems: tuple[Layer, Layer], settings: Settings) -> tuple[Fraction, Fraction] | None:
    """Return F1 of both systems with verdicts applied, None where one is undefined."""
    (criterion,) = settings.criteria
    counts = what_if(found, systems, settings).counts
    both = [counts[system.name, criterion.name].after for system in systems if counts]
    ratios = [None if one is None else exact_f1(one) for one in both]
    return (ratios[0], ratios[1]) if ratios and ratios[0] is not None and ratios[1] is not None else None


class _Race:
    """Two systems, the better one first, and the verdicts that fall one after the other."""

    def __init__(self, found: Applied, systems: tuple[Layer, Layer], settings: Settings) -> None:
        (criterion,) = settings.criteria
        counts = what_if(found, systems, settings).counts
        both = [counts[system.name, criterion.name].after for system in systems]
        self.start: Effect = tuple(value for one in both if one is not None for value in (*one.gold, *one.pred))
        self.effects = Effects(found, systems, settings)
        self._leads: dict[Effect, Fraction | None] = {}

    def fallen(self, choice: Choice) -> frozenset[str]:
        """Return the uids of the verdicts that have fallen."""
        return frozenset(
            self.effects.verdicts[one].uid
            for group, fallen in choice.items()
            for bit, one in enumerate(self.effects.groups[group])
            if fallen >> bit & 1
        )

    def greedy(self) -> Choice | None:
        """Return a choice that levels or turns the order, of which nothing can be left out; None if none is found."""
        now, at = self.start, dict.fromkeys(range(len(self.effects.groups)), 0)
        lead = self._lead(now)
        while lead is not None and lead > 0:
            best: tuple[bool, Fraction, int, int] | None = None
            taken: tuple[int, int, Effect] | None = None
            for group, fallen in at.items():
                for choice in self._next(group, fallen):
                    counts = self._moved(now, group, fallen, choice)
                    ahead = self._lead(counts)
                    if ahead is None or ahead >= lead:
                        continue
                    cost = choice.bit_count() - fallen.bit_count()
                    over = ahead <= 0
                    rank = (over, Fraction(-cost) if over else (lead - ahead) / cost, -group, -choice)
                    if best is None or rank > best:
                        best, taken = rank, (group, choice, counts)
            if taken is None:
                return None
            at[taken[0]], now = taken[1], taken[2]
            lead = self._lead(now)
        return (
            self._pruned({group: fallen for group, fallen in at.items() if fallen}, now) if lead is not None else None
        )

    def _next(self, group: int, fallen: int) -> Iterator[int]:
        """Yield the choices of a group in which more verdicts have fallen: all of a small one, else one more."""
        size = len(self.effects.groups[group])
        if self.effects.small(group):
            yield from (choice for choice in range(1 << size) if choice != fallen and choice & fallen == fallen)
        else:
            yield from (fallen | 1 << bit for bit in range(size) if not fallen >> bit & 1)

    def _pruned(self, choice: Choice, now: Effect) -> Choice:
        """Put back what need not have fallen, until nothing more can be put back."""
        again = True
        while again:
            again = False
            for group, bits in sorted(choice.items()):
                for bit in range(bits.bit_length()):
                    fallen = choice.get(group, 0)
                    if not fallen >> bit & 1:
                        continue
                    counts = self._moved(now, group, fallen, fallen & ~(1 << bit))
                    ahead = self._lead(counts)
                    if ahead is not None and ahead <= 0:
                        now, choice, again = counts, {**choice, group: fallen & ~(1 << bit)}, True
        return {group: fallen for group, fallen in choice.items() if fallen}

    def _moved(self, now: Effect, group: int, one: int, two: int) -> Effect:
        old, new = self.effects.of(group, (one, two))
        return tuple(value - less + more for value, less, more in zip(now, old, new, strict=True))

    def _lead(self, counts: Effect) -> Fraction | None:
        """Return by how much the first system's F1 is higher."""
        if counts not in self._leads:
            half = WIDTH // 2
            parts = [counts[low : low + half] for low in range(0, 2 * WIDTH, half)]
            one, two = exact_f1(Counts(parts[0], parts[1])), exact_f1(Counts(parts[2], parts[3]))
            self._leads[counts] = None if one is None or two is None else one - two
        return self._leads[counts]

    def least(self) -> int | None:
        """Return how many verdicts have to fall at least, None where none do it, counting one to one.

        With H twice the credit, P gold spans and A predictions, the first system is no longer better where
        H1 (P + A2) <= H2 (P + A1). For each P that there may be this is linear in what groups change; each group is
        let change as much for a verdict as it can at best, and to whatever P.
        """
        groups = range(len(self.effects.groups))
        if not all(map(self.effects.small, groups)):
            return 1
        credit, spans, size = self._changes()
        h, p, a = self._sums()
        low, high = (int(each.sum()) for each in (spans.min(axis=1), spans.max(axis=1))) if len(spans) else (0, 0)
        best: int | None = None
        for more in range(low, high + 1):
            one, two = p + more + a[1], p + more + a[0]
            gain = credit[:, :, 1] * two - credit[:, :, 0] * one
            needed = _steps(gain, size, h[0] * one - h[1] * two)
            moved = _steps(spans if more > 0 else -spans, size, abs(more))
            if needed is not None and moved is not None:
                best = max(needed, moved) if best is None else min(best, max(needed, moved))
        return best

    def _changes(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Return by group and choice what it changes of twice the credit of both, and of gold spans; and its verdicts.

        Shapes (groups, choices, 2), (groups, choices), (groups, choices); rows are filled up with choices of none.
        """
        groups = self.effects.groups
        most = 1 << max(map(len, groups), default=0)
        credit = np.zeros((len(groups), most, 2), np.int64)
        spans = np.zeros((len(groups), most), np.int64)
        size = np.zeros((len(groups), most), np.int64)
        for group, members in enumerate(groups):
            choices = range(1 << len(members))
            table = np.array(self.effects.of(group, choices), np.int64)
            table -= table[0].copy()
            for system in (0, 1):
                own = table[:, system * WIDTH : (system + 1) * WIDTH]
                credit[group, : len(choices), system] = 2 * own[:, Decision.COR] + own[:, Decision.PAR]
            spans[group, : len(choices)] = table[:, : WIDTH // 2].sum(axis=1)
            size[group, : len(choices)] = [choice.bit_count() for choice in choices]
        return credit, spans, size

    def _sums(self) -> tuple[tuple[int, int], int, tuple[int, int]]:
        """Return twice the credit of both systems, gold spans, and the predictions of both."""
        one, two = self.start[:WIDTH], self.start[WIDTH:]
        credit = tuple(2 * each[Decision.COR] + each[Decision.PAR] for each in (one, two))
        half = WIDTH // 2
        return (credit[0], credit[1]), sum(one[:half]), (sum(one[half:]), sum(two[half:]))


def _steps(gain: NDArray[np.int64], size: NDArray[np.int64], wanted: int) -> int | None:
    """Return how many verdicts gain so much at best, None where all of them do not.

    `gain` and `size` (verdicts) have shape (groups, choices). A group gains no more by n verdicts than n times the
    most that one of its choices gains for a verdict.
    """
    if wanted <= 0:
        return 0
    if not gain.size:
        return None
    most = gain.max(axis=1)
    if int(most.clip(0).sum()) < wanted:
        return None
    rate = (gain / np.maximum(size, 1)).max(axis=1)
    found = np.repeat(np.minimum(rate, most).clip(0), size.max(axis=1))
    reached = np.cumsum(np.sort(found)[::-1])
    # Rates are floats: what they may lack by rounding is given to them, so that the bound stays one.
    return int(np.searchsorted(reached * (1 + 1e-12) + 1e-6, wanted)) + 1


def every_pair(
    found: Applied, systems: Iterable[Layer], settings: Settings, *, first_only: bool = False
) -> Mapping[tuple[str, str, str], Hanging]:
    """Return what each order hangs on, by criterion, better and worse system; if asked, of the first and each."""
    layers = list(systems)
    rows = (
        hanging(found, (one, two), replace(settings, criteria=(criterion,)))
        for criterion in settings.criteria
        for at, one in enumerate(layers[:1] if first_only else layers)
        for two in layers[at + 1 :]
    )
    return {(row.criterion, row.better, row.worse): row for row in rows if row is not None}
