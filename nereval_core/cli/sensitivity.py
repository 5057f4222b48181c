"""The verb `sensitivity`: all criteria x all systems x merged types, as tables and a figure."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pandas as pd

from nereval_core.analysis.criteria import sensitivity as analysis
from nereval_core.cli import sensitivity_experiments as experiments
from nereval_core.cli.options import fitting, loaded_corpus, misplaced, settings_of
from nereval_core.cli.output import STDOUT, progress_bar, put_out, say, say_unused
from nereval_core.corpus import Corpus
from nereval_core.problems import FormatError, Problem, quoted
from nereval_core.report import TABLES
from nereval_core.report.figures.files import Figure, drawn, undrawable
from nereval_core.report.json_results import head, side
from nereval_core.report.score_tables import Sheet
from nereval_core.report.signature import together
from nereval_core.report.table_cells import cell, cells, objects
from nereval_core.report.table_formats import as_screen, in_form
from nereval_core.scoring import Counting, Settings, apply_rules
from nereval_core.scoring.criteria import Criterion, TypeRules

FORMS = (*TABLES, "figure")
COUNTINGS: Mapping[str, tuple[Counting, ...]] = {
    "one-to-one": ("one-to-one",),
    "each-side": ("each-side",),
    "both": ("one-to-one", "each-side"),
}
WIDE = (
    ("F1", "f1"),
    ("F1 less F1 under strict", "f1_minus_strict"),
    ("Place by F1 among the systems", "rank"),
)
"""The wide tables: title and the column of the long table they show."""


def sensitivity(options: argparse.Namespace) -> str | None:
    """Read, score under every setting and write: nothing is written before all of it is known."""
    if experiments.asked(options):
        return experiments.run(options)
    targets = {form: place for form in FORMS if (place := getattr(options, form)) is not None}
    wrong = misplaced(options, targets) or undrawable(options.figure)
    if wrong:
        return wrong
    criteria, leave_out, merges = _chosen(options)
    loaded = loaded_corpus(options)
    corpus = loaded.corpus
    criteria = fitting(criteria, options, corpus.gold)
    settings = analysis.merge_settings(merges, corpus, leave_out=leave_out, criteria=criteria)
    say_unused(Settings(criteria, tuple(item for merge in merges for item in merge.items()), leave_out), loaded)
    if analysis.ALL_TYPES not in settings:
        say(f"merge {quoted(analysis.ALL_TYPES)} left out: there is no second type")
    table = analysis.sensitivity(
        corpus,
        criteria,
        settings,
        COUNTINGS[options.counting],
        leave_out=leave_out,
        marks=loaded.marks,
        progress=progress_bar("settings", "scored"),
    )
    words = analysis.ranking_in_words(table)
    tables = _sheets(table, words)
    make: dict[str, Callable[[], bytes]] = {
        "json": lambda: _json(corpus, settings, table, analysis.overtakings(table), words).encode(),
        "figure": lambda: drawn([_figure(corpus, leave_out, table)], targets["figure"], tables, "sensitivity"),
    }
    contents = {form: in_form(form, tables, lambda: _long(table), make) for form in targets}
    put_out(targets, contents)
    if not set(targets) - {"figure"} and targets.get("figure") != STDOUT:
        print(as_screen(tables), end="")
    return None


def _chosen(
    options: argparse.Namespace,
) -> tuple[tuple[Criterion, ...], tuple[str, ...], list[dict[str, str]]]:
    """Return criteria, types left out and the merges by setting, or all that is wrong with them at once."""
    problems: list[Problem] = []
    merges: list[dict[str, str]] = []
    try:
        merges = analysis.parse_settings(options.merge)
    except FormatError as error:
        problems += error.problems
    try:
        # What score makes of them, but for merges and countings: here these are several.
        settings = settings_of(argparse.Namespace(**{**vars(options), "merge": [], "counting": "one-to-one"}))
    except FormatError as error:
        raise FormatError([*error.problems, *problems]) from None
    if problems:
        raise FormatError(problems)
    return settings.criteria, settings.leave_out, merges


def _sheets(table: pd.DataFrame, words: Sequence[str]) -> tuple[Sheet, ...]:
    """Return the wide tables: one row a system, merge and counting, one column a criterion."""
    countings = table["counting"].cat.categories
    keys = ["merge", "counting", "system"]
    several = len(table["system"].cat.categories) > 1
    shown = [(title, column) for title, column in WIDE if several or column != "rank"]
    found = []
    for title, column in shown:
        grid = table.pivot(index=keys, columns="criterion", values=column).sort_index().sort_index(axis=1)
        head = ("system", "merge", *(("counting",) if len(countings) > 1 else ()))
        rows = tuple(
            (system, merge, *((counting,) if len(countings) > 1 else ()), *map(cell, values))
            for (merge, counting, system), *values in grid.itertuples(name=None)
        )
        last = column == shown[-1][1]
        found.append(
            Sheet(
                title, (*head, *map(str, grid.columns)), rows, (*words, *together(table["signature"])) if last else ()
            )
        )
    return tuple(found)


def _long(table: pd.DataFrame) -> Sheet:
    rows = cells(table)
    return Sheet("sensitivity", tuple(table.columns), rows)


def _json(
    corpus: Corpus,
    settings: Mapping[str, Mapping[str, str]],
    table: pd.DataFrame,
    changes: pd.DataFrame,
    words: Sequence[str],
) -> str:
    gold = corpus.gold
    found: dict[str, Any] = {
        **head(gold),
        "systems": [side(one) for one in corpus.systems],
        "merges": settings,
        "scores": objects(table),
        "overtakings": changes.to_dict("records"),
        "ranking": list(words),
    }
    return json.dumps(found, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def _figure(corpus: Corpus, leave_out: tuple[str, ...], table: pd.DataFrame) -> Figure:
    from nereval_core.report.figures import sensitivity_dots

    spans = len(apply_rules(corpus.gold, TypeRules({}, leave_out)))
    return sensitivity_dots(table, spans, len(corpus.documents))
