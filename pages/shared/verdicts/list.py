"""Verdicts over a list of records: its facets, how far the review is, and one verdict for many."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any
from urllib.parse import urlencode

import numpy as np
import streamlit as st

from nereval_core.ledger.attributes.own_facts import NO_VERDICT, VERDICT_ATTRIBUTES, record_form
from nereval_core.problems import FormatError
from nereval_core.records.queries import ORDERS, YES, Query
from nereval_core.review.standing_verdicts import Moment
from nereval_core.review.verdicts import (
    KINDS,
    NOTE_CHARACTERS,
    ConflictError,
    Draft,
    Kind,
    StoredVerdict,
    given_in_words,
    minute_of,
)
from nereval_core.review.verdicts_on_records import (
    BATCH_RECORDS,
    Batch,
    attach_verdicts,
    draft_batch,
    read_verdict,
    select_batch,
    verdicts_since,
)
from nereval_core.tables import Cell
from pages.shared.components import links
from pages.shared.components.records import AROUND, RECORD_COLUMNS, category_texts, in_context, list_table
from pages.shared.components.tables import draw_rows
from pages.shared.data import caches, masks, reviewer, verdict_store
from pages.shared.data.memo import memoized
from pages.shared.data.page_context import PageContext
from pages.shared.streamlit_internals import uncut
from pages.shared.verdicts.case import LastVerdict, reason_unoffered, set_outcome
from pages.shared.verdicts.events import LISTED
from pages.shared.view import keys, state
from pages.shared.view.queries import ERRORS, context, query_of, search_of, view_of
from pages.shared.view.text import count, plain

FACETS = {"verdict": "Verdict", "reviewer": "Reviewer", "stale": "Stale", "noted": "Note"}
NAMES = {
    ("verdict", NO_VERDICT): "no verdict",
    ("stale", YES): "given on another text or span",
    ("noted", YES): "with a note",
}
REVIEWED, OPEN = ("reviewed", YES), ("verdict", NO_VERDICT)
FIRST_OPEN = "first-open"
"""The switch of a link that opens the first record without a verdict."""
FORM = "form"
"""The attribute that is a record's surface form."""
BATCH_HELP = "Gives each record of this list the same verdict. It is asked again before anything is kept."
PREVIEW = 8
"""Records that a preview shows."""
KIND, WHY, OVER, NAME = (f"{keys.VERDICT}batch_{name}" for name in ("kind", "note", "over", "name"))
CONFIRMED = f"{keys.BATCH}_confirmed"
"""The kind of a batch that was confirmed and is not carried out yet, and whether it goes over other verdicts."""


def verdict_facets(page: PageContext) -> list[dict[str, Any]]:
    """Return the facets of verdicts, reviewers, stale and noted ones, each value with its number of records."""
    query = page.query()
    conditions = {name: value for name, value in query.having if name in FACETS}
    if reason_unoffered(page) or not (conditions or attach_verdicts(page.ledger().about).verdicts):
        return []
    words: dict[str, str] = dict(page.words.verdicts.items())
    facets = []
    for name, label in FACETS.items():
        counts = _value_counts(page, name, query, verdict_store.now().moment)
        on = conditions.get(name)
        values = [value for value, number in counts.items() if number or value == on]
        values += [on] if on is not None and on not in values else []
        if not values:
            continue
        rows = [[value, _value_words(name, value, words), counts.get(value, 0)] for value in values]
        facets.append({"name": name, "label": label, "help": "", "values": rows, "on": on, "free": False})
    return facets


@memoized()
def _value_counts(page: PageContext, name: str, query: Query, moment: Moment) -> dict[str, int]:
    return page.ledger().having_counts(query, name)


def _value_words(name: str, value: str, verdicts: dict[str, str]) -> str:
    return NAMES.get((name, value)) or (verdicts if name == "verdict" else {}).get(value, value)


def narrow(name: str, value: str | None) -> None:
    """Narrow the view down to a value of a facet of verdicts, or, with none, no longer by it."""
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
    done = ledger.having_counts(query, REVIEWED[0]).get(YES, 0) if attach_verdicts(ledger.about).verdicts else 0
    return query, done, ledger.total(query).records


def why_empty(page: PageContext) -> str:
    """Say why the list has no records: those without a verdict are listed and all have one, or filters leave none."""
    if OPEN in page.query().having:
        _, done, n_records = reviewed_of(page)
        if 0 < done == n_records:
            return "All records here have a verdict. Go on to Finish, above, or list all again."
    return "No records. Remove a filter to see some."


def open_first_open(page: PageContext) -> bool:
    """Open the first record of the list without a verdict where the link asks for it; return whether it does."""
    view = page.view.with_layout(FIRST_OPEN, False)
    if view == page.view:
        return False
    doc, record = _first_open(page, unnarrowed(page.query())) or (view.doc, view.record)
    state.put(replace(view, doc=doc, record=record))
    return True


def _note_progress(page: PageContext, query: Query, done: int, n_records: int) -> None:
    """Keep how many of all errors have a verdict, whatever the list at hand is narrowed down to.

    The numbers are those of the list, and stand for all errors where it has them all.
    """
    errors = Query(decision=ERRORS)
    if query != errors:
        ledger = page.ledger()
        done, n_records = ledger.having_counts(errors, REVIEWED[0]).get(YES, 0), ledger.total(errors).records
    # Which record is the first without a verdict is found when the link is opened: others may go on meanwhile.
    link = urlencode(state.link(view_of(page.view, errors).with_layout(FIRST_OPEN)))
    caches.shelf().keeper.note_progress(page.loaded, done, n_records, link, verdict_store.name())


def where_to_begin(page: PageContext) -> tuple[str, str]:
    """Return document and record to begin a list with: the first without a verdict, where the list has both sorts.

    Empty where that is the first of all, or the list asks for verdicts itself.
    """
    query = page.query()
    # If no verdict stands, that is known without going through all records.
    if query != unnarrowed(query) or reason_unoffered(page) or not attach_verdicts(page.ledger().about).verdicts:
        return "", ""
    return _first_open(page, query) or ("", "")


def _first_open(page: PageContext, query: Query) -> tuple[str, str] | None:
    """Return document and record of the first of a list without a verdict, in the order of the list."""
    if reason_unoffered(page):
        return None
    ledger, order = page.ledger(), page.view.order
    open_ones = replace(query, having=(*query.having, OPEN))
    rows = ledger.page(open_ones, order if order in ledger.orders(open_ones) else ORDERS[0], 0, 1)
    return (str(rows["document"].iat[0]), str(rows["record"].iat[0])) if len(rows) else None


def _say_earlier(page: PageContext) -> None:
    """Say once a corpus how many of the listed records others had decided before, perhaps as part of another corpus.

    While that is the last message, it is about the list as it is narrowed down.
    """
    corpus, query, earlier = st.session_state.get(keys.EARLIER, ("", None, None))
    last, list_query = st.session_state.get(keys.REVIEWED), page.query()
    is_last = earlier is not None and last is earlier
    if corpus == page.loaded.id and (not is_last or query == list_query):
        return
    st.session_state[keys.EARLIER] = (page.loaded.id, list_query, None)
    ledger = page.ledger()
    attached = attach_verdicts(ledger.about)
    if (last is not None and not is_last) or not attached.verdicts:
        return
    is_theirs = np.array([stored.who != reviewer.reviewer_name() for stored in attached.verdicts])
    numbers = attached.at[ledger.positions(list_query, ORDERS[0])]
    numbers = numbers[(numbers >= 0) & is_theirs[numbers]]
    if len(numbers):
        last = max((attached.verdicts[number] for number in set(numbers.tolist())), key=lambda stored: stored.number)
        verb = "was" if len(numbers) == 1 else "were"
        message = (
            f"{count(len(numbers), 'record')} of this list {verb} decided before, the last by {last.who} on "
            f"{minute_of(last.at)}: a verdict belongs to text and span, whichever files they came in."
        )
    elif is_last:
        message = "No record of this list was decided before."
    else:
        return
    outcome = LastVerdict(message)
    set_outcome(outcome)
    st.session_state[keys.EARLIER] = (page.loaded.id, list_query, outcome)


def draw_progress(page: PageContext) -> None:
    """Show how many records of the list have a verdict: a click lists those without one, or all again."""
    if reason_unoffered(page):
        return
    query, done, n_records = reviewed_of(page)
    _say_earlier(page)
    if not n_records:
        return
    if done:
        _note_progress(page, query, done, n_records)
    values = dict(page.query().having)
    parts: list[str | links.Link] = []
    for words, condition in ((f"{done:,} of {n_records:,} reviewed", REVIEWED), (f"{n_records - done:,} open", OPEN)):
        on = values.get(condition[0]) == condition[1]
        view = view_of(page.view, replace(query, having=query.having if on else (*query.having, condition)))
        help_text = "List all again" if on else "List only these"
        parts += [links.Link(f"{words} ×" if on else words, "Inspect", view, help_text), " · "]
    if done == n_records:
        finish = replace(page.view, review_tab="finish")
        parts += [
            links.Link("all decided: go on to Finish →", "Review", finish, "The layer that the verdicts make"),
            "",
        ]
    links.mount_sentence(parts[:-1], "sentence-progress", width="content")


def batch_of_list(page: PageContext) -> None:
    """Show the batch that is being prepared, or why verdicts are not up to date."""
    if reason_unoffered(page):
        return
    show_verdict_problems()
    if page.ledger().total(unnarrowed(page.query())).records:
        _draw_batch(page)


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


def offer_batch(page: PageContext) -> None:
    """Offer one verdict for all records of the list."""
    n_records = page.ledger().total(page.query()).records
    if n_records > 1:
        label = f"One verdict for all {n_records:,} …"
        st.button(label, key=f"{keys.VERDICT}batch", on_click=_begin, args=(page.query(),), help=BATCH_HELP)


def _begin(query: Query) -> None:
    st.session_state[keys.BATCH] = (query, verdict_store.now().number)


def _end() -> None:
    for key in (keys.BATCH, CONFIRMED):
        st.session_state.pop(key, None)


def _confirm(kind: Kind, over: bool) -> None:
    st.session_state[CONFIRMED] = (kind, over)


def _draw_batch(page: PageContext) -> None:
    """Ask for the verdict of a batch, preview it, and store it once it is confirmed."""
    query, version = st.session_state.get(keys.BATCH) or (None, 0)
    if query != page.query():
        # Another list is not what was asked for.
        _end()
        return
    with st.container(border=True):
        _ask(page, query, version)


def _ask(page: PageContext, query: Query, version: int) -> None:
    ledger = page.ledger()
    positions = ledger.positions(query, page.view.order)
    st.markdown(f"**One verdict for all {count(len(positions), 'record')} of this list**")
    if len(positions) > BATCH_RECORDS:
        st.warning(f"At most {BATCH_RECORDS:,} records have a verdict at once: narrow the list down.")
        st.button("Cancel", key=f"{keys.VERDICT}batch_no", on_click=_end)
        return
    kind: Kind | None = st.pills("Verdict", list(KINDS), format_func=partial(_named, page), key=KIND)
    st.text_area("Note", key=WHY, max_chars=NOTE_CHARACTERS, height=68, placeholder="A note, kept with each of them")
    with_one = select_batch(ledger.about, positions).n_with_verdict
    over = bool(with_one) and st.checkbox(
        f"also the {with_one:,} that have a verdict already", key=OVER, help="Else they are left as they are."
    )
    meant = select_batch(ledger.about, positions, over=over)
    if kind is not None:
        _preview(page, kind, meant)
    if not reviewer.reviewer_name():
        reviewer.ask_name(NAME)
    ready = kind is not None and len(meant.records) > 0 and bool(reviewer.reviewer_name())
    label = f"Give “{_named(page, kind)}” to {count(len(meant.records), 'record')}" if kind is not None else "Give it"
    with st.container(horizontal=True, gap="small"):
        yes = f"{keys.VERDICT}batch_yes"
        st.button(label, key=yes, type="primary", disabled=not ready, on_click=_confirm, args=(kind, over))
        st.button("Cancel", key=f"{keys.VERDICT}batch_no", on_click=_end)
    if CONFIRMED in st.session_state:
        kind, over = st.session_state[CONFIRMED]
        theirs = tuple(
            other for other in verdicts_since(ledger.about, positions, version) if other.who != reviewer.reviewer_name()
        )
        if theirs:
            _conflicts(page, theirs)
        else:
            _keep(page, kind, select_batch(ledger.about, positions, over=over))


def _named(page: PageContext, kind: str) -> str:
    words = next(words for verdict, words in page.words.verdicts.items() if verdict == kind)
    return f"{words}: no entity" if kind == "neither" else words


def _preview(page: PageContext, kind: Kind, meant: Batch) -> None:
    """Preview the effect of the verdict, and the first records it is for."""
    records = page.ledger().frame(meant.records[:PREVIEW])
    words = page.words
    st.caption(plain(words.batch_effect(kind), 800))
    remaining = (
        f"; {count(meant.n_with_verdict, 'record')} with a verdict stay as they are" if meant.n_with_verdict else ""
    )
    st.caption(f"{count(len(meant.records), 'record')} get it{remaining}. The first of them:")
    if len(records):
        lines = in_context(context(records, page.loaded.corpus.documents.texts, AROUND))
        values: dict[str, Sequence[Cell]] = {
            **lines,
            **{key: category_texts(records[key]) for key in ("gold_type", "pred_type")},
        }
        draw_rows(list_table("batch", RECORD_COLUMNS, values), words, key=f"{keys.VERDICT}batch_table")


def _keep(page: PageContext, kind: Kind, meant: Batch) -> None:
    n_records = len(meant.records)
    bar = st.progress(0.0, "Preparing …")

    def step(done: int) -> None:
        bar.progress(done / n_records, f"Preparing {done:,} of {count(n_records, 'record')} …")

    try:
        drafts = draft_batch_of(page, kind, meant, str(st.session_state.get(WHY, "")).strip(), step)
        with uncut():
            set_outcome(give_batch(page, kind, meant, drafts))
            _end()
    except ConflictError as error:
        verdict_store.refresh()
        bar.empty()
        _conflicts(page, error.theirs)
        return
    except FormatError as error:
        st.session_state.pop(CONFIRMED)
        set_outcome(LastVerdict("Nothing was kept.", tuple(error.lines())))
    st.rerun()


def draft_batch_of(
    page: PageContext, kind: Kind, meant: Batch, note: str, step: Callable[[int], None] = lambda done: None
) -> Sequence[Draft]:
    """Return the drafts of one verdict for the records of a batch; `step` is told how many are prepared."""
    return draft_batch(page.ledger().about, meant.records, kind, note, verdict_store.now(), step)


def give_batch(page: PageContext, kind: Kind, meant: Batch, drafts: Sequence[Draft]) -> LastVerdict:
    """Give the verdicts of a batch, and return what became of it.

    Raises:
        ConflictError: others have decided on some of them meanwhile.
        FormatError: the store cannot be written to.
    """
    who, n_records = reviewer.reviewer_name(), len(meant.records)
    verdicts = verdict_store.store_to_write().give(drafts, who)
    verdict_store.refresh()
    shared = "" if len(verdicts) == n_records else f" ({count(len(verdicts), 'span')}: some documents are there twice)"
    what = f"{_named(page, kind)}, of {count(n_records, 'record')}{shared}"
    return LastVerdict(f"Kept as {who}: {what}. u takes all of them back.")


def _conflicts(page: PageContext, theirs: tuple[StoredVerdict, ...]) -> None:
    """List the verdicts that others gave meanwhile; from now on they count as seen."""
    query, _ = st.session_state[keys.BATCH]
    st.session_state.pop(CONFIRMED)
    st.session_state[keys.BATCH] = (query, verdict_store.now().number)
    about = page.ledger().about
    lines = "  \n".join(
        plain(masks.mask_message(given_in_words(read_verdict(about, other), page.words.verdicts)), 300)
        for other in theirs[:LISTED]
    )
    more = f"  \nand {len(theirs) - LISTED:,} more" if len(theirs) > LISTED else ""
    st.warning(
        f"Nothing is kept yet: meanwhile others have decided on {count(len(theirs), 'record')} of these.  \n"
        f"{lines}{more}  \nConfirm once more: theirs stay as they are, unless you tick that yours go over them."
    )
