"""Proxy criteria: criteria whose F1 agrees with that of another, over disjoint folds of documents and several systems.

This is the second experiment of Tsai et al. 2006 (BMC Bioinformatics 7:92), which looks for proxies of a criterion that
is costly to apply, such as matching core terms. Agreement is measured by the mean difference with a paired t-test, and
by Pearson's correlation.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from nereval_core.analysis.result_tables import typed_table
from nereval_core.options import FOLD_COUNT, SEED
from nereval_core.problems import FormatError, counted, quoted
from nereval_core.scoring import Scores
from nereval_core.scoring.count_tables import TEXT_DTYPE, Columns
from nereval_core.scoring.counts import ratio_columns

FOLDS = 10
FOLD_COLUMNS: Columns = {
    "system": TEXT_DTYPE,
    "criterion": TEXT_DTYPE,
    "fold": "int64",
    "documents": "int64",
    "f1": "float64",
}
"""Columns of `fold_scores` and their dtypes: folds count from 1; F1 is NaN where undefined."""
PROXY_COLUMNS: Columns = {
    "criterion": TEXT_DTYPE,
    "n": "int64",
    "undefined": "int64",
    **dict.fromkeys(("f1", "difference", "t", "p", "r"), "float64"),
}
"""Columns of `proxy_table` and their dtypes. `n` is the number of folds of systems with an F1 under both criteria,
`undefined` that of the others. `f1` is the mean under this criterion, `difference` that of F1 less F1 under the
reference. `t` and `p` are of the two-sided paired t-test with n - 1 degrees of freedom, NaN where all differences are
equal; `r` is Pearson's correlation, NaN where either F1 is the same in all folds."""
FEW_FOLDS_NOTE = (
    "folds of one corpus are few and alike, and those of several systems are of the same documents: "
    "p says less than it seems to"
)


def document_folds(documents: int, folds: int = FOLDS, seed: int = 0) -> NDArray[np.int64]:
    """Return the fold of each document, from 0, shape (documents,): documents are shuffled by the seed and dealt out.

    Raises:
        FormatError: fewer than two folds, or fewer documents than folds; a seed below 0.
    """
    FOLD_COUNT.check(folds)
    SEED.check(seed)
    if folds > documents:
        finding = f"{counted(folds, 'fold')} of {counted(documents, 'document')}"
        raise FormatError.single("folds", None, finding, "ask for at most one a document")
    found_in = np.empty(documents, np.int64)
    found_in[np.random.default_rng(seed).permutation(documents)] = np.arange(documents) % folds
    return found_in


def fold_scores(systems: Mapping[str, Scores], folds: int = FOLDS, seed: int = 0) -> pd.DataFrame:
    """Return F1 of every system under every criterion in every fold of documents: FOLD_COLUMNS.

    Counts are added up over the documents of a fold. All systems must be scored over the same documents.

    Raises:
        FormatError: as `document_folds`.
    """
    pieces = []
    for system, scores in systems.items():
        fold = document_folds(scores.documents, folds, seed)
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
    folds_table = pd.concat(pieces, ignore_index=True) if pieces else pd.DataFrame(columns=list(FOLD_COLUMNS))
    return folds_table.astype(dict(FOLD_COLUMNS))


def proxy_table(values: pd.DataFrame, reference: str = "strict") -> pd.DataFrame:
    """Compare F1 under each criterion with that under a reference: PROXY_COLUMNS, a row for each other criterion.

    `values` have FOLD_COLUMNS.

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
        f1, reference_f1 = both[:, 0], both[:, 1]
        means = (float(f1.mean()), float((f1 - reference_f1).mean())) if len(both) else (float("nan"),) * 2
        rows.append((name, len(both), len(wide) - len(both), *means, *_paired_test(f1, reference_f1)))
    return typed_table(rows, PROXY_COLUMNS)


def _paired_test(f1: NDArray[np.float64], reference_f1: NDArray[np.float64]) -> tuple[float, float, float]:
    """Return t and p of the paired t-test, and Pearson's r."""
    from scipy import stats

    t = p = r = float("nan")
    # Values that are equal in all folds, but for rounding, have no spread to compare with.
    if len(f1) > 1 and np.ptp(f1 - reference_f1) > 1e-12:
        test = stats.ttest_rel(f1, reference_f1)
        t, p = float(test.statistic), float(test.pvalue)
    if len(f1) > 1 and min(np.ptp(f1), np.ptp(reference_f1)) > 1e-12:
        r = float(stats.pearsonr(f1, reference_f1).statistic)
    return t, p, r
