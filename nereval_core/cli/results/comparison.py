"""Systems side by side with intervals, differences and tests, as tables, JSON and a figure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from nereval_core.analysis.comparison import Comparison
from nereval_core.analysis.comparison.runs import RunComparison
from nereval_core.analysis.comparison.tables import (
    baseline_table,
    measure_table,
    order_table,
    pair_table,
    power_table,
    rank_table,
    run_table,
    score_table,
    tau_table,
)
from nereval_core.analysis.crosstab import transition_records, transition_tables
from nereval_core.cli.output import Result, methods_file
from nereval_core.report.figures.files import Figure
from nereval_core.report.json_results import head, system_side
from nereval_core.report.signature import together
from nereval_core.scoring.protocols import LayerSummary
from nereval_core.tables import DAGGER, Table, frame_table, objects

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

    def tables() -> list[Table]:
        *first, last = (*comparison_tables(found), *transition_tables(*spans))
        signatures = together(signed for row in found.signatures.values() for signed in row.values())
        return [*first, replace(last, notes=(*last.notes, *signatures))]

    def json_object() -> dict[str, Any]:
        more = dict(zip(SPAN_KEYS, transition_records(*spans), strict=True)) if by_span else {}
        return _json_object(gold, systems, found, more)

    return Result(
        tables,
        lambda: long_table(found),
        json_object,
        "comparison",
        lambda: [_figure(found, differences=differences)],
        files=methods_file(found),
    )


def comparison_tables(found: Comparison) -> Iterator[Table]:
    """Yield the tables: scores, differences, by type, order, and for three or more systems all pairs.

    Where systems have several runs, means and their differences come first, and no run is ranked or tested by itself.
    """
    level, plan, runs = found.plan.level, found.plan, found.runs
    # A test of one run against another is not a test of their systems.
    tested, leads = (table if runs is None else table.iloc[:0] for table in (found.differences, found.leads))
    overall, overall_differences, overall_leads = (
        table[table["type"].isna()] for table in (found.intervals, tested, leads)
    )
    intervals = (
        f"intervals: bias-corrected bootstrap over {found.units.description}, {plan.resamples} resamples, "
        f"seed {plan.seed}"
    )
    notes = (*found.words, *found.warnings)
    if runs is not None:
        table = run_table(found, runs)
        yield replace(table, notes=(*notes, *table.notes))
        if len(runs.differences):
            yield baseline_table(found, runs.differences, found.run_family, runs=True)
        notes = (intervals,)
    else:
        daggers = f"p at most {1 - level:.2g} by approximate randomization, after Holm's correction over the systems"
        notes = (*notes, intervals, f"{DAGGER} differs from {found.baseline}: {daggers}")
    title = f"F1 {'' if runs is None else 'of each run '}with {level:.0%} intervals"
    yield score_table(title, overall, overall_differences, overall_leads, level, notes=notes)
    if len(overall_differences):
        yield baseline_table(found, overall_differences, found.family)
        yield power_table(found, found.power)
    if len(found.measures):
        differences = found.measure_differences if runs is None else found.measure_differences.iloc[:0]
        title = f"Measures with {level:.0%} intervals"
        yield measure_table(found, title, found.measures, differences, found.measure_family)
    names = overall["criterion"].unique().tolist()
    for name in names:
        of_types = [
            table[table["type"].notna() & table["criterion"].eq(name)] for table in (found.intervals, tested, leads)
        ]
        if len(of_types[0]):
            yield score_table(f"F1 by type under {name}", of_types[0], of_types[1], of_types[2], level, "type")
    if runs is not None:
        return
    if len(found.scores) > 1:
        yield rank_table(overall)
        yield order_table(found, names[0])
    for name in names:
        pairs = found.pairs[found.pairs["criterion"] == name]
        if len(pairs):
            yield pair_table(pairs, list(found.scores), level, name)
    if len(names) > 1 and len(found.scores) > 2:
        yield tau_table(found.taus)


def long_table(found: Comparison) -> Table:
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
    return frame_table("comparison", table)


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
    level, many = f"{plan.level:.0%}", found.units.plural
    note = f"{level} intervals: bootstrap over {many}, {plan.resamples:,} resamples, seed {plan.seed}"
    if runs is not None:
        most = rows[["units", "POS"]].max()
        rows = runs.means[runs.means["criterion"].eq(found.criteria[0])].assign(**most)
        baseline, note = runs.baseline, f"means over runs; {level} intervals over {many} and runs"
    if differences:
        apart = found.system_differences
        return baseline_dots(apart[apart["criterion"].eq(found.criteria[0])], note)
    return leaderboard(rows, baseline, note, (found.units.singular, found.units.plural))
