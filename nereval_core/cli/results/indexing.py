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
        frames={"records": lambda: join_records((indexed.name, index_records(indexed.scores)) for indexed in systems)},
    )


def _json_object(gold: Index, systems: Sequence[IndexedSystem], by: Sequence[str]) -> dict[str, Any]:
    def side(codes: Index) -> dict[str, Any]:
        return {
            "sha256": codes.digest,
            "documents": len(codes.documents),
            "ids": sum(map(len, codes.documents.values())),
        }

    return {
        **versions(),
        "gold": side(gold),
        "systems": [
            {
                "name": indexed.name,
                **side(indexed.codes),
                "index": {
                    "signature": indexed.signature,
                    **_counts(indexed.scores.counts),
                    "macro_document": _averages(indexed.scores.macro_documents()),
                    "macro_id": _averages(indexed.scores.macro_ids()),
                    "documents_only_in_gold": list(indexed.scores.only_gold),
                    "documents_without_gold": list(indexed.scores.only_pred),
                    "ids_without_gold": list(indexed.scores.ids_without_gold),
                    **{key: {k: _counts(c) for k, c in rows.items()} for key, rows in _parts(indexed.scores, by, "s")},
                },
            }
            for indexed in systems
        ],
    }


def _counts(counts: SetCounts) -> dict[str, Any]:
    numbers = {name: getattr(counts, name) for name in COUNTED}
    return numbers | {"precision": counts.precision, "recall": counts.recall, "f1": counts.f1}


def _averages(averages: Mapping[str, Average]) -> dict[str, Any]:
    return {
        name: {"value": average.value, "n": average.n, "undefined": average.undefined}
        for name, average in averages.items()
    }


def _parts(scores: IndexScores, by: Sequence[str], plural: str = "") -> Iterator[tuple[str, Mapping[str, SetCounts]]]:
    if "document" in by:
        yield f"document{plural}", scores.by_document
    if "id" in by:
        yield f"id{plural}", scores.by_id


def _tables(systems: Sequence[IndexedSystem], by: Sequence[str]) -> list[Table]:
    tables = []
    for indexed in systems:
        rows = [("micro", *_cells(indexed.scores.counts))]
        for name, means in (("documents", indexed.scores.macro_documents()), ("ids", indexed.scores.macro_ids())):
            values = tuple(means[ratio].value for ratio in RATIO_KEYS.values())
            rows.append((f"macro over {name}", *(None,) * len(COUNTED), *values))
        tables.append(
            Table(
                indexed.name,
                (Column("average", kind="name"), *COUNT_COLUMNS, *RATIOS),
                tuple(rows),
                (*_notes(indexed), indexed.signature),
            )
        )
        for part, members in _parts(indexed.scores, by):
            cells = tuple((name, *_cells(counts)) for name, counts in members.items())
            tables.append(
                Table(f"{indexed.name} by {part}", (Column(part, kind="name"), *COUNT_COLUMNS, *RATIOS), cells)
            )
    return tables


def _notes(indexed: IndexedSystem) -> Iterator[str]:
    """Yield notes on documents and ids on one side only, and on undefined ratios that means leave out."""
    scores = indexed.scores
    for what, names in (
        ("documents missing from the prediction, their ids counted as missing", scores.only_gold),
        ("documents without gold, their ids counted as spurious", scores.only_pred),
        ("predicted ids that gold has in no document", scores.ids_without_gold),
    ):
        if names:
            listed_names = ", ".join(names[:SHOWN_NAMES]) + (", …" if len(names) > SHOWN_NAMES else "")
            yield f"{what}: {len(names)} ({listed_names})"
    wrong = len(scores.wrong_documents)
    yield f"documents with a missing or spurious id: {wrong} of {len(scores.by_document)}"
    for unit, means in (("documents", scores.macro_documents()), ("ids", scores.macro_ids())):
        counts_left_out = [
            f"{mean.undefined} of {column.label}"
            for mean, column in zip(means.values(), RATIOS, strict=True)
            if mean.undefined
        ]
        if counts_left_out:
            yield f"macro over {unit}: undefined and left out: {', '.join(counts_left_out)}"


def _cells(counts: SetCounts) -> tuple[Cell, ...]:
    numbers = tuple(getattr(counts, name) for name in COUNTED)
    return (*numbers, counts.precision, counts.recall, counts.f1)


def _long(systems: Sequence[IndexedSystem], by: Sequence[str]) -> Table:
    """Return all numbers as one table for programs and spreadsheets; `part` is all, document, id or a macro average."""
    rows: list[tuple[Cell, ...]] = []
    for indexed in systems:
        rows.append((indexed.name, "all", None, *_cells(indexed.scores.counts), indexed.signature))
        for name, means in (("documents", indexed.scores.macro_documents()), ("ids", indexed.scores.macro_ids())):
            values = tuple(means[ratio].value for ratio in RATIO_KEYS.values())
            rows.append((indexed.name, f"macro over {name}", None, *(None,) * len(COUNTED), *values, indexed.signature))
        for part, members in _parts(indexed.scores, by):
            rows += [(indexed.name, part, name, *_cells(counts), indexed.signature) for name, counts in members.items()]
    return Table(
        "index", columns_of("system", "part", "name", *COUNTED, *RATIO_KEYS.values(), "signature"), tuple(rows)
    )
