"""Linking: which mention got the right concept id, which ids are confused, and where in the text."""

from __future__ import annotations

import streamlit as st

from pages.shared import linking
from pages.shared.documents import reading
from pages.shared.documents.document import document_rows
from pages.shared.frame import Here, page
from pages.shared.linking import lists as linking_lists
from pages.shared.linking.tables import rule_of
from pages.shared.linking.text import linked_text
from pages.shared.view import keys, state


def go(doc: str, record: str) -> None:
    state.update(doc=doc, record=record)


@page("Linking")
def draw(here: Here) -> None:
    if linking.nothing_to_show(here):
        return
    top = st.container()
    links = linking.options(here)
    with top:
        linking.first_line(links)
    linking.show_metrics(links)

    found = linking_lists.chosen(links)
    if linking.switch(here):
        linking_lists.show_confused(links)
    else:
        linking_lists.show_records(links, found)

    texts, rule = here.loaded.corpus.documents, rule_of(here.view)
    records = links.records(rule)
    document = texts.index.get(here.view.doc, int(found["doc"].iloc[0]) if len(found) else 0)
    rows = document_rows(records, document)
    record = rows[rows["record"] == here.view.record]
    if len(record):
        linking_lists.record_card(links, record.iloc[0])
    st.subheader("In the text")
    linking_lists.document_choice(texts.ids, document, go)
    data = linked_text(links.alignment(rule.boundaries), records, found, document, here.view.record)
    reading(data, key=f"{keys.WIDGET}linked", on_select=go)
