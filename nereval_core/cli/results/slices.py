"""Scores by slices of spans and documents, as tables, JSON and figures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from nereval_core.analysis.slices import SliceReport
from nereval_core.analysis.slices.calibration import BINNINGS, Calibration
from nereval_core.analysis.slices.scores_by_slice import SIDED, SMALL_SLICE_SPANS
from nereval_core.analysis.slices.slice_tests import SliceTests, difference_words
from nereval_core.analysis.slices.slicings import slicing_title as title_of
from nereval_core.analysis.slices.slicings import title_in_sentence
from nereval_core.analysis.slices.tables import (
    calibration_table,
    combination_table,
    score_table,
    test_table,
    threshold_table,
)
from nereval_core.cli.output import Result, methods_file
from nereval_core.corpus import Corpus
from nereval_core.problems import counted
from nereval_core.report.figures.files import Figure
from nereval_core.report.json_results import head, system_side
from nereval_core.report.references import AREA
from nereval_core.tables import RATIO_KEYS, Cell, Table, columns_of, objects

SHOWN_THRESHOLDS = 15
"""Thresholds in printed tables, with the first and the last; JSON and CSV have all."""
SHOWN_COMBINATIONS = 20
SHOWN_DIFFERENCES = 5
"""Significant differences said in words below a table."""
_ENDS = tuple(f"{ratio}_{end}" for ratio in RATIO_KEYS.values() for end in ("low", "high"))
LONG_COLUMNS = (
    *("system", "criterion", "part", "by", "slice", *SIDED, "POS", "ACT", "documents", *RATIO_KEYS.values(), *_ENDS),
    *("interval", "confidence", "value", "low", "high", "p", "p_holm", "p_bh", "baseline", "note", "signature"),
)

SlicesBySystem = Mapping[str, Sequence[SliceReport]]


def slices_result(corpus: Corpus, reports: SlicesBySystem, changes: Mapping[str, SliceTests]) -> Result:
    """Return the slices of each system under each criterion in every form, and the changes within them by criterion."""

    def tables() -> Iterator[Table]:
        for name, reports_of_system in reports.items():
            for each in reports_of_system:
                yield from slice_tables(name, each)
        for criterion, tests in changes.items():
            yield tests_with_words(f"{criterion}, changes from system to system within slices", tests)

    return Result(
        tables=tables,
        long=lambda: long_table(reports, changes),
        json=lambda: _json_object(corpus, reports, changes),
        title="slices",
        figures=lambda: _figures(reports),
        files=methods_file([report for of_system in reports.values() for report in of_system]),
    )


def slice_tables(system: str, report: SliceReport) -> Iterator[Table]:
    """Yield the tables of one system under one criterion; the last has the signature."""
    tables = list(_slice_tables(system, report))
    for number, table in enumerate(tables, start=1):
        yield replace(table, notes=(*table.notes, report.signature)) if number == len(tables) else table


def _slice_tables(system: str, report: SliceReport) -> Iterator[Table]:
    title = f"{system}: {report.criterion}"
    for name in report.tables:
        yield score_table(report, name, system)
    if report.apart is not None:
        yield tests_with_words(f"{title}, slices against the rest", report.apart)
    if report.thresholds is not None:
        count = len(report.thresholds)
        rows = np.unique(np.linspace(0, count - 1, min(SHOWN_THRESHOLDS, count)).round().astype(int))
        table = threshold_table(f"{title} of the predictions scored at least so high", report.thresholds.iloc[rows])
        hidden = count - len(rows)
        yield replace(table, notes=(f"{counted(hidden, 'more threshold')} in --csv and --json",) if hidden else ())
    if report.calibration is not None:
        yield from _calibration_tables(title, report.calibration)
    if report.worst is not None:
        yield combination_table(f"{title}, where it is worst", report.worst, SHOWN_COMBINATIONS)


def tests_with_words(title: str, tests: SliceTests) -> Table:
    """Return tests as a table, with the significant differences in words."""
    rows = tests.significant.head(SHOWN_DIFFERENCES).to_dict("records")
    words = [difference_words(row) for row in rows] or ["no difference is significant after Holm's correction"]
    table = test_table(title, tests)
    return replace(table, notes=(*table.notes, *words))


def _calibration_tables(title: str, calibration: Calibration) -> Iterator[Table]:
    """Yield the bins of each binning with its errors; below the last stands what has no bins."""
    *_, last = calibration.bins
    for binning in calibration.bins:
        notes = calibration.error_sentences(binning)
        if binning == last:
            notes = (*notes, calibration.risk.sentence(), *calibration.threshold_sentences(), calibration.note())
        yield replace(calibration_table(title, calibration, binning), notes=notes)


def long_table(reports: SlicesBySystem, changes: Mapping[str, SliceTests]) -> Table:
    """Return all tables of all systems as one with LONG_COLUMNS.

    `part` is slice, threshold (`slice` is the least score), calibration (a row for each bin), error (`slice` is the
    measure, `by` its bins, `value`, `low` and `high` the error), worst (`slice` holds both slices; `f1` and unknown
    values are empty), apart or change (`value`, `low` and `high` are a difference from the rest, or from the
    `baseline`). `note` names the ratios that a slicing lacks because one side has no values, or why there is no test.
    """
    rows: list[tuple[Cell, ...]] = []
    for system, reports_of_system in reports.items():
        for each in reports_of_system:
            signed = each.signature
            for part, by, table in _parts(each):
                constants = {"system": system, "criterion": each.criterion, "part": part, "by": by, "signature": signed}
                rows += [tuple((row | constants).get(column) for column in LONG_COLUMNS) for row in objects(table)]
    for criterion, tests in changes.items():
        table = _long_tests(tests)
        constants = {"criterion": criterion, "part": "change"}
        rows += [tuple((row | constants).get(column) for column in LONG_COLUMNS) for row in objects(table)]
    return Table("slices", columns_of(*LONG_COLUMNS), tuple(rows))


def _parts(each: SliceReport) -> Iterator[tuple[str, str, pd.DataFrame]]:
    for name, table in each.tables.items():
        yield "slice", each.titles[name], table.assign(note=each.notes.get(name, ""))
    if each.apart is not None:
        for title, table in _long_tests(each.apart).groupby("by", sort=False):
            yield "apart", str(title), table
    if each.thresholds is not None:
        table = each.thresholds.assign(slice=[f"{threshold!r}" for threshold in each.thresholds["threshold"].tolist()])
        for code in ("COR", "INC", "PAR"):
            table[f"gold_{code}"] = table[f"pred_{code}"] = table[code]
        yield "threshold", "score", table
    if each.calibration is not None:
        for binning, bins in each.calibration.bins.items():
            yield "calibration", BINNINGS[binning], bins
        errors = each.calibration.errors.rename(columns={"measure": "slice"})
        for binning in (*BINNINGS, ""):
            yield "error", binning, errors[errors["bins"] == binning]
        yield "error", "", pd.DataFrame({"slice": [AREA], "value": [each.calibration.risk.area]})
    if each.worst is not None:
        pairs = zip(each.worst["slice"], each.worst["and_slice"], strict=True)
        slices = [f"{first} and {second}" for first, second in pairs]
        columns = ["POS", "documents", "recall", "p", "p_holm", "p_bh"]
        for place, (by, and_by) in enumerate(zip(each.worst["by"], each.worst["and_by"], strict=True)):
            row = each.worst.iloc[place : place + 1][columns]
            yield "worst", f"{by} and {and_by}", row.assign(slice=slices[place])


def _long_tests(tests: SliceTests) -> pd.DataFrame:
    """Return tests with LONG_COLUMNS: the slicing by its title, the ratio of the slice under its own name."""
    table = tests.table.assign(by=[title_of(name) for name in tests.table["by"]])
    for ratio in RATIO_KEYS.values():
        table[ratio] = table["value"].where(table["measure"] == ratio)
    return table.assign(value=table["difference"], note=table["why"])


def _json_object(corpus: Corpus, reports: SlicesBySystem, changes: Mapping[str, SliceTests]) -> dict[str, Any]:
    gold = corpus.gold
    result = {
        **head(gold),
        "systems": [
            {
                **system_side(gold, layer),
                "criteria": {each.criterion: _object(each) for each in reports[layer.name]},
            }
            for layer in corpus.systems
        ],
    }
    return result | ({"changes": {name: _tests_object(tests) for name, tests in changes.items()}} if changes else {})


def _object(each: SliceReport) -> dict[str, Any]:
    result: dict[str, Any] = {
        "signature": each.signature,
        "resampled_by": each.units.by,
        "warnings": list(each.units.notes),
        "slices": [
            {
                "by": name,
                "title": each.titles[name],
                "notes": [each.notes[name]] if name in each.notes else [],
                "rows": objects(table),
            }
            for name, table in each.tables.items()
        ],
    }
    for name in ("thresholds", "worst"):
        table = getattr(each, name)
        result |= {} if table is None else {name: objects(table)}
    result |= {} if each.apart is None else {"apart": _tests_object(each.apart)}
    return result | ({} if each.calibration is None else {"calibration": _calibration_object(each.calibration)})


def _tests_object(tests: SliceTests) -> dict[str, Any]:
    return {"family": tests.family, "rows": objects(tests.table)}


def _calibration_object(calibration: Calibration) -> dict[str, Any]:
    risk = calibration.risk
    return {
        "predictions": calibration.predictions,
        "unscored": calibration.unscored,
        "notes": [calibration.refusal] if calibration.refusal else [],
        "bins": [{"bins": binning, "rows": objects(table)} for binning, table in calibration.bins.items()],
        "errors": objects(calibration.errors),
        "risk_coverage": {
            "points": objects(risk.points),
            "area": risk.area,
            "area_of_best_order": risk.best,
            "area_of_random_order": risk.risk,
        },
        "held_out_thresholds": objects(calibration.held_out),
    }


def _figures(reports: SlicesBySystem) -> list[Figure]:
    from nereval_core.report.figures.slices import reliability, risk_curve, slice_intervals, threshold_lines

    figures = []
    for system, reports_of_system in reports.items():
        for each in reports_of_system:
            under = f"criterion {each.criterion}"
            documents = each.scores.documents
            for name, table in each.tables.items():
                by = each.titles[name]
                title = f"{system} by {title_in_sentence(name)}, {under}"
                figures.append(slice_intervals(table, title, by, SMALL_SLICE_SPANS, documents))
            if each.thresholds is not None:
                unscored = len(each.scores.pred) - len(each.scores.pred.scores)
                title = f"{system} by the least score of a prediction, {under}"
                figures.append(threshold_lines(each.thresholds, title, unscored))
            if (trust := each.calibration) is not None:
                figures += [
                    reliability(
                        table,
                        f"Precision of {system} in bins of {binning}, {under}",
                        trust.error_sentences(binning)[0],
                        SMALL_SLICE_SPANS,
                        diagonal=not trust.refusal,
                    )
                    for binning, table in trust.bins.items()
                ]
                figures.append(
                    risk_curve(
                        trust.risk.points, f"Risk of {system} by coverage, {under}", trust.risk.area, trust.risk.risk
                    )
                )
    return figures
