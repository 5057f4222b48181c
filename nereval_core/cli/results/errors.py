"""Classes of errors and the F1 that each costs, as tables, JSON, records and a figure, and mended predictions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path, PurePath
from types import MappingProxyType
from typing import Any

import pandas as pd

from nereval_core import writers
from nereval_core.analysis.errors import ErrorReport, negative_gains_note
from nereval_core.analysis.errors.error_classes import STRICT
from nereval_core.analysis.sentences import sentence_text
from nereval_core.cli.output import Result
from nereval_core.corpus import Corpus, Layer
from nereval_core.problems import counted
from nereval_core.readers.input.temporaries import TemporaryFolder
from nereval_core.report.export import join_records
from nereval_core.report.figures.files import Figure
from nereval_core.report.json_results import head, system_side
from nereval_core.report.score_tables import Cell, Sheet, cells, objects
from nereval_core.report.signature import signature, together

SHOWN_ROWS = 20
"""Rows of patterns and columns of types in printed tables; JSON, CSV and records have all."""
RATIOS = {"precision": "P", "recall": "R", "f1": "F1", "cumulative_f1": "F1 so far"}
LONG_COLUMNS = (
    *("system", "part", "criterion", "class", "name", "records", "share", "precision", "recall", "f1", "gain"),
    *("cumulative_f1", "cumulative_gain", "signature"),
)

EXAMPLE_COLUMNS = ("predicted_form", "gold_type", "pred_type", "document", "record", "example")

ErrorsBySystem = Mapping[str, ErrorReport]
FormsBySystem = Mapping[str, pd.DataFrame]


def errors_result(
    corpus: Corpus, found: ErrorsBySystem, *, by_type: bool, mend: Sequence[str], forms: int | None = None
) -> Result:
    """Return the errors in every form; `mend` are the classes mended in the prediction that `--out` writes.

    `forms` is how many forms of each class are printed, None for no table of forms.
    """

    @cache
    def frequent_forms() -> FormsBySystem:
        return {} if forms is None else {system: each.forms(forms) for system, each in found.items()}

    return Result(
        tables=lambda: (
            sheet
            for system, each in found.items()
            for sheet in sheets(system, each, by_type, frequent_forms().get(system))
        ),
        long=lambda: long_sheet(found, frequent_forms()),
        json=lambda: _json_object(corpus, found, frequent_forms()),
        title="errors",
        figures=lambda: [_figure(found)],
        frames={
            "records": lambda: join_records(
                (system, each.records().assign(signature=signature(each.scores, STRICT)))
                for system, each in found.items()
            )
        },
        files={"out": lambda place: _layer_file(next(iter(found.values())).mended(mend), place)},
    )


def _layer_file(layer: Layer, place: str) -> bytes:
    """Return a layer as the bytes of JSON lines, compressed as the suffix of its place says."""
    with TemporaryFolder() as folder:
        path = Path(folder) / f"mended{PurePath(place).suffix}"
        writers.write(layer, path, format="jsonl")
        return path.read_bytes()


def sheets(system: str, found: ErrorReport, by_type: bool, forms: pd.DataFrame | None = None) -> Iterator[Sheet]:
    """Yield the tables of one system: classes by criterion, ends, patterns, with `by_type` types, and `forms`."""
    signatures = together(signature(found.scores, name) for name in found.classes)
    for number, (name, table) in enumerate(found.classes.items()):
        shown = table.drop(columns="cumulative_gain").rename(columns=RATIOS)
        now = found.scores.counts(name)
        first = ("as it is", int(table["records"].sum()), None, now.precision, now.recall, now.f1, None, now.f1)
        sentence = sentence_text(found.sentence(name))
        falls = negative_gains_note(table)
        gained = "P, R and F1 with this class alone mended; F1 so far with all classes above mended too"
        placed = sentence_text(found.placing_sentence()) if not number else ""
        notes = (gained, sentence, *filter(None, (falls, placed)))
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
            f"{system}: text that predictions of class boundary only omit or add",
            ("pattern", "end", "records", "share"),
            tuple((name, end, count, share) for end, name, count, share in cells(found.patterns.head(SHOWN_ROWS))),
            (f"{counted(hidden, 'more pattern')} in --csv and --json",) if hidden > 0 else (),
        )
    if by_type:
        yield _by_type(system, found)
    if forms is not None:
        yield _forms(system, found, forms)


def _by_type(system: str, found: ErrorReport) -> Sheet:
    sums = found.types.groupby("type")["records"].sum()
    kinds = sums.sort_values(ascending=False, kind="stable").index.tolist()
    cells = {(row[1], row.type): row.records for row in found.types.itertuples()}
    order = next(iter(found.classes.values()))["class"].tolist()
    rows = tuple((name, *(cells.get((name, kind), 0) for kind in kinds[:SHOWN_ROWS])) for name in order)
    hidden = len(kinds) - SHOWN_ROWS
    notes = (f"{counted(hidden, 'more type')} in --csv and --json",) if hidden > 0 else ()
    return Sheet(f"{system}: error classes by type", ("class", *map(str, kinds[:SHOWN_ROWS])), rows, notes)


def _forms(system: str, found: ErrorReport, forms: pd.DataFrame) -> Sheet:
    shown = forms.drop(columns="record").rename(
        columns=lambda name: name.replace("pred_", "predicted_").replace("_", " ")
    )
    table = next(iter(found.classes.values()))
    records = dict(zip(table["class"], table["records"], strict=True))
    sums = {str(name): int(total) for name, total in forms.groupby("class", sort=False)["records"].sum().items()}
    hidden = [f"{records[name] - total} of {name}" for name, total in sums.items() if total < records[name]]
    notes = (
        "example: the first of them, with the form in brackets",
        *([f"records of other forms: {', '.join(hidden)}"] if hidden else []),
    )
    return Sheet(
        f"{system}: most frequent forms of each class",
        tuple(shown.columns),
        cells(shown),
        notes,
        texts=(0, 1, 2, 3, 4, 6, 7),
    )


def long_sheet(found: ErrorsBySystem, forms: FormsBySystem = MappingProxyType({})) -> Sheet:
    """Return all tables of all systems as one with LONG_COLUMNS, before the signature EXAMPLE_COLUMNS if it has forms.

    `part` is class, type, ends, pattern or form; `name` is the type, the ends, the pattern with its end, or the form.
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
    if not forms:
        return Sheet("errors", LONG_COLUMNS, tuple(rows))
    blank = (None,) * len(EXAMPLE_COLUMNS)
    rows = [(*row[:-1], *blank, row[-1]) for row in rows]
    for system, table in forms.items():
        signed = signature(found[system].scores, STRICT)
        for counted_form, example in zip(
            cells(table[["class", "form", "records"]]), cells(table[[*EXAMPLE_COLUMNS]]), strict=True
        ):
            rows.append((system, "form", STRICT, *counted_form, None, *none, None, *example, signed))
    return Sheet("errors", (*LONG_COLUMNS[:-1], *EXAMPLE_COLUMNS, LONG_COLUMNS[-1]), tuple(rows))


def _json_object(corpus: Corpus, found: ErrorsBySystem, forms: FormsBySystem) -> dict[str, Any]:
    gold = corpus.gold
    return {
        **head(gold),
        "systems": [
            {
                **system_side(gold, one),
                "signatures": {name: signature(each.scores, name) for name in each.classes},
                "criteria": {name: objects(table) for name, table in each.classes.items()},
                "types": objects(each.types),
                "ends": objects(each.ends),
                "patterns": objects(each.patterns),
                "words": list(each.words),
                **({"forms": objects(forms[system])} if system in forms else {}),
            }
            for one, (system, each) in zip(corpus.systems, found.items(), strict=True)
        ],
    }


def _figure(found: ErrorsBySystem) -> Figure:
    from nereval_core.report.figures.errors import gain_bars

    name = next(iter(next(iter(found.values())).classes))
    counts = [each.scores.counts(name) for each in found.values()]
    classes = {system: each.classes[name] for system, each in found.items()}
    return gain_bars(classes, name, counts[0].pos, [each.act for each in counts])
