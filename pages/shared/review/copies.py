"""Corrected copies of gold as downloads with the log of their changes, and verdicts as files."""

from __future__ import annotations

import io
from collections.abc import Collection, Hashable, Sequence

import streamlit as st

from nereval_core.corpus import Layer
from nereval_core.problems import FormatError
from nereval_core.review.apply.corrected_copy import CHANGE_LOG_SUFFIX, log_csv, log_rows, signature
from nereval_core.review.exchange import export_lines, import_verdicts, read_lines
from nereval_core.review.verdicts import Given
from nereval_core.tables import Cell
from pages.shared import review
from pages.shared.components.downloads import layer_file_name, offer_layer
from pages.shared.components.record_list import count
from pages.shared.data import masks, verdict_store
from pages.shared.data.page_context import PageContext
from pages.shared.view import keys
from pages.shared.view.text import plain, show_problems

IMPORT = f"{keys.WIDGET}review_import"
TAKEN = "review_taken"
"""Result of the last import, shown once."""
SHOWN = 20
"""Conflicts of an import that are shown."""


def draw_copies(page: PageContext) -> None:
    st.header(f"Corrected {plain(page.words.reference)}")
    if not review.say_no_verdicts(page):
        review.choose_accepted(page)
        found = review.corrected_gold(page)
        st.caption(
            f"A copy of {_copied(page)} with {count(found.verdicts, 'verdict')} applied, and the log of what each did. "
            "It scores exactly as Progress says. The original is not changed."
        )
        key = (page.loaded.id, review.verdicts_number(), review.accepted_choice())
        offer_copy(found.layer, log_rows(found.log), signature(found), _name(page), key)
    st.header("Verdicts")
    if masks.is_masked():
        st.caption("Verdicts quote the texts, which are masked here: they are neither exported nor imported.")
        return
    texts = verdict_store.quoted_texts(page.loaded.corpus.documents)
    with st.container(horizontal=True, gap="large"):
        with st.container(width=340):
            st.download_button(
                "All verdicts (JSON lines)" if texts is None else "Verdicts on this corpus (JSON lines)",
                lambda: b"".join(export_lines(one for one in verdict_store.store().every() if _is_on(one, texts))),
                file_name="nereval-verdicts.jsonl",
                mime="application/jsonl",
                key="export_verdicts",
                on_click="ignore",
            )
            about = "whatever corpus it is about" if texts is None else "about a text of this corpus"
            st.caption(f"Every verdict ever given {about}, with its history.")
        with st.container(width=420):
            import_form(texts)


def _is_on(given: Given, texts: Collection[str] | None) -> bool:
    return texts is None or given.verdict.key.text in texts


def _copied(page: PageContext) -> str:
    if page.words.annotators:
        return plain(page.words.reference)
    return f"{plain(page.view.reference)}, taken as gold," if page.view.reference else "gold"


def _name(page: PageContext) -> str:
    """Return the name of the copy: the name of its layer, in characters that any operating system allows."""
    return f"{layer_file_name(page.view.reference or page.words.reference)}-corrected"


def import_form(texts: Collection[str] | None) -> None:
    """Import the new verdicts of a file, and list those in conflict on some texts; not on a server that takes none."""
    if verdict_store.is_read_only():
        return
    given = st.file_uploader("Import verdicts from JSON lines", key=IMPORT, type=["jsonl"])
    if given is not None and st.button("Import", key="import_verdicts", type="primary"):
        try:
            lines = read_lines(io.BytesIO(given.getvalue()), given.name)
            st.session_state[TAKEN] = import_verdicts(verdict_store.store_to_write(), lines, given.name)
        except FormatError as error:
            st.session_state.pop(TAKEN, None)
            show_problems(error.lines())
        else:
            verdict_store.refresh()
            st.rerun()
    found = st.session_state.pop(TAKEN, None)
    if found is None:
        return
    st.success(f"{count(len(found.taken), 'verdict')} imported, {found.known:,} known before.")
    if found.parted:
        st.warning(f"{count(len(found.parted), 'span')} with conflicting verdicts, none of which was imported:")
        for one in [one for one in found.parted if _is_on(one.ours, texts)][:SHOWN]:
            st.caption(plain(str(one), 600))


def offer_copy(layer: Layer, log: Sequence[Sequence[Cell]], signed: str, name: str, key: Hashable) -> None:
    """Offer a layer in any writable format, and its log."""

    def changes() -> None:
        st.download_button(
            "Log of changes (CSV)",
            lambda: log_csv(log, signed),
            file_name=f"{name}{CHANGE_LOG_SUFFIX}",
            mime="text/csv",
            key=f"log_{name}",
            on_click="ignore",
        )

    offer_layer(lambda: layer, len(layer), name, key, beside=changes)
    st.code(signed, language=None, wrap_lines=True)
