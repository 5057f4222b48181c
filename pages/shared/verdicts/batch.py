"""One verdict for all records of a list: preview, a confirmation that names their number, and progress."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import streamlit as st

from nereval_core.problems import FormatError
from nereval_core.records.queries import Query
from nereval_core.review.verdicts import KINDS, NOTE_CHARACTERS, ConflictError, Given, Kind, given_in_words
from nereval_core.review.verdicts_on_records import BATCH_RECORDS, Batch, draft_batch, select_batch, verdicts_since
from nereval_core.tables import Cell
from pages.shared.components.tables import AROUND, RECORD_COLUMNS, category_texts, draw_rows, in_context, list_table
from pages.shared.data import masks, reviewer, verdict_store
from pages.shared.data.page_context import PageContext
from pages.shared.verdicts.case import Outcome, set_outcome
from pages.shared.verdicts.events import LISTED
from pages.shared.view import keys
from pages.shared.view.queries import context
from pages.shared.view.text import count, plain

PREVIEW = 8
"""Records that a preview shows."""
KIND, WHY, OVER, NAME = (f"{keys.VERDICT}batch_{name}" for name in ("kind", "note", "over", "name"))


def offer_batch(page: PageContext) -> None:
    """Offer one verdict for all records of the list."""
    found = page.ledger().total(page.query()).records
    if found > 1:
        label = f"One verdict for all {found:,} …"
        st.button(label, key=f"{keys.VERDICT}batch", on_click=_begin, args=(page.query(),), help=_HELP)


_HELP = "Gives each record of this list the same verdict. It is asked again before anything is kept."


def _begin(query: Query) -> None:
    st.session_state[keys.BATCH] = (query, verdict_store.now().number)


def _end() -> None:
    st.session_state.pop(keys.BATCH, None)


def draw_batch(page: PageContext) -> None:
    """Ask for the verdict of a batch, preview it, and store it once it is confirmed."""
    query, seen = st.session_state.get(keys.BATCH) or (None, 0)
    if query != page.query():
        # Another list is not what was asked for.
        _end()
        return
    with st.container(border=True):
        _ask(page, query, seen)


def _ask(page: PageContext, query: Query, seen: int) -> None:
    ledger = page.ledger()
    positions = ledger.positions(query, page.view.order)
    st.markdown(f"**One verdict for all {count(len(positions), 'record')} of this list**")
    if len(positions) > BATCH_RECORDS:
        st.warning(f"At most {BATCH_RECORDS:,} records have a verdict at once: narrow the list down.")
        st.button("Cancel", key=f"{keys.VERDICT}batch_no", on_click=_end)
        return
    kind: Kind | None = st.pills("Verdict", list(KINDS), format_func=partial(_named, page), key=KIND)
    st.text_area("Note", key=WHY, max_chars=NOTE_CHARACTERS, height=68, placeholder="A note, kept with each of them")
    with_one = select_batch(ledger.about, positions).left
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
        confirmed = st.button(label, key=f"{keys.VERDICT}batch_yes", type="primary", disabled=not ready)
        st.button("Cancel", key=f"{keys.VERDICT}batch_no", on_click=_end)
    if confirmed and kind is not None:
        theirs = tuple(
            one for one in verdicts_since(ledger.about, positions, seen) if one.who != reviewer.reviewer_name()
        )
        if theirs:
            _conflicts(theirs)
        else:
            _keep(page, kind, meant)


def _named(page: PageContext, kind: str) -> str:
    words = next(words for verdict, words in page.words.verdicts.items() if verdict == kind)
    return f"{words}: no entity" if kind == "neither" else words


def _preview(page: PageContext, kind: Kind, meant: Batch) -> None:
    """Preview the effect of the verdict, and the first records it is for."""
    records = page.ledger().frame(meant.records[:PREVIEW])
    words = page.words
    st.caption(plain(words.batch_effect(kind), 800))
    left = f"; {count(meant.left, 'record')} with a verdict stay as they are" if meant.left else ""
    st.caption(f"{count(len(meant.records), 'record')} get it{left}. The first of them:")
    if len(records):
        lines = in_context(context(records, page.loaded.corpus.documents.texts, AROUND))
        values: dict[str, Sequence[Cell]] = {
            **lines,
            **{key: category_texts(records[key]) for key in ("gold_type", "pred_type")},
        }
        draw_rows(list_table("batch", RECORD_COLUMNS, values), words, key=f"{keys.VERDICT}batch_table")


def _keep(page: PageContext, kind: Kind, meant: Batch) -> None:
    who, every = reviewer.reviewer_name(), len(meant.records)
    bar = st.progress(0.0, "Preparing …")
    stands = verdict_store.now()

    def step(done: int) -> None:
        bar.progress(done / every, f"Preparing {done:,} of {count(every, 'record')} …")

    note = str(st.session_state.get(WHY, "")).strip()
    made = draft_batch(page.ledger().about, meant.records, kind, note, stands, step)
    bar.progress(1.0, f"Writing {count(len(made), 'verdict')} …")
    try:
        given = verdict_store.store_to_write().give(made, who)
    except ConflictError as error:
        verdict_store.refresh()
        bar.empty()
        _conflicts(error.theirs)
        return
    except FormatError as error:
        bar.empty()
        set_outcome(Outcome("Nothing was kept.", tuple(error.lines())))
        st.rerun()
    verdict_store.refresh()
    _end()
    shared = "" if len(given) == every else f" ({count(len(given), 'span')}: some documents are there twice)"
    set_outcome(
        Outcome(
            f"Kept as {who}: {_named(page, kind)}, of {count(every, 'record')}{shared}. Undo takes all of them back."
        )
    )
    st.rerun()


def _conflicts(theirs: tuple[Given, ...]) -> None:
    """List the verdicts that others gave meanwhile; from now on they count as seen."""
    query, _ = st.session_state[keys.BATCH]
    st.session_state[keys.BATCH] = (query, verdict_store.now().number)
    lines = "  \n".join(plain(masks.mask_message(given_in_words(one)), 300) for one in theirs[:LISTED])
    more = f"  \nand {len(theirs) - LISTED:,} more" if len(theirs) > LISTED else ""
    st.warning(
        f"Nothing is kept yet: meanwhile others have decided on {count(len(theirs), 'record')} of these.  \n"
        f"{lines}{more}  \nConfirm once more: theirs stay as they are, unless you tick that yours go over them."
    )
