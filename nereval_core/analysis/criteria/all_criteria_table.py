"""The table of one prediction under every criterion and every published scorer, equivalent rows together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from nereval_core.analysis.criteria.convention_differences import twin_criterion
from nereval_core.analysis.result_tables import typed_table
from nereval_core.conventions import Convention, Outcome
from nereval_core.conventions.outcome import OVERALL
from nereval_core.report.signature import signature
from nereval_core.scoring import Scores
from nereval_core.scoring.criteria import CRITERIA

OURS, PUBLISHED = "criterion", "published"
TABLE_COLUMNS: Mapping[str, str] = {
    "row": "str",
    "kind": "category",
    **dict.fromkeys(("P", "R", "F1"), "float64"),
    **dict.fromkeys(("COR", "POS", "ACT"), "Int64"),
    "signature": "str",
}
"""Columns of `criteria_table` and their dtypes. Ratios are from 0 to 1, NaN where undefined (a published scorer's 0
stays); counts are there if the scorer gives whole numbers."""


@dataclass(frozen=True, slots=True)
class CriterionRow:
    """A criterion of ours (`evaluation` is empty), or an evaluation of a published scorer, with its figures.

    `criterion` is the criterion itself or its equivalent, empty where there is none.
    """

    name: str
    evaluation: str
    criterion: str
    ratios: tuple[float | None, float | None, float | None]
    counts: tuple[int | None, int | None, int | None]
    signature: str

    @property
    def label(self) -> str:
        """The name of the row; of an evaluation's path only the last part, which names the rule."""
        return f"{self.name}: {self.evaluation.rpartition('/')[2]}" if self.evaluation else self.name


def criteria_rows(scores: Scores) -> tuple[CriterionRow, ...]:
    """Return a row for each criterion, micro averaged."""
    rows = []
    for criterion in scores.criteria:
        counts = scores.counts(criterion.name)
        ratios = (counts.precision, counts.recall, counts.f1)
        found = (counts.cor, counts.pos, counts.act)
        rows.append(CriterionRow(criterion.name, "", criterion.name, ratios, found, signature(scores, criterion.name)))
    return tuple(rows)


def convention_rows(convention: Convention, outcome: Outcome) -> tuple[CriterionRow, ...]:
    """Return a row for each evaluation of a published scorer that has an equivalent criterion and P, R and F1 of spans.

    Of a scorer with several columns or slices only the first is shown.
    """
    figures = outcome.figures[(outcome.figures["scope"] == OVERALL).to_numpy()]
    table: dict[str, dict[str, float]] = {}
    for evaluation, figure, value in zip(figures["evaluation"], figures["figure"], figures["value"], strict=True):
        table.setdefault(str(evaluation), {})[str(figure)] = float(value)
    names, scale = convention.names, 100 if convention.percent else 1
    known = [name for name, row in table.items() if twin_criterion(convention, name) and names.get("F1") in row]
    first = known[0].rpartition("/")[0] if known else ""

    def whole(row: Mapping[str, float], code: str) -> int | None:
        value = row.get(names.get(code, ""))
        return None if value is None or not float(value).is_integer() else int(value)

    rows = []
    for evaluation in (name for name in known if name.rpartition("/")[0] == first):
        row = table[evaluation]
        precision, recall, f1 = (_scaled_ratio(row.get(names[code]), scale) for code in ("P", "R", "F1"))
        cor, pos, act = (whole(row, code) for code in ("COR", "POS", "ACT"))
        means = twin_criterion(convention, evaluation) or ""
        rows.append(
            CriterionRow(
                convention.name, evaluation, means, (precision, recall, f1), (cor, pos, act), outcome.signature
            )
        )
    return tuple(rows)


def _scaled_ratio(value: float | None, scale: int) -> float | None:
    return None if value is None or value != value else value / scale


def order_rows(ours: Sequence[CriterionRow], published: Iterable[CriterionRow]) -> tuple[CriterionRow, ...]:
    """Return all rows with published scorers below their equivalent criteria, and those without one last."""
    rest = list(published)
    rows: list[CriterionRow] = []
    for row in ours:
        rows += [row, *(one for one in rest if one.criterion == row.criterion)]
    return (*rows, *(one for one in rest if one not in rows))


def criteria_table(rows: Sequence[CriterionRow]) -> pd.DataFrame:
    """Return rows as a table with TABLE_COLUMNS."""
    made = [(row.label, PUBLISHED if row.evaluation else OURS, *row.ratios, *row.counts, row.signature) for row in rows]
    return typed_table(made, TABLE_COLUMNS)


def comparable_neighbours(rows: Sequence[CriterionRow]) -> tuple[tuple[CriterionRow, CriterionRow] | None, ...]:
    """Return each row with the nearest row above whose spans it can be compared with, None where there is none.

    Criteria that count tokens do not decide over spans.
    """
    found: list[tuple[CriterionRow, CriterionRow] | None] = []
    above: CriterionRow | None = None
    for row in rows:
        by_token = not row.evaluation and row.name in CRITERIA and CRITERIA[row.name].unit == "token"
        found.append(None if by_token or above is None else (row, above))
        above = above if by_token else row
    return tuple(found)
