"""What scores would be, had gold been as verdicts have it: every count as it is, and as it would be.

Counts are sums over documents, so those whose gold changes are scored anew, as they are and as they would be; what
they differ by is what the whole differs by.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import NamedTuple

import pandas as pd

from nereval_core.alignment.codes import Decision
from nereval_core.corpus import Layer
from nereval_core.review.apply import Applied, places
from nereval_core.review.apply.text_windows import cut, pieces, whole
from nereval_core.scoring import Settings, score_layers
from nereval_core.scoring.counts import RATIOS, Counts
from nereval_core.scoring.criteria import Criterion

WHAT_IF_COLUMNS = (
    *("system", "criterion"),
    *(column for ratio in RATIOS for column in (ratio, f"{ratio}_after", f"{ratio}_difference")),
    *(column for code in ("COR", "POS", "ACT") for column in (code, f"{code}_after")),
)
"""A ratio as it is, as it would be, and the difference; undefined is NaN. COR counts gold spans."""


class Both(NamedTuple):
    """Counts as they are and as they would be; None where gold lacks what the criterion needs."""

    before: Counts | None
    after: Counts | None

    def difference(self, ratio: str) -> float | None:
        """Return a ratio as it would be less what it is, None where one is undefined."""
        before, after = (None if counts is None else getattr(counts, ratio) for counts in self)
        return None if before is None or after is None else after - before


@dataclass(frozen=True, eq=False)
class WhatIf:
    """What comes of verdicts: counts by (system, criterion), under `settings`."""

    applied: Applied
    settings: Settings
    counts: Mapping[tuple[str, str], Both]

    def table(self) -> pd.DataFrame:
        """Return a row for each system and criterion, with WHAT_IF_COLUMNS."""
        rows = [(*key, *_cells(both)) for key, both in self.counts.items()]
        return pd.DataFrame(rows, columns=list(WHAT_IF_COLUMNS))


class Annotations(NamedTuple):
    """What criteria ask of gold spans beside boundaries and types, as far as it is there at all."""

    cores: Sequence[int]
    alternatives: Sequence[int]
    spans: int

    def __len__(self) -> int:
        return self.spans


def what_if(applied: Applied, systems: Sequence[Layer], settings: Settings) -> WhatIf:
    """Score systems against gold as it is and as verdicts have it, under the criteria that apply to either.

    The systems lie over gold's documents.
    """
    gold, after = applied.gold, annotated(applied)
    criteria = tuple(one for one in settings.criteria if one.lacks(gold) is None or one.lacks(after) is None)
    settings = replace(settings, criteria=criteria)
    changed = [number for number, found in applied.results.items() if found.gone or found.added or found.alternatives]
    windows = whole(gold.documents, changed)
    documents = cut(gold.documents, windows, tokens=any(one.unit == "token" for one in criteria))
    results = [applied.results[number] for number in changed]
    old, new = pieces(gold, windows, documents), pieces(gold, windows, documents, results)
    counts: dict[tuple[str, str], Both] = {}
    for system in systems:
        scores = score_layers(gold, system, settings)
        part = pieces(system, windows, documents)
        less, more = score_layers(old, part, settings), score_layers(new, part, settings)
        for one in criteria:
            name = one.name
            before = scores.counts(name)
            then = plus(before, less.counts(name), more.counts(name))
            counts[system.name, name] = Both(_if(one, gold, before), _if(one, after, then))
    return WhatIf(applied, settings, counts)


def annotated(applied: Applied) -> Annotations:
    """Return what gold has after the verdicts, without making it."""
    gold = applied.gold
    gone = {at for number, found in applied.results.items() for span in found.gone for at in places(gold, number, span)}
    given = [0 for found in applied.results.values() for _ in found.alternatives]
    added = sum(len(found.added) for found in applied.results.values())
    cores, others = ([0] if any(at not in gone for at in values) else [] for values in (gold.cores, gold.alternatives))
    return Annotations(cores, [*others, *given], len(gold) - len(gone) + added)


def plus(whole: Counts, less: Counts, more: Counts) -> Counts:
    """Return counts with those of a part taken out and others put in their place."""
    gold, pred = (
        tuple(one - two + three for one, two, three in zip(*sides, strict=True))
        for sides in ((whole.gold, less.gold, more.gold), (whole.pred, less.pred, more.pred))
    )
    return Counts(gold, pred)


def exact_f1(counts: Counts) -> Fraction | None:
    """Return F1 as a fraction, None where it is undefined; `Counts.f1` is this, rounded."""
    gold, pred = (2 * side[Decision.COR] + side[Decision.PAR] for side in (counts.gold, counts.pred))
    if not counts.pos + counts.act:
        return None
    if gold == pred:
        return Fraction(gold, counts.pos + counts.act)
    below = pred * counts.pos + gold * counts.act
    return Fraction(pred * gold, below) if below else Fraction(0)


def _if(criterion: Criterion, gold: Layer | Annotations, counts: Counts) -> Counts | None:
    return counts if criterion.lacks(gold) is None else None


def _cells(both: Both) -> list[float | int | None]:
    found: list[float | int | None] = []
    for ratio in RATIOS:
        before, after = (None if counts is None else getattr(counts, ratio) for counts in both)
        found += [before, after, both.difference(ratio)]
    sums = [(None,) * 3 if one is None else (one.gold[Decision.COR], one.pos, one.act) for one in both]
    return [*found, *(value for pair in zip(*sums, strict=True) for value in pair)]
