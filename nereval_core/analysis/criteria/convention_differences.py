"""Published scorers beside criteria: span by span with the rule behind each difference, and one prediction under all.

A scorer and its equivalent criterion seldom give the same counts. Each span is looked up in the records of both; where
the decisions differ, the convention's own name for its rule (`why`) identifies the quirk.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from nereval_core.conventions import Convention, Outcome
from nereval_core.conventions.records import OVERALL
from nereval_core.problems import FormatError
from nereval_core.records.tables import records
from nereval_core.report.signature import signature
from nereval_core.scoring import Scores
from nereval_core.scoring.count_tables import TEXT_DTYPE, Columns, typed_table

_PLACE_COLUMNS: Columns = {
    "side": "category",
    "document": "category",
    "record": TEXT_DTYPE,
    "start": "int64",
    "end": "int64",
    "type": "category",
    "text": TEXT_DTYPE,
}
SPAN_COLUMNS: Columns = {**_PLACE_COLUMNS, "decision": TEXT_DTYPE, "why": TEXT_DTYPE, "doc": "int64"}
"""Columns of `span_decisions` and their dtypes: a row for each span of a side (`gold` or `pred`), offsets in code
points, end exclusive. `record` is the id of the span's record."""

DIFFERENCE_COLUMNS: Columns = {
    **_PLACE_COLUMNS,
    **dict.fromkeys(("theirs", "ours", "quirk", "our_reason"), "category"),
    "moves": "bool",
    "doc": "int64",
}
"""Columns of `differences` and their dtypes. `moves` is true if the span's credit differs, or one of the two does not
count it; otherwise only the name of the mistake differs. `record` is our record where there is one."""

GROUP_COLUMNS = ("quirk", "theirs", "ours", "moves", "count")

ABSENT = "none"
"""The decision on a span that only the other of the two has."""
NOT_THEIRS = "the convention has no such span: it reads the tags otherwise, or leaves the span out"
NOT_OURS = "no such span here: the convention reads the tags otherwise"

_CREDIT = {"COR": 2, "PAR": 1, "INC": 0, "MIS": 0, "SPU": 0}
_KEY = ["predicted", "doc", "start", "end", "kind", "number"]
OURS, PUBLISHED = "criterion", "published"
TABLE_COLUMNS: Columns = {
    "row": TEXT_DTYPE,
    "kind": "category",
    **dict.fromkeys(("P", "R", "F1"), "float64"),
    **dict.fromkeys(("COR", "POS", "ACT"), "Int64"),
    "signature": TEXT_DTYPE,
}
"""Columns of `criteria_table` and their dtypes. Ratios are from 0 to 1, NaN where undefined (a published scorer's 0
stays); counts are there if the scorer gives whole numbers."""


def twin_criterion(convention: Convention, evaluation: str) -> str | None:
    """Return the criterion of ours that is equivalent to an evaluation, None where there is none.

    `twins` may name the whole path of an evaluation, a part of it (the last one named counts), or "" for all.
    """
    if not convention.beside_layer.isdisjoint(evaluation.split("/")):
        return None
    parts = (evaluation, *reversed(evaluation.split("/")), "")
    return next((convention.twins[part] for part in parts if part in convention.twins), None)


def span_decisions(records: pd.DataFrame, *, why: str) -> pd.DataFrame:
    """Return the decision on each span in match records, or in a convention's records of one evaluation and scope.

    `why` names the column with the reason. A span in several records with different decisions has them all, joined by
    "+". Records of units that are not pieces of text (codes, surface forms) are ignored.
    """
    if "unit" in records.columns:
        records = records[(records["unit"] == "span").to_numpy()]
    sides = [_decisions_of_side(records, side, why) for side in ("gold", "pred")]
    return pd.concat(sides, ignore_index=True).astype(dict(SPAN_COLUMNS))


def differences(outcome: Outcome, evaluation: str, scores: Scores, criterion: str) -> pd.DataFrame:
    """Return the spans that a convention and a criterion of ours decide differently: DIFFERENCE_COLUMNS.

    `scores` should neither merge nor leave out types, as conventions do not. Types are compared without case, which
    some scorers change.

    Raises:
        FormatError: the evaluation does not count spans.
    """
    theirs = outcome.records(evaluation)
    theirs = theirs[(theirs["scope"] == OVERALL).to_numpy()]
    if len(theirs) and not (theirs["unit"] == "span").any():
        finding = f"evaluation {evaluation} of {outcome.convention} counts each {theirs['unit'].iat[0]}, not spans"
        raise FormatError.single(outcome.convention, None, finding, "compare an evaluation that counts spans")
    ours = span_decisions(records(scores, criterion), why="reason")
    return differing_decisions(span_decisions(theirs, why="why"), ours)


def differing_decisions(theirs: pd.DataFrame, ours: pd.DataFrame) -> pd.DataFrame:
    """Return the spans that two tables of SPAN_COLUMNS decide differently: DIFFERENCE_COLUMNS.

    Types are compared without case, and not at all if the two tables have none in common.
    """
    names = [{str(kind).casefold() for kind in table["type"].dropna().unique()} for table in (theirs, ours)]
    # A scorer of a single type may give it another name: then spans are compared by place alone.
    shared = len({*names[0]} & {*names[1]}) > 0
    kinds = {name: code if shared else 0 for code, name in enumerate(sorted(names[0] | names[1]))}
    left, right = (_with_keys(table, kinds) for table in (theirs, ours))
    both = left.merge(right, on=_KEY, how="outer", suffixes=("_theirs", "_ours"), sort=True)
    theirs_decided, ours_decided = both["decision_theirs"].fillna(ABSENT), both["decision_ours"].fillna(ABSENT)
    parts = (theirs_decided != ours_decided).to_numpy()
    both, theirs_decided, ours_decided = both[parts], theirs_decided[parts], ours_decided[parts]

    def either(name: str) -> pd.Series:
        mine = both[f"{name}_ours"].astype("object")
        return mine.where(both["decision_ours"].notna(), both[f"{name}_theirs"].astype("object"))

    table = pd.DataFrame(
        {
            **{name: either(name) for name in ("side", "document", "record")},
            "start": both["start"],
            "end": both["end"],
            **{name: either(name) for name in ("type", "text")},
            "theirs": theirs_decided,
            "ours": ours_decided,
            "quirk": both["why_theirs"].fillna(NOT_THEIRS),
            "our_reason": both["why_ours"].fillna(NOT_OURS),
            "moves": theirs_decided.map(_CREDIT).to_numpy() != ours_decided.map(_CREDIT).to_numpy(),
            "doc": both["doc"],
        },
        columns=list(DIFFERENCE_COLUMNS),
    )
    order = np.lexsort((both["predicted"], both["end"], both["start"], both["doc"]))
    return table.iloc[order].reset_index(drop=True).astype(dict(DIFFERENCE_COLUMNS))


def count_by_quirk(differing: pd.DataFrame) -> pd.DataFrame:
    """Return the number of differing spans for each quirk: GROUP_COLUMNS, those that move the score first."""
    table = differing.groupby(list(GROUP_COLUMNS[:-1]), observed=True).size().rename("count").reset_index()
    table = table.sort_values(["moves", "count", "quirk", "theirs", "ours"], ascending=[False, False, True, True, True])
    return table[list(GROUP_COLUMNS)].reset_index(drop=True)


def _decisions_of_side(records: pd.DataFrame, side: str, why: str) -> pd.DataFrame:
    """Return the spans of one side, each once, in the order of their numbers."""
    rows = records[
        (records["side"].isin(("both", side)) & (records[side] >= 0) & records[f"{side}_start"].notna()).to_numpy()
    ]
    table = pd.DataFrame(
        {
            "side": side,
            "document": rows["document"].astype("object"),
            "record": rows["record"],
            "start": rows[f"{side}_start"].astype("int64"),
            "end": rows[f"{side}_end"].astype("int64"),
            "type": rows[f"{side}_type"].astype("object"),
            "text": rows[f"{side}_text"],
            "decision": rows["decision"].astype(TEXT_DTYPE),
            "why": rows[why].astype(TEXT_DTYPE),
            "doc": rows["doc"].astype("int64"),
            "unit": rows[side],
        }
    ).sort_values("unit", kind="stable")
    several = table["unit"].duplicated(keep=False).to_numpy()
    if several.any():
        # A span that a scorer counts more than once keeps its first place and all its decisions.
        joined = table[several].groupby("unit")[["decision", "why"]].agg(_join_distinct)
        table = table.drop_duplicates("unit")
        again = table["unit"].isin(joined.index)
        table.loc[again, ["decision", "why"]] = joined.loc[table.loc[again, "unit"]].to_numpy()
    return table.drop(columns="unit")


def _join_distinct(values: pd.Series) -> str:
    return "+".join(sorted(set(values))) if values.name == "decision" else "; ".join(dict.fromkeys(values))


def _with_keys(table: pd.DataFrame, kinds: Mapping[str, int]) -> pd.DataFrame:
    """Return the table with the columns _KEY, which identify a span; equal spans are numbered in the order of texts."""
    codes = np.array([kinds.get(str(kind).casefold(), 0) for kind in table["type"].cat.categories], np.int64)
    of_type = codes[table["type"].cat.codes] if len(codes) else np.zeros(len(table), np.int64)
    table = table.assign(predicted=(table["side"] == "pred").to_numpy(), kind=of_type, number=0)
    again = table[table.duplicated(_KEY, keep=False)].sort_values("text", kind="stable")
    if len(again):
        table.loc[again.index, "number"] = again.groupby(_KEY).cumcount()
    return table


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
        counted = (counts.cor, counts.pos, counts.act)
        rows.append(
            CriterionRow(criterion.name, "", criterion.name, ratios, counted, signature(scores, criterion.name))
        )
    return tuple(rows)


def convention_rows(convention: Convention, outcome: Outcome) -> tuple[CriterionRow, ...]:
    """Return a row for each evaluation of a published scorer that has an equivalent criterion and P, R and F1 of spans.

    Of a scorer with several columns or slices only the first is shown.
    """
    figures = outcome.figures[(outcome.figures["scope"] == OVERALL).to_numpy()]
    table: dict[str, dict[str, float]] = {}
    for evaluation, figure, value in zip(figures["evaluation"], figures["figure"], figures["value"], strict=True):
        table.setdefault(str(evaluation), {})[str(figure)] = float(value)
    names, scale = convention.ratios.names, 100 if convention.ratios.percent else 1
    twins = [name for name, row in table.items() if twin_criterion(convention, name) and names.get("F1") in row]
    first = twins[0].rpartition("/")[0] if twins else ""

    def whole(row: Mapping[str, float], code: str) -> int | None:
        value = row.get(names.get(code, ""))
        return None if value is None or not float(value).is_integer() else int(value)

    rows = []
    for evaluation in (name for name in twins if name.rpartition("/")[0] == first):
        row = table[evaluation]
        printed = (row.get(names[code], float("nan")) / scale for code in ("P", "R", "F1"))
        precision, recall, f1 = (None if ratio != ratio else ratio for ratio in printed)
        cor, pos, act = (whole(row, code) for code in ("COR", "POS", "ACT"))
        means = twin_criterion(convention, evaluation) or ""
        rows.append(
            CriterionRow(
                convention.name, evaluation, means, (precision, recall, f1), (cor, pos, act), outcome.signature
            )
        )
    return tuple(rows)


def order_rows(ours: Sequence[CriterionRow], published: Iterable[CriterionRow]) -> tuple[CriterionRow, ...]:
    """Return all rows with published scorers below their equivalent criteria, and those without one last."""
    rest = list(published)
    rows: list[CriterionRow] = []
    for row in ours:
        rows += [row, *(other for other in rest if other.criterion == row.criterion)]
    return (*rows, *(other for other in rest if other not in rows))


def criteria_table(rows: Sequence[CriterionRow]) -> pd.DataFrame:
    """Return rows as a table with TABLE_COLUMNS."""
    rows_shown = [
        (row.label, PUBLISHED if row.evaluation else OURS, *row.ratios, *row.counts, row.signature) for row in rows
    ]
    return typed_table(rows_shown, TABLE_COLUMNS)
