"""What verdicts change of the counts of two systems, exactly, group by group.

Two verdicts may matter to one another where a chain of spans that share characters leads from one to the other: then
they belong to one group. Groups lie apart, so that what they change adds up.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from nereval_core.corpus import Layer
from nereval_core.corpus.tokens import tokens_of
from nereval_core.review.apply import Applied, about, settle
from nereval_core.review.apply.settlement import ADDED, ALTERNATIVE, CIRCLE, REMOVED, REPEATS, REPLACED, named
from nereval_core.review.apply.text_windows import Window, cut, pieces, within
from nereval_core.review.verdicts import Given, Marked
from nereval_core.scoring import Scores, Settings, score_layers

MATTERS = (REMOVED, REPLACED, ADDED, ALTERNATIVE, CIRCLE, REPEATS)
"""What became of verdicts that may matter: without another one, even those that could not be applied."""
SMALL = 6
"""Verdicts of a group up to which every choice of them is scored at once."""
WIDTH = 10
"""Counts of one system: gold spans and predictions by Decision."""

Effect = tuple[int, ...]
"""Counts of the first system, then of the second, WIDTH each."""


class Effects:
    """The verdicts that matter, in a fixed order, their groups, and the counts of each group without some of them.

    A choice of a group's verdicts is a number: bit i is set where the i-th of them has fallen.
    """

    def __init__(self, found: Applied, systems: tuple[Layer, Layer], settings: Settings) -> None:
        """Take gold as verdicts have it, the systems, and settings with one criterion."""
        (self._criterion,) = settings.criteria
        self._found, self._systems, self._settings = found, systems, settings
        every = {one.given.uid: one.given for one in found.log if (one.done or one.reason) in MATTERS}
        self.verdicts = tuple(sorted(every.values(), key=_place))
        self._number = {one.uid: at for at, one in enumerate(self.verdicts)}
        concerned = about(found.gold, found.reviewed, only_this_document=found.only_this_document)
        self._given = {
            document: tuple(one for one in given if one.uid in self._number) for document, given in concerned
        }
        self.groups, self._windows = self._grouped()
        self._known: dict[tuple[int, int], Effect] = {}
        small = [group for group, members in enumerate(self.groups) if self.small(group)]
        self._score([(group, choice) for group in small for choice in range(1 << len(self.groups[group]))])

    def small(self, group: int) -> bool:
        """Tell whether every choice of a group's verdicts is scored."""
        return len(self.groups[group]) <= SMALL

    def of(self, group: int, choices: Iterable[int]) -> list[Effect]:
        """Return the counts of a group where some of its verdicts have fallen."""
        wanted = list(choices)
        self._score([(group, choice) for choice in wanted if (group, choice) not in self._known])
        return [self._known[group, choice] for choice in wanted]

    def _grouped(self) -> tuple[tuple[tuple[int, ...], ...], tuple[tuple[Window, ...], ...]]:
        """Return the verdicts of each group, and the windows that its spans lie in."""
        member = list(range(len(self.verdicts)))

        def first(one: int) -> int:
            while member[one] != one:
                one = member[one]
            return one

        windows: dict[int, set[Window]] = defaultdict(set)
        for document, given in self._given.items():
            spans = {self._number[one.uid]: sorted(named([one])) for one in given}
            owner: dict[Window, int] = {}
            for one, found in self._around(document, spans):
                windows[one].add(found)
                low, high = sorted((first(one), first(owner.setdefault(found, one))))
                member[high] = low
        groups: dict[int, list[int]] = defaultdict(list)
        for one in range(len(self.verdicts)):
            groups[first(one)].append(one)
        rows = [tuple(members) for _, members in sorted(groups.items())]
        return tuple(rows), tuple(tuple(sorted(set().union(*(windows[one] for one in row)))) for row in rows)

    def _around(self, document: int, spans: dict[int, list[Marked]]) -> Iterator[tuple[int, Window]]:
        """Yield for each verdict the windows that its spans lie in: runs of spans that share characters."""
        pairs = [(one, span) for one, found in spans.items() for span in found]
        starts = [np.array([span.start for _, span in pairs], np.int64)]
        ends = [np.array([span.end for _, span in pairs], np.int64)]
        for layer in (self._found.gold, *self._systems):
            rows = slice(*layer.first[document : document + 2].tolist())
            starts.append(layer.start[rows].astype(np.int64))
            ends.append(layer.end[rows].astype(np.int64))
        start, end = np.concatenate(starts), np.concatenate(ends)
        if self._criterion.unit == "token":
            start, end = self._to_tokens(document, start, end)
        order = np.argsort(start, kind="stable")
        reach = np.maximum.accumulate(end[order])
        opens = np.ones(len(order), bool)
        opens[1:] = start[order][1:] >= reach[:-1]
        first = np.flatnonzero(opens)
        low, high = start[order][first], np.maximum.reduceat(end[order], first) if len(first) else first
        at = np.searchsorted(low, start[: len(pairs)], side="right") - 1
        for (one, _), window in zip(pairs, at.tolist(), strict=True):
            yield one, Window(document, int(low[window]), int(high[window]))

    def _to_tokens(
        self, document: int, start: NDArray[np.int64], end: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], ...]:
        """Return spans that reach over every token that they share a character with."""
        tokens = tokens_of(self._found.gold.documents)
        rows = slice(*tokens.first[document : document + 2].tolist())
        # One before the first and one after the last, so that there is always a token to look at.
        far = int(self._found.gold.documents.lengths[document]) + 1
        low = np.concatenate((tokens.starts[rows], [far])).astype(np.int64)
        high = np.concatenate(([0], tokens.ends[rows])).astype(np.int64)
        before = np.searchsorted(high[1:], start, side="right")
        after = np.searchsorted(low[:-1], end, side="left")
        return np.minimum(start, low[before]), np.maximum(end, high[after])

    def _score(self, wanted: Sequence[tuple[int, int]]) -> None:
        """Score groups without some of their verdicts, all at once: each as a small document of its own."""
        gold = self._found.gold
        windows: list[Window] = []
        results = []
        owner: list[int] = []
        for place, (group, choice) in enumerate(wanted):
            left = {one for bit, one in enumerate(self.groups[group]) if not choice >> bit & 1}
            made: dict[int, list[Window]] = defaultdict(list)
            for window in self._windows[group]:
                made[window.document].append(window)
            for document, those in made.items():
                result = settle(gold, document, self._about(document, left), self._found.layers)
                windows += those
                results += [within(result, window) for window in those]
                owner += [place] * len(those)
        if not windows:
            return
        by_token = self._criterion.unit == "token"
        documents = cut(gold.documents, windows, tokens=by_token)
        made_gold = pieces(gold, windows, documents, results)
        sums = np.zeros((len(wanted), 2 * WIDTH), np.int64)
        for number, system in enumerate(self._systems):
            scores = score_layers(made_gold, pieces(system, windows, documents), self._settings)
            np.add.at(sums[:, number * WIDTH : (number + 1) * WIDTH], owner, _by_window(scores, self._criterion.name))
        self._known.update(zip(wanted, map(tuple, sums.tolist()), strict=True))

    def _about(self, document: int, left: Collection[int]) -> list[Given]:
        return [one for one in self._given[document] if self._number[one.uid] in left]


def _place(one: Given) -> tuple[object, ...]:
    """Return what verdicts are sorted by, whenever they were given."""
    key = one.verdict.key
    return key.text, key.side, key.span, one.verdict.seen.document


def _by_window(scores: Scores, criterion: str) -> NDArray[np.int64]:
    counts = scores.by_document(criterion)
    found = np.zeros((scores.documents, WIDTH), np.int64)
    found[counts.numbers] = np.hstack((counts.gold, counts.pred))
    return found
