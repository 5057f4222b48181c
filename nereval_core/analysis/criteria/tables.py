"""Tables of criteria: all of them with published scorers, two compared, rescued errors, merges, proxies and ladders."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

import pandas as pd

from nereval_core.analysis.criteria.convention_differences import (
    ABSENT,
    CriterionRow,
    count_by_quirk,
    criteria_table,
)
from nereval_core.analysis.criteria.gap import ELSEWHERE, KINDS, OVERLAPPED, WHOLLY, Gap, RecoveredSpans
from nereval_core.analysis.criteria.ladder import LEFT_OUT
from nereval_core.analysis.criteria.steps import Step
from nereval_core.records.queries import BETWEEN, Query
from nereval_core.report.colours import LOOKS
from nereval_core.scoring.count_tables import free_name
from nereval_core.tables import (
    CRITERION,
    F1,
    RATIO_KEYS,
    RATIOS,
    SHARED_COUNTS,
    Cell,
    Column,
    Opens,
    RecordsOf,
    Row,
    Table,
    columns_by_name,
    frame_table,
)
from nereval_core.tables.glossary import DECISIONS, decision_label

COR, *_, POS, ACT = SHARED_COUNTS


def all_criteria_table(rows: Sequence[CriterionRow], steps: Mapping[str, Step]) -> Table:
    """Return a row for each criterion and each published scorer.

    `steps` are those of the ladder by criterion: what a criterion forgives against the one above it, by kind of cause.
    """
    frame = criteria_table(rows).rename(columns=dict(RATIO_KEYS))
    of_row = [steps.get(row.name) if not row.evaluation else None for row in rows]
    kinds = [kind for kind in KINDS if any(part.kind == kind for step in steps.values() for part in step.parts)]
    columns = [Column("row", "criterion or scorer", "name"), *RATIOS]
    if any(step.above for step in steps.values()):
        frame["difference"] = _of_steps(of_row, lambda step: float(step.difference), "float64")
        columns.append(Column("difference", "against above", "difference", meaning="F1 less F1 of the step above"))
    for kind in kinds:
        frame[kind] = _of_steps(of_row, partial(_part_of_kind, kind=kind), "float64")
        columns.append(Column(kind, kind, "difference", meaning=KINDS_IN_WORDS[kind]))
    if kinds:
        for key, gains in (("gain", True), ("lose", False)):
            frame[key] = _of_steps(of_row, partial(_spans_of, gains=gains), "Int64")
            columns.append(Column(key, kind="count", meaning=f"gold spans that {key} credit against the step above"))
    return frame_table("Scores under every criterion", frame, [*columns, COR, POS, ACT], name="every")


KINDS_IN_WORDS: Mapping[str, str] = {
    "boundaries": "part of the difference that boundaries make",
    "types": "part of the difference that types make",
    "both": "part of the difference that boundaries and types make at once",
    ELSEWHERE: "part of the difference of spans that are aligned with another span, or no longer",
}


def _of_steps(steps: Sequence[Step | None], value: Callable[[Step], float | int | None], dtype: str) -> pd.Series:
    """Return a value of each step as a column, missing for rows without a step and for the first one."""
    return pd.Series([None if step is None or not step.above else value(step) for step in steps], dtype=dtype)


def _part_of_kind(step: Step, kind: str) -> float | None:
    parts = [part.f1 for part in step.parts if part.kind == kind]
    return float(sum(parts)) if parts else None


def _spans_of(step: Step, gains: bool) -> int:
    return sum(part.spans for part in step.parts if part.gains == gains)


def difference_table(
    title: str, differing: pd.DataFrame, theirs: str, ours: str, notes: tuple[str, ...] = (), *, name: str
) -> Table:
    """Return the number of spans that a scorer and a criterion of ours decide differently, by rule and decisions."""
    groups = count_by_quirk(differing)
    frame = groups.assign(
        credit=["differs" if moves else "the same" for moves in groups["moves"]],
        **{side: [decisions_in_words(codes) for codes in groups[side]] for side in ("theirs", "ours")},
    )
    credit = "whether the span earns more or less there, or only bears another name"
    columns = (
        Column("count", "spans", "count"),
        Column("credit", kind="text", meaning=credit),
        Column("theirs", theirs, "text"),
        Column("ours", ours, "text"),
        Column("quirk", f"rule of {theirs}", "text"),
    )
    return frame_table(title, frame, columns, notes, name=name)


def decisions_in_words(codes: str) -> str:
    """Return decisions, joined by plus signs, with their glyphs and names."""
    return " + ".join(_in_words(code) for code in str(codes).split("+"))


def _in_words(code: str) -> str:
    if code in LOOKS:
        return f"{LOOKS[code].glyph} {decision_label(code)}"
    return {"IGN": "· passed over", ABSENT: "no such span"}.get(code, code)


def gap_table(gap: Gap, title: str, notes: tuple[str, ...] = ()) -> Table:
    """Return the causes of the gap between two criteria; counts open the gold spans that gain or lose."""

    def opens(gain: str) -> Opens:
        def target(row: Row) -> RecordsOf:
            cause = str(row["cause"])
            between = f"{gap.strict}{BETWEEN}{gap.loose}"
            having = ((f"gap {between}", cause), *([(f"credit {between}", gain)] if gain else []))
            title = f"{cause}, {gap.strict} to {gap.loose}"
            return RecordsOf(Query(decision=DECISIONS, having=having), title)

        return target

    parts = "2 · credit / (POS + ACT); the parts add up to the gap"
    columns = (
        Column("cause", kind="name", opens=opens("")),
        Column("more", "spans that gain", "count", opens=opens("more")),
        Column("less", "spans that lose", "count", opens=opens("less")),
        Column("credit", kind="ratio", meaning="COR earns 1, PAR a half", opens=opens("")),
        Column("f1", "part of F1", "difference", meaning=parts, opens=opens("")),
        Column("share", "share of gap", "share", opens=opens("")),
    )
    return frame_table(title, gap.table(), columns, notes, name="gap")


def decision_table(counts: pd.DataFrame, criterion: str, other: str, title: str, notes: tuple[str, ...] = ()) -> Table:
    """Return spans by their decisions under a criterion (rows) and another (columns), without empty ones.

    `counts` is a `decision_matrix`.
    """
    codes = [code for code in DECISIONS if counts.loc[code].sum() or code == DECISIONS[0]]
    across = [code for code in DECISIONS if counts[code].sum()]
    code_of = {decision_label(code): code for code in codes}
    first = Column(free_name(criterion, across), f"{criterion} \\ {other}", "name")

    def opens(then: str) -> Column:
        def target(row: Row) -> RecordsOf:
            code = code_of[str(row[first.key])]
            title = f"{code} under {criterion}, {then} under {other}"
            return RecordsOf(Query(decision=(code,), having=((f"under {other}", then),)), title, criterion)

        return Column(then, then, "count", then, opens=target)

    grid = counts.loc[codes, across].to_numpy().tolist()
    rows = tuple((label, *numbers) for label, numbers in zip(code_of, grid, strict=True))
    return Table(title, (first, *map(opens, across)), rows, notes, name="decisions")


def curve_table(frame: pd.DataFrame, system: str, notes: tuple[str, ...] = ()) -> Table:
    """Return the scores at each least overlap at which they change; `frame` has CURVE_COLUMNS."""
    fractions = zip(frame["numerator"].tolist(), frame["denominator"].tolist(), strict=True)
    exact = frame.assign(fraction=[f"{numerator}/{denominator}" for numerator, denominator in fractions])
    columns = (Column("minimum", "least overlap", "ratio"), Column("fraction", "exactly", "p"), COR, *RATIOS)
    return frame_table(f"{system}: scores against the least overlap", exact, columns, notes, name="overlap")


def recovered_table(recovered: RecoveredSpans, title: str, notes: tuple[str, ...] = ()) -> Table:
    """Return gold spans that a criterion does not credit, by the first that does; a row opens them."""

    def target(row: Row) -> RecordsOf:
        name = str(row["recovered"])
        credited = name if name in (OVERLAPPED, WHOLLY) else f"credited by {name}"
        query = replace(recovered.query(name), decision=DECISIONS)
        return RecordsOf(query, f"Not found under {recovered.first}, {credited}", recovered.first)

    uncredited = f"{OVERLAPPED}: all overlapping predictions are aligned with others; {WHOLLY}: none overlaps it"
    columns = (
        Column("recovered", "first credited by", "name", meaning=uncredited, opens=target),
        Column("spans", "gold spans", "count", opens=target),
        Column("share", "share of those missed", "share", opens=target),
        Column("recall", "recall down to here", "ratio", opens=target),
    )
    return frame_table(title, recovered.table(), columns, notes, name="recovered")


def merged_score_table(frame: pd.DataFrame, title: str, notes: tuple[str, ...] = ()) -> Table:
    """Return scores without and with merged types; `frame` is a `merging_table`."""
    merged = (Column("COR_after", "COR merged", "count", "COR"), Column("f1_after", "F1 merged", "ratio", "F1"))
    difference = Column("difference", kind="difference")
    return frame_table(title, frame, (CRITERION, COR, merged[0], F1, merged[1], difference), notes, name="merging")


def vanished_table(frame: pd.DataFrame, title: str, merging: str = "", notes: tuple[str, ...] = ()) -> Table:
    """Return confusions that merging removes; counts open their records as they are without the merge.

    `merging` is the attribute of records that has their decision after merging.
    """

    def target(is_correct: bool, row: Row) -> RecordsOf:
        gold, pred = str(row["gold_type"]), str(row["pred_type"])
        having = ((merging, "COR"),) if is_correct else ()
        title = f"{gold} taken for {pred}{', correct once merged' if is_correct else ''}"
        return RecordsOf(Query(decision=DECISIONS, gold=(gold,), pred=(pred,), having=having), title)

    columns = (
        Column("gold_type", kind="name"),
        Column("pred_type", "predicted type", "name"),
        Column("pairs", "aligned pairs", "count", opens=lambda row: target(False, row)),
        Column("correct", "correct once merged", "count", opens=lambda row: target(True, row)),
    )
    return frame_table(title, frame, columns, notes, name="gone")


def proxy_criterion_table(frame: pd.DataFrame, reference: str, notes: tuple[str, ...] = ()) -> Table:
    """Return how well each criterion stands in for a reference; `frame` has PROXY_COLUMNS."""
    texts = frame.assign(
        t=frame["t"].map("{:.2f}".format, na_action="ignore"), p=frame["p"].map("{:.1e}".format, na_action="ignore")
    )
    columns = (
        CRITERION,
        Column("n", kind="count", meaning="folds of systems with an F1 under both criteria"),
        Column("undefined", kind="count", meaning="folds of systems without an F1: no spans on either side"),
        Column("f1", "mean F1", "ratio"),
        Column("difference", "mean difference", "difference", meaning=f"F1 less F1 under {reference}"),
        Column("t", kind="p", meaning="paired t-test, two-sided, n − 1 degrees of freedom"),
        Column("p", kind="p"),
        Column("r", kind="ratio", meaning="Pearson's correlation over the n values"),
    )
    return frame_table(f"criteria that could stand in for {reference}", texts, columns, notes, name="stand-in")


def fold_table(frame: pd.DataFrame, criterion: str, reference: str) -> Table:
    """Return F1 of a system in each fold of documents: `fold`, `documents`, `records`, `f1` and `reference`."""
    columns = (
        Column("fold", kind="count"),
        Column("documents", kind="count"),
        Column("records", f"records under {criterion}", "count"),
        Column("f1", f"F1 under {criterion}", "ratio"),
        Column("reference", f"F1 under {reference}", "ratio"),
    )
    return frame_table(f"Folds under {criterion} and {reference}", frame, columns, name="folds")


def ladder_grid(ladder: pd.DataFrame, labels: Sequence[tuple[str, str]]) -> Table:
    """Return what each criterion makes of each pair of a record: pairs down, criteria across.

    `ladder` has LADDER_COLUMNS, `labels` are the gold span and the prediction of each pair. In brackets stands what the
    pair would get, had the criterion aligned it.
    """
    pairs = dict.fromkeys(ladder["pair"].tolist())
    names = list(dict.fromkeys(ladder["criterion"].tolist()))
    values: dict[tuple[int, str], Cell] = {
        (pair, name): _decision_cell(decision, aligned)
        for pair, name, decision, aligned in ladder[["pair", "criterion", "decision", "aligned"]].itertuples(
            index=False
        )
    }
    columns = (Column("gold", "gold span", "name"), Column("pred", "prediction", "name"))
    rows = tuple((*label, *(values[pair, name] for name in names)) for pair, label in zip(pairs, labels, strict=True))
    return Table("Decisions on the pairs of a record", (*columns, *columns_by_name(names, "text")), rows, name="ladder")


def ladder_table(ladder: pd.DataFrame, title: str, notes: tuple[str, ...] = ()) -> Table:
    """Return the steps of pairs: each criterion's decision, and the smallest change that flips the record.

    `ladder` has LADDER_COLUMNS.
    """
    decided = zip(ladder["decision"].tolist(), ladder["aligned"].tolist(), strict=True)
    columns = (
        Column("gold_record", "gold span", "name"),
        Column("pred_record", "prediction", "name"),
        CRITERION,
        Column("decision", kind="text", meaning="in brackets: what the pair would get, had the criterion aligned it"),
        Column("change", "smallest change of the prediction that flips the record", "text"),
        Column("partner", "aligned with", "text"),
    )
    frame = ladder.assign(decision=[_decision_cell(*pair) for pair in decided])
    return frame_table(title, frame, columns, notes, name="steps")


def _decision_cell(decision: str, aligned: bool) -> str:
    if decision == LEFT_OUT:
        return LEFT_OUT
    return f"{LOOKS[decision].glyph} {decision}" if aligned else f"({decision})"
