"""Progress of a review at a glance: how much is decided, what the score would be, what is stale, and the way on."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from nereval_core.ledger import MemoryLedger
from nereval_core.records.queries import YES, Query
from nereval_core.review.apply import AppliedVerdicts
from nereval_core.review.apply.settlement import REASONS, STALE
from nereval_core.tables import signed
from pages.shared import review
from pages.shared.components import navigation
from pages.shared.components.record_list import count
from pages.shared.data.page_context import PageContext
from pages.shared.verdicts.list import OPEN, REVIEWED
from pages.shared.view.count_tables import number
from pages.shared.view.queries import ERRORS, view_of
from pages.shared.view.text import plain

"""The views of this page that list the verdicts, and that hand out the corrected copy."""


def draw_progress(page: PageContext) -> None:
    """Draw how far the review is, F1 with its verdicts, those that are not applied, and the corrected copy."""
    found = review.corrected_gold(page)
    columns = st.columns(4, gap="small")
    draws = (_decided, _score, _stale, _copy) if found.log else (_decided,)
    for place, (column, draw) in enumerate(zip(columns, draws, strict=False)):
        with column, st.container(border=True, gap=None, height="stretch", key=f"headline_review_{place}"):
            draw(page, found)


def _decided(page: PageContext, found: AppliedVerdicts) -> None:
    criterion = review.by_span(page, page.by)
    ledger = page.ledger(criterion)
    if not isinstance(ledger, MemoryLedger):
        return
    errors = Query(decision=ERRORS)
    every = ledger.total(errors).records
    done = ledger.having_counts(errors, REVIEWED[0]).get(YES, 0) if found.log else 0
    what = "disagreements" if page.words.annotators else "errors"
    st.metric(f"Decided under {plain(criterion)}", f"{done:,} of {every:,}", help=f"The {what} that have a verdict.")
    st.progress(done / every if every else 1.0)
    if done < every:
        view = view_of(page.view.under(criterion), Query(decision=ERRORS, having=(OPEN,)))
        label = "Decide the rest" if done else "Decide who is right"
        navigation.link_to("Inspect", f":primary[{label}: {every - done:,} →]", view)


def _score(page: PageContext, found: AppliedVerdicts) -> None:
    both = review.what_if_scores_of(page, [page.by]).counts.get((page.system, page.by))
    before, after = (None, None) if both is None else both
    now, then = (number(None if one is None else one.f1) for one in (before, after))
    gain = None if both is None else both.difference("f1")
    # Its direction is told by an ASCII minus.
    change = f"{signed(gain).replace('−', '-')} from {now}" if gain else f"as before, {now}"
    said = f"F1 with the verdicts applied to a copy of {plain(page.words.reference)}, and the difference they make."
    label = f"F1 of {plain(page.system)} under {plain(page.by)}"
    st.metric(label, then, change, delta_color="normal" if gain else "off", help=said)


def _stale(page: PageContext, found: AppliedVerdicts) -> None:
    counts = found.counts()
    left = sum(value for name, value in counts.items() if name in REASONS)
    st.metric("Stale verdicts", f"{counts.get(STALE, 0):,}", help=f"Stale: {REASONS[STALE]}.")
    if left:
        view = replace(page.view, review_tab="given-verdicts")
        navigation.link_to("Review", f":primary[not applied {left:,}, and why →]", view, key="not_applied")
    else:
        st.caption("All verdicts are applied.")


def _copy(page: PageContext, found: AppliedVerdicts) -> None:
    said = f"A copy of {plain(page.words.reference)} with the verdicts applied; the original is not changed."
    st.metric(f"Corrected {plain(page.words.reference)}", count(len(found.layer), "span"), help=said)
    navigation.link_to("Review", ":primary[Export →]", replace(page.view, review_tab="take-along"), key="to_copies")
