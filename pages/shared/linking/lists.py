"""The lists of the Linking page: ids most confused, mentions one by one, the card of one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pandas as pd
import pyarrow as pa
import streamlit as st

from nereval_core.analysis.linking import LINK_RECORD_COLUMNS
from nereval_core.report.concept_links import links_html
from pages.shared.components import navigation
from pages.shared.components.count_table import (
    ROWS,
    ChosenCell,
    count_table,
    decision_column,
    in_context,
    labels,
    table_of,
)
from pages.shared.components.downloads import Export
from pages.shared.components.highlighted_text import show_text
from pages.shared.components.record_list import count
from pages.shared.inspect.document import document_rows
from pages.shared.linking import id_template, list_records, query_of
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
    select_records,
)
from pages.shared.linking.text import linked_text
from pages.shared.view import keys, state
from pages.shared.view.queries import context
from pages.shared.view.text import plain

CONFUSED = 50
"""Pairs of ids that are listed, those most often confused."""
BESIDE = 24
"""Characters of context on either side of a mention in a row."""

MANY = 3_000
"""Documents up to which they are offered in a list; beyond it their id is typed."""


def show_confused(linking: Linking) -> None:
    """Show the table of confused ids; a row lists its records."""
    rule = rule_of(linking.page.view)
    table = confused(linking.records(rule), CONFUSED)
    if table.empty:
        st.caption(f"Every link is right under {rule.words}.")
        return
    shown = table.assign(**{name: table[name].replace(NONE, "–") for name in table.columns[:4]})

    def open_pair(cell: ChosenCell) -> None:
        row = table.iloc[cell.row]
        list_records(linking, rule, LinkQuery(gold_id=str(row["gold id"]), pred_id=str(row["predicted id"])))

    count_table(
        shown,
        "confused",
        (*linking.facts, rule),
        columns={"count": st.column_config.NumberColumn("count", width=60, format="localized")},
        export=Export(table, linking.signature(rule), "confused-ids", key="confused"),
        caption=f"Under {rule.words}; ids missing or spurious come last. Choose a row to see its records.",
        on_choose=open_pair,
        height=248,
    )


def chosen_records(linking: Linking) -> pd.DataFrame:
    """Return the records of the count chosen last, or of all that is not right."""
    return select_records(linking.records(rule_of(linking.page.view)), query_of(linking))


def show_records(linking: Linking, found: pd.DataFrame) -> None:
    """List the records chosen, with their number; a row opens its text below."""
    rule, query = rule_of(linking.page.view), query_of(linking)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"**{_title(query)}, {rule.words}: {count(len(found), 'record')}**")
        if query != LinkQuery():
            st.button(
                "All that is not right", key="links-all", on_click=list_records, args=(linking, rule, LinkQuery())
            )
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
    table = _table(part, linking.page.loaded.corpus.documents.texts)

    def read_record(cell: ChosenCell) -> None:
        row = part.iloc[cell.row]
        state.update(doc=str(row["document"]), record=str(row["record"]))

    count_table(
        table,
        "link_records",
        (*linking.facts, rule, query, first),
        columns=_record_columns(),
        export=Export(found[list(LINK_RECORD_COLUMNS)], linking.signature(rule), "links"),
        caption="Choose a row to read it in its text.",
        on_choose=read_record,
        prefix=keys.LIST,
        height=318,
        placeholder="",
    )


def _title(query: LinkQuery) -> str:
    if query.gold_id is not None or query.pred_id is not None:
        names = [plain(one) if one else "no mention" for one in (query.gold_id or NONE, query.pred_id or NONE)]
        return f"gold {names[0]}, predicted {names[1]}"
    if query == LinkQuery():
        return "All that is not right"
    return ", ".join(query.decisions)


def _pills(linking: Linking, rule: Rule, query: LinkQuery, counts: dict[str, int]) -> None:
    now = query.decisions[0] if len(query.decisions) == 1 else None

    def take(name: str | None) -> None:
        list_records(linking, rule, replace(query, decisions=(name,) if name else LinkQuery().decisions))

    st.pills(
        "Decision",
        [name for name in LINK_LOOKS if name in counts or name in query.decisions[:1]],
        format_func=lambda name: f"{LINK_LOOKS[name].glyph} {name} · {counts.get(name, 0):,}",
        label_visibility="collapsed",
        **state.mirror("link-decision", now, take),
    )


def _table(part: pd.DataFrame, texts: Any) -> pa.Table:
    return table_of(
        {
            "decision": labels(f"{LINK_LOOKS[name].glyph} {name}" for name in part["decision"]),
            **in_context(context(part, texts, BESIDE), "mention"),
            "gold link": [", ".join(ids_of(links)) for links in part["gold_links"]],
            "predicted links": [", ".join(ids_of(links)) for links in part["pred_links"]],
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
            ids = ids_of(record[f"{side}_links"])
            text = " ".join(str(record[f"{side}_text"]).split())
            marked = ids[right - 1] if right and side == "pred" else None
            st.html(str(links_html(ids, id_template(), right=marked, label=f"{label}: {text[:80]}")))
        with st.container(horizontal=True, vertical_alignment="center"):
            doc = str(record["document"])
            view = replace(linking.page.view, doc=doc, record=str(record["record"]))
            navigation.link_to("Inspect", f":primary[Its boundaries and type in {plain(doc)} →]", view)
            if not id_template():
                st.caption("Ids can open a page: say where above.")


def show_document(linking: Linking, found: pd.DataFrame) -> None:
    """Show the card of the chosen record, the choice of a document, and its text with its links.

    `found` are the records listed, the first of which names the document where none is chosen.
    """
    view, texts = linking.page.view, linking.page.loaded.corpus.documents
    rule = rule_of(view)
    records = linking.records(rule)
    document = texts.index.get(view.doc, int(found["doc"].iloc[0]) if len(found) else 0)
    rows = document_rows(records, document)
    record = rows[rows["record"] == view.record]
    if len(record):
        record_card(linking, record.iloc[0])
    st.header("In the text")
    choose_document(texts.ids, document)
    data = linked_text(linking.alignment(rule.boundaries), records, found, document, view.record)
    show_text(data, key=f"{keys.WIDGET}linked", on_select=state.take_record)


def choose_document(ids: Sequence[str], document: int) -> None:
    """Offer the documents to read."""
    widget = state.mirror("links-document", ids[document], lambda name: state.take_record(str(name), ""))
    if len(ids) <= MANY:
        st.selectbox("Document", ids, width=280, **widget)
    else:
        st.text_input("Document id", width=280, **widget)
