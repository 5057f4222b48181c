"""Classes of errors and what each costs, as tables, JSON, records and a figure, and predictions mended."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePath
from typing import Any

import pandas as pd

from nereval_core import writers
from nereval_core.analysis.errors import Errors, negative_gains
from nereval_core.analysis.errors.error_classes import STRICT
from nereval_core.analysis.sentences import in_words
from nereval_core.cli.runner import Result
from nereval_core.corpus import Corpus, Layer
from nereval_core.problems import counted
from nereval_core.report.figures.files import Figure
from nereval_core.report.json_results import head, side
from nereval_core.report.score_tables import Cell, Sheet
from nereval_core.report.signature import signature, together
from nereval_core.report.table_cells import cells, objects

SHOWN_ROWS = 20
"""Rows of patterns and columns of types that tables for reading have; JSON, CSV and records have all."""
RATIOS = {"precision": "P", "recall": "R", "f1": "F1", "cumulative_f1": "F1 so far"}
LONG_COLUMNS = (
    *("system", "part", "criterion", "class", "name", "records", "share", "precision", "recall", "f1", "gain"),
    *("cumulative_f1", "cumulative_gain", "signature"),
)

ErrorsBySystem = Mapping[str, Errors]


def errors_result(corpus: Corpus, found: ErrorsBySystem, *, by_type: bool, mend: Sequence[str]) -> Result:
    """Return the errors in every form; `mend` are the classes mended in the prediction that `--out` writes."""
    return Result(
        tables=lambda: (sheet for system, each in found.items() for sheet in sheets(system, each, by_type)),
        long=lambda: long_sheet(found),
        json=lambda: _json_object(corpus, found),
        title="errors",
        figures=lambda: [_figure(found)],
        frames={"records": lambda: _records(found)},
        files={"out": lambda place: _layer_file(next(iter(found.values())).mended(mend), place)},
    )


def _layer_file(layer: Layer, place: str) -> bytes:
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
        sentence = in_words(found.sentence(name))
        falls = negative_gains(table)
        gained = "P, R and F1 if the class alone is mended; F1 so far if all above are too"
        notes = (gained, sentence, *([falls] if falls else []))
        title = f"{system}: error classes, F1 under {name}"
        yield Sheet(title, tuple(shown.columns), (first, *cells(shown)), notes + (() if number else signatures))
    ends = found.ends.pivot(index="ends", columns="class", values="records").reindex(found.ends["ends"].unique())
    yield Sheet(
        f"{system}: ends of wrong boundaries",
        ("prediction is", *map(str, ends.columns)),
        tuple((name, *map(int, row)) for name, *row in ends.itertuples(name=None)),
    )
    if len(found.patterns):
        hidden = len(found.patterns) - SHOWN_ROWS
        yield Sheet(
            f"{system}: what predictions of class boundary only leave out or take in",
            ("pattern", "end", "records", "share"),
            tuple((name, end, count, share) for end, name, count, share in cells(found.patterns.head(SHOWN_ROWS))),
            (f"{counted(hidden, 'more pattern')} in --csv and --json",) if hidden > 0 else (),
        )
    if by_type:
        yield _by_type(system, found)


def _by_type(system: str, found: Errors) -> Sheet:
    sums = found.types.groupby("type")["records"].sum()
    kinds = sums.sort_values(ascending=False, kind="stable").index.tolist()
    cells = {(row[1], row.type): row.records for row in found.types.itertuples()}
    order = next(iter(found.classes.values()))["class"].tolist()
    rows = tuple((name, *(cells.get((name, kind), 0) for kind in kinds[:SHOWN_ROWS])) for name in order)
    hidden = len(kinds) - SHOWN_ROWS
    notes = (f"{counted(hidden, 'more type')} in --csv and --json",) if hidden > 0 else ()
    return Sheet(f"{system}: error classes by type", ("class", *map(str, kinds[:SHOWN_ROWS])), rows, notes)


def long_sheet(found: ErrorsBySystem) -> Sheet:
    """Return all tables of all systems as one with LONG_COLUMNS.

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
            pattern = f"{end}: {name}"
            rows.append((system, "pattern", STRICT, "boundary only", pattern, count, share, *none, None, signed))
    return Sheet("errors", LONG_COLUMNS, tuple(rows))


def _json_object(corpus: Corpus, found: ErrorsBySystem) -> dict[str, Any]:
    gold = corpus.gold
    return {
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


def _records(found: ErrorsBySystem) -> pd.DataFrame:
    frames = []
    for system, each in found.items():
        table = each.records()
        for column in table.columns[table.dtypes == "category"]:
            table[column] = table[column].astype("str")
        table.insert(0, "system", system)
        table["signature"] = signature(each.scores, STRICT)
        frames.append(table)
    return pd.concat(frames, ignore_index=True)


def _figure(found: ErrorsBySystem) -> Figure:
    from nereval_core.report.figures.errors import gain_bars

    name = next(iter(next(iter(found.values())).classes))
    counts = [each.scores.counts(name) for each in found.values()]
    classes = {system: each.classes[name] for system, each in found.items()}
    return gain_bars(classes, name, counts[0].pos, [each.act for each in counts])
