"""Which criterion stands in for another: F1 under each, over disjoint folds of documents and several systems.

The second experiment of Tsai et al. 2006 (BMC Bioinformatics 7:92): criteria whose F1 agrees with that of one which is
costly to have, such as matching core terms. Agreement is told by the mean difference with a paired t-test, and by
Pearson's correlation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from nereval_core.problems import FormatError, counted, quoted
from nereval_core.scoring import Scores
from nereval_core.scoring.averages import ratio_columns

FOLDS = 10
FOLD_COLUMNS: Mapping[str, str] = MappingProxyType(
    {"system": "str", "criterion": "str", "fold": "int64", "documents": "int64", "f1": "float64"}
)
"""Columns of `fold_scores` and their dtypes: folds count from 1; F1 is NaN where undefined."""
STAND_IN_COLUMNS: Mapping[str, str] = MappingProxyType(
    {
        "criterion": "str",
        "n": "int64",
        "undefined": "int64",
        "f1": "float64",
        "difference": "float64",
        "t": "float64",
        "p": "float64",
        "r": "float64",
    }
)
"""Columns of `stand_in` and their dtypes. `n` is how many folds of systems have an F1 under both criteria, `undefined`
how many have not; `f1` is the mean under this criterion, `difference` that of F1 less F1 under the reference; `t` and
`p` are of the paired t-test, two-sided, with n - 1 degrees of freedom; `r` is Pearson's correlation. NaN where
undefined: t and p where all differences are equal, r where either F1 is the same in all folds."""
FEW = (
    "folds of one corpus are few and alike, and those of several systems are of the same documents: "
    "p says less than it seems to"
)


def folds_of(documents: int, folds: int = FOLDS, seed: int = 0) -> NDArray[np.int64]:
    """Return the fold of each document, from 0, shape (documents,): shuffled by the seed and dealt out in turn.

    Raises:
        FormatError: fewer than two folds, or fewer documents than folds.
    """
    if not 2 <= folds <= documents:
        found = f"{counted(folds, 'fold')} of {counted(documents, 'document')}"
        raise FormatError.single("folds", None, found, "ask for two at least, and at most one a document")
    found_in = np.empty(documents, np.int64)
    found_in[np.random.default_rng(seed).permutation(documents)] = np.arange(documents) % folds
    return found_in


def fold_scores(systems: Mapping[str, Scores], folds: int = FOLDS, seed: int = 0) -> pd.DataFrame:
    """Return F1 of every system under every criterion in every fold of documents: FOLD_COLUMNS.

    Counts are added up over the documents of a fold; all systems are scored over the same documents.

    Raises:
        FormatError: as `folds_of`.
    """
    pieces = []
    for system, scores in systems.items():
        fold = folds_of(scores.documents, folds, seed)
        sizes = np.bincount(fold, minlength=folds)
        for criterion in scores.criteria:
            table = scores.by_document(criterion.name)
            sums = [np.zeros((folds, side.shape[1]), np.int64) for side in (table.gold, table.pred)]
            for total, side in zip(sums, (table.gold, table.pred), strict=True):
                np.add.at(total, fold[table.numbers], side)
            pieces.append(
                pd.DataFrame(
                    {
                        "system": system,
                        "criterion": criterion.name,
                        "fold": np.arange(1, folds + 1),
                        "documents": sizes,
                        "f1": ratio_columns(*sums)[2],
                    }
                )
            )
    every = pd.concat(pieces, ignore_index=True) if pieces else pd.DataFrame(columns=list(FOLD_COLUMNS))
    return every.astype(dict(FOLD_COLUMNS))


def stand_in(values: pd.DataFrame, reference: str = "strict") -> pd.DataFrame:
    """Compare F1 under each criterion with that under a reference: STAND_IN_COLUMNS, a row for each other criterion.

    `values` are those of `fold_scores`.

    Raises:
        FormatError: the reference is not among the criteria.
    """
    wide = values.pivot(index=["system", "fold"], columns="criterion", values="f1")
    names = list(dict.fromkeys(values["criterion"]))
    if reference not in names:
        raise FormatError.single("reference", None, f"no criterion {quoted(reference)}", f"use {', '.join(names)}")
    rows = []
    for name in names:
        if name == reference:
            continue
        both = wide[[name, reference]].dropna().to_numpy()
        one, other = both[:, 0], both[:, 1]
        means = (float(one.mean()), float((one - other).mean())) if len(both) else (float("nan"),) * 2
        rows.append((name, len(both), len(wide) - len(both), *means, *_test(one, other)))
    return pd.DataFrame(rows, columns=list(STAND_IN_COLUMNS)).astype(dict(STAND_IN_COLUMNS))


def _test(one: NDArray[np.float64], other: NDArray[np.float64]) -> tuple[float, float, float]:
    """Return t and p of the paired t-test, and Pearson's r."""
    from scipy import stats

    t = p = r = float("nan")
    # What is the same in all folds but for rounding has no spread to be told from.
    if len(one) > 1 and np.ptp(one - other) > 1e-12:
        test = stats.ttest_rel(one, other)
        t, p = float(test.statistic), float(test.pvalue)
    if len(one) > 1 and min(np.ptp(one), np.ptp(other)) > 1e-12:
        r = float(stats.pearsonr(one, other).statistic)
    return t, p, r


__all__: Sequence[str] = ("FEW", "FOLDS", "FOLD_COLUMNS", "STAND_IN_COLUMNS", "fold_scores", "folds_of", "stand_in")
