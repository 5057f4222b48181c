"""Tables of a comparison: scores with intervals, differences, measures, power, order, pairs and means over runs.

The terminal, files and the Systems page show the same tables. Where a function takes a criterion, "" stands for all.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from itertools import repeat
from typing import Any

import pandas as pd

from nereval_core.analysis.comparison import Comparison
from nereval_core.analysis.comparison.runs import RunComparison
from nereval_core.analysis.comparison.significance import POWER
from nereval_core.analysis.multiple_tests import are_significant
from nereval_core.analysis.sentences import holm_in_words, significance_in_words
from nereval_core.problems import counted, name_text
from nereval_core.scoring.count_tables import free_name
from nereval_core.tables import (
    CRITERION,
    DAGGER,
    DIFFERENCE,
    F1,
    SYSTEM,
    TYPE,
    UNDEFINED,
    Column,
    Table,
    columns_by_name,
    frame_table,
    p_value_text,
    signed,
    value_with_interval,
)

TESTS = (
    Column("p", kind="p"),
    Column("p_holm", "p after Holm", "p"),
    Column("p_family", "Holm, family", "p"),
    Column("p_bh", "BH, family", "p", meaning="correction of Benjamini and Hochberg over the family"),
)
"""Tests of differences; those of the family are corrected over all tests of a comparison."""
BEST = Column("best", "best in", "share", meaning="share of the resamples in which no system is better")


def score_table(
    title: str,
    intervals: pd.DataFrame,
    differences: pd.DataFrame,
    leads: pd.DataFrame,
    level: float,
    across: str = "criterion",
    notes: tuple[str, ...] = (),
) -> Table:
    """Return F1 with its interval: a row for each system, a column for each value of the column `across`.

    A dagger marks a difference to the baseline that is significant after Holm's correction. The highest F1 of a column
    is strong where it leads significantly. `across` is criterion or type; `leads` has LEAD_COLUMNS.
    """
    daggers = _significant_pairs(differences, level, across)
    systems, names = (intervals[column].unique().tolist() for column in ("system", across))
    estimates = {
        (row["system"], row[across]): f1_cell(row, (row["system"], row[across]) in daggers)
        for row in intervals.to_dict("records")
    }
    best = _significant_pairs(leads, level, across)
    return Table(
        title,
        (_heading("system", names), *columns_by_name(names, "estimate", "F1")),
        tuple((system, *(estimates[system, name] for name in names)) for system in systems),
        notes,
        frozenset((systems.index(system), 1 + names.index(name)) for system, name in best),
        _best_note(leads, level, across),
        name="scores" if across == "criterion" else "types",
    )


def ranking_table(title: str, intervals: pd.DataFrame, column: str, heading: str) -> Table:
    """Return F1 with its interval: a row for each value of the column, a column for each system.

    `intervals` has `system`, `f1`, `f1_low` and `f1_high`; with `POS` there is a column of gold spans too, and with
    `why` a note on the rows without an interval.
    """
    systems, names = (list(map(str, intervals[key].unique())) for key in ("system", column))
    estimates = {(row[column], row["system"]): f1_cell(row) for row in intervals.to_dict("records")}
    spans = intervals.groupby(column, sort=False)["POS"].max() if "POS" in intervals else None
    heads = (Column(column, heading, "name"), *(() if spans is None else (Column("POS", kind="count", term="POS"),)))
    rows = tuple(
        (name, *(() if spans is None else (int(spans[name]),)), *(estimates.get((name, system)) for system in systems))
        for name in names
    )
    notes: tuple[str, ...] = ()
    if "why" in intervals:
        reasons = intervals[intervals["why"].ne("")].groupby("why", sort=False)[column].unique()
        notes = tuple(f"{why}: {', '.join(map(name_text, values))}" for why, values in reasons.items())
    return Table(title, (*heads, *columns_by_name(systems, "estimate", "F1")), rows, notes, name="ranking")


def _significant_pairs(table: pd.DataFrame, level: float, across: str) -> set[tuple[str, str]]:
    rows = table[are_significant(table, level)]
    return set(zip(rows["system"], rows[across], strict=True))


def f1_cell(row: Mapping[Hashable, Any], dagger: bool = False) -> str:
    """Return F1 of a row of INTERVAL_COLUMNS with its interval as text."""
    return value_with_interval(row["f1"], row["f1_low"], row["f1_high"], DAGGER if dagger else "")


def _best_note(leads: pd.DataFrame, level: float, across: str) -> tuple[str, ...]:
    """Return the meaning of bold, and the columns without it; () of a single system."""
    if leads.empty:
        return ()
    unsure = leads.loc[~are_significant(leads, level), across].tolist()
    without = f"; none under {', '.join(unsure)}, where it is not or was not tested" if unsure else ""
    rule = f"{significance_in_words(level)} by approximate randomization, {holm_in_words('all pairs of systems')}"
    return (f"bold: the highest F1, where it is significantly higher than the next highest ({rule}){without}",)


def baseline_table(
    comparison: Comparison,
    differences: pd.DataFrame,
    family: str,
    criterion: str = "",
    *,
    runs: bool = False,
    over: str = "the systems",
) -> Table:
    """Return the differences to the baseline, of F1 or of its means over runs, with tests and with the share of best.

    `differences` are rows of DIFFERENCE_COLUMNS in the order in which they are shown. `over` says what p is corrected
    over.
    """
    baseline = differences["baseline"].iat[0]
    rows = _with_p_texts(differences, comparison.plan.level, None if runs else comparison.plan.resamples)
    columns = [*([] if criterion else [CRITERION]), SYSTEM, *DIFFERENCE, *TESTS]
    if not runs:
        keys = ["criterion", "system"]
        whole = comparison.intervals[comparison.intervals["type"].isna()]
        rows = rows.merge(whole[[*keys, "f1", "best"]], on=keys, how="left")
        columns = [*columns[:-7], F1, *columns[-7:], BEST]
    title = f"{'Mean F1' if runs else 'F1'} less that of {baseline}{f' under {criterion}' if criterion else ''}"
    notes = (
        f"{DAGGER} {significance_in_words(comparison.plan.level, over)}",
        f"family: {family}",
        *_undefined(comparison),
    )
    return frame_table(title, rows, columns, notes, name="differences")


def _with_p_texts(differences: pd.DataFrame, level: float, resamples: int | None) -> pd.DataFrame:
    """Return differences with p values as texts, as the least p needs more decimals than a ratio."""
    names = [column.key for column in TESTS if column.key in differences]
    texts = {
        name: [p_value_text(*row) for row in zip(differences[name], repeat(resamples), differences["p"], strict=False)]
        for name in names
    }
    if "p_holm" in texts:
        daggers = are_significant(differences, level)
        texts["p_holm"] = [text + DAGGER * differs for text, differs in zip(texts["p_holm"], daggers, strict=True)]
    return differences.assign(**texts)


def _undefined(comparison: Comparison) -> tuple[str, ...]:
    """Return a note on the resamples without an F1, which were left out."""
    intervals = comparison.intervals
    rows = intervals[(intervals["undefined"] > 0) & intervals["f1"].notna()]
    parts = []
    for row in rows.to_dict("records"):
        type_name = "" if pd.isna(row["type"]) else f" {row['type']}"
        parts.append(f"{row['system']} {row['criterion']}{type_name} {row['undefined']}")
    return (f"resamples without an F1, left out: {', '.join(parts)}",) if parts else ()


def measure_table(
    comparison: Comparison, title: str, values: pd.DataFrame, differences: pd.DataFrame, family: str
) -> Table:
    """Return measures with their intervals, and their differences to the baseline with tests.

    `values` has MEASURE_COLUMNS in the order in which they are shown, `differences` MEASURE_DIFFERENCE_COLUMNS.
    """
    keys = ["criterion", "type", "measure", "system"]
    rows = values.assign(value=[value_with_interval(*row) for row in values[["value", "low", "high"]].to_numpy()])
    columns = [
        CRITERION,
        *([TYPE] if rows["type"].notna().any() else []),
        Column("measure", kind="name"),
        SYSTEM,
        Column("value", kind="estimate"),
    ]
    notes: tuple[str, ...] = ()
    if len(differences):
        tests = _with_p_texts(differences, comparison.plan.level, comparison.plan.resamples)
        tested = [*DIFFERENCE, *(column for column in TESTS if column.key != "p_holm")]
        rows = rows.drop(columns=["low", "high"]).merge(tests, on=keys, how="left", suffixes=("", "_tested"))
        columns += tested
        notes = (f"differences are to {comparison.baseline}; family: {family}",)
    rows["type"] = rows["type"].where(rows["type"].notna(), "all")
    return frame_table(title, rows, columns, notes, name="measures")


def power_columns(comparison: Comparison) -> tuple[Column, ...]:
    """Return the columns of POWER_COLUMNS that are shown, with what they mean in this comparison."""
    units, test = comparison.units, f"a test at {1 - comparison.plan.level:.2g}"
    return (
        *DIFFERENCE[:1],
        Column("error", "standard error", "ratio"),
        Column(
            "detectable",
            "least difference shown",
            "ratio",
            meaning=f"what {test} on {units.in_words(units.count)} finds in {POWER:.0%} of corpora like this one",
        ),
        Column(
            "needed", f"{units.plural} for 1 point", "count", meaning=f"{units.plural} needed to find 1 point of F1"
        ),
    )


def power_table(comparison: Comparison, rows: pd.DataFrame, criterion: str = "") -> Table:
    """Return what this corpus can show of each difference, and with a margin whether systems are equally good.

    `rows` have POWER_COLUMNS in the order in which they are shown.
    """
    columns = [*([] if criterion else [CRITERION]), SYSTEM, *power_columns(comparison)]
    if rows["margin"].notna().any():
        margin = f"{rows['margin'].iloc[0]:g}"
        meaning = (
            f"two one-sided tests that F1 lies within {margin} of that of {comparison.baseline} (Schuirmann 1987); at "
            f"most {1 - comparison.plan.level:.2g} shows it"
        )
        columns.append(Column("p_equivalent", "p as good as", "ratio", meaning=meaning))
    title = f"What this corpus can show of differences from {comparison.baseline}"
    return frame_table(title + (f" under {criterion}" if criterion else ""), rows, columns, name="power")


def rank_table(intervals: pd.DataFrame) -> Table:
    """Return the rank of each system by F1 under each criterion, None where it has none."""
    whole = intervals[intervals["type"].isna()]
    systems, names = (whole[column].unique().tolist() for column in ("system", "criterion"))
    grid = whole.pivot(index="system", columns="criterion", values="rank").loc[systems, names].reset_index()
    columns = (_heading("system", names), *columns_by_name(names, "count"))
    return _wide("Place by F1 under each criterion", grid, columns, "ranks")


def order_table(comparison: Comparison, reference: str) -> Table:
    """Return the best systems under each criterion, how surely, and Kendall's tau with the criterion `reference`."""
    whole = comparison.intervals[comparison.intervals["type"].isna()]
    taus = comparison.taus[comparison.taus["other"] == reference].set_index("criterion")["tau"]
    rows = []
    for name, systems in whole.groupby("criterion", sort=False):
        first = systems[systems["rank"].eq(1).fillna(False)]
        stays = float(first["best"].min()) if len(first) else float("nan")
        rows.append((str(name), ", ".join(map(name_text, first["system"])) or UNDEFINED, stays, float(taus[name])))
    columns = (
        CRITERION,
        Column("best", kind="text"),
        Column("stays", "stays best in", "share", meaning="share of the resamples in which no other system is better"),
        Column(
            "tau",
            f"tau with {reference}",
            "ratio",
            meaning="1 where both order the systems alike, −1 where one reverses the other",
        ),
    )
    frame = pd.DataFrame(rows, columns=[column.key for column in columns])
    return frame_table("The best under each criterion", frame, columns, name="order")


def pair_table(pairs: pd.DataFrame, systems: Sequence[str], level: float, criterion: str) -> Table:
    """Return F1 of the row's system less F1 of the column's, with a dagger where significant.

    `pairs` are the differences of one criterion.
    """
    differences = {}
    for row, differs in zip(pairs.to_dict("records"), are_significant(pairs, level), strict=True):
        for left, right, sign in ((row["system"], row["baseline"], 1), (row["baseline"], row["system"], -1)):
            value = sign * row["difference"]
            differences[left, right] = UNDEFINED if pd.isna(value) else signed(value) + DAGGER * differs
    return Table(
        f"F1 of the row's system less the column's under {criterion}",
        (_heading("system", systems), *columns_by_name(systems, "estimate")),
        tuple((left, *(differences.get((left, right), "") for right in systems)) for left in systems),
        (f"{DAGGER} {significance_in_words(level, counted(len(pairs), 'pair'))}",),
        name="pairs",
    )


def tau_table(taus: pd.DataFrame) -> Table:
    """Return Kendall's tau between the orders of the systems under each two criteria."""
    names = taus["criterion"].unique().tolist()
    grid = taus.pivot(index="criterion", columns="other", values="tau").loc[names, names].reset_index()
    columns = (_heading("criterion", names), *columns_by_name(names, "ratio"))
    return _wide("Kendall's tau between the orders of the systems", grid, columns, "taus")


def run_table(comparison: Comparison, runs: RunComparison, criterion: str = "") -> Table:
    """Return the mean F1 of each system over its runs, and its spread."""
    columns = (
        *([] if criterion else [CRITERION]),
        SYSTEM,
        Column("runs", kind="count"),
        Column("f1", "mean F1", "ratio"),
        Column("f1_sd", "standard deviation", "ratio"),
        *(Column(f"f1_{end}", end, "ratio") for end in ("best", "worst", "low", "high")),
    )
    note = (
        f"low and high: {comparison.plan.level:.0%} interval of the mean over {comparison.units.plural} and runs, by "
        "the jackknife and the variance between runs; their tests likewise"
    )
    return frame_table("Mean F1 over runs", runs.means, columns, (note,), name="runs")


def _heading(key: str, names: Sequence[str]) -> Column:
    """Return the column that names the rows, with another key where one of the names of columns is the same."""
    return Column(free_name(key, names), free_name(key, names), "name")


def _wide(title: str, grid: pd.DataFrame, columns: Sequence[Column], name: str) -> Table:
    """Return a grid whose columns are named by data as a table."""
    return frame_table(title, grid.set_axis([column.key for column in columns], axis=1), columns, name=name)
