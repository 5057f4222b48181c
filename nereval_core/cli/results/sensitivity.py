"""Scores by criterion, system and merged types, as tables, JSON and a figure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from nereval_core.analysis.criteria.sensitivity import overtakings, ranking_in_words
from nereval_core.cli.output import Result
from nereval_core.corpus import Corpus
from nereval_core.report.figures.files import Figure
from nereval_core.report.json_results import head, system_side
from nereval_core.report.signature import together
from nereval_core.scoring import Counting
from nereval_core.scoring.criteria import TypeRules
from nereval_core.scoring.type_merging import apply_rules
from nereval_core.tables import Kind, Table, cell, columns_by_name, columns_of, frame_table, objects

COUNTINGS: Mapping[str, tuple[Counting, ...]] = {
    "one-to-one": ("one-to-one",),
    "each-side": ("each-side",),
    "both": ("one-to-one", "each-side"),
}
WIDE_TABLES: tuple[tuple[str, str, Kind], ...] = (
    ("F1", "f1", "ratio"),
    ("F1 less F1 under strict", "f1_minus_strict", "difference"),
    ("Place by F1 among the systems", "rank", "count"),
)
"""The wide tables: the title of each, its column of the long table, and the kind of that."""


def sensitivity_result(
    corpus: Corpus,
    settings: Mapping[str, Mapping[str, str]],
    table: pd.DataFrame,
    leave_out: tuple[str, ...],
) -> Result:
    """Return the scores under every setting (merges by name) in every form."""
    words = ranking_in_words(table)
    return Result(
        tables=lambda: _wide_tables(table, words),
        long=lambda: frame_table("sensitivity", table),
        json=lambda: _json_object(corpus, settings, table, words),
        title="sensitivity",
        figures=lambda: [_figure(corpus, leave_out, table)],
    )


def _wide_tables(table: pd.DataFrame, words: Sequence[str]) -> tuple[Table, ...]:
    """Return the wide tables: one row per system, merge and counting, one column per criterion."""
    countings = table["counting"].cat.categories
    keys = ["merge", "counting", "system"]
    several = len(table["system"].cat.categories) > 1
    printed = [wide for wide in WIDE_TABLES if several or wide[1] != "rank"]
    tables = []
    for title, column, kind in printed:
        grid = table.pivot(index=keys, columns="criterion", values=column).sort_index().sort_index(axis=1)
        head = ("system", "merge", *(("counting",) if len(countings) > 1 else ()))
        rows = tuple(
            (system, merge, *((counting,) if len(countings) > 1 else ()), *map(cell, values))
            for (merge, counting, system), *values in grid.itertuples(name=None)
        )
        last = column == printed[-1][1]
        columns = (*columns_of(*head), *columns_by_name(map(str, grid.columns), kind))
        tables.append(Table(title, columns, rows, (*words, *together(table["signature"])) if last else ()))
    return tuple(tables)


def _json_object(
    corpus: Corpus, settings: Mapping[str, Mapping[str, str]], table: pd.DataFrame, words: Sequence[str]
) -> dict[str, Any]:
    gold = corpus.gold
    return {
        **head(gold),
        "systems": [system_side(gold, layer) for layer in corpus.systems],
        "merges": settings,
        "scores": objects(table),
        "overtakings": overtakings(table).to_dict("records"),
        "ranking": list(words),
    }


def _figure(corpus: Corpus, leave_out: tuple[str, ...], table: pd.DataFrame) -> Figure:
    from nereval_core.report.figures.criteria import sensitivity_dots

    spans = len(apply_rules(corpus.gold, TypeRules({}, leave_out)))
    return sensitivity_dots(table, spans, len(corpus.documents))
