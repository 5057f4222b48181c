"""Systems side by side with intervals, differences and tests, as tables, JSON and a figure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from nereval_core.analysis.comparison import Comparison
from nereval_core.analysis.comparison.runs import RunComparison
from nereval_core.analysis.comparison.significance import POWER
from nereval_core.analysis.comparison.system_tables import (
    best_cells,
    best_note,
    order_table,
    pairs_wide,
    ranks_wide,
    scores_wide,
    taus_wide,
)
from nereval_core.analysis.crosstab import transition_records, transition_sheets
from nereval_core.analysis.multiple_tests import are_significant
from nereval_core.analysis.result_tables import p_value_text
from nereval_core.cli.output import Result, methods_file
from nereval_core.problems import counted
from nereval_core.report.figures.files import Figure
from nereval_core.report.json_results import head, system_side
from nereval_core.report.score_tables import Sheet, cell, frame_sheet, objects
from nereval_core.report.signature import together
from nereval_core.report.table_formats import DAGGER
from nereval_core.scoring.protocols import LayerSummary

SPAN_KEYS = ("transitions", "right_by")
"""Keys of the tables by span: its states under the baseline and another system, and the number that get it right."""
DIFFERENCES = {
    "difference": "difference",
    "low": "difference_low",
    "high": "difference_high",
    "p": "p",
    "p_holm": "p_holm",
    "p_family": "p_family",
    "p_bh": "p_bh",
}
"""Columns of differences and their names beside those of scores."""


def comparison_result(
    gold: LayerSummary, systems: Sequence[LayerSummary], found: Comparison, *, by_span: bool, differences: bool = False
) -> Result:
    """Return the comparison in every form; `by_span` adds the transitions of each span between systems.

    The figure shows scores, or `differences` to the baseline.
    """
    spans = (found.scores, found.criteria, found.baseline) if by_span else ({}, (), "")

    def tables() -> list[Sheet]:
        made = [*sheets(found), *transition_sheets(*spans)]
        signatures = together(signed for row in found.signatures.values() for signed in row.values())
        return [*made[:-1], replace(made[-1], notes=(*made[-1].notes, *signatures))]

    def json_object() -> dict[str, Any]:
        more = dict(zip(SPAN_KEYS, transition_records(*spans), strict=True)) if by_span else {}
        return _json_object(gold, systems, found, more)

    return Result(
        tables,
        lambda: long_sheet(found),
        json_object,
        "comparison",
        lambda: [_figure(found, differences=differences)],
        files=methods_file(found),
    )


def sheets(found: Comparison) -> Iterator[Sheet]:
    """Yield the tables: scores, differences, by type, order, and for three or more systems all pairs.

    Where systems have several runs, means and their differences come first, and no run is ranked or tested by itself.
    """
    level, plan, runs = found.plan.level, found.plan, found.runs
    # A test of one run against another is not one of their systems.
    tested, led = (table if runs is None else table.iloc[:0] for table in (found.differences, found.leads))
    whole, against, leads = (table[table["type"].isna()] for table in (found.intervals, tested, led))
    kinds, kinds_against, kinds_leads = (table[table["type"].notna()] for table in (found.intervals, tested, led))
    names = whole["criterion"].unique().tolist()
    drawn = (
        f"intervals: bias-corrected bootstrap over {found.units.drawn}, {plan.resamples} resamples, seed {plan.seed}"
    )
    if runs is None:
        daggers = f"p at most {1 - level:.2g} by approximate randomization, after Holm's correction over the systems"
        notes = (*found.words, *found.warnings, drawn, f"{DAGGER} differs from {found.baseline}: {daggers}")
    else:
        yield _runs(found, runs)
        if len(runs.differences):
            yield _differences(found, runs.differences, found.run_family)
        notes = (drawn,)
    yield frame_sheet(
        f"F1 {'' if runs is None else 'of each run '}with {level:.0%} intervals",
        scores_wide(whole, against, level, "criterion"),
        notes,
        strong=best_cells(whole, leads, level, "criterion"),
        strong_notes=best_note(leads, level, "criterion"),
    )
    if len(against):
        yield _differences(found, against, found.family)
        yield _power(found)
    if len(found.measures):
        yield from _measures(found)
    for name in names:
        here = kinds[kinds["criterion"] == name]
        if len(here):
            there = kinds_against[kinds_against["criterion"] == name]
            first = kinds_leads[kinds_leads["criterion"] == name]
            yield frame_sheet(
                f"F1 by type under {name}",
                scores_wide(here, there, level, "type"),
                strong=best_cells(here, first, level, "type"),
                strong_notes=best_note(first, level, "type"),
            )
    if runs is not None:
        return
    if len(found.scores) > 1:
        yield frame_sheet("Place by F1 under each criterion", ranks_wide(whole))
        table = order_table(whole, found.taus, names[0])
        table.columns = pd.Index(["criterion", "best", "stays best in", f"tau with {names[0]}"])
        yield frame_sheet("The best under each criterion", table, ("stays best in: share of the resamples",))
    for name in names:
        rows = found.pairs[found.pairs["criterion"] == name]
        if len(rows):
            title = f"F1 of the row's system less the column's under {name}"
            note = f"{DAGGER} p at most {1 - level:.2g} after Holm's correction over {counted(len(rows), 'pair')}"
            yield frame_sheet(title, pairs_wide(rows, list(found.scores), level), (note,))
    if len(names) > 1 and len(found.scores) > 2:
        yield frame_sheet("Kendall's tau between the orders of the systems", taus_wide(found.taus))


def _runs(found: Comparison, runs: RunComparison) -> Sheet:
    """Return the mean F1 of each system over its runs."""
    columns = ["criterion", "system", "runs", "f1", "f1_sd", "f1_best", "f1_worst", "f1_low", "f1_high"]
    heads = ("criterion", "system", "runs", "mean F1", "standard deviation", "best", "worst", "low", "high")
    notes = (
        *found.words,
        *found.warnings,
        f"low and high: {found.plan.level:.0%} interval of the mean over {found.units.many} and runs, by the jackknife "
        "and the variance between runs; their tests likewise",
    )
    return frame_sheet("Mean F1 over runs", runs.means[columns], notes, columns=heads)


def _differences(found: Comparison, against: pd.DataFrame, tests: str) -> Sheet:
    """Return the differences to the baseline; p values are texts, as the least p needs more decimals than a ratio."""
    rows = []
    apart = are_significant(against, found.plan.level)
    resamples = found.plan.resamples if found.runs is None else None
    for row, differs in zip(against.to_dict("records"), apart, strict=True):
        p, corrected, *family = (p_value_text(row[name], resamples) for name in ("p", "p_holm", "p_family", "p_bh"))
        numbers = (cell(row[name]) for name in ("difference", "low", "high"))
        rows.append((row["criterion"], row["system"], *numbers, p, corrected + (DAGGER if differs else ""), *family))
    columns = ("criterion", "system", "difference", "low", "high", "p", "p after Holm", "Holm, family", "BH, family")
    note = f"family: {tests}; BH is the correction of Benjamini and Hochberg"
    title = f"{'F1' if found.runs is None else 'Mean F1'} less that of {against['baseline'].iat[0]}"
    return Sheet(title, columns, tuple(rows), (note, *_undefined(found)))


def _measures(found: Comparison) -> Iterator[Sheet]:
    """Yield the measures with their intervals, and their differences to the baseline."""
    keys = ["criterion", *(["type"] if found.measures["type"].notna().any() else []), "measure", "system"]
    columns = [*keys, "value", "low", "high"]
    yield frame_sheet(f"Measures with {found.plan.level:.0%} intervals", found.measures[columns])
    if found.measure_differences.empty or found.runs is not None:
        return
    table = found.measure_differences[[*keys, "difference", "low", "high"]].copy()
    for name, title in {"p": "p", "p_family": "Holm, family", "p_bh": "BH, family"}.items():
        table[title] = [p_value_text(p, found.plan.resamples) for p in found.measure_differences[name]]
    yield frame_sheet(f"Measures less those of {found.baseline}", table, (f"family: {found.measure_family}",))


def _power(found: Comparison) -> Sheet:
    """Return what this corpus can show of each difference, and with a margin whether systems are equally good."""
    columns = ["criterion", "system", "error", "detectable", "needed"]
    heads = ["criterion", "system", "standard error", "least difference shown", f"{found.units.many} for 1 point"]
    level, units = f"{1 - found.plan.level:.2g}", found.units
    notes = [
        f"least difference shown: what a test at {level} on {units.in_words(units.count)} finds in {POWER:.0%} of "
        f"corpora like this one; to find 1 point of F1 so many {units.many} are needed"
    ]
    table = found.power
    if table["margin"].notna().any():
        margin = float(table["margin"].iloc[0])
        columns, heads = [*columns, "p_equivalent"], [*heads, "p as good as"]
        notes.append(
            f"p as good as: two one-sided tests that F1 lies within {margin:g} of that of {found.baseline} "
            f"(Schuirmann 1987); at most {level} shows it"
        )
    shown = table[columns].astype({"needed": "object"})
    shown.columns = pd.Index(heads)
    return frame_sheet(f"What this corpus can show of differences from {found.baseline}", shown, tuple(notes))


def _undefined(found: Comparison) -> tuple[str, ...]:
    """Return a note on the resamples without an F1, which were left out."""
    some = found.intervals[(found.intervals["undefined"] > 0) & found.intervals["f1"].notna()]
    parts = []
    for row in some.to_dict("records"):
        kind = "" if pd.isna(row["type"]) else f" {row['type']}"
        parts.append(f"{row['system']} {row['criterion']}{kind} {row['undefined']}")
    return (f"resamples without an F1, left out: {', '.join(parts)}",) if parts else ()


def long_sheet(found: Comparison) -> Sheet:
    """Return a row for each criterion, type and system: scores, the difference to the baseline, and the signature.

    Where systems have several runs, it is a row for each criterion and system, with the signatures of its runs.
    """
    runs, baseline = found.runs, found.baseline
    parts: Mapping[str, tuple[str, ...]] = {name: (name,) for name in found.scores}
    keys, table, differences = ["criterion", "type", "system"], found.intervals.copy(), found.differences
    if runs is not None:
        keys, table, differences = ["criterion", "system"], runs.means.copy(), runs.differences
        baseline, parts = runs.baseline, runs.systems
    table["baseline"] = baseline
    table = table.merge(differences[[*keys, *DIFFERENCES]].rename(columns=DIFFERENCES), on=keys, how="left")
    made = found.signatures
    table["resamples"], table["seed"] = found.plan.resamples, found.plan.seed
    table["signature"] = [
        " / ".join(made[one][criterion] for one in parts[system])
        for system, criterion in zip(table["system"], table["criterion"], strict=True)
    ]
    return frame_sheet("comparison", table)


def _json_object(
    gold: LayerSummary, systems: Sequence[LayerSummary], found: Comparison, more: Mapping[str, Any]
) -> dict[str, Any]:
    return {
        **head(gold),
        "systems": [system_side(gold, layer) for layer in systems],
        "baseline": found.baseline,
        "resamples": found.plan.resamples,
        "seed": found.plan.seed,
        "level": found.plan.level,
        "resampled_by": found.units.by,
        "family": found.family,
        "scores": objects(found.intervals),
        "differences": objects(found.differences),
        "pairs": objects(found.pairs),
        "taus": objects(found.taus),
        "power": objects(found.power),
        "measures": objects(found.measures),
        "measure_differences": objects(found.measure_differences),
        "measure_family": found.measure_family,
        "runs": None if found.runs is None else _runs_object(found, found.runs),
        "words": list(found.words),
        "warnings": list(found.warnings),
        "signatures": found.signatures,
        **more,
    }


def _runs_object(found: Comparison, runs: RunComparison) -> dict[str, Any]:
    return {
        "systems": {system: list(names) for system, names in runs.systems.items()},
        "baseline": runs.baseline,
        "means": objects(runs.means),
        "differences": objects(runs.differences),
        "family": found.run_family,
    }


def _figure(found: Comparison, *, differences: bool) -> Figure:
    from nereval_core.report.figures.comparison import baseline_dots, leaderboard

    plan, runs, baseline = found.plan, found.runs, found.baseline
    rows = found.intervals[found.intervals["type"].isna() & found.intervals["criterion"].eq(found.criteria[0])]
    level, many = f"{plan.level:.0%}", found.units.many
    note = f"{level} intervals: bootstrap over {many}, {plan.resamples:,} resamples, seed {plan.seed}"
    if runs is not None:
        most = rows[["units", "POS"]].max()
        rows = runs.means[runs.means["criterion"].eq(found.criteria[0])].assign(**most)
        baseline, note = runs.baseline, f"means over runs; {level} intervals over {many} and runs"
    if differences:
        apart = found.system_differences
        return baseline_dots(apart[apart["criterion"].eq(found.criteria[0])], note)
    return leaderboard(rows, baseline, note, (found.units.one, found.units.many))
