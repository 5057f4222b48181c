"""The verdicts on a corpus: the result of each, corrected copies of gold, and verdicts as files."""

from __future__ import annotations

import io
from collections.abc import Collection, Hashable, Sequence
from dataclasses import replace

import streamlit as st

from nereval_core.corpus import Layer
from nereval_core.problems import FormatError
from nereval_core.review.apply import Change
from nereval_core.review.apply.corrected_copy import CHANGE_LOG_SUFFIX, log_csv, signature, span_in_words
from nereval_core.review.apply.settlement import REASONS, STALE
from nereval_core.review.exchange import Imported, import_verdicts
from nereval_core.review.tables import log_table
from nereval_core.review.verdict_lines import export_lines, read_lines
from nereval_core.review.verdicts import StoredVerdict, kind_in_words, minute_of
from nereval_core.tables import Cell
from pages.shared import review
from pages.shared.components.downloads import offer_layer
from pages.shared.components.tables import ROWS, first_row, show_table
from pages.shared.data import masks, verdict_store
from pages.shared.data.page_context import PageContext
from pages.shared.view import keys, state
from pages.shared.view.text import count, named, plain, show_problems

BECAME = f"{keys.WIDGET}review_became"


def draw_verdicts(page: PageContext) -> None:
    """Draw the verdicts on this corpus with what became of each, and verdicts as files."""
    if not review.say_no_verdicts(page):
        _draw_list(page)
    draw_files(page)


def _draw_list(page: PageContext) -> None:
    review.choose_accepted(page)
    applied = review.corrected_gold(page)
    counts = applied.counts()
    became = st.pills(
        "What became of them",
        list(counts),
        key=BECAME,
        format_func=lambda name: f"{name} · {counts[name]:,}",
        selection_mode="multi",
    )
    rows = [change for change in applied.log if not became or (change.done or change.reason) in became]
    st.markdown(f"**{count(len(rows), 'verdict')}**")
    if rows:
        _listed(page, rows)


def list_outcomes(page: PageContext, names: list[str]) -> None:
    """Turn to the list of verdicts, of those alone that had some outcomes."""
    st.session_state[BECAME] = names
    state.put(replace(page.view, review_tab="given-verdicts"))


def _listed(page: PageContext, rows: list[Change]) -> None:
    low = first_row(len(rows), "verdicts", page.view, "verdicts")
    part = rows[low : low + ROWS]
    # What is widest stands last, where a narrow window cuts it.
    order = ("document", "text", "type", "verdict", "result", "who", "at", "after", "note")
    table = log_table(part, page.words.verdicts).selected(*order)
    cell = show_table(
        page,
        table,
        signature=signature(review.corrected_gold(page)),
        data=lambda: [log_table(rows, page.words.verdicts).to_frame()],
        rows=len(rows),
        choose=table.keys,
        facts=(page.loaded.id, [row.stored.uid for row in part], low),
        caption="Choose a row to read the verdict, and its record in the text.",
        height=430,
    )
    if cell is not None:
        _card(page, part[cell.row])


def _card(page: PageContext, change: Change) -> None:
    recorded, verdict = change.stored, change.stored.verdict
    with st.container(border=True):
        kind = kind_in_words(verdict, page.words.verdicts)
        quote = "once" if change.reason == STALE else "on"
        st.markdown(
            f"**{named(kind)}**, {quote} “{plain(change.before, 300)}” "
            f"({plain(span_in_words(change.span), 200)}), {plain(recorded.who)} on {plain(minute_of(recorded.at))}"
        )
        reason = REASONS.get(change.reason)
        if reason:
            st.caption(f"Not applied, {plain(change.reason)}: {reason}.")
        elif change.after:
            after = "; ".join(
                f"“{quote}” ({span_in_words(span)})" for quote, span in zip(change.quotes, change.after, strict=True)
            )
            st.caption(plain(f"{change.done}: now {after}", 600))
        else:
            st.caption(plain(change.done))
        if change.note:
            st.text(change.note)
    review.show_change(page, change)


IMPORT = f"{keys.WIDGET}review_import"
TAKEN = "review_taken"
"""Result of the last import, shown once."""
SHOWN = 20
"""Conflicts of an import that are shown."""


def draw_files(page: PageContext) -> None:
    """Offer the verdicts as a file, and take those of another; not where texts are masked, which verdicts quote."""
    st.header("Verdicts as files")
    if masks.is_masked():
        st.caption("Verdicts quote the texts, which are masked here: they are neither exported nor imported.")
        return
    texts = verdict_store.quoted_texts(page.loaded.corpus.documents)
    with st.container(horizontal=True, gap="large"):
        with st.container(width=340):
            st.download_button(
                "All verdicts (JSON lines)" if texts is None else "Verdicts on this corpus (JSON lines)",
                lambda: b"".join(
                    export_lines(verdict for verdict in verdict_store.store().every() if _is_on(verdict, texts))
                ),
                file_name="nereval-verdicts.jsonl",
                mime="application/jsonl",
                key="export_verdicts",
                on_click="ignore",
            )
            about = "whatever corpus it is about" if texts is None else "about a text of this corpus"
            st.caption(f"Every verdict ever given {about}, with its history.")
        with st.container(width=420):
            import_form(texts)


def _is_on(verdict: StoredVerdict, texts: Collection[str] | None) -> bool:
    return texts is None or verdict.verdict.key.text in texts


def import_form(texts: Collection[str] | None) -> None:
    """Import the new verdicts of a file, and list those in conflict on some texts; not on a server that takes none."""
    if verdict_store.is_read_only():
        return
    if st.file_uploader("Import verdicts from JSON lines", key=IMPORT, type=["jsonl"]) is not None:
        st.button("Import", key="import_verdicts", type="primary", on_click=_import)
    result = st.session_state.pop(TAKEN, None)
    if isinstance(result, FormatError):
        show_problems(result.lines())
    if not isinstance(result, Imported):
        return
    st.success(f"{count(result.n_added, 'verdict')} imported, {result.n_known:,} known before.")
    if result.conflicts:
        st.warning(f"{count(len(result.conflicts), 'span')} with conflicting verdicts, none of which was imported:")
        for conflict in [conflict for conflict in result.conflicts if _is_on(conflict.ours, texts)][:SHOWN]:
            st.caption(plain(str(conflict), 600))


def _import() -> None:
    file = st.session_state[IMPORT]
    try:
        with read_lines(io.BytesIO(file.getvalue()), file.name) as lines:
            st.session_state[TAKEN] = import_verdicts(verdict_store.store_to_write(), lines, file.name)
    except FormatError as error:
        st.session_state[TAKEN] = error
    else:
        verdict_store.refresh()


def offer_copy(layer: Layer, log: Sequence[Sequence[Cell]], signed: str, name: str, key: Hashable, format: str) -> None:
    """Offer a layer in any writable format, at first in the one given, and its log."""

    def changes() -> None:
        st.download_button(
            "Log of changes (CSV)",
            lambda: log_csv(log, signed),
            file_name=f"{name}{CHANGE_LOG_SUFFIX}",
            mime="text/csv",
            key=f"log_{name}",
            on_click="ignore",
        )

    offer_layer(lambda: layer, len(layer), name, key, beside=changes, format=format)
    st.code(signed, language=None, wrap_lines=True)
