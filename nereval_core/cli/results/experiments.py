"""Experiments with criteria: gaps between two, the overlap curve, errors that a looser one credits, and others.

Each makes a table for every system, or one for all systems; they replace the tables of all criteria.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from nereval_core.analysis.criteria.gap import CHAIN, gap, recover_spans
from nereval_core.analysis.criteria.ladder import ladder
from nereval_core.analysis.criteria.overlap_curve import SHARES, overlap_curve
from nereval_core.analysis.criteria.sensitivity import (
    FEW_FOLDS_NOTE,
    fold_scores,
    merge_types,
    merging_table,
    parse_merges,
    proxy_table,
)
from nereval_core.analysis.crosstab import decision_matrix, vanished_confusions
from nereval_core.cli.options import comma_separated
from nereval_core.cli.output import Result
from nereval_core.corpus import Layer
from nereval_core.ledger import single_document
from nereval_core.pairing.type_names import merged_in_words
from nereval_core.problems import FormatError, quoted
from nereval_core.records.tables import records
from nereval_core.report.figures.files import Figure
from nereval_core.report.json_results import head
from nereval_core.report.signature import signature
from nereval_core.scoring import Scores, score_layers
from nereval_core.scoring.criteria import Share
from nereval_core.tables import Cell, Table, cell, columns_of


@dataclass(frozen=True)
class ExperimentTable:
    """A table of an experiment with one system ("" for all systems); `notes` hold its parameters and signatures."""

    experiment: str
    title: str
    system: str
    table: pd.DataFrame
    notes: tuple[str, ...]


def experiments_result(
    gold: Layer, systems: Mapping[str, Scores], options: argparse.Namespace, names: Sequence[str]
) -> Result:
    """Return the tables of the experiments of these names in every form.

    Raises:
        FormatError: no such criterion, document or record.
    """
    found = [table for name in names for table in EXPERIMENTS[name](systems, options)]
    return Result(
        tables=lambda: map(_printed, found),
        long=lambda: _long(found),
        json=lambda: _json_object(gold, found),
        title="overlap",
        figures=lambda: [_curve_figure(systems[each.system], each, SHARES[options.curve]) for each in found],
    )


def _curve_figure(scores: Scores, curve: ExperimentTable, share: str) -> Figure:
    """Draw the overlap curve of a system, with the criteria that decide over the same spans at their F1."""
    from nereval_core.report.figures.criteria import overlap_lines

    spans = [one for one in scores.criteria if one.unit == "span"]
    rules = scores.settings.rules_for(spans[0])
    alike = (one.name for one in spans if scores.settings.rules_for(one) == rules)
    marks = [(name, f1) for name in alike if (f1 := scores.counts(name).f1) is not None]
    gold, pred = scores.layers(spans[0].name)
    return overlap_lines(curve.table, marks, share, curve.system, (len(gold), len(pred)))


def _gaps(systems: Mapping[str, Scores], options: argparse.Namespace) -> Iterator[ExperimentTable]:
    one, other = comma_separated([options.gap])
    for system, scores in systems.items():
        found = gap(scores, one, other)
        if found.total is None:
            note = "no spans on either side"
        else:
            low, high = (float(value) for value in found.f1 if value is not None)
            note = f"F1 {low:.4f} under {found.strict}, {high:.4f} under {found.loose}: {float(found.total):+.4f}"
        signed = (note, signature(scores, found.strict), signature(scores, found.loose))
        title = f"{system}: {found.strict} to {found.loose}, by cause"
        yield ExperimentTable("gap", title, system, found.table(), signed)
        table = decision_matrix(scores, one, other).rename_axis(f"{one} \\ {other}").reset_index()
        yield ExperimentTable("decisions", f"{system}: decisions under {one} and {other}", system, table, signed[1:])


def _curves(systems: Mapping[str, Scores], options: argparse.Namespace) -> Iterator[ExperimentTable]:
    share: Share = options.curve
    for system, scores in systems.items():
        name = next((rule.name for rule in scores.criteria if rule.unit == "span"), "")
        if not name:
            raise FormatError.single("--curve", None, "no criterion counts spans", "choose one that does")
        table = overlap_curve(*scores.layers(name), share, same_type=not options.any_type)
        types = "whatever the types" if options.any_type else "types equal"
        notes = (f"least overlap as {SHARES[share]}, {types}; each row holds down to the next", signature(scores, name))
        yield ExperimentTable("curve", f"{system}: scores against the least overlap", system, table, notes)


def _recovered(systems: Mapping[str, Scores], options: argparse.Namespace) -> Iterator[ExperimentTable]:
    for system, scores in systems.items():
        signed = (signature(scores, CHAIN[0]),)
        title = f"{system}: not found under {CHAIN[0]}, by the first criterion that credits it"
        yield ExperimentTable("recovered", title, system, recover_spans(scores).table(), signed)


def _gone(systems: Mapping[str, Scores], options: argparse.Namespace) -> Iterator[ExperimentTable]:
    for merge in parse_merges(options.merge):
        words = merged_in_words(merge)
        for system, scores in systems.items():
            if options.gone not in {rule.name for rule in scores.criteria}:
                raise FormatError.single(
                    "--gone", None, f"no criterion {quoted(options.gone)}", "name one that is scored"
                )
            after = merge_types(scores, merge)
            signed = (signature(scores, options.gone), signature(after, options.gone))
            table = vanished_confusions(scores, after, options.gone)
            title = f"{system}: confusions under {options.gone} that {words} undoes"
            yield ExperimentTable("gone", title, system, table, signed)
            table = merging_table(scores, after)
            yield ExperimentTable("merging", f"{system}: scores without and with {words}", system, table, signed)


def _stand_ins(systems: Mapping[str, Scores], options: argparse.Namespace) -> Iterator[ExperimentTable]:
    table = proxy_table(fold_scores(systems, options.folds, options.seed), options.stand_in)
    dealt = f"{options.folds} folds of documents x {len(systems)} systems, seed {options.seed}"
    signed = tuple(signature(scores, options.stand_in) for scores in systems.values())
    title = f"criteria that could stand in for {options.stand_in}"
    yield ExperimentTable("stand_in", title, "", table, (dealt, FEW_FOLDS_NOTE, *signed))


def _ladders(systems: Mapping[str, Scores], options: argparse.Namespace) -> Iterator[ExperimentTable]:
    document, record = options.ladder
    for system, scores in systems.items():
        name = next((rule.name for rule in scores.criteria if rule.unit == "span"), "")
        number = scores.gold.documents.index.get(document)
        if not name or number is None:
            found = f"no document {quoted(document)}" if name else "no criterion counts spans"
            raise FormatError.single("--ladder", None, found, "give a document's id and a record: d1 g:12-19:Drug")
        gold, pred = (single_document(layer, number) for layer in scores.read)
        one = score_layers(gold, replace(pred, documents=gold.documents), scores.settings)
        rows = records(one, name)
        place = np.flatnonzero((rows["record"] == record).to_numpy())
        if not len(place):
            known = ", ".join(map(str, rows["record"].tolist()[:5]))
            found = f"{system} has no record {quoted(record)} in {quoted(document)} under {name}"
            raise FormatError.single("--ladder", None, found, f"name one of its records, such as {known or 'none'}")
        row = rows.iloc[place[0]]
        table = ladder(one, name, int(row["gold"]), int(row["pred"])).drop(columns=["pair", "gold", "pred"])
        signed = (signature(scores, name),)
        yield ExperimentTable("ladder", f"{system}: {record} in {document}", system, table, signed)


Experiment = Callable[[Mapping[str, Scores], argparse.Namespace], Iterator[ExperimentTable]]
EXPERIMENTS: Mapping[str, Experiment] = {
    "gap": _gaps,
    "curve": _curves,
    "recovered": _recovered,
    "gone": _gone,
    "stand_in": _stand_ins,
    "ladder": _ladders,
}
"""Experiments by the name of their option."""


def _printed(found: ExperimentTable) -> Table:
    return Table(found.title, columns_of(*map(str, found.table.columns)), _rows(found.table), found.notes)


def _long(every: list[ExperimentTable]) -> Table:
    """Return the tables of the first experiment, concatenated, with the system in front and the notes at the end."""
    mine = [one for one in every if one.experiment == every[0].experiment]
    columns = columns_of("system", *map(str, mine[0].table.columns), "signature")
    rows = ((one.system, *row, " || ".join(one.notes)) for one in mine for row in _rows(one.table))
    return Table(mine[0].experiment, columns, tuple(rows))


def _json_object(gold: Layer, every: list[ExperimentTable]) -> dict[str, Any]:
    tables = [
        {
            "experiment": one.experiment,
            "title": one.title,
            "system": one.system or None,
            "rows": [dict(zip(map(str, one.table.columns), row, strict=True)) for row in _rows(one.table)],
            "notes": list(one.notes),
        }
        for one in every
    ]
    return {**head(gold), "tables": tables}


def _rows(table: pd.DataFrame) -> tuple[tuple[Cell, ...], ...]:
    return tuple(tuple(map(_cell, row)) for row in table.itertuples(index=False, name=None))


def _cell(value: Any) -> Cell:
    if isinstance(value, (bool, np.bool_)):
        return "yes" if value else "no"
    return cell(value)
