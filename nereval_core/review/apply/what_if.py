"""Scores against gold as it is and against gold with verdicts applied."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from nereval_core.alignment.codes import Decision
from nereval_core.corpus import Layer
from nereval_core.corpus.subset import select_documents, select_spans
from nereval_core.review.apply import AppliedVerdicts
from nereval_core.scoring import Settings, score_layers
from nereval_core.scoring.counts import RATIOS, Counts

if TYPE_CHECKING:
    import pandas as pd

WHAT_IF_COLUMNS = (
    *("system", "criterion"),
    *(column for ratio in RATIOS for column in (ratio, f"{ratio}_after", f"{ratio}_difference")),
    *(column for code in ("COR", "POS", "ACT") for column in (code, f"{code}_after")),
)
"""A ratio before the verdicts, after them, and the difference; undefined is NaN. COR counts gold spans."""


class CountsPair(NamedTuple):
    """Counts before and after the verdicts; None where gold lacks what the criterion needs."""

    before: Counts | None
    after: Counts | None

    def difference(self, ratio: str) -> float | None:
        """Return a ratio after the verdicts less that before, None where one is undefined."""
        before, after = (None if counts is None else getattr(counts, ratio) for counts in self)
        return None if before is None or after is None else after - before


@dataclass(frozen=True, eq=False)
class WhatIf:
    """Counts before and after verdicts by (system, criterion), under `settings`."""

    applied: AppliedVerdicts
    settings: Settings
    counts: Mapping[tuple[str, str], CountsPair]

    def table(self) -> pd.DataFrame:
        """Return a row for each system and criterion, with WHAT_IF_COLUMNS."""
        import pandas as pd

        from nereval_core.scoring.count_tables import TEXT_DTYPE

        rows = [(*key, *_cells(both)) for key, both in self.counts.items()]
        return pd.DataFrame(rows, columns=list(WHAT_IF_COLUMNS)).astype(dict.fromkeys(WHAT_IF_COLUMNS[:2], TEXT_DTYPE))


def what_if(applied: AppliedVerdicts, systems: Sequence[Layer], settings: Settings) -> WhatIf:
    """Score systems against gold as it is and with verdicts applied, under the criteria that apply to either.

    The systems lie over gold's documents. Counts are sums over documents, so only the documents that verdicts change
    are scored twice.
    """
    gold, corrected = applied.gold, applied.layer
    criteria = tuple(
        criterion for criterion in settings.criteria if None in (criterion.lacks(gold), criterion.lacks(corrected))
    )
    settings = replace(settings, criteria=criteria)
    changed = [
        number for number, settled in applied.results.items() if settled.gone or settled.added or settled.alternatives
    ]
    numbers = np.array(sorted(changed), np.int64)
    documents = select_documents(gold.documents, numbers)
    old, new = (select_spans(layer, numbers, documents) for layer in (gold, corrected))
    counts: dict[tuple[str, str], CountsPair] = {}
    for system in systems:
        scores, part = score_layers(gold, system, settings), select_spans(system, numbers, documents)
        less, more = score_layers(old, part, settings), score_layers(new, part, settings)
        for criterion in criteria:
            before = scores.counts(criterion.name)
            after = exchanged(before, less.counts(criterion.name), more.counts(criterion.name))
            counts[system.name, criterion.name] = CountsPair(
                before if criterion.lacks(gold) is None else None, after if criterion.lacks(corrected) is None else None
            )
    return WhatIf(applied, settings, counts)


def count_against(gold: Layer, system: Layer, settings: Settings) -> Counts:
    """Return the counts of a system against another layer of gold, under settings with one criterion."""
    (criterion,) = settings.criteria
    return score_layers(gold, system, settings).counts(criterion.name)


def exchanged(whole: Counts, less: Counts, more: Counts) -> Counts:
    """Return the counts of a whole with those of a part exchanged for others."""
    gold, pred = (
        tuple(value - old + new for value, old, new in zip(*sides, strict=True))
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


def _cells(both: CountsPair) -> list[float | int | None]:
    cells: list[float | int | None] = []
    for ratio in RATIOS:
        before, after = (None if counts is None else getattr(counts, ratio) for counts in both)
        cells += [before, after, both.difference(ratio)]
    sums = [(None,) * 3 if side is None else (side.gold[Decision.COR], side.pos, side.act) for side in both]
    return [*cells, *(value for pair in zip(*sums, strict=True) for value in pair)]
