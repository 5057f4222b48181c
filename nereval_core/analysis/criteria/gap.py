"""The gap between the F1 of two criteria, split by cause, and the gold spans that a looser criterion recovers.

Counting one to one both criteria share POS + ACT, so the gap is the difference of their credit:
F1' - F1 = 2 (credit' - credit) / (POS + ACT), and credit is a sum over gold spans. The cause of a span's part is read
from its pair under the looser criterion, the one with more credit.

Recovered spans are those that a strict criterion misses, by the first looser criterion of a chain that credits them:
the fourth experiment of Tsai et al. 2006 (BMC Bioinformatics 7:92) asks how many false negatives are near misses.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from nereval_core.alignment.candidates import CREDIT
from nereval_core.alignment.codes import CODES, CONTAIN, END, EQUAL, START
from nereval_core.analysis.crosstab import check_comparable
from nereval_core.analysis.sentences import RecordCount, Sentence, join_parts, number_with_noun, record_count
from nereval_core.analysis.span_relations import have_same_type, judge_pairs, overlapping_pairs
from nereval_core.records.queries import BETWEEN, Query
from nereval_core.records.reasons import BOUNDARIES, boundaries
from nereval_core.scoring import Scores
from nereval_core.scoring.count_tables import TEXT_DTYPE, Columns, typed_table
from nereval_core.scoring.criteria import Criterion, Decision, decision_table

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
"""The causes of a gold span's different credit under two criteria. With the first six, the rules make the whole
difference in its pair under the looser criterion, and the cause is the way in which the pair differs. Otherwise the
span changed, gained or lost its partner, which is ELSEWHERE."""
CAUSES_IN_WORDS: Mapping[str, str] = {
    "left boundary": "differ at the left boundary",
    "right boundary": "differ at the right boundary",
    "both boundaries": "differ at both boundaries",
    "fragments": "differ in their fragments",
    "type": "differ in type",
    "boundary and type": "differ in boundary and type",
    ELSEWHERE: "are aligned otherwise",
}
"""The predicate of a sentence for each of CAUSES."""
KINDS: Mapping[str, tuple[str, ...]] = {
    "boundaries": ("left boundary", "right boundary", "both boundaries", "fragments"),
    "types": ("type",),
    "both": ("boundary and type",),
    ELSEWHERE: (ELSEWHERE,),
}
"""What a looser criterion forgives, and the CAUSES that are of each kind; `both` is boundaries and types at once."""
_KIND_OF_CAUSE = np.array(
    [number for cause in CAUSES for number, causes in enumerate(KINDS.values()) if cause in causes], np.int8
)
GAIN = ("more", "less", "same")
"""The credit of a span under the looser criterion, compared with the other."""

GAP_COLUMNS: Columns = {
    "cause": TEXT_DTYPE,
    "more": "int64",
    "less": "int64",
    **dict.fromkeys(("credit", "f1", "share"), "float64"),
}
"""Columns of `Gap.table` and their dtypes: gold spans that gain and that lose, their credit (COR 1, PAR 0.5), its part
of F1, and the share of the gap (NaN where there is none)."""
CHAIN = ("strict", "left", "right", "either", "approximate", "type", "exact", "lenient")
"""Criteria from strict to lenient: none credits fewer spans in all than a stricter one before it."""
OVERLAPPED, WHOLLY = "overlapped only", "wholly missed"
"""Spans that no criterion credits: their overlapping predictions are aligned with others, or there are none."""
RECOVERED_COLUMNS: Columns = {"recovered": TEXT_DTYPE, "spans": "int64", "share": "float64", "recall": "float64"}
"""Columns of `RecoveredSpans.table` and their dtypes. `share` is of the false negatives; `recall` is the share of gold
spans that this criterion or an earlier one credits (NaN for OVERLAPPED and WHOLLY, and without gold spans)."""


@dataclass(frozen=True, eq=False)
class Gap:
    """The gap in F1 from the criterion `strict` to `loose`, which has at least as much credit.

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
        """The exact part of each cause; the parts add up to F1 under `loose` less F1 under `strict`."""
        sums = np.bincount(self.cause[self.cause >= 0], self.change[self.cause >= 0], minlength=len(CAUSES))
        return {
            cause: Fraction(int(half), self.spans) if self.spans else Fraction(0)
            for cause, half in zip(CAUSES, sums.tolist(), strict=True)
        }

    @property
    def total(self) -> Fraction | None:
        """F1 under `loose` less F1 under `strict`, None without any spans."""
        strict, loose = self.f1
        return None if strict is None or loose is None else loose - strict

    def table(self) -> pd.DataFrame:
        """Return one row for each cause that occurs: GAP_COLUMNS."""
        parts, whole = self.parts, self.total
        rows = []
        for number, cause in enumerate(CAUSES):
            change = self.change[self.cause == number]
            if not len(change):
                continue
            share = float(parts[cause] / whole) if whole else float("nan")
            more, less = int((change > 0).sum()), int((change < 0).sum())
            rows.append((cause, more, less, int(change.sum()) / 2, float(parts[cause]), share))
        return typed_table(rows, GAP_COLUMNS)

    def kinds(self) -> Int8:
        """Return the index into KINDS of each gold span's cause, -1 where the credit is the same."""
        return np.append(_KIND_OF_CAUSE, np.int8(-1))[self.cause]

    def gain(self) -> Int8:
        """Return the index into GAIN of each gold span."""
        return np.select([self.change > 0, self.change < 0], [0, 1], 2).astype(np.int8)


def gap(scores: Scores, criterion: str, other: str) -> Gap:
    """Split the gap between the F1 of two criteria, the one with less credit first (equal ones: as given).

    Raises:
        FormatError: a criterion counted by token, other type rules, or counting each side for itself.
    """
    check_comparable(scores, criterion, other)
    totals = [int(CREDIT[scores.decisions(name)[0]].sum()) for name in (criterion, other)]
    strict, loose = (other, criterion) if totals[0] > totals[1] else (criterion, other)
    return ordered_gap(scores, strict, loose)


def ordered_gap(scores: Scores, strict: str, loose: str) -> Gap:
    """Split the gap from one criterion to another as `gap` does, whichever of the two has more credit."""
    check_comparable(scores, strict, loose)
    gold, pred = scores.layers(loose)
    before, after = (CREDIT[scores.decisions(name)[0]] for name in (strict, loose))
    change = (after - before).astype(np.int8)
    partner = scores.partners(loose)[0]
    paired = np.flatnonzero((partner >= 0) & (change != 0))
    cause = np.full(len(gold), -1, np.int8)
    cause[change != 0] = CAUSES.index(ELSEWHERE)
    if len(paired):
        mate = partner[paired]
        relation = boundaries(gold, pred, paired, mate).astype(np.int64)
        same = have_same_type(gold, pred, paired, mate)
        # Where the stricter rule, applied to the pair of the looser criterion, makes the whole difference, the cause is
        # the way in which the pair differs.
        judged = CREDIT[judge_pairs(gold, pred, scores.criterion(strict), paired, mate)]
        ruled = np.flatnonzero(judged == before[paired])
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


def gap_sentence(gap: Gap) -> Sentence:
    """Return the sentence on the gold spans with more and with less credit, and on the most frequent cause of more.

    Its numbers open records, whichever criterion these are listed under.
    """
    spans = len(gap.change)
    more, less = int((gap.change > 0).sum()), int((gap.change < 0).sum())
    if not spans:
        return ()
    between = f"{gap.strict}{BETWEEN}{gap.loose}"
    credit = f"credit {between}"
    parts: list[str | RecordCount] = [
        f"Of {number_with_noun('gold span', spans)} ",
        record_count(more, Query(having=((credit, "more"),)), spans),
        f" earn more credit under {gap.loose} than under {gap.strict}",
    ]
    if less:
        parts += [" and ", record_count(less, Query(having=((credit, "less"),))), " less"]
    if more:
        sums = np.bincount(gap.cause[gap.change > 0], minlength=len(CAUSES))
        cause = CAUSES[int(sums.argmax())]
        query = Query(having=((f"gap {between}", cause), (credit, "more")))
        parts += ["; ", record_count(int(sums.max()), query, more), f" of these {CAUSES_IN_WORDS[cause]}"]
    return join_parts([*parts, "."])


@dataclass(frozen=True, eq=False)
class RecoveredSpans:
    """The first criterion to credit each gold span, as an index into `names`; -1 where that of the chain does.

    `first` is the first of the chain, `names` are its other criteria, then OVERLAPPED and WHOLLY.
    """

    first: str
    names: tuple[str, ...]
    codes: NDArray[np.int8]

    def query(self, name: str) -> Query:
        """Return the query of the gold spans that one of `names` is the first to credit."""
        chain = (self.first, *self.names[:-2])
        return Query(having=(("recovered" if chain == CHAIN else f"recovered {','.join(chain)}", name),))

    def table(self) -> pd.DataFrame:
        """Return a row for each of `names`: RECOVERED_COLUMNS."""
        counts = np.bincount(self.codes[self.codes >= 0], minlength=len(self.names))
        missed, spans = int(counts.sum()), len(self.codes)
        credited = spans - missed + np.cumsum(counts)
        rows = []
        for number, name in enumerate(self.names):
            recall = credited[number] / spans if spans and number < len(self.names) - 2 else float("nan")
            share = counts[number] / missed if missed else float("nan")
            rows.append((name, int(counts[number]), share, recall))
        return typed_table(rows, RECOVERED_COLUMNS)


def looser_criteria(criterion: Criterion, chain: Sequence[Criterion]) -> tuple[str, ...]:
    """Return the names of a criterion, and of those of a chain that credit all pairs which it credits, and more."""
    is_credited = decision_table([criterion, *chain]).decisions == Decision.COR
    code = np.arange(CODES)
    # Equal boundaries share start and end, and contain each other: other codes describe no pair.
    is_pair = (code & EQUAL == 0) | (code & (START | END | CONTAIN) == START | END | CONTAIN)
    own, *others = is_credited[is_pair].T
    looser = [rule.name for rule, other in zip(chain, others, strict=True) if _credits_more(other, own)]
    return (criterion.name, *looser)


def _credits_more(other: NDArray[np.bool_], own: NDArray[np.bool_]) -> bool:
    return bool((other >= own).all() and (other > own).any())


def recover_spans(scores: Scores, chain: Sequence[str] = CHAIN) -> RecoveredSpans:
    """Find for each gold span that the first criterion of a chain does not credit the next criterion that does.

    Raises:
        FormatError: a criterion that is not scored, counts tokens, or merges or leaves out other types.
    """
    check_comparable(scores, *chain)
    gold, pred = scores.layers(chain[0])
    names = (*chain[1:], OVERLAPPED, WHOLLY)
    codes = np.full(len(gold), len(names) - 1, np.int8)
    codes[overlapping_pairs(gold, pred)[0].gold] = len(names) - 2
    for number in range(len(chain) - 1, 0, -1):
        codes[scores.decisions(chain[number])[0] == Decision.COR] = number - 1
    codes[scores.decisions(chain[0])[0] == Decision.COR] = -1
    return RecoveredSpans(chain[0], names, codes)


def recovered_sentence(recovered: RecoveredSpans) -> Sentence:
    """Return the sentence on the gold spans that the first criterion of a chain misses, and on those recovered.

    The records are those under that criterion.
    """
    counts = np.bincount(recovered.codes[recovered.codes >= 0], minlength=len(recovered.names))
    missed, spans = int(counts.sum()), len(recovered.codes)
    if not spans:
        return ()
    parts: list[str | RecordCount] = [
        f"Of {number_with_noun('gold span', spans)} ",
        record_count(missed, Query(decision=("INC", "PAR", "MIS")), spans),
        f" are not found under {recovered.first}",
    ]
    near = counts[:-2]
    if near.any():
        name = recovered.names[int(near.argmax())]
        most = record_count(int(near.max()), recovered.query(name), missed)
        parts += ["; ", most, f" of these are first credited by {name}"]
    if missed:
        wholly = record_count(int(counts[-1]), recovered.query(WHOLLY), missed)
        parts += [", and " if near.any() else "; ", wholly, " no prediction overlaps"]
    return join_parts([*parts, "."])
