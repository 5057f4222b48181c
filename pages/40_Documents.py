"""Documents: which decision did each span get, and why? Gold and prediction in the text itself."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from pages.shared.components.navigation import link_to
from pages.shared.documents import reading, verdict_row
from pages.shared.documents.controls import controls, part_asked_for, parts
from pages.shared.documents.document import opened, opened_card
from pages.shared.documents.view import view
from pages.shared.frame import Here, page
from pages.shared.present import stars
from pages.shared.view import keys, state
from pages.shared.view.plain_text import plain

HINT = "Click a span, or press j, to see its partner, the reason for its decision, and what every criterion says of it."


def go(doc: str, record: str) -> None:
    state.update(doc=doc, record=record)


@page("Documents")
def documents(here: Here) -> None:
    texts = here.loaded.corpus.documents
    if not len(texts):
        st.info("This corpus has no documents. Choose another one at Start.")
        return
    # j and k go through the records of all documents.
    wanted = (here.view.doc, here.view.record)
    start = texts.ids[0]
    beside = (here.beside, here.of(here.beside).reading) if here.beside else None
    query = replace(here.query(), doc="")
    turned = (here.view.doc, here.view.record or here.view.at)
    there = opened(
        here.ledger(),
        query,
        here.reading,
        *wanted,
        part_asked_for(turned),
        start,
        beside=beside,
        place=here.view.place,
    )
    if there.unknown:
        asked = plain(here.view.record)
        st.warning(
            f"{asked} is no record of this document under these settings: its type may be merged or left out, or the "
            "matching criterion counts tokens instead of spans."
        )

    others = [name for name in here.systems if name != here.system]
    record = str(there.record["record"]) if there.record else ""

    def beside_place() -> None:
        verdict_row.queue(here, there, go)
        stars.star(here, there.name, record)

    by = controls(there, texts.ids, go, others, verdict_row.progress(here), beside_place)
    verdict_row.bar(here, there, go)
    parts(there, turned)
    data = view(
        there.text[slice(*there.window)],
        there.marks,
        doc=there.name,
        selected=there.selected,
        colour_by=by,
        types=here.annotated_types,
        card=opened_card(there, here.by) or {"hint": HINT},
        queue=there.queue,
        at=there.at,
        keys=("j next record", "k previous", "Escape closes the card"),
        systems=(here.system, here.beside) if here.beside else None,
        place=there.place,
        verdicts=verdict_row.of_document(here, there.name),
    )
    reading(data, key=f"{keys.WIDGET}reading", on_select=go)
    link_to("Guide", "What the decisions and the criteria mean", here.view)
