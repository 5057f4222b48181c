"""Documents: which decision did each span get, and why? Gold and prediction in the text itself."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from pages.shared.components.navigation import link_to
from pages.shared.documents import verdict_row
from pages.shared.documents.controls import chosen_part, draw_controls, turn_parts
from pages.shared.documents.document import open_card, open_document
from pages.shared.documents.highlighted_text import show_text, text_data
from pages.shared.frame import Here, page
from pages.shared.present import stars
from pages.shared.view import keys, state
from pages.shared.view.text import plain

HINT = "Click a span, or press j, to see its partner, the reason for its decision, and what every criterion says of it."


@page("Documents", filters=lambda view: True)
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
    there = open_document(
        here.ledger(),
        query,
        here.reading,
        *wanted,
        chosen_part(turned),
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
        verdict_row.choose_from_queue(here, there, state.take_record)
        stars.draw_star(here, there.name, record)

    by = draw_controls(there, texts.ids, state.take_record, others, verdict_row.progress_words(here), beside_place)
    verdict_row.verdict_bar(here, there, state.take_record)
    turn_parts(there, turned)
    data = text_data(
        there.window_text,
        there.marks,
        doc=there.name,
        selected=there.selected,
        colour_by=by,
        types=here.annotated_types,
        card=open_card(there, here.by) or {"hint": HINT},
        queue=there.queue,
        at=there.at,
        keys=("j next record", "k previous", "Escape closes the card"),
        systems=(here.system, here.beside) if here.beside else None,
        place=there.place,
        verdicts=verdict_row.verdict_words(here, there.name),
    )
    show_text(data, key=f"{keys.WIDGET}reading", on_select=state.take_record)
    link_to("Guide", "What the decisions and the criteria mean", here.view)
