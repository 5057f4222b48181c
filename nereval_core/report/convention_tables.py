"""Scores of published scorers as JSON, sheets and records."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from nereval_core.conventions import Outcome
from nereval_core.conventions.records import OVERALL
from nereval_core.report.json_results import versions
from nereval_core.scoring.count_tables import TEXT_DTYPE
from nereval_core.tables import Cell, Table, columns_of

if TYPE_CHECKING:
    import pandas as pd

Published = Sequence[tuple[str, Outcome]]
"""The name of each system and its outcome; all outcomes have the same convention and the same gold."""

LONG = ("system", "convention", "evaluation", "scope", "figure", "value", "counted", "signature")


def published_results(outcomes: Published) -> dict[str, Any]:
    """Return the object of `score --convention NAME --json`, with `scores` under the reference scorer's own names."""
    gold = outcomes[0][1].gold
    return {
        **versions(),
        "gold": {"sha256": gold.sha256, "documents": gold.documents, "spans": gold.spans},
        "systems": [
            {
                "name": name,
                "sha256": outcome.pred.sha256,
                "spans": outcome.pred.spans,
                "identical": bool(outcome.notices),
                "notices": list(outcome.notices),
                "convention": {
                    "name": outcome.convention,
                    "signature": outcome.signature,
                    "options": {key: _plain(value) for key, value in outcome.options.items()},
                    "notes": list(outcome.notes),
                    "scores": outcome.scores,
                },
            }
            for name, outcome in outcomes
        ],
    }


def published_tables(outcomes: Published, *, by_type: bool = False) -> tuple[Table, ...]:
    """Return a table for each system: a row per evaluation, with `by_type` per scope; the figures are columns."""
    return tuple(_sheet(name, outcome, by_type) for name, outcome in outcomes)


def published_long(outcomes: Published) -> Table:
    """Return all figures of all systems as one table with the columns of LONG."""
    rows: list[tuple[Cell, ...]] = []
    for name, outcome in outcomes:
        signed = outcome.signature
        rows += [
            (name, outcome.convention, *place, figure, value, str(counted).lower(), signed)
            for *place, figure, value, counted in _rows(outcome)
        ]
    return Table("scores", columns_of(*LONG), tuple(rows))


def published_records(outcomes: Published) -> pd.DataFrame:
    """Return the records of all systems: `system`, the columns of an outcome's records, `signature`."""
    import pandas as pd

    frames = []
    for name, outcome in outcomes:
        frame = outcome.records()
        frame.insert(0, "system", name)
        frame["signature"] = outcome.signature
        frames.append(frame)
    kinds = {column: "category" for column in frames[0] if frames[0][column].dtype == "category"}
    plain = dict.fromkeys(kinds, TEXT_DTYPE)
    whole = pd.concat([frame.astype(plain) for frame in frames], ignore_index=True)
    return whole.astype({**kinds, "system": "category", "signature": "category"})


def _sheet(name: str, outcome: Outcome, by_type: bool) -> Table:
    table: dict[tuple[str, str], dict[str, Cell]] = {}
    for evaluation, scope, figure, value, _ in _rows(outcome):
        if by_type or scope == OVERALL:
            table.setdefault((evaluation, scope), {})[figure] = value
    columns = list(dict.fromkeys(figure for row in table.values() for figure in row))
    rows = tuple((*place, *(row.get(column) for column in columns)) for place, row in table.items())
    title = f"{name}: {outcome.convention}"
    return Table(title, columns_of("evaluation", "scope", *columns), rows, (*outcome.notes, outcome.signature))


def _plain(value: Any) -> Any:
    return str(value) if isinstance(value, PurePath) else value


def _rows(outcome: Outcome) -> list[tuple[str, str, str, Cell, bool]]:
    table = outcome.figures
    return [
        (evaluation, scope, figure, None if value != value else int(value) if counted else value, counted)
        for evaluation, scope, figure, value, counted in zip(
            *(table[column].tolist() for column in ("evaluation", "scope", "figure", "value", "counted")), strict=True
        )
    ]
