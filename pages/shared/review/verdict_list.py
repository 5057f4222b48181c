"""The verdicts on a corpus: the result of each, and the way to its record; stale ones with their quote."""

from __future__ import annotations

import streamlit as st

from nereval_core.review.apply import Change
from nereval_core.review.apply.corrected_copy import signature, span_in_words
from nereval_core.review.apply.settlement import REASONS, STALE
from nereval_core.review.tables import log_table
from nereval_core.review.verdicts import minute_of
from pages.shared import review
from pages.shared.components.columns import text_columns
from pages.shared.components.count_table import ROWS, count_table, first_row
from pages.shared.components.downloads import Export
from pages.shared.components.record_list import count
from pages.shared.data.page_context import PageContext
from pages.shared.view import keys
from pages.shared.view.text import plain

BECAME = f"{keys.WIDGET}review_became"


def draw_verdicts(page: PageContext) -> None:
    if review.say_no_verdicts(page):
        return
    review.choose_accepted(page)
    found = review.corrected_gold(page)
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
        _listed(page, rows)


def _listed(page: PageContext, rows: list[Change]) -> None:
    low = first_row(len(rows), "verdicts", page.view, "verdicts")
    part = rows[low : low + ROWS]
    table = log_table(part)
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
    signed = signature(review.corrected_gold(page))
    cell = count_table(
        table,
        "verdicts",
        (page.loaded.id, [row.given.uid for row in part], low),
        columns=text_columns(widths),
        export=Export(lambda: [log_table(rows)], signed, "verdicts", rows=len(rows)),
        caption="Choose a row to read the verdict, and its record in the text.",
        height=430,
    )
    if cell is not None:
        _card(page, part[cell[0]])


def _card(page: PageContext, change: Change) -> None:
    given = change.given
    with st.container(border=True):
        kind = page.words.verdicts.get(given.verdict.kind, "")
        quote = "once" if change.reason == STALE else "on"
        st.markdown(
            f"**{plain(kind)}**, {quote} “{plain(change.before, 300)}” "
            f"({plain(span_in_words(change.span), 200)}), {plain(given.who)} on {plain(minute_of(given.at))}"
        )
        said = REASONS.get(change.reason)
        if said:
            st.caption(f"Not applied, {plain(change.reason)}: {said}.")
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
