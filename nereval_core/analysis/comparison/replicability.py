"""Differences over several corpora: in how many of them one system is better than another, and in which.

From each corpus comes a one-sided p, half of the two-sided one where the system is the better, 1 less that half where
it is the worse: the opposite is not a replication. Let p(1) <= ... <= p(n). That the system is better
in at least u of n corpora is tested by what is left without the u - 1 smallest (partial conjunction):

- of corpora that may depend on one another (Bonferroni), (n - u + 1) p(u);
- of independent ones (Fisher), the upper tail of chi² with 2 (n - u + 1) degrees of freedom at -2 sum of ln p(i) from
  i = u on.

The number of corpora is the largest u up to which each of these is at most alpha. Holm's procedure, which names
corpora, rejects as many as Bonferroni counts. A corpus without a test has p 1.

Dror, Baumer, Bogomolov and Reichart 2017, Replicability Analysis for Natural Language Processing, TACL 5; Benjamini and
Heller 2008, Screening for partial conjunction hypotheses, Biometrics 64.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from scipy.special import chdtrc

from nereval_core.analysis.multiple_tests import holm_correction
from nereval_core.corpus.arrays import Float64
from nereval_core.options import LEVEL
from nereval_core.problems import FormatError, quoted
from nereval_core.scoring.count_tables import TEXT_DTYPE, Columns, typed_table

DIRECTIONS: Mapping[str, int] = {"better": 1, "worse": -1}
REPLICABILITY_COLUMNS: Columns = {
    **dict.fromkeys(("criterion", "system", "baseline", "direction"), TEXT_DTYPE),
    **dict.fromkeys(("corpora", "seen", "dependent", "independent"), "int64"),
    "names": TEXT_DTYPE,
}
"""Columns of `replicability_table` and their dtypes: of `corpora`, those in which the system's F1 is better (worse)
than the baseline's, seen whatever its p; how many of them show it, if they depend on one another, and if they are
independent; and the names of those that Holm's procedure finds."""


def replicability_table(differences: Mapping[str, pd.DataFrame], level: float = 0.95) -> pd.DataFrame:
    """Return a row for each criterion, system and direction: REPLICABILITY_COLUMNS.

    `differences` by the name of the corpus have `criterion`, `system`, `baseline`, `difference` and two-sided `p`.
    Criteria are those of all corpora. Either direction is tested at half of 1 - `level`.

    Raises:
        FormatError: a level that is not between 0 and 1; fewer than two corpora, other systems or another baseline in
            one of them, or no common criterion.
    """
    LEVEL.check(level)
    criteria, pairs = _common(differences)
    alpha = round((1 - level) / 2, 12)
    tests = {
        (name, row["criterion"], row["system"]): (row["difference"], row["p"])
        for name, table in differences.items()
        for row in table.to_dict("records")
    }
    rows = []
    for criterion in criteria:
        for system, baseline in pairs:
            observed, tested = np.array([tests[name, criterion, system] for name in differences], np.float64).T
            for direction, sign in DIRECTIONS.items():
                p = one_sided(sign * observed, tested)
                is_shown = holm_correction(p) <= alpha
                names = ", ".join(name for name, here in zip(differences, is_shown, strict=True) if here)
                counts = (len(p), int((sign * observed > 0).sum()), int(is_shown.sum()), independent_count(p, alpha))
                rows.append((criterion, system, baseline, direction, *counts, names))
    return typed_table(rows, REPLICABILITY_COLUMNS)


def one_sided(differences: Float64, p: Float64) -> Float64:
    """Return p of the tests that differences are above 0, from those of two-sided tests; 1 where there is none."""
    p_values: Float64 = np.where(np.isnan(p), 1, np.where(differences > 0, p / 2, 1 - p / 2))
    return p_values


def independent_count(p: Float64, alpha: float) -> int:
    """Return the number of independent tests that are surely not null, by Fisher's combination of the others."""
    logs = np.cumsum(np.log(np.sort(np.maximum(p, np.finfo(np.float64).tiny))[::-1]))[::-1]
    n_left = len(p) - np.arange(len(p))
    combined = np.maximum.accumulate(chdtrc(2 * n_left, -2 * logs))
    return int((combined <= alpha).sum())


def _common(differences: Mapping[str, pd.DataFrame]) -> tuple[Sequence[str], Sequence[tuple[str, str]]]:
    """Return the common criteria, and the systems with their baseline."""
    if len(differences) < 2:
        raise FormatError.single("corpora", None, f"{len(differences)} comparison", "give those of two corpora or more")
    (first, table_of_first), *others = differences.items()
    pairs = _pairs(table_of_first)
    criteria = list(dict.fromkeys(table_of_first["criterion"]))
    for name, table in others:
        if sorted(_pairs(table)) != sorted(pairs):
            remedy = f"compare the same systems by the same names with the same baseline as in {first}"
            raise FormatError.single(
                name, None, f"compares {_in_words(table)}; {first} {_in_words(table_of_first)}", remedy
            )
        criteria = [criterion for criterion in criteria if criterion in set(table["criterion"])]
    if not criteria:
        finding = "no criterion is common to all corpora" if pairs else "no differences: a single system"
        raise FormatError.single(first, None, finding, "compare the same systems, two or more, under the same criteria")
    return criteria, pairs


def _pairs(table: pd.DataFrame) -> list[tuple[str, str]]:
    return list(dict.fromkeys(zip(table["system"], table["baseline"], strict=True)))


def _in_words(table: pd.DataFrame) -> str:
    return ", ".join(f"{quoted(system)} with {quoted(baseline)}" for system, baseline in _pairs(table)) or "no systems"
