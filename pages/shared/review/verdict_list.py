"""The verdicts that stand on a corpus: what became of each, and the way to its record; stale ones with their quote."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from nereval_core.review.apply import Change
from nereval_core.review.apply.corrected_copy import signature, written
from nereval_core.review.apply.settlement import REASONS, STALE
from nereval_core.review.tables import log_table
from nereval_core.review.verdicts import KINDS
from pages.shared import review
from pages.shared.components.downloads import export
from pages.shared.components.record_list import ROWS, count, first_row, selected_cell, steady_key
from pages.shared.view import keys
from pages.shared.view.plain_text import plain

if TYPE_CHECKING:
    from pages.shared.frame import Here

BECAME = f"{keys.WIDGET}review_became"


def draw(here: Here) -> None:
    if review.nothing(here):
        return
    review.filters()
    found = review.corrected(here)
    counts = found.counts()
    became = st.pills(
        "What became of them",
        list(counts),
        key=BECAME,
        format_func=lambda name: f"{name} · {counts[name]:,}",
        selection_mode="multi",
    )
    rows = [change for change in found.log if not became or (change.done or change.reason) in became]
    st.markdown(f"**{count(len(rows), 'verdict')}**")
    if rows:
        _listed(here, rows)


def _listed(here: Here, rows: list[Change]) -> None:
    low = first_row(len(rows), "verdicts", here.view, "verdicts")
    part = rows[low : low + ROWS]
    table = log_table(part)
    column = st.column_config.TextColumn
    widths = {
        "document": 85,
        "text": 170,
        "type": 110,
        "verdict": 130,
        "result": 190,
        "after": 190,
        "who": 80,
        "at": 125,
    }
    event = st.dataframe(
        table,
        key=steady_key(f"{keys.TABLE}verdicts", here.loaded.number, [row.given.uid for row in part], low),
        on_select="rerun",
        selection_mode="single-cell",
        hide_index=True,
        height=min(35 * (len(table) + 1) + 3, 430),
        column_config={name: column(name, width=width) for name, width in widths.items()},
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        signed = signature(review.corrected(here))
        export(lambda: [log_table(rows)], signed, name="verdicts", key="verdicts", rows=len(rows))
        st.caption("Choose a row to read the verdict, and its record in the text.")
    cell = selected_cell(event, len(table), [str(name) for name in table.columns])
    if cell is not None:
        _card(here, part[cell[0]])


def _card(here: Here, change: Change) -> None:
    given = change.given
    with st.container(border=True):
        quote = "once" if change.reason == STALE else "on"
        st.markdown(
            f"**{plain(KINDS[given.verdict.kind])}**, {quote} “{plain(change.before, 300)}” "
            f"({plain(written(change.span), 200)}), {plain(given.who)} on {plain(given.at[:16].replace('T', ' '))}"
        )
        said = REASONS.get(change.reason)
        if said:
            st.caption(f"Not applied, {plain(change.reason)}: {said}.")
        elif change.after:
            after = "; ".join(
                f"“{quote}” ({written(span)})" for quote, span in zip(change.quotes, change.after, strict=True)
            )
            st.caption(plain(f"{change.done}: now {after}", 600))
        else:
            st.caption(plain(change.done))
        if change.note:
            st.text(change.note)
    review.read(here, change)
