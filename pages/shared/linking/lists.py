"""The lists of the Linking page: ids most confused, mentions one by one, the card of one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd
import pyarrow as pa
import streamlit as st

from nereval_core.analysis.linking.tables import LINK_RECORD_COLUMNS
from nereval_core.report.highlight import links_html
from pages.shared.components import navigation
from pages.shared.components.downloads import export
from pages.shared.components.record_list import (
    ROWS,
    count,
    decision_column,
    in_context,
    labels,
    selected_cell,
    table_key,
    table_of,
)
from pages.shared.documents.controls import MANY
from pages.shared.linking.choices import choose, query_of, template
from pages.shared.linking.scores import Linking
from pages.shared.linking.tables import (
    LINK_LOOKS,
    NONE,
    LinkQuery,
    Rule,
    confused,
    decision_counts,
    ids_of,
    rule_of,
    select,
)
from pages.shared.view import keys, state
from pages.shared.view.plain_text import plain
from pages.shared.view.queries import context

CONFUSED = 50
"""How many pairs of ids are listed, those most often confused."""
BESIDE = 24
"""Characters of context on either side of a mention in a row."""


def show_confused(linking: Linking) -> None:
    """Show which id was taken for which; a row lists its records."""
    rule = rule_of(linking.here.view)
    table = confused(linking.records(rule), CONFUSED)
    if table.empty:
        st.caption(f"Every link is right under {rule.words}.")
        return
    shown = table.assign(**{name: table[name].replace(NONE, "–") for name in table.columns[:4]})
    key = table_key(f"{keys.TABLE}confused", *linking.facts, rule)

    def took() -> None:
        cell = selected_cell(st.session_state[key], len(table), list(map(str, table.columns)))
        if cell is not None:
            row = table.iloc[cell[0]]
            choose(linking, rule, LinkQuery(gold_id=str(row["gold id"]), pred_id=str(row["predicted id"])))

    st.dataframe(
        shown,
        key=key,
        on_select=took,
        selection_mode="single-cell",
        hide_index=True,
        height=min(35 * (len(table) + 1) + 3, 248),
        column_config={"count": st.column_config.NumberColumn("count", width=60, format="localized")},
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        export(table, linking.signature(rule), name="confused-ids", key="confused")
        st.caption(f"Under {rule.words}; ids missing or spurious come last. Choose a row to see its records.")


def chosen(linking: Linking) -> pd.DataFrame:
    """Return the records of the count chosen last, or of all that is not right."""
    return select(linking.records(rule_of(linking.here.view)), query_of(linking))


def show_records(linking: Linking, found: pd.DataFrame) -> None:
    """List the records chosen, with their number; a row opens its text below."""
    rule, query = rule_of(linking.here.view), query_of(linking)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"**{_title(query)}, {rule.words}: {count(len(found), 'record')}**")
        if query != LinkQuery():
            st.button("All that is not right", key="links-all", on_click=choose, args=(linking, rule, LinkQuery()))
    _pills(linking, rule, query, decision_counts(linking.records(rule), query))
    if found.empty:
        st.caption("No records.")
        return
    pages = -(-len(found) // ROWS)
    first = 0
    if pages > 1:
        at = st.number_input(f"Page of {pages:,} ({ROWS} records each)", 1, pages, key="links-page", width=220)
        first = (int(at) - 1) * ROWS
    part = found.iloc[first : first + ROWS]
    key = table_key(f"{keys.LIST}links", *linking.facts, rule, query, first)
    table = _table(part, linking.here.loaded.corpus.documents.texts)

    def took() -> None:
        cell = selected_cell(st.session_state[key], len(part), table.column_names)
        if cell is not None:
            row = part.iloc[cell[0]]
            state.update(doc=str(row["document"]), record=str(row["record"]))

    st.dataframe(
        table,
        key=key,
        on_select=took,
        selection_mode="single-cell",
        hide_index=True,
        height=min(35 * (len(part) + 1) + 3, 318),
        placeholder="",
        column_config=_record_columns(),
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        export(found[list(LINK_RECORD_COLUMNS)], linking.signature(rule), name="links", key="links")
        st.caption("Choose a row to read it in its text.")


def _title(query: LinkQuery) -> str:
    if query.gold_id is not None or query.pred_id is not None:
        names = [plain(one) if one else "no mention" for one in (query.gold_id or NONE, query.pred_id or NONE)]
        return f"gold {names[0]}, predicted {names[1]}"
    if query == LinkQuery():
        return "All that is not right"
    return ", ".join(query.decisions)


def _pills(linking: Linking, rule: Rule, query: LinkQuery, counts: dict[str, int]) -> None:
    key = f"{keys.WIDGET}link-decision"
    st.session_state[key] = query.decisions[0] if len(query.decisions) == 1 else None

    def took() -> None:
        chosen = st.session_state[key]
        choose(linking, rule, replace(query, decisions=(chosen,) if chosen else LinkQuery().decisions))

    st.pills(
        "Decision",
        [name for name in LINK_LOOKS if name in counts or name in query.decisions[:1]],
        format_func=lambda name: f"{LINK_LOOKS[name].glyph} {name} · {counts.get(name, 0):,}",
        key=key,
        on_change=took,
        label_visibility="collapsed",
    )


def _table(part: pd.DataFrame, texts: Any) -> pa.Table:
    return table_of(
        {
            "decision": labels(f"{LINK_LOOKS[name].glyph} {name}" for name in part["decision"]),
            **in_context(context(part, texts, BESIDE), "mention"),
            "gold link": [", ".join(ids_of(row, "gold")) for row in part.to_dict("records")],
            "predicted links": [", ".join(ids_of(row, "pred")) for row in part.to_dict("records")],
            "why": part["reason"].astype("object").to_numpy(),
            "document": part["document"].astype("object").to_numpy(),
        }
    )


def _record_columns() -> dict[str, Any]:
    column = st.column_config.TextColumn
    return {
        "decision": decision_column(120, {f"{look.glyph} {name}": look.code for name, look in LINK_LOOKS.items()}),
        "before": column("before", width=110, alignment="right"),
        "mention": column("mention", width=140, help="The gold mention; where there is none, the predicted one."),
        "after": column("after", width=110),
        "gold link": column("gold link", width=110),
        "predicted links": column("predicted links", width=150, help="The prediction's ranking, best first."),
        "why": column("why", width=190),
        "document": column("document", width=75),
    }


def record_card(linking: Linking, record: pd.Series) -> None:
    """Show one record: its decision and why, and both sides' ids, which open where the reader lets them."""
    name = str(record["decision"])
    with st.container(border=True):
        st.markdown(f"{LINK_LOOKS[name].glyph} **{name}** · {plain(str(record['reason']))}")
        right = None if pd.isna(record["rank"]) else int(record["rank"])
        for side, label in (("gold", "gold"), ("pred", "predicted")):
            if record[side] < 0:
                continue
            ids = ids_of(record.to_dict(), side)
            text = " ".join(str(record[f"{side}_text"]).split())
            marked = ids[right - 1] if right and side == "pred" else None
            st.html(str(links_html(ids, template(), right=marked, label=f"{label}: {text[:80]}")))
        with st.container(horizontal=True, vertical_alignment="center"):
            doc = str(record["document"])
            view = replace(linking.here.view, doc=doc, record=str(record["record"]))
            navigation.link_to("Documents", f":primary[Its boundaries and type in {plain(doc)} →]", view)
            if not template():
                st.caption("Ids can open a page: say where above.")


def document_choice(ids: Sequence[str], document: int, go: Callable[[str, str], None]) -> None:
    """Offer the documents to read."""
    key = f"{keys.WIDGET}links-document"
    st.session_state[key] = ids[document]

    def took() -> None:
        go(str(st.session_state[key]), "")

    if len(ids) <= MANY:
        st.selectbox("Document", ids, key=key, on_change=took, width=280)
    else:
        st.text_input("Document id", key=key, on_change=took, width=280)
