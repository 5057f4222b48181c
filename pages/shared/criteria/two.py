"""Two criteria against each other, and what could be recovered: views of the Criteria page."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import streamlit as st

from nereval_core.analysis.criteria.gap import Gap
from nereval_core.analysis.criteria.rescued_errors import CHAIN, OVERLAPPED, WHOLLY
from nereval_core.analysis.criteria.sentences import gap_sentence, recovered_sentence
from nereval_core.glossary import DECISIONS, decision_label
from nereval_core.report.figures.criteria import gap_bars
from pages.shared.components import sentence
from pages.shared.components.downloads import export, figure_config
from pages.shared.components.record_list import opened, selected_cell, steady_key
from pages.shared.components.terms import explained
from pages.shared.criteria import results as criteria_results
from pages.shared.view import keys, state
from pages.shared.view.count_tables import free
from pages.shared.view.plain_text import plain
from pages.shared.view.queries import Query

if TYPE_CHECKING:
    import pandas as pd

    from pages.shared.frame import Here

VERSUS = f"{keys.WIDGET}versus"
WORDS = {"more": "spans that gain", "less": "spans that lose"}
CELLS = ("COR", "INC", "PAR", "MIS", "SPU")


def draw(here: Here) -> None:
    """Ask for the other criterion; show the gap by cause and the decisions under both."""
    known = criteria_results.spans_criteria(here)
    rest = [name for name in known if name != here.by]
    if here.criterion.unit != "span" or not rest:
        st.caption(f"{plain(here.by)} is not compared: choose a matching criterion that counts spans.")
        return
    other = here.view.versus if here.view.versus in rest else _other(here.by, rest)
    st.session_state[VERSUS] = other
    st.selectbox(f"{plain(here.by)} against", rest, key=VERSUS, on_change=_took, width=320)
    found, table = criteria_results.two(here, here.by, other)
    _gap(here, found)
    _decisions(here, other, table)


def _other(name: str, rest: list[str]) -> str:
    return next((one for one in ("type", "strict") if one in rest and one != name), rest[0])


def _took() -> None:
    state.update(versus=st.session_state[VERSUS])


def _gap(here: Here, found: Gap) -> None:
    total = found.total
    if total is None:
        st.caption("There are no spans to compare the two by.")
        return
    table = found.table()
    f1 = [float(value or 0) for value in found.f1]
    st.markdown(
        f"**F1 is {f1[0]:.4f} under {plain(found.strict)} and {f1[1]:.4f} under {plain(found.loose)}, "
        f"{float(total):+.4f}.**"
    )
    sentence.draw(here, gap_sentence(found), "gap", found.loose)
    if not len(table):
        st.caption("No gold span earns another credit.")
        return
    n = (found.strict, found.loose, float(total), found.spans, here.system)
    st.plotly_chart(gap_bars(table, *n), key=f"{keys.TABLE}gap_bars", config=figure_config("gap"))
    shown = table.rename(columns={"f1": "part of F1", "share": "share of gap", **WORDS})
    number = st.column_config.NumberColumn
    event = st.dataframe(
        shown,
        key=steady_key(f"{keys.TABLE}gap", here.view, found.strict, found.loose),
        on_select="rerun",
        selection_mode="single-cell",
        hide_index=True,
        placeholder="–",
        column_config={
            "cause": st.column_config.TextColumn(
                "cause", width=190, help=f"What differs in a span's pair under {plain(found.loose)}."
            ),
            "credit": number("credit", format="%.1f", help="COR earns 1, PAR a half."),
            "part of F1": number(format="%+.4f", help="2 · credit / (POS + ACT); the parts add up to the gap."),
            "share of gap": number(format="percent"),
        },
    )
    cell = selected_cell(event, len(table), tuple(shown.columns))
    with st.container(horizontal=True, vertical_alignment="center"):
        export(table, here.signature(found.loose), name="gap", key="gap", figure=lambda: gap_bars(table, *n))
        st.caption("Choose a row to see its spans, a count to see those that gain or lose.")
    if cell is None:
        return
    cause = str(table["cause"].tolist()[cell[0]])
    having = [(f"gap {found.strict}", cause)]
    having += [(f"credit {found.strict}", name) for name, label in WORDS.items() if label == cell[1]]
    title = f"{cause}, {plain(found.strict)} to {plain(found.loose)}"
    opened(here, found.loose, Query(decision=DECISIONS, having=tuple(having)), title, name="gap")


def _decisions(here: Here, other: str, table: pd.DataFrame) -> None:
    st.markdown(f"**Decisions under {plain(here.by)} (down) and {plain(other)} (across)**")
    rows = [code for code in DECISIONS if table.loc[code].sum() or code in CELLS[:1]]
    columns = [code for code in DECISIONS if table[code].sum()]
    shown = table.loc[rows, columns]
    shown.index = [decision_label(code) for code in rows]
    number = st.column_config.NumberColumn
    event = st.dataframe(
        shown,
        key=steady_key(f"{keys.TABLE}decisions", here.view, other),
        on_select="rerun",
        selection_mode="single-cell",
        column_config={
            "_index": st.column_config.TextColumn(f"{plain(here.by)} \\ {plain(other)}", width=170),
            **{code: number(decision_label(code), format="localized", help=explained(code)) for code in columns},
        },
    )
    cell = selected_cell(event, len(rows), columns)
    flipped = int(table.to_numpy().sum() - sum(table.loc[code, code] for code in DECISIONS))
    with st.container(horizontal=True, vertical_alignment="center"):
        named = shown.reset_index(names=free(here.by, list(shown.columns)))
        export(named, here.signature(), name="decisions", key="decisions")
        st.caption("Gold spans, and in the last row predictions that are spurious under the first criterion.")
    if cell is not None:
        query = Query(decision=(rows[cell[0]],), having=((f"under {other}", cell[1]),))
        title = f"{rows[cell[0]]} under {plain(here.by)}, {cell[1]} under {plain(other)}"
        opened(here, here.by, query, title, name="decisions")
    elif st.toggle(f"List the {flipped:,} that are decided otherwise", key=f"{keys.WIDGET}flipped"):
        query = Query(decision=DECISIONS, having=((f"flips {other}", "yes"),))
        opened(here, here.by, query, f"Decided otherwise under {plain(other)}", name="flipped")


def recovered(here: Here) -> None:
    """Show false negatives under strict by the first criterion that credits them."""
    here = replace(here, view=replace(here.view, criterion=CHAIN[0]))
    found = criteria_results.recoverable(here)
    table = found.table()
    sentence.draw(here, recovered_sentence(found, CHAIN[0]), "recovered", CHAIN[0])
    st.caption("Criteria stand from strict to lenient; a span stands at the first that credits it.")
    event = st.dataframe(
        table,
        key=steady_key(f"{keys.TABLE}recovered", here.view),
        on_select="rerun",
        selection_mode="single-cell",
        hide_index=True,
        placeholder="–",
        column_config={
            "recovered": st.column_config.TextColumn("first credited by", width=190, help=_BELOW),
            "spans": st.column_config.NumberColumn("gold spans", format="localized"),
            "share": st.column_config.ProgressColumn(
                "share of those missed", format="percent", min_value=0, max_value=1
            ),
            "recall": st.column_config.NumberColumn("recall down to here", format="%.4f"),
        },
    )
    cell = selected_cell(event, len(table), tuple(table.columns))
    with st.container(horizontal=True, vertical_alignment="center"):
        export(table, here.signature(CHAIN[0]), name="recovered", key="recovered")
        st.caption("Choose a row to see its spans. After Tsai et al. 2006.")
    if cell is not None:
        name = str(table["recovered"].tolist()[cell[0]])
        title = f"Not found under {CHAIN[0]}, {name if cell[0] >= len(table) - 2 else f'credited by {name}'}"
        opened(here, CHAIN[0], Query(decision=DECISIONS, having=(("recovered", name),)), title, name="recovered")


_BELOW = (
    f"{OVERLAPPED}: predictions overlap the span, and all are aligned with others. {WHOLLY}: no prediction overlaps it."
)
