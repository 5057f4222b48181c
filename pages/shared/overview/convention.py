"""A published scorer on a page: its figures, the records that make each count, and where ours parts from it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from nereval_core.analysis.criteria.convention_differences import ABSENT, count_by_quirk, twin_criterion
from nereval_core.conventions import Convention, Outcome
from nereval_core.problems import FormatError
from nereval_core.records.tables import records as match_records
from nereval_core.report.colours import LOOKS
from nereval_core.report.signature import signature
from nereval_core.tables.glossary import DECISIONS, decision_label
from pages.shared.components import navigation
from pages.shared.components.count_table import (
    ROWS,
    count_table,
    decision_column,
    first_row,
    in_context,
    labels,
    short,
    table_key,
    table_of,
)
from pages.shared.components.downloads import Export
from pages.shared.components.record_list import AROUND, count, record_box
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
from pages.shared.view.text import plain, show_problems

GLYPHS = {code: f"{LOOKS[code].glyph} {decision_label(code)}" for code in DECISIONS} | {"IGN": "· passed over"}


def draw_scorer(page: PageContext, convention: Convention) -> None:
    """Show the scorer's figures, ours beside them, and the spans that the two decide differently."""
    st.header(f"As published: {plain(convention.name)}")
    st.caption(plain(f"{convention.sentence} {convention.source}.", 400))
    try:
        outcome = caches.outcome(page.loaded, page.system, convention.name)
    except FormatError as error:
        show_problems(error.lines())
        said = f"{convention.name} needs {convention.needs}. What stands below is counted by {page.by}."
        st.caption(plain(said, 400))
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

    def said(name: str) -> str:
        criterion = twin_criterion(convention, name)
        return f"{name} (ours: {criterion})" if criterion else name

    key = table_key(f"{keys.WIDGET}evaluation", page.view.corpus, convention.name)
    return str(st.selectbox("Evaluation", names, format_func=said, key=key))


def _figures(page: PageContext, convention: Convention, outcome: Outcome, evaluation: str) -> None:
    """Show the figures; a count opens its records, a ratio its formula or where it is laid down."""
    table = figures_table(outcome, evaluation)
    counts = counts_of(outcome, evaluation)
    whole = {name for _, name in counts}
    figures = [name for name in table.columns if name != "scope"]
    column = st.column_config.NumberColumn
    cell = count_table(
        table,
        "published",
        (page.view, evaluation),
        columns={"scope": st.column_config.TextColumn("scope", width=110, pinned=True)}
        | {name: column(name, format="localized" if name in whole else "%.4f") for name in figures},
        choose=figures,
        export=Export(table, outcome.signature, convention.name, key="published"),
        caption="The scorer's own names. Choose a count to see its records, a ratio to see how it is made.",
        height=420,
    )
    if cell is None:
        return
    scope, figure = str(table["scope"].iat[cell[0]]), cell[1]
    if (scope, figure) in counts:
        found = records_of_count(
            caches.outcome_records(page.loaded, page.system, convention.name, evaluation), scope, figure
        )
        open_scorer_count(page, outcome, found, figure, f"{convention.name}, {scope}")
        return
    made = formula(convention, evaluation, figure, values_of(table.iloc[cell[0]]))
    if made:
        st.code(made, language=None, wrap_lines=True)
    st.caption(plain(f"{figure}, {scope}: as laid down by {convention.source}.", 400))


def open_scorer_count(page: PageContext, outcome: Outcome, found: pd.DataFrame, figure: str, of: str) -> None:
    """Show the records of a count of a scorer; their contributions add up to it."""
    value = int(found[figure].sum())
    more = "" if value == len(found) else f", which count {value:,}"
    st.markdown(f"**{plain(figure)} of {plain(of)}: {count(len(found), 'record')}{more}**")
    list_scorer_records(page, outcome, found, figure)


def list_scorer_records(page: PageContext, outcome: Outcome, found: pd.DataFrame, figure: str) -> None:
    """List records of a scorer with their contributions to a count; choosing one shows it in its text."""
    if found.empty:
        st.caption("No records.")
        return
    first = first_row(len(found), "published", page.view)
    part = found.iloc[first : first + ROWS]
    has_gold = (part["gold"] >= 0).to_numpy()
    starts, ends = (
        part[f"gold_{edge}"].where(has_gold, part[f"pred_{edge}"]).fillna(-1).astype("int64")
        for edge in ("start", "end")
    )
    lines = around(outcome.documents.texts, part["doc"], starts, ends, AROUND)
    # A row of tags or a unit of the scorer's own has no place in the text and is shown by its name.
    units = part["gold_text"].where(has_gold, part["pred_text"])
    lines = [
        (before, str(unit) if start < 0 else span, after)
        for (before, span, after), start, unit in zip(lines, starts, units, strict=True)
    ]
    table = table_of(
        {
            "decision": labels(GLYPHS[code] for code in part["decision"]),
            "counts": part[figure].to_numpy(),
            **in_context(lines),
            "gold type": part["gold_type"].astype("object").to_numpy(),
            "predicted type": part["pred_type"].astype("object").to_numpy(),
            "predicted text": part["pred_text"].astype("object").map(short, na_action="ignore").to_numpy(),
            "why": part["why"].astype("object").to_numpy(),
            "document": part["document"].astype("object").to_numpy(),
        }
    )
    cell = count_table(
        table,
        "published",
        (page.view, figure, first, tuple(part["record"])),
        columns=_list_columns() | {"counts": st.column_config.NumberColumn(short(figure), width=80)},
        export=Export(found, outcome.signature, "published-records", key="published_records"),
        hint="Choose a row to read it in its text.",
        prefix=keys.LIST,
        height=360,
        placeholder="",
    )
    if cell is not None:
        row = part.iloc[cell[0]]
        _in_text(page, str(row["document"]), int(starts.iloc[cell[0]]), int(ends.iloc[cell[0]]), str(row["record"]))


def _list_columns() -> dict[str, Any]:
    text = st.column_config.TextColumn
    return {
        "decision": decision_column(140, {name: code if code in LOOKS else "" for code, name in GLYPHS.items()}),
        "side": text("side", width=55),
        "before": text("before", width=110, alignment="right"),
        "span": text("span", width=130, help="The gold span; where there is none, the prediction."),
        "after": text("after", width=110),
        "why": text("why", width=230),
        "rule": text("rule of the scorer", width=230),
        "our reason": text("our reason", width=180),
        "document": text("document", width=80),
    }


def _in_text(page: PageContext, document: str, start: int, end: int, record: str) -> None:
    """Show our own record of the spans at a place in the text, with the link to the document."""
    settings = caches.as_read(page.loaded)
    one = caches.reading(page.loaded, page.system, settings, page.by, document)
    near = match_records(one, page.by)
    same = near[(near["record"] == record).to_numpy()]
    if same.empty:
        at_gold = (near["gold_start"] == start) & (near["gold_end"] == end)
        at_pred = (near["pred_start"] == start) & (near["pred_end"] == end)
        same = near[(at_gold | at_pred).fillna(False).to_numpy(bool)]
    view = replace(page.view, criterion=page.by, merge=(), leaveout=())
    if len(same):
        st.caption(f"What {plain(page.by)} says of it:")
        record_box(page, one, view, same.iloc[0])
    else:
        st.caption("Under the criteria of nereval this is not a span of its own: the scorer reads the tags otherwise.")
        navigation.link_to("Inspect", f":primary[Read document {plain(document)} →]", replace(view, doc=document))


def compare_with_ours(page: PageContext, convention: Convention, evaluation: str, criterion: str) -> None:
    """Show our own numbers under the criterion of the same meaning, and where the two part."""
    st.markdown(f"**Ours: {plain(criterion)}**")
    if page.view.merge or page.view.leaveout:
        st.caption("Merged types and types left out change ours only: a published scorer knows neither.")
    tables.by_criterion(page, (criterion,), name="twin")
    try:
        found = caches.differing(page.loaded, page.system, convention.name, evaluation, criterion)
    except FormatError as error:
        st.caption(plain(str(error.problems[0]), 300))
        return
    both = f"{signature(caches.scores(page.loaded, page.system, caches.as_read(page.loaded)), criterion)}"
    list_differences(page, found, both, f"{convention.name}, {evaluation}", criterion)


def list_differences(
    page: PageContext, found: pd.DataFrame, said: str, theirs: str, ours: str, *, name: str = "differences"
) -> None:
    """Show how many spans two ways of scoring decide differently, by rule; a row opens its spans."""
    if found.empty:
        st.success(f"{plain(theirs)} and {plain(ours)} decide every span alike.", icon=":material/check:")
        return
    moving = int(found["moves"].sum())
    st.markdown(
        f"**Where they part: {count(len(found), 'span')} decided differently, {moving:,} of them with another credit**"
    )
    groups = count_by_quirk(found)
    table = pd.DataFrame(
        {
            "spans": groups["count"],
            "credit": ["differs" if moves else "the same" for moves in groups["moves"]],
            "theirs": [decision_words(code) for code in groups["theirs"]],
            "ours": [decision_words(code) for code in groups["ours"]],
            "rule": groups["quirk"].astype("object"),
        }
    )
    cell = count_table(
        table,
        name,
        (page.view, theirs, ours),
        columns={
            "spans": st.column_config.NumberColumn("spans", width=65, format="localized"),
            "credit": st.column_config.TextColumn(
                "credit", width=80, help="Whether the span earns more or less there, or only bears another name."
            ),
            "theirs": st.column_config.TextColumn(short(theirs), width=150),
            "ours": st.column_config.TextColumn(short(ours), width=150),
            "rule": st.column_config.TextColumn(f"rule of {short(theirs)}", width=430),
        },
        export=Export(found.drop(columns="doc"), said, name),
        caption="A row is a rule and what came of it; choose one to see its spans.",
        height=300,
    )
    if cell is None:
        return
    chosen = groups.iloc[cell[0]]
    some = found[
        np.logical_and.reduce([(found[column] == chosen[column]).to_numpy() for column in ("quirk", "theirs", "ours")])
    ]
    st.markdown(f"**{plain(str(chosen['quirk']), 200)}: {count(len(some), 'span')}**")
    _spans(page, some, theirs, ours, name)


def decision_words(codes: str) -> str:
    return " + ".join(GLYPHS.get(code, "no such span" if code == ABSENT else code) for code in str(codes).split("+"))


def _spans(page: PageContext, some: pd.DataFrame, theirs: str, ours: str, name: str) -> None:
    first = first_row(len(some), name, page.view)
    part = some.iloc[first : first + ROWS]
    beside_it = around(page.loaded.corpus.documents.texts, part["doc"], part["start"], part["end"], AROUND)
    table = pd.DataFrame(
        {
            "side": part["side"].astype("object").to_numpy(),
            **in_context(beside_it),
            "type": part["type"].astype("object").to_numpy(),
            "theirs": [decision_words(code) for code in part["theirs"]],
            "ours": [decision_words(code) for code in part["ours"]],
            "our reason": part["our_reason"].astype("object").to_numpy(),
            "rule": part["quirk"].astype("object").to_numpy(),
            "document": part["document"].astype("object").to_numpy(),
        }
    )
    cell = count_table(
        table,
        name,
        (page.view, first, tuple(part["record"]), tuple(part["side"])),
        columns=_list_columns()
        | {
            "theirs": st.column_config.TextColumn(short(theirs), width=125),
            "ours": st.column_config.TextColumn(short(ours), width=125),
        },
        prefix=keys.LIST,
        height=360,
    )
    if cell is not None:
        row = part.iloc[cell[0]]
        _in_text(page, str(row["document"]), int(row["start"]), int(row["end"]), str(row["record"]))
