"""Partial conjunctions over corpora: against the authors' program, scipy's combinations, and Holm's procedure."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from nereval_core.analysis.comparison.replicability import (
    REPLICABILITY_COLUMNS,
    independent_count,
    one_sided,
    replicability_table,
)
from nereval_core.problems import FormatError

ALPHA = 0.05
# From the functions find_k_estimator (B, F) and Holm of github.com/rtmdrr/replicability-analysis-NLP at 63c0d41,
# Replicability_Analysis.py, by `python -c "import Replicability_Analysis as r; r.find_k_estimator(p, 0.05, 'F')"`
# with Python 3.11, its main() left out. The first row is the example of their README; corpora are numbered from 0.
PUBLISHED: list[tuple[tuple[float, ...], int, int, set[int]]] = [
    ((0.168, 0.297, 0.357, 0.019, 0.218, 0.001), 1, 2, {5}),
    ((0.001, 0.002, 0.004, 0.03, 0.4), 3, 3, {0, 1, 2}),
    ((0.6, 0.0001, 0.0002, 0.7, 0.02), 2, 2, {1, 2}),
    ((0.01, 0.012, 0.015, 0.02, 0.03), 5, 5, {0, 1, 2, 3, 4}),
    ((0.2, 0.2, 0.2, 0.2, 0.2, 0.2, 0.2), 0, 0, set()),
]


def table(*rows: tuple[str, str, float, float], baseline: str = "old") -> pd.DataFrame:
    frame = pd.DataFrame(rows, columns=["criterion", "system", "difference", "p"])
    return frame.assign(baseline=baseline)


def corpora(differences: list[float], p: list[float]) -> Mapping[str, pd.DataFrame]:
    return {f"c{number}": table(("strict", "new", *row)) for number, row in enumerate(zip(differences, p, strict=True))}


@pytest.mark.parametrize(("p", "dependent", "independent", "named"), PUBLISHED)
def test_counts_are_those_of_the_authors(
    p: tuple[float, ...], dependent: int, independent: int, named: set[int]
) -> None:
    # Their p are one-sided: ours are made of two-sided ones of the same sign, at 5% in either direction.
    made = corpora([1.0 if one <= 0.5 else -1.0 for one in p], [2 * min(one, 1 - one) for one in p])
    row = replicability_table(made, level=1 - 2 * ALPHA).iloc[0]
    assert (row["direction"], row["dependent"], row["independent"]) == ("better", dependent, independent)
    assert set(filter(None, row["names"].split(", "))) == {f"c{number}" for number in named}


@given(st.lists(st.floats(1e-9, 1), min_size=2, max_size=12), st.sampled_from([0.01, 0.05, 0.2]))
def test_the_count_is_the_largest_u_up_to_which_all_are_small(p: list[float], alpha: float) -> None:
    n, ordered = len(p), sorted(p)
    fisher = [stats.combine_pvalues(ordered[u - 1 :], method="fisher").pvalue for u in range(1, n + 1)]
    bonferroni = [(n - u + 1) * ordered[u - 1] for u in range(1, n + 1)]
    largest = [max((u for u in range(1, n + 1) if max(each[:u]) <= alpha), default=0) for each in (bonferroni, fisher)]
    assert independent_count(np.array(p), alpha) == largest[1]
    row = replicability_table(corpora([-1.0] * n, [2 * one for one in p]), level=1 - 2 * alpha).iloc[1]
    assert row["direction"] == "worse" and row["seen"] == n
    assert row["dependent"] == largest[0]


def test_the_sign_tells_a_replication_from_its_opposite() -> None:
    assert one_sided(np.array([0.1, -0.1, 0, np.nan]), np.array([0.02, 0.02, 1, np.nan])).tolist() == [
        0.01,
        0.99,
        0.5,
        1,
    ]
    found = replicability_table(corpora([0.1, -0.1, 0.2], [0.001, 0.001, 0.001]))
    assert list(found) == list(REPLICABILITY_COLUMNS)
    columns = ["direction", "corpora", "seen", "dependent", "independent", "names"]
    assert found[columns].to_numpy().tolist() == [["better", 3, 2, 2, 2, "c0, c2"], ["worse", 3, 1, 1, 1, "c1"]]


def test_a_corpus_without_a_test_shows_nothing() -> None:
    found = replicability_table(corpora([0.1, 0.2], [0.001, np.nan])).iloc[0]
    assert (found["corpora"], found["seen"], found["dependent"], found["independent"]) == (2, 2, 1, 1)
    assert replicability_table(corpora([0.1, 0.2], [0.0, 0.0]))["independent"].tolist() == [2, 0]


def test_criteria_are_the_common_ones() -> None:
    one = table(("strict", "new", 0.1, 0.001), ("type", "new", 0.1, 0.001))
    other = table(("type", "new", 0.1, 0.001))
    assert replicability_table({"one": one, "other": other})["criterion"].tolist() == ["type", "type"]
    with pytest.raises(FormatError, match="no criterion is common to all corpora"):
        replicability_table({"one": one.iloc[:1], "other": other})


@pytest.mark.parametrize(
    ("other", "problem"),
    [
        (table(("strict", "newer", 0.1, 0.1)), "other: compares 'newer' with 'old'; one 'new' with 'old'"),
        (table(("strict", "new", 0.1, 0.1), baseline="older"), "with the same baseline as in one"),
        (table(), "other: compares no systems"),
    ],
)
def test_other_systems_are_refused(other: pd.DataFrame, problem: str) -> None:
    with pytest.raises(FormatError, match=problem):
        replicability_table({"one": table(("strict", "new", 0.1, 0.1)), "other": other})


def test_one_corpus_and_a_single_system_are_refused() -> None:
    with pytest.raises(FormatError, match="1 comparison; give those of two corpora or more"):
        replicability_table({"one": table(("strict", "new", 0.1, 0.1))})
    with pytest.raises(FormatError, match="one: no differences: a single system"):
        replicability_table({"one": table(), "other": table()})
