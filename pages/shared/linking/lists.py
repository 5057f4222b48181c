"""The lists of the Linking page: ids most confused, mentions one by one, the card of one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pandas as pd
import streamlit as st

from nereval_core.analysis.linking import LINK_RECORD_COLUMNS
from nereval_core.analysis.linking.tables import confused_ids, confused_table
from nereval_core.problems import name_text
from nereval_core.report.colours import LINK_LOOKS
from nereval_core.report.concept_links import links_html
from nereval_core.tables import Column
from pages.shared.components import navigation
from pages.shared.components.highlighted_text import show_text
from pages.shared.components.records import in_context, list_table
from pages.shared.components.tables import ROWS, ChosenCell, first_row, show_table
from pages.shared.inspect.document import document_rows
from pages.shared.linking import id_template, list_records, query_of
from pages.shared.linking.link_records import (
    Linking,
    LinkQuery,
    Rule,
    decision_counts,
    ids_of,
    linked_text,
    rule_of,
    select_records,
)
from pages.shared.view import keys, state
from pages.shared.view.queries import context
from pages.shared.view.text import count, named, plain

CONFUSED = 50
"""Pairs of ids that are listed, those most often confused."""
LINK_RECORDS = (
    Column("decision", kind="decision"),
    Column("before", kind="before"),
    Column("span", "mention", "text", meaning="The gold mention; where there is none, the predicted one"),
    Column("after", kind="after"),
    Column("gold_links", "gold link", "text"),
    Column("pred_links", "predicted links", "text", meaning="The prediction's ranking, best first"),
    Column("reason", "why", "text"),
    Column("document", kind="name"),
)
BESIDE = 24
"""Characters of context on either side of a mention in a row."""

MANY = 3_000
"""Documents up to which they are offered in a list; beyond it their id is typed."""


def show_confused(linking: Linking) -> None:
    """Show the table of confused ids; a row lists its records."""
    rule = rule_of(linking.page.view)
    confused = confused_ids(linking.records(rule), CONFUSED)
    if confused.empty:
        st.caption(f"Every link is right under {rule.words}.")
        return
    table = replace(confused_table(f"Ids confused under {rule.words}", confused), name="confused")

    def open_pair(cell: ChosenCell) -> None:
        row = confused.iloc[cell.row]
        list_records(linking, rule, LinkQuery(gold_id=str(row["gold_id"]), pred_id=str(row["pred_id"])))

    show_table(
        linking.page,
        table,
        signature=linking.signature(rule),
        data=confused,
        file="confused-ids",
        choose=table.keys,
        on_choose=open_pair,
        facts=(*linking.facts, rule),
        caption=f"Under {rule.words}; ids missing or spurious come last. Choose a row to see its records.",
        height=248,
    )


def chosen_records(linking: Linking) -> pd.DataFrame:
    """Return the records of the count chosen last, or of all that is not right."""
    return select_records(linking.records(rule_of(linking.page.view)), query_of(linking))


def show_records(linking: Linking, records: pd.DataFrame) -> None:
    """List the records chosen, with their number; a row opens its text below."""
    rule, query = rule_of(linking.page.view), query_of(linking)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"**{_title(query)}, {rule.words}: {count(len(records), 'record')}**")
        if query != LinkQuery():
            st.button(
                "All that is not right", key="links-all", on_click=list_records, args=(linking, rule, LinkQuery())
            )
    _pills(linking, rule, query, decision_counts(linking.records(rule), query))
    if records.empty:
        st.caption("No records.")
        return
    first = first_row(len(records), "links", linking.page.view)
    part = records.iloc[first : first + ROWS]

    def read_record(cell: ChosenCell) -> None:
        row = part.iloc[cell.row]
        state.update(doc=str(row["document"]), record=str(row["record"]))

    links = {
        f"{side}_links": [", ".join(map(name_text, ids_of(ids))) for ids in part[f"{side}_links"]]
        for side in ("gold", "pred")
    }
    values = {
        "decision": part["decision"].tolist(),
        **in_context(context(part, linking.page.loaded.corpus.documents.texts, BESIDE)),
        **links,
        "reason": part["reason"].tolist(),
        "document": part["document"].tolist(),
    }
    show_table(
        linking.page,
        list_table("link_records", LINK_RECORDS, values),
        signature=linking.signature(rule),
        data=records[list(LINK_RECORD_COLUMNS)],
        file="links",
        choose=tuple(values),
        on_choose=read_record,
        facts=(*linking.facts, rule, query, first),
        caption="Choose a row to read it in its text.",
        prefix=keys.LIST,
        height=318,
    )


def _title(query: LinkQuery) -> str:
    if query.gold_id is not None or query.pred_id is not None:
        names = [plain(link) if link else "no mention" for link in (query.gold_id, query.pred_id)]
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
            navigation.link_to("Inspect", f":primary[Its boundaries and type in {named(doc)} →]", view)
            if not id_template():
                st.caption("Ids can open a page: say where above.")


def show_document(linking: Linking, listed: pd.DataFrame) -> None:
    """Show the card of the chosen record, the choice of a document, and its text with its links.

    `listed` are the records listed, the first of which names the document where none is chosen.
    """
    view, texts = linking.page.view, linking.page.loaded.corpus.documents
    rule = rule_of(view)
    records = linking.records(rule)
    document = texts.index.get(view.doc, int(listed["doc"].iloc[0]) if len(listed) else 0)
    rows = document_rows(records, document)
    record = rows[rows["record"] == view.record]
    if len(record):
        record_card(linking, record.iloc[0])
    st.header("In the text")
    choose_document(texts.ids, document)
    data = linked_text(linking.alignment(rule.boundaries), records, listed, document, view.record)
    show_text(data, key=f"{keys.WIDGET}linked", on_select=state.take_record)


def choose_document(ids: Sequence[str], document: int) -> None:
    """Offer the documents to read."""
    widget = state.mirror("links-document", ids[document], lambda name: state.take_record(str(name), ""))
    if len(ids) <= MANY:
        st.selectbox("Document", ids, format_func=name_text, width=280, **widget)
    else:
        st.text_input("Document id", width=280, **widget)
