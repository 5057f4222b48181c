"""Experiments with criteria: gaps between two, the overlap curve, errors that a looser one credits, and others.

Each makes a table for every system, or one for all systems; they replace the tables of all criteria.
"""

from __future__ import annotations

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
    proxy_table,
)
from nereval_core.analysis.criteria.tables import (
    curve_table,
    decision_table,
    gap_table,
    ladder_table,
    merged_score_table,
    proxy_criterion_table,
    recovered_table,
    vanished_table,
)
from nereval_core.analysis.crosstab import decision_matrix, vanished_confusions
from nereval_core.api.verb_options import SensitivityOptions
from nereval_core.cli.output import Result
from nereval_core.corpus import Layer
from nereval_core.corpus.subset import single_document
from nereval_core.pairing.type_names import merged_in_words
from nereval_core.problems import FormatError, quoted
from nereval_core.records.tables import records
from nereval_core.report.figures.files import Figure
from nereval_core.report.json_results import head
from nereval_core.report.signature import signature
from nereval_core.scoring import Scores, score_layers
from nereval_core.tables import Cell, Table, cell, columns_of


@dataclass(frozen=True)
class ExperimentTable:
    """A table of an experiment with one system ("" for all systems), and the `frame` that programs read in its place.

    The notes of the table hold parameters and signatures.
    """

    experiment: str
    system: str
    frame: pd.DataFrame
    table: Table


def experiments_result(
    gold: Layer, systems: Mapping[str, Scores], options: SensitivityOptions, names: Sequence[str]
) -> Result:
    """Return the tables of the experiments of these names in every form.

    Raises:
        FormatError: no such criterion, document or record.
    """
    found = [table for name in names for table in EXPERIMENTS[name](systems, options)]
    share = SHARES[options.experiments.curve or "gold"]
    return Result(
        tables=lambda: [experiment.table for experiment in found],
        long=lambda: _long(found),
        json=lambda: _json_object(gold, found),
        title="overlap",
        figures=lambda: [_curve_figure(systems[each.system], each, share) for each in found],
    )


def _curve_figure(scores: Scores, curve: ExperimentTable, share: str) -> Figure:
    """Draw the overlap curve of a system, with the criteria that decide over the same spans at their F1."""
    from nereval_core.report.figures.criteria import overlap_lines

    spans = [one for one in scores.criteria if one.unit == "span"]
    rules = scores.settings.rules_for(spans[0])
    alike = (one.name for one in spans if scores.settings.rules_for(one) == rules)
    marks = [(name, f1) for name in alike if (f1 := scores.counts(name).f1) is not None]
    gold, pred = scores.layers(spans[0].name)
    return overlap_lines(curve.frame, marks, share, curve.system, (len(gold), len(pred)))


def _gaps(systems: Mapping[str, Scores], options: SensitivityOptions) -> Iterator[ExperimentTable]:
    questions = options.experiments
    first, second = questions.gap
    for system, scores in systems.items():
        causes = gap(scores, first, second)
        if causes.total is None:
            note = "no spans on either side"
        else:
            low, high = (float(value) for value in causes.f1 if value is not None)
            note = f"F1 {low:.4f} under {causes.strict}, {high:.4f} under {causes.loose}: {float(causes.total):+.4f}"
        signed = (signature(scores, causes.strict), signature(scores, causes.loose))
        title = f"{system}: {causes.strict} to {causes.loose}, by cause"
        yield ExperimentTable("gap", system, causes.table(), gap_table(causes, title, (note, *signed)))
        counts = decision_matrix(scores, first, second)
        frame = counts.rename_axis(f"{first} \\ {second}").reset_index()
        title = f"{system}: decisions under {first} and {second}"
        yield ExperimentTable("decisions", system, frame, decision_table(counts, first, second, title, signed))


def _curves(systems: Mapping[str, Scores], options: SensitivityOptions) -> Iterator[ExperimentTable]:
    questions = options.experiments
    share = questions.curve
    assert share is not None
    for system, scores in systems.items():
        name = next((rule.name for rule in scores.criteria if rule.unit == "span"), "")
        if not name:
            raise FormatError.single("--curve", None, "no criterion counts spans", "choose one that does")
        frame = overlap_curve(*scores.layers(name), share, same_type=not questions.any_type)
        types = "whatever the types" if questions.any_type else "types equal"
        notes = (f"least overlap as {SHARES[share]}, {types}; each row holds down to the next", signature(scores, name))
        yield ExperimentTable("curve", system, frame, curve_table(frame, system, notes))


def _recovered(systems: Mapping[str, Scores], options: SensitivityOptions) -> Iterator[ExperimentTable]:
    for system, scores in systems.items():
        signed = (signature(scores, CHAIN[0]),)
        title = f"{system}: not found under {CHAIN[0]}, by the first criterion that credits it"
        recovered = recover_spans(scores)
        yield ExperimentTable("recovered", system, recovered.table(), recovered_table(recovered, title, signed))


def _gone(systems: Mapping[str, Scores], options: SensitivityOptions) -> Iterator[ExperimentTable]:
    questions = options.experiments
    for merge in options.merges:
        words = merged_in_words(merge)
        for system, scores in systems.items():
            if questions.gone not in {rule.name for rule in scores.criteria}:
                raise FormatError.single(
                    "--gone", None, f"no criterion {quoted(questions.gone)}", "name one that is scored"
                )
            after = merge_types(scores, merge)
            signed = (signature(scores, questions.gone), signature(after, questions.gone))
            frame = vanished_confusions(scores, after, questions.gone)
            title = f"{system}: confusions under {questions.gone} that {words} undoes"
            yield ExperimentTable("gone", system, frame, vanished_table(frame, title, notes=signed))
            frame = merging_table(scores, after)
            title = f"{system}: scores without and with {words}"
            yield ExperimentTable("merging", system, frame, merged_score_table(frame, title, signed))


def _stand_ins(systems: Mapping[str, Scores], options: SensitivityOptions) -> Iterator[ExperimentTable]:
    questions = options.experiments
    frame = proxy_table(fold_scores(systems, questions.folds, questions.seed), questions.stand_in)
    dealt = f"{questions.folds} folds of documents x {len(systems)} systems, seed {questions.seed}"
    signed = tuple(signature(scores, questions.stand_in) for scores in systems.values())
    notes = (dealt, FEW_FOLDS_NOTE, *signed)
    yield ExperimentTable("stand_in", "", frame, proxy_criterion_table(frame, questions.stand_in, notes))


def _ladders(systems: Mapping[str, Scores], options: SensitivityOptions) -> Iterator[ExperimentTable]:
    questions = options.experiments
    document, record = questions.ladder
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
        frame = ladder(one, name, int(row["gold"]), int(row["pred"]))
        table = ladder_table(frame, f"{system}: {record} in {document}", (signature(scores, name),))
        yield ExperimentTable("ladder", system, frame.drop(columns=["pair", "gold", "pred"]), table)


Experiment = Callable[[Mapping[str, Scores], SensitivityOptions], Iterator[ExperimentTable]]
EXPERIMENTS: Mapping[str, Experiment] = {
    "gap": _gaps,
    "curve": _curves,
    "recovered": _recovered,
    "gone": _gone,
    "stand_in": _stand_ins,
    "ladder": _ladders,
}
"""Experiments by the name of their option."""


def _long(experiments: list[ExperimentTable]) -> Table:
    """Return the tables of the first experiment, concatenated, with the system in front and the notes at the end."""
    first = experiments[0]
    same = [each for each in experiments if each.experiment == first.experiment]
    columns = columns_of("system", *map(str, first.frame.columns), "signature")
    rows = ((each.system, *row, " || ".join(each.table.notes)) for each in same for row in _rows(each.frame))
    return Table(first.experiment, columns, tuple(rows))


def _json_object(gold: Layer, experiments: list[ExperimentTable]) -> dict[str, Any]:
    tables = [
        {
            "experiment": each.experiment,
            "title": each.table.title,
            "system": each.system or None,
            "rows": [dict(zip(map(str, each.frame.columns), row, strict=True)) for row in _rows(each.frame)],
            "notes": list(each.table.notes),
        }
        for each in experiments
    ]
    return {**head(gold), "tables": tables}


def _rows(frame: pd.DataFrame) -> tuple[tuple[Cell, ...], ...]:
    return tuple(tuple(map(_cell, row)) for row in frame.itertuples(index=False, name=None))


def _cell(value: Any) -> Cell:
    if isinstance(value, (bool, np.bool_)):
        return "yes" if value else "no"
    return cell(value)
