"""Parts of the front page: an example of the demo, the choice of a corpus, problems of the reading.

Corpora that the server keeps open again with a click, at the records they were left at; they are renamed and removed
here. On a server that others reach these are one's own uploads, which expire.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from urllib.parse import parse_qsl

import streamlit as st

from nereval_core.problems import FormatError
from nereval_core.records.queries import side_query
from nereval_core.report.colours import LOOKS
from nereval_core.store import Entry, EntryAccount
from pages.shared.components import navigation, opening, refusals
from pages.shared.components.records import excerpt
from pages.shared.data import caches, masks, scored_folders, server_start
from pages.shared.data.loading import demo_names
from pages.shared.data.page_context import PageContext
from pages.shared.server.access import only_this_machine
from pages.shared.server.ownership import visitor
from pages.shared.start import file_forms
from pages.shared.start.file_forms import DROPPED, FILES, SERVED_FORM, served_form
from pages.shared.view import View, keys, state
from pages.shared.view.link import read_link
from pages.shared.view.queries import view_of
from pages.shared.view.text import plain

QUESTION = "What did your NER system get wrong, and is it really wrong?"
AROUND = 60
"""Characters before and after the spans of the example: one line of a wide screen."""
LOCAL, SERVED = "Files on this computer", "Folder on this server"
DEMO, DEMO_SYSTEM = "pharmacology", "rules"


def draw_headline() -> None:
    """Introduce the app with a number of the demo, computed and linked, and one of its records in the text."""
    st.markdown(f"**{QUESTION}**")
    if DEMO not in demo_names():
        return
    loaded = masks.as_shown(caches.demo(DEMO))
    view = View(corpus=loaded.digest, system=DEMO_SYSTEM, mask=state.view().mask)
    settings = caches.settings_of(loaded.corpus.gold, view)
    scores = caches.scores(loaded, DEMO_SYSTEM, settings)
    query = side_query("gold", "COR")
    recall = scores.counts("strict").recall
    if query is None or recall is None:
        return
    with st.container(border=True):
        counts = scores.counts("strict")
        sentence = f"In the demo, the rule-based system finds **{recall:.0%}** of the gold spans exactly."
        them = f":primary[Read these {counts.gold[0]:,} of {counts.pos:,} →]"
        navigation.link_to("Inspect", f"{sentence} {them}", view_of(view, query))
        near = caches.ledger(loaded, DEMO_SYSTEM, settings, "strict").page(replace(query, decision=("INC",)))
        near = near[near["boundary"] != "equal"] if (near["boundary"] != "equal").any() else near
        if len(near):
            record = near.iloc[0]
            st.html(excerpt(scores, "strict", record, loaded.types, around=AROUND))
            look = LOOKS[record["decision"]]
            st.caption(
                f"{look.glyph} {look.label} under strict: the prediction {plain(str(record['reason']))}. "
                "Gold stands above the text, the prediction below it."
            )


def draw_other_problems() -> None:
    """Draw the problems of files that no form on the page has: of a stored corpus, or of files that are gone."""
    refusals.draw_elsewhere([DROPPED if st.session_state.get(FILES) else "", SERVED_FORM])


def choose_corpus(page: PageContext | None) -> None:
    """Offer the demo corpora, the corpora that are kept, a drop zone and, where there is one, the served folder."""
    opening.offer_demos(page.loaded.digest if page is not None else None)
    offer_kept(page.loaded.corpus.digest if page is not None else None)
    st.header("Compare your files" if page is None or page.is_demo else "Compare other files")
    folder = caches.served_folder()
    if folder is not None:
        place = st.segmented_control(
            "Where the files are", (SERVED, LOCAL), default=SERVED, label_visibility="collapsed", key="files_from"
        )
    if folder is None or place == LOCAL:
        file_forms.draw_drop_zone()
        return
    if not masks.all_masked():
        scored_folders.offer_folders(folder)
    served_form(folder)


SHOWN = 6
"""Corpora that are offered, those opened last."""
LAYERS = 4
"""Layers of a corpus that are named."""


def offer_kept(digest: str | None) -> None:
    """Offer the visitor's own corpora that were opened last; `chosen` is the digest of the corpus at hand."""
    keeper = caches.shelf().keeper
    if keeper.store is None:
        return
    alone, owned = only_this_machine(), caches.shelf().ownership
    mine = [entry for entry in keeper.store.entries() if alone or owned.owner(entry) == visitor()]
    entries = {entry.digest: entry for entry in reversed(mine)}
    last = sorted(entries.values(), key=lambda entry: -entry.used)[:SHOWN]
    accounts = [(entry, account) for entry in last if (account := keeper.store.account(entry)) is not None]
    if accounts:
        days = server_start.days_kept()
        until = "" if days is None else f" It goes when nobody has opened it for {days} days."
        st.header(
            "Continue" if alone else "Your uploads",
            help=f"What was read is kept in a folder of the server, so that it opens again at once.{until}",
        )
    for entry, account in accounts:
        _row(entry, account, digest)
    if entries and alone:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.caption(f"Stored corpora: {len(entries):,}, {_size(sum(stored.bytes for stored in entries.values()))}")
            st.button("Clear the store", key="stored_clear", type="tertiary", on_click=keeper.store.clear)
    if keeper.trouble:
        st.caption(f"The corpus read last could not be stored: {plain(keeper.trouble, 200)}.")


def _row(entry: Entry, account: EntryAccount, digest: str | None) -> None:
    name, page = plain(account.name, 60), entry.digest == digest
    layers = ", ".join(plain(layer, 30) for layer in account.layers[:LAYERS])
    more = f" and {len(account.layers) - LAYERS} more" if len(account.layers) > LAYERS else ""
    with st.container(horizontal=True, vertical_alignment="center", border=True):
        st.markdown(f"**{name}** · {layers}{more}")
        if account.records and account.link:
            view, _ = read_link(dict(parse_qsl(account.link)))
            label = f":primary[{account.decided:,} of {account.records:,} decided →]"
            navigation.link_to("Inspect", label, view, help="Go on with the list that was reviewed last.")
        st.caption(f"{_when(datetime.fromtimestamp(entry.used))} · {_size(entry.bytes)}", width="content")
        key = entry.digest[:16]
        label = "Chosen" if page else "Open"
        st.button(label, key=f"kept-{key}", disabled=page, on_click=_open, args=(entry.digest,))
        popover = st.popover("Rename or remove", type="tertiary", key=f"{keys.LIST}remove-{key}", on_change="rerun")
        with popover:
            if popover.open:
                field = f"kept-name-{key}"
                st.text_input("Name", value=account.name, max_chars=80, key=field)
                st.button("Rename", key=f"kept-rename-{key}", on_click=_rename, args=(entry.key, field))
                st.markdown(f"Remove the stored copy of **{name}**? Its verdicts stay.")
                st.button("Remove it", key=f"kept-remove-{key}", on_click=_remove, args=(entry.digest,))


def _remove(digest: str) -> None:
    """Remove the visitor's corpus; what others have uploaded stays theirs."""
    caches.shelf().remove(digest, None if only_this_machine() else visitor())


def _rename(key: str, field: str) -> None:
    if name := st.session_state[field].strip():
        try:
            caches.shelf().rename(key, name)
        except OSError as error:
            finding = f"the name could not be kept: {error.strerror}"
            refusals.keep(FormatError.single("stored corpus", None, finding, "try again"))


def _when(time: datetime) -> str:
    days = (datetime.now().date() - time.date()).days
    return {0: f"today, {time:%H:%M}", 1: "yesterday"}.get(days, f"{time:%Y-%m-%d}")


def _open(digest: str) -> None:
    loaded = caches.find(digest)
    if loaded is None:
        refusals.keep(FormatError.single("stored corpus", None, "it is damaged or gone", "read its files again"))
    else:
        opening.open_corpus(loaded)


def _size(size: int) -> str:
    units = (("GB", 1e9), ("MB", 1e6))
    return next((f"{size / factor:,.1f} {unit}" for unit, factor in units if size >= factor), f"{size / 1e3:,.0f} kB")
