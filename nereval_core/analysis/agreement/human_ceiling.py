"""Systems against the human ceiling: does a system agree with annotators as well as they agree with one another?

Under a matching criterion the difference of a system s is

    mean over annotators k of F1(k, s)  -  mean over pairs of annotators of F1(k, l),

undefined F1s left out; F1 is symmetric under most criteria, and under the others annotators are taken as gold in turn
on both sides. It is the mean, over annotators k, of what agreement with the others loses if s takes the place of k.
Each pair is counted on the documents that both saw, of those that two annotators or more saw.

The interval is a bias-corrected bootstrap interval over units; all pairs share the draws. The test is approximate
randomization (Noreen 1989), one-sided: in each unit the system changes places with one of the annotators who saw it,
or with none, all equally likely, which changes nothing in distribution if the system annotates as any of them does.
p = (number of such draws in which the difference is at most the observed one + 1) / (resamples + 1). Under criteria
that are not symmetric there is no test. Holm's correction is over the systems under one criterion.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from nereval_core.analysis.agreement.coefficients import NO_SPANS, Pair, is_symmetric
from nereval_core.analysis.bootstrap import (
    F1,
    Bootstrap,
    DocumentCounts,
    document_counts,
    mean_of_defined,
    ratios,
    replacement_sums,
)
from nereval_core.analysis.intervals import RATIO_TOLERANCE, lacks_interval
from nereval_core.analysis.multiple_tests import are_significant, tested_table
from nereval_core.analysis.resampling_units import ResamplingPlan
from nereval_core.analysis.sentences import holm_in_words
from nereval_core.corpus import Documents, Layer
from nereval_core.corpus.arrays import Array, Bools, Float64
from nereval_core.problems import counted
from nereval_core.scoring import Scores
from nereval_core.scoring.count_tables import TEXT_DTYPE, Columns
from nereval_core.scoring.criteria import Criterion
from nereval_core.tables import p_value_sentence, signed

CEILING_COLUMNS: Columns = {
    **dict.fromkeys(("criterion", "system"), TEXT_DTYPE),
    **dict.fromkeys(("f1", "annotators_f1", "difference", "low", "high"), "float64"),
    "undefined": "int64",
    **dict.fromkeys(("p", "p_holm"), "float64"),
    **dict.fromkeys(("tests", "documents"), "int64"),
    "why": TEXT_DTYPE,
}
"""Columns of `HumanCeiling.table` and their dtypes. `f1` is the mean F1 of the system with annotators, `annotators_f1`
that of annotators with one another, `difference` the former less the latter with its interval; `undefined` counts the
resamples without one. `p` is one-sided, `p_holm` corrected over `tests` tests. `documents` are those that the system
and an annotator saw, `why` is the reason why there is no difference, interval or test."""
CEILING_TEST = (
    "p is one-sided: that the system agrees less, by approximate randomization, in which it changes places with "
    "annotators unit by unit"
)
NOT_SYMMETRIC = "no test: F1 depends on who is taken as gold, so that system and annotators cannot change places"

PairScores = Mapping[str, Scores]
"""The scores of two layers by criterion."""


@dataclass(frozen=True, eq=False)
class HumanCeiling:
    """Systems held against the agreement of annotators: `table` has CEILING_COLUMNS.

    `layers` are those of each system by the name of the annotator that it was compared with, over the documents that
    both saw; `greedy` are the documents of each in which clusters were too large to be aligned exactly.
    """

    table: pd.DataFrame
    layers: Mapping[str, Mapping[str, Layer]]
    greedy: Mapping[str, tuple[str, ...]]


def measure_ceiling(
    names: Sequence[str],
    scores: Mapping[Pair, PairScores],
    systems: Mapping[str, Mapping[int, PairScores]],
    documents: Documents,
    criteria: Sequence[Criterion],
    bootstrap: Bootstrap,
) -> HumanCeiling:
    """Return the systems held against the annotators with these names.

    `scores` are those of the annotators, `systems` those of each system with annotators as gold, by the number of the
    annotator. `documents` are those that two annotators or more saw, which are resampled.
    """
    rows = []
    for criterion in criteria:
        name = criterion.name
        between = {pair: by_name[name] for pair, by_name in scores.items() if name in by_name}
        for system, with_annotators in systems.items():
            scored = {number: by_name[name] for number, by_name in with_annotators.items() if name in by_name}
            rows.append(_row(criterion, system, between, scored, documents, bootstrap))
    layers = {
        system: {names[number]: next(iter(pair.values())).read[1] for number, pair in with_annotators.items() if pair}
        for system, with_annotators in systems.items()
    }
    greedy = {
        system: tuple(sorted({doc for pair in pairs.values() for scored in pair.values() for doc in scored.greedy}))
        for system, pairs in systems.items()
    }
    return HumanCeiling(tested_table(rows, CEILING_COLUMNS, ("criterion",)), layers, greedy)


def _row(
    criterion: Criterion,
    system: str,
    between: Mapping[Pair, Scores],
    with_annotators: Mapping[int, Scores],
    documents: Documents,
    bootstrap: Bootstrap,
) -> dict[str, Any]:
    """Return the row of a system, before Holm's correction."""
    saw = {number: _common_documents(scores, documents) for number, scores in with_annotators.items()}
    row: dict[str, Any] = {"criterion": criterion.name, "system": system, "undefined": 0}
    row |= dict.fromkeys(("f1", "annotators_f1", "difference", "low", "high", "p"), np.nan)
    row["documents"] = int(np.any([*saw.values()], axis=0).sum()) if saw else 0
    if not between or not with_annotators:
        return row | {"why": f"it needs {criterion.needs}" if criterion.needs else NO_SPANS}
    counts = [_counts(scores, criterion.name, documents) for scores in (*between.values(), *with_annotators.values())]

    def figures(sums: Array) -> Float64:
        return _means(sums.reshape(len(counts), 4, -1), len(between))

    (sums,) = bootstrap.resample([np.concatenate(counts)])
    estimates = bootstrap.estimate(sums.map(figures))
    row |= dict(zip(("f1", "annotators_f1", "difference"), estimates.value.tolist(), strict=True))
    row |= {"low": estimates.low[2], "high": estimates.high[2], "undefined": estimates.undefined[2]}
    if np.isnan(row["difference"]):
        return row | {"why": NO_SPANS}
    if lacks_interval(row["difference"], row["low"]):
        return row | {"why": bootstrap.units.no_interval_note("an F1")}
    if not is_symmetric(criterion):
        return row | {"why": NOT_SYMMETRIC}
    pairs = [*between, *((number, SYSTEM) for number in with_annotators)]
    return row | {"p": _randomization(dict(zip(pairs, counts, strict=True)), saw, bootstrap), "why": ""}


SYSTEM = -1
"""The number of the system among annotators."""


def _means(counts: Array, between: int) -> Float64:
    """Return mean F1 with annotators, between them, and the difference: (pairs, 4, n) to (3, n).

    The first `between` pairs are those of annotators.
    """
    f1 = ratios(counts)[:, F1]
    with_annotators, between_annotators = mean_of_defined(f1[between:]), mean_of_defined(f1[:between])
    return np.stack((with_annotators, between_annotators, with_annotators - between_annotators))


def _common_documents(scores: Scores, documents: Documents) -> Bools:
    """Tell which of some documents the two of a pair both saw, shape (documents,)."""
    is_common = np.zeros(len(documents), bool)
    numbers = _document_numbers(scores, documents)
    is_common[numbers[numbers >= 0]] = True
    return is_common


def _document_numbers(scores: Scores, documents: Documents) -> Array:
    """Return the number of each of a pair's documents among `documents`, -1 where it is not one of them."""
    if scores.gold.documents is documents:
        return np.arange(len(documents))
    return np.array([documents.index.get(name, -1) for name in scores.gold.documents.ids], np.int64)


def _counts(scores: Scores, name: str, documents: Documents) -> DocumentCounts:
    """Return the PARTS of a pair by document, shape (4, documents); documents that one of them did not see have 0."""
    numbers = _document_numbers(scores, documents)
    counts = np.zeros((4, len(documents)), np.int32)
    counts[:, numbers[numbers >= 0]] = document_counts(scores, name)[:, numbers >= 0]
    return counts


def _randomization(counts: Mapping[Pair, DocumentCounts], saw: Mapping[int, Bools], bootstrap: Bootstrap) -> float:
    """Return the p of a system, SYSTEM in the pairs; `saw` are the documents that it and each annotator saw."""
    pairs = sorted(counts, key=lambda pair: SYSTEM in pair)
    between = sum(SYSTEM not in pair for pair in pairs)
    plain = np.stack([counts[pair] for pair in pairs])
    units, plan = bootstrap.units, bootstrap.plan
    candidates = np.array([units.sum_counts(is_common.astype(np.int64)) > 0 for is_common in saw.values()])
    sums = plain.sum(axis=-1, dtype=np.int64)[..., None].astype(np.float64)
    observed = _means(sums, between)[2, 0]
    for candidate, (number, is_common) in enumerate(saw.items()):
        moved = [_swapped(counts, pair, number) for pair in pairs]
        changes = units.sum_counts((np.stack(moved) - plain) * is_common)
        sums = sums + replacement_sums(changes, candidates, candidate, plan)
    replaced = _means(sums, between)[2]
    # An undefined difference is counted as small, which keeps p from being too small.
    n_small = int((~(replaced > observed + RATIO_TOLERANCE)).sum())
    return (n_small + 1) / (plan.resamples + 1)


def _swapped(counts: Mapping[Pair, DocumentCounts], pair: Pair, number: int) -> DocumentCounts:
    """Return the counts of a pair once the system and an annotator have changed places."""
    swapped = {number: SYSTEM, SYSTEM: number}
    gold, pred = (swapped.get(member, member) for member in pair)
    if (gold, pred) in counts:
        return counts[gold, pred]
    if (pred, gold) in counts:
        # The other of the two is gold there: credits and numbers of the two sides change.
        return counts[pred, gold][[1, 0, 3, 2]]
    # The annotator or the system has no document in common with the other.
    return np.zeros_like(counts[pair])


def ceiling_sentences(ceiling: HumanCeiling, criterion: str, plan: ResamplingPlan) -> tuple[str, ...]:
    """Return a sentence for each system: agreement with annotators against that of annotators with one another."""
    table = ceiling.table[ceiling.table["criterion"].eq(criterion)]
    below = are_significant(table, plan.level)
    return tuple(_sentence(row, bool(less), plan) for row, less in zip(table.to_dict("records"), below, strict=True))


def _sentence(row: Mapping[Any, Any], below: bool, plan: ResamplingPlan) -> str:
    if pd.isna(row["difference"]):
        return f"agreement of {row['system']} with annotators cannot be compared with theirs: {row['why']}"
    if row["low"] > 0:
        finding = "agrees with annotators more than they do with one another"
    elif below:
        finding = "agrees with annotators significantly less than they do with one another"
    else:
        finding = "does not agree with annotators significantly less than they do with one another"
    figures = f"F1 {row['f1']:.3f} against {row['annotators_f1']:.3f}, difference {signed(row['difference'])}"
    return f"{row['system']} {finding}: {figures}{_evidence(row, plan)}"


def _evidence(row: Mapping[Any, Any], plan: ResamplingPlan) -> str:
    """Return interval and p of a difference, or the reason why one is missing."""
    interval = "" if pd.isna(row["low"]) else f" ({plan.level:.0%} {signed(row['low'])} to {signed(row['high'])})"
    if pd.isna(row["p"]):
        return f"{interval}; {row['why']}"
    if row["low"] > 0:
        # The test asks whether the system agrees less.
        return interval
    after = f" {holm_in_words(counted(row['tests'], 'system'))}" if row["tests"] > 1 else ""
    return f"{interval}, {p_value_sentence(row['p_holm'], plan.resamples, row['p'])}{after}"
