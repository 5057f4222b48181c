"""The tables of a comparison as they are read: systems down, criteria, types or systems across."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import pandas as pd

from nereval_core.analysis.comparison.significance import significant
from nereval_core.report.table_formats import DAGGER, UNDEFINED


def scores_wide(intervals: pd.DataFrame, differences: pd.DataFrame, level: float, across: str) -> pd.DataFrame:
    """Return `system` and, for each value of the column `across`, F1 with its interval as text.

    A dagger stands where the difference to the baseline is significant after Holm's correction. Both tables hold what
    is to be shown and no more: `across` is criterion or type.
    """
    apart = differences[significant(differences, level)]
    daggers = set(zip(apart["system"], apart[across], strict=True))
    systems, names = (intervals[column].unique().tolist() for column in ("system", across))
    cells = {
        (row["system"], row[across]): cell(row, (row["system"], row[across]) in daggers)
        for row in intervals.to_dict("records")
    }
    rows = [[system, *(cells[system, name] for name in names)] for system in systems]
    return _table(rows, ("system",), names)


def cell(row: Mapping[Hashable, Any], dagger: bool) -> str:
    """Return F1 with its interval as text that sorts as the number does."""
    if pd.isna(row["f1"]):
        return UNDEFINED
    ends = "" if pd.isna(row["f1_low"]) else f" [{row['f1_low']:.3f}, {row['f1_high']:.3f}]"
    return f"{row['f1']:.3f}{ends}{DAGGER if dagger else ''}"


def best_cells(intervals: pd.DataFrame, across: str) -> frozenset[tuple[int, int]]:
    """Return (row, column) of the highest F1 of each column of `scores_wide`, several where they are equal."""
    systems, names = (intervals[column].unique().tolist() for column in ("system", across))
    first = intervals[intervals["rank"].eq(1).fillna(False)]
    pairs = zip(first["system"], first[across], strict=True)
    return frozenset((systems.index(system), 1 + names.index(name)) for system, name in pairs)


def ranks_wide(intervals: pd.DataFrame) -> pd.DataFrame:
    """Return `system` and its place by F1 under each criterion, <NA> where it has none."""
    whole = intervals[intervals["type"].isna()]
    systems, names = (whole[column].unique().tolist() for column in ("system", "criterion"))
    grid = whole.pivot(index="system", columns="criterion", values="rank")
    rows = [[system, *grid.loc[system, names]] for system in systems]
    table = _table(rows, ("system",), names)
    return table.astype(dict.fromkeys(table.columns[1:], "Int64"))


def order_table(intervals: pd.DataFrame, taus: pd.DataFrame, reference: str) -> pd.DataFrame:
    """Return a row for each criterion: `criterion`, `best`, `stays`, `tau`.

    Who is best, in which share of the resamples they stay so, and Kendall's tau with the criterion `reference`.
    """
    whole = intervals[intervals["type"].isna()]
    tau = taus[taus["other"] == reference].set_index("criterion")["tau"]
    rows = []
    for name, here in whole.groupby("criterion", sort=False):
        first = here[here["rank"].eq(1).fillna(False)]
        stays = float(first["best"].min()) if len(first) else float("nan")
        rows.append((str(name), ", ".join(first["system"]) or UNDEFINED, stays, float(tau[name])))
    return pd.DataFrame(rows, columns=["criterion", "best", "stays", "tau"])


def pairs_wide(pairs: pd.DataFrame, systems: Sequence[str], level: float) -> pd.DataFrame:
    """Return F1 of the system of the row less that of the column's, as text with a dagger where significant.

    `pairs` are those of one criterion.
    """
    cells = {}
    for row, apart in zip(pairs.to_dict("records"), significant(pairs, level), strict=True):
        for one, other, sign in ((row["system"], row["baseline"], 1), (row["baseline"], row["system"], -1)):
            value = sign * row["difference"]
            cells[one, other] = UNDEFINED if pd.isna(value) else signed(value) + (DAGGER if apart else "")
    rows = [[one, *(cells.get((one, other), "") for other in systems)] for one in systems]
    return _table(rows, ("system",), systems)


def taus_wide(taus: pd.DataFrame) -> pd.DataFrame:
    """Return `criterion` and Kendall's tau with each criterion."""
    grid = taus.pivot(index="criterion", columns="other", values="tau")
    names = taus["criterion"].unique().tolist()
    rows = [[name, *grid.loc[name, names].tolist()] for name in names]
    return _table(rows, ("criterion",), names)


def _table(rows: Sequence[Sequence[object]], heads: Sequence[str], names: Sequence[str]) -> pd.DataFrame:
    """Return rows as a table whose first columns are called `heads`, in brackets where one of `names` is the same."""
    taken = set(names)
    free = []
    for head in heads:
        while head in taken:
            head = f"({head})"
        free.append(head)
    columns = [*free, *names]
    table = pd.DataFrame(rows, columns=range(len(columns)))
    table.columns = pd.Index(columns, dtype="str")
    return table


def signed(value: float) -> str:
    """Return a difference with its sign, a true minus, and none for what rounds to nothing."""
    said = f"{abs(value):.3f}"
    return said if float(said) == 0 else ("+" if value > 0 else "−") + said


def p_said(p: float, resamples: int) -> str:
    """Return a p value as shown: the least that so many resamples can give as an upper bound."""
    if pd.isna(p):
        return UNDEFINED
    least = 1 / (resamples + 1)
    return f"≤ {least:.2g}" if p <= least * (1 + 1e-9) else f"{p:.2g}" if p < 0.1 else f"{p:.2f}"
