"""Systems side by side with intervals, differences and tests, and over several corpora, in every form."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from nereval_core.analysis.comparison import Comparison
from nereval_core.analysis.comparison.replicability import DIRECTIONS, replicability_table
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
from nereval_core.analysis.multiple_tests import are_significant
from nereval_core.analysis.resampling_units import ResamplingPlan
from nereval_core.analysis.sentences import holm_in_words, ranking_method, significance_in_words
from nereval_core.cli.files import read_json
from nereval_core.cli.output import Result, methods_file
from nereval_core.options import INTERVAL_METHOD
from nereval_core.problems import FormatError, Problem
from nereval_core.report.figures.files import Figure
from nereval_core.report.json_results import head, system_side, versions
from nereval_core.report.signature import together
from nereval_core.scoring.count_tables import TEXT_DTYPE, Columns, typed_table
from nereval_core.scoring.protocols import LayerSummary
from nereval_core.tables import DAGGER, Column, Table, frame_table, objects

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
    gold: LayerSummary,
    systems: Sequence[LayerSummary],
    comparison: Comparison,
    *,
    by_span: bool,
    differences: bool = False,
) -> Result:
    """Return the comparison in every form; `by_span` adds the transitions of each span between systems.

    The figure shows scores, or `differences` to the baseline.
    """
    spans = (comparison.scores, comparison.criteria, comparison.baseline) if by_span else ({}, (), "")

    def tables() -> list[Table]:
        *first, last = (*comparison_tables(comparison), *transition_tables(*spans))
        signatures = together(signed for row in comparison.signatures.values() for signed in row.values())
        return [*first, replace(last, notes=(*last.notes, *signatures))]

    def json_object() -> dict[str, Any]:
        more = dict(zip(SPAN_KEYS, transition_records(*spans), strict=True)) if by_span else {}
        return _json_object(gold, systems, comparison, more)

    return Result(
        tables,
        lambda: long_table(comparison),
        json_object,
        "comparison",
        lambda: [_figure(comparison, differences=differences)],
        files=methods_file(comparison),
    )


def comparison_tables(comparison: Comparison) -> Iterator[Table]:
    """Yield the tables: scores, differences, by type, order, and for three or more systems all pairs.

    Where systems have several runs, means and their differences come first, and no run is ranked or tested by itself.
    """
    level, plan, runs = comparison.plan.level, comparison.plan, comparison.runs
    # A test of one run against another is not a test of their systems.
    tested, leads = (table if runs is None else table.iloc[:0] for table in (comparison.differences, comparison.leads))
    overall, overall_differences, overall_leads = (
        table[table["type"].isna()] for table in (comparison.intervals, tested, leads)
    )
    intervals = (
        f"intervals: {INTERVAL_METHOD} over {comparison.units.description}, "
        f"{plan.resamples} resamples, seed {plan.seed}"
    )
    notes = (*comparison.words, *comparison.warnings)
    if runs is not None:
        table = run_table(comparison, runs)
        yield replace(table, notes=(*notes, *table.notes))
        if len(runs.differences):
            yield baseline_table(comparison, runs.differences, comparison.run_family, runs=True)
        notes = (intervals,)
    else:
        daggers = f"{significance_in_words(level)} by approximate randomization, {holm_in_words('the systems')}"
        notes = (*notes, intervals, f"{DAGGER} differs from {comparison.baseline}: {daggers}")
    title = f"F1 {'' if runs is None else 'of each run '}with {level:.0%} intervals"
    yield score_table(title, overall, overall_differences, overall_leads, level, notes=notes)
    if len(overall_differences):
        yield baseline_table(comparison, overall_differences, comparison.family)
        yield power_table(comparison, comparison.power)
    if len(comparison.measures):
        differences = comparison.measure_differences if runs is None else comparison.measure_differences.iloc[:0]
        title = f"Measures with {level:.0%} intervals"
        yield measure_table(comparison, title, comparison.measures, differences, comparison.measure_family)
    names = overall["criterion"].unique().tolist()
    for name in names:
        of_types = [
            table[table["type"].notna() & table["criterion"].eq(name)]
            for table in (comparison.intervals, tested, leads)
        ]
        if len(of_types[0]):
            yield score_table(f"F1 by type under {name}", of_types[0], of_types[1], of_types[2], level, "type")
    if runs is not None:
        return
    if len(comparison.scores) > 1:
        yield rank_table(overall)
        yield order_table(comparison, names[0])
    for name in names:
        pairs = comparison.pairs[comparison.pairs["criterion"] == name]
        if len(pairs):
            yield pair_table(pairs, list(comparison.scores), level, name)
    if len(names) > 1 and len(comparison.scores) > 2:
        yield tau_table(comparison.taus)


def long_table(comparison: Comparison) -> Table:
    """Return a row for each criterion, type and system: scores, the difference to the baseline, and the signature.

    Where systems have several runs, it is a row for each criterion and system, with the signatures of its runs.
    """
    runs, baseline = comparison.runs, comparison.baseline
    parts: Mapping[str, tuple[str, ...]] = {name: (name,) for name in comparison.scores}
    keys, table, differences = ["criterion", "type", "system"], comparison.intervals.copy(), comparison.differences
    if runs is not None:
        keys, table, differences = ["criterion", "system"], runs.means.copy(), runs.differences
        baseline, parts = runs.baseline, runs.systems
    table["baseline"] = baseline
    table = table.merge(differences[[*keys, *DIFFERENCES]].rename(columns=DIFFERENCES), on=keys, how="left")
    signatures = comparison.signatures
    table["resamples"], table["seed"] = comparison.plan.resamples, comparison.plan.seed
    table["signature"] = [
        " / ".join(signatures[part][criterion] for part in parts[system])
        for system, criterion in zip(table["system"], table["criterion"], strict=True)
    ]
    return frame_table("comparison", table)


def _json_object(
    gold: LayerSummary, systems: Sequence[LayerSummary], comparison: Comparison, more: Mapping[str, Any]
) -> dict[str, Any]:
    return {
        **head(gold),
        "systems": [system_side(gold, layer) for layer in systems],
        "baseline": comparison.baseline,
        "resamples": comparison.plan.resamples,
        "seed": comparison.plan.seed,
        "level": comparison.plan.level,
        "resampled_by": comparison.units.by,
        "family": comparison.family,
        "scores": objects(comparison.intervals),
        "differences": objects(comparison.differences),
        "pairs": objects(comparison.pairs),
        "taus": objects(comparison.taus),
        "power": objects(comparison.power),
        "measures": objects(comparison.measures),
        "measure_differences": objects(comparison.measure_differences),
        "measure_family": comparison.measure_family,
        "runs": None if comparison.runs is None else _runs_object(comparison, comparison.runs),
        "words": list(comparison.words),
        "warnings": list(comparison.warnings),
        "signatures": comparison.signatures,
        **more,
    }


def _runs_object(comparison: Comparison, runs: RunComparison) -> dict[str, Any]:
    return {
        "systems": {system: list(names) for system, names in runs.systems.items()},
        "baseline": runs.baseline,
        "means": objects(runs.means),
        "differences": objects(runs.differences),
        "family": comparison.run_family,
    }


def _figure(comparison: Comparison, *, differences: bool) -> Figure:
    from nereval_core.report.figures.comparison import baseline_dots, leaderboard

    plan, runs = comparison.plan, comparison.runs
    rows = comparison.intervals[
        comparison.intervals["type"].isna() & comparison.intervals["criterion"].eq(comparison.criteria[0])
    ]
    level, plural = f"{plan.level:.0%}", comparison.units.plural
    note = f"{level} intervals: bootstrap over {plural}, {plan.resamples:,} resamples, seed {plan.seed}"
    if runs is not None:
        most = rows[["units", "POS"]].max()
        rows = runs.means[runs.means["criterion"].eq(comparison.criteria[0])].assign(**most)
        note = f"means over runs; {level} intervals over {plural} and runs"
    if differences:
        apart = comparison.system_differences
        return baseline_dots(apart[apart["criterion"].eq(comparison.criteria[0])], note)
    # Runs are tested against the baseline alone.
    tests = comparison.all_pairs if runs is None else comparison.differences.iloc[:0]
    tests = tests[tests["criterion"].eq(comparison.criteria[0])]
    apart = tests[are_significant(tests, plan.level)]
    return leaderboard(
        rows,
        ranking_method(note, plan.level, len(tests)),
        (comparison.units.singular, comparison.units.plural),
        apart=apart,
        resamples=plan.resamples,
    )


REMEDY = "give the file that `nereval compare GOLD A B --json FILE` wrote"
DIFFERENCE_DTYPES: Columns = {
    **dict.fromkeys(("criterion", "system", "baseline"), TEXT_DTYPE),
    **dict.fromkeys(("difference", "p"), "float64"),
}
"""Columns that are read of the differences, and their dtypes."""


def read_comparison(path: str) -> tuple[str, pd.DataFrame]:
    """Return the digest of gold and the differences of systems over all types, from a result of `compare --json`.

    The differences are of means over runs where systems have several.

    Raises:
        FormatError: there is no file, or it is not such a result.
    """
    result = read_json(path, REMEDY)
    try:
        rows = result["runs"]["differences"] if result.get("runs") else result["differences"]
        whole = [{name: row[name] for name in DIFFERENCE_DTYPES} for row in rows if row.get("type") is None]
        return str(result["gold"]["sha256"]), typed_table(whole, DIFFERENCE_DTYPES)
    except (AttributeError, KeyError, TypeError, ValueError):
        raise FormatError.single(path, None, "not a result of `nereval compare`", REMEDY) from None


def corpora_result(comparisons: Mapping[str, tuple[str, pd.DataFrame]]) -> Result:
    """Return the number of corpora that show each difference in every form.

    Raises:
        FormatError: a corpus twice, or what `replicability_table` refuses.
    """
    digests = {name: digest for name, (digest, _) in comparisons.items()}
    first = {digest: name for name, digest in reversed(digests.items())}
    if twice := {name: first[digest] for name, digest in digests.items() if first[digest] != name}:
        remedy = "give each corpus once: it would count as its own replication"
        raise FormatError(Problem(name, None, f"gold is that of {corpus}", remedy) for name, corpus in twice.items())
    level = ResamplingPlan().level
    table = replicability_table({name: corpus for name, (_, corpus) in comparisons.items()}, level)

    def json_object() -> dict[str, Any]:
        return {
            **versions(),
            "corpora": [{"name": name, "gold": digest} for name, digest in digests.items()],
            "level": level,
            "replicability": objects(table),
        }

    return Result(
        lambda: [_replicability_table(table, level)], lambda: frame_table("corpora", table), json_object, "corpora"
    )


def _replicability_table(table: pd.DataFrame, level: float) -> Table:
    headings = ("criterion", "system", "direction", "seen in", "if dependent", "if independent", "these by Holm")
    keys = [name for name in table.columns if name not in ("baseline", "corpora")]
    columns = [
        Column(key, heading, "value" if number > 1 else "name")
        for number, (key, heading) in enumerate(zip(keys, headings, strict=True))
    ]
    baseline, corpora = table[["baseline", "corpora"]].iloc[0]
    notes = (
        f"seen in: the corpora in which F1 is {' or '.join(DIRECTIONS)}, whatever p",
        "if dependent, if independent: the number of corpora that show it (Bonferroni, Fisher; Dror et al. 2017), "
        f"each direction by one-sided tests at {(1 - level) / 2:.2g}",
    )
    return frame_table(f"F1 less that of {baseline} in {corpora} corpora", table, columns, notes)
