"""Verdicts over a list of records: its facets, how far the review is, and one verdict for many."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from urllib.parse import urlencode

import streamlit as st

from nereval_core.ledger.attributes.own_facts import NO_VERDICT, VERDICT_ATTRIBUTES, record_form
from nereval_core.records.queries import YES, Query
from nereval_core.review.verdicts_on_records import attach_verdicts
from pages.shared.data import caches, masks, verdict_store
from pages.shared.data.page_context import PageContext
from pages.shared.verdicts import batch as verdicts_batch
from pages.shared.verdicts.case import reason_unoffered
from pages.shared.view import keys, state
from pages.shared.view.queries import query_of, search_of, view_of
from pages.shared.view.text import plain

FACETS = {"verdict": "Verdict", "reviewer": "Reviewer", "stale": "Stale", "noted": "Note"}
NAMES = {("verdict", NO_VERDICT): "no verdict", ("stale", YES): "text or span changed", ("noted", YES): "with a note"}
REVIEWED, OPEN = ("reviewed", YES), ("verdict", NO_VERDICT)
FORM = "form"
"""The attribute that is a record's surface form."""


def verdict_facets(page: PageContext, width: int) -> None:
    """Offer verdicts, reviewers, stale and noted ones, each with the number of records there would be."""
    query = page.query()
    chosen = {name: value for name, value in query.having if name in FACETS}
    if reason_unoffered(page) or not (chosen or attach_verdicts(page.ledger().about).given):
        return
    words: dict[str, str] = dict(page.words.verdicts.items())
    for name, label in FACETS.items():
        counts = page.ledger().having_counts(query, name)
        options = [value for value, number in counts.items() if number and value != chosen.get(name)]
        options += [chosen[name]] if name in chosen else []
        if not options:
            continue
        st.selectbox(
            label,
            options,
            index=None,
            format_func=partial(_option, name, counts, words),
            placeholder="any",
            width=width,
            **state.mirror(f"facet-{name}", chosen.get(name), partial(_narrow, name)),
        )


def _option(name: str, counts: dict[str, int], verdicts: dict[str, str], value: str) -> str:
    words = verdicts if name == "verdict" else {}
    return f"{NAMES.get((name, value)) or words.get(value, value)} · {counts.get(value, 0):,}"


def _narrow(name: str, value: str | None) -> None:
    query = query_of(state.view())
    rest = tuple(pair for pair in query.having if pair[0] != name)
    state.update(q=search_of(replace(query, having=rest if value is None else (*rest, (name, value)))))


def show_verdict_problems() -> None:
    """Say why verdicts cannot be read, where they cannot."""
    for problem in verdict_store.problems():
        st.warning(f"Verdicts are not up to date: {plain(str(problem), 500)}")


def unnarrowed(query: Query) -> Query:
    """Return a query without its conditions on verdicts: a review goes through its records."""
    return replace(query, having=tuple(pair for pair in query.having if pair[0] not in VERDICT_ATTRIBUTES))


def reviewed_of(page: PageContext) -> tuple[Query, int, int]:
    """Return the query that is gone through, how many of its records have a verdict, and how many there are."""
    query, ledger = unnarrowed(page.query()), page.ledger()
    # If no verdict stands, that is known without going through all records.
    done = ledger.having_counts(query, REVIEWED[0]).get(YES, 0) if attach_verdicts(ledger.about).given else 0
    return query, done, ledger.total(query).records


def draw_progress(page: PageContext) -> None:
    """Show in a row how many records of the list have a verdict: a click lists those without one, or all again."""
    if reason_unoffered(page):
        return
    query, done, every = reviewed_of(page)
    if not every:
        return
    if done:
        link = urlencode(state.link(view_of(page.view, query)))
        caches.shelf().keeper.note_progress(page.loaded, done, every, link)
    with st.container(horizontal=True, vertical_alignment="center", width="content", gap="small"):
        label = f"{done:,} of {every:,} reviewed"
        chosen = dict(page.query().having)
        for name, words, one in (("done", f":primary[{label}]", REVIEWED), ("open", f"{every - done:,} open", OPEN)):
            on = chosen.get(one[0]) == one[1]
            having = query.having if on else (*query.having, one)
            view = view_of(page.view, replace(query, having=having))
            st.button(
                f"**{words}** ×" if on else words,
                key=f"{keys.VERDICT}{name}",
                type="tertiary",
                on_click=state.put,
                args=(view,),
                help="List all again" if on else "List only these",
            )
        st.progress(done / every, width=60)


def offer_batch(page: PageContext) -> None:
    """Offer one verdict for all records of the list."""
    if page.ledger().total(unnarrowed(page.query())).records:
        verdicts_batch.offer_batch(page)


def batch_of_list(page: PageContext) -> None:
    """Show the batch that is being prepared, or why verdicts are not up to date."""
    if reason_unoffered(page):
        return
    show_verdict_problems()
    if page.ledger().total(unnarrowed(page.query())).records:
        verdicts_batch.draw_batch(page)


def offer_same_form(page: PageContext, record: int) -> None:
    """Offer all records of the list with the surface form of this one."""
    query = page.query()
    # A form in the link would say what is masked.
    if masks.is_masked() or any(name == FORM for name, _ in query.having):
        return
    # Only the form of this record is made here: how many records share it takes the forms of all spans.
    form = record_form(page.ledger().about, record)
    if not form:
        return
    st.button(
        ":primary[All records with this form]",
        key=f"{keys.VERDICT}form",
        type="tertiary",
        on_click=state.put,
        args=(view_of(page.view, replace(query, having=(*query.having, (FORM, form)))),),
        help="List them, to give them one verdict at once.",
    )
