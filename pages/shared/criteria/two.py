"""Views of the Criteria page: two criteria compared, and missed spans by the first criterion that credits them."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import streamlit as st

from nereval_core.analysis.criteria.gap import CHAIN, OVERLAPPED, WHOLLY, Gap, gap_sentence, recovered_sentence
from nereval_core.report.figures.criteria import gap_bars
from nereval_core.scoring.count_tables import free_name
from nereval_core.tables.glossary import DECISIONS, decision_label
from pages.shared.components import sentence
from pages.shared.components.count_table import count_table, show_figure
from pages.shared.components.downloads import Export
from pages.shared.components.record_list import open_records
from pages.shared.criteria import results as criteria_results
from pages.shared.data.page_context import PageContext
from pages.shared.view import keys, state
from pages.shared.view.queries import Query
from pages.shared.view.text import explained, plain

WORDS = {"more": "spans that gain", "less": "spans that lose"}
CELLS = ("COR", "INC", "PAR", "MIS", "SPU")


def compare_two(page: PageContext) -> None:
    """Ask for the other criterion; show the gap by cause and the decisions under both."""
    known = criteria_results.spans_criteria(page)
    rest = [name for name in known if name != page.by]
    if page.criterion.unit != "span" or not rest:
        st.caption(f"{plain(page.by)} is not compared: choose a matching criterion that counts spans.")
        return
    other = page.view.versus if page.view.versus in rest else _other(page.by, rest)
    widget = state.mirror("versus", other, state.take_field("versus"))
    st.selectbox(f"{plain(page.by)} against", rest, width=320, **widget)
    found, table = criteria_results.gap_of(page, page.by, other)
    _gap(page, found)
    _decisions(page, other, table)


def _other(name: str, rest: list[str]) -> str:
    return next((one for one in ("type", "strict") if one in rest and one != name), rest[0])


def _gap(page: PageContext, found: Gap) -> None:
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
    sentence.draw(page, gap_sentence(found), "gap", found.loose)
    if not len(table):
        st.caption("No gold span earns another credit.")
        return
    n = (found.strict, found.loose, float(total), found.spans, page.system)
    show_figure(gap_bars(table, *n), "gap_bars", file="gap")
    shown = table.rename(columns={"f1": "part of F1", "share": "share of gap", **WORDS})
    number = st.column_config.NumberColumn
    cell = count_table(
        shown,
        "gap",
        (page.view, found.strict, found.loose),
        columns={
            "cause": st.column_config.TextColumn(
                "cause", width=190, help=f"What differs in a span's pair under {plain(found.loose)}."
            ),
            "credit": number("credit", format="%.1f", help="COR earns 1, PAR a half."),
            "part of F1": number(format="%+.4f", help="2 · credit / (POS + ACT); the parts add up to the gap."),
            "share of gap": number(format="percent"),
        },
        export=Export(table, page.signature(found.loose), "gap", figure=lambda: gap_bars(table, *n)),
        caption="Choose a row to see its spans, a count to see those that gain or lose.",
    )
    if cell is None:
        return
    cause = str(table["cause"].tolist()[cell[0]])
    having = [(f"gap {found.strict}", cause)]
    having += [(f"credit {found.strict}", name) for name, label in WORDS.items() if label == cell[1]]
    title = f"{cause}, {plain(found.strict)} to {plain(found.loose)}"
    open_records(page, found.loose, Query(decision=DECISIONS, having=tuple(having)), title, name="gap")


def _decisions(page: PageContext, other: str, table: pd.DataFrame) -> None:
    st.markdown(f"**Decisions under {plain(page.by)} (down) and {plain(other)} (across)**")
    rows = [code for code in DECISIONS if table.loc[code].sum() or code in CELLS[:1]]
    columns = [code for code in DECISIONS if table[code].sum()]
    shown = table.loc[rows, columns]
    shown.index = [decision_label(code) for code in rows]
    number = st.column_config.NumberColumn
    named = shown.reset_index(names=free_name(page.by, list(shown.columns)))
    flipped = int(table.to_numpy().sum() - table.loc[list(DECISIONS), list(DECISIONS)].to_numpy().trace())
    cell = count_table(
        shown,
        "decisions",
        (page.view, other),
        columns={
            "_index": st.column_config.TextColumn(f"{plain(page.by)} \\ {plain(other)}", width=170),
            **{code: number(decision_label(code), format="localized", help=explained(code)) for code in columns},
        },
        choose=columns,
        export=Export(named, page.signature(), "decisions"),
        caption="Gold spans, and in the last row predictions that are spurious under the first criterion.",
        index=True,
    )
    if cell is not None:
        query = Query(decision=(rows[cell[0]],), having=((f"under {other}", cell[1]),))
        title = f"{rows[cell[0]]} under {plain(page.by)}, {cell[1]} under {plain(other)}"
        open_records(page, page.by, query, title, name="decisions")
    elif st.toggle(f"List the {flipped:,} that are decided otherwise", key=f"{keys.WIDGET}flipped"):
        query = Query(decision=DECISIONS, having=((f"flips {other}", "yes"),))
        open_records(page, page.by, query, f"Decided otherwise under {plain(other)}", name="flipped")


def list_recovered(page: PageContext) -> None:
    """Show false negatives under strict by the first criterion that credits them."""
    page = replace(page, view=replace(page.view, criterion=CHAIN[0]))
    found = criteria_results.recovered_of(page)
    table = found.table()
    sentence.draw(page, recovered_sentence(found, CHAIN[0]), "recovered", CHAIN[0])
    st.caption("Criteria stand from strict to lenient; a span stands at the first that credits it.")
    cell = count_table(
        table,
        "recovered",
        (page.view,),
        columns={
            "recovered": st.column_config.TextColumn("first credited by", width=190, help=_BELOW),
            "spans": st.column_config.NumberColumn("gold spans", format="localized"),
            "share": st.column_config.ProgressColumn(
                "share of those missed", format="percent", min_value=0, max_value=1
            ),
            "recall": st.column_config.NumberColumn("recall down to here", format="%.4f"),
        },
        export=Export(table, page.signature(CHAIN[0]), "recovered"),
        caption="Choose a row to see its spans. After Tsai et al. 2006.",
    )
    if cell is not None:
        name = str(table["recovered"].tolist()[cell[0]])
        title = f"Not found under {CHAIN[0]}, {name if cell[0] >= len(table) - 2 else f'credited by {name}'}"
        open_records(page, CHAIN[0], Query(decision=DECISIONS, having=(("recovered", name),)), title, name="recovered")


_BELOW = (
    f"{OVERLAPPED}: predictions overlap the span, and all are aligned with others. {WHOLLY}: no prediction overlaps it."
)
