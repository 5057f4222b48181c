"""The ladder of criteria: from strict to lenient, what each forgives against the criterion above it, by cause.

Criteria stand in the order of their credit on the corpus. F1 is 2 credit / (POS + ACT), and criteria that decide over
the same spans share POS + ACT, so the parts of a step are exact: F1' - F1 = 2 sum (credit' - credit) / (POS + ACT) over
the gold spans, each of which has one kind of cause (`gap.KINDS`) and either gains or loses.

Outcomes are not nested: `right` takes back the pairs of other types that `exact` forgives. So a step has parts that
gain and parts that lose.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd

from nereval_core.alignment.candidates import CREDIT
from nereval_core.analysis.criteria.gap import ELSEWHERE, KINDS, Gap, ordered_gap
from nereval_core.analysis.sentences import RecordCount, Sentence, join_parts
from nereval_core.records.queries import BETWEEN, YES, Query
from nereval_core.scoring import Scores
from nereval_core.scoring.count_tables import TEXT_DTYPE, Columns, typed_table
from nereval_core.scoring.criteria import Criterion, decision_table
from nereval_core.tables.glossary import DECISIONS

EXAMPLES_SOUGHT = 200
"""Gold spans of a part that examples are chosen among: the first ones, in the order of the texts."""


@dataclass(frozen=True, slots=True)
class StepPart:
    """The gold spans that gain (or lose) credit from one criterion to another by one kind of cause.

    `f1` is their part of the difference of F1, below 0 where they lose. `first` are the indices of the first of them.
    """

    kind: str
    gains: bool
    spans: int
    f1: Fraction
    first: tuple[int, ...] = ()

    def query(self, strict: str, loose: str) -> Query:
        """Return the query of its records, whichever criterion they are listed under."""
        gain, between = "more" if self.gains else "less", f"{strict}{BETWEEN}{loose}"
        return Query(decision=DECISIONS, having=((f"forgiven {between}", self.kind), (f"credit {between}", gain)))


class Piece(NamedTuple):
    """A piece of the bar of a step, from one F1 to another; `kind` is empty for what is kept."""

    kind: str
    effect: Literal["kept", "gained", "lost"]
    start: Fraction
    end: Fraction


@dataclass(frozen=True, slots=True)
class Step:
    """A step of the ladder: a criterion, the criterion above it ("" for the first), and its parts.

    The parts add up to F1 less F1 under the criterion above, exactly. F1 is None without any spans.
    """

    criterion: str
    above: str
    f1: Fraction | None
    parts: tuple[StepPart, ...] = ()

    @property
    def difference(self) -> Fraction:
        """F1 less F1 under the criterion above."""
        return sum((part.f1 for part in self.parts), Fraction(0))

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """The pieces of its bar from left to right; none without F1.

        It is filled up to F1: what is kept of the F1 above, then what is gained by kind of cause. What is lost stands
        behind.
        """
        if self.f1 is None:
            return ()
        at = self.f1 - sum((part.f1 for part in self.parts if part.gains), Fraction(0))
        pieces = [Piece("", "kept", Fraction(0), at)]
        for part in self.parts:
            pieces.append(Piece(part.kind, "gained" if part.gains else "lost", at, at + abs(part.f1)))
            at += abs(part.f1)
        return tuple(pieces)

    @property
    def changed(self) -> int:
        """The gold spans with another credit than under the criterion above."""
        return sum(part.spans for part in self.parts)

    @property
    def between(self) -> str:
        """The two criteria, as attributes of records name them."""
        return f"{self.above}{BETWEEN}{self.criterion}"

    def query(self) -> Query:
        """Return the query of the records of all parts, both those that gain and those that lose."""
        return Query(decision=DECISIONS, having=((f"changed {self.between}", YES),))

    def kind_query(self, kind: str) -> Query:
        """Return the query of the records of one kind of cause, both those that gain and those that lose."""
        return Query(decision=DECISIONS, having=((f"forgiven {self.between}", kind),))

    def gain_query(self, gains: bool) -> Query:
        """Return the query of the records of all kinds that gain, or of those that lose."""
        return Query(decision=DECISIONS, having=((f"credit {self.between}", "more" if gains else "less"),))


def comparable_criteria(scores: Scores) -> tuple[str, ...]:
    """Return the criteria that decide over the same spans, one to one: not those with types of their own, or tokens."""
    spans = [rule for rule in scores.criteria if rule.unit == "span"]
    if scores.settings.counting != "one-to-one" or not spans:
        return ()
    rules = scores.settings.rules_for(spans[0])
    return tuple(rule.name for rule in spans if scores.settings.rules_for(rule) == rules)


def ladder_order(scores: Scores, names: Sequence[str]) -> tuple[str, ...]:
    """Return criteria from strict to lenient: by their credit, equal ones by the credit that their rules could give.

    A criterion that forgives all that another one does stands after it. `names` are comparable.
    """
    rules: list[Criterion] = [scores.criterion(name) for name in names]
    # Over every code that a pair can have: a rule that forgives more has more credit in all.
    generosity = CREDIT[decision_table(tuple(rules)).decisions].sum(axis=0, dtype=np.int64)
    credit = {name: int(CREDIT[scores.decisions(name)[0]].sum(dtype=np.int64)) for name in names}
    most = dict(zip(names, generosity.tolist(), strict=True))
    return tuple(sorted(names, key=lambda name: (credit[name], most[name])))


def ladder_steps(scores: Scores) -> tuple[Step, ...]:
    """Return the steps of the comparable criteria, from strict to lenient; none without such criteria."""
    names = comparable_criteria(scores)
    if not names:
        return ()
    order = ladder_order(scores, names)
    gold, pred = scores.layers(order[0])
    credit = int(CREDIT[scores.decisions(order[0])[0]].sum(dtype=np.int64))
    # CREDIT counts in halves, so F1 = 2 (credit / 2) / (POS + ACT).
    spans = len(gold) + len(pred)
    first = Step(order[0], "", Fraction(credit, spans) if spans else None)
    steps = (step_between(scores, above, name) for above, name in pairwise(order))
    return (first, *steps)


def step_between(scores: Scores, above: str, name: str) -> Step:
    """Return the step from one criterion to another, whichever has more credit.

    Raises:
        FormatError: as `gap.ordered_gap`.
    """
    gap = ordered_gap(scores, above, name)
    return Step(name, above, gap.f1[1], step_parts(gap))


def step_parts(gap: Gap) -> tuple[StepPart, ...]:
    """Return the parts of a gap by kind of cause, those that gain before those that lose, without empty ones."""
    changed = np.flatnonzero(gap.change)
    kinds, change = gap.kinds()[changed], gap.change[changed]
    parts = []
    for gains in (True, False):
        for number, kind in enumerate(KINDS):
            places = np.flatnonzero((kinds == number) & ((change > 0) == gains))
            if len(places):
                f1 = Fraction(int(change[places].sum(dtype=np.int64)), gap.spans)
                first = tuple(changed[places[:EXAMPLES_SOUGHT]].tolist())
                parts.append(StepPart(kind, gains, len(places), f1, first))
    return tuple(parts)


PIECE_COLUMNS: Columns = {
    **dict.fromkeys(("criterion", "kind", "effect"), TEXT_DTYPE),
    **dict.fromkeys(("start", "end"), "float64"),
}
"""Columns of `piece_table` and their dtypes: from which F1 to which a piece of the bar of a criterion stands."""


def piece_table(steps: Sequence[Step]) -> pd.DataFrame:
    """Return the pieces of all bars: PIECE_COLUMNS."""
    rows = [
        (step.criterion, piece.kind, piece.effect, float(piece.start), float(piece.end))
        for step in steps
        for piece in step.pieces
    ]
    return typed_table(rows, PIECE_COLUMNS)


def ladder_sentence(steps: Sequence[Step], whole: Step | None) -> Sentence:
    """Return the sentence on F1 under the first and the last criterion, and on the causes of the difference.

    `whole` is the step from the first criterion to the last. Numbers open records, whichever criterion is chosen.
    """
    first, last = (steps[0], steps[-1]) if steps else (None, None)
    if first is None or last is None or first.f1 is None or last.f1 is None:
        return ()
    start = f"F1 is {float(first.f1):.3f} under {first.criterion}"
    if whole is None or first is last:
        return (f"{start}.",)
    start += f" and {float(last.f1):.3f} under {last.criterion}"
    sums: dict[str, tuple[int, Fraction]] = {}
    for part in whole.parts:
        spans, f1 = sums.get(part.kind, (0, Fraction(0)))
        sums[part.kind] = (spans + part.spans, f1 + part.f1)
    if not sums:
        return (f"{start}.",)
    parts: list[str | RecordCount] = [f"{start}. Of the {float(whole.difference):.3f} in between, "]
    for place, (kind, (spans, f1)) in enumerate(sums.items()):
        text = f"{float(f1):.3f}".replace("-", "−")
        verb = " is due to " if not place else " to "
        joint = "" if not place else " and " if place == len(sums) - 1 else ", "
        parts += [
            joint,
            RecordCount(text, whole.kind_query(kind), spans),
            verb,
            "other alignments" if kind == ELSEWHERE else kind,
        ]
    return join_parts([*parts, "."])
