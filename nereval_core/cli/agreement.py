"""The verb `agreement`: how far annotators agree, each two and all together, in every form."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from nereval_core import __version__
from nereval_core.analysis.agreement import PAIRWISE, Agreement, agree, agree_pairwise
from nereval_core.analysis.agreement.figures import FIGURES, NONE_IN_COMMON, Group, Pair
from nereval_core.analysis.agreement.tables import (
    documents_table,
    figures_table,
    in_words,
    pair_reasons,
    pairs_table,
    reasons,
    signature,
    types_table,
    warnings,
)
from nereval_core.analysis.agreement.token_agreement import pairs_of
from nereval_core.analysis.resampling import Plan
from nereval_core.analysis.resampling_units import resampling_units
from nereval_core.api.load import NONE_SHARED, Loaded, load_corpus
from nereval_core.cli.compare import LEAST, MOST
from nereval_core.cli.files import TWO_OF_ONE, named
from nereval_core.cli.options import SHARED, fitting, load_options, misplaced, settings_of
from nereval_core.cli.output import (
    listed,
    progress_bar,
    put_out,
    say,
    say_read,
    say_unlike,
    say_unused,
    say_unused_types,
)
from nereval_core.corpus import Layer
from nereval_core.problems import FormatError, Problem, counted, quoted
from nereval_core.report import TABLES
from nereval_core.report.json_results import side
from nereval_core.report.score_tables import BY, Sheet
from nereval_core.report.table_cells import cells, objects
from nereval_core.report.table_formats import as_screen, in_form
from nereval_core.scoring import Settings
from nereval_core.scoring.criteria import Criterion

FORMS = TABLES


def agreement(options: argparse.Namespace) -> str | None:
    """Read, count, resample and write: nothing is written before all of it is known."""
    targets = {form: place for form in FORMS if (place := getattr(options, form)) is not None}
    wrong = _misused(options) or misplaced(options, targets)
    if wrong:
        return wrong
    settings = settings_of(options)
    found, marks = _pairwise(options, settings) if _asks_pairwise(options) else _over_the_same(options, settings)
    for pair, scores in found.scores.items():
        greedy = sorted({name for each in scores.values() for name in each.greedy})
        if greedy:
            who = " and ".join(found.annotators[number] for number in pair)
            say(f"{who}: clusters too large to be aligned exactly were aligned greedily, in: {', '.join(greedy)}")
    by = listed(options.by)
    tables = list(sheets(found, by=by, marks=marks))
    make = {"json": lambda: _json(found, by, marks).encode()}
    put_out(
        targets, {form: in_form(form, tables, lambda: long_sheet(found, by=by, marks=marks), make) for form in targets}
    )
    if not targets:
        print(as_screen(tables), end="")
    return None


def _misused(options: argparse.Namespace) -> str | None:
    if _asks_pairwise(options) and len(named(options.files)) == 1:
        return f"--documents {PAIRWISE} compares files: name two annotators or more"
    if len(named(options.files)) == 1 and (options.gold_column is None or options.pred_column is None):
        return f"name two annotators or more, {TWO_OF_ONE}"
    unknown = [value for value in listed(options.by) if value not in BY]
    if unknown:
        return f"--by {quoted(unknown[0])}, there are {' and '.join(BY)}"
    if not LEAST <= options.resamples <= MOST:
        return f"--resamples {options.resamples}, write {LEAST} to {MOST}"
    return f"--seed {options.seed}, write 0 or more" if options.seed < 0 else None


def _asks_pairwise(options: argparse.Namespace) -> bool:
    return options.documents == PAIRWISE and not Path(PAIRWISE).is_file()


def _over_the_same(options: argparse.Namespace, settings: Settings) -> tuple[Agreement, tuple[str, ...]]:
    """Return the agreement of annotators over the same documents, and what the signature must say of their files."""
    places = named(options.files)
    if len(places) == 1:
        (place,) = places.values()
        columns = (options.gold_column, options.pred_column)
        first, rest = (f"column {columns[0]}", place), {f"column {columns[1]}": place}
    else:
        (first, *others) = places.items()
        rest = dict(others)
    loaded = load_corpus(
        first[1], rest, options=load_options(options), progress=lambda name: progress_bar(name, "read")
    )
    if not options.quiet:
        for reading in (loaded.gold, *loaded.systems.values()):
            say_read(reading)
    say_unlike(loaded)
    say_unused(settings, loaded)
    layers = _layers(first[0], loaded)
    settings = replace(settings, criteria=tuple(_fitting(settings.criteria, options, list(layers.values()))))
    units = resampling_units(loaded.corpus.documents, options.resample_by)
    return agree(layers, settings, plan=_plan(options), resampled=units), _marks(loaded)


def _pairwise(options: argparse.Namespace, settings: Settings) -> tuple[Agreement, tuple[str, ...]]:
    """Return the agreement of each two annotators on the documents that both have.

    Raises:
        FormatError: what reading raises, with the problems of all pairs, each once; no two have a document in common.
    """
    places = named(options.files)
    names = tuple(places)
    both = load_options(argparse.Namespace(**{**vars(options), "documents": SHARED}))
    others = replace(both, gold_format=both.pred_format, gold_column=both.pred_column, gold_types=both.pred_types)
    pairs: dict[Pair, Loaded] = {}
    problems: list[Problem] = []
    for pair in pairs_of(len(names)):
        one, other = (names[number] for number in pair)
        try:
            pairs[pair] = load_corpus(places[one], {other: places[other]}, options=others if pair[0] else both)
        except FormatError as error:
            apart = all(problem.found == NONE_SHARED for problem in error.problems)
            say(f"{one} and {other}: {NONE_IN_COMMON}") if apart else problems.extend(error.problems)
    if problems:
        raise FormatError(dict.fromkeys(problems))
    if not pairs:
        raise FormatError.single("annotators", None, "no two have a document in common", "name those of the same texts")
    for pair, loaded in pairs.items():
        if not options.quiet:
            who = " and ".join(names[number] for number in pair)
            say(f"{who}: {counted(len(loaded.corpus.documents), loaded.corpus.documents.unit)} in common")
        say_unlike(loaded)
    layers = {pair: _layers(names[pair[0]], loaded) for pair, loaded in pairs.items()}
    every = [layer for some in layers.values() for layer in some.values()]
    say_unused_types(settings, {kind for layer in every for kind in layer.types})
    settings = replace(settings, criteria=tuple(_fitting(settings.criteria, options, every)))
    parts = {
        pair: agree(
            layers[pair],
            settings,
            plan=_plan(options),
            resampled=resampling_units(loaded.corpus.documents, options.resample_by),
        )
        for pair, loaded in pairs.items()
    }
    return agree_pairwise(names, parts), tuple(dict.fromkeys(mark for one in pairs.values() for mark in _marks(one)))


def _layers(first: str, loaded: Loaded) -> dict[str, Layer]:
    corpus = loaded.corpus
    return {first: corpus.gold.renamed(first), **{layer.name: layer for layer in corpus.systems}}


def _marks(loaded: Loaded) -> tuple[str, ...]:
    return tuple(f"{name}: {mark}" for name, some in loaded.marks.items() for mark in some)


def _plan(options: argparse.Namespace) -> Plan:
    return Plan(resamples=options.resamples, seed=options.seed)


def _fitting(
    criteria: Sequence[Criterion], options: argparse.Namespace, layers: Sequence[Layer]
) -> Iterator[Criterion]:
    """Yield the criteria that some annotator, taken as gold, has what they need for.

    Raises:
        FormatError: one that is named itself needs what none has.
    """
    for criterion in criteria:
        able = next((layer for layer in layers if criterion.lacks(layer) is None), layers[0])
        yield from fitting((criterion,), options, able)


def sheets(found: Agreement, *, by: Sequence[str] = (), marks: Sequence[str] = ()) -> Iterator[Sheet]:
    """Yield the tables: all annotators together, each two, and as asked by type and by document."""
    names = [criterion.name for criterion in found.settings.criteria]
    group, tables = found.everyone, []
    who = " and ".join(found.annotators) if group else counted(len(found.annotators), "annotator")
    said = (*in_words(found, names[0]), *warnings(found))
    tables.append(_sheet(f"Agreement of {who}", figures_table(found, group, names), said))
    if group is None:
        said = tuple(line for figure in FIGURES for line in pair_reasons(found, figure, names))
        tables.append(_sheet("Agreement of each two", pairs_table(found, names), said))
    if "type" in by:
        for name in names:
            said = reasons(found, group, name)
            tables += [_sheet(f"By type, F1 under {name}", types_table(found, group, name), said)]
    if "document" in by:
        for which in found.pairs if found.parts else (group,):
            who = f" of {' and '.join(found.annotators[number] for number in which)}" if found.parts and which else ""
            tables += [
                _sheet(f"By document{who}, F1 under {name}", documents_table(found, which, name)) for name in names
            ]
    notes = (
        f"intervals: bias-corrected bootstrap over {found.resampled.many}, {found.plan.resamples} resamples, seed "
        f"{found.plan.seed}",
        signature(found, marks),
    )
    tables[-1] = replace(tables[-1], notes=(*tables[-1].notes, *notes))
    yield from tables


def _sheet(title: str, table: pd.DataFrame, notes: tuple[str, ...] = ()) -> Sheet:
    return Sheet(title, tuple(map(str, table.columns)), cells(table), notes)


def long_sheet(found: Agreement, *, by: Sequence[str] = (), marks: Sequence[str] = ()) -> Sheet:
    """Return a row for each figure, type and group of annotators, and as asked for each document, with the signature.

    `one` and `other` are empty for all annotators together, rows of a document have no interval.
    """
    signed = signature(found, marks)
    parts = [found.table.assign(document=None)]
    if "document" in by:
        parts += [
            _long(found, group, criterion.name) for group in _groups(found) for criterion in found.settings.criteria
        ]
    table = pd.concat(parts, ignore_index=True).assign(signature=signed)
    table = table.drop_duplicates(["figure", "criterion", "type", "one", "other", "document"])
    table["undefined"] = table["undefined"].astype("Int64")
    columns = ["figure", "criterion", "type", "document", "one", "other"]
    return _sheet("agreement", table[[*columns, *(name for name in table.columns if name not in columns)]])


def _groups(found: Agreement) -> tuple[Group, ...]:
    """Return all annotators, if more than two, and each pair, both ways where a criterion is not symmetric."""
    return (*(() if found.everyone else (None,)), *found.scores)


def _long(found: Agreement, group: Group, name: str) -> pd.DataFrame:
    """Return the figures by document as rows of the long table."""
    wide = found.by_document(group, criterion=name)
    table = wide.melt(
        ["document", "spans", "tokens", "why"], ["f1", "observed", "kappa", "alpha", "unitizing"], "figure", "value"
    )
    table["criterion"] = table["figure"].map({"f1": name})
    table["n"] = table["tokens"].where(table["figure"].isin(["observed", "kappa", "alpha"]), table["spans"])
    table["why"] = table["why"].where(table["value"].isna(), "")
    for place, column in enumerate(("one", "other")):
        table[column] = None if group is None else found.annotators[group[place]]
    return table.drop(columns=["spans", "tokens"])


def _json(found: Agreement, by: Sequence[str], marks: Sequence[str]) -> str:
    made: dict[str, Any] = {
        "nereval": __version__,
        **_annotators(found),
        "criteria": [criterion.name for criterion in found.settings.criteria],
        "resamples": found.plan.resamples,
        "seed": found.plan.seed,
        "level": found.plan.level,
        "resampled_by": found.resampled.by,
        "agreement": objects(found.table),
        "words": list(in_words(found, found.settings.criteria[0].name)),
        "warnings": list(warnings(found)),
        "signature": signature(found, marks),
    }
    if "document" in by:
        made["by_document"] = [
            {
                "one": None if group is None else found.annotators[group[0]],
                "other": None if group is None else found.annotators[group[1]],
                "criterion": criterion.name,
                "documents": objects(found.by_document(group, criterion=criterion.name)),
            }
            for group in _groups(found)
            for criterion in found.settings.criteria
        ]
    return json.dumps(made, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def _annotators(found: Agreement) -> dict[str, Any]:
    """Return what an object says of the layers compared: of each pair's, where pairs have documents of their own."""
    if not found.parts:
        return {"documents": len(found.layers[0].documents), "annotators": [side(layer) for layer in found.layers]}
    pairs = [
        {"documents": len(part.layers[0].documents), "annotators": [side(layer) for layer in part.layers]}
        for part in found.parts.values()
    ]
    return {"documents": PAIRWISE, "annotators": [{"name": name} for name in found.annotators], "pairs": pairs}
