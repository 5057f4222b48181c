"""The verb `slices`: on which spans and documents a system is how good, as tables and figures."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from nereval_core.analysis.resampling_units import resampling_units
from nereval_core.analysis.slices import Slices, check_asked, slice_report
from nereval_core.analysis.slices.scores_by_slice import NO_INTERVAL, SIDED, SMALL
from nereval_core.analysis.slices.slicings import title as title_of
from nereval_core.analysis.slices.slicings import within
from nereval_core.analysis.slices.user_columns import Columns, check_columns, read_columns
from nereval_core.analysis.slices.worst_combinations import LEAST_DOCUMENTS, LEAST_SPANS
from nereval_core.api.load import read
from nereval_core.cli.options import fitting, loaded_corpus, misplaced, settings_of
from nereval_core.cli.output import STDOUT, listed, progress_bar, put_out, say, say_read, say_unused
from nereval_core.corpus import Corpus, Layer
from nereval_core.problems import FormatError, Problem, counted
from nereval_core.readers import Source
from nereval_core.report import TABLES
from nereval_core.report.figures.files import Figure, drawn, undrawable
from nereval_core.report.json_results import head, side
from nereval_core.report.score_tables import Cell, Sheet
from nereval_core.report.signature import signature
from nereval_core.report.table_cells import cells, objects
from nereval_core.report.table_formats import as_screen, in_form
from nereval_core.scoring import score_layers

FORMS = (*TABLES, "figure")
STEPS = 15
"""Thresholds that tables for reading have, the first and the last among them; JSON and CSV have all."""
WORST = 20
RATIOS = {"P": "precision", "R": "recall", "F1": "f1"}
_ENDS = tuple(f"{ratio}_{end}" for ratio in RATIOS.values() for end in ("low", "high"))
LONG = ("system", "criterion", "part", "by", "slice", *SIDED, "POS", "ACT", "documents", *RATIOS.values(), *_ENDS)
MORE = ("interval", "confidence", "note", "signature")

Found = Mapping[str, Sequence[Slices]]


def slices(options: argparse.Namespace) -> str | None:
    """Read, score, slice and write: nothing is written before all of it is known."""
    targets = {form: place for form in FORMS if (place := getattr(options, form)) is not None}
    beside = [file for file in (options.training, options.columns) if file]
    inputs = argparse.Namespace(**{**vars(options), "files": [*options.files, *beside]})
    wrong = _misused(options) or misplaced(options, targets) or misplaced(inputs, targets) or undrawable(options.figure)
    if wrong:
        return wrong
    by = listed(options.by)
    check_asked(by)
    settings = settings_of(options)
    training, columns = _beside(options)
    loaded = loaded_corpus(options)
    corpus = loaded.corpus
    if columns is not None:
        check_columns(columns, corpus.gold, corpus.systems)
    units = resampling_units(corpus.documents, options.resample_by)
    for note in units.notes:
        say(note)
    settings = replace(settings, criteria=fitting(settings.criteria, options, corpus.gold))
    say_unused(settings, loaded)
    found: dict[str, list[Slices]] = {}
    for one in corpus.systems:
        scores = score_layers(corpus.gold, one, settings, marks=loaded.marks[one.name])
        found[one.name] = [
            slice_report(
                scores,
                criterion.name,
                by=by,
                training=training,
                columns=columns,
                resamples=options.resamples,
                seed=options.seed,
                units=units,
                progress=progress_bar(one.name, "sliced"),
            )
            for criterion in settings.criteria
        ]
    tables = [sheet for name, every in found.items() for each in every for sheet in sheets(name, each)]
    make: dict[str, Callable[[], bytes]] = {
        "json": lambda: _json(corpus, found).encode(),
        "figure": lambda: drawn(_figures(found), targets["figure"], tables, "slices"),
    }
    put_out(
        targets,
        {form: in_form(form, tables, lambda: long_sheet(found), make) for form in targets},
    )
    if not set(targets) - {"figure"} and STDOUT not in targets.values():
        print(as_screen(tables), end="")
    return None


def _misused(options: argparse.Namespace) -> str | None:
    return f"--resamples {options.resamples}, draw 100 or more" if options.resamples < 100 else None


def _beside(options: argparse.Namespace) -> tuple[Layer | None, Columns | None]:
    """Read the training data and the columns, with the problems of both."""
    problems: list[Problem] = []
    training, columns = None, None
    try:
        if options.training:
            reading = read(options.training, format=options.training_format)
            training = reading.layer
            if not options.quiet:
                say_read(reading)
    except FormatError as error:
        problems += error.problems
    try:
        if options.columns:
            columns = read_columns(Source.of_path(options.columns).files[0].text(), options.columns)
    except FormatError as error:
        problems += error.problems
    if problems:
        raise FormatError(problems)
    return training, columns


def sheets(system: str, found: Slices) -> Iterator[Sheet]:
    """Yield the tables of one system under one criterion; the last has the signature."""
    made = list(_sheets(system, found))
    signed = _signed(found)
    yield from made[:-1]
    if made:
        yield replace(made[-1], notes=(*made[-1].notes, signed))


def _signed(found: Slices) -> str:
    return signature(found.scores, found.criterion, intervals=found.units.signed(found.plan))


def _sheets(system: str, found: Slices) -> Iterator[Sheet]:
    ratios = [(f"{short}{end}", f"{long}{tail}") for short, long in RATIOS.items() for end, tail in _TAILS]
    columns = {"slice": "slice", "POS": "POS", "ACT": "ACT", **dict(ratios)}
    for name, table in found.tables.items():
        title = f"{system}: {found.criterion} by {within(name)}"
        yield Sheet(title, tuple(columns), cells(table[list(columns.values())]), _notes(found, name))
    if found.thresholds is not None:
        table = found.thresholds.rename(columns={long: short for short, long in RATIOS.items()})
        some = np.unique(np.linspace(0, len(table) - 1, min(STEPS, len(table))).round().astype(int))
        hidden = len(table) - len(some)
        notes = (f"{counted(hidden, 'more threshold')} in --csv and --json",) if hidden else ()
        title = f"{system}: {found.criterion} of the predictions scored at least so high"
        yield Sheet(title, tuple(map(str, table.columns)), cells(table.iloc[some]), notes)
    if found.calibration is not None:
        shown = found.calibration[["slice", "ACT", "confidence", "precision", "precision_low", "precision_high"]]
        columns_shown = ("score", "ACT", "mean score", "P", "P low", "P high")
        notes = (f"mean gap of mean score and P, by predictions: {found.gap:.4f}",)
        yield Sheet(f"{system}: {found.criterion}, precision by score", columns_shown, cells(shown), notes)
    if found.worst is not None:
        titled = {name: title_of(name) for name in {*found.worst["by"], *found.worst["and_by"]}}
        table = found.worst.head(WORST).replace({"by": titled, "and_by": titled}).drop(columns="tests")
        said = (
            f"{len(found.worst)} combinations of two slices with at least {LEAST_SPANS} gold spans in "
            f"{LEAST_DOCUMENTS} documents were tested; p is one-sided, for a lower recall than that of all other "
            "gold spans; Holm's correction is over all of them"
        )
        heads = ("by", "slice", "and by", "and slice", "POS", "documents", "R", "less R elsewhere", "p", "p (Holm)")
        yield Sheet(f"{system}: {found.criterion}, where it is worst", heads, cells(table), (said,))


_TAILS = (("", ""), (" low", "_low"), (" high", "_high"))


def _notes(found: Slices, name: str) -> tuple[str, ...]:
    table = found.tables[name]
    small = table.loc[table["small"].to_numpy(), "slice"].tolist()
    lone = table.loc[(table["interval"] == NO_INTERVAL).to_numpy(), "slice"].tolist()
    return (
        *((found.notes[name],) if name in found.notes else ()),
        *((f"fewer than {SMALL} gold spans or predictions: {', '.join(small)}",) if small else ()),
        *((f"no interval, as all spans are in one {found.units.one}: {', '.join(lone)}",) if lone else ()),
    )


def long_sheet(found: Found) -> Sheet:
    """Return all tables of all systems as one with the columns of LONG and MORE.

    `part` is slice, threshold (`slice` is the least score), calibration or worst (`slice` holds both slices, `f1` and
    what is not known are empty). `note` says which ratios a slicing lacks because one side has no values.
    """
    rows: list[tuple[Cell, ...]] = []
    for system, every in found.items():
        for each in every:
            signed = _signed(each)
            for part, by, table in _parts(each):
                known = {"system": system, "criterion": each.criterion, "part": part, "by": by, "signature": signed}
                rows += [tuple((row | known).get(column) for column in (*LONG, *MORE)) for row in objects(table)]
    return Sheet("slices", (*LONG, *MORE), tuple(rows))


def _parts(each: Slices) -> Iterator[tuple[str, str, pd.DataFrame]]:
    for name, table in each.tables.items():
        yield "slice", each.titles[name], table.assign(note=each.notes.get(name, ""))
    if each.thresholds is not None:
        table = each.thresholds.assign(slice=[f"{one!r}" for one in each.thresholds["threshold"].tolist()])
        for code in ("COR", "INC", "PAR"):
            table[f"gold_{code}"] = table[f"pred_{code}"] = table[code]
        yield "threshold", "score", table
    if each.calibration is not None:
        yield "calibration", "score", each.calibration
    if each.worst is not None:
        pairs = zip(each.worst["slice"], each.worst["and_slice"], strict=True)
        said = [f"{one} and {two}" for one, two in pairs]
        for place, (one, two) in enumerate(zip(each.worst["by"], each.worst["and_by"], strict=True)):
            row = each.worst.iloc[place : place + 1][["POS", "documents", "recall"]].assign(slice=said[place])
            yield "worst", f"{one} and {two}", row


def _json(corpus: Corpus, found: Found) -> str:
    gold = corpus.gold
    made: dict[str, Any] = {
        **head(gold),
        "systems": [
            {
                **side(one),
                "criteria": {each.criterion: _object(each) for each in found[one.name]},
            }
            for one in corpus.systems
        ],
    }
    return json.dumps(made, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def _object(each: Slices) -> dict[str, Any]:
    made: dict[str, Any] = {
        "signature": _signed(each),
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
    for name in ("thresholds", "calibration", "worst"):
        table = getattr(each, name)
        made |= {} if table is None else {name: objects(table)}
    return made | ({} if each.gap is None else {"gap": each.gap})


def _figures(found: Found) -> list[Figure]:
    from nereval_core.report.figures.slices import reliability, slice_intervals, threshold_lines

    made = []
    for system, every in found.items():
        for each in every:
            under = f"criterion {each.criterion}"
            documents = each.scores.documents
            for name, table in each.tables.items():
                by = each.titles[name]
                title = f"{system} by {within(name)}, {under}"
                made.append(slice_intervals(table, title, by, SMALL, documents))
            if each.thresholds is not None:
                unscored = len(each.scores.pred) - len(each.scores.pred.scores)
                title = f"{system} by the least score of a prediction, {under}"
                made.append(threshold_lines(each.thresholds, title, unscored))
            if each.calibration is not None:
                made.append(
                    reliability(each.calibration, f"Precision of {system} by score, {under}", each.gap or 0, SMALL)
                )
    return made
