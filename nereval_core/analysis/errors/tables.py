"""Tables of the errors of one system: classes with their gains, ends, patterns of boundaries, types and forms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pandas as pd

from nereval_core.analysis.errors import ErrorReport, errors_query, group_query, negative_gains_note
from nereval_core.analysis.errors.error_classes import MISSED, SPURIOUS, STRICT, classify_errors, rescore
from nereval_core.problems import counted
from nereval_core.scoring import Counts
from nereval_core.scoring.count_tables import free_name
from nereval_core.tables import (
    F1,
    PRECISION,
    RATIO_KEYS,
    RECALL,
    RECORDS,
    SHARE,
    Cell,
    Column,
    FormulaOf,
    Opens,
    RecordsOf,
    Row,
    Table,
    cells,
    columns_by_name,
    frame_table,
)

MOST_ROWS = 20
"""Rows of patterns and columns of types in printed tables; data for programs and pages have all."""
WITHIN = "… "
"""The beginning of the name of a group within the one above it."""
CHANCE_NOTE = (
    "patterns are more frequent in their context than elsewhere, by the log-likelihood ratio (Dunning 1993); many "
    "contexts are tried, so that a few may be chance"
)
AS_IT_IS = "as it is"
"""The first row of the classes: the scores without any class mended."""


def error_class_table(report: ErrorReport, criterion: str, system: str) -> Table:
    """Return the records of each class and the scores with the class mended, the largest gain first.

    A count opens the records of its class, a ratio the formula of the mended scores.
    """
    frame, now = report.classes[criterion], report.scores.counts(criterion)
    order = frame["class"].tolist()

    def records_of(row: Row) -> RecordsOf:
        name = str(row["class"])
        query = errors_query() if name == AS_IT_IS else errors_query(("class", name))
        return RecordsOf(query, "all errors" if name == AS_IT_IS else name, STRICT)

    def formula_of(ratio: str, cumulative: bool = False) -> Opens:
        def formula(row: Row) -> FormulaOf:
            name = str(row["class"])
            if name == AS_IT_IS:
                return FormulaOf(ratio, lambda: now, f"{ratio} as it is", criterion)
            classes = order[: order.index(name) + 1] if cumulative else [name]

            def mended_counts() -> Counts:
                return rescore(report.scores, report.mended(classes), criterion)

            title = f"{ratio} with {', '.join(classes)} mended"
            return FormulaOf(ratio, mended_counts, title, criterion, now=now)

        return formula

    columns = (
        Column("class", "error class", "name"),
        Column("records", kind="count", opens=records_of),
        Column("share", kind="share", opens=records_of),
        *(
            Column(ratio.key, ratio.heading, "ratio", ratio.term, opens=formula_of(ratio.heading))
            for ratio in (PRECISION, RECALL, F1)
        ),
        Column(
            "gain",
            "F1 gained",
            "difference",
            meaning="F1 with this class alone mended, less F1 as it is",
            opens=formula_of("F1"),
        ),
        Column(
            "cumulative_f1",
            "F1 so far",
            "ratio",
            meaning="F1 with all classes above mended too",
            opens=formula_of("F1", True),
        ),
    )
    keys = [column.key for column in columns]
    first = (AS_IT_IS, int(frame["records"].sum()), None, now.precision, now.recall, now.f1, None, now.f1)
    falls = negative_gains_note(frame)
    apart = unaligned_note(report)
    notes = ("P, R and F1: with this class alone mended", *filter(None, (falls, apart)))
    title = f"{system}: error classes, F1 under {criterion}"
    return Table(title, columns, (first, *cells(frame[keys])), notes, name="error-classes")


def unaligned_note(report: ErrorReport) -> str:
    """Return why classes count fewer missed and spurious spans than the decisions do, "" where they count as many."""
    counts = report.scores.counts(STRICT)
    records = classify_errors(report.scores).counts()
    notes = []
    for number, code, spans, index, others in (
        (counts.mis, "MIS", "missed gold spans", MISSED, "merged"),
        (counts.spu, "SPU", "spurious predictions", SPURIOUS, "split or duplicate"),
    ):
        if number > records[index]:
            notes.append(f"of {number:,} {spans} ({code}) {records[index]:,} have that class, the others {others}")
    return "; ".join(notes)


def end_table(report: ErrorReport, system: str) -> Table:
    """Return the records with wrong boundaries: the ends of the prediction down, the classes across."""
    ends = report.ends
    grid = ends.pivot(index="ends", columns="class", values="records").reindex(ends["ends"].unique())
    return _grid_table(f"{system}: ends of wrong boundaries", grid, Column("ends", "the prediction is", "name"), "ends")


def type_table(report: ErrorReport, system: str, most: int) -> Table:
    """Return the records of each class by type, the `most` types with most errors."""
    grid = report.types.pivot_table(
        index="class", columns="type", values="records", aggfunc="sum", fill_value=0, sort=False
    )
    types = grid.sum().sort_values(ascending=False, kind="stable").index
    order = next(iter(report.classes.values()))["class"]
    grid = grid.reindex(order, fill_value=0)[types[:most]]
    return _grid_table(
        f"{system}: error classes by type",
        grid,
        Column("class", "error class", "name", meaning="the type is that of the gold span, else of the prediction"),
        "types",
        hidden_note(len(types) - most, "more type"),
    )


def _grid_table(title: str, grid: pd.DataFrame, heading: Column, name: str, notes: tuple[str, ...] = ()) -> Table:
    """Return counts of records by what the rows and columns of a grid are called; each opens its records."""
    down, across = heading.key, str(grid.columns.name)
    labels = list(map(str, grid.columns))
    # A type may be called as the column of classes is.
    columns = [replace(heading, key=free_name(down, labels))]
    for label in labels:

        def records_of(row: Row, label: str = label) -> RecordsOf:
            name = str(row[columns[0].key])
            return RecordsOf(errors_query((down, name), (across, label)), f"{name}, {label}", STRICT)

        columns.append(Column(label, label, "count", opens=records_of))
    rows: list[tuple[Cell, ...]] = [
        (str(down), *counts) for down, counts in zip(grid.index, grid.to_numpy().tolist(), strict=True)
    ]
    return Table(title, tuple(columns), tuple(rows), notes, name=f"class-{name}")


def pattern_table(report: ErrorReport, system: str, rows: slice = slice(None)) -> Table:
    """Return some rows of the words that predictions of class boundary only leave out or take in."""

    def records_of(row: Row) -> RecordsOf:
        pattern, end = str(row["pattern"]), str(row["end"])
        query = errors_query(("class", "boundary only"), (f"pattern {end}", pattern))
        return RecordsOf(query, f"{pattern}, {end}", STRICT)

    columns = (
        Column("pattern", "the prediction …", "name", opens=records_of),
        Column("end", "at its end", "text", opens=records_of),
        Column("records", kind="count", opens=records_of),
        Column("share", kind="share", meaning="of all records of class boundary only", opens=records_of),
    )
    title = f"{system}: text that predictions of class boundary only omit or add"
    return frame_table(title, report.patterns.iloc[rows], columns, name="error-patterns")


def group_table(frame: pd.DataFrame, criterion: str, system: str, rows: slice = slice(None)) -> Table:
    """Return some groups of errors; `frame` has GROUP_COLUMNS, and those within a larger group are indented."""
    frame = frame.iloc[rows]
    is_within = frame["within"].notna()
    sentences = frame["group"].where(~is_within, WITHIN + frame["group"])
    keys = dict(zip(sentences, frame["key"], strict=True))

    def records_of(row: Row) -> RecordsOf:
        name = str(row["group"])
        return RecordsOf(group_query(keys[name]), name.removeprefix(WITHIN), criterion)

    columns = (
        Column("group", "pattern", "name", opens=records_of),
        Column("records", kind="count", opens=records_of),
        Column(
            "spans", "of", "count", meaning="gold spans in this context; predictions, where nothing is there in gold"
        ),
        Column("share", kind="share", opens=records_of),
        Column("elsewhere", kind="share", meaning="the share among the other spans"),
        Column("gain", "F1 gained", "difference", meaning="F1 with these records decided correct, less F1 as it is"),
        Column("example", kind="text", meaning="[taken in] and ~left out~ by the prediction"),
    )
    title = f"{system}: patterns of errors under {criterion}"
    table = frame_table(title, frame.assign(group=sentences), columns, name="error-groups")
    return replace(table, notes=(*table.notes, CHANCE_NOTE))


def form_table(report: ErrorReport, forms: pd.DataFrame, system: str) -> Table:
    """Return the most frequent forms of each class; `forms` has FORM_COLUMNS."""
    classes = next(iter(report.classes.values()))
    records = dict(zip(classes["class"], classes["records"], strict=True))
    totals = {str(name): int(total) for name, total in forms.groupby("class", sort=False)["records"].sum().items()}
    hidden = [f"{records[name] - total} of {name}" for name, total in totals.items() if total < records[name]]
    columns = (
        Column("class", "error class", "name"),
        *(Column(key, kind="text") for key in ("form", "predicted_form")),
        Column("gold_type", kind="name"),
        Column("pred_type", "predicted type", "name"),
        RECORDS,
        Column("document", kind="name"),
        Column("example", kind="text", meaning="the first of them, with the form in brackets"),
    )
    notes = (f"records of other forms: {', '.join(hidden)}",) if hidden else ()
    return frame_table(f"{system}: most frequent forms of each class", forms, columns, notes, name="error-forms")


def hidden_note(number: int, noun: str) -> tuple[str, ...]:
    """Return the note on rows or columns that a printed table leaves out, () where there are none."""
    return (f"{counted(number, noun)} in CSV and JSON",) if number > 0 else ()


LONG_COLUMNS: Sequence[Column] = (
    *(Column(key) for key in ("system", "part", "criterion", "class", "name")),
    *(RECORDS, SHARE),
    *columns_by_name((*RATIO_KEYS.values(), "gain", "cumulative_f1", "cumulative_gain"), "ratio"),
)
"""Columns of the long table of all parts, before those of examples and the signature."""
