"""Systems side by side: their scores with intervals, differences, ranks under each criterion, and that in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple, cast

import numpy as np
import pandas as pd

from nereval_core.analysis.comparison.significance import (
    FEW,
    Resampled,
    by_type_tables,
    counted,
    difference_table,
    interval_table,
    significant,
)
from nereval_core.analysis.resampling import SLACK, Plan
from nereval_core.analysis.resampling_units import ResamplingUnits, each_document
from nereval_core.scoring import Scores
from nereval_core.scoring.protocols import Tallied

TAU_COLUMNS: Mapping[str, str] = MappingProxyType({"criterion": "str", "other": "str", "tau": "float64"})
"""Columns of `tau_table` and their dtypes."""


@dataclass(frozen=True, eq=False)
class Comparison:
    """What compares some systems: see INTERVAL_COLUMNS, DIFFERENCE_COLUMNS and TAU_COLUMNS for the tables.

    Rows with a type come after those of all types together. `differences` are to the baseline; `pairs` are those of all
    pairs of systems, all types together, and empty where they were not asked for or there are fewer than three systems.
    `words` say what the tables show; `warnings` say what to know before relying on intervals.
    """

    scores: Mapping[str, Tallied]
    plan: Plan
    units: ResamplingUnits
    baseline: str
    intervals: pd.DataFrame
    differences: pd.DataFrame
    pairs: pd.DataFrame
    taus: pd.DataFrame
    words: tuple[str, ...]
    warnings: tuple[str, ...] = ()


def compare_scores(
    scores: Mapping[str, Tallied],
    *,
    names: Sequence[str] = (),
    baseline: str | None = None,
    plan: Plan | None = None,
    units: ResamplingUnits | None = None,
    by_type: bool = False,
    pairwise: bool = True,
) -> Comparison:
    """Compare systems by name, scored over the same gold under the same criteria; the first is the baseline by default.

    `names` are the criteria compared under, by default all; the words are about the first. `by_type` needs spans: the
    scores of this process. `units` are what is resampled, by default each document.

    Raises:
        KeyError: no system is called as the baseline is.
    """
    plan = plan or Plan()
    base = next(iter(scores)) if baseline is None else baseline
    names = names or [criterion.name for criterion in scores[base].criteria]
    units = units or each_document(scores[base].documents, scores[base].unit)
    resampled = Resampled(counted(scores, names, units), plan)
    intervals, differences = interval_table(resampled), difference_table(resampled, base)
    pairs = difference_table(resampled) if pairwise and len(scores) > 2 else differences.iloc[:0]
    taus = tau_table(intervals)
    words = in_words(intervals, differences, plan, units)
    warnings = (*few_units(intervals, units), *units.notes)
    if by_type:
        spans = cast(Mapping[str, Scores], scores)
        parts = [by_type_tables(spans, name, plan, base, units) for name in names]
        intervals = pd.concat([intervals, *(one for one, _ in parts)], ignore_index=True)
        differences = pd.concat([differences, *(two for _, two in parts)], ignore_index=True)
    return Comparison(scores, plan, units, base, intervals, differences, pairs, taus, words, warnings)


def tau_table(intervals: pd.DataFrame) -> pd.DataFrame:
    """Return Kendall's tau-b between the orders of the systems by F1 under each two criteria: TAU_COLUMNS.

    NaN where one of the two orders no systems: there are fewer than two with an F1, or all are equal.
    """
    grid = f1_grid(intervals)
    rows = [
        (one, other, kendall(grid.loc[one].to_numpy(), grid.loc[other].to_numpy()))
        for one in grid.index
        for other in grid.index
    ]
    return pd.DataFrame(rows, columns=list(TAU_COLUMNS)).astype(dict(TAU_COLUMNS))


def f1_grid(intervals: pd.DataFrame) -> pd.DataFrame:
    """Return F1 of all types together: a row for each criterion, a column for each system, in their orders."""
    whole = intervals[intervals["type"].isna()]
    grid = whole.pivot(index="criterion", columns="system", values="f1")
    return grid.loc[whole["criterion"].unique(), whole["system"].unique()]


def kendall(one: np.ndarray, other: np.ndarray) -> float:
    """Return Kendall's tau-b of two rows of values; what is NaN in either is left out."""
    known = ~(np.isnan(one) | np.isnan(other))
    signs = []
    for values in (one[known], other[known]):
        apart = values[:, None] - values
        signs.append(np.where(np.abs(apart) > SLACK, np.sign(apart), 0))
    below = np.sqrt((signs[0] ** 2).sum() * (signs[1] ** 2).sum())
    return float((signs[0] * signs[1]).sum() / below) if below else float("nan")


def in_words(intervals: pd.DataFrame, differences: pd.DataFrame, plan: Plan, units: ResamplingUnits) -> tuple[str, ...]:
    """Say who is best under the first criterion and how surely, who differs from the baseline, where ranks change."""
    criterion = str(intervals["criterion"].iat[0])
    whole = intervals[intervals["type"].isna()]
    here = whole[whole["criterion"] == criterion]
    best = _best(here)
    opening = headline(intervals, plan, units)
    if opening is None:
        return (f"no system has an F1 under {criterion}: there are no spans of gold or of a system",)
    lines = [f"{opening.before}{opening.f1}{opening.after}"]
    lines += _against(differences[(differences["criterion"] == criterion) & differences["type"].isna()], plan)
    if len(here) > 1:
        lines += _elsewhere(whole, criterion, best)
    return tuple(lines)


class Headline(NamedTuple):
    """The first sentence in parts: the F1 of the best system, and the words around it."""

    before: str
    f1: str
    after: str
    system: str


def headline(intervals: pd.DataFrame, plan: Plan, units: ResamplingUnits) -> Headline | None:
    """Say who is best under the first criterion, and how surely; None where no system has an F1."""
    criterion = str(intervals["criterion"].iat[0])
    here = intervals[intervals["type"].isna() & intervals["criterion"].eq(criterion)]
    best = _best(here)
    if not best:
        return None
    row = here[here["system"] == best[0]].iloc[0]
    after = f", {plan.level:.0%} interval {row['f1_low']:.3f} to {row['f1_high']:.3f}"
    if row["why"]:
        after = f"; {row['why']}"
    if row["f1"] == 0:
        have = "has" if len(best) == 1 else "have"
        before = f"under {criterion} no span of any system is right: {_listed(best)} {have} an F1 of "
    elif len(best) > 1:
        before = f"under {criterion} {_listed(best)} share the highest F1, "
    elif len(here) > 1:
        before = f"under {criterion} {best[0]} has the highest F1, "
        if not row["why"]:
            share = percent(float(row["best"]))
            after += f"; it stays the best in {share} of {plan.resamples:,} resamples of the {units.many}"
    else:
        before = f"under {criterion} {best[0]} has an F1 of "
    if without := here.loc[here["f1"].isna(), "system"].tolist():
        after += f"; {_listed(without)} {'has' if len(without) == 1 else 'have'} none, for want of spans"
    return Headline(before, f"{row['f1']:.3f}", after, best[0])


def few_units(intervals: pd.DataFrame, units: ResamplingUnits) -> tuple[str, ...]:
    """Warn of too few units for a bootstrap over them; nothing where there are enough, or no intervals."""
    whole = intervals.loc[intervals["type"].isna() & intervals["f1_low"].notna(), "units"]
    if not len(whole) or (least := int(whole.min())) >= FEW:
        return ()
    return (f"only {units.named(least)} have spans: with fewer than {FEW} the intervals are rough and too narrow",)


def percent(share: float) -> str:
    """Return a share as whole percents that never round to none or to all of them."""
    if 0 < share < 0.01:
        return "under 1%"
    return "over 99%" if 0.99 < share < 1 else f"{share:.0%}"


def _best(rows: pd.DataFrame) -> list[str]:
    return [str(system) for system in rows.loc[rows["rank"].eq(1).fillna(False), "system"]]


def _against(rows: pd.DataFrame, plan: Plan) -> list[str]:
    """Say which systems are better or worse than the baseline."""
    if rows.empty:
        return []
    apart = significant(rows, plan.level)
    kinds = {
        "better": apart & (rows["difference"] > 0),
        "worse": apart & (rows["difference"] < 0),
        "not told apart from it": ~apart & rows["p_holm"].notna(),
        "not tested": rows["p_holm"].isna(),
    }
    parts = [f"{name}: {_listed(rows.loc[kind, 'system'].tolist())}" for name, kind in kinds.items() if kind.any()]
    return [f"against {rows['baseline'].iat[0]} (p at most {1 - plan.level:.2g} after Holm): {'; '.join(parts)}"]


def _elsewhere(whole: pd.DataFrame, criterion: str, best: Sequence[str]) -> list[str]:
    """Say under which other criteria another system is best."""
    others: dict[str, list[str]] = {}
    names = [name for name in whole["criterion"].unique() if name != criterion]
    right = {str(name): _best(rows) for name, rows in whole.groupby("criterion") if rows["f1"].max() > 0}
    for name in names:
        if name in right and right[name] != list(best):
            others.setdefault(_listed(right[name]), []).append(name)
    if not names or criterion not in right:
        return []
    if not others:
        if len(right) <= len(names):
            return [f"no other is best under any criterion; under {len(names) + 1 - len(right)} no span is right"]
        return [f"the same is best under all {len(names) + 1} criteria" if len(best) == 1 else "so under all criteria"]
    parts = (f"{systems} under {_listed(under)}" for systems, under in others.items())
    return [f"best under other criteria: {'; '.join(parts)}"]


def _listed(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
