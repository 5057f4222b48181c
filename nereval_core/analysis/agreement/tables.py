"""Tables of an agreement: figures of all annotators, of each two, by type and by document, and the human ceiling."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from nereval_core.analysis.agreement import Agreement
from nereval_core.analysis.agreement.coefficients import FIGURES, Group, Pair, is_symmetric
from nereval_core.analysis.agreement.gamma import GAMMA
from nereval_core.analysis.agreement.human_ceiling import CEILING_TEST, HumanCeiling
from nereval_core.analysis.agreement.summary import LABELS, figure_label, undefined_reasons
from nereval_core.analysis.crosstab import ALL
from nereval_core.analysis.resampling_units import ResamplingPlan
from nereval_core.problems import counted
from nereval_core.scoring.count_tables import free_name
from nereval_core.tables import (
    CRITERION,
    DIFFERENCE,
    SYSTEM,
    UNDEFINED,
    Cell,
    Column,
    Table,
    columns_by_name,
    frame_table,
    p_value_text,
    value_with_interval,
)

COUNTED_UNITS: Mapping[str, str] = {
    "f1": "spans",
    "observed": "tokens",
    "kappa": "tokens",
    "alpha": "tokens",
    "unitizing": "units",
    GAMMA: "units",
}
"""The things that n counts."""
NOTE = Column("note", kind="text")


def figure_table(agreement: Agreement, group: Group, criteria: Sequence[str], notes: tuple[str, ...] = ()) -> Table:
    """Return each figure of all types together, with its interval and the number of things that it counts."""
    rows: list[tuple[Cell, ...]] = []
    for number, name in enumerate(criteria):
        table = agreement.rows(group, criterion=name)
        for row in table[table["type"].isna()].to_dict("records"):
            is_f1 = row["figure"] == "f1"
            if not is_f1 and number:
                continue
            label = figure_label(row["figure"], group) + (f", {name}" if is_f1 else "")
            by_token = is_f1 and agreement.criterion(name).unit == "token"
            over = f"{row['n']:,} {'typed tokens' if by_token else COUNTED_UNITS[row['figure']]}"
            numbers = (None if pd.isna(row[key]) else float(row[key]) for key in ("value", "low", "high"))
            rows.append((label, *numbers, over, _row_note(row, agreement)))
    # F1 under every criterion comes first.
    rows.sort(key=lambda row: not str(row[0]).endswith(tuple(f", {name}" for name in criteria)))
    ends = (Column(key, kind="ratio") for key in ("value", "low", "high"))
    columns = (Column("figure", kind="name"), *ends, Column("over", kind="text"), NOTE)
    return Table(f"Agreement of {_group_name(agreement, group)}", columns, tuple(rows), notes, name="agreement")


def _group_name(agreement: Agreement, group: Group) -> str:
    names = agreement.annotators
    return " and ".join(names[number] for number in group) if group else counted(len(names), "annotator")


def _row_note(row: Mapping[Hashable, Any], agreement: Agreement) -> str:
    away = f"undefined in {row['undefined']:,} of {agreement.plan.resamples:,} resamples, left out"
    parts = [str(row["why"]), away if row["undefined"] and not pd.isna(row["value"]) else ""]
    return "; ".join(filter(None, parts))


def agreement_type_table(agreement: Agreement, group: Group, criterion: str) -> Table:
    """Return each figure of each type, with its interval; notes say why some are undefined."""
    table = agreement.rows(group, criterion=criterion)
    rows: list[tuple[Cell, ...]] = []
    for type_name, of_type in table[table["type"].notna()].groupby("type", sort=True):
        by_figure = {str(row["figure"]): row for row in of_type.to_dict("records")}
        # A criterion may count tokens or merge types, so that n of F1 is not always the number of spans.
        spans = by_figure["unitizing" if "unitizing" in by_figure else "f1"]["n"]
        rows.append((str(type_name), int(spans), *(_estimate(by_figure, figure) for figure in FIGURES)))
    figures = (Column(figure, figure_label(figure, group), "estimate") for figure in FIGURES)
    columns = (Column("type", kind="name"), Column("spans", kind="count"), *figures)
    notes = undefined_reasons(agreement, group, criterion)
    return Table(f"By type, F1 under {criterion}", columns, tuple(rows), notes, name="agreement-types")


def _estimate(rows: Mapping[str, Mapping[Hashable, Any]], figure: str) -> str:
    """Return a figure with its interval as text."""
    if figure not in rows:
        return UNDEFINED
    row = rows[figure]
    return value_with_interval(row["value"], row["low"], row["high"])


def pair_table(agreement: Agreement, criteria: Sequence[str], notes: tuple[str, ...] = ()) -> Table:
    """Return F1 under each criterion and the other figures of each pair of annotators.

    Where a criterion is not symmetric, both orders have a row, with `one` as gold. Where each pair was compared on
    documents of its own, `documents` is their number.
    """
    has_order = any(not is_symmetric(agreement.criterion(name)) for name in criteria)
    reverse = [(second, first) for first, second in agreement.pairs] if has_order else []
    figures = (*FIGURES[1:], *((GAMMA,) if agreement.table["figure"].eq(GAMMA).any() else ()))
    rows = []
    for pair in sorted([*agreement.pairs, *reverse]):
        cells: list[Cell] = [agreement.annotators[number] for number in pair]
        cells += [shared_documents(agreement, pair)] if agreement.parts else []
        for name in criteria:
            table = agreement.rows(pair, criterion=name)
            by_figure = {str(row["figure"]): row for row in table[table["type"].isna()].to_dict("records")}
            cells.append(_estimate(by_figure, "f1"))
        rows.append((*cells, *(_estimate(by_figure, figure) for figure in figures)))
    columns = (
        Column("one", kind="name"),
        Column("other", kind="name"),
        *([Column("documents", kind="count")] if agreement.parts else []),
        *columns_by_name((f"F1, {name}" for name in criteria), "estimate"),
        *(Column(figure, LABELS[figure], "estimate") for figure in figures),
    )
    return Table("Agreement of each pair", columns, tuple(rows), notes, name="agreement-pairs")


def shared_documents(agreement: Agreement, pair: Pair) -> int:
    """Return the number of documents that two annotators were compared on."""
    part = agreement.parts.get((min(pair), max(pair)))
    layers = part.layers if part else agreement.layers
    return len(layers[0].documents) if layers else 0


def pair_matrix(agreement: Agreement, figure: str, criterion: str) -> pd.DataFrame:
    """Return a figure of each pair of annotators, NaN on the diagonal; the row's annotator is gold if that matters."""
    names = list(agreement.annotators)
    rows = agreement.table[
        agreement.table["one"].notna() & agreement.table["type"].isna() & agreement.table["figure"].eq(figure)
    ]
    both_ways = True
    if figure == "f1":
        rows, both_ways = rows[rows["criterion"].eq(criterion)], is_symmetric(agreement.criterion(criterion))
    values = np.full((len(names), len(names)), np.nan)
    for first, second, value in zip(rows["one"], rows["other"], rows["value"], strict=True):
        at = names.index(first), names.index(second)
        values[at] = value
        if both_ways:
            values[at[::-1]] = value
    return pd.DataFrame(values, index=names, columns=names)


def matrix_table(agreement: Agreement, figure: str, criterion: str) -> Table:
    """Return `pair_matrix` as a table, annotators down and across."""
    names = agreement.annotators
    key = free_name("annotator", names)
    frame = pair_matrix(agreement, figure, criterion).reset_index(names=key)
    title = f"{LABELS[figure]} of each pair" + (f" under {criterion}" if figure == "f1" else "")
    columns = (Column(key, key, "name"), *columns_by_name(names, "ratio"))
    return frame_table(title, frame, columns, name=f"agreement-{figure}")


def agreement_document_table(agreement: Agreement, group: Group, criterion: str) -> Table:
    """Return each figure of each document, with a note why one is undefined."""
    frame = agreement.by_document(group, criterion=criterion).rename(columns={"why": "note"})
    columns = [
        Column("document", kind="name"),
        *(Column(key, kind="count") for key in ("spans", "tokens")),
        *(Column(figure, figure_label(figure, group), "ratio") for figure in FIGURES),
        *([NOTE] if frame["note"].ne("").any() else []),
    ]
    of_pair = f" of {_group_name(agreement, group)}" if agreement.parts and group else ""
    return frame_table(f"By document{of_pair}, F1 under {criterion}", frame, columns, name="agreement-documents")


DISAGREEMENT_MEANINGS: Mapping[str, str] = {
    ALL: "match records on which the two do not agree under the matching criterion",
    "only one": "the span is aligned with none of the other annotator",
    "only other": "the span is aligned with none of the reference",
    "types differ": "the two spans are aligned and have different types, whatever their boundaries",
    "boundaries differ": "the two spans are aligned and have one type, but other boundaries",
    "agree": "the criterion takes the two spans for the same",
}


def disagreement_table(
    title: str, frame: pd.DataFrame, one: str = "the first", other: str = "the second", *, name: str
) -> Table:
    """Return the numbers of records on which two annotators disagree, by the first column of a frame."""
    headings = {"only one": f"only {one}", "only other": f"only {other}", ALL: "all disagreements"}
    counts = (
        Column(kind, headings.get(kind, kind), "count", meaning=meaning)
        for kind, meaning in DISAGREEMENT_MEANINGS.items()
    )
    return frame_table(title, frame, (Column(str(frame.columns[0]), kind="name"), *counts), name=name)


def ceiling_table(ceiling: HumanCeiling, plan: ResamplingPlan, notes: tuple[str, ...] = ()) -> Table:
    """Return systems against the agreement of annotators with one another, with tests."""
    frame = ceiling.table.rename(columns={"why": "note"})
    texts = {
        key: [p_value_text(p, plan.resamples, raw) for p, raw in zip(frame[key], frame["p"], strict=True)]
        for key in ("p", "p_holm")
    }
    columns = (
        *([CRITERION] if frame["criterion"].nunique() > 1 else []),
        SYSTEM,
        Column("f1", "F1 with annotators", "ratio"),
        Column("annotators_f1", "F1 between annotators", "ratio"),
        *DIFFERENCE,
        Column("p", kind="p"),
        Column("p_holm", "p after Holm", "p"),
        Column("documents", kind="count"),
        *([NOTE] if frame["note"].ne("").any() else []),
    )
    title = "Systems against the human ceiling"
    return frame_table(title, frame.assign(**texts), columns, (*notes, CEILING_TEST), name="agreement-ceiling")
