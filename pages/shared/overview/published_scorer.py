"""A published scorer on a page: its figures, the records that make each count, and where ours parts from it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from nereval_core.analysis.criteria.convention_differences import count_by_quirk, twin_criterion
from nereval_core.analysis.criteria.tables import decisions_in_words, difference_table
from nereval_core.conventions import Convention, Outcome
from nereval_core.problems import FormatError
from nereval_core.records.tables import records as match_records
from nereval_core.report.signature import signature
from nereval_core.tables import Column, frame_table
from pages.shared.components import navigation
from pages.shared.components.downloads import table_key
from pages.shared.components.records import (
    AROUND,
    CONTEXT_COLUMNS,
    RECORD_COLUMNS,
    in_context,
    list_table,
    record_box,
    short,
)
from pages.shared.components.tables import ROWS, first_row, show_table
from pages.shared.data import caches
from pages.shared.data.convention_results import (
    counts_of,
    figures_table,
    formula,
    ordered_evaluations,
    records_of_count,
    values_of,
)
from pages.shared.data.page_context import PageContext
from pages.shared.overview import tables
from pages.shared.view import keys
from pages.shared.view.queries import around
from pages.shared.view.text import count, named, plain, show_problems


def draw_scorer(page: PageContext, convention: Convention) -> None:
    """Show the scorer's figures, ours beside them, and the spans that the two decide differently."""
    st.header(f"As published: {plain(convention.name)}")
    st.caption(plain(f"{convention.sentence} {convention.source}.", 400))
    try:
        outcome = caches.outcome(page.loaded, page.system, convention.name)
    except FormatError as error:
        show_problems(error.lines())
        needs = f"{convention.name} needs {convention.needs}. What stands below is counted by {page.by}."
        st.caption(plain(needs, 400))
        return
    if outcome.notes:
        st.caption(plain("; ".join(outcome.notes), 600))
    evaluation = _evaluation(page, convention, outcome)
    _figures(page, convention, outcome, evaluation)
    criterion = twin_criterion(convention, evaluation)
    if criterion in page.criteria:
        compare_with_ours(page, convention, evaluation, criterion)
    else:
        st.caption(f"No criterion of ours that applies here means the same as {plain(evaluation)}.")
    st.caption("Signature of the published figures")
    st.code(outcome.signature, language=None, wrap_lines=True)


def _evaluation(page: PageContext, convention: Convention, outcome: Outcome) -> str:
    names = ordered_evaluations(outcome, convention)
    if len(names) == 1:
        return names[0]

    def label(name: str) -> str:
        criterion = twin_criterion(convention, name)
        elsewhere = convention.names_elsewhere.get(name.rpartition("/")[2])
        more = [*([elsewhere] if elsewhere else []), *([f"ours: {criterion}"] if criterion else [])]
        return f"{name} ({', '.join(more)})" if more else name

    key = table_key(f"{keys.WIDGET}evaluation", page.view.corpus, convention.name)
    return str(st.selectbox("Evaluation", names, format_func=label, key=key))


def _figures(page: PageContext, convention: Convention, outcome: Outcome, evaluation: str) -> None:
    """Show the figures; a count opens its records, a ratio its formula or where it is laid down."""
    frame, counts = figures_table(outcome, evaluation), counts_of(outcome, evaluation)
    counted = {figure for _, figure in counts}
    figures = [name for name in frame.columns if name != "scope"]
    columns = [Column("scope", kind="name")]
    columns += [Column(name, name, "count" if name in counted else "ratio") for name in figures]
    cell = show_table(
        page,
        frame_table(f"{page.system}: {convention.name}", frame, columns, name="published"),
        signature=outcome.signature,
        file=convention.name,
        choose=figures,
        facts=(page.view, evaluation),
        caption="The scorer's own names. Choose a count to see its records, a ratio to see how it is made.",
        height=420,
    )
    if cell is None:
        return
    scope, figure = str(frame["scope"].iat[cell.row]), cell.column
    if (scope, figure) in counts:
        records = caches.outcome_records(page.loaded, page.system, convention.name, evaluation)
        of_count = records_of_count(records, scope, figure)
        open_scorer_count(page, outcome, of_count, figure, f"{convention.name}, {scope}")
        return
    calculation = formula(convention, evaluation, figure, values_of(frame.iloc[cell.row]))
    if calculation:
        st.code(calculation, language=None, wrap_lines=True)
    st.caption(plain(f"{figure}, {scope}: as laid down by {convention.source}.", 400))


def open_scorer_count(page: PageContext, outcome: Outcome, records: pd.DataFrame, figure: str, of: str) -> None:
    """Show the records of a count of a scorer, which add up to it; choosing one shows it in its text."""
    value = int(records[figure].sum())
    weight = "" if value == len(records) else f", which count {value:,}"
    st.markdown(f"**{plain(figure)} of {plain(of)}: {count(len(records), 'record')}{weight}**")
    if records.empty:
        st.caption("No records.")
        return
    first = first_row(len(records), "published", page.view)
    part = records.iloc[first : first + ROWS]
    has_gold = (part["gold"] >= 0).to_numpy()
    starts, ends = (
        part[f"gold_{edge}"].where(has_gold, part[f"pred_{edge}"]).fillna(-1).astype("int64")
        for edge in ("start", "end")
    )
    # A row of tags or a unit of the scorer's own has no place in the text and is shown by its name.
    units = part["gold_text"].where(has_gold, part["pred_text"])
    lines = [
        (before, str(unit) if start < 0 else span, after)
        for (before, span, after), start, unit in zip(
            around(outcome.documents.texts, part["doc"], starts, ends, AROUND), starts, units, strict=True
        )
    ]
    values = {key: _texts(part[key]) for key in ("decision", "gold_type", "pred_type", "why", "document")}
    predicted = [text and short(text) for text in _texts(part["pred_text"])]
    counts = Column("counts", short(figure), "count")
    cell = show_table(
        page,
        list_table(
            "published",
            (RECORD_COLUMNS[0], counts, *RECORD_COLUMNS[1:]),
            values | in_context(lines) | {"counts": part[figure].tolist(), "pred_text": predicted},
        ),
        signature=outcome.signature,
        data=records,
        file="published-records",
        choose=[column.key for column in (*RECORD_COLUMNS, counts)],
        facts=(page.view, figure, first, tuple(part["record"])),
        hint="Choose a row to read it in its text.",
        prefix=keys.LIST,
        height=360,
    )
    if cell is not None:
        row = part.iloc[cell.row]
        _in_text(page, str(row["document"]), int(starts.iloc[cell.row]), int(ends.iloc[cell.row]), str(row["record"]))


def _texts(column: pd.Series) -> list[Any]:
    """Return a column of texts, None where they are missing."""
    texts = column.astype("object")
    return texts.where(texts.notna(), None).tolist()


def _in_text(page: PageContext, document: str, start: int, end: int, record: str) -> None:
    """Show our own record of the spans at a place in the text, with the link to the document."""
    scores = caches.reading(page.loaded, page.system, caches.as_read(page.loaded), page.by, document)
    records = match_records(scores, page.by)
    same = records[(records["record"] == record).to_numpy()]
    if same.empty:
        at_gold = (records["gold_start"] == start) & (records["gold_end"] == end)
        at_pred = (records["pred_start"] == start) & (records["pred_end"] == end)
        same = records[(at_gold | at_pred).fillna(False).to_numpy(bool)]
    view = replace(page.view, criterion=page.by, merge=(), leaveout=())
    if len(same):
        st.caption(f"What {plain(page.by)} says of it:")
        record_box(page, scores, view, same.iloc[0])
    else:
        st.caption("Under the criteria of nereval this is not a span of its own: the scorer reads the tags otherwise.")
        navigation.link_to("Inspect", f":primary[Read document {named(document)} →]", replace(view, doc=document))


def compare_with_ours(page: PageContext, convention: Convention, evaluation: str, criterion: str) -> None:
    """Show our own numbers under the criterion of the same meaning, and where the two part."""
    st.markdown(f"**Ours: {plain(criterion)}**")
    if page.view.merge or page.view.leaveout:
        st.caption("Merged types and types left out change ours only: a published scorer knows neither.")
    tables.by_criterion(page, (criterion,), name="twin")
    if page.view.merge or page.view.leaveout:
        st.caption("Merge no types and leave none out to see, span by span, where the two part.")
        return
    try:
        differing = caches.differing(page.loaded, page.system, convention.name, evaluation, criterion)
    except FormatError as error:
        st.caption(plain(str(error.problems[0]), 300))
        return
    signed = str(signature(caches.scores(page.loaded, page.system, caches.as_read(page.loaded)), criterion))
    list_differences(page, differing, signed, f"{convention.name}, {evaluation}", criterion)


def list_differences(
    page: PageContext, differing: pd.DataFrame, signed: str, theirs: str, ours: str, *, name: str = "differences"
) -> None:
    """Show how many spans two ways of scoring decide differently, by rule; a row opens its spans."""
    if differing.empty:
        st.success(f"{plain(theirs)} and {plain(ours)} decide every span alike.", icon=":material/check:")
        return
    spans = count(len(differing), "span")
    n_moves = int(differing["moves"].sum())
    st.markdown(f"**Where they part: {spans} decided differently, {n_moves:,} of them with another credit**")
    groups, title = count_by_quirk(differing), f"{theirs} and {ours}"
    table = difference_table(title, differing, short(theirs), short(ours), name=name)
    cell = show_table(
        page,
        table,
        signature=signed,
        data=differing.drop(columns="doc"),
        choose=table.keys,
        facts=(page.view, theirs, ours),
        caption="A row is a rule and what came of it; choose one to see its spans.",
        height=300,
    )
    if cell is None:
        return
    group = groups.iloc[cell.row]
    is_alike = [(differing[column] == group[column]).to_numpy() for column in ("quirk", "theirs", "ours")]
    of_group = differing[np.logical_and.reduce(is_alike)]
    st.markdown(f"**{plain(str(group['quirk']), 200)}: {count(len(of_group), 'span')}**")
    _spans(page, of_group, theirs, ours, name)


def _spans(page: PageContext, differing: pd.DataFrame, theirs: str, ours: str, name: str) -> None:
    first = first_row(len(differing), name, page.view)
    part = differing.iloc[first : first + ROWS]
    lines = around(page.loaded.corpus.documents.texts, part["doc"], part["start"], part["end"], AROUND)
    columns = (
        Column("side", kind="text"),
        *CONTEXT_COLUMNS,
        Column("type", kind="name"),
        Column("theirs", short(theirs), "text"),
        Column("ours", short(ours), "text"),
        Column("our_reason", kind="text"),
        Column("quirk", "rule of the scorer", "text"),
        Column("document", kind="name"),
    )
    values = {key: _texts(part[key]) for key in ("side", "type", "our_reason", "quirk", "document")}
    decisions = {side: [decisions_in_words(codes) for codes in part[side]] for side in ("theirs", "ours")}
    cell = show_table(
        page,
        list_table(name, columns, values | in_context(lines) | decisions),
        choose=[column.key for column in columns],
        facts=(page.view, first, tuple(part["record"]), tuple(part["side"])),
        prefix=keys.LIST,
        height=360,
    )
    if cell is not None:
        row = part.iloc[cell.row]
        _in_text(page, str(row["document"]), int(row["start"]), int(row["end"]), str(row["record"]))
