"""Classes of errors and the F1 that each costs, as tables, JSON, records and a figure, and mended predictions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path, PurePath
from types import MappingProxyType
from typing import Any

import pandas as pd

from nereval_core import writers
from nereval_core.analysis.errors import ErrorReport
from nereval_core.analysis.errors.error_classes import STRICT
from nereval_core.analysis.errors.fair_classes import FairErrors, fair_class_table, fair_score_table
from nereval_core.analysis.errors.tables import (
    LONG_COLUMNS,
    MOST_ROWS,
    end_table,
    error_class_table,
    form_table,
    group_table,
    hidden_note,
    pattern_table,
    type_table,
)
from nereval_core.analysis.sentences import sentence_text
from nereval_core.cli.output import Result
from nereval_core.corpus import Corpus, Layer
from nereval_core.readers.input.temporaries import TemporaryFolder
from nereval_core.report.export import join_records
from nereval_core.report.figures.files import Figure
from nereval_core.report.json_results import head, system_side
from nereval_core.report.signature import signature, together
from nereval_core.tables import Cell, Column, Table, cells, columns_by_name, objects

EXAMPLE_COLUMNS = ("predicted_form", "gold_type", "pred_type", "document", "record", "example")
SIGNATURE = Column("signature", kind="text")

ErrorsBySystem = Mapping[str, ErrorReport]
FormsBySystem = Mapping[str, pd.DataFrame]


def errors_result(
    corpus: Corpus,
    reports: ErrorsBySystem,
    *,
    by_type: bool,
    mend: Sequence[str],
    forms: int | None = None,
    fair: bool = False,
) -> Result:
    """Return the errors in every form; `mend` are the classes mended in the prediction that `--out` writes.

    `forms` is how many forms of each class are printed, None for no table of forms; `fair` asks for FairEval's classes.
    """

    @cache
    def frequent_forms() -> FormsBySystem:
        return {} if forms is None else {system: each.forms(forms) for system, each in reports.items()}

    @cache
    def fair_errors() -> Mapping[str, FairErrors]:
        return {system: each.fair() for system, each in reports.items()} if fair else {}

    return Result(
        tables=lambda: (
            table
            for system, each in reports.items()
            for table in (
                *error_tables(system, each, by_type, frequent_forms().get(system)),
                *(make(fair_errors()[system], system) for make in (fair_class_table, fair_score_table) if fair),
            )
        ),
        long=lambda: long_table(reports, frequent_forms(), fair_errors()),
        json=lambda: _json_object(corpus, reports, frequent_forms(), fair_errors()),
        title="errors",
        figures=lambda: [_figure(reports)],
        frames={
            "records": lambda: join_records(
                (system, each.records().assign(signature=signature(each.scores, STRICT)))
                for system, each in reports.items()
            )
        },
        files={"out": lambda place: _layer_file(next(iter(reports.values())).mended(mend), place)},
    )


def _layer_file(layer: Layer, place: str) -> bytes:
    """Return a layer as the bytes of JSON lines, compressed as the suffix of its place says."""
    with TemporaryFolder() as folder:
        path = Path(folder) / f"mended{PurePath(place).suffix}"
        writers.write(layer, path, format="jsonl")
        return path.read_bytes()


def error_tables(system: str, report: ErrorReport, by_type: bool, forms: pd.DataFrame | None = None) -> Iterator[Table]:
    """Yield the tables of one system: classes by criterion, ends, patterns, with `by_type` types, and `forms`."""
    signatures = together(signature(report.scores, name) for name in report.classes)
    # What is about all criteria stands below the first table.
    more = (*filter(None, [sentence_text(report.placing_sentence())]), *signatures)
    for name in report.classes:
        table = error_class_table(report, name, system)
        yield replace(table, notes=(sentence_text(report.sentence(name)), *table.notes, *more))
        more = ()
    for name in report.classes:
        groups = report.groups(name)
        if len(groups):
            table = group_table(groups, name, system, slice(MOST_ROWS))
            yield replace(table, notes=(*table.notes, *hidden_note(len(groups) - MOST_ROWS, "more pattern")))
    yield end_table(report, system)
    if len(report.patterns):
        table = pattern_table(report, system, slice(MOST_ROWS))
        yield replace(table, notes=hidden_note(len(report.patterns) - MOST_ROWS, "more pattern"))
    if by_type:
        yield type_table(report, system, MOST_ROWS)
    if forms is not None:
        yield form_table(report, forms, system)


def long_table(
    reports: ErrorsBySystem,
    forms: FormsBySystem = MappingProxyType({}),
    fair: Mapping[str, FairErrors] = MappingProxyType({}),
) -> Table:
    """Return all tables of all systems as one with LONG_COLUMNS, EXAMPLE_COLUMNS if it has forms, and the signature.

    `part` is class, type, ends, group, pattern, form, fair class or fair score; `name` is the type, the ends, the
    sentence on the group, the pattern with its end, the form, or the evaluation.
    """
    rows: list[tuple[Cell, ...]] = []
    none = (None,) * 5
    for system, each in reports.items():
        signed = signature(each.scores, STRICT)
        for criterion, table in each.classes.items():
            own = signature(each.scores, criterion)
            for kind, *numbers in cells(table):
                rows.append((system, "class", criterion, kind, None, *numbers, own))
        for part, of in (("type", each.types), ("ends", each.ends)):
            for kind, name, count in cells(of):
                rows.append((system, part, STRICT, kind, name, count, None, *none, None, signed))
        for criterion in each.classes:
            own = signature(each.scores, criterion)
            for group, count, share, gain in cells(each.groups(criterion)[["group", "records", "share", "gain"]]):
                rows.append((system, "group", criterion, None, group, count, share, *none[:3], gain, None, None, own))
        for end, name, count, share in cells(each.patterns):
            pattern = f"{end}: {name}"
            rows.append((system, "pattern", STRICT, "boundary only", pattern, count, share, *none, None, signed))
    for system, counted_once in fair.items():
        signed = signature(reports[system].scores, STRICT)
        for kind, count, share in cells(counted_once.classes):
            rows.append((system, "fair class", STRICT, kind, None, count, share, *none, None, signed))
        for evaluation, *ratios in cells(counted_once.ratios):
            rows.append((system, "fair score", STRICT, None, evaluation, None, None, *ratios, *none[:2], None, signed))
    if not forms:
        return Table("errors", (*LONG_COLUMNS, SIGNATURE), tuple(rows))
    blank = (None,) * len(EXAMPLE_COLUMNS)
    rows = [(*row[:-1], *blank, row[-1]) for row in rows]
    for system, table in forms.items():
        signed = signature(reports[system].scores, STRICT)
        for counted_form, example in zip(
            cells(table[["class", "form", "records"]]), cells(table[[*EXAMPLE_COLUMNS]]), strict=True
        ):
            rows.append((system, "form", STRICT, *counted_form, None, *none, None, *example, signed))
    columns = (*LONG_COLUMNS, *columns_by_name(EXAMPLE_COLUMNS, "text"), SIGNATURE)
    return Table("errors", columns, tuple(rows))


def _json_object(
    corpus: Corpus, reports: ErrorsBySystem, forms: FormsBySystem, fair: Mapping[str, FairErrors]
) -> dict[str, Any]:
    gold = corpus.gold
    return {
        **head(gold),
        "systems": [
            {
                **system_side(gold, layer),
                "signatures": {name: signature(each.scores, name) for name in each.classes},
                "criteria": {name: objects(table) for name, table in each.classes.items()},
                "types": objects(each.types),
                "ends": objects(each.ends),
                "patterns": objects(each.patterns),
                "groups": {name: objects(each.groups(name)) for name in each.classes},
                "words": list(each.words),
                **({"forms": objects(forms[system])} if system in forms else {}),
                **({"fair": _fair_objects(fair[system])} if fair else {}),
            }
            for layer, (system, each) in zip(corpus.systems, reports.items(), strict=True)
        ],
    }


def _fair_objects(errors: FairErrors) -> dict[str, Any]:
    return {"classes": objects(errors.classes), "ratios": objects(errors.ratios)}


def _figure(reports: ErrorsBySystem) -> Figure:
    from nereval_core.report.figures.scores import gain_bars

    name = next(iter(next(iter(reports.values())).classes))
    counts = [each.scores.counts(name) for each in reports.values()]
    classes = {system: each.classes[name] for system, each in reports.items()}
    return gain_bars(classes, name, counts[0].pos, [each.act for each in counts])
