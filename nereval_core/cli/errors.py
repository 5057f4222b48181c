"""The verb `errors`: classes of errors and what each costs, as tables and a figure, and predictions mended."""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path, PurePath
from typing import Any

import pandas as pd

from nereval_core import writers
from nereval_core.analysis.errors import Errors, classes_named, error_report, negative_gains
from nereval_core.analysis.errors.error_classes import STRICT
from nereval_core.analysis.sentences import in_words
from nereval_core.cli.files import named_systems
from nereval_core.cli.options import fitting, loaded_corpus, misplaced, settings_of
from nereval_core.cli.output import STDOUT, listed, progress_bar, put_out, say, say_unused
from nereval_core.corpus import Corpus, Layer
from nereval_core.problems import counted, quoted
from nereval_core.report import TABLES
from nereval_core.report.export import RECORD_FORMS, frame_as, record_form
from nereval_core.report.figures.files import Figure, drawn, undrawable
from nereval_core.report.json_results import head, side
from nereval_core.report.score_tables import Cell, Sheet
from nereval_core.report.signature import signature, together
from nereval_core.report.table_cells import cells, objects
from nereval_core.report.table_formats import as_screen, in_form
from nereval_core.scoring import score_layers
from nereval_core.scoring.criteria import CRITERIA

FORMS = (*TABLES, "figure", "records", "out")
SHOWN = 20
"""Rows of patterns and columns of types that tables for reading have; JSON, CSV and records have all."""
RATIOS = {"precision": "P", "recall": "R", "f1": "F1", "cumulative_f1": "F1 so far"}
LONG = ("system", "part", "criterion", "class", "name", "records", "share", "precision", "recall", "f1", "gain")
MORE = ("cumulative_f1", "cumulative_gain", "signature")

Found = Mapping[str, Errors]


def errors(options: argparse.Namespace) -> str | None:
    """Read, score, sort into classes and write: nothing is written before all of it is known."""
    targets = {form: place for form in FORMS if (place := getattr(options, form)) is not None}
    wrong = _misused(options, targets) or misplaced(options, targets) or undrawable(options.figure)
    if wrong:
        return wrong
    mend = classes_named(listed(options.mend)) if options.mend else ()
    settings = settings_of(options)
    loaded = loaded_corpus(options)
    corpus = loaded.corpus
    chosen = fitting(settings.criteria, options, corpus.gold)
    names = [criterion.name for criterion in chosen]
    if STRICT not in names:
        # Classes are those of the strict records, whatever is shown.
        chosen = (CRITERIA[STRICT], *chosen)
    settings = replace(settings, criteria=chosen)
    say_unused(settings, loaded)
    found: dict[str, Errors] = {}
    for one in corpus.systems:
        scores = score_layers(corpus.gold, one, settings, marks=loaded.marks[one.name])
        if scores.greedy:
            greedy = ", ".join(scores.greedy)
            say(f"{one.name}: clusters too large to be aligned exactly were aligned greedily, in: {greedy}")
        found[one.name] = error_report(scores, names, progress=progress_bar(one.name, "mended"))
    tables = [sheet for name, each in found.items() for sheet in sheets(name, each, "type" in listed(options.by))]
    make: dict[str, Callable[[], bytes]] = {
        "json": lambda: _json(corpus, found).encode(),
        "figure": lambda: drawn([_figure(found)], targets["figure"], tables, "errors"),
        "records": lambda: frame_as(record_form(targets["records"]) or RECORD_FORMS[0], _records(found)),
        "out": lambda: _written(next(iter(found.values())).mended(mend), targets["out"]),
    }
    put_out(
        targets,
        {form: in_form(form, tables, lambda: long_sheet(found), make) for form in targets},
    )
    if not set(targets) - {"figure", "records", "out"} and STDOUT not in targets.values():
        print(as_screen(tables), end="")
    return None


def _misused(options: argparse.Namespace, targets: Mapping[str, str]) -> str | None:
    unknown = [value for value in listed(options.by) if value != "type"]
    if unknown:
        return f"--by {quoted(unknown[0])}, there is type only"
    if bool(options.mend) != ("out" in targets):
        return "--mend CLASS and --out FILE go together"
    if options.mend and len(named_systems(options)) > 1:
        return "--mend is for one prediction, name one"
    place = targets.get("records")
    if place is not None and record_form(place) is None:
        return f"--records {quoted(place)}, end the name in one of {', '.join(RECORD_FORMS)}"
    return None


def _written(layer: Layer, place: str) -> bytes:
    """Return a layer as the bytes of JSON lines, packed as its place says."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"mended{PurePath(place).suffix}"
        writers.write(layer, path, format="jsonl")
        return path.read_bytes()


def sheets(system: str, found: Errors, by_type: bool) -> Iterator[Sheet]:
    """Yield the tables of one system: what classes cost under each criterion, ends, patterns, and types if asked."""
    signatures = together(signature(found.scores, name) for name in found.classes)
    for number, (name, table) in enumerate(found.classes.items()):
        shown = table.drop(columns="cumulative_gain").rename(columns=RATIOS)
        now = found.scores.counts(name)
        first = ("as it is", int(table["records"].sum()), None, now.precision, now.recall, now.f1, None, now.f1)
        said = in_words(found.sentence(name))
        falls = negative_gains(table)
        gained = "P, R and F1 if the class alone is mended; F1 so far if all above are too"
        notes = (gained, said, *([falls] if falls else []))
        title = f"{system}: error classes, F1 under {name}"
        yield Sheet(title, tuple(shown.columns), (first, *cells(shown)), notes + (() if number else signatures))
    ends = found.ends.pivot(index="ends", columns="class", values="records").reindex(found.ends["ends"].unique())
    yield Sheet(
        f"{system}: ends of wrong boundaries",
        ("prediction is", *map(str, ends.columns)),
        tuple((name, *map(int, row)) for name, *row in ends.itertuples(name=None)),
    )
    if len(found.patterns):
        hidden = len(found.patterns) - SHOWN
        yield Sheet(
            f"{system}: what predictions of class boundary only leave out or take in",
            ("pattern", "end", "records", "share"),
            tuple((name, end, count, share) for end, name, count, share in cells(found.patterns.head(SHOWN))),
            (f"{counted(hidden, 'more pattern')} in --csv and --json",) if hidden > 0 else (),
        )
    if by_type:
        yield _by_type(system, found)


def _by_type(system: str, found: Errors) -> Sheet:
    sums = found.types.groupby("type")["records"].sum()
    kinds = sums.sort_values(ascending=False, kind="stable").index.tolist()
    cells = {(row[1], row.type): row.records for row in found.types.itertuples()}
    order = next(iter(found.classes.values()))["class"].tolist()
    rows = tuple((name, *(cells.get((name, kind), 0) for kind in kinds[:SHOWN])) for name in order)
    hidden = len(kinds) - SHOWN
    notes = (f"{counted(hidden, 'more type')} in --csv and --json",) if hidden > 0 else ()
    return Sheet(f"{system}: error classes by type", ("class", *map(str, kinds[:SHOWN])), rows, notes)


def long_sheet(found: Found) -> Sheet:
    """Return all tables of all systems as one with the columns of LONG and MORE.

    `part` is class, type, ends or pattern; `name` is the type, the ends, or the pattern with its end.
    """
    rows: list[tuple[Cell, ...]] = []
    none = (None,) * 5
    for system, each in found.items():
        signed = signature(each.scores, STRICT)
        for criterion, table in each.classes.items():
            own = signature(each.scores, criterion)
            for kind, *numbers in cells(table):
                rows.append((system, "class", criterion, kind, None, *numbers, own))
        for part, of in (("type", each.types), ("ends", each.ends)):
            for kind, name, count in cells(of):
                rows.append((system, part, STRICT, kind, name, count, None, *none, None, signed))
        for end, name, count, share in cells(each.patterns):
            said = f"{end}: {name}"
            rows.append((system, "pattern", STRICT, "boundary only", said, count, share, *none, None, signed))
    return Sheet("errors", (*LONG, *MORE), tuple(rows))


def _json(corpus: Corpus, found: Found) -> str:
    gold = corpus.gold
    made: dict[str, Any] = {
        **head(gold),
        "systems": [
            {
                **side(one),
                "signatures": {name: signature(each.scores, name) for name in each.classes},
                "criteria": {name: objects(table) for name, table in each.classes.items()},
                "types": objects(each.types),
                "ends": objects(each.ends),
                "patterns": objects(each.patterns),
                "words": list(each.words),
            }
            for one, each in zip(corpus.systems, found.values(), strict=True)
        ],
    }
    return json.dumps(made, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def _records(found: Found) -> pd.DataFrame:
    frames = []
    for system, each in found.items():
        table = each.records()
        for column in table.columns[table.dtypes == "category"]:
            table[column] = table[column].astype("str")
        table.insert(0, "system", system)
        table["signature"] = signature(each.scores, STRICT)
        frames.append(table)
    return pd.concat(frames, ignore_index=True)


def _figure(found: Found) -> Figure:
    from nereval_core.report.figures.errors import gain_bars

    name = next(iter(next(iter(found.values())).classes))
    counts = [each.scores.counts(name) for each in found.values()]
    classes = {system: each.classes[name] for system, each in found.items()}
    return gain_bars(classes, name, counts[0].pos, [each.act for each in counts])
