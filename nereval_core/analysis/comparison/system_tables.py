"""Tables of a comparison for the reader: systems in rows; criteria, types or systems in columns."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import pandas as pd

from nereval_core.analysis.multiple_tests import are_significant
from nereval_core.analysis.result_tables import free_name, signed, value_with_interval
from nereval_core.report.score_tables import UNDEFINED
from nereval_core.report.table_formats import DAGGER


def scores_wide(intervals: pd.DataFrame, differences: pd.DataFrame, level: float, across: str) -> pd.DataFrame:
    """Return `system` and, for each value of the column `across` (criterion or type), F1 with its interval as text.

    A dagger marks a difference to the baseline that is significant after Holm's correction. All rows of both tables are
    shown.
    """
    apart = differences[are_significant(differences, level)]
    daggers = set(zip(apart["system"], apart[across], strict=True))
    systems, names = (intervals[column].unique().tolist() for column in ("system", across))
    cells = {
        (row["system"], row[across]): f1_cell(row, (row["system"], row[across]) in daggers)
        for row in intervals.to_dict("records")
    }
    rows = [[system, *(cells[system, name] for name in names)] for system in systems]
    return _headed_table(rows, ("system",), names)


def f1_cell(row: Mapping[Hashable, Any], dagger: bool = False) -> str:
    """Return F1 of a row of INTERVAL_COLUMNS with its interval as text."""
    return value_with_interval(row["f1"], row["f1_low"], row["f1_high"], DAGGER if dagger else "")


def best_cells(intervals: pd.DataFrame, leads: pd.DataFrame, level: float, across: str) -> frozenset[tuple[int, int]]:
    """Return (row, column) of the highest F1 in each column of `scores_wide` in which it leads significantly.

    `leads` has LEAD_COLUMNS.
    """
    systems, names = (intervals[column].unique().tolist() for column in ("system", across))
    surely = leads[are_significant(leads, level)]
    pairs = zip(surely["system"], surely[across], strict=True)
    return frozenset((systems.index(system), 1 + names.index(name)) for system, name in pairs)


def best_note(leads: pd.DataFrame, level: float, across: str) -> tuple[str, ...]:
    """Return the meaning of bold in a table with `best_cells`, and the columns without it; () of a single system."""
    if leads.empty:
        return ()
    unsure = leads.loc[~are_significant(leads, level), across].tolist()
    without = f"; none under {', '.join(unsure)}, where it is not or was not tested" if unsure else ""
    rule = f"p at most {1 - level:.2g} by approximate randomization, after Holm's correction over all pairs of systems"
    return (f"bold: the highest F1, where it is significantly higher than the next highest ({rule}){without}",)


def ranks_wide(intervals: pd.DataFrame) -> pd.DataFrame:
    """Return `system` and its rank by F1 under each criterion, <NA> where it has none."""
    whole = intervals[intervals["type"].isna()]
    systems, names = (whole[column].unique().tolist() for column in ("system", "criterion"))
    grid = whole.pivot(index="system", columns="criterion", values="rank")
    rows = [[system, *grid.loc[system, names]] for system in systems]
    table = _headed_table(rows, ("system",), names)
    return table.astype(dict.fromkeys(table.columns[1:], "Int64"))


def order_table(intervals: pd.DataFrame, taus: pd.DataFrame, reference: str) -> pd.DataFrame:
    """Return a row for each criterion: `criterion`, `best`, `stays`, `tau`.

    `best` are the systems with the highest F1, `stays` is the share of resamples in which they stay best, `tau` is
    Kendall's tau with the criterion `reference`.
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
    """Return F1 of the row's system less F1 of the column's as text, with a dagger where significant.

    `pairs` are the differences of one criterion.
    """
    cells = {}
    for row, apart in zip(pairs.to_dict("records"), are_significant(pairs, level), strict=True):
        for one, other, sign in ((row["system"], row["baseline"], 1), (row["baseline"], row["system"], -1)):
            value = sign * row["difference"]
            cells[one, other] = UNDEFINED if pd.isna(value) else signed(value) + (DAGGER if apart else "")
    rows = [[one, *(cells.get((one, other), "") for other in systems)] for one in systems]
    return _headed_table(rows, ("system",), systems)


def taus_wide(taus: pd.DataFrame) -> pd.DataFrame:
    """Return `criterion` and its Kendall's tau with each criterion."""
    grid = taus.pivot(index="criterion", columns="other", values="tau")
    names = taus["criterion"].unique().tolist()
    rows = [[name, *grid.loc[name, names].tolist()] for name in names]
    return _headed_table(rows, ("criterion",), names)


def _headed_table(rows: Sequence[Sequence[object]], heads: Sequence[str], names: Sequence[str]) -> pd.DataFrame:
    """Return rows as a table whose first columns are called `heads`, in brackets where one of `names` is the same."""
    columns = [*(free_name(head, names) for head in heads), *names]
    table = pd.DataFrame(rows, columns=range(len(columns)))
    table.columns = pd.Index(columns, dtype="str")
    return table
