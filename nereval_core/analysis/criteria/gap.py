"""Two criteria against each other: what each makes of a span, and the gap between their F1 split by cause.

Counting one to one both criteria share POS + ACT, so the gap is the difference of their credit:
F1' - F1 = 2 (credit' - credit) / (POS + ACT), and credit is a sum over gold spans. A span's part has the cause that is
read from its pair under the looser criterion, the one with more credit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from nereval_core.alignment.candidates import CREDIT
from nereval_core.analysis.pairs import judged_alone, same_type
from nereval_core.problems import FormatError, quoted
from nereval_core.records.tables import BOUNDARIES, DECISIONS, boundaries
from nereval_core.scoring import Scores

Int8 = NDArray[np.int8]

ELSEWHERE = "aligned otherwise"
CAUSES = (
    "left boundary",
    "right boundary",
    "both boundaries",
    "fragments",
    "type",
    "boundary and type",
    ELSEWHERE,
)
"""Why a gold span earns another credit under another criterion. The first six say what differs in its pair under the
looser criterion, and the rules themselves make the whole difference; else the span changed its partner, got one or lost
it, which is ELSEWHERE."""
GAIN = ("more", "less", "same")
"""What the looser criterion gives a span: more credit than the other, less, or as much."""

GAP_COLUMNS: Mapping[str, str] = MappingProxyType(
    {"cause": "str", "more": "int64", "less": "int64", "credit": "float64", "f1": "float64", "share": "float64"}
)
"""Columns of `Gap.table` and their dtypes: gold spans that gain and that lose, their credit (COR 1, PAR 0.5), its part
of F1, and the share of the gap (NaN where there is none)."""


@dataclass(frozen=True, eq=False)
class Gap:
    """The gap in F1 from the criterion `strict` to `loose`, which has no less credit.

    `cause` (gold spans,) are indices into CAUSES, -1 where the credit is the same; `change` (gold spans,) is twice
    the credit gained. `spans` is POS + ACT.
    """

    strict: str
    loose: str
    cause: Int8
    change: Int8
    spans: int
    f1: tuple[Fraction | None, Fraction | None]

    @property
    def parts(self) -> dict[str, Fraction]:
        """The part of each cause, exactly: they add up to F1 under `loose` less F1 under `strict`."""
        sums = np.bincount(self.cause[self.cause >= 0], self.change[self.cause >= 0], minlength=len(CAUSES))
        return {
            cause: Fraction(int(half), self.spans) if self.spans else Fraction(0)
            for cause, half in zip(CAUSES, sums.tolist(), strict=True)
        }

    @property
    def total(self) -> Fraction | None:
        """The gap itself, None without any spans."""
        strict, loose = self.f1
        return None if strict is None or loose is None else loose - strict

    def table(self) -> pd.DataFrame:
        """Return one row a cause that some span has, with GAP_COLUMNS."""
        parts, whole = self.parts, self.total
        rows = []
        for number, cause in enumerate(CAUSES):
            change = self.change[self.cause == number]
            if not len(change):
                continue
            share = float(parts[cause] / whole) if whole else float("nan")
            more, less = int((change > 0).sum()), int((change < 0).sum())
            rows.append((cause, more, less, int(change.sum()) / 2, float(parts[cause]), share))
        return pd.DataFrame(rows, columns=list(GAP_COLUMNS)).astype(dict(GAP_COLUMNS))

    def gain(self) -> Int8:
        """Return for each gold span the index into GAIN."""
        return np.select([self.change > 0, self.change < 0], [0, 1], 2).astype(np.int8)


def gap(scores: Scores, one: str, other: str) -> Gap:
    """Split the gap between the F1 of two criteria, the one with less credit first (equal ones: as given).

    Raises:
        FormatError: a criterion counted by token, other type rules, or counting each side for itself.
    """
    check(scores, one, other)
    totals = [int(CREDIT[scores.decisions(name)[0]].sum()) for name in (one, other)]
    strict, loose = (other, one) if totals[0] > totals[1] else (one, other)
    return between(scores, strict, loose)


def between(scores: Scores, strict: str, loose: str) -> Gap:
    """As `gap`, in the order given, whichever has more credit."""
    check(scores, strict, loose)
    gold, pred = scores.layers(loose)
    before, after = (CREDIT[scores.decisions(name)[0]] for name in (strict, loose))
    change = (after - before).astype(np.int8)
    partner = scores.partners(loose)[0]
    paired = np.flatnonzero(partner >= 0)
    cause = np.full(len(gold), -1, np.int8)
    cause[change != 0] = CAUSES.index(ELSEWHERE)
    if len(paired):
        mate = partner[paired]
        relation = boundaries(gold, pred, paired, mate).astype(np.int64)
        same = same_type(gold, pred, paired, mate)
        # What the stricter rule would give the pair of the looser criterion: where that makes the whole difference,
        # what differs in the pair is the cause.
        judged = CREDIT[judged_alone(gold, pred, scores.criterion(strict), paired, mate)]
        ruled = np.flatnonzero((change[paired] != 0) & (judged == before[paired]))
        differs = relation != BOUNDARIES.index("equal")
        kind = np.select(
            [~differs & ~same, differs & ~same, differs],
            [CAUSES.index("type"), CAUSES.index("boundary and type"), relation - 1],
            CAUSES.index(ELSEWHERE),
        )
        cause[paired[ruled]] = kind[ruled]
    spans = len(gold) + len(pred)
    exact = [Fraction(int(credit.sum()), spans) if spans else None for credit in (before, after)]
    return Gap(strict, loose, cause, change, spans, (exact[0], exact[1]))


def decisions(scores: Scores, one: str, other: str) -> pd.DataFrame:
    """Return how many spans got which decision under two criteria: index by `one`, columns by `other`, DECISIONS.

    A span is that of a match record under `one`: every gold span, and the spurious predictions (row SPU). So rows add
    up to the counts of `one`, and without row SPU columns COR to MIS to those of `other`.

    Raises:
        FormatError: as for `gap`.
    """
    check(scores, one, other)
    alone = scores.partners(one)[1] < 0
    size = len(DECISIONS)
    one_by_one, by_other = (
        np.concatenate((of_gold, of_pred[alone])).astype(np.int64)
        for of_gold, of_pred in (scores.decisions(one), scores.decisions(other))
    )
    key = one_by_one * size + by_other
    counts = np.bincount(key, minlength=size * size).reshape(size, size)
    return pd.DataFrame(counts, index=list(DECISIONS), columns=list(DECISIONS))


def check(scores: Scores, *names: str) -> None:
    """Refuse criteria that do not decide over the same spans, one to one.

    Raises:
        FormatError: as said.
    """
    if scores.settings.counting != "one-to-one":
        raise FormatError.single("counting", None, "each side counts for itself", "compare criteria one to one")
    for name in names:
        criterion = next((criterion for criterion in scores.criteria if criterion.name == name), None)
        if criterion is None:
            known = ", ".join(criterion.name for criterion in scores.criteria)
            raise FormatError.single("criteria", None, f"no criterion {quoted(name)}", f"choose among {known}")
        if criterion.unit == "token":
            raise FormatError.single("criteria", None, f"{name} counts tokens, not spans", "choose another criterion")
    rules = [scores.settings.rules_for(scores.criterion(name)) for name in names]
    if any(rule != rules[0] for rule in rules):
        found = f"{' and '.join(names)} merge or leave out other types"
        raise FormatError.single("criteria", None, found, "compare criteria of the same types")


__all__: Sequence[str] = ("CAUSES", "ELSEWHERE", "GAIN", "GAP_COLUMNS", "Gap", "between", "check", "decisions", "gap")
