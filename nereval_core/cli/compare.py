"""The verb `compare`: systems side by side with intervals, differences and tests, as tables and a figure."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pandas as pd

from nereval_core.analysis.comparison import Comparison, compare_scores
from nereval_core.analysis.comparison.significance import significant
from nereval_core.analysis.comparison.tables import (
    best_cells,
    order_table,
    p_said,
    pairs_wide,
    ranks_wide,
    scores_wide,
    taus_wide,
)
from nereval_core.analysis.comparison.transition_tables import transition_records, transition_sheets
from nereval_core.analysis.resampling import Plan
from nereval_core.analysis.resampling_units import resampling_units
from nereval_core.cli.files import named_systems
from nereval_core.cli.options import fitting, loaded_corpus, misplaced, settings_of
from nereval_core.cli.output import STDOUT, listed, progress_bar, put_out, say, say_unused
from nereval_core.cli.score import ENGINE
from nereval_core.corpus import Documents
from nereval_core.problems import counted, quoted
from nereval_core.report import TABLES
from nereval_core.report.figures.files import Figure, drawn, undrawable
from nereval_core.report.json_results import head, side
from nereval_core.report.score_tables import Sheet
from nereval_core.report.signature import signature, together
from nereval_core.report.table_cells import cell, cells, objects
from nereval_core.report.table_formats import DAGGER, as_screen, in_form
from nereval_core.scoring import Settings, score_layers
from nereval_core.scoring.protocols import Read, Scored

FORMS = (*TABLES, "figure")
SPANS = ("transitions", "right_by")
"""What is told span by span: what becomes of each from the baseline on, and how many systems get it right."""
LEAST, MOST = 100, 1_000_000
"""Resamples: fewer tell no tail of 2.5%, more tell nothing new."""
LONG = {"difference": "difference", "low": "difference_low", "high": "difference_high", "p": "p", "p_holm": "p_holm"}
"""Columns of differences and what they are called beside those of scores."""


def compare(options: argparse.Namespace) -> str | None:
    """Read, score, resample and write: nothing is written before all of it is known."""
    targets = {form: place for form in FORMS if (place := getattr(options, form)) is not None}
    wrong = _misused(options) or misplaced(options, targets) or undrawable(options.figure)
    if wrong:
        return wrong
    settings = settings_of(options)
    names = named_systems(options)
    baseline = options.baseline or next(iter(names))
    if baseline not in names:
        return f"--baseline {quoted(baseline)}, choose among {', '.join(map(quoted, names))}"
    with _scored(options, settings) as (gold, systems):
        for one, each in systems:
            if each.greedy:
                names_of = ", ".join(each.greedy)
                say(f"{one.name}: clusters too large to be aligned exactly were aligned greedily, in: {names_of}")
        plan = Plan(resamples=options.resamples, seed=options.seed)
        documents = gold.documents
        units = resampling_units(documents, options.resample_by) if isinstance(documents, Documents) else None
        scores = {one.name: each for one, each in systems}
        found = compare_scores(scores, baseline=baseline, plan=plan, units=units, by_type="type" in listed(options.by))
        _put(gold, [one for one, _ in systems], found, targets, "span" in listed(options.by))
    return None


def _put(gold: Read, systems: Sequence[Read], found: Comparison, targets: Mapping[str, str], by_span: bool) -> None:
    spans = (found.scores, _names(found), found.baseline) if by_span else ({}, (), "")
    tables = [*sheets(found), *transition_sheets(*spans)]
    signatures = together(signed for row in _signatures(found).values() for signed in row.values())
    tables[-1] = replace(tables[-1], notes=(*tables[-1].notes, *signatures))
    more = dict(zip(SPANS, transition_records(*spans), strict=True)) if by_span else {}
    make: dict[str, Callable[[], bytes]] = {
        "json": lambda: _json(gold, systems, found, more).encode(),
        "figure": lambda: drawn([_figure(found)], targets["figure"], tables, "comparison"),
    }
    put_out(
        targets,
        {form: in_form(form, tables, lambda: long_sheet(found), make) for form in targets},
    )
    if not set(targets) - {"figure"} and targets.get("figure") != STDOUT:
        print(as_screen(tables), end="")


@contextmanager
def _scored(options: argparse.Namespace, settings: Settings) -> Iterator[tuple[Read, Scored]]:
    """Read and score, in one piece or shard by shard: gold, and each system with its scores."""
    if options.engine is not None:
        from nereval_core.cli import score_shards

        with score_shards.scored(options, settings) as whole:
            yield whole.gold, whole.systems
        return
    loaded = loaded_corpus(options)
    corpus = loaded.corpus
    settings = replace(settings, criteria=fitting(settings.criteria, options, corpus.gold))
    say_unused(settings, loaded)
    yield (
        corpus.gold,
        [
            (
                one,
                score_layers(
                    corpus.gold, one, settings, marks=loaded.marks[one.name], progress=progress_bar(one.name, "scored")
                ),
            )
            for one in corpus.systems
        ],
    )


def _misused(options: argparse.Namespace) -> str | None:
    if any(getattr(options, name) is not None for name in ENGINE):
        from nereval_core.cli import score_shards

        if wrong := score_shards.misused(options):
            return wrong
        if options.resample_by:
            return f"--resample-by {options.resample_by} needs all documents at once: leave it out with --engine"
        if listed(options.by):
            return f"--by {','.join(listed(options.by))} needs all spans at once: leave it out with --engine"
    unknown = [value for value in listed(options.by) if value not in ("type", "span")]
    if unknown:
        return f"--by {quoted(unknown[0])}, there are type and span"
    if not LEAST <= options.resamples <= MOST:
        return f"--resamples {options.resamples}, write {LEAST} to {MOST}"
    return f"--seed {options.seed}, write 0 or more" if options.seed < 0 else None


def sheets(found: Comparison) -> Iterator[Sheet]:
    """Yield the tables: scores, differences, by type, order, and for three systems and more each against each."""
    level, plan = found.plan.level, found.plan
    whole, against = (table[table["type"].isna()] for table in (found.intervals, found.differences))
    kinds, kinds_against = (table[table["type"].notna()] for table in (found.intervals, found.differences))
    names = whole["criterion"].unique().tolist()
    yield _sheet(
        f"F1 with {level:.0%} intervals",
        scores_wide(whole, against, level, "criterion"),
        (
            *found.words,
            *found.warnings,
            f"intervals: bias-corrected bootstrap over {found.units.many}, {plan.resamples} resamples, "
            f"seed {plan.seed}",
            f"{DAGGER} differs from {found.baseline}: p at most {1 - level:.2g} by approximate randomization, after "
            "Holm's correction over the systems",
        ),
        best_cells(whole, "criterion"),
    )
    if len(against):
        yield _differences(found, against)
    for name in names:
        here = kinds[kinds["criterion"] == name]
        if len(here):
            there = kinds_against[kinds_against["criterion"] == name]
            yield _sheet(
                f"F1 by type under {name}", scores_wide(here, there, level, "type"), (), best_cells(here, "type")
            )
    if len(found.scores) > 1:
        yield _sheet("Place by F1 under each criterion", ranks_wide(whole))
        table = order_table(whole, found.taus, names[0])
        table.columns = pd.Index(["criterion", "best", "stays best in", f"tau with {names[0]}"])
        yield _sheet("The best under each criterion", table, ("stays best in: share of the resamples",))
    for name in names:
        rows = found.pairs[found.pairs["criterion"] == name]
        if len(rows):
            title = f"F1 of the row's system less the column's under {name}"
            note = f"{DAGGER} p at most {1 - level:.2g} after Holm's correction over {counted(len(rows), 'pair')}"
            yield _sheet(title, pairs_wide(rows, list(found.scores), level), (note,))
    if len(names) > 1 and len(found.scores) > 2:
        yield _sheet("Kendall's tau between the orders of the systems", taus_wide(found.taus))


def _differences(found: Comparison, against: pd.DataFrame) -> Sheet:
    """Return the differences to the baseline; p values are texts, as the least has more places than a ratio."""
    rows = []
    apart = significant(against, found.plan.level)
    for row, differs in zip(against.to_dict("records"), apart, strict=True):
        p, corrected = (p_said(row[name], found.plan.resamples) for name in ("p", "p_holm"))
        numbers = (cell(row[name]) for name in ("difference", "low", "high"))
        rows.append((row["criterion"], row["system"], *numbers, p, corrected + (DAGGER if differs else "")))
    columns = ("criterion", "system", "difference", "low", "high", "p", "p after Holm")
    return Sheet(f"F1 less that of {found.baseline}", columns, tuple(rows), _undefined(found))


def _undefined(found: Comparison) -> tuple[str, ...]:
    """Say where resamples had no F1 and were left out."""
    some = found.intervals[(found.intervals["undefined"] > 0) & found.intervals["f1"].notna()]
    parts = []
    for row in some.to_dict("records"):
        kind = "" if pd.isna(row["type"]) else f" {row['type']}"
        parts.append(f"{row['system']} {row['criterion']}{kind} {row['undefined']}")
    return (f"resamples without an F1, left out: {', '.join(parts)}",) if parts else ()


def _sheet(
    title: str, table: pd.DataFrame, notes: tuple[str, ...] = (), strong: frozenset[tuple[int, int]] = frozenset()
) -> Sheet:
    rows = cells(table)
    return Sheet(title, tuple(map(str, table.columns)), rows, notes, strong)


def long_sheet(found: Comparison) -> Sheet:
    """Return a row for each criterion, type and system: scores, the difference to the baseline, and the signature."""
    keys = ["criterion", "type", "system"]
    table = found.intervals.copy()
    table["baseline"] = found.baseline
    table = table.merge(found.differences[[*keys, *LONG]].rename(columns=LONG), on=keys, how="left")
    made = {(name, each): signed for name, row in _signatures(found).items() for each, signed in row.items()}
    table["resamples"], table["seed"] = found.plan.resamples, found.plan.seed
    table["signature"] = [made[pair] for pair in zip(table["system"], table["criterion"], strict=True)]
    return _sheet("comparison", table)


def _json(gold: Read, systems: Sequence[Read], found: Comparison, more: Mapping[str, Any]) -> str:
    made: dict[str, Any] = {
        **head(gold),
        "systems": [side(one) for one in systems],
        "baseline": found.baseline,
        "resamples": found.plan.resamples,
        "seed": found.plan.seed,
        "level": found.plan.level,
        "resampled_by": found.units.by,
        "scores": objects(found.intervals),
        "differences": objects(found.differences),
        "pairs": objects(found.pairs),
        "taus": objects(found.taus),
        "words": list(found.words),
        "warnings": list(found.warnings),
        "signatures": _signatures(found),
        **more,
    }
    return json.dumps(made, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def _signatures(found: Comparison) -> dict[str, dict[str, str]]:
    """Return the signatures of each system by criterion."""
    intervals = found.units.signed(found.plan)
    return {
        name: {each: signature(scores, each, intervals=intervals) for each in _names(found)}
        for name, scores in found.scores.items()
    }


def _names(found: Comparison) -> list[str]:
    names: list[str] = found.intervals["criterion"].unique().tolist()
    return names


def _figure(found: Comparison) -> Figure:
    from nereval_core.report.figures.comparison import leaderboard

    plan = found.plan
    rows = found.intervals[found.intervals["type"].isna() & found.intervals["criterion"].eq(_names(found)[0])]
    level, many = f"{plan.level:.0%}", found.units.many
    said = f"{level} intervals: bootstrap over {many}, {plan.resamples:,} resamples, seed {plan.seed}"
    return leaderboard(rows, found.baseline, said, (found.units.one, found.units.many))
