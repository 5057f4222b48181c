"""One prediction under every criterion and every published scorer: a row each, beside what means the same."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from nereval_core.analysis.criteria.convention_differences import twin
from nereval_core.conventions import Convention, Outcome
from nereval_core.conventions.outcome import OVERALL
from nereval_core.report.signature import signature
from nereval_core.scoring import Scores
from nereval_core.scoring.criteria import CRITERIA

OURS, PUBLISHED = "criterion", "published"
TABLE_COLUMNS: Mapping[str, str] = {
    "row": "str",
    "kind": "category",
    "P": "float64",
    "R": "float64",
    "F1": "float64",
    "COR": "Int64",
    "POS": "Int64",
    "ACT": "Int64",
    "signature": "str",
}
"""Columns of `table` and their dtypes: ratios from 0 to 1, NaN where undefined (a published scorer's 0 stays); counts
where they are whole and the scorer gives them."""


@dataclass(frozen=True, slots=True)
class Row:
    """A criterion of ours (`evaluation` is empty), or an evaluation of a published scorer, with its figures.

    `criterion` is the criterion itself or the one that means the same, empty where there is none.
    """

    name: str
    evaluation: str
    criterion: str
    ratios: tuple[float | None, float | None, float | None]
    counts: tuple[int | None, int | None, int | None]
    signature: str

    @property
    def label(self) -> str:
        """What the row is called: of an evaluation of columns and slices its last part, which says the rule."""
        return f"{self.name}: {self.evaluation.rpartition('/')[2]}" if self.evaluation else self.name


def criteria_rows(scores: Scores) -> tuple[Row, ...]:
    """Return a row for each criterion, micro averaged."""
    rows = []
    for criterion in scores.criteria:
        counts = scores.counts(criterion.name)
        ratios = (counts.precision, counts.recall, counts.f1)
        found = (counts.cor, counts.pos, counts.act)
        rows.append(Row(criterion.name, "", criterion.name, ratios, found, signature(scores, criterion.name)))
    return tuple(rows)


def convention_rows(convention: Convention, outcome: Outcome) -> tuple[Row, ...]:
    """Return a row for each evaluation of a published scorer that has P, R and F1 of spans and means what one of ours
    does; of a scorer of several columns or slices, those of the first."""
    figures = outcome.figures[(outcome.figures["scope"] == OVERALL).to_numpy()]
    table: dict[str, dict[str, float]] = {}
    for evaluation, figure, value in zip(figures["evaluation"], figures["figure"], figures["value"], strict=True):
        table.setdefault(str(evaluation), {})[str(figure)] = float(value)
    names, scale = convention.names, 100 if convention.percent else 1
    known = [name for name, row in table.items() if twin(convention, name) and names.get("F1") in row]
    first = known[0].rpartition("/")[0] if known else ""

    def whole(row: Mapping[str, float], code: str) -> int | None:
        value = row.get(names.get(code, ""))
        return None if value is None or not float(value).is_integer() else int(value)

    return tuple(
        Row(
            convention.name,
            evaluation,
            twin(convention, evaluation) or "",
            tuple(_defined(table[evaluation].get(names[code]), scale) for code in ("P", "R", "F1")),  # type: ignore[arg-type]
            tuple(whole(table[evaluation], code) for code in ("COR", "POS", "ACT")),  # type: ignore[arg-type]
            outcome.signature,
        )
        for evaluation in known
        if evaluation.rpartition("/")[0] == first
    )


def _defined(value: float | None, scale: int) -> float | None:
    return None if value is None or value != value else value / scale


def ordered(ours: Sequence[Row], published: Iterable[Row]) -> tuple[Row, ...]:
    """Return the rows so that a published scorer stands below the criterion that means the same, others last."""
    rest = list(published)
    rows: list[Row] = []
    for row in ours:
        rows += [row, *(one for one in rest if one.criterion == row.criterion)]
    return (*rows, *(one for one in rest if one not in rows))


def table(rows: Sequence[Row]) -> pd.DataFrame:
    """Return rows as a frame with the columns of TABLE_COLUMNS."""
    made = [(row.label, PUBLISHED if row.evaluation else OURS, *row.ratios, *row.counts, row.signature) for row in rows]
    return pd.DataFrame(made, columns=list(TABLE_COLUMNS)).astype(dict(TABLE_COLUMNS))


def steps(rows: Sequence[Row]) -> tuple[tuple[Row, Row] | None, ...]:
    """Return each row with the nearest one above it whose spans it can be compared with, None where there is none.

    What is counted by token decides over no spans.
    """
    found: list[tuple[Row, Row] | None] = []
    above: Row | None = None
    for row in rows:
        by_token = not row.evaluation and row.name in CRITERIA and CRITERIA[row.name].unit == "token"
        found.append(None if by_token or above is None else (row, above))
        above = above if by_token else row
    return tuple(found)
