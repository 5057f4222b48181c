"""The concept ids of documents compared with gold's, as tables, JSON and records."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from nereval_core.analysis.linking.indexing import IndexScores, SetCounts, index_records
from nereval_core.cli.output import Result
from nereval_core.readers.shared.concepts import Index
from nereval_core.report.export import join_records
from nereval_core.report.json_results import versions
from nereval_core.scoring.averages import Average
from nereval_core.tables import RATIO_KEYS, RATIOS, Cell, Column, Table, columns_by_name, columns_of

COUNTED = ("right", "missing", "spurious", "gold", "predicted")
COUNT_COLUMNS = columns_by_name(COUNTED, "count")
SHOWN_NAMES = 10
"""Documents or ids that a note names."""


class IndexedSystem(NamedTuple):
    """A system's codes with their scores and signature."""

    name: str
    codes: Index
    scores: IndexScores
    signature: str


def index_result(gold: Index, systems: Sequence[IndexedSystem], by: Sequence[str]) -> Result:
    """Return the scores in every form; `by` breaks them down by "document", by "id", or both."""
    return Result(
        tables=lambda: _tables(systems, by),
        long=lambda: _long(systems, by),
        json=lambda: _json_object(gold, systems, by),
        frames={"records": lambda: join_records((one.name, index_records(one.scores)) for one in systems)},
    )


def _json_object(gold: Index, systems: Sequence[IndexedSystem], by: Sequence[str]) -> dict[str, Any]:
    def side(one: Index) -> dict[str, Any]:
        return {"sha256": one.digest, "documents": len(one.documents), "ids": sum(map(len, one.documents.values()))}

    return {
        **versions(),
        "gold": side(gold),
        "systems": [
            {
                "name": one.name,
                **side(one.codes),
                "index": {
                    "signature": one.signature,
                    **_counts(one.scores.counts),
                    "macro_document": _averages(one.scores.macro_documents()),
                    "macro_id": _averages(one.scores.macro_ids()),
                    "documents_only_in_gold": list(one.scores.only_gold),
                    "documents_without_gold": list(one.scores.only_pred),
                    "ids_without_gold": list(one.scores.ids_without_gold),
                    **{key: {k: _counts(c) for k, c in rows.items()} for key, rows in _parts(one.scores, by, "s")},
                },
            }
            for one in systems
        ],
    }


def _counts(counts: SetCounts) -> dict[str, Any]:
    numbers = {name: getattr(counts, name) for name in COUNTED}
    return numbers | {"precision": counts.precision, "recall": counts.recall, "f1": counts.f1}


def _averages(averages: Mapping[str, Average]) -> dict[str, Any]:
    return {name: {"value": one.value, "n": one.n, "undefined": one.undefined} for name, one in averages.items()}


def _parts(scores: IndexScores, by: Sequence[str], plural: str = "") -> Iterator[tuple[str, Mapping[str, SetCounts]]]:
    if "document" in by:
        yield f"document{plural}", scores.by_document
    if "id" in by:
        yield f"id{plural}", scores.by_id


def _tables(systems: Sequence[IndexedSystem], by: Sequence[str]) -> list[Table]:
    tables = []
    for one in systems:
        rows = [("micro", *_cells(one.scores.counts))]
        for name, means in (("documents", one.scores.macro_documents()), ("ids", one.scores.macro_ids())):
            values = tuple(means[ratio].value for ratio in RATIO_KEYS.values())
            rows.append((f"macro over {name}", *(None,) * len(COUNTED), *values))
        tables.append(
            Table(
                one.name,
                (Column("average", kind="name"), *COUNT_COLUMNS, *RATIOS),
                tuple(rows),
                (*_notes(one), one.signature),
            )
        )
        for part, members in _parts(one.scores, by):
            cells = tuple((name, *_cells(counts)) for name, counts in members.items())
            tables.append(Table(f"{one.name} by {part}", (Column(part, kind="name"), *COUNT_COLUMNS, *RATIOS), cells))
    return tables


def _notes(one: IndexedSystem) -> Iterator[str]:
    """Yield notes on documents and ids on one side only, and on undefined ratios that means leave out."""
    scores = one.scores
    for what, names in (
        ("documents missing from the prediction, their ids counted as missing", scores.only_gold),
        ("documents without gold, their ids counted as spurious", scores.only_pred),
        ("predicted ids that gold has in no document", scores.ids_without_gold),
    ):
        if names:
            shown = ", ".join(names[:SHOWN_NAMES]) + (", …" if len(names) > SHOWN_NAMES else "")
            yield f"{what}: {len(names)} ({shown})"
    wrong = len(scores.wrong_documents)
    yield f"documents with a missing or spurious id: {wrong} of {len(scores.by_document)}"
    for unit, means in (("documents", scores.macro_documents()), ("ids", scores.macro_ids())):
        left = [
            f"{means[ratio].undefined} of {short}"
            for ratio, short in zip(means, RATIOS, strict=True)
            if means[ratio].undefined
        ]
        if left:
            yield f"macro over {unit}: undefined and left out: {', '.join(left)}"


def _cells(counts: SetCounts) -> tuple[Cell, ...]:
    numbers = tuple(getattr(counts, name) for name in COUNTED)
    return (*numbers, counts.precision, counts.recall, counts.f1)


def _long(systems: Sequence[IndexedSystem], by: Sequence[str]) -> Table:
    """Return all numbers as one table for programs and spreadsheets; `part` is all, document, id or a macro average."""
    rows: list[tuple[Cell, ...]] = []
    for one in systems:
        rows.append((one.name, "all", None, *_cells(one.scores.counts), one.signature))
        for name, means in (("documents", one.scores.macro_documents()), ("ids", one.scores.macro_ids())):
            values = tuple(means[ratio].value for ratio in RATIO_KEYS.values())
            rows.append((one.name, f"macro over {name}", None, *(None,) * len(COUNTED), *values, one.signature))
        for part, members in _parts(one.scores, by):
            rows += [(one.name, part, name, *_cells(counts), one.signature) for name, counts in members.items()]
    return Table(
        "index", columns_of("system", "part", "name", *COUNTED, *RATIO_KEYS.values(), "signature"), tuple(rows)
    )
