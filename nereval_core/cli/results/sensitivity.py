"""Scores by criterion, system and merged types, and experiments with criteria, in every form."""

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
    overtakings,
    proxy_table,
    ranking_in_words,
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
from nereval_core.corpus import Corpus, Layer
from nereval_core.corpus.subset import single_document
from nereval_core.pairing.type_names import merged_in_words
from nereval_core.problems import FormatError, quoted
from nereval_core.records.tables import records
from nereval_core.report.figures.files import Figure
from nereval_core.report.json_results import head, system_side
from nereval_core.report.signature import signature, together
from nereval_core.scoring import Counting, Scores, score_layers
from nereval_core.scoring.criteria import TypeRules
from nereval_core.scoring.type_merging import apply_rules
from nereval_core.tables import Cell, Kind, Table, cell, columns_by_name, columns_of, frame_table, objects

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
    experiment_tables = [table for name in names for table in EXPERIMENTS[name](systems, options)]
    share = SHARES[options.experiments.curve or "gold"]
    return Result(
        tables=lambda: [experiment.table for experiment in experiment_tables],
        long=lambda: _long_experiments(experiment_tables),
        json=lambda: _experiments_object(gold, experiment_tables),
        title="overlap",
        figures=lambda: [_curve_figure(systems[each.system], each, share) for each in experiment_tables],
    )


def _curve_figure(scores: Scores, curve: ExperimentTable, share: str) -> Figure:
    """Draw the overlap curve of a system, with the criteria that decide over the same spans at their F1."""
    from nereval_core.report.figures.criteria import overlap_lines

    spans = [criterion for criterion in scores.criteria if criterion.unit == "span"]
    rules = scores.settings.rules_for(spans[0])
    alike = (criterion.name for criterion in spans if scores.settings.rules_for(criterion) == rules)
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
            finding = f"no document {quoted(document)}" if name else "no criterion counts spans"
            raise FormatError.single("--ladder", None, finding, "give a document's id and a record: d1 g:12-19:Drug")
        gold, pred = (single_document(layer, number) for layer in scores.read)
        document_scores = score_layers(gold, replace(pred, documents=gold.documents), scores.settings)
        rows = records(document_scores, name)
        place = np.flatnonzero((rows["record"] == record).to_numpy())
        if not len(place):
            examples = ", ".join(map(str, rows["record"].tolist()[:5]))
            finding = f"{system} has no record {quoted(record)} in {quoted(document)} under {name}"
            raise FormatError.single(
                "--ladder", None, finding, f"name one of its records, such as {examples or 'none'}"
            )
        row = rows.iloc[place[0]]
        frame = ladder(document_scores, name, int(row["gold"]), int(row["pred"]))
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


def _long_experiments(experiments: list[ExperimentTable]) -> Table:
    """Return the tables of the first experiment, concatenated, with the system in front and the notes at the end."""
    first = experiments[0]
    same = [each for each in experiments if each.experiment == first.experiment]
    columns = columns_of("system", *map(str, first.frame.columns), "signature")
    rows = ((each.system, *row, " || ".join(each.table.notes)) for each in same for row in _rows(each.frame))
    return Table(first.experiment, columns, tuple(rows))


def _experiments_object(gold: Layer, experiments: list[ExperimentTable]) -> dict[str, Any]:
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
